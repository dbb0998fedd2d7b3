// The split profile read from the published criteria a second time, with nothing of this package: plain Node and
// gpt-tokenizer, which DOCK_TEST_NODE_MODULES says where to find (default: target/node/node_modules).
//
// One JSON object a line on standard input, one a line back, in order:
//   {"id", "body": TEXT}              {"id", "report": {verdict_line, blocks}} | {"id", "refusal": CODE, "rule"?}
//     "wrapped": true                 the text is a request body {catalogue, …}, not the catalogue itself
//     "caps": false                   bytes, depth and number of tools are not capped
//   {"id", "count": TEXT}             {"id", "tokens": N}
//   {"id", "stringify": JSON TEXT}    {"id", "text": TEXT} | {"id", "error": true} where JSON.parse refuses it
// Lone surrogates come and go as \ud800 escapes inside the line.
//
// gpt-tokenizer takes quadratic time on a long run without a break (64 KiB of one letter: some 3 s). Here that is
// only slow; nothing waits for this script but tests.
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export const MODULES =
  process.env.DOCK_TEST_NODE_MODULES ?? fileURLToPath(new URL("../target/node/node_modules", import.meta.url));
const { encode } = await import(
  pathToFileURL(resolve(MODULES, "gpt-tokenizer/esm/encoding/cl100k_base.js")).href
).catch((error) => {
  if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
  console.error(
    "gpt-tokenizer is not installed where DOCK_TEST_NODE_MODULES says (default: target/node/node_modules). Install it:\n" +
      "npm install --prefix target/node --no-save --no-package-lock --no-audit --no-fund gpt-tokenizer@4.0.0",
  );
  process.exit(1);
});

const PARTS = ["name", "description", "schema"];
const CAPS = { bodyBytes: 262_144, depth: 512, tools: 200 };

/** A candidate box of at most so many triples is walked as it is. */
const WALKED_WHOLE = 2_000_000;
/**
 * A larger one is walked with every count held to at most this. The document bounds no box, so this is a shortcut; it
 * is harmless, since only triples of counts up to 2 can be alone in their shares, and each share class that a box
 * has beyond them has several members far below this limit. `withheldClasses` checks the first on every box it walks.
 */
const CLIP = 40;

class Refused extends Error {
  constructor(code, rule) {
    super(code);
    this.answer = rule === undefined ? { refusal: code } : { refusal: code, rule };
  }
}

export function countTokens(text) {
  return encode(text, { allowedSpecial: new Set(), disallowedSpecial: new Set() }).length;
}

/** The report of a body, or its refusal. */
export function profile(body, { wrapped = false, caps = true } = {}) {
  try {
    const tools = readTools(body, wrapped, caps);
    return { report: report(tools) };
  } catch (error) {
    if (error instanceof Refused) return error.answer;
    throw error;
  }
}

function readTools(body, wrapped, caps) {
  if (caps && Buffer.byteLength(body) > CAPS.bodyBytes) throw new Refused("CAP-EXCEEDED:body_bytes");
  let catalogue;
  try {
    catalogue = JSON.parse(body);
  } catch {
    throw new Refused("invalid_request_body");
  }
  if (wrapped) {
    if (!isObject(catalogue)) throw new Refused("invalid_request_body");
    if (!Object.hasOwn(catalogue, "catalogue")) throw new Refused("catalogue_missing");
    catalogue = catalogue.catalogue;
  }
  if (caps && deeperThan(catalogue, CAPS.depth)) throw new Refused("catalogue_too_deep");
  const list = isObject(catalogue) && Object.hasOwn(catalogue, "tools") ? catalogue.tools : catalogue;
  if (!Array.isArray(list)) throw new Refused("catalogue_invalid", "not_a_list");
  if (list.length === 0) throw new Refused("zero_tools");
  if (caps && list.length > CAPS.tools) throw new Refused("CAP-EXCEEDED:tools");
  return list.map(readTool);
}

/** A tool as its name and its three part strings. An absent part is null: it is no empty string, which has quotes. */
function readTool(tool) {
  if (!isObject(tool)) throw new Refused("catalogue_invalid", "tool_not_object");
  const text = (member) => {
    if (!Object.hasOwn(tool, member)) return null;
    if (typeof tool[member] !== "string") throw new Refused("catalogue_invalid", `${member}_not_string`);
    return JSON.stringify(tool[member]);
  };
  const name = text("name");
  const description = text("description");
  const schema = Object.hasOwn(tool, "inputSchema") ? JSON.stringify(tool.inputSchema) : null;
  return { name: name === null ? null : tool.name, parts: [name, description, schema] };
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function deeperThan(value, limit) {
  let level = [value];
  for (let depth = 0; ; depth++) {
    level = level.filter((each) => typeof each === "object" && each !== null);
    if (level.length === 0) return false;
    if (depth === limit) return true;
    level = level.flatMap((each) => Object.values(each));
  }
}

function report(tools) {
  const wholes = tools.map((tool) => measure([tool]));
  const groups = schemaGroups(tools);
  return {
    verdict_line: `TOOL-CATALOGUE SPLIT PROFILE — tools: ${tools.length} — schema-identity groups: ${groups.length}`,
    blocks: {
      "R-1": shares(sum(wholes), "empty_catalogue"),
      "R-2": tools.map((tool, index) => ({ index, name: tool.name, ...shares(wholes[index], "empty_definition") })),
      "R-3": { groups, group_count: groups.length },
    },
  };
}

/** Of each part: is it there, its tokens, its bytes. */
function measure([{ parts }]) {
  return parts.map((part) =>
    part === null
      ? { present: false, tokens: 0, bytes: 0 }
      : { present: true, tokens: countTokens(part), bytes: Buffer.byteLength(part) },
  );
}

function sum(wholes) {
  return PARTS.map((_, part) =>
    wholes
      .map((whole) => whole[part])
      .reduce((a, b) => ({
        present: a.present || b.present,
        tokens: a.tokens + b.tokens,
        bytes: a.bytes + b.bytes,
      })),
  );
}

function shares(whole, emptyReason) {
  const counts = whole.map((part) => part.tokens);
  const total = counts[0] + counts[1] + counts[2];
  if (total === 0) return row([null, null, null], emptyReason);
  if (isWithheld(whole, counts)) return row([null, null, null], "shares_withheld");
  return row(
    counts.map((count) => floorShare(count, total) / 2),
    null,
  );
}

function row([name_share, description_share, schema_share], reason) {
  return { name_share, description_share, schema_share, reason };
}

/** The share of a part in halves: 0, 1 or 2. Integers, so nothing is rounded on the way. */
function floorShare(part, total) {
  return Math.floor((2 * part) / total);
}

/** The three shares of a triple as one number below 27. */
function shareClass(a, b, c) {
  const total = a + b + c;
  if (total === 0) return 0;
  return 9 * floorShare(a, total) + 3 * floorShare(b, total) + floorShare(c, total);
}

function isWithheld(whole, counts) {
  const intervals = whole.map(interval);
  counts.forEach((count, part) => {
    const [low, high] = intervals[part];
    if (count < low || count > high) throw new Error(`a count outside its own box: ${PARTS[part]}`);
  });
  return withheldClasses(intervals).has(shareClass(...counts));
}

/** The counts that the bytes of a part allow: the document's β, by trying one count after the other. */
function interval({ present, bytes }, part) {
  if (!present) return [0, 0];
  const isSchema = PARTS[part] === "schema";
  const least = (count) => (isSchema || count >= 3 ? count : count + 1);
  let high = 1;
  while (least(high + 1) <= bytes) high++;
  return [1, high];
}

const known = new Map();

/**
 * The share classes that a box withholds. The document speaks of triples: those that are alone with their shares; if
 * that is exactly one and there are others, also all with the shares of the lexicographically smallest other. Either
 * way a class is withheld as a whole or not at all.
 */
function withheldClasses(intervals) {
  const size = intervals.reduce((product, [low, high]) => product * (high - low + 1), 1);
  const box = size <= WALKED_WHOLE ? intervals : intervals.map(([low, high]) => [low, Math.min(high, CLIP)]);
  const key = box.join(" ");
  if (!known.has(key)) known.set(key, walkBox(box));
  return known.get(key);
}

function walkBox([[a0, a1], [b0, b1], [c0, c1]]) {
  const members = new Array(27).fill(0);
  const smallest = new Array(27).fill(null);
  const inOrder = [];
  for (let a = a0; a <= a1; a++) {
    for (let b = b0; b <= b1; b++) {
      for (let c = c0; c <= c1; c++) {
        const own = shareClass(a, b, c);
        if (members[own]++ === 0) {
          smallest[own] = [a, b, c];
          inOrder.push(own);
        }
      }
    }
  }
  const alone = inOrder.filter((own) => members[own] === 1);
  if (alone.some((own) => Math.max(...smallest[own]) > 2)) throw new Error("a triple alone beyond the published seven");
  // The classes stand in the order of their smallest triples, so the first that is not alone holds the smallest other.
  const other = inOrder.find((own) => members[own] > 1);
  const withheld = new Set(alone);
  if (alone.length === 1 && other !== undefined) withheld.add(other);
  return withheld;
}

function schemaGroups(tools) {
  const bySchema = new Map();
  tools.forEach(({ parts }, index) => {
    const schema = parts[2];
    if (schema === null) return;
    if (!bySchema.has(schema)) bySchema.set(schema, []);
    bySchema.get(schema).push(index);
  });
  return [...bySchema.values()]
    .filter((indices) => indices.length > 1)
    .map((indices, group) => ({ group, tools: indices.map((i) => tools[i].name), indices, size: indices.length }));
}

function answer({ id, body, wrapped, caps, count, stringify }) {
  if (body !== undefined) return { id, ...profile(body, { wrapped, caps }) };
  if (count !== undefined) return { id, tokens: countTokens(count) };
  let value;
  try {
    value = JSON.parse(stringify);
  } catch {
    return { id, error: true };
  }
  return { id, text: JSON.stringify(value) };
}

/** The lines of standard input. Node's own line reader would also end a line at U+2028, which JSON may hold. */
async function* lines() {
  process.stdin.setEncoding("utf8");
  let rest = "";
  for await (const chunk of process.stdin) {
    const pieces = (rest + chunk).split("\n");
    rest = pieces.pop();
    yield* pieces;
  }
  if (rest !== "") yield rest;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for await (const line of lines()) process.stdout.write(JSON.stringify(answer(JSON.parse(line))) + "\n");
}
