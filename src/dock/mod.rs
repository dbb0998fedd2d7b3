//! A dock: what one URL path checks, and the verdict that Millwork gets.
//!
//! [`Dock::judge`] is the one function behind the server's answer and the command line's: the probe first,
//! then the check, then the anchors. One verdict per candidate and configuration: no clock, no state.

pub mod anchors;
pub mod argument;
mod calls;
mod candidate;
pub mod json_schema;
pub mod probe;
pub mod profile;
pub mod tool_call;
mod verdict;

pub use anchors::{AnchorMode, UnknownAnchor};
pub use argument::Source;
pub use candidate::candidate;
pub use json_schema::SchemaSource;
pub use tool_call::{Engines, Toolbox};
pub use verdict::{Evaluation, Finding, PROBE_ANSWER, Score, Verdict};

use crate::argument::{Met, Stop};
use crate::budget::Budget;
use crate::fault::Fault;
use crate::json::Value;
use crate::json_schema::Schema;
use crate::profile::tokens::Tokenizer;
use anchors::{Anchors, Set, Table};

/// What a dock checks, and where it finds it in the candidate.
#[derive(Debug)]
pub enum Check {
    /// `tool-argument/v1`.
    Argument(Source),
    /// `json-schema`.
    JsonSchema(SchemaSource),
    /// `token-efficiency/v1`.
    Profile(&'static Tokenizer),
}

impl Check {
    /// The pinned catalogue of tools, if there is one.
    #[must_use]
    pub fn toolbox(&self) -> Option<&Toolbox> {
        match self {
            Check::Argument(Source::ToolCall(toolbox))
            | Check::JsonSchema(SchemaSource::ToolCall(toolbox)) => Some(toolbox),
            _ => None,
        }
    }

    /// The anchors of this check.
    #[must_use]
    pub fn anchors(&self) -> &'static Table {
        match self {
            Check::Argument(Source::ToolCall(_)) => &tool_call::ANCHORS,
            Check::Argument(_) => &argument::ANCHORS,
            Check::JsonSchema(SchemaSource::Instance(_)) => &json_schema::ANCHORS,
            Check::JsonSchema(SchemaSource::ToolCall(_)) => &json_schema::CALL_ANCHORS,
            Check::Profile(_) => &profile::ANCHORS,
        }
    }
}

/// A dock.
#[derive(Debug)]
pub struct Dock {
    check: Check,
    mode: AnchorMode,
    required: Set,
}

impl Dock {
    /// A dock whose verdict is correct if every anchor named in `require` holds, next to the base anchors
    /// (decision C5). Without `require`, the check's own default holds.
    ///
    /// # Errors
    /// [`UnknownAnchor`], which lists the names there are.
    pub fn new(check: Check, mode: AnchorMode, require: Option<&[String]>) -> Result<Dock, UnknownAnchor> {
        let table = check.anchors();
        let required = match require {
            Some(names) => table.named(names)?,
            None => table.default_require,
        };
        Ok(Dock { check, mode, required: required.and(table.base) })
    }

    /// What the dock checks.
    #[must_use]
    pub fn check(&self) -> &Check {
        &self.check
    }

    /// The names of every anchor that must hold, in their order.
    pub fn required(&self) -> impl Iterator<Item = &'static str> {
        self.check.anchors().names_of(self.required)
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
            return Ok(Evaluation { verdict: Verdict::Probe, finding: Finding::Probe });
        }
        match &self.check {
            Check::Argument(Source::ToolCall(toolbox)) => self.evaluate_calls(toolbox, candidate, budget),
            Check::Argument(Source::Arguments(schema)) => {
                self.evaluate_arguments(argument::check(schema, candidate, budget), candidate)
            }
            Check::Argument(Source::CheckRequest) => {
                self.evaluate_arguments(argument::check_request(candidate, budget), candidate)
            }
            Check::JsonSchema(SchemaSource::Instance(schema)) => {
                self.evaluate_instance(schema, candidate, budget)
            }
            Check::JsonSchema(SchemaSource::ToolCall(toolbox)) => {
                let outcome = tool_call::check(toolbox, candidate, budget)?;
                let anchors = json_schema::anchors_of_calls(toolbox, &outcome);
                let score = outcome.score();
                Ok(self.evaluation(Finding::Calls(outcome.findings), score, anchors))
            }
            Check::Profile(tokenizer) => self.evaluate_catalogue(tokenizer, candidate, budget),
        }
    }

    fn evaluate_arguments<'a>(
        &'a self,
        result: Result<crate::argument::Check<'a>, Stop>,
        candidate: Value<'a>,
    ) -> Result<Evaluation<'a>, Fault> {
        let met = Met::of(candidate.document());
        match result {
            Ok(check) => {
                let mut anchors = argument::anchors_of_check(&check, met.and(check.met()));
                if self.mode == AnchorMode::PerDefect {
                    anchors.more = argument::defect_anchors(std::iter::once(&check));
                }
                let score = Score { held: check.nodes_held(), visited: check.nodes_visited() };
                Ok(self.evaluation(Finding::Arguments(check), score, anchors))
            }
            Err(Stop::Refused(refusal, more)) => {
                let anchors = argument::anchors_of_refusal(refusal, met.and(more));
                Ok(self.evaluation(Finding::ArgumentsRefused(refusal), Score::ZERO, anchors))
            }
            Err(Stop::Exhausted(_)) => Err(Fault::CheckTimeout),
        }
    }

    fn evaluate_calls<'a>(
        &'a self,
        toolbox: &'a Toolbox,
        candidate: Value<'a>,
        budget: &mut Budget<'_>,
    ) -> Result<Evaluation<'a>, Fault> {
        let outcome = tool_call::check(toolbox, candidate, budget)?;
        let mut anchors = outcome.anchors();
        if self.mode == AnchorMode::PerDefect {
            anchors.more.extend(argument::defect_anchors(outcome.checks()));
        }
        let score = outcome.score();
        Ok(self.evaluation(Finding::Calls(outcome.findings), score, anchors))
    }

    fn evaluate_instance<'a>(
        &'a self,
        schema: &Schema,
        candidate: Value<'a>,
        budget: &mut Budget<'_>,
    ) -> Result<Evaluation<'a>, Fault> {
        let checked = json_schema::check(schema, candidate, budget).map_err(|_| Fault::CheckTimeout)?;
        let anchors = json_schema::anchors(schema, &checked);
        Ok(match checked.0 {
            Ok(outcome) => self.evaluation(Finding::Instance(outcome), json_schema::score(&outcome), anchors),
            Err(refusal) => self.evaluation(Finding::InstanceRefused(refusal), Score::ZERO, anchors),
        })
    }

    fn evaluate_catalogue<'a>(
        &'a self,
        tokenizer: &Tokenizer,
        candidate: Value<'a>,
        budget: &mut Budget<'_>,
    ) -> Result<Evaluation<'a>, Fault> {
        let profile::Outcome { profile, anchors } =
            profile::check(tokenizer, candidate, budget).map_err(|_| Fault::CheckTimeout)?;
        Ok(match profile {
            Ok(profile) => self.evaluation(Finding::Profile(profile), Score::ONE, anchors),
            Err(refusal) => self.evaluation(Finding::CatalogueRefused(refusal), Score::ZERO, anchors),
        })
    }

    fn evaluation<'a>(&self, finding: Finding<'a>, score: Score, anchors: Anchors) -> Evaluation<'a> {
        let is_correct = anchors.have_all(self.required);
        Evaluation { verdict: Verdict::Judged { is_correct, score, anchors }, finding }
    }
}
