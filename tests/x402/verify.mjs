// jose's reading of a signed report: {"jws": {payload, protected, signature}, "jwks"} on standard input,
// {"verified", "payload"} or {"verified": false, "error"} on standard output.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { input, MODULES } from "./modules.mjs";

const { createLocalJWKSet, flattenedVerify } = await import(pathToFileURL(join(MODULES, "jose/dist/webapi/index.js")).href);

let answer;
try {
  const { jws, jwks } = await input();
  const { payload } = await flattenedVerify(jws, createLocalJWKSet(jwks), { algorithms: ["EdDSA"] });
  answer = { verified: true, payload: new TextDecoder("utf-8", { fatal: true }).decode(payload) };
} catch (error) {
  answer = { verified: false, error: error.message };
}
console.log(JSON.stringify(answer));
