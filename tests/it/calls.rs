//! The recorded `execute-tool` calls of a frontier model, each against the schema of the tool that it called.

use std::collections::BTreeMap;
use std::sync::Arc;

use millwork_dock::argument::{DefectCode, Verdict};
use millwork_dock::budget::{Budget, DEFAULT_STEPS};
use millwork_dock::dock::tool_call::CallOutcome;
use millwork_dock::dock::{AnchorMode, Check, Dock, Engines, Finding, Source, Toolbox, candidate};
use millwork_dock::json::Document;

use crate::data;
use crate::reference::{self, J, units, write};

/// A recorded call: the server's and the tool's name, and the arguments.
struct Recorded {
    tool: (String, String),
    arguments: J,
}

fn recorded() -> Option<Vec<Recorded>> {
    let calls = std::fs::read_to_string(data::path("calls/livemcpbench-calls/calls.jsonl")?).unwrap();
    let calls = calls.lines().map(|line| reference::parse(&units(line)).unwrap());
    let calls = calls.filter(|call| string(call, "tool") == "execute-tool").map(|call| {
        let Some(J::Str(text)) = call.get("arguments_text") else { panic!("no text") };
        let call = reference::parse(text).unwrap();
        let tool = (string(&call, "server_name"), string(&call, "tool_name"));
        Recorded { tool, arguments: call.get("params").unwrap().clone() }
    });
    Some(calls.collect())
}

fn catalogue() -> Option<BTreeMap<(String, String), J>> {
    let text = std::fs::read_to_string(data::path("mcp/livemcpbench-69-servers/tools.json")?).unwrap();
    Some(schemas(&reference::parse(&units(&text)).unwrap()))
}

/// The calls whose `server_name` and `tool_name` the catalogue knows, as published check bodies
/// `{arguments, schema}`. Three of 531 call a tool that is in no catalogue.
pub(crate) fn requests() -> Option<Vec<Vec<u8>>> {
    let (calls, schemas) = (recorded()?, catalogue()?);
    let requests = calls.into_iter().filter_map(|call| {
        let schema = schemas.get(&call.tool)?;
        Some(text(&J::obj(&[("arguments", call.arguments), ("schema", schema.clone())])).into_bytes())
    });
    Some(requests.collect())
}

fn text(value: &J) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
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

/// The same calls against the catalogues of their servers, where JSON Schema grades what the criteria refuse.
#[test]
fn recorded_calls_are_all_graded_by_one_engine_or_the_other() {
    let Some((calls, schemas)) = recorded().zip(catalogue()) else { return };
    let mut docks: BTreeMap<&str, Dock> = BTreeMap::new();
    for (server, _) in schemas.keys() {
        docks.entry(server).or_insert_with(|| {
            let tools: Vec<String> = schemas
                .iter()
                .filter(|((of, _), _)| of == server)
                .map(|((_, name), schema)| {
                    format!("{{\"name\":{},\"inputSchema\":{}}}", serde_json::json!(name), text(schema))
                })
                .collect();
            let document = Document::parse(format!("[{}]", tools.join(",")).into_bytes()).unwrap();
            let engines = Engines::CriteriaOrJsonSchema;
            let toolbox = Toolbox::read(&Arc::new(document), None, engines).unwrap();
            Dock::new(Check::Argument(Source::ToolCall(toolbox)), AnchorMode::Codes, None).unwrap()
        });
    }
    let mut counts = BTreeMap::<(&str, &str), usize>::new();
    for Recorded { tool: (server, name), arguments } in &calls {
        if !schemas.contains_key(&(server.clone(), name.clone())) {
            continue;
        }
        let call = format!("{{\"name\":{},\"arguments\":{}}}", serde_json::json!(name), text(arguments));
        let body = Document::parse(format!("{{\"candidate\":{call}}}").into_bytes()).unwrap();
        let budget = &mut Budget::of_steps(DEFAULT_STEPS);
        let evaluation = docks[server.as_str()].evaluate(candidate(&body).unwrap(), budget).unwrap();
        let Finding::Calls(found) = &evaluation.finding else { panic!("no calls") };
        let [call] = found.as_slice() else { panic!("one call") };
        let outcome = match &call.outcome {
            CallOutcome::Checked(check) => ("criteria", check.verdict().code()),
            CallOutcome::Validated(outcome) if outcome.failed.is_empty() => ("json-schema", "valid"),
            CallOutcome::Validated(_) => ("json-schema", "not valid"),
            other => panic!("{server} {name}: {other:?}"),
        };
        *counts.entry(outcome).or_default() += 1;
    }
    println!("{counts:?}");
    assert_eq!(counts.values().sum::<usize>(), 528);
    let by_criteria = [("REPAIRED", 2), ("UNREPAIRABLE", 46), ("VALID", 401)];
    for (verdict, count) in by_criteria {
        assert_eq!(counts[&("criteria", verdict)], count, "{verdict}");
    }
}
