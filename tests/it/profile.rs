//! The split profile: its report, its dock and its command.

use millwork_dock::budget::Budget;
use millwork_dock::dock::{AnchorMode, Check, Dock, candidate};
use millwork_dock::json::Document;
use millwork_dock::profile::tokens::Tokenizer;
use millwork_dock::profile::{Caps, profile};
use serde_json::{Value, json};

use crate::catalogues;
use crate::command::run;
use crate::support::{self, as_text, body};

const TWO_ALIKE: &str = r#"[
  {"name":"get_weather","description":"Current weather of a city.","inputSchema":{"type":"object","properties":{"city":{"type":"string","maxLength":80}},"required":["city"]}},
  {"name":"get_news","description":"Latest news about a city, as the local papers have them.","inputSchema":{"type":"object","properties":{"city":{"type":"string","maxLength":80}},"required":["city"]}},
  {"name":"ping"}]"#;

fn budget() -> Budget<'static> {
    Budget::of_steps(u64::MAX)
}

fn report(catalogue: &str) -> Value {
    let document = Document::parse(catalogue.into()).unwrap();
    let caps = Caps { tools: usize::MAX, body_bytes: usize::MAX, depth: 512 };
    let profile = profile(Tokenizer::shared().unwrap(), document.root(), caps, &mut budget()).unwrap();
    let mut report = Vec::new();
    profile.write_report(" — 2026-11-30T15:04:05Z", &mut report);
    serde_json::from_slice(&report).unwrap()
}

/// What a report may hold, and nothing else: the integers are positions, sizes of groups and how many there are.
fn report_schema() -> Value {
    let share = json!({"enum": [0, 0.5, 1, null]});
    let shares = |reasons: Value| json!({"name_share": share, "description_share": share, "schema_share": share, "reason": {"enum": reasons}});
    let closed = |properties: Value| {
        let required: Vec<&String> = properties.as_object().unwrap().keys().collect();
        json!({"type": "object", "required": required, "additionalProperties": false, "properties": properties})
    };
    let name = json!({"type": ["string", "null"]});
    let count = json!({"type": "integer", "minimum": 0});
    let mut row = shares(json!([null, "empty_definition", "shares_withheld"]));
    row["index"] = count.clone();
    row["name"] = name.clone();
    let group = json!({"group": count, "tools": {"type": "array", "items": name}, "indices": {"type": "array", "items": count},
        "size": {"type": "integer", "minimum": 2}});
    let text = json!({"type": "string"});
    closed(json!({
        "criteria_id": {"const": "token-efficiency/v1"},
        "criteria_revision": {"const": "1.2.0"},
        "tokenizer": {"pattern": "^cl100k_base/millwork-dock@[0-9.]+/data-sha256:[0-9a-f]{64}$"},
        "verdict_line": {"pattern": "^TOOL-CATALOGUE SPLIT PROFILE — tools: [0-9]+ — schema-identity groups: [0-9]+ — [-0-9T:]+Z$"},
        "blocks": closed(json!({
            "R-1": closed(shares(json!([null, "empty_catalogue", "shares_withheld"]))),
            "R-2": {"type": "array", "items": closed(row)},
            "R-3": closed(json!({"groups": {"type": "array", "items": closed(group)}, "group_count": count, "caveat": text})),
        })),
        "caveats": closed(json!({"R-1": text, "R-2": text})),
    }))
}

#[test]
fn reports_hold_nothing_but_what_the_criteria_allow() {
    let validator = jsonschema::draft202012::new(&report_schema()).unwrap();
    let corners = ["[{}]", "[{},{\"name\":\"\"}]", "[{\"name\":\"a\",\"inputSchema\":-1}]", TWO_ALIKE];
    let real = catalogues::all().unwrap_or_default();
    let real = real.iter().map(|catalogue| catalogue.text.as_str());
    let real =
        real.filter(|text| !text.contains("\"description\":null") && *text != "[]" && text.trim() != "[]");
    let mut compared = 0;
    for catalogue in corners.into_iter().chain(real) {
        let report = report(catalogue);
        let errors: Vec<String> = validator.iter_errors(&report).map(|error| error.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new());
        let blocks = &report["blocks"];
        let line = report["verdict_line"].as_str().unwrap();
        let counts = format!(
            "— tools: {} — schema-identity groups: {} —",
            blocks["R-2"].as_array().unwrap().len(),
            blocks["R-3"]["groups"].as_array().unwrap().len()
        );
        assert!(line.contains(&counts), "{line}");
        compared += 1;
    }
    println!("{compared} reports");
    // The schema is closed: one more figure anywhere is refused.
    let mut leaky = report(TWO_ALIKE);
    leaky["blocks"]["R-2"][0]["tokens"] = json!(7);
    assert!(!validator.is_valid(&leaky));
}

#[test]
fn shares_in_a_report_never_add_up_to_more_than_one() {
    for catalogue in catalogues::all().unwrap_or_default() {
        if catalogue.text.contains("\"description\":null") || catalogue.text.trim() == "[]" {
            continue;
        }
        let report = report(&catalogue.text);
        let blocks = &report["blocks"];
        for row in blocks["R-2"].as_array().unwrap().iter().chain([&blocks["R-1"]]) {
            let share = |name: &str| row[name].as_f64().unwrap_or(0.0);
            let sum = share("name_share") + share("description_share") + share("schema_share");
            assert!(sum <= 1.0, "{row}");
        }
    }
}

fn answer(require: &[&str], candidate_text: &str) -> Value {
    let require: Vec<String> = require.iter().map(|name| (*name).to_owned()).collect();
    let check = Check::Profile(Tokenizer::shared().unwrap());
    let dock = Dock::new(check, AnchorMode::Codes, Some(&require)).unwrap();
    let document = Document::parse(body(candidate_text).into()).unwrap();
    let mut out = Vec::new();
    dock.judge(candidate(&document).unwrap(), &mut budget()).unwrap().write(&mut out);
    serde_json::from_slice(&out).unwrap()
}

#[test]
fn a_dock_answers_a_catalogue_in_any_of_its_forms_alike() {
    let expected = json!({
        "is_correct": true, "quality_score": 1, "anchor_results": {
            "catalogue_in_contract": true, "tools_within_cap": true, "body_within_cap": true,
            "catalogue_shares_published": true, "every_tool_share_published": true,
            "schema_identity_assessable": true, "no_schema_identity_groups": false,
            "name_share_below_half": true, "description_share_below_half": true, "schema_share_below_half": false,
            "no_duplicate_names": true, "no_lone_surrogates": true,
        }
    });
    let forms = [
        TWO_ALIKE.to_owned(),
        format!("{{\"tools\":{TWO_ALIKE}}}"),
        format!("{{\"catalogue\":{TWO_ALIKE}}}"),
        format!("{{\"calls_per_day\":9,\"catalogue\":{{\"tools\":{TWO_ALIKE},\"daily_ceiling_tokens\":1}}}}"),
    ];
    for form in &forms {
        assert_eq!(answer(&[], form), expected, "{form}");
        assert_eq!(answer(&[], &as_text(&format!("\u{feff} {form}\n"))), expected, "as text: {form}");
    }
    assert_eq!(answer(&["no_schema_identity_groups"], TWO_ALIKE)["is_correct"], false);
    assert_eq!(answer(&["name_share_below_half"], TWO_ALIKE)["is_correct"], true);
    // Withheld, so the anchor is absent, and what is absent did not hold.
    let withheld = answer(&["name_share_below_half"], "[{\"name\":\"\"}]");
    assert_eq!(withheld["is_correct"], false);
    assert_eq!(withheld["anchor_results"]["catalogue_shares_published"], false);
    assert_eq!(withheld["anchor_results"].get("name_share_below_half"), None);
}

#[test]
fn what_is_no_catalogue_is_a_verdict_that_says_which_cap_held() {
    let tools = |count: usize| format!("[{}]", vec!["{\"name\":\"t\"}"; count].join(","));
    let long = format!("[{{\"description\":\"{}\"}}]", "x ".repeat(131_072));
    let anchors = |text: &str| {
        let answer = answer(&[], text);
        assert_eq!((answer["is_correct"].clone(), answer["quality_score"].clone()), (json!(false), json!(0)));
        let anchors = answer["anchor_results"].as_object().unwrap().clone();
        let names: Vec<&str> = anchors.keys().map(String::as_str).collect();
        let expected = [
            "body_within_cap",
            "catalogue_in_contract",
            "no_duplicate_names",
            "no_lone_surrogates",
            "tools_within_cap",
        ];
        assert_eq!(names, expected, "{text}");
        assert_eq!(anchors["catalogue_in_contract"], false);
        (anchors["tools_within_cap"].as_bool().unwrap(), anchors["body_within_cap"].as_bool().unwrap())
    };
    for (candidate, caps) in [
        ("null".to_owned(), (false, true)),
        ("{}".to_owned(), (false, true)),
        ("[]".to_owned(), (true, true)),
        ("[1]".to_owned(), (true, true)),
        ("[{\"name\":null}]".to_owned(), (true, true)),
        ("{\"tools\":{}}".to_owned(), (false, true)),
        (tools(201), (false, true)),
        (long.clone(), (true, false)),
        (as_text(&tools(201)), (false, true)),
        (as_text(&long), (true, false)),
        (as_text("no catalogue"), (false, true)),
        (as_text("[{]"), (false, true)),
        (as_text(&format!("[{}", "x".repeat(262_144))), (false, false)),
    ] {
        assert_eq!(anchors(&candidate), caps, "{}", &candidate[..candidate.len().min(60)]);
    }
    assert_eq!(answer(&[], &tools(200))["is_correct"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_served_dock_profiles_large_catalogues_and_answers_the_probe() {
    let dock = support::Dock::with(
        "",
        "[[dock]]\npath = \"/tools\"\naccess = \"public\"\ncheck = \"token-efficiency/v1\"\n",
    )
    .await;
    assert!(dock.post("/tools", "", &body(TWO_ALIKE)).await.is_correct());
    let probe = dock.post("/tools", "", &body(r#"[{"name":"x","inputSchema":{"solverapi_probe":1}}]"#)).await;
    assert_eq!(probe.json(), json!({"is_correct": false, "quality_score": 0}));
    // More steps than a check gets at once: it goes on elsewhere.
    let words = "weather ".repeat(30_000);
    let large = dock.post_h2("/tools", &[], &body(&format!("[{{\"description\":\"{words}\"}}]"))).await;
    assert_eq!(large.json()["anchor_results"]["description_share_below_half"], false);
}

fn profiled(arguments: &[&str], input: &str) -> (i32, Value) {
    let ran = run(&[&["profile", "--format", "json", "--catalogue", "-"], arguments].concat(), input);
    let mut report: Value = serde_json::from_str(&ran.out).unwrap_or(json!({"err": ran.err}));
    if let Some(report) = report.as_object_mut() {
        report.remove("verdict_line");
    }
    (ran.status, report)
}

#[test]
fn the_command_reads_other_forms_and_gives_them_one_report() {
    let expected = profiled(&[], TWO_ALIKE);
    assert_eq!(expected.0, 0, "{expected:?}");
    let tools: Vec<Value> = serde_json::from_str(TWO_ALIKE).unwrap();
    let renamed = |schema: &str| -> Vec<Value> {
        let rename = |tool: &Value| {
            let mut tool = tool.clone();
            if let Some(value) = tool.as_object_mut().unwrap().remove("inputSchema") {
                tool[schema] = value;
            }
            tool
        };
        tools.iter().map(rename).collect()
    };
    let wrapped: Vec<Value> =
        renamed("parameters").into_iter().map(|tool| json!({"type": "function", "function": tool})).collect();
    for (from, form) in [
        ("tools-list", json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}})),
        ("tools-list", json!({"tools": tools})),
        ("categories", json!({"categories": [{"tools": tools[..1]}, {"tools": tools[1..]}]})),
        ("openai", json!(wrapped)),
        ("openai", json!({"tools": renamed("parameters")})),
        ("anthropic", json!(renamed("input_schema"))),
        ("gemini", json!([{"functionDeclarations": renamed("parameters")}])),
        ("gemini", json!({"tools": [{"function_declarations": renamed("parametersJsonSchema")}]})),
    ] {
        assert_eq!(profiled(&["--from", from], &form.to_string()), expected, "{from}: {form}");
    }
    let folder = tempfile::tempdir().unwrap();
    for (index, tool) in tools.iter().enumerate() {
        std::fs::write(folder.path().join(format!("{index}.json")), tool.to_string()).unwrap();
    }
    let path = folder.path().to_str().unwrap();
    let ran = run(&["profile", "--format", "json", "--from", "folder", "--catalogue", path], "");
    let mut report: Value = serde_json::from_str(&ran.out).unwrap();
    report.as_object_mut().unwrap().remove("verdict_line");
    assert_eq!((ran.status, report), expected);

    let ran = run(&["profile", "--catalogue", path], "");
    assert!(ran.err.contains("--from folder"), "{}", ran.err);
    let (status, said) = profiled(&["--from", "categories"], "{\"categories\":[]}");
    assert_eq!(status, 2, "{said}");
    assert_eq!(profiled(&["--from", "anthropic"], "[1]").1["rule"], "tool_not_object");
}

#[test]
fn the_command_refuses_by_code_and_rule() {
    for (catalogue, code, rule) in [
        ("7", "catalogue_invalid", json!("not_a_list")),
        ("[{\"description\":null}]", "catalogue_invalid", json!("description_not_string")),
        ("{\"tools\":[]}", "zero_tools", Value::Null),
    ] {
        let (status, report) = profiled(&[], catalogue);
        assert_eq!((status, &report["refusal"], &report["rule"]), (4, &json!(code), &rule), "{catalogue}");
        let ran = run(&["profile", "--catalogue", "-"], catalogue);
        assert!(ran.out.contains(&format!("millwork-dock explain {code}")), "{}", ran.out);
        assert_eq!(run(&["explain", code], "").status, 0);
    }
    assert_eq!(run(&["profile", "--catalogue", "-"], "{").status, 2);
    assert_eq!(run(&["profile", "--catalogue", "no-such-file"], "").status, 5);
}

#[test]
fn the_text_shows_bars_and_groups() {
    let ran = run(&["profile", "--catalogue", "-"], TWO_ALIKE);
    assert_eq!(ran.status, 0);
    for line in [
        "                 name          description   schema",
        "  the catalogue  ········ 0    ········ 0    ████···· 0.5",
        "  ping           ████████ 1    ········ 0    ········ 0",
        "  group   size  tools",
        "      0      2  get_weather, get_news",
    ] {
        assert!(ran.out.lines().any(|found| found == line), "{line:?} in\n{}", ran.out);
    }
}

/// Nothing of a catalogue but names of tools is in any output of the command, whatever the outcome.
#[test]
fn a_canary_shows_in_no_output_of_the_command() {
    const CANARY: &str = "kanarienvogel";
    let tool = format!(
        r#"{{"name":"named","description":"{CANARY}","title":"{CANARY}","{CANARY}":1,"inputSchema":{{"{CANARY}":"{CANARY}"}}}}"#
    );
    let wrong = format!(r#"{{"name":["{CANARY}"]}}"#);
    for catalogue in [
        format!("[{tool}]"),
        format!("[{tool},{wrong}]"),
        format!("{{\"{CANARY}\":[{tool}]}}"),
        format!("[{tool},\"{CANARY}\"]"),
        format!("[{tool}{CANARY}"),
        format!("[{}]", vec![tool.as_str(); 201].join(",")),
    ] {
        for format in ["text", "json"] {
            let ran = run(&["profile", "--format", format, "--catalogue", "-"], &catalogue);
            assert!(!ran.out.contains(CANARY) && !ran.err.contains(CANARY), "{}\n{}", ran.out, ran.err);
            assert!(!ran.out.is_empty() || !ran.err.is_empty());
        }
    }
}
