// Loads the stock packages from DOCK_TEST_NODE_MODULES (default: target/node/node_modules), where `.ci/run` puts them.
// ECMAScript imports look beside the importing file only, so packages are loaded through `require`.
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const MODULES = resolve(
  process.env.DOCK_TEST_NODE_MODULES ?? fileURLToPath(new URL("../../target/node/node_modules", import.meta.url)),
);
const require = createRequire(join(MODULES, "x402-peers.js"));

/** A package by the name its documentation uses; ends the process with a word if it is not installed. */
export function stock(name) {
  try {
    return require(name);
  } catch (error) {
    if (error.code !== "MODULE_NOT_FOUND") throw error;
    console.error(`${name} is not installed where DOCK_TEST_NODE_MODULES says: .ci/run installs it`);
    process.exit(1);
  }
}

/** All of standard input, as JSON. */
export async function input() {
  process.stdin.setEncoding("utf8");
  let text = "";
  for await (const chunk of process.stdin) text += chunk;
  return JSON.parse(text);
}
