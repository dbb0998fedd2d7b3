//! A dock answers a structured candidate and its text alike, in the shape of the contract, and never panics.

#![no_main]

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use millwork_dock::argument::Schema;
use millwork_dock::budget::Budget;
use millwork_dock::dock::{AnchorMode, Check, Dock, Engines, SchemaSource, Source, Toolbox, candidate};
use millwork_dock::json::{Document, write_string};
use millwork_dock::json_schema;
use millwork_dock::profile::tokens::Tokenizer;

const PINNED: &str = r#"{"type":"object","required":["a"],"additionalProperties":false,"properties":{
    "a":{"type":["integer","null"],"maximum":9},"b":{"type":"array","uniqueItems":true,"items":{"type":"object",
    "properties":{"c":{"enum":["X","y"]},"d":{"type":"string","pattern":"^(a|b)*$","maxLength":4}}}},"e":{"type":"boolean"}}}"#;

/// A tool that the criteria grade, and one that they refuse.
const TOOLS: &str = r#"[{"name":"f","inputSchema":{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}},
    {"name":"g","inputSchema":{"anyOf":[{"required":["a"]},{"properties":{"b":{"uniqueItems":true}}}]}}]"#;

static DOCKS: LazyLock<Vec<Dock>> = LazyLock::new(|| {
    let pinned = |mode| {
        let schema = Document::parse(PINNED.as_bytes().to_vec()).unwrap();
        let schema = Schema::owned(Arc::new(schema)).unwrap();
        Dock::new(Check::Argument(Source::Arguments(schema)), mode, Some(&[])).unwrap()
    };
    let requests = Dock::new(Check::Argument(Source::CheckRequest), AnchorMode::Codes, None).unwrap();
    let toolbox = |engines| {
        let tools = Arc::new(Document::parse(TOOLS.as_bytes().to_vec()).unwrap());
        Toolbox::read(&tools, None, engines).unwrap()
    };
    let other = |check| Dock::new(check, AnchorMode::Codes, None).unwrap();
    let schema = Document::parse(PINNED.as_bytes().to_vec()).unwrap();
    let schema = json_schema::Schema::compile(schema.root()).unwrap();
    vec![
        pinned(AnchorMode::Codes),
        pinned(AnchorMode::PerDefect),
        requests,
        other(Check::Argument(Source::ToolCall(toolbox(Engines::CriteriaOrJsonSchema)))),
        other(Check::JsonSchema(SchemaSource::ToolCall(toolbox(Engines::JsonSchema)))),
        other(Check::JsonSchema(SchemaSource::Instance(schema.into()))),
        other(Check::Profile(Tokenizer::shared().unwrap())),
    ]
});

fuzz_target!(|text: &str| {
    let mut quoted = Vec::new();
    write_string(text.as_bytes(), &mut quoted);
    let is_object = Document::parse(text.as_bytes().to_vec())
        .is_ok_and(|document| matches!(document.root().kind(), millwork_dock::json::Kind::Object));
    for dock in DOCKS.iter() {
        let as_text = answer(dock, &quoted);
        if is_object {
            assert_eq!(as_text, answer(dock, text.as_bytes()));
        }
    }
});

fn answer(dock: &Dock, candidate_text: &[u8]) -> Option<String> {
    let body = [b"{\"candidate\":", candidate_text, b"}"].concat();
    let body = Document::parse(body).unwrap();
    let verdict = dock.judge(candidate(&body).unwrap(), &mut Budget::of_steps(10_000_000)).ok()?;
    let mut out = Vec::new();
    verdict.write(&mut out);
    let answer: serde_json::Value = serde_json::from_slice(&out).unwrap();
    let score = answer["quality_score"].as_f64().unwrap();
    assert!(answer["is_correct"].is_boolean() && (0.0..=1.0).contains(&score));
    if let Some(anchors) = answer.get("anchor_results") {
        assert!(anchors.as_object().unwrap().values().all(serde_json::Value::is_boolean));
    }
    Some(String::from_utf8(out).unwrap())
}
