// Answers each line, a JSON string that holds a text, with "!" where JSON.parse refuses the text, else with the
// value in canonical form, a tab, and what JSON.stringify makes of it. In canonical form stand members in ascending
// order of their names' code units, numbers as the bits of their double, strings as hexadecimal code units.
import { createInterface } from "node:readline";

const bits = new DataView(new ArrayBuffer(8));

function hex(text) {
  let out = "";
  for (let i = 0; i < text.length; i++) out += text.charCodeAt(i).toString(16).padStart(4, "0");
  return out;
}

function canonical(value) {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "number") {
    bits.setFloat64(0, value);
    return "n" + bits.getBigUint64(0).toString(16).padStart(16, "0");
  }
  if (typeof value === "string") return "s" + hex(value);
  if (Array.isArray(value)) return "[" + value.map(canonical).join(",") + "]";
  const names = Object.keys(value).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return "{" + names.map((name) => hex(name) + ":" + canonical(value[name])).join(",") + "}";
}

function answer(text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    return "!";
  }
  return canonical(value) + "\t" + JSON.stringify(value);
}

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  process.stdout.write(answer(JSON.parse(line)) + "\n");
}
