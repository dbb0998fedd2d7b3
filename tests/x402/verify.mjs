// jose's reading of a signed report: {"jws": {payload, protected, signature}, "jwks"} on standard input,
// {"verified", "payload"} on standard output, and why as "error" if it is not verified.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { input, MODULES } from "./modules.mjs";

// jose cannot be had through `require`.
const jose = pathToFileURL(join(MODULES, "jose/dist/webapi/index.js")).href;
const { createLocalJWKSet, flattenedVerify } = await import(jose);

let answer;
try {
  const { jws, jwks } = await input();
  const { payload } = await flattenedVerify(jws, createLocalJWKSet(jwks), { algorithms: ["EdDSA"] });
  answer = { verified: true, payload: new TextDecoder("utf-8", { fatal: true }).decode(payload) };
} catch (error) {
  answer = { verified: false, payload: "", error: error.message };
}
console.log(JSON.stringify(answer));
