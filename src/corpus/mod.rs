//! The pinned corpora of the criteria against the engines.
//!
//! The expectations come from elsewhere (`conformance/corpus/README.md`); this only asks whether the engines give
//! them, and whether a corpus is the one that its pin names.

mod case;
mod engine;
mod frame;
mod pin;

use crate::contract;
use crate::json::{Document, Kind, Value};
use crate::profile::tokens::WrongVocabulary;
use case::Case;
use engine::Engine;

/// The corpora that are built in, and what they are called where something is wrong with them.
pub const BUILT_IN: [(&str, &str); 2] = [
    ("conformance/corpus/argument-check.v1.json", contract::ARGUMENT_CHECK_CORPUS),
    ("conformance/corpus/split-profile.v1.json", contract::SPLIT_PROFILE_CORPUS),
];

/// How deep a corpus may nest: its own levels around those of a request.
const MAX_DEPTH: u32 = 256;

/// What is known of one corpus in the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// Its name for itself.
    pub id: String,
    /// How many cases it has.
    pub cases: usize,
    /// Those that failed.
    pub failures: Vec<Failure>,
    /// The pin that it states.
    pub stated_pin: String,
    /// The pin that it has.
    pub pin: String,
}

/// A case that the engine answers otherwise than expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The case's name.
    pub id: String,
    /// What it expects, as JSON.
    pub expected: Vec<u8>,
    /// What the engine answers, as JSON, or in words why it answers nothing.
    pub answered: Vec<u8>,
}

/// Why nothing can be verified.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// What it lacks as a corpus.
    #[error("is no corpus: {0}")]
    NoCorpus(String),
    /// The tokenizer's vocabulary is not the right one.
    #[error(transparent)]
    Vocabulary(#[from] WrongVocabulary),
}

impl Verified {
    /// Every case and the pin hold.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.failures.is_empty() && self.is_pinned()
    }

    /// The corpus has the pin that it states.
    #[must_use]
    pub fn is_pinned(&self) -> bool {
        self.pin == self.stated_pin
    }
}

/// Runs every case of a corpus, and computes its pin.
///
/// # Errors
/// See [`Trouble`].
pub fn verify(document: &Document) -> Result<Verified, Trouble> {
    let no_corpus = |what: &str| Trouble::NoCorpus(what.to_owned());
    let corpus = document.root();
    if document.depth() > MAX_DEPTH {
        return Err(no_corpus(&format!("it nests deeper than {MAX_DEPTH} levels")));
    }
    let member = |member: &str| {
        text_of(corpus, member).ok_or_else(|| no_corpus(&format!("it has no text `{member}`")))
    };
    let engine = Engine::of(&member("criteria_id")?, &member("criteria_revision")?)?
        .ok_or_else(|| no_corpus("it is for criteria, or a revision of them, that are not these"))?;
    let (id, stated_pin) = (member("corpus_id")?, member("sha256")?);
    let pin = pin::pin(corpus).map_err(|what| no_corpus(&what))?;
    let cases = corpus.get(b"cases").filter(|cases| cases.kind() == Kind::Array && !cases.is_empty());
    let cases = cases.ok_or_else(|| no_corpus("it has no `cases`"))?;
    let mut failures = Vec::new();
    for (index, case) in cases.items().enumerate() {
        let case = Case::read(case).map_err(|what| no_corpus(&format!("its case {index} {what}")))?;
        let expected = engine
            .expected(&case)
            .map_err(|what| no_corpus(&format!("the expectation of {} {what}", case.id)))?;
        let answered = engine.answer(&case);
        if answered != expected {
            failures.push(Failure { id: case.id, expected, answered });
        }
    }
    Ok(Verified { id, cases: cases.len(), failures, stated_pin, pin })
}

/// The text that `object` has under `name`, if it has one.
fn text_of(object: Value<'_>, name: &str) -> Option<String> {
    let text = object.get(name.as_bytes())?.as_text()?;
    String::from_utf8(text.decode().into_owned()).ok()
}
