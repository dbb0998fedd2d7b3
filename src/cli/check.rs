//! `check`: arguments against a schema, as the dock checks them.

use std::io::{IsTerminal, Write};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use millwork_dock::argument::{self, Check, Schema, Stop, Submission, Verdict};
use millwork_dock::budget::{Budget, DEFAULT_STEPS};
use millwork_dock::json::{Document, Text};

use super::input::{Input, Trouble};
use super::{Exit, put, render, tell};
use super::{batch, calls};

/// How a result is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// For programs: one JSON object, or one a line with --jsonl
    Json,
}

/// What `check` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "With --source tool_call the schema is that of the called tool, from the catalogue in --tools, and each candidate may hold \
calls of MCP, OpenAI, Anthropic or Gemini.\n\nExit status: 0 VALID, 1 UNREPAIRABLE, 3 REPAIRED, 4 refused, 2 usage, 5 failure. A batch ends \
with the worst of its lines, in the order 5, 2, 4, 1, 3, 0.\n\nOne of the files may be -, standard input."
)]
pub(crate) struct CheckArgs {
    /// What is checked
    #[arg(long, value_enum, default_value_t = SourceName::Arguments)]
    source: SourceName,
    /// The tool's JSON Schema
    #[arg(long, value_name = "FILE", required_if_eq("source", "arguments"), conflicts_with = "tools")]
    schema: Option<Input>,
    /// The catalogue of tools, of MCP, `OpenAI`, Anthropic or Gemini
    #[arg(long, value_name = "FILE", required_if_eq("source", "tool_call"))]
    tools: Option<Input>,
    /// What grades tools whose schemas the criteria refuse
    #[arg(long, value_enum, default_value_t = Uncovered::Refuse, requires = "tools")]
    uncovered: Uncovered,
    #[command(flatten)]
    submission: SubmissionArgs,
    /// How to write the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// `--source`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SourceName {
    /// The arguments of one call, against --schema
    Arguments,
    /// Calls of the tools in --tools
    #[value(name = "tool_call")]
    ToolCall,
}

/// `--uncovered`, as in a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Uncovered {
    /// Nothing: a call of such a tool fails
    Refuse,
    /// JSON Schema in full, without repairs
    JsonSchema,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct SubmissionArgs {
    /// With `--source tool_call`: a call, a list of calls or a message that holds them, as JSON
    #[arg(long, value_name = "FILE")]
    candidate: Option<Input>,
    /// The arguments, as JSON
    #[arg(long, value_name = "FILE")]
    arguments: Option<Input>,
    /// The raw text of the arguments, as a model wrote it; only this form is open to the text repairs R1 and R2
    #[arg(long, value_name = "FILE")]
    arguments_text: Option<Input>,
    /// One submission a line: a JSON string is the raw text of arguments, other JSON the arguments themselves, and
    /// what is not JSON raw text as it stands; empty lines are skipped
    #[arg(long, value_name = "FILE")]
    jsonl: Option<Input>,
}

/// Does what `args` say.
pub(crate) fn run(args: &CheckArgs) -> Exit {
    match check(args) {
        Ok(exit) => exit,
        Err(trouble) => {
            tell(format_args!("error: {trouble}"));
            trouble.exit()
        }
    }
}

fn check(args: &CheckArgs) -> Result<Exit, Trouble> {
    let SubmissionArgs { candidate, arguments, arguments_text, jsonl } = &args.submission;
    let submission = [candidate, arguments, arguments_text, jsonl].into_iter().flatten().next();
    let pinned = [&args.schema, &args.tools].into_iter().flatten().next();
    if pinned.is_some_and(Input::is_standard_input) && submission.is_some_and(Input::is_standard_input) {
        return Err(Trouble::Usage("only one of the files can be standard input".to_owned()));
    }
    if let (SourceName::ToolCall, Some(tools)) = (args.source, &args.tools) {
        let or_json_schema = args.uncovered == Uncovered::JsonSchema;
        return match (candidate, jsonl) {
            (Some(candidate), _) => calls::one(tools, or_json_schema, candidate, args.format),
            (None, Some(jsonl)) => calls::batch(tools, or_json_schema, jsonl, args.format),
            (None, None) => Err(Trouble::Usage("--source tool_call takes --candidate or --jsonl".to_owned())),
        };
    }
    let Some(schema) = &args.schema else { return Err(Trouble::Usage("no --schema".to_owned())) };
    let schema = Arc::new(schema.read_json()?);
    let schema = match Schema::owned(Arc::clone(&schema)) {
        Ok(schema) => schema,
        Err(refused) => {
            return Ok(worse(put(render::schema_refusal(&refused, &schema, args.format)), Exit::Refused));
        }
    };
    let stamp = super::stamp();
    let printer = Printer { schema: &schema, format: args.format, stamp: &stamp };
    if let Some(input) = jsonl {
        return batch::run(args.format, &LABELS, &input.read()?, |number, line| printer.line(number, line));
    }
    if let Some(input) = arguments_text {
        let text = input.read()?;
        std::str::from_utf8(&text).map_err(|_| Trouble::Usage(format!("{input} is not UTF-8")))?;
        return Ok(printer.print(Submission::Text(Text::plain(&text))));
    }
    let Some(input) = arguments else {
        return Err(Trouble::Usage("--candidate goes with --source tool_call".to_owned()));
    };
    let document = input
        .read_json()
        .map_err(|trouble| trouble.with_hint("--arguments-text takes text that may not parse"))?;
    Ok(printer.print(Submission::Arguments(document.root())))
}

/// What the lines of a batch are called by.
const LABELS: batch::Labels =
    [Verdict::Valid.code(), Verdict::Repaired.code(), Verdict::Unrepairable.code(), "refused", "failed"];

/// Checks submissions and writes their results.
struct Printer<'p> {
    schema: &'p Schema<'static>,
    format: Format,
    stamp: &'p str,
}

impl Printer<'_> {
    /// A JSON string is the raw text of arguments, as for a dock; what is not JSON is raw text as it stands.
    fn line(&self, number: usize, line: &[u8]) -> Result<batch::Line, Trouble> {
        let document = Document::parse(line.to_vec()).ok();
        let submission = match &document {
            Some(document) => match document.root().as_text() {
                Some(text) => Submission::Text(text),
                None => Submission::Arguments(document.root()),
            },
            None => Submission::Text(Text::plain(line)),
        };
        let result = self.check(submission);
        let too_large = |error| Trouble::Environment(format!("line {number}: {error}"));
        let text = match self.format {
            Format::Json => render::json(&result, self.stamp).map_err(too_large)?.trim_end().to_owned(),
            Format::Text => render::line(number, &result),
        };
        let (repairs, defects) =
            result.as_ref().map_or((0, 0), |check| (check.count_repairs(), check.count_defects()));
        Ok(batch::Line { exit: exit_of(&result), text, repairs, defects })
    }

    fn check<'a>(&'a self, submission: Submission<'a>) -> Result<Check<'a>, Stop> {
        argument::check(self.schema, submission, &mut Budget::of_steps(DEFAULT_STEPS))
    }

    fn print(&self, submission: Submission<'_>) -> Exit {
        let result = self.check(submission);
        let exit = exit_of(&result);
        let text = match self.format {
            Format::Json => render::json(&result, self.stamp),
            Format::Text => render::text(&result, self.schema, self.stamp),
        };
        match text {
            Ok(text) => worse(put(text), exit),
            Err(error) => {
                tell(format_args!("error: {error}"));
                Exit::Environment
            }
        }
    }
}

/// What a result ends the command with.
fn exit_of(result: &Result<Check<'_>, Stop>) -> Exit {
    match result {
        Ok(check) => match check.verdict() {
            Verdict::Valid => Exit::Fine,
            Verdict::Repaired => Exit::Repaired,
            Verdict::Unrepairable => Exit::Negative,
        },
        Err(Stop::Refused(..)) => Exit::Refused,
        Err(Stop::Exhausted(_)) => Exit::Environment,
    }
}

/// The worse of two results, in the order that decisions F give.
pub(super) fn worse(a: Exit, b: Exit) -> Exit {
    let rank = |exit: Exit| match exit {
        Exit::Environment => 5,
        Exit::Usage => 4,
        Exit::Refused => 3,
        Exit::Negative => 2,
        Exit::Repaired => 1,
        Exit::Fine => 0,
    };
    if rank(a) >= rank(b) { a } else { b }
}

/// Whether a person watches standard error.
pub(super) fn is_watched() -> bool {
    std::io::stderr().lock().flush().is_ok() && std::io::stderr().is_terminal()
}
