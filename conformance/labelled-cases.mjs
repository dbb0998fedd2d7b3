// Labelled cases for Millwork's own kit, which imports `labelledCases`; README.md beside this file says how to run it.
//
// They are those that dock-conformance takes with --cases: for the quickstart's dock /refunds, or for another dock with
// the name of its file in LABELLED_CASES: check, calls, catalogue.

import { readFileSync } from "node:fs";

const read = (name) => JSON.parse(readFileSync(new URL(`./labelled/${name}.json`, import.meta.url), "utf8"));

export const labelledCases = read(process.env.LABELLED_CASES ?? "refunds");
