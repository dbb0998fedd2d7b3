//! `evaluate`: the answer that a dock would give, and why.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use millwork_dock::argument::{ReportTooLarge, Schema, Verdict};
use millwork_dock::budget::Budget;
use millwork_dock::config::Config;
use millwork_dock::dock::tool_call::{CallFinding, CallOutcome};
use millwork_dock::dock::{self, Check, Dock, Evaluation, Finding, Source};
use millwork_dock::fault::Fault;
use millwork_dock::json::{Document, write_string};
use millwork_dock::json_schema::Outcome;
use millwork_dock::server::load_dock;

use super::check::{Format, worse};
use super::input::{Input, Trouble};
use super::{Exit, batch, put, render, tell};

/// What `evaluate` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 the dock calls the candidate correct; if not, 1 UNREPAIRABLE or a probe, 3 REPAIRED, 4 refused; \
2 usage or configuration, 5 failure."
)]
pub(crate) struct EvaluateArgs {
    /// The configuration, TOML
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// The path of the dock in it
    #[arg(long, value_name = "PATH")]
    dock: String,
    /// The candidate, as JSON: what stands after "candidate": in a request. A model's text is a JSON string. - is standard
    /// input
    #[arg(long, value_name = "FILE", required_unless_present = "candidates", conflicts_with = "candidates")]
    candidate: Option<Input>,
    /// One candidate a line; what is not JSON is a model's text as it stands. Empty lines are skipped
    #[arg(long, value_name = "FILE", conflicts_with = "explain")]
    candidates: Option<Input>,
    /// Say also what a receipt keeps, and what the check found
    #[arg(long)]
    explain: bool,
}

/// Does what `args` say.
pub(crate) fn run(args: &EvaluateArgs) -> Exit {
    match evaluate(args) {
        Ok(exit) => exit,
        Err(trouble) => {
            tell(format_args!("error: {trouble}"));
            trouble.exit()
        }
    }
}

fn evaluate(args: &EvaluateArgs) -> Result<Exit, Trouble> {
    let config = Config::load(&args.config).map_err(|mistakes| Trouble::Usage(mistakes.to_string()))?;
    let Some(dock_config) = config.docks.iter().find(|dock| dock.path == args.dock) else {
        let paths: Vec<&str> = config.docks.iter().map(|dock| dock.path.as_str()).collect();
        return Err(Trouble::Usage(format!("no dock at {}; the docks are: {}", args.dock, paths.join(", "))));
    };
    let dock = load_dock(dock_config).map_err(|trouble| Trouble::Usage(trouble.to_string()))?;
    if let Some(candidates) = &args.candidates {
        return batch::run(Format::Json, &LABELS, &candidates.read()?, |_, line| {
            let candidate = candidate_of_line(line)?;
            let evaluation =
                dock.evaluate(candidate.root(), &mut Budget::of_steps(config.limits.check_steps));
            Ok(self::line(&evaluation, answer(&evaluation)))
        });
    }
    let Some(candidate) = &args.candidate else { return Err(Trouble::Usage("no candidate".to_owned())) };
    let hint = "a model's text is given as a JSON string, in quotes";
    let candidate = candidate.read_json().map_err(|trouble| trouble.with_hint(hint))?;
    let budget = &mut Budget::of_steps(config.limits.check_steps);
    let evaluation = match dock.evaluate(candidate.root(), budget) {
        Ok(evaluation) => evaluation,
        Err(fault) => return Ok(worse(put(format_args!("{{\"error\":\"{fault}\"}}")), Exit::Environment)),
    };
    let mut out = answer_of(&evaluation);
    if args.explain {
        let explanation =
            explain(&dock, &evaluation).map_err(|error| Trouble::Environment(error.to_string()))?;
        let _ = write!(out, "\n\n{explanation}");
    }
    Ok(worse(put(out), exit_of(&evaluation)))
}

/// What the lines of a batch are called by.
pub(super) const LABELS: batch::Labels = ["correct", "repaired", "not correct", "refused", "failed"];

/// The candidate on a line: JSON, or text as it stands.
pub(super) fn candidate_of_line(line: &[u8]) -> Result<Document, Trouble> {
    Document::parse(line.to_vec()).or_else(|_| {
        let mut quoted = Vec::new();
        write_string(line, &mut quoted);
        Document::parse(quoted).map_err(|error| Trouble::Environment(error.to_string()))
    })
}

/// A line's result, to be summed up.
pub(super) fn line(evaluation: &Result<Evaluation<'_>, Fault>, text: String) -> batch::Line {
    let exit = evaluation.as_ref().map_or(Exit::Environment, exit_of);
    let metrics = evaluation.as_ref().map(Evaluation::named_metrics).unwrap_or_default();
    let metric = |wanted: &str| {
        let found = metrics.iter().find(|(name, _)| *name == wanted);
        found.map_or(0, |(_, value)| usize::try_from(*value).unwrap_or(usize::MAX))
    };
    batch::Line { exit, text, repairs: metric("repairs"), defects: metric("defects") }
}

/// A result on one line for a person.
pub(super) fn in_a_word(evaluation: &Result<Evaluation<'_>, Fault>) -> String {
    match evaluation {
        Err(fault) => format!("failed: {fault}"),
        Ok(evaluation) if evaluation.verdict.is_correct() => "correct".to_owned(),
        Ok(evaluation) => {
            let dock::Verdict::Judged { anchors, .. } = &evaluation.verdict else {
                return "the probe".to_owned();
            };
            let failed: Vec<&str> = anchors.all().filter(|(_, held)| !held).map(|(name, _)| name).collect();
            format!("not correct: {}", failed.join(", "))
        }
    }
}

fn answer(evaluation: &Result<Evaluation<'_>, Fault>) -> String {
    match evaluation {
        Ok(evaluation) => answer_of(evaluation),
        Err(fault) => format!("{{\"error\":\"{fault}\"}}"),
    }
}

fn answer_of(evaluation: &Evaluation<'_>) -> String {
    let mut answer = Vec::new();
    evaluation.verdict.write(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

pub(super) fn exit_of(evaluation: &Evaluation<'_>) -> Exit {
    match &evaluation.finding {
        _ if evaluation.verdict.is_correct() => Exit::Fine,
        Finding::ArgumentsRefused(_) | Finding::CatalogueRefused(_) | Finding::InstanceRefused(_) => {
            Exit::Refused
        }
        Finding::Calls(calls) => match calls.iter().map(exit_of_call).reduce(worse) {
            // Every call is fine, but the dock requires more.
            None | Some(Exit::Fine) => Exit::Negative,
            Some(worst) => worst,
        },
        Finding::Arguments(check) if check.verdict() == Verdict::Repaired => Exit::Repaired,
        Finding::Arguments(_) | Finding::Profile(_) | Finding::Instance(_) | Finding::Probe => Exit::Negative,
    }
}

fn exit_of_call(call: &CallFinding<'_>) -> Exit {
    match &call.outcome {
        CallOutcome::Refused(_) | CallOutcome::NotValidated(_) => Exit::Refused,
        CallOutcome::Validated(outcome) if outcome.failed.is_empty() => Exit::Fine,
        CallOutcome::Checked(check) if check.verdict() == Verdict::Repaired => Exit::Repaired,
        CallOutcome::Checked(check) if check.verdict() == Verdict::Valid => Exit::Fine,
        CallOutcome::Checked(_) | CallOutcome::Validated(_) | CallOutcome::NotDeclared => Exit::Negative,
    }
}

fn explain_calls(calls: &[CallFinding<'_>], out: &mut String) -> Result<(), ReportTooLarge> {
    let _ = writeln!(out, "\ncalls\n  {}", calls.len());
    for call in calls {
        let tool = String::from_utf8_lossy(&call.tool).escape_debug().to_string();
        let _ = match &call.outcome {
            CallOutcome::NotDeclared => writeln!(out, "\n{tool}: no tool of the catalogue has this name"),
            CallOutcome::Refused(refusal) => writeln!(out, "\n{tool}: {}", refusal.code()),
            CallOutcome::NotValidated(refusal) => writeln!(out, "\n{tool}: {}", refusal.code()),
            CallOutcome::Validated(outcome) => writeln!(out, "\n{tool}: {}", in_words(outcome)),
            CallOutcome::Checked(check) => write!(out, "\n{tool}\n{}", render::report(check, None, "")?),
        };
    }
    Ok(())
}

/// What JSON Schema said.
fn in_words(outcome: &Outcome) -> String {
    let failed: Vec<&str> = outcome.failed.names().collect();
    if failed.is_empty() { "valid".to_owned() } else { format!("not valid, for {}", failed.join(", ")) }
}

pub(super) fn explain(dock: &Dock, evaluation: &Evaluation<'_>) -> Result<String, ReportTooLarge> {
    let verdict = &evaluation.verdict;
    let mut out = format!(
        "a receipt keeps\n  is_correct      {}\n  quality_score   {}\n  anchor_results  ",
        verdict.is_correct(),
        verdict.quality_score()
    );
    let required: Vec<&str> = dock.required().collect();
    match (verdict, &evaluation.finding) {
        (dock::Verdict::Probe, _) => {
            out.push_str("none: the candidate carries the reserved probe's marker, so no check ran\n");
        }
        (_, Finding::ArgumentsRefused(refusal)) => {
            let _ = writeln!(out, "the candidate cannot be assessed: {}", refusal.code());
        }
        (_, Finding::InstanceRefused(refusal)) => {
            let _ = writeln!(out, "the candidate cannot be validated: {}", refusal.code());
        }
        (_, Finding::CatalogueRefused(refusal)) => {
            let rule = refusal.rule().map_or(String::new(), |rule| format!(" ({rule})"));
            let _ = writeln!(out, "the candidate is no catalogue in contract: {}{rule}", refusal.code());
        }
        (dock::Verdict::Judged { anchors, .. }, _) => {
            let (all, failed) =
                (anchors.all().count(), anchors.all().filter(|(_, held)| !held).collect::<Vec<_>>());
            let _ = writeln!(out, "{} of {all} held", all - failed.len());
            for (name, _) in failed {
                let why = if required.contains(&name) { "not held, and required" } else { "not held" };
                let _ = writeln!(out, "    {name}: {why}");
            }
        }
    }
    let _ = writeln!(out, "\nrequired to be correct\n  {}", required.join(", "));
    let metrics = evaluation.named_metrics();
    if !metrics.is_empty() {
        let metrics: Vec<String> = metrics.iter().map(|(name, value)| format!("{name} {value}")).collect();
        let _ = writeln!(out, "\nnamed metrics, dropped before the answer\n  {}", metrics.join(", "));
    }
    match &evaluation.finding {
        Finding::Arguments(check) => {
            let pinned: Option<&Schema<'_>> = match dock.check() {
                Check::Argument(Source::Arguments(schema)) => Some(schema),
                _ => None,
            };
            let _ = write!(out, "\nreport\n{}", render::report(check, pinned, "")?);
        }
        Finding::Calls(calls) => explain_calls(calls, &mut out)?,
        Finding::Profile(profile) => {
            let _ = write!(out, "\nreport\n{}", super::profile::text(profile, ""));
        }
        Finding::Instance(outcome) => {
            let _ = writeln!(out, "\njson-schema\n  {}", in_words(outcome));
        }
        Finding::Probe
        | Finding::ArgumentsRefused(_)
        | Finding::InstanceRefused(_)
        | Finding::CatalogueRefused(_) => {}
    }
    Ok(out)
}
