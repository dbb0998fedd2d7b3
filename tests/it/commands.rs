//! The commands `check` and `evaluate`.

use serde_json::{Value, json};

use crate::command::{Ran, run};

const SCHEMA: &str = "deploy/schemas/refund.json";
const GOOD: &str = r#"{"order_id":"ORD-104711","amount_cents":1250,"reason":"damaged"}"#;
const REPAIRABLE: &str = r#"{"order_id":"ORD-104711","amount_cents":"1250","reason":"Damaged"}"#;
const BAD: &str = r#"{"order_id":"4711","amount_cents":900000,"why":"late"}"#;

fn check(form: &str, input: &str) -> Ran {
    run(&["check", "--schema", SCHEMA, form, "-"], input)
}

fn check_json(form: &str, input: &str) -> (i32, Value) {
    let ran = run(&["check", "--schema", SCHEMA, form, "-", "--format", "json"], input);
    (ran.status, serde_json::from_str(&ran.out).unwrap())
}

#[test]
fn exit_codes_tell_the_verdict() {
    assert_eq!(check("--arguments", GOOD).status, 0);
    assert_eq!(check("--arguments", REPAIRABLE).status, 3);
    assert_eq!(check("--arguments", BAD).status, 1);
    assert_eq!(check("--arguments", "[]").status, 4);
    assert_eq!(check("--arguments", "{").status, 2);
    assert_eq!(check("--arguments-text", "{").status, 1, "closed, but the required members are missing");
    assert_eq!(run(&["check", "--schema", SCHEMA], "").status, 2);
    assert_eq!(run(&["check", "--schema", "-", "--arguments", "-"], "{}").status, 2);
    assert_eq!(run(&["check", "--schema", "no-such-file", "--arguments", "-"], "{}").status, 5);
}

#[test]
fn the_json_report_has_the_published_members() {
    let (status, report) =
        check_json("--arguments-text", &format!("{},", &REPAIRABLE[..REPAIRABLE.len() - 1]));
    assert_eq!(status, 3);
    assert_eq!(report["criteria_id"], "tool-argument/v1");
    assert_eq!(report["criteria_version"], "1.0.0");
    assert_eq!(report["verdict"], "REPAIRED");
    let line = report["verdict_line"].as_str().unwrap();
    let (line, time) = line.rsplit_once(" — ").unwrap();
    assert_eq!(line, "TOOL-ARGUMENT CHECK — REPAIRED — repairs: 4 — defects: 0");
    assert_eq!((time.len(), time.as_bytes()[19]), ("2026-11-30T15:04:05Z".len(), b'Z'));
    let entry = |path: &str, rule: &str, op: &str, before: Value, after: Value| json!({"path": path, "rule": rule, "op": op, "before": before, "after": after});
    let diff = [
        entry("$arguments_text", "R1", "append", Value::Null, json!("}")),
        entry("$arguments_text", "R2", "remove", json!(","), json!("")),
        entry("$.amount_cents", "R3", "replace", json!("1250"), json!(1250)),
        entry("$.reason", "R9", "replace", json!("Damaged"), json!("damaged")),
    ];
    assert_eq!(report["diff"], json!(diff));
    assert_eq!(report["arguments"], serde_json::from_str::<Value>(GOOD).unwrap());
    assert_eq!(report["defects"], json!([]));
    assert_eq!(report["counts"], json!({"nodes_visited": 4, "nodes_held": 0, "repairs": 4, "defects": 0}));
    let (_, report) = check_json("--arguments", GOOD);
    assert!(report["verdict_line"].as_str().unwrap().contains("defects: 0 — no repair needed — 2"));
    assert_eq!(report.get("arguments"), None);
}

#[test]
fn refusals_name_keyword_and_place() {
    let schema = r#"{"type":"object","properties":{"a/b":{"type":"array","items":{"anyOf":[]}}}}"#;
    let ran = run(&["check", "--schema", "-", "--arguments", SCHEMA, "--format", "json"], schema);
    assert_eq!(ran.status, 4);
    let refusal: Value = serde_json::from_str(&ran.out).unwrap();
    let expected = json!({"criteria_id": "tool-argument/v1", "criteria_version": "1.0.0",
        "refusal": "schema_not_covered", "keyword": "anyOf", "schema_path": "/properties/a~1b/items/anyOf"});
    assert_eq!(refusal, expected);
    let (status, refusal) = check_json("--arguments", "3");
    assert_eq!((status, &refusal["refusal"]), (4, &json!("arguments_not_object")));
}

#[test]
fn text_says_what_failed_where_and_what_would_be_accepted() {
    let out = check("--arguments", BAD).out;
    for part in [
        "UNREPAIRABLE — repairs: 0 — defects: 4",
        "  $.reason\n      missing_required: ",
        "  $.why\n      additional_property: ",
        "  $.order_id\n      pattern_mismatch: must match the pattern \"^ORD-[0-9]{6}$\"\n",
        "  $.amount_cents\n      maximum_violation: must be 500000 or less\n",
    ] {
        assert!(out.contains(part), "{part:?} in:\n{out}");
    }
    let out = check("--arguments", REPAIRABLE).out;
    for part in ["R3 string-to-number", "$.amount_cents: \"1250\" → 1250\n", GOOD] {
        assert!(out.contains(part), "{part:?} in:\n{out}");
    }
}

#[test]
fn a_batch_ends_with_its_worst_line_and_sums_up() {
    let text = serde_json::to_string(&REPAIRABLE[..REPAIRABLE.len() - 1]).unwrap();
    let lines = format!("{GOOD}\n\n{text}\n{GOOD},\n{BAD}\nno JSON\n");
    let ran = check("--jsonl", &lines);
    assert_eq!(ran.status, 1);
    for part in [
        "       1  VALID\n",
        "       3  REPAIRED      R1 R3 R9\n",
        "       4  REPAIRED      R2\n",
        "       5  UNREPAIRABLE  missing_required at $.reason and 3 more\n",
        "       6  UNREPAIRABLE  invalid_json_text at $arguments_text\n",
        "\nVALID                 1   20.0%\n",
        "\ntotal                 5   repairs: 4, defects: 5\n",
    ] {
        assert!(ran.out.contains(part), "{part:?} in:\n{}", ran.out);
    }
    assert_eq!(check("--jsonl", &format!("{BAD}\n[]\n")).status, 4);
    assert_eq!(check("--jsonl", &format!("{GOOD}\n{REPAIRABLE}\n")).status, 3);
    let ran = run(&["check", "--schema", SCHEMA, "--jsonl", "-", "--format", "json"], &lines);
    let verdicts: Vec<Value> =
        ran.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["verdict"].clone()).collect();
    assert_eq!(verdicts, ["VALID", "REPAIRED", "REPAIRED", "UNREPAIRABLE", "UNREPAIRABLE"]);
    assert!(ran.err.contains("total"), "the summary does not mix with the reports");
}

#[test]
fn evaluate_prints_the_answer_and_explains_it() {
    let evaluate = |dock: &str, candidate: &str, more: &[&str]| {
        let config = ["evaluate", "--config", "deploy/quickstart.toml", "--dock", dock, "--candidate", "-"];
        run(&[&config, more].concat(), candidate)
    };
    let ran = evaluate("/refunds", GOOD, &[]);
    assert_eq!(ran.status, 0);
    let answer: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&answer["is_correct"], &answer["quality_score"]), (&json!(true), &json!(1)));
    assert_eq!(evaluate("/refunds", REPAIRABLE, &[]).status, 3);
    assert_eq!(evaluate("/refunds", BAD, &[]).status, 1);
    assert_eq!(evaluate("/refunds", "[]", &[]).status, 4);
    let probe = evaluate("/check", r#"{"solverapi_probe":"registration_preflight"}"#, &[]);
    assert_eq!((probe.status, probe.out.as_str()), (1, r#"{"is_correct":false,"quality_score":0}"#));
    let explained = evaluate("/refunds", REPAIRABLE, &["--explain"]).out;
    for part in [
        "  quality_score   0.5\n",
        "    valid_as_submitted: not held, and required\n",
        "nodes_visited 4, nodes_held 2, repairs 2, defects 0",
        "R3 string-to-number",
    ] {
        assert!(explained.contains(part), "{part:?} in:\n{explained}");
    }
    let unknown = evaluate("/nope", GOOD, &[]);
    assert_eq!(unknown.status, 2);
    assert!(unknown.err.contains("the docks are: /check, /refunds"), "{}", unknown.err);
}

const TOOLS: &str = "deploy/schemas/tools.json";

#[test]
fn check_reads_calls_against_a_catalogue() {
    let check = |candidate: &str, format: &str| {
        let arguments =
            ["check", "--source", "tool_call", "--tools", TOOLS, "--candidate", "-", "--format", format];
        run(&arguments, candidate)
    };
    let call = |arguments: &str| format!(r#"{{"name":"create_refund","arguments":{arguments}}}"#);
    for (candidate, status) in [
        (call(GOOD), 0),
        (call(REPAIRABLE), 3),
        (call(BAD), 1),
        (call("[]"), 4),
        (r#"{"name":"create_refnd","arguments":{}}"#.to_owned(), 1),
        ("\"no call\"".to_owned(), 1),
        (r#"[{"name":"ping"},{"name":"ping"}]"#.to_owned(), 0),
    ] {
        let ran = check(&candidate, "json");
        assert_eq!(ran.status, status, "{candidate}: {}{}", ran.out, ran.err);
        let report: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(report["answer"]["is_correct"], status == 0, "{candidate}");
        assert_eq!(check(&candidate, "text").status, status, "{candidate}");
    }
    let ran = check(&format!("[{},{}]", call(REPAIRABLE), call(BAD)), "json");
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(report["calls"][0]["report"]["verdict"], "REPAIRED");
    assert_eq!(report["calls"][1]["report"]["verdict"], "UNREPAIRABLE");
    assert!(check(&call(BAD), "text").out.contains("create_refund\n"), "the call is named");

    assert_eq!(run(&["check", "--source", "tool_call", "--candidate", "-"], "{}").status, 2, "no --tools");
    assert_eq!(run(&["check", "--schema", SCHEMA, "--candidate", "-"], "{}").status, 2, "no --source");
    assert_eq!(
        run(&["check", "--source", "tool_call", "--tools", SCHEMA, "--candidate", "-"], "{}").status,
        2
    );
}

#[test]
fn batches_of_calls_and_of_candidates_are_summed_up() {
    let call = |arguments: &str| format!(r#"{{"name":"create_refund","arguments":{arguments}}}"#);
    let lines = format!("{}\n\n{}\nno call\n{}\n", call(GOOD), call(REPAIRABLE), call(BAD));
    let ran = run(&["check", "--source", "tool_call", "--tools", TOOLS, "--jsonl", "-"], &lines);
    assert_eq!(ran.status, 1, "{}", ran.err);
    for line in [
        "     1  correct",
        "     3  not correct: valid_as_submitted, without_r3_string_to_number, without_r9_enum_case_match",
        "correct               1   25.0%",
        "repaired              1   25.0%",
        "not correct           2   50.0%",
    ] {
        assert!(ran.out.lines().any(|found| found == line), "{line:?} in\n{}", ran.out);
    }
    let arguments =
        ["evaluate", "--config", "deploy/quickstart.toml", "--dock", "/refunds", "--candidates", "-"];
    let ran = run(&arguments, &format!("{GOOD}\n{REPAIRABLE}\nplain text\n"));
    let answers: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let correct: Vec<&Value> = answers.iter().map(|answer| &answer["is_correct"]).collect();
    assert_eq!(correct, [&json!(true), &json!(false), &json!(false)]);
    assert_eq!(ran.status, 1);
    assert!(ran.err.contains("correct               1"), "{}", ran.err);
}
