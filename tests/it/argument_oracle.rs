//! The `jsonschema` crate as oracle on generated pairs of a covered schema and arguments.
//!
//! "No repair applies" is decided by the naive second reading, whose reports equal the engine's byte for
//! byte (`argument_reference`) and which also shows the repairs of an unrepairable submission.

use std::collections::BTreeSet;

use jsonschema::error::ValidationErrorKind;
use millwork_dock::argument::{Check, Schema, Submission, Verdict, check};
use millwork_dock::budget::{Budget, DEFAULT_STEPS};
use millwork_dock::json::{Document, write_item_step, write_name_step};
use serde_json::Value;

use crate::generate::{self, Range, Rng};
use crate::reference::{self, J, Outcome, write};

/// Numbers that an f64 holds, whole characters, no repeated names: what the crate can read.
const SHARED: Range = Range { wide: false, repairable: true };
const EXACT: Range = Range { repairable: false, ..SHARED };

type Failures = BTreeSet<(String, String)>;

#[test]
fn agrees_with_jsonschema() {
    let mut rng = Rng::new(13);
    let (mut pairs, mut compared, mut valid, mut repaired) = (0, 0, 0, 0);
    while pairs < 60_000 {
        let range = if rng.percent(50) { SHARED } else { EXACT };
        let schema = generate::root_schema(&mut rng, range);
        let (schema_text, oracle_schema) = both(&schema);
        let oracle = jsonschema::options()
            .with_draft(jsonschema::Draft::Draft202012)
            .should_validate_formats(false)
            .build(&oracle_schema)
            .unwrap();
        let document = Document::parse(schema_text.clone().into_bytes()).unwrap();
        let compiled = Schema::compile(document.root()).unwrap();
        for _ in 0..3 {
            pairs += 1;
            let arguments = generate::fitting_object(&mut rng, range, &schema);
            let (text, instance) = both(&arguments);
            let submitted = Document::parse(text.clone().into_bytes()).unwrap();
            let submission = Submission::Arguments(submitted.root());
            let own = check(&compiled, submission, &mut Budget::of_steps(DEFAULT_STEPS)).unwrap();
            let pair = || format!("{schema_text}\n{text}");
            assert_eq!(own.verdict() == Verdict::Valid, oracle.is_valid(&instance), "{}", pair());
            valid += usize::from(own.verdict() == Verdict::Valid);
            if own.verdict() == Verdict::Repaired {
                repaired += 1;
                let mut blob = Vec::new();
                own.write_arguments(&mut blob);
                let blob: Value = serde_json::from_slice(&blob).unwrap();
                assert!(oracle.is_valid(&blob), "{}\n{blob}", pair());
            }
            if no_repair_applies(&schema, &arguments) {
                compared += 1;
                assert_eq!(failures(&own), oracle_failures(&oracle, &instance), "{}", pair());
            }
        }
    }
    println!(
        "{pairs} pairs: {valid} valid, {repaired} repaired; failing keywords and paths compared on {compared}"
    );
    assert!(valid > 5_000 && repaired > 2_000 && compared > 20_000, "{valid} {repaired} {compared}");
}

fn both(value: &J) -> (String, Value) {
    let mut text = String::new();
    write(value, &mut text);
    let value = serde_json::from_str(&text).unwrap();
    (text, value)
}

fn no_repair_applies(schema: &J, arguments: &J) -> bool {
    let body = J::obj(&[("arguments", arguments.clone()), ("schema", schema.clone())]);
    match reference::check_body(&body) {
        Outcome::Report(report) => report.tentative.is_empty(),
        Outcome::Refused(_) => false,
    }
}

/// The defects as failing keywords and paths.
fn failures(check: &Check<'_>) -> Failures {
    let failure = |code: &str, path: Vec<u8>| (keyword(code).to_owned(), String::from_utf8(path).unwrap());
    check
        .defects()
        .map(|defect| {
            let mut path = Vec::new();
            defect.write_path(false, &mut path);
            failure(defect.code().code(), path)
        })
        .collect()
}

fn keyword(code: &str) -> &'static str {
    match code {
        "missing_required" => "required",
        "type_mismatch" => "type",
        "enum_mismatch" => "enum",
        "const_mismatch" => "const",
        "string_too_short" => "minLength",
        "string_too_long" => "maxLength",
        "pattern_mismatch" => "pattern",
        "minimum_violation" => "minimum",
        "maximum_violation" => "maximum",
        "exclusive_minimum_violation" => "exclusiveMinimum",
        "exclusive_maximum_violation" => "exclusiveMaximum",
        "array_too_short" => "minItems",
        "array_too_long" => "maxItems",
        "items_not_unique" => "uniqueItems",
        "too_few_properties" => "minProperties",
        "too_many_properties" => "maxProperties",
        "additional_property" => "additionalProperties",
        _ => panic!("{code} cannot come of structured arguments"),
    }
}

/// The oracle's failures, a missing or undeclared member at its own path.
///
/// A fault of the oracle is left out: version 0.61.2 lists a required member as missing although it is there, if
/// it is not declared and `additionalProperties` is false (both verdicts are right: it is not valid).
fn oracle_failures(oracle: &jsonschema::Validator, instance: &Value) -> Failures {
    let mut out = Failures::new();
    for error in oracle.iter_errors(instance) {
        let path = path_of(instance, error.instance_path().as_str());
        let members = match error.kind() {
            ValidationErrorKind::Required { property } => {
                let name = property.as_str().unwrap();
                let object = instance.pointer(error.instance_path().as_str()).unwrap();
                if object.get(name).is_some() { Vec::new() } else { vec![name.to_owned()] }
            }
            ValidationErrorKind::AdditionalProperties { unexpected } => unexpected.clone(),
            // Without `properties` no member is declared, and the oracle names the object alone.
            ValidationErrorKind::FalseSchema => {
                let object = instance.pointer(error.instance_path().as_str()).unwrap();
                object.as_object().unwrap().keys().cloned().collect()
            }
            kind => {
                out.insert((kind.keyword().to_owned(), path));
                continue;
            }
        };
        for member in members {
            let mut path = path.clone().into_bytes();
            write_name_step(member.as_bytes(), &mut path);
            let keyword = error.schema_path().as_str().rsplit('/').next().unwrap();
            out.insert((keyword.to_owned(), String::from_utf8(path).unwrap()));
        }
    }
    out
}

/// A JSON Pointer into the instance as one of our paths.
fn path_of(instance: &Value, pointer: &str) -> String {
    let mut path = b"$".to_vec();
    let mut at = instance;
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        match at {
            Value::Array(items) => {
                let index: usize = step.parse().unwrap();
                write_item_step(index, &mut path);
                at = &items[index];
            }
            _ => {
                write_name_step(step.as_bytes(), &mut path);
                at = &at[&step];
            }
        }
    }
    String::from_utf8(path).unwrap()
}
