//! JSON-Schema-Test-Suite, draft 2020-12: the verdicts are the suite's, and the gaps are listed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use millwork_dock::budget::Budget;
use millwork_dock::json::{Document, Value};
use millwork_dock::json_schema::Schema;

use crate::data;

/// The number is none that 64 bits hold, so the crate would read another one.
const NUMBER: &str = "64-bit";
/// The schema leads outside itself, and nothing is retrieved.
const RETRIEVAL: &str = "leads outside";
/// The schema is of a draft that it brings along by reference.
const META_SCHEMA: &str = "unknown draft";

/// Tests with another verdict than the suite's, or groups with none, each with its reason: it stands in what is said.
const KNOWN_GAPS: &[(&str, &str)] = &[
    ("covered-optional/bignum.json: float comparison with high precision", NUMBER),
    ("covered-optional/bignum.json: float comparison with high precision on negative numbers", NUMBER),
    ("covered-optional/bignum.json: integer: a bignum is an integer", NUMBER),
    ("covered-optional/bignum.json: integer: a negative bignum is an integer", NUMBER),
    ("covered-optional/bignum.json: minimum integer comparison", NUMBER),
    ("covered-optional/bignum.json: number: a bignum is a number", NUMBER),
    ("covered-optional/bignum.json: number: a negative bignum is a number", NUMBER),
    ("covered-optional/bignum.json: string: a bignum is not a string", NUMBER),
    ("ignored-keywords/vocabulary.json: ignore unrecognized optional vocabulary", META_SCHEMA),
    (
        "ignored-keywords/vocabulary.json: schema that uses custom metaschema with with no validation vocabulary",
        META_SCHEMA,
    ),
    ("refused/dynamicRef.json: $ref and $dynamicAnchor are independent of order - $defs first", RETRIEVAL),
    ("refused/dynamicRef.json: $ref and $dynamicAnchor are independent of order - $ref first", RETRIEVAL),
    ("refused/dynamicRef.json: $ref to $dynamicRef finds detached $dynamicAnchor", RETRIEVAL),
    ("refused/dynamicRef.json: strict-tree schema, guards against misspelled properties", RETRIEVAL),
    ("refused/dynamicRef.json: tests for implementation dynamic anchor and reference link", RETRIEVAL),
    ("refused/refRemote.json: $ref to $ref finds detached $anchor", RETRIEVAL),
    ("refused/refRemote.json: Location-independent identifier in remote ref", RETRIEVAL),
    ("refused/refRemote.json: anchor within remote ref", RETRIEVAL),
    ("refused/refRemote.json: base URI change", RETRIEVAL),
    ("refused/refRemote.json: base URI change - change folder", RETRIEVAL),
    ("refused/refRemote.json: base URI change - change folder in subschema", RETRIEVAL),
    ("refused/refRemote.json: fragment within remote ref", RETRIEVAL),
    ("refused/refRemote.json: ref within remote ref", RETRIEVAL),
    ("refused/refRemote.json: remote HTTP ref with different $id", RETRIEVAL),
    ("refused/refRemote.json: remote HTTP ref with different URN $id", RETRIEVAL),
    ("refused/refRemote.json: remote HTTP ref with nested absolute ref", RETRIEVAL),
    ("refused/refRemote.json: remote ref", RETRIEVAL),
    ("refused/refRemote.json: remote ref with ref to defs", RETRIEVAL),
    ("refused/refRemote.json: retrieved nested refs resolve relative to their URI not $id", RETRIEVAL),
    ("refused/refRemote.json: root ref in remote ref", RETRIEVAL),
];

#[derive(Default)]
struct Tally {
    groups: usize,
    tests: usize,
    differing: BTreeMap<String, String>,
}

#[test]
fn verdicts_are_the_suites() {
    let Some(root) = data::path("json-schema-test-suite") else { return };
    let mut tally = Tally::default();
    for folder in ["covered", "covered-optional", "ignored-keywords", "refused"] {
        for file in files(&root.join(folder)) {
            let document = Document::parse(std::fs::read(&file).unwrap()).unwrap();
            let name = file.strip_prefix(&root).unwrap().display().to_string();
            document.root().items().for_each(|group| judge(&name, group, &mut tally));
        }
    }
    println!("{} groups, {} tests", tally.groups, tally.tests);
    for (gap, reason) in KNOWN_GAPS {
        let said =
            tally.differing.remove(*gap).unwrap_or_else(|| panic!("no gap any more: {gap} ({reason})"));
        assert!(said.contains(reason), "{gap}: {said}");
    }
    assert!(tally.differing.is_empty(), "{:#?}", tally.differing);
    assert_eq!((tally.groups, tally.tests), (415, 1401));
}

fn judge(file: &str, group: Value<'_>, tally: &mut Tally) {
    let name = format!("{file}: {}", text(group));
    tally.groups += 1;
    let schema = Schema::compile(group.get(b"schema").unwrap());
    let tests = group.get(b"tests").unwrap();
    tally.tests += tests.len();
    let schema = match schema {
        Ok(schema) => schema,
        Err(unusable) => {
            tally.differing.insert(name, unusable.to_string());
            return;
        }
    };
    for test in tests.items() {
        let instance = test.get(b"data").unwrap();
        let outcome = schema.check(instance, &mut Budget::of_steps(super::STEPS));
        let expected = test.get(b"valid").and_then(Value::as_bool).unwrap();
        let agrees = outcome.is_ok_and(|outcome| {
            assert_eq!(outcome.failed.is_empty(), outcome.held == outcome.visited, "{name}: {}", text(test));
            outcome.failed.is_empty() == expected && outcome.failed.is_within(schema.keywords())
        });
        if !agrees {
            let said = match outcome {
                Ok(outcome) => format!("{:?}", outcome.failed.names().collect::<Vec<_>>()),
                Err(stop) => stop.to_string(),
            };
            tally.differing.insert(format!("{name}: {}", text(test)), format!("valid: {expected}, {said}"));
        }
    }
}

fn text(described: Value<'_>) -> String {
    let text = described.get(b"description").and_then(Value::as_text).unwrap();
    String::from_utf8(text.decode().into_owned()).unwrap()
}

/// The JSON files in and below a folder, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            out.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "json") {
            out.push(path);
        }
    }
    out.sort();
    out
}
