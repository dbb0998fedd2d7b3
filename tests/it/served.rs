//! Recorded calls and the hand-made cases, asked of a running server.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::{Dock, Reply, as_text, body};
use crate::{calls, data};

/// The outcome that an answer's anchors tell.
fn outcome(reply: &Reply) -> &'static str {
    let answer: Value = serde_json::from_slice(&reply.body).unwrap();
    let held = |name: &str| answer["anchor_results"][name] == true;
    match (held("assessable"), held("valid_as_submitted"), held("conforms_after_repair")) {
        (false, false, false) => "refused",
        (true, true, true) => "VALID",
        (true, false, true) => "REPAIRED",
        (true, false, false) => "UNREPAIRABLE",
        _ => panic!("anchors that contradict each other: {answer}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_recorded_calls_get_their_verdicts() {
    let Some(requests) = calls::requests() else { return };
    let dock = Dock::with("", "").await;
    let mut counts = BTreeMap::<&str, usize>::new();
    for request in &requests {
        let candidate = std::str::from_utf8(request).unwrap();
        let reply = dock.post("/check", "", &body(candidate)).await;
        let as_text = dock.post_h2("/check", &[], &body(&as_text(candidate))).await;
        assert_eq!(reply.body, as_text.body, "structured and as text: {candidate}");
        *counts.entry(outcome(&reply)).or_default() += 1;
    }
    let expected = [("REPAIRED", 2), ("UNREPAIRABLE", 46), ("VALID", 401), ("refused", 79)];
    assert_eq!(counts, BTreeMap::from(expected));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_case_structured_and_as_text_gets_the_same_bytes() {
    let Some(path) = data::path("cases/argument-check.jsonl") else { return };
    let dock = Dock::start().await;
    let mut structured = 0;
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let mut candidate = serde_json::json!({"schema": case["schema"]});
        let form = if case.get("arguments").is_some() { "arguments" } else { "arguments_text" };
        candidate[form] = case[form].clone();
        let candidate = candidate.to_string();
        let reply = dock.post("/check", "", &body(&candidate)).await;
        assert_eq!(
            reply.body,
            dock.post("/check", "", &body(&as_text(&candidate))).await.body,
            "{}",
            case["id"]
        );
        let expected = case["expect"]["verdict"].as_str().unwrap_or("refused");
        assert_eq!(outcome(&reply), expected, "{}", case["id"]);
        structured += 1;
    }
    assert_eq!(structured, 77);
}
