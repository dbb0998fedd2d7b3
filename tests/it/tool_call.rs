//! Tool calls in every dialect: shapes, as structure and as text, one and many, valid and not.

use std::sync::Arc;

use millwork_dock::budget::{Budget, DEFAULT_STEPS};
use millwork_dock::dock::{AnchorMode, Check, Dock, Engines, SchemaSource, Source, Toolbox, candidate};
use millwork_dock::fault::Fault;
use millwork_dock::json::Document;
use serde_json::{Value, json};

use crate::support::{self, as_text, body};

/// A tool, one that is open, one without a schema, and one that the criteria do not cover.
const TOOLS: &str = r#"[
  {"name":"get_weather","inputSchema":{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city"],"additionalProperties":false}},
  {"name":"log","inputSchema":{"type":"object"}},
  {"name":"ping"},
  {"name":"any","inputSchema":{"type":"object","anyOf":[{"required":["a"]},{"required":["b"]}]}}]"#;

fn toolbox(tools: &str, engines: Engines) -> Toolbox {
    Toolbox::read(&Arc::new(Document::parse(tools.into()).unwrap()), None, engines).unwrap()
}

fn dock_with(tools: &str, mode: AnchorMode, require: Option<&[&str]>) -> Dock {
    let check = Check::Argument(Source::ToolCall(toolbox(tools, Engines::Criteria)));
    let require: Option<Vec<String>> =
        require.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
    Dock::new(check, mode, require.as_deref()).unwrap()
}

fn judge(dock: &Dock, candidate_text: &str) -> Result<Value, Fault> {
    let document = Document::parse(body(candidate_text).into()).unwrap();
    let mut out = Vec::new();
    dock.judge(candidate(&document).unwrap(), &mut Budget::of_steps(DEFAULT_STEPS))?.write(&mut out);
    Ok(serde_json::from_slice(&out).unwrap())
}

/// A call in a shape: `arguments` is the JSON of the arguments.
type Shape = fn(name: &str, arguments: &Value) -> Value;

const SHAPES: &[(&str, Shape)] = &[
    ("bare", |name, arguments| json!({"name": name, "arguments": arguments})),
    ("bare, as text", |name, arguments| json!({"name": name, "arguments": arguments.to_string()})),
    (
        "MCP params",
        |name, arguments| json!({"name": name, "arguments": arguments, "_meta": {"progressToken": 1}}),
    ),
    (
        "MCP request",
        |name, arguments| json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}),
    ),
    (
        "chat call",
        |name, arguments| json!({"id": "c", "type": "function", "function": {"name": name, "arguments": arguments.to_string()}}),
    ),
    ("chat message", |name, arguments| {
        json!({"role": "assistant", "content": null, "tool_calls":
            [{"id": "c", "type": "function", "function": {"name": name, "arguments": arguments.to_string()}}]})
    }),
    (
        "legacy message",
        |name, arguments| json!({"role": "assistant", "content": null, "function_call": {"name": name, "arguments": arguments.to_string()}}),
    ),
    (
        "responses item",
        |name, arguments| json!({"type": "function_call", "call_id": "c", "name": name, "arguments": arguments.to_string()}),
    ),
    (
        "tool_use block",
        |name, arguments| json!({"type": "tool_use", "id": "t", "name": name, "input": arguments}),
    ),
    ("Anthropic message", |name, arguments| {
        json!({"role": "assistant", "content": [{"type": "text", "text": "I look it up."},
            {"type": "tool_use", "id": "t", "name": name, "input": arguments}]})
    }),
    ("Gemini part", |name, arguments| json!({"functionCall": {"name": name, "args": arguments}})),
    (
        "Gemini content",
        |name, arguments| json!({"role": "model", "parts": [{"text": "So."}, {"functionCall": {"name": name, "args": arguments}}]}),
    ),
];

/// What a call comes to.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Is {
    Valid,
    Repairable,
    Invalid,
    Unknown,
}

fn calls() -> [(Is, &'static str, Value); 4] {
    [
        (Is::Valid, "get_weather", json!({"city": "Bern", "days": 3})),
        (Is::Repairable, "get_weather", json!({"city": "Bern", "days": "3"})),
        (Is::Invalid, "get_weather", json!({"days": 3, "why": "x"})),
        (Is::Unknown, "get_wether", json!({"city": "Bern"})),
    ]
}

fn expect(answer: &Value, all: &[Is], what: &str) {
    let anchors = &answer["anchor_results"];
    let known = !all.contains(&Is::Unknown);
    let valid = all.iter().all(|is| *is == Is::Valid);
    let conforms = known && !all.contains(&Is::Invalid);
    assert_eq!(answer["is_correct"], valid, "{what}: {answer}");
    assert_eq!(anchors["valid_as_submitted"], valid, "{what}: {answer}");
    assert_eq!(anchors["conforms_after_repair"], conforms, "{what}: {answer}");
    assert_eq!(anchors["assessable"], known, "{what}: {answer}");
    assert_eq!(anchors["tool_call_present"], true, "{what}: {answer}");
    assert_eq!(anchors["tool_declared"], known, "{what}: {answer}");
    assert_eq!(anchors["every_call_readable"], true, "{what}: {answer}");
    assert_eq!(anchors["single_tool_call"], all.len() == 1, "{what}: {answer}");
    if known {
        let missing = all.contains(&Is::Invalid);
        assert_eq!(anchors["no_missing_required"], !missing, "{what}: {answer}");
        assert_eq!(anchors["no_additional_property"], !missing, "{what}: {answer}");
        // UNREPAIRABLE shows no repair, but another call of the same candidate may.
        let repaired = all.contains(&Is::Repairable);
        assert_eq!(anchors["without_r3_string_to_number"], !repaired, "{what}: {answer}");
        assert_eq!(anchors["graded_by_criteria"], true, "{what}: {answer}");
        assert_eq!(answer["quality_score"].as_f64() == Some(1.0), valid, "{what}: {answer}");
    } else {
        assert_eq!(answer["quality_score"], 0, "{what}: {answer}");
        assert!(anchors.get("no_missing_required").is_none(), "{what}: {answer}");
    }
    let count = anchors.as_object().unwrap().len();
    assert_eq!(count, if known { 37 } else { 9 }, "{what}: {answer}");
}

#[test]
fn every_shape_as_structure_and_text_one_and_many_valid_and_not() {
    let dock = dock_with(TOOLS, AnchorMode::Codes, None);
    let check = |candidate: &Value, all: &[Is], what: &str| {
        let structured = judge(&dock, &candidate.to_string()).unwrap();
        expect(&structured, all, what);
        for text in [candidate.to_string(), format!("\n \u{feff}{candidate:#}\n")] {
            assert_eq!(judge(&dock, &as_text(&text)).unwrap(), structured, "as text: {what}");
        }
    };
    let mut compared = 0;
    for (shape, make) in SHAPES {
        for (is, name, arguments) in calls() {
            let one = make(name, &arguments);
            check(&one, &[is], shape);
            for (other_is, other_name, other_arguments) in calls() {
                for (other_shape, make_other) in SHAPES {
                    let many = json!([one, {"type": "text", "text": "and"}, make_other(other_name, &other_arguments)]);
                    check(&many, &[is, other_is], &format!("{shape}, {other_shape}"));
                    compared += 1;
                }
            }
        }
    }
    println!("{compared} pairs of calls");
    // Parallel calls of one message.
    let parallel = |calls: Vec<Value>| json!({"role": "assistant", "tool_calls": calls});
    let call = |arguments: &str| json!({"type": "function", "function": {"name": "get_weather", "arguments": arguments}});
    check(
        &parallel(vec![call("{\"city\":\"a\"}"), call("{\"city\":\"b\"}")]),
        &[Is::Valid, Is::Valid],
        "parallel",
    );
}

#[test]
fn arguments_that_are_left_out_are_none_and_leftovers_of_a_stream_are_a_named_failure() {
    let dock = dock_with(TOOLS, AnchorMode::Codes, None);
    for fine in [
        json!({"name": "ping"}),
        json!({"functionCall": {"name": "ping"}}),
        json!({"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "log"}}),
    ] {
        assert_eq!(judge(&dock, &fine.to_string()).unwrap()["is_correct"], true, "{fine}");
    }
    let missing = judge(&dock, r#"{"name":"get_weather"}"#).unwrap();
    assert_eq!(missing["anchor_results"]["no_missing_required"], false);
    for shape in [
        json!({"type": "function", "function": {"name": "ping", "arguments": ""}}),
        json!({"type": "tool_use", "name": "ping", "input": ""}),
        json!({"name": "ping", "arguments": "{\"a\": \"b"}),
    ] {
        let answer = judge(&dock, &shape.to_string()).unwrap();
        assert_eq!(answer["anchor_results"]["no_invalid_json_text"], false, "{answer}");
        assert_eq!((&answer["is_correct"], &answer["quality_score"]), (&json!(false), &json!(0)), "{answer}");
    }
    // The text of arguments may be repaired; the dock says so.
    let cut = json!({"type": "function", "function": {"name": "log", "arguments": "{\"a\":[1,2"}});
    assert_eq!(judge(&dock, &cut.to_string()).unwrap()["anchor_results"]["no_invalid_json_text"], false);
    let closed = json!({"type": "function", "function": {"name": "log", "arguments": "{\"a\":[1,2 "}});
    let answer = judge(&dock, &closed.to_string()).unwrap();
    assert_eq!(answer["anchor_results"]["without_r1_close_truncated_json"], false, "{answer}");
    let accepting = dock_with(TOOLS, AnchorMode::Codes, Some(&[]));
    assert_eq!(judge(&accepting, &closed.to_string()).unwrap()["is_correct"], true);
}

#[test]
fn no_call_and_what_cannot_be_read_are_verdicts() {
    let dock = dock_with(TOOLS, AnchorMode::Codes, Some(&[]));
    for none in ["null", "7", "{}", "[]", "\"I cannot do that.\"", "\"[{\"", "{\"tool_calls\":[]}"] {
        let answer = judge(&dock, none).unwrap();
        let expected = json!({"is_correct": false, "quality_score": 0, "anchor_results": {
            "assessable": false, "valid_as_submitted": false, "conforms_after_repair": false, "tool_call_present": false,
            "tool_declared": true, "every_call_readable": true, "single_tool_call": false, "no_duplicate_names": true,
            "no_lone_surrogates": true}});
        assert_eq!(answer, expected, "{none}");
    }
    let beside = judge(&dock, r#"[{"name":"ping"},{"name":"log","args":{}}]"#).unwrap();
    assert_eq!(beside["anchor_results"]["every_call_readable"], false);
    assert_eq!(beside["anchor_results"]["single_tool_call"], false);
    assert_eq!((&beside["is_correct"], &beside["quality_score"]), (&json!(false), &json!(0)));
    let refused = judge(&dock, r#"[{"name":"ping"},{"name":"log","arguments":[1]}]"#).unwrap();
    let expected = json!({"assessable": false, "tool_call_present": true, "tool_declared": true,
        "every_call_readable": true, "single_tool_call": false, "no_duplicate_names": true, "no_lone_surrogates": true,
        "no_arguments_not_object": false});
    assert_eq!(refused["anchor_results"], expected);
}

#[test]
fn guards_look_into_the_texts_of_arguments() {
    let dock = dock_with(TOOLS, AnchorMode::Codes, None);
    for (arguments, anchor) in
        [(r#"{"a":1,"a":2}"#, "no_duplicate_names"), (r#"{"a":"\ud800"}"#, "no_lone_surrogates")]
    {
        let call = json!({"type": "function", "function": {"name": "log", "arguments": arguments}});
        let answer = judge(&dock, &call.to_string()).unwrap();
        assert_eq!(answer["anchor_results"][anchor], false, "{answer}");
        assert_eq!(answer["is_correct"], false);
    }
}

#[test]
fn a_tool_that_nothing_grades_is_a_technical_failure() {
    let dock = dock_with(TOOLS, AnchorMode::Codes, None);
    assert_eq!(judge(&dock, r#"{"name":"any","arguments":{"a":1}}"#), Err(Fault::ToolNotGradable));
    assert_eq!(judge(&dock, r#"[{"name":"ping"},{"name":"any"}]"#), Err(Fault::ToolNotGradable));
    // The marker comes first.
    let probe = judge(&dock, r#"{"name":"any","arguments":"{\"solverapi_probe\":1}"}"#).unwrap();
    assert_eq!(probe, json!({"is_correct": false, "quality_score": 0}));
}

#[test]
fn requirements_and_single_defects_are_those_of_calls() {
    let dock = dock_with(TOOLS, AnchorMode::PerDefect, Some(&["single_tool_call"]));
    assert_eq!(judge(&dock, r#"{"name":"ping"}"#).unwrap()["is_correct"], true);
    assert_eq!(judge(&dock, r#"[{"name":"ping"},{"name":"log"}]"#).unwrap()["is_correct"], false);
    let two = r#"[{"name":"get_weather","arguments":{"secret":1}},{"name":"get_weather","arguments":{"days":"x","city":1}}]"#;
    let answer = judge(&dock, two).unwrap();
    for anchor in ["missing_required at $.city", "additional_property at $[?]", "type_mismatch at $.days"] {
        assert_eq!(answer["anchor_results"][anchor], false, "{anchor}: {answer}");
    }
    assert!(!answer.to_string().contains("secret"));
}

#[test]
fn json_schema_grades_what_the_criteria_refuse_where_the_dock_says_so() {
    let toolbox = toolbox(TOOLS, Engines::CriteriaOrJsonSchema);
    let dock = Dock::new(Check::Argument(Source::ToolCall(toolbox)), AnchorMode::Codes, None).unwrap();
    let valid = judge(&dock, r#"{"name":"any","arguments":{"a":1}}"#).unwrap();
    let anchors = valid["anchor_results"].as_object().unwrap();
    assert_eq!((&valid["is_correct"], &valid["quality_score"]), (&json!(true), &json!(1)));
    assert_eq!(anchors["graded_by_criteria"], false);
    assert_eq!(anchors.len(), 37 - 18, "no anchors of defects: {valid}");
    let invalid = judge(&dock, r#"{"name":"any","arguments":"{}"}"#).unwrap();
    for anchor in ["valid_as_submitted", "conforms_after_repair", "graded_by_criteria"] {
        assert_eq!(invalid["anchor_results"][anchor], false, "{anchor}: {invalid}");
    }
    assert_eq!(invalid["anchor_results"]["assessable"], true);
    let mixed = judge(&dock, r#"[{"name":"ping"},{"name":"any","arguments":{"b":0}}]"#).unwrap();
    assert_eq!(
        (&mixed["is_correct"], &mixed["anchor_results"]["graded_by_criteria"]),
        (&json!(true), &json!(false))
    );
    // Validated only: nothing is repaired, and numbers that would change are not judged.
    let cut = judge(&dock, r#"{"name":"any","arguments":"{\"a\":[1 "}"#).unwrap();
    assert_eq!(cut["anchor_results"]["no_invalid_json_text"], false, "{cut}");
    let long = judge(&dock, r#"{"name":"any","arguments":{"a":12345678901234567890123456}}"#).unwrap();
    assert_eq!(long["anchor_results"]["no_number_not_exact"], false, "{long}");
    assert_eq!((&long["is_correct"], &long["quality_score"]), (&json!(false), &json!(0)));
}

#[test]
fn a_json_schema_dock_speaks_of_its_own_keywords() {
    let schema = Document::parse(
        br##"{"$defs":{"id":{"type":"integer","minimum":1}},"type":["object","string"],"properties":{"id":{"$ref":"#/$defs/id"}},"required":["id"]}"##.to_vec(),
    )
    .unwrap();
    let schema = millwork_dock::json_schema::Schema::compile(schema.root()).unwrap();
    let check = Check::JsonSchema(SchemaSource::Instance(schema.into()));
    let dock = Dock::new(check, AnchorMode::Codes, None).unwrap();
    let answer = |candidate: &str| judge(&dock, candidate).unwrap();
    let all = |valid: bool, failed: &[&str]| {
        let mut anchors = json!({"valid": valid, "no_duplicate_names": true, "no_lone_surrogates": true});
        for keyword in ["type", "minimum", "required"] {
            anchors[format!("keyword_{keyword}")] = json!(!failed.contains(&keyword));
        }
        anchors
    };
    for (candidate, correct, failed) in [
        (r#"{"id":7}"#, true, &[][..]),
        ("\"plain text\"", true, &[]),
        (r#"{"id":0}"#, false, &["minimum"]),
        ("{}", false, &["required"]),
        ("[]", false, &["type"]),
        ("null", false, &["type"]),
    ] {
        let structured = answer(candidate);
        assert_eq!(
            (&structured["is_correct"], &structured["anchor_results"]),
            (&json!(correct), &all(correct, failed)),
            "{candidate}"
        );
        assert_eq!(structured["quality_score"] == 1, correct, "{candidate}");
        if candidate.starts_with(['{', '[']) {
            assert_eq!(answer(&as_text(candidate)), structured, "as text: {candidate}");
        }
    }
    let broken = answer(&as_text("{\"id\":"));
    assert_eq!(
        broken["anchor_results"],
        json!({"valid": false, "no_duplicate_names": true, "no_lone_surrogates": true, "no_invalid_json_text": false})
    );
    assert_eq!(answer(r#"{"id":1e400}"#)["anchor_results"]["no_number_not_exact"], false);
    let deep = format!("{}{}", "[".repeat(129), "]".repeat(129));
    assert_eq!(answer(&deep)["anchor_results"]["no_instance_too_deep"], false);
    assert_eq!(answer(r#"{"id":1,"id":2}"#)["is_correct"], false, "a guard");
}

#[test]
fn json_schema_alone_can_grade_calls() {
    let check = Check::JsonSchema(SchemaSource::ToolCall(toolbox(TOOLS, Engines::JsonSchema)));
    let dock = Dock::new(check, AnchorMode::Codes, Some(&["single_tool_call".to_owned()])).unwrap();
    for (shape, make) in SHAPES {
        for (is, name, arguments) in calls() {
            let candidate = make(name, &arguments).to_string();
            let answer = judge(&dock, &candidate).unwrap();
            let anchors = &answer["anchor_results"];
            assert_eq!(answer["is_correct"], is == Is::Valid, "{shape}: {answer}");
            assert_eq!(anchors["valid"], is == Is::Valid, "{shape}: {answer}");
            assert_eq!(anchors["tool_declared"], is != Is::Unknown, "{shape}: {answer}");
            let keyword = anchors.get("keyword_required");
            let missing = (is != Is::Unknown).then_some(json!(is != Is::Invalid));
            assert_eq!(keyword, missing.as_ref(), "{shape}: {answer}");
            assert_eq!(judge(&dock, &as_text(&candidate)).unwrap(), answer, "as text: {shape}");
        }
    }
    assert_eq!(judge(&dock, r#"[{"name":"ping"},{"name":"log"}]"#).unwrap()["is_correct"], false);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_served_dock_follows_its_catalogue() {
    let docks = "[[dock]]\npath = \"/calls\"\naccess = \"public\"\ncheck = \"tool-argument/v1\"\nsource = \"tool_call\"\n\
                 tools = \"tools.json\"\nrate_limit = \"off\"\n";
    let directory = support::directory("", docks);
    let tools = directory.path().join("tools.json");
    std::fs::write(&tools, TOOLS).unwrap();
    let dock = support::Dock::in_directory(directory).await;
    assert!(dock.post("/calls", "", &body(r#"{"name":"ping"}"#)).await.is_correct());
    let any = body(r#"{"name":"any","arguments":{"a":1}}"#);
    dock.post_h2("/calls", &[], &any).await.refused(500, "tool_not_gradable");
    std::fs::write(&tools, TOOLS.replace("anyOf", "x-anyOf")).unwrap();
    let begun = std::time::Instant::now();
    while dock.post("/calls", "", &any).await.head.status != 200 {
        assert!(begun.elapsed().as_secs() < 8, "the changed catalogue was not taken over");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}
