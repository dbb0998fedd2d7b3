// The Node peers of `benches/peers/profile.rs`: reads catalogues, one JSON string a line, and prints as JSON how many
// MB a second each step takes them at. argv[2]: node_modules with gpt-tokenizer, if it is there.
import { readFileSync, existsSync } from "node:fs";
import { pathToFileURL } from "node:url";

const texts = readFileSync(0, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);

function speed(step) {
  for (let i = 0; i < 2; i++) texts.forEach(step);
  const times = [];
  for (let i = 0; i < 5; i++) {
    const start = process.hrtime.bigint();
    texts.forEach(step);
    times.push(Number(process.hrtime.bigint() - start) / 1e9);
  }
  return bytes / 1e6 / times.sort((a, b) => a - b)[2];
}

const result = { stringify: speed((text) => JSON.stringify(JSON.parse(text))) };
const tokenizer = `${process.argv[2]}/gpt-tokenizer/esm/encoding/cl100k_base.js`;
if (existsSync(tokenizer)) {
  const { encode, clearMergeCache } = await import(pathToFileURL(tokenizer).href);
  const options = { allowedSpecial: new Set(), disallowedSpecial: new Set() };
  result.count = speed((text) => {
    clearMergeCache();
    return encode(text, options).length;
  });
}
console.log(JSON.stringify(result));
