//! The recorded `execute-tool` calls of a frontier model, each against the schema of the tool that it called.

use std::collections::BTreeMap;

use millwork_dock::argument::{DefectCode, Verdict};
use millwork_dock::budget::{Budget, DEFAULT_STEPS};
use millwork_dock::dock::{AnchorMode, Check, Dock, Finding, Source, candidate};
use millwork_dock::json::Document;

use crate::data;
use crate::reference::{self, J, units, write};

/// The calls whose `server_name` and `tool_name` the catalogue knows, as published check bodies
/// `{arguments, schema}`. Three of 531 call a tool that is in no catalogue.
pub(crate) fn requests() -> Option<Vec<Vec<u8>>> {
    let calls = std::fs::read_to_string(data::path("calls/livemcpbench-calls/calls.jsonl")?).unwrap();
    let catalogue = std::fs::read_to_string(data::path("mcp/livemcpbench-69-servers/tools.json")?).unwrap();
    let schemas = schemas(&reference::parse(&units(&catalogue)).unwrap());
    let mut requests = Vec::new();
    for call in calls.lines() {
        let call = reference::parse(&units(call)).unwrap();
        if string(&call, "tool") != "execute-tool" {
            continue;
        }
        let Some(J::Str(text)) = call.get("arguments_text") else { panic!("no text") };
        let call = reference::parse(text).unwrap();
        let tool = (string(&call, "server_name"), string(&call, "tool_name"));
        let Some(schema) = schemas.get(&tool) else { continue };
        let body = J::obj(&[("arguments", call.get("params").unwrap().clone()), ("schema", schema.clone())]);
        let mut out = String::new();
        write(&body, &mut out);
        requests.push(out.into_bytes());
    }
    Some(requests)
}

fn string(object: &J, name: &str) -> String {
    let Some(J::Str(text)) = object.get(name) else { panic!("no {name}") };
    String::from_utf16(text).unwrap()
}

/// Every tool's schema, by the name of its server in the catalogue and its own.
fn schemas(catalogue: &J) -> BTreeMap<(String, String), J> {
    let J::Arr(entries) = catalogue else { panic!("the catalogue is no list") };
    let mut out = BTreeMap::new();
    for entry in entries {
        let Some(J::Obj(servers)) = entry.get("tools") else { panic!("no servers") };
        for (server, listed) in servers {
            let Some(J::Arr(tools)) = listed.get("tools") else { continue };
            for tool in tools {
                let name = (String::from_utf16(server).unwrap(), string(tool, "name"));
                out.insert(name, tool.get("inputSchema").unwrap().clone());
            }
        }
    }
    out
}

#[test]
fn recorded_calls_get_the_verdicts_of_an_independent_count() {
    let Some(requests) = requests() else { return };
    assert_eq!(requests.len(), 528);
    let dock = Dock::new(Check::Argument(Source::CheckRequest), AnchorMode::Codes, None).unwrap();
    let mut counts = BTreeMap::<&str, usize>::new();
    let mut missing = 0;
    for request in &requests {
        let body = [b"{\"candidate\":", &request[..], b"}"].concat();
        let body = Document::parse(body).unwrap();
        let budget = &mut Budget::of_steps(DEFAULT_STEPS);
        let evaluation = dock.evaluate(candidate(&body).unwrap(), budget).unwrap();
        let outcome = match &evaluation.finding {
            Finding::Arguments(check) => {
                if check.defects().any(|defect| defect.code() == DefectCode::MissingRequired) {
                    missing += 1;
                }
                assert_eq!(evaluation.verdict.is_correct(), check.verdict() == Verdict::Valid);
                check.verdict().code()
            }
            Finding::ArgumentsRefused(refusal) => refusal.code(),
            other => panic!("neither a check nor a refusal: {other:?}"),
        };
        *counts.entry(outcome).or_default() += 1;
    }
    println!("{counts:?}, {missing} with a missing required member");
    let expected = [("REPAIRED", 2), ("UNREPAIRABLE", 46), ("VALID", 401), ("schema_not_covered", 79)];
    assert_eq!(counts, BTreeMap::from(expected));
    assert_eq!(missing, 40);
}
