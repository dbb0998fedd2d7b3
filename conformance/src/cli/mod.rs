//! The command line.
//!
//! Exit status: 0 all is well, 1 a case failed or a candidate got no verdict, 2 refused before anything was sent, or a
//! report could not be written. No message repeats an argument's value, which might be a key that went astray; only the
//! name of a file of cases that could be read is told.

mod broken;
mod catalogue;
mod replay;
mod run;
mod target;

use std::ffi::OsString;
use std::io::Write;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser, Subcommand};

/// What a command ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Fine = 0,
    Failed = 1,
    Refused = 2,
}

/// Plays Millwork against a verifier dock, any dock, and reports what Millwork would find.
#[derive(Debug, Parser)]
#[command(name = "dock-conformance", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Play all cases against an endpoint
    Run(run::Args),
    /// Send real candidates and show what each receipt would show
    Replay(replay::Args),
    /// Serve a dock with one fault, to see what is found
    ServeBroken(broken::Args),
    /// List all cases
    List(catalogue::ListArgs),
    /// Explain a case
    Explain(catalogue::ExplainArgs),
}

/// The environment of a command.
pub(crate) struct World<'a> {
    pub(crate) variable: &'a dyn Fn(&str) -> Option<String>,
    pub(crate) out: &'a mut dyn Write,
    pub(crate) err: &'a mut dyn Write,
}

impl World<'_> {
    /// Writes a result.
    fn put(&mut self, text: &str) -> Result<(), String> {
        let written = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
        written.map_err(|error| format!("cannot write the result: {error}"))
    }
}

/// Reads the command line and does what it says.
pub fn main(
    args: impl IntoIterator<Item = OsString>,
    variable: &dyn Fn(&str) -> Option<String>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> u8 {
    let args: Vec<OsString> = args.into_iter().collect();
    let mut world = World { variable, out, err };
    let exit = parse(&args).and_then(|parsed| match parsed {
        Parsed::Text(text) => world.put(&text).map(|()| Exit::Fine),
        Parsed::Command(Command::Run(args)) => run::run(&args, &mut world),
        Parsed::Command(Command::Replay(args)) => replay::run(&args, &mut world),
        Parsed::Command(Command::ServeBroken(args)) => broken::run(&args, &mut world),
        Parsed::Command(Command::List(args)) => catalogue::list(&args, &mut world),
        Parsed::Command(Command::Explain(args)) => catalogue::explain(&args, &mut world),
    });
    let exit = exit.unwrap_or_else(|why| {
        // Where standard error is closed there is nobody to tell.
        let _ = writeln!(world.err, "dock-conformance: {why}");
        Exit::Refused
    });
    exit as u8
}

/// Says where the kit itself broke down, and nothing else: what was at hand then may have been a key.
pub fn install_panic_hook() {
    std::panic::set_hook(Box::new(|info| {
        let place =
            info.location().map(|place| format!("{}:{}", place.file(), place.line())).unwrap_or_default();
        let _ = writeln!(
            std::io::stderr(),
            "dock-conformance: a fault of the kit itself, at {place}; please report it"
        );
    }));
}

enum Parsed {
    Text(String),
    Command(Command),
}

/// Words that an argument's name must not hold.
const CREDENTIAL_WORDS: &[&str] =
    &["key", "token", "secret", "passw", "bearer", "credential", "authorization", "header", "cookie"];

fn parse(args: &[OsString]) -> Result<Parsed, String> {
    if args.iter().any(|arg| is_named_like_a_credential(&arg.to_string_lossy())) {
        return Err(format!(
            "no key is taken from an argument, where history and process lists keep it; set {} in the environment, and \
             change the key if it was real",
            crate::keys::ENDPOINT_KEY
        ));
    }
    match Cli::try_parse_from(args) {
        Ok(cli) => Ok(Parsed::Command(cli.command)),
        Err(error) => match error.kind() {
            ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                Ok(Parsed::Text(error.render().to_string()))
            }
            _ => Err(usage(&error)),
        },
    }
}

fn is_named_like_a_credential(arg: &str) -> bool {
    let Some(name) = arg.strip_prefix('-') else { return false };
    let name = name.split('=').next().unwrap_or_default().to_ascii_lowercase();
    CREDENTIAL_WORDS.iter().any(|word| name.contains(word))
}

/// What is wrong with the command line, without the values that were given.
fn usage(error: &clap::Error) -> String {
    let mut names: Vec<String> = Cli::command()
        .get_subcommands()
        .flat_map(|command| {
            command.get_arguments().filter_map(clap::Arg::get_long).map(|long| format!("--{long}"))
        })
        .collect();
    names.sort();
    names.dedup();
    // clap names an argument as `--url <URL>`, or several of them.
    let about: Vec<String> = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(name)) => vec![name.clone()],
        Some(ContextValue::Strings(names)) => names.clone(),
        _ => Vec::new(),
    };
    let known = |about: &String| {
        let name = about.split([' ', '=']).next().unwrap_or_default();
        names.iter().find(|known| *known == name).cloned()
    };
    let known: Vec<String> = about.iter().filter_map(known).collect();
    let place = if known.is_empty() { String::new() } else { format!(" ({})", known.join(", ")) };
    format!("{}{place}; see dock-conformance --help", error.kind())
}

/// A runtime for calls.
fn runtime() -> Result<tokio::runtime::Runtime, String> {
    let built = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    built.map_err(|error| format!("cannot start: {error}"))
}

/// How far a command has come, on a terminal alone.
fn tell_progress(done: usize, all: usize, what: &str) {
    use std::io::IsTerminal;
    let mut err = std::io::stderr();
    if err.is_terminal() {
        let line =
            if done >= all && what.is_empty() { String::new() } else { format!("[{done}/{all}] {what}") };
        let _ = write!(err, "\r\x1b[2K{line}");
        let _ = err.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_named_like_a_credential_are_known() {
        for arg in [
            "--key",
            "--api-key=x",
            "--endpoint-key",
            "-token",
            "--Bearer",
            "--password=1",
            "--authorization",
        ] {
            assert!(is_named_like_a_credential(arg), "{arg}");
        }
        for arg in ["--authorize-endpoint-test", "--url=https://a.example/key", "run", "key.pem", "--ca-file"]
        {
            assert!(!is_named_like_a_credential(arg), "{arg}");
        }
        for command in Cli::command().get_subcommands() {
            for long in command.get_arguments().filter_map(clap::Arg::get_long) {
                assert!(!is_named_like_a_credential(&format!("--{long}")), "{long}");
            }
        }
    }
}
