//! JSON-Schema-Test-Suite, draft 2020-12: the verdicts are the suite's, and the gaps are listed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use millwork_dock::budget::Budget;
use millwork_dock::json::{Document, Value};
use millwork_dock::json_schema::Schema;

use crate::data;

/// Tests with another verdict than the suite's, or none, each with its reason.
const KNOWN_GAPS: &[(&str, &str)] = &[];

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
        assert!(tally.differing.remove(*gap).is_some(), "no gap any more: {gap} ({reason})");
    }
    assert!(tally.differing.is_empty(), "{:#?}", tally.differing);
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
            let failed = outcome.map(|outcome| outcome.failed.names().collect::<Vec<_>>());
            tally
                .differing
                .insert(format!("{name}: {}", text(test)), format!("valid: {expected}, {failed:?}"));
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
