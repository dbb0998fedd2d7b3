//! Real tools: every one of the catalogues compiles under one engine or the other.

use std::collections::BTreeMap;

use millwork_dock::argument;
use millwork_dock::budget::Budget;
use millwork_dock::json::Value;
use millwork_dock::json_schema::Schema;

use super::parse;
use crate::catalogues;

/// Tools that this engine cannot take though the argument criteria can, and the other way round none. By
/// catalogue and tool, each with its reason.
const KNOWN_GAPS: &[(&str, &str)] = &[];

#[test]
fn every_tool_compiles_under_one_engine_or_the_other() {
    let Some(catalogues) = catalogues::all() else { return };
    let (mut tools, mut by_criteria, mut by_schema) = (0, 0, 0);
    let mut left_over = Vec::new();
    let mut gaps = BTreeMap::new();
    for catalogue in &catalogues {
        let document = parse(catalogue.text.as_bytes());
        for tool in document.root().items() {
            let schema = schema_of(tool);
            tools += 1;
            let covered = argument::Schema::compile(schema).is_ok();
            let full = Schema::compile(schema);
            by_criteria += usize::from(covered);
            by_schema += usize::from(full.is_ok());
            let name = || format!("{}: {}", catalogue.name, name_of(tool));
            match full {
                Ok(schema) => {
                    let outcome =
                        schema.check(parse(b"{}").root(), &mut Budget::of_steps(super::STEPS)).unwrap();
                    assert!(outcome.failed.is_within(schema.keywords()), "{}", name());
                }
                Err(unusable) if covered => drop(gaps.insert(name(), unusable.to_string())),
                Err(unusable) => left_over.push(format!("{}: {unusable}", name())),
            }
        }
    }
    println!("{tools} tools: {by_criteria} by the criteria, {by_schema} by JSON Schema");
    assert!(left_over.is_empty(), "{left_over:#?}");
    for (gap, reason) in KNOWN_GAPS {
        assert!(gaps.remove(*gap).is_some(), "no gap any more: {gap} ({reason})");
    }
    assert!(gaps.is_empty(), "{gaps:#?}");
    assert!(tools > 1000 && by_criteria < tools, "{tools} {by_criteria}");
}

fn schema_of(tool: Value<'_>) -> Value<'_> {
    let schema =
        [&b"inputSchema"[..], b"input_schema", b"parameters"].into_iter().find_map(|name| tool.get(name));
    schema.unwrap_or_else(|| panic!("no schema: {}", name_of(tool)))
}

fn name_of(tool: Value<'_>) -> String {
    let name = tool.get(b"name").and_then(Value::as_text).unwrap();
    String::from_utf8_lossy(&name.decode()).into_owned()
}
