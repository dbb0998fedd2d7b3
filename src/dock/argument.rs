//! The argument check in a dock: what of a candidate is checked, and the anchors of its outcome.

use std::sync::Arc;

use super::Toolbox;
use super::anchors::{Anchors, Set, Table};
use crate::argument::{self, Check, DefectCode, Met, Refusal, Rule, Schema, Stop, Submission, Verdict};
use crate::budget::Budget;
use crate::json::{Document, Value, write_string};

/// Where the argument check finds the arguments and their schema (decision C3).
#[derive(Debug)]
pub enum Source {
    /// The candidate is the arguments, or their raw text; the schema is pinned.
    Arguments(Schema<'static>),
    /// The candidate holds calls of tools whose catalogue is pinned.
    ToolCall(Toolbox),
    /// The candidate is a published check body that brings its schema along.
    CheckRequest,
}

/// The names of the anchors, in the order in which they are sent.
pub(super) const NAMES: [&str; END] = [
    "assessable",
    "valid_as_submitted",
    "conforms_after_repair",
    "no_missing_required",
    "no_type_mismatch",
    "no_enum_mismatch",
    "no_const_mismatch",
    "no_string_too_short",
    "no_string_too_long",
    "no_pattern_mismatch",
    "no_minimum_violation",
    "no_maximum_violation",
    "no_exclusive_minimum_violation",
    "no_exclusive_maximum_violation",
    "no_array_too_short",
    "no_array_too_long",
    "no_items_not_unique",
    "no_too_few_properties",
    "no_too_many_properties",
    "no_additional_property",
    "no_invalid_json_text",
    "without_r1_close_truncated_json",
    "without_r2_drop_trailing_comma",
    "without_r3_string_to_number",
    "without_r4_string_to_boolean",
    "without_r5_string_json_unwrap",
    "without_r6_scalar_to_string",
    "without_r7_wrap_single_in_array",
    "without_r8_drop_null_optional_property",
    "without_r9_enum_case_match",
    "no_duplicate_names",
    "no_lone_surrogates",
];

/// The anchors of the argument check (decision C4).
pub static ANCHORS: Table = Table {
    names: &NAMES,
    base: Set::one(CONFORMS_AFTER_REPAIR).and(Set::range(FIRST_GUARD, END)),
    default_require: Set::one(VALID_AS_SUBMITTED),
};

pub(super) const ASSESSABLE: usize = 0;
pub(super) const VALID_AS_SUBMITTED: usize = 1;
pub(super) const CONFORMS_AFTER_REPAIR: usize = 2;
const FIRST_CODE: usize = 3;
const FIRST_RULE: usize = FIRST_CODE + DefectCode::ALL.len();
pub(super) const FIRST_GUARD: usize = FIRST_RULE + Rule::ALL.len();
const END: usize = FIRST_GUARD + 2;

/// Whether it could be checked, and with what verdict.
pub(super) const CONFORMANCE: Set = Set::range(ASSESSABLE, FIRST_CODE);
/// One for each defect code.
pub(super) const DEFECTS: Set = Set::range(FIRST_CODE, FIRST_RULE);
/// One for each repair.
pub(super) const REPAIRS: Set = Set::range(FIRST_RULE, FIRST_GUARD);

/// A text candidate is the raw text of the arguments, anything else the arguments themselves.
pub(super) fn check<'a>(
    schema: &'a Schema<'static>,
    candidate: Value<'a>,
    budget: &mut Budget<'_>,
) -> Result<Check<'a>, Stop> {
    let submission = candidate.as_text().map_or(Submission::Arguments(candidate), Submission::Text);
    argument::check(schema, submission, budget)
}

/// A text candidate is parsed strictly as a whole; only the arguments text inside it may be repaired.
pub(super) fn check_request<'a>(candidate: Value<'a>, budget: &mut Budget<'_>) -> Result<Check<'a>, Stop> {
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

/// The rules that a check found broken.
pub(super) fn failed_by(check: &Check<'_>) -> Set {
    let mut failed = Set::one(VALID_AS_SUBMITTED).only_if(check.verdict() != Verdict::Valid);
    failed = failed.and(Set::one(CONFORMS_AFTER_REPAIR).only_if(check.verdict() == Verdict::Unrepairable));
    for defect in check.defects() {
        failed = failed.and(Set::one(FIRST_CODE + defect.code() as usize));
    }
    for rule in check.rules() {
        failed = failed.and(Set::one(FIRST_RULE + rule as usize));
    }
    failed
}

/// The anchors of a candidate that was checked.
pub(super) fn anchors_of_check(check: &Check<'_>, met: Met) -> Anchors {
    let held = Set::range(0, FIRST_GUARD).without(failed_by(check)).and(ANCHORS.guards_held(met));
    Anchors { table: &ANCHORS, listed: Set::range(0, END), held, more: Vec::new() }
}

/// The anchors of a candidate that cannot be assessed: beside the guards, none holds.
pub(super) fn anchors_of_refusal(refusal: Refusal, met: Met) -> Anchors {
    Anchors {
        table: &ANCHORS,
        listed: Set::one(ASSESSABLE).and(ANCHORS.guards()),
        held: ANCHORS.guards_held(met),
        more: vec![format!("\"{}\"", refusal_anchor(refusal)).into_bytes()],
    }
}

/// The anchor of a refusal, always false.
#[must_use]
pub fn refusal_anchor(refusal: Refusal) -> String {
    match refusal {
        Refusal::BodyOverCap => "no_body_over_cap".to_owned(),
        other => format!("no_{}", other.code()),
    }
}

/// How many defects [`AnchorMode::PerDefect`](super::AnchorMode) lists, and in how many bytes of names.
pub const MOST_DEFECTS: usize = 200;
/// See [`MOST_DEFECTS`].
pub const MOST_DEFECT_BYTES: usize = 64 * 1024;
/// The anchor that says there are more.
pub const MORE_DEFECTS: &str = "more_defects_not_listed";

/// The anchors of single defects as JSON strings, each once. Their paths hold only names that the schema
/// declares.
pub(super) fn defect_anchors<'c, 'a: 'c>(checks: impl Iterator<Item = &'c Check<'a>>) -> Vec<Vec<u8>> {
    let mut anchors: Vec<Vec<u8>> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    let mut bytes = 0;
    for defect in checks.flat_map(Check::defects) {
        let mut name = format!("{} at ", defect.code().code()).into_bytes();
        defect.write_path(true, &mut name);
        let mut anchor = Vec::with_capacity(name.len() + 2);
        write_string(&name, &mut anchor);
        if seen.contains(&anchor) {
            continue;
        }
        bytes += anchor.len();
        if anchors.len() == MOST_DEFECTS || bytes > MOST_DEFECT_BYTES {
            anchors.push(format!("\"{MORE_DEFECTS}\"").into_bytes());
            break;
        }
        seen.insert(anchor.clone());
        anchors.push(anchor);
    }
    anchors
}

#[cfg(test)]
mod tests {
    use super::super::anchors::GUARDS;
    use super::*;

    #[test]
    fn the_names_are_those_of_the_codes_rules_and_guards() {
        let codes = DefectCode::ALL.iter().map(|code| format!("no_{}", code.code()));
        let rules = Rule::ALL
            .iter()
            .map(|rule| format!("without_{}_{}", rule.id().to_lowercase(), rule.name().replace('-', "_")));
        let own: Vec<String> = codes.chain(rules).chain(GUARDS.map(str::to_owned)).collect();
        assert_eq!(
            ANCHORS.names.get(FIRST_CODE..),
            Some(&own.iter().map(String::as_str).collect::<Vec<_>>()[..])
        );
        assert_eq!(ANCHORS.names.len(), END);
    }
}
