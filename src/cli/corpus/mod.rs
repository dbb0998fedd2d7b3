//! `corpus verify`: the pinned corpora of the criteria against the engines.
//!
//! The expectations come from elsewhere (`conformance/corpus/README.md`); this only asks whether the engines give
//! them, and whether a corpus is the one that its pin names.

mod case;
mod engine;
mod frame;
mod pin;

use clap::{Args, Subcommand};
use millwork_dock::json::{Document, Kind, Value};
use std::fmt::Write as _;

use super::check::worse;
use super::input::{Input, Trouble};
use super::{Exit, put, tell};
use case::Case;
use engine::Engine;

/// The corpora that are built in, and what they are called where something is wrong with them.
const BUILT_IN: [(&str, &str); 2] = [
    (
        "conformance/corpus/argument-check.v1.json",
        include_str!("../../../conformance/corpus/argument-check.v1.json"),
    ),
    (
        "conformance/corpus/split-profile.v1.json",
        include_str!("../../../conformance/corpus/split-profile.v1.json"),
    ),
];

/// How deep a corpus may nest: its own levels around those of a request.
const MAX_DEPTH: u32 = 256;
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
            Ok(Verified { text, holds }) => worse(put(text), if holds { Exit::Fine } else { Exit::Negative }),
            Err(trouble) => {
                tell(format_args!("error: {trouble}"));
                trouble.exit()
            }
        };
        worse(exit, own)
    })
}

/// What is known of one corpus in the end.
struct Verified {
    /// A line for each case that failed and for a wrong pin, then the summary.
    text: String,
    holds: bool,
}

fn verify(name: &str, document: &Document) -> Result<Verified, Trouble> {
    let no_corpus = |what: &str| Trouble::Usage(format!("{name} is no corpus: {what}"));
    let corpus = document.root();
    if document.depth() > MAX_DEPTH {
        return Err(no_corpus(&format!("it nests deeper than {MAX_DEPTH} levels")));
    }
    let member = |member: &str| {
        text_of(corpus, member).ok_or_else(|| no_corpus(&format!("it has no text `{member}`")))
    };
    let engine = Engine::of(&member("criteria_id")?, &member("criteria_revision")?)
        .map_err(|wrong| Trouble::Environment(wrong.to_string()))?
        .ok_or_else(|| no_corpus("it is for criteria, or a revision of them, that are not these"))?;
    let (id, stated) = (member("corpus_id")?, member("sha256")?);
    let pin = pin::pin(corpus).map_err(|what| no_corpus(&what))?;
    let cases = corpus.get(b"cases").filter(|cases| cases.kind() == Kind::Array && !cases.is_empty());
    let cases = cases.ok_or_else(|| no_corpus("it has no `cases`"))?;

    let mut text = String::new();
    let mut failed = 0;
    for (index, case) in cases.items().enumerate() {
        let case = Case::read(case).map_err(|what| no_corpus(&format!("its case {index} {what}")))?;
        let expected = engine
            .expected(&case)
            .map_err(|what| no_corpus(&format!("the expectation of {} {what}", case.id)))?;
        let answered = engine.answer(&case);
        if answered != expected {
            failed += 1;
            let _ = writeln!(
                text,
                "failed: {}: expected {}, answered {}",
                case.id,
                shown(&expected),
                shown(&answered)
            );
        }
    }
    let count = cases.len();
    let hold = if failed == 0 {
        format!("all {count} cases hold")
    } else {
        format!("{failed} of {count} cases failed")
    };
    let is_pinned = pin == stated;
    if !is_pinned {
        let _ = writeln!(text, "failed: the pin of {id}: it says {}, and is {pin}", stated.escape_debug());
    }
    let _ =
        writeln!(text, "{id}: {hold}; the pin {pin} {}", if is_pinned { "holds" } else { "does not hold" });
    Ok(Verified { text, holds: failed == 0 && is_pinned })
}

/// The text that `object` has under `name`, if it has one.
fn text_of(object: Value<'_>, name: &str) -> Option<String> {
    let text = object.get(name.as_bytes())?.as_text()?;
    String::from_utf8(text.decode().into_owned()).ok()
}

/// JSON for people, cut where it gets long.
fn shown(json: &[u8]) -> String {
    let text = String::from_utf8_lossy(json);
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.into_owned(),
    }
}
