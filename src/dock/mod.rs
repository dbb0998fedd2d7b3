//! A dock: what one URL path checks, and the verdict that Millwork gets.
//!
//! [`Dock::judge`] is the one function behind the server's answer and the command line's: the probe first,
//! then the check, then the anchors. One verdict per candidate and configuration: no clock, no state.

pub mod anchors;
mod candidate;
pub mod probe;
mod verdict;

pub use anchors::{AnchorMode, UnknownAnchor};
pub use candidate::candidate;
pub use verdict::{Evaluation, PROBE_ANSWER, Verdict};

use std::sync::Arc;

use crate::argument::{self, Check as ArgumentCheck, Met, Refusal, Schema, Stop, Submission};
use crate::budget::Budget;
use crate::fault::Fault;
use crate::json::{Document, Value};
use anchors::Held;

/// What a dock checks, and where it finds it in the candidate.
#[derive(Debug)]
pub enum Check {
    /// `tool-argument/v1`.
    Argument(Source),
}

/// Where the argument check finds the arguments and their schema (decision C3).
#[derive(Debug)]
pub enum Source {
    /// The candidate is the arguments, or their raw text; the schema is pinned.
    Arguments(Schema<'static>),
    /// The candidate is a published check body that brings its schema along.
    CheckRequest,
}

/// A dock.
#[derive(Debug)]
pub struct Dock {
    check: Check,
    mode: AnchorMode,
    required: anchors::Set,
}

impl Dock {
    /// A dock whose verdict is correct if every anchor named in `require` holds, next to the base anchors
    /// (decision C5). Without `require`: `valid_as_submitted`.
    ///
    /// # Errors
    /// [`UnknownAnchor`], which lists the names there are.
    pub fn new(check: Check, mode: AnchorMode, require: Option<&[String]>) -> Result<Dock, UnknownAnchor> {
        let required = match require {
            Some(names) => anchors::Set::named(names)?,
            None => anchors::DEFAULT_REQUIRE,
        };
        Ok(Dock { check, mode, required: required.and(anchors::BASE) })
    }

    /// What the dock checks.
    #[must_use]
    pub fn check(&self) -> &Check {
        &self.check
    }

    /// The names of every anchor that must hold, in their order.
    pub fn required(&self) -> impl Iterator<Item = &'static str> {
        self.required.names()
    }

    /// Judges a candidate.
    ///
    /// # Errors
    /// [`Fault::CheckTimeout`] once the budget is spent. A candidate that cannot be assessed is a verdict.
    pub fn judge(&self, candidate: Value<'_>, budget: &mut Budget<'_>) -> Result<Verdict, Fault> {
        Ok(self.evaluate(candidate, budget)?.verdict)
    }

    /// Judges a candidate, and keeps what led to the verdict.
    ///
    /// # Errors
    /// As for [`Dock::judge`].
    pub fn evaluate<'a>(
        &'a self,
        candidate: Value<'a>,
        budget: &mut Budget<'_>,
    ) -> Result<Evaluation<'a>, Fault> {
        if probe::has_marker(candidate.document(), budget).map_err(|_| Fault::CheckTimeout)? {
            return Ok(Evaluation { verdict: Verdict::Probe, check: None, refusal: None });
        }
        let Check::Argument(source) = &self.check;
        let result = match source {
            Source::Arguments(schema) => check_arguments(schema, candidate, budget),
            Source::CheckRequest => check_request(candidate, budget),
        };
        let met = Met::of(candidate.document());
        match result {
            Ok(check) => {
                let held = Held::of_check(&check, met.and(check.met()));
                let defects = match self.mode {
                    AnchorMode::Codes => Vec::new(),
                    AnchorMode::PerDefect => anchors::of_defects(&check),
                };
                let is_correct = held.has_all(self.required);
                let score = verdict::Score { held: check.nodes_held(), visited: check.nodes_visited() };
                let verdict = Verdict::Assessed { is_correct, score, held, defects };
                Ok(Evaluation { verdict, check: Some(check), refusal: None })
            }
            Err(Stop::Refused(refusal, more)) => {
                let verdict = Verdict::Refused { refusal, held: Held::of_refusal(met.and(more)) };
                Ok(Evaluation { verdict, check: None, refusal: Some(refusal) })
            }
            Err(Stop::Exhausted(_)) => Err(Fault::CheckTimeout),
        }
    }
}

/// A text candidate is the raw text of the arguments, anything else the arguments themselves.
fn check_arguments<'a>(
    schema: &'a Schema<'static>,
    candidate: Value<'a>,
    budget: &mut Budget<'_>,
) -> Result<ArgumentCheck<'a>, Stop> {
    let submission = match candidate.as_text() {
        Some(text) => Submission::Text(text),
        None => Submission::Arguments(candidate),
    };
    argument::check(schema, submission, budget)
}

/// A text candidate is parsed strictly as a whole; only the arguments text inside it may be repaired.
fn check_request<'a>(candidate: Value<'a>, budget: &mut Budget<'_>) -> Result<ArgumentCheck<'a>, Stop> {
    let Some(text) = candidate.as_text() else { return argument::check_request(candidate, budget) };
    let text = text.decode().into_owned();
    budget.spend(text.len() as u64 / 16 + 1)?;
    let over_cap = text.len() > argument::MAX_BODY_BYTES;
    match Document::parse_decoded(text) {
        Ok(document) => {
            let met = Met::of(&document);
            let check = argument::check_request_document(Arc::new(document), budget);
            match check {
                Ok(check) => Ok(check.having_met(met)),
                Err(Stop::Refused(refusal, more)) => Err(Stop::Refused(refusal, met.and(more))),
                Err(stop) => Err(stop),
            }
        }
        Err(_) if over_cap => Err(Stop::Refused(Refusal::BodyOverCap, Met::default())),
        Err(_) => Err(Stop::Refused(Refusal::InvalidRequestBody, Met::default())),
    }
}
