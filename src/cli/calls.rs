//! `check --source tool_call`: calls of the tools of a catalogue, as a dock checks them.

use std::fmt::Write as _;
use std::sync::Arc;

use millwork_dock::argument::ReportTooLarge;
use millwork_dock::budget::{Budget, DEFAULT_STEPS};
use millwork_dock::dock::tool_call::CallOutcome;
use millwork_dock::dock::{AnchorMode, Check, Dock, Engines, Evaluation, Finding, Source, Toolbox};
use millwork_dock::json::write_string;

use super::check::{Format, worse};
use super::input::{Input, Trouble};
use super::{Exit, batch, evaluate, put, render};

/// A dock over the tools of a catalogue.
fn dock(tools: &Input, or_json_schema: bool) -> Result<Dock, Trouble> {
    let engines = if or_json_schema { Engines::CriteriaOrJsonSchema } else { Engines::Criteria };
    let toolbox = Toolbox::read(&Arc::new(tools.read_json()?), None, engines)
        .map_err(|error| Trouble::Usage(format!("{tools} {error}")))?;
    Dock::new(Check::Argument(Source::ToolCall(toolbox)), AnchorMode::Codes, None)
        .map_err(|error| Trouble::Usage(error.to_string()))
}

/// Checks one candidate.
pub(super) fn one(
    tools: &Input,
    or_json_schema: bool,
    candidate: &Input,
    format: Format,
) -> Result<Exit, Trouble> {
    let dock = dock(tools, or_json_schema)?;
    let candidate = candidate.read_json()?;
    let evaluation = match dock.evaluate(candidate.root(), &mut Budget::of_steps(DEFAULT_STEPS)) {
        Ok(evaluation) => evaluation,
        Err(fault) => return Ok(worse(put(format_args!("{{\"error\":\"{fault}\"}}\n")), Exit::Environment)),
    };
    let text = match format {
        Format::Text => evaluate::explain(&dock, &evaluation),
        Format::Json => json(&evaluation).map(|json| json + "\n"),
    };
    Ok(worse(put(text.map_err(too_large)?), evaluate::exit_of(&evaluation)))
}

fn too_large(error: ReportTooLarge) -> Trouble {
    Trouble::Environment(error.to_string())
}

/// Checks a candidate a line; a line that is no JSON is a model's text.
pub(super) fn batch(
    tools: &Input,
    or_json_schema: bool,
    candidates: &Input,
    format: Format,
) -> Result<Exit, Trouble> {
    let dock = dock(tools, or_json_schema)?;
    batch::run(format, &evaluate::LABELS, &candidates.read()?, |number, line| {
        let candidate = evaluate::candidate_of_line(line)?;
        let evaluation = dock.evaluate(candidate.root(), &mut Budget::of_steps(DEFAULT_STEPS));
        let text = match (format, &evaluation) {
            (Format::Json, Ok(evaluation)) => json(evaluation).map_err(too_large)?,
            (Format::Json, Err(fault)) => format!("{{\"error\":\"{fault}\"}}"),
            (Format::Text, _) => format!("{number:>6}  {}", evaluate::in_a_word(&evaluation)),
        };
        Ok(evaluate::line(&evaluation, text))
    })
}

/// `{"answer": …, "calls": […]}`: what the dock answers, and the report of each call.
fn json(evaluation: &Evaluation<'_>) -> Result<String, ReportTooLarge> {
    let mut answer = Vec::new();
    evaluation.verdict.write(&mut answer);
    let mut out = format!("{{\"answer\":{},\"calls\":[", String::from_utf8_lossy(&answer));
    let calls = if let Finding::Calls(calls) = &evaluation.finding { calls.as_slice() } else { &[] };
    for (index, call) in calls.iter().enumerate() {
        let mut tool = Vec::new();
        write_string(&call.tool, &mut tool);
        let separator = if index > 0 { "," } else { "" };
        let outcome = match &call.outcome {
            CallOutcome::NotDeclared => "\"not_declared\":true".to_owned(),
            CallOutcome::Refused(refusal) => format!("\"refusal\":\"{}\"", refusal.code()),
            CallOutcome::NotValidated(refusal) => format!("\"refusal\":\"{}\"", refusal.code()),
            CallOutcome::Validated(outcome) => {
                let failed: Vec<String> = outcome.failed.names().map(|name| format!("\"{name}\"")).collect();
                format!("\"valid\":{},\"failed\":[{}]", failed.is_empty(), failed.join(","))
            }
            CallOutcome::Checked(check) => format!("\"report\":{}", render::report_json(check, "")?),
        };
        // Writing to a string never fails.
        let _ = write!(out, "{separator}{{\"tool\":{},{outcome}}}", String::from_utf8_lossy(&tool));
    }
    Ok(out + "]}")
}
