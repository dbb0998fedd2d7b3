// Keeps the two corpora beside it: derives every expectation of the split profile, and both pins.
//
//   node conformance/corpus/derive.mjs            writes what it derives into the files
//   node conformance/corpus/derive.mjs --check    changes nothing; fails if a file would change
//
// The split profile's expectations come from tests/profile_oracle.mjs (Node's own JSON, gpt-tokenizer's own counts),
// never from this package's engine. Those of the argument check are made by hand; here they are only tried for
// what anybody can see: known codes, nothing missing, and diffs that lead from the submission to the repaired blob.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { MODULES, profile } from "../../tests/profile_oracle.mjs";

const CORPORA = [
  { file: "split-profile.v1.json", criteria: "token-efficiency.v1.json", expect: expectedProfile, judge: () => [], named: namedByProfile },
  { file: "argument-check.v1.json", criteria: "tool-argument.v1.json", expect: null, judge: judgeCheck, named: namedByCheck },
];
const WIDTH = 140;
/** From so many rows on that differ in nothing but their index, R-2 is written as one row and a number. */
const MANY_ROWS = 50;

const problems = CORPORA.flatMap(keep);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;

function keep({ file, criteria, expect, judge, named }) {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const contract = JSON.parse(readFileSync(new URL(`../../contract/${criteria}`, import.meta.url), "utf8"));
  const before = readFileSync(path, "utf8");
  const corpus = JSON.parse(before);
  const found = [];
  if (corpus.tokenizer !== undefined && corpus.tokenizer.data_sha256 !== tokenizerData()) {
    found.push("the tokenizer's data are not those that the corpus names");
  }
  corpus.cases = corpus.cases.map((each) => {
    const { id, shows, request, ...rest } = each;
    const answer = expect === null ? valuesInOrder(rest) : expect(request);
    if (expect !== null && inline(answer) !== inline(rest)) found.push(`${id}: derived ${inline(answer)}`);
    found.push(...judge({ request, ...answer }).map((what) => `${id}: ${what}`));
    return { id, shows, request: inOrder(request), ...answer };
  });
  found.push(...judgeAll(corpus, contract, named));
  corpus.sha256 = pin(corpus);
  const after = written(corpus);
  const what = `${file}: ${corpus.cases.length} cases, ${corpus.sha256}`;
  if (!process.argv.includes("--check")) {
    writeFileSync(path, after);
    console.log(`${what}${before === after ? "" : ", written"}`);
    // A derived answer that was not there before is what this run was for.
    return found.filter((problem) => !problem.includes(": derived "));
  }
  if (JSON.parse(before).sha256 !== corpus.sha256) found.push(`the pin is ${corpus.sha256}`);
  else if (before !== after) found.push("not written as this script writes it; run it without --check");
  console.log(`${what}${found.length === 0 ? ": as it should be" : ""}`);
  return found.map((problem) => `${file}: ${problem}`);
}

function tokenizerData() {
  return sha256(readFileSync(resolve(MODULES, "gpt-tokenizer/data/cl100k_base.tiktoken")));
}

function sha256(bytes) {
  return createHash("sha256").update(bytes).digest("hex");
}

// ---- the pin: SHA-256 over RFC 8785 without the member sha256

function pin({ sha256: _, ...corpus }) {
  return sha256(canonical(corpus));
}

function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    // Without an argument, `sort` compares UTF-16 code units, as RFC 8785 wants it.
    const members = Object.keys(value).sort().map((name) => `${canonical(name)}:${canonical(value[name])}`);
    return `{${members.join(",")}}`;
  }
  if (typeof value === "string" && !value.isWellFormed()) throw new Error("RFC 8785 knows no lone surrogate; use text");
  return JSON.stringify(value);
}

/** In the order of RFC 8785, which the pin sees: so a request or a value cannot change its order without its pin. */
function inOrder(value) {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== "object" || value === null) return value;
  const names = Object.keys(value).sort();
  // JavaScript would put these first, whatever is asked for.
  if (names.some((name) => /^(0|[1-9][0-9]*)$/.test(name))) throw new Error("names like integers need a text");
  return Object.fromEntries(names.map((name) => [name, inOrder(value[name])]));
}

/** The same for the values of the caller that an expectation holds; another order needs `expect_text`. */
function valuesInOrder({ expect, ...rest }) {
  if (expect?.repairs === undefined) return expect === undefined ? rest : { expect, ...rest };
  const repairs = expect.repairs.map((each) => ({ ...each, before: inOrder(each.before), after: inOrder(each.after) }));
  const repaired = expect.repaired === undefined ? {} : { repaired: inOrder(expect.repaired) };
  return { expect: { ...expect, repairs, ...repaired }, ...rest };
}

// ---- how a file is written: what fits into a line is one line

function written(corpus) {
  return `${pretty(corpus, "", 0)}\n`;
}

function pretty(value, indent, used) {
  const line = inline(value);
  const isWhole = indent === "" || Object.hasOwn(value ?? {}, "shows");
  if (typeof value !== "object" || value === null || (!isWhole && used + line.length <= WIDTH)) return line;
  const deeper = `${indent}  `;
  if (Array.isArray(value)) {
    return `[\n${value.map((item) => deeper + pretty(item, deeper, deeper.length)).join(",\n")}\n${indent}]`;
  }
  const members = Object.entries(value).map(([name, member]) => {
    const head = `${deeper}${scalar(name)}: `;
    return head + pretty(member, deeper, head.length);
  });
  return `{\n${members.join(",\n")}\n${indent}}`;
}

function inline(value) {
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  if (typeof value !== "object" || value === null) return scalar(value);
  const members = Object.entries(value).map(([name, member]) => `${scalar(name)}: ${inline(member)}`);
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

/** As JSON, with characters that nobody sees as escapes. */
function scalar(value) {
  const unseen = /[\u007f-\u00a0\u00ad\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ue000-\uf8ff\ufeff\uffff]/g;
  return JSON.stringify(value).replace(unseen, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

// ---- the split profile

/** The text of a request's body. `{"body": …}` is the text itself, or pieces of it; anything else is the body. */
function bodyOf(request) {
  if (Object.keys(request).join() !== "body") return JSON.stringify(inOrder(request));
  const pieces = Array.isArray(request.body) ? request.body : [request.body];
  return pieces.map((piece) => (typeof piece === "string" ? piece : piece.repeat.repeat(piece.times))).join("");
}

function expectedProfile(request) {
  const { report, ...refused } = profile(bodyOf(request), { wrapped: true });
  if (report === undefined) return { expect: refused };
  const names = report.blocks["R-2"].map(({ name }) => name ?? "");
  return names.every((name) => name.isWellFormed()) ? { expect: fewRows(report) } : { expect_text: JSON.stringify(report) };
}

function fewRows({ verdict_line, blocks }) {
  const bare = blocks["R-2"].map(({ index: _, ...row }) => row);
  const isOne = bare.length >= MANY_ROWS && bare.every((row) => inline(row) === inline(bare[0]));
  const rows = isOne ? { repeat: bare[0], times: bare.length } : blocks["R-2"];
  return { verdict_line, blocks: { ...blocks, "R-2": rows } };
}

function namedByProfile({ expect, expect_text }, contract) {
  const { refusal, rule, blocks } = expect ?? JSON.parse(expect_text);
  if (refusal !== undefined) return [refusal, ...(rule === undefined ? [] : [rule])];
  const rows = [blocks["R-1"], ...(Array.isArray(blocks["R-2"]) ? blocks["R-2"] : [blocks["R-2"].repeat])];
  return rows.map((row) => row.reason).filter((reason) => contract.shares.null_reasons.includes(reason));
}

// ---- the argument check

function namedByCheck({ expect, expect_text }) {
  const { refusal, verdict, repairs = [], defects = [] } = expect ?? JSON.parse(expect_text);
  return [refusal ?? verdict, ...repairs.map(({ rule }) => rule), ...defects.map(({ code }) => code)];
}

function judgeCheck({ request, expect, expect_text }) {
  const { refusal, verdict, repairs, defects, repaired, ...other } = expect ?? JSON.parse(expect_text);
  if (refusal !== undefined) return verdict === undefined ? [] : ["a refusal has no verdict"];
  const wanted = defects.length > 0 ? "UNREPAIRABLE" : repairs.length > 0 ? "REPAIRED" : "VALID";
  const wrong = [];
  if (verdict !== wanted) wrong.push(`the verdict should be ${wanted}`);
  if (defects.length > 0 && repairs.length > 0) wrong.push("UNREPAIRABLE has an empty diff");
  if ((repaired !== undefined) !== (wanted === "REPAIRED")) wrong.push("`repaired` belongs to REPAIRED, and only there");
  if (Object.keys(other).some((name) => name !== "not_checked")) wrong.push("unknown members in the expectation");
  if (wanted !== "REPAIRED") return wrong;
  try {
    const replayed = replay(JSON.parse(bodyOf(request)), repairs);
    if (inline(replayed) !== inline(repaired)) wrong.push(`the diff leads to ${inline(replayed)}`);
  } catch (error) {
    wrong.push(`the diff leads nowhere: ${error.message}`);
  }
  return wrong;
}

/** Does to the submission what the diff says, entry by entry, and checks each `before` on the way. */
function replay(body, repairs) {
  const ofText = repairs.filter(({ rule }) => rule === "R1" || rule === "R2");
  let root = body.arguments;
  if (root === undefined) {
    const closers = ofText.filter(({ rule }) => rule === "R1").map(({ after }) => after);
    const text = body.arguments_text + closers.join("");
    root = JSON.parse(ofText.length > closers.length ? withoutTrailingCommas(text) : text);
  }
  const holder = { $: root };
  for (const { path, rule, before, after } of repairs.slice(ofText.length)) {
    const steps = stepsOf(path);
    const last = steps.pop();
    const parent = steps.reduce((value, step) => value[step], holder);
    if (inline(parent[last]) !== inline(before)) throw new Error(`${path} is not ${inline(before)}`);
    // A copy, since later entries may write below it, and never into the expectation.
    if (rule === "R8") delete parent[last];
    else parent[last] = structuredClone(after);
  }
  return holder.$;
}

/** Without the commas that stand before a closer or the end; strings are skipped. */
function withoutTrailingCommas(text) {
  return text.replace(/"(?:[^"\\]|\\.)*"|,(?=[ \t\r\n]*(?:[\]}]|$))/gs, (match) => (match === "," ? "" : match));
}

function stepsOf(path) {
  const steps = [...path.matchAll(/\$|\.([^.[\]]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/gy)];
  return steps.map(([whole, name, index, quoted]) => name ?? (index && Number(index)) ?? (quoted ? JSON.parse(quoted) : whole));
}

// ---- a corpus as a whole

function judgeAll({ cases, criteria_id, criteria_revision }, contract, named) {
  const wrong = [];
  if (criteria_id !== contract.criteria_id || criteria_revision !== contract.version) wrong.push("other criteria");
  const ids = new Set();
  for (const { id, shows } of cases) {
    if (ids.has(id)) wrong.push(`two cases are called ${id}`);
    ids.add(id);
    if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(id) || !shows.endsWith(".")) wrong.push(`${id}: its id or its sentence`);
  }
  const met = new Set(cases.flatMap((each) => named(each, contract)));
  const every = [
    ...(contract.whitelist ?? []).map((rule) => rule.id),
    ...(contract.verdicts ?? []).map((verdict) => verdict.name),
    ...(contract.defect_codes ?? []).map(({ code }) => code),
    ...(contract.free_refusals ?? contract.refusals).flatMap(({ code, rules = [] }) => [code, ...rules]),
    ...(contract.shares?.null_reasons ?? []),
  ];
  wrong.push(...every.filter((name) => !met.has(name)).map((name) => `no case shows ${name}`));
  const unknown = [...met].filter((name) => !every.includes(name));
  wrong.push(...unknown.map((name) => `the criteria do not know ${name}`));
  return wrong;
}
