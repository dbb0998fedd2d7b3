//! `tool-argument/v1`: a tool call's arguments against the tool's JSON Schema.
//!
//! [`check`] grades one blob against one compiled [`Schema`] and repairs it by the closed whitelist of nine
//! mechanical [`Rule`]s; [`check_request`] does the same for a published body that brings its schema along.
//! The engine is pure: it knows no clock and stops when its [`Budget`] is spent.

mod code;
mod edits;
mod enumeration;
mod held;
mod keyword;
pub mod pattern;
mod place;
mod repair;
mod replay;
mod report;
mod request;
mod schema;
mod text;
mod walk;

pub use code::{CRITERIA_ID, CRITERIA_VERSION, DefectCode, Refusal, Rule, Verdict};
pub use keyword::{ENFORCED, NOT_COVERED, NOT_COVERED_UNLISTED};
pub use replay::{ReplayError, replay, replay_text};
pub use report::{Check, DefectView, ReportTooLarge};
pub use request::{check_request, check_request_document};
pub use schema::{Schema, SchemaRefusal};

use std::sync::Arc;

use crate::budget::{Budget, Exhausted};
use crate::json::{Document, Kind, Text, Value};
use held::{Documents, Held, SUBMISSION};
use schema::Types;
use walk::Walk;

/// How deep arguments and schemas may nest; `[]` is 1 (decision A4).
pub const MAX_DEPTH: u32 = 128;

/// How long a published body may be, in bytes (decision B17).
pub const MAX_BODY_BYTES: usize = 262_144;

/// What is checked.
#[derive(Debug, Clone)]
pub enum Submission<'a> {
    /// The arguments, parsed.
    Arguments(Value<'a>),
    /// The arguments at a node of a document that the result shall share.
    Shared(Arc<Document>, u32),
    /// The raw text of the arguments. Only this form is open to R1 and R2.
    Text(Text<'a>),
}

/// What the texts that were parsed on the way to a result held (decision C6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Met {
    /// An object with two members of one name.
    pub repeated_names: bool,
    /// Half of a surrogate pair.
    pub lone_surrogates: bool,
}

impl Met {
    /// What `document` holds.
    #[must_use]
    pub fn of(document: &Document) -> Met {
        Met { repeated_names: document.has_repeated_names(), lone_surrogates: document.has_lone_surrogates() }
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Met) -> Met {
        Met {
            repeated_names: self.repeated_names || other.repeated_names,
            lone_surrogates: self.lone_surrogates || other.lone_surrogates,
        }
    }
}

/// Why there is no verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// The submission cannot be assessed; what its texts held as far as they were parsed.
    #[error("{}", .0.code())]
    Refused(Refusal, Met),
    /// The budget is spent.
    #[error(transparent)]
    Exhausted(#[from] Exhausted),
}

/// The text after R1 and R2, if they make it parse; for whoever must see what the check could come to see.
pub(crate) fn repair_text(text: &[u8]) -> Option<Document> {
    text::repair(text).map(|repaired| repaired.document)
}

/// Checks a submission against a schema.
///
/// # Errors
/// [`Stop::Refused`] if the arguments are no object or nest too deep; [`Stop::Exhausted`].
pub fn check<'a>(
    schema: &Schema<'a>,
    submission: Submission<'a>,
    budget: &mut Budget<'_>,
) -> Result<Check<'a>, Stop> {
    match submission {
        Submission::Arguments(value) => {
            let document = Held::Borrowed(value.document());
            check_document(schema, &document, value.node(), Origin::Structured, budget)
        }
        Submission::Shared(document, node) => {
            check_document(schema, &Held::Shared(document), node, Origin::Structured, budget)
        }
        Submission::Text(text) => check_text(schema, text, budget),
    }
}

/// Checks raw text, of which the result keeps nothing.
pub(crate) fn check_text<'a>(
    schema: &Schema<'a>,
    text: Text<'_>,
    budget: &mut Budget<'_>,
) -> Result<Check<'a>, Stop> {
    let text = text.decode();
    budget.spend(text.len() as u64 / 16 + 1)?;
    let (document, repair) = match Document::parse_decoded(text.to_vec()) {
        Ok(document) => (document, None),
        Err(_) => match text::repair(&text) {
            Some(text::RepairedText { document, repair }) => (document, Some(repair)),
            None => return Ok(Check::invalid_text(schema)),
        },
    };
    check_document(schema, &Held::Shared(Arc::new(document)), 0, Origin::Text(repair), budget)
}

/// How the arguments came.
enum Origin {
    Structured,
    /// As raw text, and what R1 and R2 did to it.
    Text(Option<text::TextRepair>),
}

fn check_document<'a>(
    schema: &Schema<'a>,
    document: &Held<'a>,
    node: u32,
    origin: Origin,
    budget: &mut Budget<'_>,
) -> Result<Check<'a>, Stop> {
    let root = document.value_at(node);
    let (by_text, repair) = match origin {
        Origin::Structured => (false, None),
        Origin::Text(repair) => (true, repair),
    };
    let met = if by_text { Met::of(document) } else { Met::default() };
    // Raw text may be the text of the text: R5 at the root, to an object and nothing else (decision B13).
    let types = schema.root_types();
    let may_unwrap = by_text && root.kind() == Kind::String && types.has(Types::OBJECT) && !types.admit(root);
    if root.kind() != Kind::Object && !may_unwrap {
        return Err(Stop::Refused(Refusal::ArgumentsNotObject, met));
    }
    if root.depth() > MAX_DEPTH {
        return Err(Stop::Refused(Refusal::ArgumentsTooDeep, met));
    }
    let mut walk = Walk::new(schema, Documents::new(schema.source.clone(), document.clone()), budget);
    walk.met = met;
    walk.root(root, SUBMISSION)?;
    let first = walk.repairs.first().filter(|repair| repair.rule == Rule::R5);
    let unwrapped = first.and_then(|repair| repair.after).and_then(|after| walk.documents.value(after));
    if may_unwrap && unwrapped.is_none_or(|value| value.kind() != Kind::Object) {
        return Err(Stop::Refused(Refusal::ArgumentsNotObject, walk.met));
    }
    Ok(Check::new(walk, node, repair))
}
