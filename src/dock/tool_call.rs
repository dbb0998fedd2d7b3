//! The candidate source `tool_call`: calls of the tools of a pinned catalogue, each against its tool's schema.

use std::collections::HashMap;
use std::sync::Arc;

use super::anchors::{Anchors, Set, Table};
use super::argument::{self as single, CONFORMANCE, DEFECTS};
use super::calls::{Arguments, calls};
use super::verdict::Score;
use crate::argument::{self, Check, Met, Refusal, Schema, SchemaRefusal, Stop, Submission};
use crate::budget::Budget;
use crate::fault::Fault;
use crate::json::{Document, Value, trim};
use crate::tools::{self, Form, Tool, ToolsError};

/// The names of the anchors: those of the argument check, with those of calls before the guards.
const NAMES: [&str; END] = {
    let mut names = [""; END];
    let mut index = 0;
    while index < END {
        #[allow(clippy::indexing_slicing, reason = "evaluated while compiling")]
        {
            names[index] = match index {
                TOOL_CALL_PRESENT => "tool_call_present",
                TOOL_DECLARED => "tool_declared",
                EVERY_CALL_READABLE => "every_call_readable",
                SINGLE_TOOL_CALL => "single_tool_call",
                GRADED_BY_CRITERIA => "graded_by_criteria",
                FIRST_GUARD.. => single::NAMES[index - (FIRST_GUARD - single::FIRST_GUARD)],
                _ => single::NAMES[index],
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
        .and(Set::range(TOOL_CALL_PRESENT, SINGLE_TOOL_CALL))
        .and(Set::range(FIRST_GUARD, END)),
    default_require: Set::one(single::VALID_AS_SUBMITTED),
};

const TOOL_CALL_PRESENT: usize = single::FIRST_GUARD;
const TOOL_DECLARED: usize = TOOL_CALL_PRESENT + 1;
const EVERY_CALL_READABLE: usize = TOOL_DECLARED + 1;
const SINGLE_TOOL_CALL: usize = EVERY_CALL_READABLE + 1;
const GRADED_BY_CRITERIA: usize = SINGLE_TOOL_CALL + 1;
const FIRST_GUARD: usize = GRADED_BY_CRITERIA + 1;
const END: usize = FIRST_GUARD + 2;

/// The tools of a catalogue, by their names.
#[derive(Debug)]
pub struct Toolbox {
    document: Arc<Document>,
    /// In the order of the catalogue.
    tools: Vec<(Box<[u8]>, Grader)>,
    by_name: HashMap<Box<[u8]>, usize>,
}

/// What grades the calls of one tool.
#[derive(Debug)]
pub enum Grader {
    /// `tool-argument/v1`.
    Criteria(Schema<'static>),
    /// Nothing can: a call of it is a technical failure, whose fault is not the candidate's (decision C12).
    Nothing(SchemaRefusal),
}

impl Grader {
    /// The grader of a tool in `document`. Without a schema, its arguments are any object.
    fn of(tool: &Tool<'_>, document: &Arc<Document>) -> Grader {
        let schema = match tool.schema {
            Some(schema) => Schema::owned_at(Arc::clone(document), schema),
            // Arguments are an object whatever the schema says.
            None => Schema::owned(Document::empty_object()),
        };
        schema.map_or_else(Grader::Nothing, Grader::Criteria)
    }
}

impl Toolbox {
    /// Reads a catalogue and compiles its schemas. One that cannot be used sinks its tool, not the catalogue.
    ///
    /// # Errors
    /// [`ToolsError`] if the text is no catalogue, or names a tool twice.
    pub fn read(document: Arc<Document>, form: Option<Form>) -> Result<Toolbox, ToolsError> {
        let form = form.unwrap_or_else(|| Form::detect(document.root()));
        let tools: Vec<(Box<[u8]>, Grader)> = tools::read(document.root(), form)?
            .iter()
            .map(|tool| (tool.name.decode().into(), Grader::of(tool, &document)))
            .collect();
        let by_name = tools.iter().enumerate().map(|(index, (name, _))| (name.clone(), index)).collect();
        Ok(Toolbox { document, tools, by_name })
    }

    /// The names of the tools as WTF-8 with what grades them, in the order of the catalogue.
    pub fn tools(&self) -> impl Iterator<Item = (&[u8], &Grader)> {
        self.tools.iter().map(|(name, grader)| (&**name, grader))
    }

    /// Where in the catalogue a schema was refused, as a JSON Pointer.
    #[must_use]
    pub fn place_of(&self, refusal: &SchemaRefusal) -> String {
        refusal.schema_path(self.document.root())
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
            CallOutcome::NotDeclared | CallOutcome::Refused(_) => None,
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
    let none = Outcome { findings: Vec::new(), unreadable: false, met };
    let text = text.decode();
    let text = trim(&text);
    if !matches!(text.first(), Some(b'{' | b'[')) {
        return Ok(none);
    }
    budget.spend(text.len() as u64 / 16 + 1).map_err(|_| Fault::CheckTimeout)?;
    let Ok(document) = Document::parse_decoded(text.to_vec()) else { return Ok(none) };
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
        let result = match toolbox.grader(&tool) {
            None => CallOutcome::NotDeclared,
            Some(Grader::Nothing(_)) => return Err(Fault::ToolNotGradable),
            Some(Grader::Criteria(schema)) => {
                let result = match call.arguments {
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
                        outcome.met = outcome.met.and(check.met());
                        CallOutcome::Checked(check)
                    }
                    Err(Stop::Refused(refusal, more)) => {
                        outcome.met = outcome.met.and(more);
                        CallOutcome::Refused(refusal)
                    }
                    Err(Stop::Exhausted(_)) => return Err(Fault::CheckTimeout),
                }
            }
        };
        outcome.findings.push(CallFinding { tool: tool.into(), outcome: result });
    }
    Ok(outcome)
}

impl<'a> Outcome<'a> {
    /// The checks that were made.
    pub(super) fn checks(&self) -> impl Iterator<Item = &Check<'a>> {
        self.findings.iter().filter_map(CallFinding::check)
    }

    fn all_checked(&self) -> bool {
        !self.findings.is_empty() && self.checks().count() == self.findings.len()
    }

    /// Nodes of all calls; 0 where one of them was not checked, is no JSON, or there is none (decision C7).
    pub(super) fn score(&self) -> Score {
        let whole =
            self.all_checked() && !self.unreadable && self.checks().all(|check| check.nodes_visited() > 0);
        if !whole {
            return Score::ZERO;
        }
        Score {
            held: self.checks().map(Check::nodes_held).sum(),
            visited: self.checks().map(Check::nodes_visited).sum(),
        }
    }

    /// The anchors: of each rule, whether every call keeps it.
    pub(super) fn anchors(&self) -> Anchors {
        let declared = |finding: &CallFinding<'_>| !matches!(finding.outcome, CallOutcome::NotDeclared);
        let tools = Set::range(TOOL_CALL_PRESENT, GRADED_BY_CRITERIA);
        let mut held = ANCHORS
            .guards_held(self.met)
            .and(Set::one(TOOL_CALL_PRESENT).only_if(!self.findings.is_empty()))
            .and(Set::one(TOOL_DECLARED).only_if(self.findings.iter().all(declared)))
            .and(Set::one(EVERY_CALL_READABLE).only_if(!self.unreadable))
            .and(Set::one(SINGLE_TOOL_CALL).only_if(self.findings.len() == 1 && !self.unreadable));
        let refusals = self.findings.iter().filter_map(|finding| match finding.outcome {
            CallOutcome::Refused(refusal) => {
                Some(format!("\"{}\"", single::refusal_anchor(refusal)).into_bytes())
            }
            _ => None,
        });
        let mut more: Vec<Vec<u8>> = refusals.collect();
        more.sort();
        more.dedup();
        let listed = if !more.is_empty() {
            Set::one(single::ASSESSABLE).and(tools)
        } else if self.all_checked() {
            let failed = self.checks().map(single::failed_by).fold(Set::NONE, Set::and);
            held = held.and(CONFORMANCE.and(DEFECTS).and(single::REPAIRS).without(failed));
            held = held.and(Set::one(GRADED_BY_CRITERIA));
            Set::range(0, FIRST_GUARD)
        } else {
            CONFORMANCE.and(tools)
        };
        Anchors { table: &ANCHORS, listed: listed.and(ANCHORS.guards()), held, more }
    }
}

#[cfg(test)]
mod tests {
    use super::super::anchors::GUARDS;
    use super::*;

    #[test]
    fn the_names_are_those_of_the_argument_check_with_the_calls_own_before_the_guards() {
        assert_eq!(ANCHORS.names.len(), END);
        assert_eq!(ANCHORS.names.get(..TOOL_CALL_PRESENT), single::ANCHORS.names.get(..single::FIRST_GUARD));
        assert_eq!(ANCHORS.names.get(FIRST_GUARD..), Some(&GUARDS[..]));
    }
}
