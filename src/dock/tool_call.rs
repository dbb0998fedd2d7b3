//! The candidate source `tool_call`: calls of the tools of a pinned catalogue, each against its tool's schema.

use std::collections::HashMap;
use std::sync::Arc;

use super::anchors::{Anchors, Set, Table};
use super::argument::{self as single, CONFORMANCE, DEFECTS};
use super::calls::{Arguments, calls};
use super::candidate::{TextKind, read_text};
use super::json_schema as schema_check;
use super::verdict::Score;
use crate::argument::{self, Check, Met, Refusal, Schema, Stop, Submission};
use crate::budget::{Budget, Exhausted};
use crate::fault::Fault;
use crate::json::{Document, Value};
use crate::json_schema::{self, KeywordSet};
use crate::tools::{self, Form, Tool, ToolsError};

/// The anchors of calls as such; all but the last are in every base.
pub(super) const OF_CALLS: [&str; 4] =
    ["tool_call_present", "tool_declared", "every_call_readable", "single_tool_call"];

/// The names of the anchors: those of the argument check, with those of calls before the guards.
const NAMES: [&str; END] = {
    let mut names = [""; END];
    let mut index = 0;
    while index < END {
        #[allow(clippy::indexing_slicing, reason = "evaluated while compiling")]
        {
            names[index] = if index < FIRST_OF_CALLS {
                single::NAMES[index]
            } else if index < GRADED_BY_CRITERIA {
                OF_CALLS[index - FIRST_OF_CALLS]
            } else if index == GRADED_BY_CRITERIA {
                "graded_by_criteria"
            } else {
                single::NAMES[index - (FIRST_GUARD - single::FIRST_GUARD)]
            };
        }
        index += 1;
    }
    names
};

/// The anchors of calls: those of the argument check, each held by every call, and what holds for the calls as such
/// (decision C4).
pub static ANCHORS: Table = Table {
    names: &NAMES,
    base: Set::one(single::CONFORMS_AFTER_REPAIR)
        .and(Set::range(FIRST_OF_CALLS, GRADED_BY_CRITERIA - 1))
        .and(Set::range(FIRST_GUARD, END)),
    default_require: Set::one(single::VALID_AS_SUBMITTED),
};

const FIRST_OF_CALLS: usize = single::FIRST_GUARD;
const GRADED_BY_CRITERIA: usize = FIRST_OF_CALLS + OF_CALLS.len();
const FIRST_GUARD: usize = GRADED_BY_CRITERIA + 1;
const END: usize = FIRST_GUARD + 2;

/// The tools of a catalogue, by their names.
#[derive(Debug)]
pub struct Toolbox {
    /// In the order of the catalogue.
    tools: Vec<(Box<[u8]>, Grader)>,
    by_name: HashMap<Box<[u8]>, usize>,
    /// The keywords of all schemas that JSON Schema grades.
    pub(super) keywords: KeywordSet,
}

/// What may grade the calls of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engines {
    /// The argument criteria alone.
    Criteria,
    /// The argument criteria, and JSON Schema where they refuse the tool's schema.
    CriteriaOrJsonSchema,
    /// JSON Schema alone.
    JsonSchema,
}

/// What grades the calls of one tool.
#[derive(Debug)]
pub enum Grader {
    /// `tool-argument/v1`.
    Criteria(Schema<'static>),
    /// JSON Schema in full, validate only.
    JsonSchema(Box<json_schema::Schema>),
    /// Nothing can, and why: a call of it is a technical failure, whose fault is not the candidate's (decision C12).
    Nothing(String),
}

impl Grader {
    /// The grader of a tool in `document`. Without a schema, its arguments are any object.
    fn of(tool: &Tool<'_>, document: &Arc<Document>, engines: Engines) -> Grader {
        let mut refused = String::new();
        if engines != Engines::JsonSchema {
            let schema = match tool.schema {
                Some(schema) => Schema::owned_at(Arc::clone(document), schema),
                // Arguments are an object whatever the schema says.
                None => Schema::owned(Document::empty_object()),
            };
            match schema {
                Ok(schema) => return Grader::Criteria(schema),
                Err(refusal) => refused = refusal.told(document.root()),
            }
            if engines == Engines::Criteria {
                return Grader::Nothing(refused);
            }
        }
        let none = Document::empty_object();
        match json_schema::Schema::compile(tool.schema.unwrap_or(none.root())) {
            Ok(schema) => Grader::JsonSchema(schema.into()),
            Err(unusable) if refused.is_empty() => Grader::Nothing(unusable.to_string()),
            Err(unusable) => Grader::Nothing(format!("{refused}; for JSON Schema {unusable}")),
        }
    }
}

impl Toolbox {
    /// Reads a catalogue and compiles its schemas. One that cannot be used sinks its tool, not the catalogue.
    ///
    /// # Errors
    /// [`ToolsError`] if the text is no catalogue, or names a tool twice.
    pub fn read(
        document: &Arc<Document>,
        form: Option<Form>,
        engines: Engines,
    ) -> Result<Toolbox, ToolsError> {
        let form = form.unwrap_or_else(|| Form::detect(document.root()));
        let tools: Vec<(Box<[u8]>, Grader)> = tools::read(document.root(), form)?
            .iter()
            .map(|tool| (tool.name.decode().into(), Grader::of(tool, document, engines)))
            .collect();
        let by_name = tools.iter().enumerate().map(|(index, (name, _))| (name.clone(), index)).collect();
        let keywords = tools.iter().fold(KeywordSet::EMPTY, |all, (_, grader)| match grader {
            Grader::JsonSchema(schema) => all.and(schema.keywords()),
            Grader::Criteria(_) | Grader::Nothing(_) => all,
        });
        Ok(Toolbox { tools, by_name, keywords })
    }

    /// The names of the tools as WTF-8 with what grades them, in the order of the catalogue.
    pub fn tools(&self) -> impl Iterator<Item = (&[u8], &Grader)> {
        self.tools.iter().map(|(name, grader)| (&**name, grader))
    }

    fn grader(&self, name: &[u8]) -> Option<&Grader> {
        self.by_name.get(name).and_then(|index| self.tools.get(*index)).map(|(_, grader)| grader)
    }
}

/// What became of one call.
#[derive(Debug)]
pub struct CallFinding<'a> {
    /// The tool that it names, as WTF-8.
    pub tool: Box<[u8]>,
    /// What the check found.
    pub outcome: CallOutcome<'a>,
}

impl<'a> CallFinding<'a> {
    /// The check, if one was made.
    #[must_use]
    pub fn check(&self) -> Option<&Check<'a>> {
        match &self.outcome {
            CallOutcome::Checked(check) => Some(check),
            _ => None,
        }
    }
}

/// The outcome of one call.
#[derive(Debug)]
pub enum CallOutcome<'a> {
    /// No tool of the catalogue has this name.
    NotDeclared,
    /// The arguments cannot be assessed.
    Refused(Refusal),
    /// The arguments were checked.
    Checked(Check<'a>),
    /// The arguments were validated by JSON Schema.
    Validated(json_schema::Outcome),
    /// JSON Schema cannot validate the arguments.
    NotValidated(schema_check::Refusal),
}

/// What the calls of a candidate came to.
pub(super) struct Outcome<'a> {
    pub(super) findings: Vec<CallFinding<'a>>,
    pub(super) unreadable: bool,
    pub(super) met: Met,
}

/// Checks every call of a candidate. Text that begins as JSON does is parsed, strictly and as a whole; any other
/// holds no call.
pub(super) fn check<'a>(
    toolbox: &'a Toolbox,
    candidate: Value<'a>,
    budget: &mut Budget<'_>,
) -> Result<Outcome<'a>, Fault> {
    let met = Met::of(candidate.document());
    let Some(text) = candidate.as_text() else {
        return check_calls(toolbox, candidate, Submission::Arguments, met, budget);
    };
    let TextKind::Json(document) = read_text(text, budget).map_err(|_| Fault::CheckTimeout)? else {
        return Ok(Outcome { findings: Vec::new(), unreadable: false, met });
    };
    let document = Arc::new(document);
    let met = met.and(Met::of(&document));
    check_calls(
        toolbox,
        document.root(),
        |value| Submission::Shared(Arc::clone(&document), value.node()),
        met,
        budget,
    )
}

fn check_calls<'a, 'd>(
    toolbox: &'a Toolbox,
    candidate: Value<'d>,
    submit: impl Fn(Value<'d>) -> Submission<'a>,
    met: Met,
    budget: &mut Budget<'_>,
) -> Result<Outcome<'a>, Fault> {
    budget.spend(candidate.count_nodes() / 4).map_err(|_| Fault::CheckTimeout)?;
    let found = calls(candidate);
    let mut outcome = Outcome { findings: Vec::new(), unreadable: found.unreadable, met };
    for call in found.calls {
        let tool = call.name.decode();
        let graded = match toolbox.grader(&tool) {
            None => CallOutcome::NotDeclared,
            Some(Grader::Nothing(_)) => return Err(Fault::ToolNotGradable),
            Some(Grader::Criteria(schema)) => outcome.check(schema, call.arguments, &submit, budget)?,
            Some(Grader::JsonSchema(schema)) => {
                outcome.validate(schema, call.arguments, budget).map_err(|_| Fault::CheckTimeout)?
            }
        };
        outcome.findings.push(CallFinding { tool: tool.into(), outcome: graded });
    }
    Ok(outcome)
}

impl<'a> Outcome<'a> {
    fn check<'d>(
        &mut self,
        schema: &'a Schema<'static>,
        arguments: Arguments<'d>,
        submit: &impl Fn(Value<'d>) -> Submission<'a>,
        budget: &mut Budget<'_>,
    ) -> Result<CallOutcome<'a>, Fault> {
        let result = match arguments {
            Arguments::Absent => {
                argument::check(schema, Submission::Shared(Document::empty_object(), 0), budget)
            }
            Arguments::Value(value) => match value.as_text() {
                Some(text) => argument::check_text(schema, text, budget),
                None => argument::check(schema, submit(value), budget),
            },
        };
        match result {
            Ok(check) => {
                self.met = self.met.and(check.met());
                Ok(CallOutcome::Checked(check))
            }
            Err(Stop::Refused(refusal, more)) => {
                self.met = self.met.and(more);
                Ok(CallOutcome::Refused(refusal))
            }
            Err(Stop::Exhausted(_)) => Err(Fault::CheckTimeout),
        }
    }

    fn validate(
        &mut self,
        schema: &json_schema::Schema,
        arguments: Arguments<'_>,
        budget: &mut Budget<'_>,
    ) -> Result<CallOutcome<'a>, Exhausted> {
        let none = Document::empty_object();
        let (result, met) = match arguments {
            Arguments::Absent => (schema_check::check_value(schema, none.root(), budget)?, Met::default()),
            Arguments::Value(value) => match value.as_text() {
                Some(text) => schema_check::check_text(schema, text, budget)?,
                None => (schema_check::check_value(schema, value, budget)?, Met::default()),
            },
        };
        self.met = self.met.and(met);
        Ok(result.map_or_else(CallOutcome::NotValidated, CallOutcome::Validated))
    }

    /// The checks that were made.
    pub(super) fn checks(&self) -> impl Iterator<Item = &Check<'a>> {
        self.findings.iter().filter_map(CallFinding::check)
    }

    /// There are calls, and each of them was graded.
    pub(super) fn all_graded(&self) -> bool {
        let graded = |finding: &CallFinding<'_>| {
            matches!(finding.outcome, CallOutcome::Checked(_) | CallOutcome::Validated(_))
        };
        !self.findings.is_empty() && self.findings.iter().all(graded)
    }

    /// Nodes of all calls; 0 where one of them was not graded, is no JSON, or there is none (decision C7).
    pub(super) fn score(&self) -> Score {
        let scores = self.findings.iter().map(|finding| match &finding.outcome {
            CallOutcome::Checked(check) => Score { held: check.nodes_held(), visited: check.nodes_visited() },
            CallOutcome::Validated(outcome) => schema_check::score(outcome),
            _ => Score { held: 0, visited: 0 },
        });
        let mut sum = Score { held: 0, visited: 0 };
        for score in scores {
            if score.visited == 0 || self.unreadable {
                return Score::ZERO;
            }
            sum = Score { held: sum.held + score.held, visited: sum.visited + score.visited };
        }
        sum
    }

    /// The anchors of calls as such that hold, the first of them at `first` in its table.
    pub(super) fn held_of_calls(&self, first: usize) -> Set {
        let declared = |finding: &CallFinding<'_>| !matches!(finding.outcome, CallOutcome::NotDeclared);
        let held = [
            !self.findings.is_empty(),
            self.findings.iter().all(declared),
            !self.unreadable,
            self.findings.len() == 1 && !self.unreadable,
        ];
        let held = held.into_iter().enumerate();
        held.fold(Set::NONE, |all, (index, held)| all.and(Set::one(first + index).only_if(held)))
    }

    /// The anchors of refusals, as JSON strings.
    pub(super) fn refusals(&self) -> Vec<Vec<u8>> {
        let refusals = self.findings.iter().filter_map(|finding| match &finding.outcome {
            CallOutcome::Refused(refusal) => {
                Some(format!("\"{}\"", single::refusal_anchor(*refusal)).into_bytes())
            }
            CallOutcome::NotValidated(refusal) => Some(refusal.anchor()),
            _ => None,
        });
        let mut refusals: Vec<Vec<u8>> = refusals.collect();
        refusals.sort();
        refusals.dedup();
        refusals
    }

    /// The anchors: of each rule, whether every call keeps it.
    pub(super) fn anchors(&self) -> Anchors {
        let tools = Set::range(FIRST_OF_CALLS, GRADED_BY_CRITERIA);
        let mut held = ANCHORS.guards_held(self.met).and(self.held_of_calls(FIRST_OF_CALLS));
        let more = self.refusals();
        let listed = if !more.is_empty() {
            Set::one(single::ASSESSABLE).and(tools)
        } else if self.all_graded() {
            let by_criteria = self.checks().count() == self.findings.len();
            let failed = self.findings.iter().map(failed_by).fold(Set::NONE, Set::and);
            held = held.and(CONFORMANCE.and(DEFECTS).and(single::REPAIRS).without(failed));
            held = held.and(Set::one(GRADED_BY_CRITERIA).only_if(by_criteria));
            // JSON Schema knows no defect code.
            let silent = if by_criteria { Set::NONE } else { DEFECTS };
            Set::range(0, FIRST_GUARD).without(silent)
        } else {
            CONFORMANCE.and(tools)
        };
        Anchors { table: &ANCHORS, listed: listed.and(ANCHORS.guards()), held, more }
    }
}

/// The rules that one call breaks. Of JSON Schema only that it does.
fn failed_by(finding: &CallFinding<'_>) -> Set {
    match &finding.outcome {
        CallOutcome::Checked(check) => single::failed_by(check),
        CallOutcome::Validated(outcome) if !outcome.failed.is_empty() => {
            CONFORMANCE.without(Set::one(single::ASSESSABLE))
        }
        _ => Set::NONE,
    }
}

#[cfg(test)]
mod tests {
    use super::super::anchors::GUARDS;
    use super::*;

    #[test]
    fn the_names_are_those_of_the_argument_check_with_the_calls_own_before_the_guards() {
        assert_eq!(ANCHORS.names.len(), END);
        assert_eq!(ANCHORS.names.get(..FIRST_OF_CALLS), single::ANCHORS.names.get(..single::FIRST_GUARD));
        assert_eq!(ANCHORS.names.get(FIRST_OF_CALLS..GRADED_BY_CRITERIA), Some(&OF_CALLS[..]));
        assert_eq!(ANCHORS.names.get(FIRST_GUARD..), Some(&GUARDS[..]));
    }
}
