//! The check `json-schema` in a dock: values of any type, and tool calls, against JSON Schema in full. Its anchors are
//! its own keywords'; it never speaks in the name of the argument criteria (decision C2).

use super::anchors::{Anchors, Set, Table};
use super::candidate::{TextKind, read_text};
use super::tool_call::{self, CallOutcome, Toolbox};
use super::verdict::Score;
use crate::argument::Met;
use crate::budget::{Budget, Exhausted};
use crate::json::{Document, Text, Value, trim};
use crate::json_schema::{KEYWORDS, KeywordSet, Outcome, Schema, Stop};

/// Where the check finds what it validates.
#[derive(Debug)]
pub enum SchemaSource {
    /// The candidate is the instance. Text that begins as JSON does is parsed, other text is a string.
    Instance(Box<Schema>),
    /// The candidate holds calls of tools whose catalogue is pinned.
    ToolCall(Toolbox),
}

/// Why an instance has no outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refusal {
    /// Text that begins as JSON does, or stands for arguments, is none.
    InvalidJsonText,
    /// A number would change in 64 bits.
    NumberNotExact,
    /// Nested too deep for the schema.
    InstanceTooDeep,
}

impl Refusal {
    /// All of them.
    pub const ALL: [Refusal; 3] =
        [Refusal::InvalidJsonText, Refusal::NumberNotExact, Refusal::InstanceTooDeep];

    /// The code.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Refusal::InvalidJsonText => "invalid_json_text",
            Refusal::NumberNotExact => "number_not_exact",
            Refusal::InstanceTooDeep => "instance_too_deep",
        }
    }

    /// The anchor, always false, as a JSON string.
    pub(super) fn anchor(self) -> Vec<u8> {
        format!("\"no_{}\"", self.code()).into_bytes()
    }
}

/// How the anchor of a keyword begins.
pub const KEYWORD_PREFIX: &str = "keyword_";

/// The names of the anchors of an instance: whether it is valid, one for each keyword, and the guards.
const NAMES: [&str; END] = [
    "valid",
    "keyword_type",
    "keyword_enum",
    "keyword_const",
    "keyword_multipleOf",
    "keyword_maximum",
    "keyword_exclusiveMaximum",
    "keyword_minimum",
    "keyword_exclusiveMinimum",
    "keyword_maxLength",
    "keyword_minLength",
    "keyword_pattern",
    "keyword_additionalItems",
    "keyword_maxItems",
    "keyword_minItems",
    "keyword_uniqueItems",
    "keyword_contains",
    "keyword_maxContains",
    "keyword_minContains",
    "keyword_unevaluatedItems",
    "keyword_maxProperties",
    "keyword_minProperties",
    "keyword_required",
    "keyword_dependentRequired",
    "keyword_dependencies",
    "keyword_additionalProperties",
    "keyword_propertyNames",
    "keyword_unevaluatedProperties",
    "keyword_anyOf",
    "keyword_oneOf",
    "keyword_not",
    "keyword_falseSchema",
    "no_duplicate_names",
    "no_lone_surrogates",
];

/// The names of the anchors of calls: the same, with those of calls before the guards.
const CALL_NAMES: [&str; CALL_END] = {
    let mut names = [""; CALL_END];
    let mut index = 0;
    while index < CALL_END {
        #[allow(clippy::indexing_slicing, reason = "evaluated while compiling")]
        {
            names[index] = if index < FIRST_GUARD {
                NAMES[index]
            } else if index < FIRST_GUARD + tool_call::OF_CALLS.len() {
                tool_call::OF_CALLS[index - FIRST_GUARD]
            } else {
                NAMES[index - tool_call::OF_CALLS.len()]
            };
        }
        index += 1;
    }
    names
};

const VALID: usize = 0;
const FIRST_KEYWORD: usize = 1;
const FIRST_GUARD: usize = FIRST_KEYWORD + KEYWORDS.len();
const END: usize = FIRST_GUARD + 2;
const CALL_END: usize = END + tool_call::OF_CALLS.len();

/// The anchors of an instance.
pub static ANCHORS: Table = Table {
    names: &NAMES,
    base: Set::one(VALID).and(Set::range(FIRST_GUARD, END)),
    default_require: Set::NONE,
};

/// The anchors of calls.
pub static CALL_ANCHORS: Table = Table {
    names: &CALL_NAMES,
    base: Set::one(VALID)
        // All but `single_tool_call`.
        .and(Set::range(FIRST_GUARD, FIRST_GUARD + tool_call::OF_CALLS.len() - 1))
        .and(Set::range(CALL_END - 2, CALL_END)),
    default_require: Set::NONE,
};

/// A keyword set as anchors.
fn keywords(set: KeywordSet) -> Set {
    set.iter().fold(Set::NONE, |all, index| all.and(Set::one(FIRST_KEYWORD + index)))
}

/// The outcome of one instance, and what its texts held.
pub(super) type Checked = (Result<Outcome, Refusal>, Met);

/// Validates the candidate itself.
pub(super) fn check(
    schema: &Schema,
    candidate: Value<'_>,
    budget: &mut Budget<'_>,
) -> Result<Checked, Exhausted> {
    let met = Met::of(candidate.document());
    let kind = candidate.as_text().map_or(Ok(TextKind::Plain), |text| read_text(text, budget))?;
    match kind {
        TextKind::Plain => Ok((check_value(schema, candidate, budget)?, met)),
        TextKind::Broken => Ok((Err(Refusal::InvalidJsonText), met)),
        TextKind::Json(document) => {
            Ok((check_value(schema, document.root(), budget)?, met.and(Met::of(&document))))
        }
    }
}

/// Validates what a text says, which must be JSON, strictly.
pub(super) fn check_text(
    schema: &Schema,
    text: Text<'_>,
    budget: &mut Budget<'_>,
) -> Result<Checked, Exhausted> {
    let text = text.decode();
    let text = trim(&text);
    budget.spend(text.len() as u64 / 16 + 1)?;
    let Ok(document) = Document::parse_decoded(text.to_vec()) else {
        return Ok((Err(Refusal::InvalidJsonText), Met::default()));
    };
    Ok((check_value(schema, document.root(), budget)?, Met::of(&document)))
}

/// Validates a value.
pub(super) fn check_value(
    schema: &Schema,
    value: Value<'_>,
    budget: &mut Budget<'_>,
) -> Result<Result<Outcome, Refusal>, Exhausted> {
    match schema.check(value, budget) {
        Ok(outcome) => Ok(Ok(outcome)),
        Err(Stop::NumberNotExact) => Ok(Err(Refusal::NumberNotExact)),
        Err(Stop::TooDeep) => Ok(Err(Refusal::InstanceTooDeep)),
        Err(Stop::Exhausted(exhausted)) => Err(exhausted),
    }
}

/// The score of an outcome.
pub(super) fn score(outcome: &Outcome) -> Score {
    Score { held: outcome.held, visited: outcome.visited }
}

/// The anchors of an instance: of each keyword that the schema has, whether nothing failed it.
pub(super) fn anchors(schema: &Schema, (result, met): &Checked) -> Anchors {
    let held = ANCHORS.guards_held(*met);
    let listed = Set::one(VALID).and(ANCHORS.guards());
    match result {
        Ok(outcome) => Anchors {
            table: &ANCHORS,
            listed: listed.and(keywords(schema.keywords())),
            held: held
                .and(Set::one(VALID).only_if(outcome.failed.is_empty()))
                .and(keywords(schema.keywords()).without(keywords(outcome.failed))),
            more: Vec::new(),
        },
        Err(refusal) => Anchors { table: &ANCHORS, listed, held, more: vec![refusal.anchor()] },
    }
}

/// The anchors of calls: of each keyword that some tool's schema has, whether no call failed it.
pub(super) fn anchors_of_calls(toolbox: &Toolbox, outcome: &tool_call::Outcome<'_>) -> Anchors {
    let more = outcome.refusals();
    let listed = Set::one(VALID)
        .and(Set::range(FIRST_GUARD, FIRST_GUARD + tool_call::OF_CALLS.len()))
        .and(CALL_ANCHORS.guards());
    let held = CALL_ANCHORS.guards_held(outcome.met).and(outcome.held_of_calls(FIRST_GUARD));
    if !outcome.all_graded() {
        return Anchors { table: &CALL_ANCHORS, listed, held, more };
    }
    let failed = outcome.findings.iter().filter_map(|finding| match &finding.outcome {
        CallOutcome::Validated(outcome) => Some(outcome.failed),
        _ => None,
    });
    let failed = failed.fold(Set::NONE, |all, failed| all.and(keywords(failed)));
    let met = keywords(toolbox.keywords);
    Anchors {
        table: &CALL_ANCHORS,
        listed: listed.and(met),
        held: held.and(Set::one(VALID).only_if(failed == Set::NONE)).and(met.without(failed)),
        more,
    }
}

#[cfg(test)]
mod tests {
    use super::super::anchors::GUARDS;
    use super::*;

    #[test]
    fn the_names_are_those_of_the_keywords() {
        let keywords: Vec<String> = KEYWORDS.iter().map(|name| format!("{KEYWORD_PREFIX}{name}")).collect();
        let keywords: Vec<&str> = keywords.iter().map(String::as_str).collect();
        assert_eq!(NAMES.get(FIRST_KEYWORD..FIRST_GUARD), Some(&keywords[..]));
        assert_eq!(NAMES.get(FIRST_GUARD..), Some(&GUARDS[..]));
        assert_eq!(CALL_NAMES.get(CALL_END - 2..), Some(&GUARDS[..]));
        assert_eq!(CALL_NAMES.get(FIRST_GUARD..CALL_END - 2), Some(&tool_call::OF_CALLS[..]));
    }
}
