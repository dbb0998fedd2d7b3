//! `tool-argument/v1`: a tool call's arguments against the tool's JSON Schema.
//!
//! [`check`] grades one blob against one compiled [`Schema`] and repairs it by the closed whitelist of nine
//! mechanical [`Rule`]s; [`check_request`] does the same for a published body that brings its schema along.
//! The engine is pure: it knows no clock and stops when its [`Budget`](crate::budget::Budget) is spent.

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
pub use request::check_request;
pub use schema::{Schema, SchemaRefusal};

use std::sync::Arc;

use crate::budget::{Budget, Exhausted};
use crate::json::{Document, Kind, Text, Value};
use held::{Documents, Held, SUBMISSION};
use walk::Walk;

/// How deep arguments and schemas may nest; `[]` is 1 (decision A4).
pub const MAX_DEPTH: u32 = 128;

/// How long a published body may be, in bytes (decision B17).
pub const MAX_BODY_BYTES: usize = 262_144;

/// What is checked.
#[derive(Debug, Clone, Copy)]
pub enum Submission<'a> {
    /// The arguments, parsed.
    Arguments(Value<'a>),
    /// The raw text of the arguments. Only this form is open to R1 and R2.
    Text(Text<'a>),
}

/// Why there is no verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// The submission cannot be assessed.
    #[error("{}", .0.code())]
    Refused(Refusal),
    /// The budget is spent.
    #[error(transparent)]
    Exhausted(#[from] Exhausted),
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
    let (held, node, text_repair, by_text) = match submission {
        Submission::Arguments(value) => (Held::Borrowed(value.document()), value.node(), None, false),
        Submission::Text(text) => {
            let text = text.decode();
            budget.spend(text.len() as u64 / 16 + 1)?;
            let (document, repair) = match Document::parse_decoded(text.to_vec()) {
                Ok(document) => (document, None),
                Err(_) => match text::repair(&text) {
                    Some(text::RepairedText { document, appended, commas }) => {
                        (document, Some(report::TextRepair { appended, commas }))
                    }
                    None => return Ok(Check::invalid_text(schema)),
                },
            };
            (Held::Shared(Arc::new(document)), 0, repair, true)
        }
    };
    let root = held.value_at(node);
    let may_unwrap = by_text && root.kind() == Kind::String && !schema.root_types().admit(root);
    if root.kind() != Kind::Object && !may_unwrap {
        return Err(Stop::Refused(Refusal::ArgumentsNotObject));
    }
    if root.depth() > MAX_DEPTH {
        return Err(Stop::Refused(Refusal::ArgumentsTooDeep));
    }
    let mut walk = Walk::new(schema, Documents::new(schema.source.clone(), held.clone()), budget);
    if by_text {
        walk.repeated_names = held.has_repeated_names();
        walk.lone_surrogates = held.has_lone_surrogates();
    }
    walk.root(root, SUBMISSION)?;
    if may_unwrap && walk.repairs.first().is_none_or(|repair| repair.rule != Rule::R5) {
        return Err(Stop::Refused(Refusal::ArgumentsNotObject));
    }
    Ok(Check::new(walk, node, text_repair))
}
