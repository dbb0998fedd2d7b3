//! `contract/` against what the engines and the dock say of themselves, and against what they answer.

use millwork_dock::argument::{
    self, CRITERIA_ID, CRITERIA_VERSION, DefectCode, ENFORCED, NOT_COVERED, NOT_COVERED_UNLISTED, Refusal,
    Rule, Schema, Verdict,
};
use millwork_dock::budget::Budget;
use millwork_dock::config::keys::BOUNDS;
use millwork_dock::contract;
use millwork_dock::dock::{self, AnchorMode, Check, Dock, PROBE_ANSWER, Source, probe};
use millwork_dock::json::Document;
use serde_json::{Value, json};

use super::{column, file, names, refusal_anchor, strings};

#[test]
fn the_argument_check_has_the_published_names() {
    let criteria = file(contract::TOOL_ARGUMENT);
    assert_eq!(
        (criteria["criteria_id"].as_str(), criteria["version"].as_str()),
        (Some(CRITERIA_ID), Some(CRITERIA_VERSION))
    );
    let codes: Vec<&str> = DefectCode::ALL.iter().map(|code| code.code()).collect();
    assert_eq!(column(&criteria, "/defect_codes", "code"), codes);
    let refusals: Vec<&str> = Refusal::ALL.iter().map(|refusal| refusal.code()).collect();
    assert_eq!(column(&criteria, "/free_refusals", "code"), refusals);
    let verdicts: Vec<&str> = Verdict::ALL.iter().map(|verdict| verdict.code()).collect();
    assert_eq!(column(&criteria, "/verdicts", "name"), verdicts);
}

#[test]
fn the_argument_check_has_the_published_rules() {
    let criteria = file(contract::TOOL_ARGUMENT);
    let rules: Vec<[&str; 3]> = Rule::ALL.iter().map(|rule| [rule.id(), rule.name(), rule.op()]).collect();
    let listed = criteria["whitelist"].as_array().expect("a list").iter();
    let listed: Vec<[&str; 3]> =
        listed.map(|rule| ["id", "name", "op"].map(|member| rule[member].as_str().expect(member))).collect();
    assert_eq!(listed, rules);
}

#[test]
fn the_argument_check_has_the_published_caps() {
    let caps = &file(contract::TOOL_ARGUMENT)["caps"];
    assert_eq!(caps["body_bytes"], json!(argument::MAX_BODY_BYTES));
    assert_eq!(caps["arguments_depth"], json!(argument::MAX_DEPTH));
    assert_eq!(caps["schema_depth"], json!(argument::MAX_DEPTH));
    for text in [contract::ERRORS, contract::ANCHORS] {
        assert!(
            text.contains("262,144 bytes") && text.contains(" 128"),
            "the caps are written out for people"
        );
    }
}

#[test]
fn the_subset_is_the_published_one() {
    let criteria = file(contract::TOOL_ARGUMENT);
    assert_eq!(strings(&criteria, "/schema_subset/enforced"), ENFORCED);
    let not_covered = strings(&criteria, "/schema_subset/not_covered");
    let (keywords, forms) = not_covered.split_at(NOT_COVERED.len());
    assert_eq!(keywords, NOT_COVERED);
    let known_forms = [
        "schema-valued additionalProperties",
        "array-form items",
        "boolean schemas",
        "boolean-form exclusiveMinimum/exclusiveMaximum",
    ];
    assert_eq!(forms, known_forms, "each form is tried below");
    assert_eq!(strings(&criteria, "/schema_subset/also_not_covered"), NOT_COVERED_UNLISTED);
}

#[test]
fn the_subset_is_what_compiles() {
    let criteria = file(contract::TOOL_ARGUMENT);
    let annotations = ["not_checked", "annotations"]
        .map(|list| strings(&criteria, &format!("/schema_subset/{list}")))
        .concat();
    for keyword in [strings(&criteria, "/schema_subset/enforced"), annotations].concat() {
        assert_eq!(refusal_of(&at_a_property(keyword, &well_formed(keyword))), None, "{keyword}");
    }
    for keyword in NOT_COVERED.iter().chain(NOT_COVERED_UNLISTED) {
        assert_eq!(
            refusal_of(&at_a_property(keyword, &well_formed(keyword))),
            Some(Refusal::SchemaNotCovered),
            "{keyword}"
        );
    }
    let forms = [
        at_a_property("additionalProperties", &json!({})),
        at_a_property("items", &json!([{}])),
        json!({ "properties": { "p": true } }),
        json!({ "properties": { "p": { "items": false } } }),
        json!(true),
        at_a_property("exclusiveMinimum", &json!(true)),
        at_a_property("exclusiveMaximum", &json!(false)),
    ];
    for schema in forms {
        assert_eq!(refusal_of(&schema), Some(Refusal::SchemaNotCovered), "{schema}");
    }
}

fn at_a_property(keyword: &str, value: &Value) -> Value {
    json!({ "properties": { "p": { keyword: value } } })
}

/// A value that the draft 2020-12 meta-schema takes for the keyword.
fn well_formed(keyword: &str) -> Value {
    match keyword {
        "type" => json!("string"),
        "$schema" => json!("https://json-schema.org/draft/2020-12/schema"),
        "pattern" | "$ref" | "contentEncoding" | "contentMediaType" | "format" | "title" | "description"
        | "$id" | "$comment" | "$dynamicRef" | "$recursiveRef" => json!("#"),
        "$anchor" => json!("a"),
        "enum" | "examples" | "required" => json!(["a"]),
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => json!([{}]),
        "properties"
        | "patternProperties"
        | "$defs"
        | "definitions"
        | "dependentSchemas"
        | "dependentRequired"
        | "dependencies"
        | "items"
        | "not"
        | "if"
        | "then"
        | "else"
        | "contains"
        | "propertyNames"
        | "unevaluatedProperties"
        | "unevaluatedItems"
        | "additionalItems"
        | "contentSchema" => json!({}),
        "uniqueItems" | "additionalProperties" | "deprecated" | "readOnly" | "writeOnly" => json!(false),
        "default" | "const" => json!(null),
        _ => json!(1),
    }
}

fn refusal_of(schema: &Value) -> Option<Refusal> {
    let document = parse(schema);
    Schema::compile(document.root()).err().map(|refused| refused.refusal)
}

#[test]
fn the_dock_has_the_anchors_of_anchors_md() {
    let sections = ["Conformance", "Defects", "Repairs", "Guards"];
    let listed: Vec<&str> = sections.iter().flat_map(|section| names(contract::ANCHORS, section)).collect();
    assert_eq!(listed, dock::argument::ANCHORS.names);
    for refusal in Refusal::ALL {
        assert_eq!(dock::argument::refusal_anchor(*refusal), refusal_anchor(refusal.code()));
    }
    assert!(names(contract::ANCHORS, "Per defect").contains(&dock::argument::MORE_DEFECTS));
    assert!(contract::ANCHORS.contains(&format!(
        "at most {} of them and {} KiB",
        dock::argument::MOST_DEFECTS,
        dock::argument::MOST_DEFECT_BYTES / 1024
    )));
    let sections = ["Conformance", "Defects", "Repairs", "Calls", "Guards"];
    let listed: Vec<&str> = sections.iter().flat_map(|section| names(contract::ANCHORS, section)).collect();
    assert_eq!(listed, dock::tool_call::ANCHORS.names);
    let (schema, table) = (names(contract::ANCHORS, "JSON Schema"), dock::json_schema::ANCHORS.names);
    let (own, refusals) = schema.split_at(table.len() - 2);
    assert_eq!(own, table.split_at(table.len() - 2).0);
    let codes = dock::json_schema::Refusal::ALL.map(|refusal| format!("no_{}", refusal.code()));
    assert_eq!(refusals, codes.get(1..).unwrap_or_default(), "the first is an anchor of defects, too");
    let codes = dock::json_schema::Refusal::ALL.map(dock::json_schema::Refusal::code);
    assert_eq!(names(contract::ERRORS, "Refusals of JSON Schema"), codes.get(1..).unwrap_or_default());
    let listed: Vec<&str> =
        ["Split profile", "Guards"].iter().flat_map(|section| names(contract::ANCHORS, section)).collect();
    assert_eq!(listed, dock::profile::ANCHORS.names);

    let introduction = contract::ANCHORS.split("\n## ").next().unwrap_or_default();
    for (table, count) in [
        (&dock::argument::ANCHORS, 3),
        (&dock::tool_call::ANCHORS, 6),
        (&dock::json_schema::ANCHORS, 3),
        (&dock::json_schema::CALL_ANCHORS, 6),
        (&dock::profile::ANCHORS, 3),
    ] {
        let base: Vec<String> = table.names_of(table.base).map(|name| format!("`{name}`")).collect();
        assert_eq!(base.len(), count);
        assert!(base.iter().all(|name| introduction.contains(name)), "{base:?} is the base");
        let required: Vec<&str> = table.names_of(table.default_require).collect();
        assert!(
            introduction.contains(&format!("`{}`", json!(required))),
            "{required:?} is required unless said otherwise"
        );
    }
}

#[test]
fn the_limits_unless_configured_are_those_of_the_contract() {
    let client = &file(contract::VERIFIER_DOCK)["client"];
    let named = [
        ("max_request_bytes", "max_body_bytes"),
        ("body_timeout_ms", "body_timeout_ms"),
        ("check_timeout_ms", "check_timeout_ms"),
    ];
    for (promised, key) in named {
        let bound = BOUNDS.iter().find(|bound| bound.key == key).expect(key);
        assert_eq!(client[promised], json!(bound.default), "{key}");
        let said = format!("`limits.{key}`, {} unless configured", thousands(bound.default));
        assert!(contract::ERRORS.contains(&said), "errors.md does not say: {said}");
    }
    let timing = &file(contract::VERIFIER_DOCK)["timing"];
    assert!(
        client["check_timeout_ms"].as_u64() < timing["run_budget_ms"].as_u64(),
        "an answer comes within a run"
    );
}

/// The number with a comma before each three digits from the right.
fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| str::from_utf8(group).expect("digits")).collect();
    groups.join(",")
}

#[test]
fn the_probe_and_its_marker_are_the_published_ones() {
    let dock = file(contract::VERIFIER_DOCK);
    assert_eq!(PROBE_ANSWER, dock["reserved_probe"]["expected_body"].to_string().as_bytes());
    assert_eq!(dock["reserved_probe"]["candidate"], json!({ probe::MARKER: probe::REGISTRATION }));
    assert_eq!(dock["client"]["probe_marker"], probe::MARKER);
    assert_eq!(answer(&dock["reserved_probe"]["candidate"]), dock["reserved_probe"]["expected_body"]);
}

#[test]
fn each_outcome_sends_the_anchors_that_anchors_md_says() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let body = |arguments: Value| json!({"schema": schema, "arguments": arguments});
    let repairs = names(contract::ANCHORS, "Repairs");

    let valid = answer(&body(json!({"n": 1})));
    assert_eq!(failed(&valid), Vec::<&str>::new());
    assert_eq!((valid["is_correct"].clone(), valid["quality_score"].as_f64()), (json!(true), Some(1.0)));

    let repaired = answer(&body(json!({"n": "1"})));
    assert_eq!(failed(&repaired), ["valid_as_submitted", "without_r3_string_to_number"]);

    let unrepairable = answer(&body(json!({"n": "x"})));
    assert_eq!(failed(&unrepairable), ["conforms_after_repair", "no_type_mismatch", "valid_as_submitted"]);

    for assessed in [valid, repaired, unrepairable] {
        let sent = assessed["anchor_results"].as_object().expect("anchors");
        assert_eq!(sent.len(), dock::argument::ANCHORS.names.len());
        assert!(repairs.iter().all(|name| sent.contains_key(*name)));
        assert!(!sent.keys().any(|name| names(contract::ANCHORS, "Refusals").contains(&name.as_str())));
    }

    let refused = answer(&body(json!([])));
    let all = json!({
        "assessable": false, "no_arguments_not_object": false, "no_duplicate_names": true, "no_lone_surrogates": true
    });
    assert_eq!(refused, json!({"is_correct": false, "quality_score": 0, "anchor_results": all}));
}

/// The names of the anchors that did not hold, in alphabetical order.
fn failed(answer: &Value) -> Vec<&str> {
    let sent = answer["anchor_results"].as_object().expect("anchors");
    sent.iter().filter(|(_, held)| **held == json!(false)).map(|(name, _)| name.as_str()).collect()
}

/// What a dock with a `check_request` source answers, validated against the contract.
fn answer(candidate: &Value) -> Value {
    let check = Check::Argument(Source::CheckRequest);
    let judge = Dock::new(check, AnchorMode::Codes, None).expect("a dock");
    let body = parse(&json!({ "candidate": candidate }));
    let candidate = dock::candidate(&body).expect("a candidate");
    let mut written = Vec::new();
    judge.judge(candidate, &mut Budget::of_steps(1_000_000)).expect("a verdict").write(&mut written);
    let answer = serde_json::from_slice(&written).expect("an answer is JSON");
    let schema = &file(contract::VERIFIER_DOCK)["response"]["schema"];
    let schema = jsonschema::draft202012::new(schema).expect("the schema compiles");
    assert!(schema.is_valid(&answer), "{answer}");
    answer
}

fn parse(value: &Value) -> Document {
    Document::parse(value.to_string().into_bytes()).expect("JSON")
}
