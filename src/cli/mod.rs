//! The command line: what there is to say, and what each command exits with.

mod batch;
mod calls;
mod catalogue;
mod check;
mod config;
mod corpus;
mod evaluate;
mod explain;
mod health;
mod input;
mod key;
mod ledger;
mod profile;
mod render;
mod report;
mod serve;

use clap::{Parser, Subcommand};
use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

/// What a command ends with, the same meaning for all of them (decisions F).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All is well; of arguments: VALID.
    Fine = 0,
    /// A negative answer: UNREPAIRABLE, a case that failed.
    Negative = 1,
    /// The command line or the configuration is wrong.
    Usage = 2,
    /// REPAIRED.
    Repaired = 3,
    /// Refused: there was nothing that could be assessed.
    Refused = 4,
    /// The environment failed, or the dock itself.
    Environment = 5,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// A Millwork verifier dock: judges the arguments of tool calls against their JSON Schema, and profiles tool catalogues.
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Check arguments against a schema
    Check(check::CheckArgs),
    /// Look at a configuration
    #[command(subcommand)]
    Config(config::Command),
    /// Look after the corpora of the criteria
    #[command(subcommand)]
    Corpus(corpus::Command),
    /// Print the very answer that a dock would give to a candidate
    Evaluate(evaluate::EvaluateArgs),
    /// Say what an anchor, a rule or a code means
    Explain(explain::Command),
    /// Ask a running dock whether it is ready
    Health(health::HealthArgs),
    /// Make keys
    #[command(subcommand)]
    Key(key::Command),
    /// Look after the ledger of paid checks
    #[command(subcommand)]
    Ledger(ledger::Command),
    /// Tell what share of a tool catalogue's tokens its names, descriptions and schemas carry
    Profile(profile::ProfileArgs),
    /// Look at signed reports
    #[command(subcommand)]
    Report(report::Command),
    /// Answer at the configured docks and operations, over HTTPS, until told to stop
    Serve(serve::Command),
}

/// Reads the command line and does what it says. A command line that makes no sense ends the process here,
/// with [`Exit::Usage`].
pub(crate) fn run() -> Exit {
    match Cli::parse().command {
        Command::Check(args) => check::run(&args),
        Command::Config(command) => config::run(&command),
        Command::Corpus(command) => corpus::run(&command),
        Command::Evaluate(args) => evaluate::run(&args),
        Command::Explain(command) => explain::run(&command),
        Command::Health(args) => health::run(&args),
        Command::Key(command) => key::run(&command),
        Command::Ledger(command) => ledger::run(&command),
        Command::Profile(args) => profile::run(&args),
        Command::Report(command) => report::run(&command),
        Command::Serve(command) => serve::run(&command),
    }
}

/// What a verdict line ends with (decision B18): the time, UTC to the second.
fn stamp() -> String {
    format!(" — {}", millwork_dock::utc::Utc::now())
}

/// Writes a command's result to standard output. Nothing else goes there.
fn put(result: impl Display) -> Exit {
    let mut out = io::stdout().lock();
    match write!(out, "{result}").and_then(|()| out.flush()) {
        Ok(()) => Exit::Fine,
        Err(error) => {
            tell(format_args!("cannot write the result: {error}"));
            Exit::Environment
        }
    }
}

/// Says something beside the result, on standard error.
fn tell(what: impl Display) {
    // Where standard error is closed there is nobody to tell, and the exit status says the rest.
    let _ = writeln!(io::stderr().lock(), "{what}");
}
