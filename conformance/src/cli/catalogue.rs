//! `list` and `explain`.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{Exit, World};
use crate::broken::Fault;
use crate::case::{self, Case};
use crate::contract;
use crate::endpoint::Refusal;

#[derive(Debug, clap::Args)]
pub(super) struct ListArgs {
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct ExplainArgs {
    /// The case's id, as `list` and the reports have it
    case: String,
}

pub(super) fn list(args: &ListArgs, world: &mut World<'_>) -> Result<Exit, String> {
    let text = if args.json {
        let cases: Vec<Value> = case::all().map(entry).collect();
        format!("{:#}\n", Value::from(cases))
    } else {
        let refusals = Refusal::ALL.iter().map(|refusal| line(refusal.code(), "refused", refusal.text()));
        let cases = case::all().map(|case| line(case.id, case.severity.word(), case.shows));
        refusals.chain(cases).collect()
    };
    world.put(&text).map(|()| Exit::Fine)
}

fn line(id: &str, weight: &str, text: &str) -> String {
    format!("{id:43}  {weight:11}  {text}\n")
}

fn entry(case: &Case) -> Value {
    json!({
        "id": case.id, "severity": case.severity.word(), "requirement": case.requirement,
        "authenticated_only": case.authenticated_only, "shows": case.shows, "do": case.todo,
    })
}

pub(super) fn explain(args: &ExplainArgs, world: &mut World<'_>) -> Result<Exit, String> {
    let text = match (case::find(&args.case), Refusal::ALL.iter().find(|refusal| refusal.code() == args.case))
    {
        (Some(case), _) => about(case),
        (None, Some(refusal)) => format!(
            "{}\n\nA rule of registration, looked at before anything is sent. A run that breaks it ends with 2.\n{}\n",
            refusal.code(),
            refusal.text()
        ),
        (None, None) => return Err("there is no such case; see dock-conformance list".to_owned()),
    };
    world.put(&text).map(|()| Exit::Fine)
}

fn about(case: &Case) -> String {
    let mut text = format!("{} ({})\n\n{}\n", case.id, case.severity.word(), case.shows);
    // Writing to a string does not fail.
    let _ = writeln!(text, "\nWhen it fails: {}", case.todo);
    let _ = write!(text, "\nAsked for by {}, contract version 1", case.requirement);
    match contract::section(case.requirement) {
        Some(Value::String(says)) => drop(writeln!(text, ": {says}")),
        _ => text.push_str(".\n"),
    }
    if case.authenticated_only {
        text.push_str("Played with --access authenticated only.\n");
    }
    let shown: Vec<&str> = Fault::ALL
        .iter()
        .filter(|fault| fault.found_by().iter().any(|(id, _)| case::find(id) == Some(case)))
        .map(|fault| fault.name())
        .collect();
    let _ =
        writeln!(text, "\nDocks that fail it: dock-conformance serve-broken --fault {}", shown.join(" | "));
    text
}
