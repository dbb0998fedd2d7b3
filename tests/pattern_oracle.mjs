// The oracle of the pattern tests: says what this Node makes of patterns and texts.
//
//   node pattern_oracle.mjs            reads JSON lines {"p": pattern, "t": [text, …]}; answers one line each:
//                                      "-" if the pattern compiles neither way, else "u" or "n" and 0 or 1 per text
//   node pattern_oracle.mjs sets       reads JSON lines {"p": class}; answers its ranges "a-b,c-d" in hex
//   node pattern_oracle.mjs collect D  prints, as JSON strings, each distinct `pattern` keyword in D's JSON files
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [mode, directory] = process.argv.slice(2);

function compile(source) {
  for (const flags of ['u', '']) {
    try {
      return new RegExp(source, flags);
    } catch { /* the other way, or neither */ }
  }
  return null;
}

// With `u` the standard begins a match only between code points; V8 begins one inside a pair, too, where a
// bare `\B` then holds. So texts with pairs are searched as the standard says, with a sticky pattern.
function search(regexp, text) {
  if (!regexp.unicode || !/[\ud800-\udbff][\udc00-\udfff]/.test(text)) return regexp.test(text);
  const sticky = new RegExp(regexp.source, 'uy');
  let at = 0;
  for (const piece of [...text, '']) {
    sticky.lastIndex = at;
    if (sticky.test(text)) return true;
    at += piece.length;
  }
  return false;
}

function answer({ p, t }) {
  const regexp = compile(p);
  if (!regexp) return '-';
  return (regexp.unicode ? 'u' : 'n') + t.map((text) => (search(regexp, text) ? '1' : '0')).join('');
}

function ranges({ p }) {
  const regexp = compile(p);
  if (!regexp?.unicode) return '-';
  const found = [];
  let start = -1;
  for (let code = 0; code <= 0x110000; code++) {
    const has = code <= 0x10ffff && regexp.test(String.fromCodePoint(code));
    if (has && start < 0) start = code;
    if (!has && start >= 0) {
      found.push(`${start.toString(16)}-${(code - 1).toString(16)}`);
      start = -1;
    }
  }
  return found.join(',');
}

function* files(at) {
  for (const entry of readdirSync(at, { withFileTypes: true })) {
    const path = join(at, entry.name);
    if (entry.isDirectory()) yield* files(path);
    else if (/\.(json|jsonl|snap)$/.test(entry.name)) yield path;
  }
}

function collect(value, found) {
  if (Array.isArray(value)) value.forEach((item) => collect(item, found));
  else if (value && typeof value === 'object') {
    if (typeof value.pattern === 'string') found.add(value.pattern);
    if (value.patternProperties && typeof value.patternProperties === 'object') {
      Object.keys(value.patternProperties).forEach((key) => found.add(key));
    }
    Object.values(value).forEach((item) => collect(item, found));
  }
}

if (mode === 'collect') {
  const found = new Set();
  for (const path of files(directory)) {
    const text = readFileSync(path, 'utf8');
    for (const part of path.endsWith('.jsonl') ? text.split('\n').filter(Boolean) : [text]) {
      try {
        collect(JSON.parse(part), found);
      } catch { /* not every file is JSON */ }
    }
  }
  for (const pattern of found) console.log(JSON.stringify(pattern));
} else {
  const lines = readFileSync(0, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));
  process.stdout.write(lines.map(mode === 'sets' ? ranges : answer).join('\n') + '\n');
}
