//! The 77 hand-made cases of `cases/argument-check.jsonl`: verdict, repairs, defects and repaired arguments.

use millwork_dock::argument::{CRITERIA_ID, Check, Stop, check_request, replay, replay_text};
use millwork_dock::budget::{Budget, DEFAULT_STEPS};
use millwork_dock::json::Document;
use serde_json::Value;

use crate::data;

/// The result of a check as JSON: the report, or `{"refusal": code}`.
fn result_of(body: &Document) -> Value {
    match check_request(body.root(), &mut Budget::of_steps(DEFAULT_STEPS)) {
        Ok(check) => report_of(&check),
        Err(Stop::Refused(refusal, _)) => serde_json::json!({"refusal": refusal.code()}),
        Err(Stop::Exhausted(_)) => panic!("the budget is spent"),
    }
}

fn report_of(check: &Check<'_>) -> Value {
    let mut report = Vec::new();
    check.write_report("", &mut report, usize::MAX).unwrap();
    serde_json::from_slice(&report).unwrap()
}

#[test]
fn every_case_has_the_expected_result() {
    let Some(path) = data::path("cases/argument-check.jsonl") else { return };
    let text = std::fs::read_to_string(path).unwrap();
    let mut count = 0;
    let mut failures = Vec::new();
    for line in text.lines() {
        count += 1;
        let case: Value = serde_json::from_str(line).unwrap();
        let id = line.get(8..13).unwrap().to_owned();
        let body = Document::parse(line.as_bytes().to_vec()).unwrap();
        let result = result_of(&body);
        let expect = &case["expect"];
        if let Some(difference) = difference(expect, &result) {
            failures.push(format!("{id}: {difference}\n  got {result}"));
        }
        if result["verdict"] == "REPAIRED" {
            let mut diff = Vec::new();
            check_request(body.root(), &mut Budget::of_steps(DEFAULT_STEPS))
                .unwrap()
                .write_diff(&mut diff, usize::MAX)
                .unwrap();
            let diff = Document::parse(diff).unwrap();
            let replayed = match (body.root().get(b"arguments"), body.root().get(b"arguments_text")) {
                (Some(arguments), _) => replay(arguments, diff.root()).unwrap(),
                (_, Some(text)) => replay_text(&text.as_text().unwrap().decode(), diff.root()).unwrap(),
                _ => panic!("{id}: no arguments"),
            };
            assert_eq!(serde_json::from_slice::<Value>(&replayed).unwrap(), result["arguments"], "{id}");
        }
    }
    println!("{CRITERIA_ID}: {count} cases");
    assert!(failures.is_empty(), "{} of {count} cases:\n{}", failures.len(), failures.join("\n"));
    assert_eq!(count, 77);
}

/// What the case expects that the result does not have.
fn difference(expect: &Value, result: &Value) -> Option<String> {
    for key in ["verdict", "refusal"] {
        if expect.get(key).is_some() && expect[key] != result[key] {
            return Some(format!("{key}: expected {}", expect[key]));
        }
    }
    if let Some(repaired) = expect.get("repaired")
        && *repaired != result["arguments"]
    {
        return Some(format!("repaired: expected {repaired}"));
    }
    for (key, own) in [("repairs", "diff"), ("defects", "defects")] {
        let Some(expected) = expect.get(key).and_then(Value::as_array) else { continue };
        let got = result[own].as_array()?;
        if expected.len() != got.len() {
            return Some(format!("{key}: expected {}", expect[key]));
        }
        for (expected, got) in expected.iter().zip(got) {
            for (name, value) in expected.as_object()? {
                if got[name] != *value {
                    return Some(format!("{key}: expected {expected}"));
                }
            }
        }
    }
    None
}
