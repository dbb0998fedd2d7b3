//! `contract/` against itself, against the code and against the published documents.
//!
//! `code` compares the engines and the dock, `seeds` the published documents themselves.

mod code;
mod seeds;

use std::collections::BTreeSet;
use std::process::Command;

use millwork_dock::contract;
use millwork_dock::explain::Explanations;
use millwork_dock::fault::Fault;
use millwork_dock::profile;
use serde_json::{Value, json};

/// The compiled-in file as JSON.
fn file(text: &str) -> Value {
    serde_json::from_str(text).expect("a contract file is JSON")
}

/// The strings at `member` of each object in the array at `pointer`.
fn column<'a>(document: &'a Value, pointer: &str, member: &str) -> Vec<&'a str> {
    let rows = document.pointer(pointer).and_then(Value::as_array).expect(pointer);
    rows.iter().map(|row| row[member].as_str().expect(member)).collect()
}

/// The strings of the array at `pointer`.
fn strings<'a>(document: &'a Value, pointer: &str) -> Vec<&'a str> {
    let items = document.pointer(pointer).and_then(Value::as_array).expect(pointer);
    items.iter().map(|item| item.as_str().expect(pointer)).collect()
}

/// What stands under one `### name` of a Markdown file.
#[derive(Clone)]
struct Entry<'a> {
    name: &'a str,
    lines: Vec<&'a str>,
}

impl<'a> Entry<'a> {
    /// The text after `- field: `.
    fn field(&self, field: &str) -> Option<&'a str> {
        self.lines.iter().find_map(|line| line.strip_prefix("- ")?.strip_prefix(field)?.strip_prefix(": "))
    }

    /// The number that the status begins with.
    fn status(&self) -> u16 {
        let status = self.field("Status").unwrap_or_else(|| panic!("{} has a status", self.name));
        let number = status.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
        number
            .parse()
            .unwrap_or_else(|_| panic!("the status of {} begins with a number: {status}", self.name))
    }
}

/// The entries under `## heading`, in order.
fn entries<'a>(markdown: &'a str, heading: &str) -> Vec<Entry<'a>> {
    let lines = markdown.lines().skip_while(|line| line.strip_prefix("## ") != Some(heading)).skip(1);
    let mut found: Vec<Entry<'a>> = Vec::new();
    for line in lines.take_while(|line| !line.starts_with("## ")) {
        if let Some(name) = line.strip_prefix("### ") {
            found.push(Entry { name: name.trim_matches('`'), lines: Vec::new() });
        } else if let Some(last) = found.last_mut() {
            last.lines.push(line);
        }
    }
    assert!(!found.is_empty(), "no section {heading}");
    found
}

/// The names under `## heading`, in order.
fn names<'a>(markdown: &'a str, heading: &str) -> Vec<&'a str> {
    entries(markdown, heading).iter().map(|entry| entry.name).collect()
}

/// `code` as the anchor that says it did not happen.
fn refusal_anchor(code: &str) -> String {
    match code {
        "CAP-EXCEEDED:body_bytes" => "no_body_over_cap".to_owned(),
        code => format!("no_{code}"),
    }
}

#[test]
fn every_fault_is_in_errors_md_and_nothing_else_is() {
    let codes: Vec<&str> = Fault::ALL.iter().map(|fault| fault.code()).collect();
    let mut listed = names(contract::ERRORS, "Faults");
    listed.extend(names(contract::ERRORS, "Faults of the published operations"));
    assert_eq!(listed, codes);
}

#[test]
fn every_error_says_who_acts_and_how() {
    for heading in [
        "Faults",
        "Faults of the published operations",
        "Answers without a body",
        "Refusals",
        "Refusals of the split profile",
        "Refusals of JSON Schema",
    ] {
        for entry in entries(contract::ERRORS, heading) {
            assert!((400..=599).contains(&entry.status()), "{}", entry.name);
            let acts = entry.field("Acts").unwrap_or_default();
            assert!(["operator", "tenant", "caller"].contains(&acts), "{}: who acts? {acts:?}", entry.name);
            for field in ["Meaning", "Do"] {
                assert!(entry.field(field).is_some_and(|text| !text.is_empty()), "{}: {field}?", entry.name);
            }
        }
    }
}

#[test]
fn answers_without_a_body_are_named_by_their_status() {
    let entries = entries(contract::ERRORS, "Answers without a body");
    let found: Vec<(&str, u16)> = entries.iter().map(|entry| (entry.name, entry.status())).collect();
    assert_eq!(found, [("400", 400), ("414", 414), ("431", 431)]);
}

#[test]
fn every_code_has_the_form_that_the_client_accepts() {
    let dock = file(contract::VERIFIER_DOCK);
    let pattern = json!({ "type": "string", "pattern": dock["client"]["error_code_pattern"] });
    let validator = jsonschema::draft202012::new(&pattern).expect("the pattern compiles");
    let criteria = file(contract::TOOL_ARGUMENT);
    let profile = file(contract::TOKEN_EFFICIENCY);
    let refusals =
        [column(&criteria, "/free_refusals", "code"), column(&profile, "/refusals", "code")].concat();
    for code in Fault::ALL.iter().map(|fault| fault.code()).chain(refusals) {
        assert!(validator.is_valid(&json!(code)), "{code}");
    }
}

#[test]
fn refusals_agree_in_all_three_files() {
    let criteria = file(contract::TOOL_ARGUMENT);
    let listed: BTreeSet<(&str, u64)> = column(&criteria, "/free_refusals", "code")
        .into_iter()
        .zip(
            criteria["free_refusals"]
                .as_array()
                .expect("a list")
                .iter()
                .map(|row| row["status"].as_u64().expect("a status")),
        )
        .collect();
    let explained = entries(contract::ERRORS, "Refusals");
    assert_eq!(
        explained.iter().map(|entry| (entry.name, entry.status().into())).collect::<BTreeSet<_>>(),
        listed
    );
    assert_eq!(explained.len(), 10);

    for entry in &explained {
        let anchor = format!("`{}`", refusal_anchor(entry.name));
        assert_eq!(entry.field("Anchor"), Some(anchor.as_str()), "{}", entry.name);
    }
    let anchors: Vec<String> = explained.iter().map(|entry| refusal_anchor(entry.name)).collect();
    assert_eq!(names(contract::ANCHORS, "Refusals"), anchors);

    let order = criteria["refusal_order"].as_array().expect("a list");
    let ordered: Vec<&str> =
        order.iter().flat_map(|step| step.as_array().expect("a step")).filter_map(Value::as_str).collect();
    assert_eq!(ordered.len(), 10);
    assert_eq!(ordered.into_iter().collect::<BTreeSet<_>>(), listed.iter().map(|(code, _)| *code).collect());
}

#[test]
fn refusals_of_the_split_profile_agree() {
    let profile = file(contract::TOKEN_EFFICIENCY);
    let own: Vec<(&str, u16)> = profile::Refusal::ALL
        .iter()
        .map(|refusal| (refusal.code(), if refusal.code().ends_with("body_bytes") { 413 } else { 400 }))
        .collect();
    let explained =
        [entries(contract::ERRORS, "Refusals"), entries(contract::ERRORS, "Refusals of the split profile")]
            .concat();
    let rows = profile["refusals"].as_array().expect("a list");
    for row in rows {
        let (code, status) =
            (row["code"].as_str().expect("a code"), row["status"].as_u64().expect("a status"));
        let entry = explained
            .iter()
            .find(|entry| entry.name == code)
            .unwrap_or_else(|| panic!("{code} is not explained"));
        assert_eq!(u64::from(entry.status()), status, "{code}");
        assert!(own.iter().any(|(known, its)| *known == code && u64::from(*its) == status), "{code}");
    }
    let codes: BTreeSet<&str> = own.iter().map(|(code, _)| *code).collect();
    assert_eq!(codes, column(&profile, "/refusals", "code").into_iter().collect());
    let rules: Vec<&str> = profile::Refusal::ALL.iter().filter_map(|refusal| refusal.rule()).collect();
    let row = rows.iter().find(|row| row["code"] == "catalogue_invalid").expect("catalogue_invalid");
    assert_eq!(json!(rules), row["rules"]);
    let text = explained.iter().find(|entry| entry.name == "catalogue_invalid").expect("an entry");
    assert!(rules.iter().all(|rule| text.field("Meaning").is_some_and(|text| text.contains(rule))));
}

#[test]
fn anchors_md_lists_the_fixed_set() {
    let criteria = file(contract::TOOL_ARGUMENT);
    let defects: Vec<String> =
        column(&criteria, "/defect_codes", "code").iter().map(|code| format!("no_{code}")).collect();
    assert_eq!(names(contract::ANCHORS, "Defects"), defects);
    assert_eq!(defects.len(), 18);

    let rules =
        column(&criteria, "/whitelist", "id").into_iter().zip(column(&criteria, "/whitelist", "name"));
    let repairs: Vec<String> =
        rules.map(|(id, name)| format!("without_{}_{}", id.to_lowercase(), name.replace('-', "_"))).collect();
    assert_eq!(names(contract::ANCHORS, "Repairs"), repairs);
    assert_eq!(repairs.len(), 9);

    let conformance = ["assessable", "valid_as_submitted", "conforms_after_repair"];
    assert_eq!(names(contract::ANCHORS, "Conformance"), conformance);
    assert_eq!(names(contract::ANCHORS, "Guards"), ["no_duplicate_names", "no_lone_surrogates"]);
    assert_eq!(names(contract::ANCHORS, "Per defect"), ["<code> at <path>", "more_defects_not_listed"]);
    assert_eq!(names(contract::ANCHORS, "Score"), ["quality_score"]);
}

#[test]
fn each_rule_has_one_operation() {
    let criteria = file(contract::TOOL_ARGUMENT);
    for rule in criteria["whitelist"].as_array().expect("a list") {
        let listed: Vec<&str> = ["replace", "remove", "append"]
            .into_iter()
            .filter(|op| {
                strings(&criteria, &format!("/diff/ops/{op}")).contains(&rule["id"].as_str().expect("an id"))
            })
            .collect();
        assert_eq!(listed, [rule["op"].as_str().expect("an op")], "{}", rule["id"]);
    }
}

#[test]
fn the_request_schema_takes_one_candidate_of_any_type() {
    let dock = file(contract::VERIFIER_DOCK);
    let schema = jsonschema::draft202012::new(&dock["request"]["schema"]).expect("the schema compiles");
    for candidate in [
        json!(null),
        json!(false),
        json!(0),
        json!("text"),
        json!([]),
        json!({"a": 1}),
        dock["reserved_probe"]["candidate"].clone(),
    ] {
        assert!(schema.is_valid(&json!({ "candidate": candidate })), "{candidate}");
    }
    for body in [
        json!({}),
        json!(null),
        json!([]),
        json!("candidate"),
        json!({"candidate": 1, "run": 2}),
        json!({"Candidate": 1}),
    ] {
        assert!(!schema.is_valid(&body), "{body}");
    }
}

#[test]
fn the_response_schema_takes_verdicts_only() {
    let dock = file(contract::VERIFIER_DOCK);
    let schema = jsonschema::draft202012::new(&dock["response"]["schema"]).expect("the schema compiles");
    let good = [
        dock["reserved_probe"]["expected_body"].clone(),
        json!({"is_correct": true, "quality_score": 1}),
        json!({"is_correct": true, "quality_score": 0.5, "anchor_results": {"a": true, "b": false}}),
        json!({"is_correct": false, "quality_score": 0, "anchor_results": {}, "named_metrics": {"n": -3.5}}),
        json!({"is_correct": false, "quality_score": 0, "anything": [null]}),
    ];
    for body in good {
        assert!(schema.is_valid(&body), "{body}");
    }
    let bad = [
        json!({"quality_score": 0}),
        json!({"is_correct": true}),
        json!({"is_correct": "true", "quality_score": 0}),
        json!({"is_correct": 1, "quality_score": 0}),
        json!({"is_correct": null, "quality_score": 0}),
        json!({"is_correct": true, "quality_score": 1.000_001}),
        json!({"is_correct": true, "quality_score": -0.000_001}),
        json!({"is_correct": true, "quality_score": "1"}),
        json!({"is_correct": true, "quality_score": 1, "anchor_results": {"a": 1}}),
        json!({"is_correct": true, "quality_score": 1, "anchor_results": []}),
        json!({"is_correct": true, "quality_score": 1, "named_metrics": {"n": "3"}}),
        json!({"is_correct": true, "quality_score": 1, "named_metrics": {"n": null}}),
        json!({"error": "check_failed"}),
        json!([true, 1]),
        json!(null),
    ];
    for body in bad {
        assert!(!schema.is_valid(&body), "{body}");
    }
}

#[test]
fn explain_knows_every_name() {
    let criteria = file(contract::TOOL_ARGUMENT);
    let mut known: Vec<&str> = Fault::ALL.iter().map(|fault| fault.code()).collect();
    known.extend(column(&criteria, "/defect_codes", "code"));
    known.extend(names(contract::ERRORS, "Refusals"));
    known.extend(names(contract::ERRORS, "Refusals of the split profile"));
    known.extend(names(contract::ERRORS, "Refusals of JSON Schema"));
    known.extend(column(&criteria, "/whitelist", "id"));
    known.extend(column(&criteria, "/whitelist", "name"));
    let headings = [
        "Score",
        "Conformance",
        "Defects",
        "Repairs",
        "Calls",
        "Guards",
        "JSON Schema",
        "Split profile",
        "Refusals",
        "Per defect",
    ];
    for heading in headings {
        known.extend(names(contract::ANCHORS, heading));
    }
    let explanations = Explanations::load().expect("the contract can be read");
    let (_, listing, _) = explain(&[]);
    for name in &known {
        assert!(explanations.find(name).is_some(), "{name} is not explained");
        assert!(
            listing.split_whitespace().any(|word| word == *name) || name.contains(' '),
            "the list lacks {name}"
        );
    }
    let explained = explanations.all().iter().flat_map(|entry| &entry.names).count();
    assert_eq!(explained, known.len() + ["400", "414", "431"].len());
}

#[test]
fn explain_prints_an_entry_or_offers_near_names() {
    let (code, out, err) = explain(&["wrap-single-in-array"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert!(out.starts_with("R7, wrap-single-in-array (Repair rules)\n"), "{out}");
    assert!(out.ends_with("\nAnchor: without_r7_wrap_single_in_array\n"), "{out}");

    let (code, out, err) = explain(&["no_type_missmatch"]);
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert!(err.contains("`no_type_missmatch`; near it: no_type_mismatch"), "{err}");

    let (code, _, err) = explain(&["\u{1b}[2J"]);
    assert_eq!(
        (code, err.contains('\u{1b}')),
        (Some(2), false),
        "a name is printed without its control characters"
    );
}

fn explain(arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_millwork-dock"));
    let output = command.arg("explain").args(arguments).output().expect("the program starts");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}
