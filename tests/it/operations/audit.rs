//! The audit before a report is signed: silent on every right check, loud where a report and its body part.

use std::sync::Arc;

use millwork_dock::argument::{Check, Verdict, check_request_document};
use millwork_dock::budget::{Budget, DEFAULT_STEPS};
use millwork_dock::contract;
use millwork_dock::json::{Document, Kind, Value, write_value};
use millwork_dock::service::audit::{Finding, Stop, audit};

use crate::argument_reference::body;
use crate::data;
use crate::generate::{Range, Rng};

fn document(text: &[u8]) -> Arc<Document> {
    Arc::new(Document::parse(text.to_vec()).unwrap())
}

fn budget() -> Budget<'static> {
    Budget::of_steps(DEFAULT_STEPS)
}

fn check(text: &[u8]) -> Option<(Check<'static>, Arc<Document>)> {
    let body = document(text);
    check_request_document(Arc::clone(&body), &mut budget()).ok().map(|check| (check, body))
}

/// Whether it was repaired.
fn is_silent_on(text: &[u8]) -> bool {
    let Some((check, body)) = check(text) else { return false };
    let found = audit(&check, &body, &mut budget());
    assert_eq!(found, Ok(()), "{}", String::from_utf8_lossy(text));
    check.verdict() == Verdict::Repaired
}

#[test]
fn nothing_is_found_in_what_the_engine_reports() {
    let written = |value: Value<'_>| {
        let mut out = Vec::new();
        write_value(value, &mut out);
        out
    };
    let corpus = document(contract::ARGUMENT_CHECK_CORPUS.as_bytes());
    let cases = corpus.root().get(b"cases").unwrap();
    let requests = cases.items().filter_map(|case| case.get(b"request"));
    let mut repaired = requests
        .filter(|request| request.kind() == Kind::Object)
        .filter(|request| is_silent_on(&written(*request)))
        .count();
    if let Some(path) = data::path("cases/argument-check.jsonl") {
        let text = std::fs::read_to_string(path).unwrap();
        repaired += text.lines().filter(|line| is_silent_on(line.as_bytes())).count();
    }
    let mut rng = Rng::new(6);
    let range = Range { wide: true, repairable: true };
    repaired += (0..20_000).filter(|_| is_silent_on(body(&mut rng, range).as_bytes())).count();
    assert!(repaired > 2000, "{repaired} repaired");
}

/// A check of one body held against another stands for an engine that reports what is not so.
#[test]
fn a_report_that_its_body_does_not_bear_out_is_found() {
    const SUBMITTED: &str = r#"{"schema":{"type":"object","properties":{"n":{"type":"number"},"a":{"type":"array"}}},"arguments":{"n":"1.50","a":7}}"#;
    let (check, _) = check(SUBMITTED.as_bytes()).unwrap();
    assert_eq!(check.verdict(), Verdict::Repaired);
    let found = |from: &str, to: &str| {
        assert!(SUBMITTED.contains(from));
        audit(&check, &document(SUBMITTED.replace(from, to).as_bytes()), &mut budget())
    };
    let invented = Err(Stop::Found(Finding::RepairInventedValue));
    for (from, to) in [
        ("\"1.50\"", "\"1.51\""),
        ("\"1.50\"", "1.50"),
        ("\"a\":7", "\"a\":8"),
        ("\"a\":7", "\"a\":7,\"b\":1"),
        ("{\"n\":\"1.50\",\"a\":7}", "{\"a\":7,\"n\":\"1.50\"}"),
        // The outcome does not conform to the schema.
        ("\"type\":\"number\"", "\"type\":\"number\",\"maximum\":1"),
    ] {
        assert_eq!(found(from, to), invented, "{to}");
    }
    let coverage = Err(Stop::Found(Finding::UndisclosedPartialCoverage));
    for (from, to) in [
        ("\"type\":\"number\"", "\"type\":\"number\",\"multipleOf\":1"),
        ("\"type\":\"array\"", "\"type\":\"array\",\"items\":{\"x-unit\":1}"),
        ("\"type\":\"array\"", "\"type\":\"array\",\"items\":true"),
        ("\"schema\"", "\"schemata\""),
    ] {
        assert_eq!(found(from, to), coverage, "{to}");
    }
    let (check, body) = self::check(SUBMITTED.as_bytes()).unwrap();
    let spent = audit(&check, &body, &mut Budget::of_steps(3));
    assert!(matches!(spent, Err(Stop::Exhausted(_))), "{spent:?}");
}
