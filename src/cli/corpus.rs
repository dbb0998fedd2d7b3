//! `corpus verify`: the pinned corpora of the criteria against the engines.

use clap::{Args, Subcommand};
use millwork_dock::corpus::{self, BUILT_IN, Failure, Verified};
use millwork_dock::json::Document;
use std::fmt::Write as _;

use super::check::worse;
use super::input::{Input, Trouble};
use super::{Exit, put, tell};

/// How much of an answer is shown.
const SHOWN_CHARS: usize = 400;

/// What `corpus` can do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Recompute the pins of corpora and run all their cases against the engines
    Verify(VerifyArgs),
}

/// What `corpus verify` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 pins and cases hold, 1 one of them does not, 2 a file is no corpus, 5 failure.\n\n\
One of the files may be -, standard input."
)]
pub(crate) struct VerifyArgs {
    /// Corpora to verify; without any, those that are built in
    #[arg(value_name = "FILE")]
    files: Vec<Input>,
}

/// Does what `command` says.
pub(crate) fn run(command: &Command) -> Exit {
    let Command::Verify(VerifyArgs { files }) = command;
    if files.is_empty() {
        let verified = BUILT_IN.iter().map(|(name, text)| {
            let document = Document::parse(text.as_bytes().to_vec());
            document
                .map_err(|error| Trouble::Usage(error.to_string()))
                .and_then(|document| verify(name, &document))
        });
        return all(verified);
    }
    all(files.iter().map(|file| verify(&file.to_string(), &file.read_json()?)))
}

/// Prints each result as it comes; the worst of them is the command's.
fn all(verified: impl Iterator<Item = Result<Verified, Trouble>>) -> Exit {
    verified.fold(Exit::Fine, |exit, verified| {
        let own = match verified {
            Ok(verified) => {
                worse(put(told(&verified)), if verified.holds() { Exit::Fine } else { Exit::Negative })
            }
            Err(trouble) => {
                tell(format_args!("error: {trouble}"));
                trouble.exit()
            }
        };
        worse(exit, own)
    })
}

fn verify(name: &str, document: &Document) -> Result<Verified, Trouble> {
    corpus::verify(document).map_err(|trouble| match trouble {
        corpus::Trouble::NoCorpus(_) => Trouble::Usage(format!("{name} {trouble}")),
        corpus::Trouble::Vocabulary(wrong) => Trouble::Environment(wrong.to_string()),
    })
}

/// A line for each case that failed and for a wrong pin, then the summary.
fn told(verified: &Verified) -> String {
    let Verified { id, cases, failures, stated_pin, pin } = verified;
    let mut text = String::new();
    for Failure { id, expected, answered } in failures {
        let (expected, answered) = (shown(expected), shown(answered));
        // Writing to a string never fails.
        let _ = writeln!(text, "failed: {id}: expected {expected}, answered {answered}");
    }
    let hold = match failures.len() {
        0 => format!("all {cases} cases hold"),
        failed => format!("{failed} of {cases} cases failed"),
    };
    if !verified.is_pinned() {
        let _ =
            writeln!(text, "failed: the pin of {id}: it says {}, and is {pin}", stated_pin.escape_debug());
    }
    let holds = if verified.is_pinned() { "holds" } else { "does not hold" };
    let _ = writeln!(text, "{id}: {hold}; the pin {pin} {holds}");
    text
}

/// JSON for people, cut where it gets long.
fn shown(json: &[u8]) -> String {
    let text = String::from_utf8_lossy(json);
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.into_owned(),
    }
}
