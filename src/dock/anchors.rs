//! Anchors: named rules, and whether each held. `contract/anchors.md` says what each means on a receipt.

use crate::argument::{Check, DefectCode, Met, Refusal, Rule, Verdict};
use crate::json::write_string;

/// The anchors of an assessed candidate, in the order in which they are sent (decision C4).
pub const NAMES: [&str; 32] = [
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

const VALID_AS_SUBMITTED: usize = 1;
const CONFORMS_AFTER_REPAIR: usize = 2;
const FIRST_CODE: usize = 3;
const FIRST_RULE: usize = FIRST_CODE + DefectCode::ALL.len();
const NO_DUPLICATE_NAMES: usize = FIRST_RULE + Rule::ALL.len();
const NO_LONE_SURROGATES: usize = NO_DUPLICATE_NAMES + 1;
const _: () = assert!(NO_LONE_SURROGATES + 1 == NAMES.len());

/// A set of the anchors of [`NAMES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Set(u32);

/// The anchors that every correct verdict needs and no configuration can drop (decision C5).
pub const BASE: Set = Set(1 << CONFORMS_AFTER_REPAIR | 1 << NO_DUPLICATE_NAMES | 1 << NO_LONE_SURROGATES);
/// What a dock requires that does not say.
pub const DEFAULT_REQUIRE: Set = Set(1 << VALID_AS_SUBMITTED);

/// A name in `require` that is no anchor of the check.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{name}\" is no anchor of this check; the anchors are: {}", NAMES.join(", "))]
pub struct UnknownAnchor {
    /// The name.
    pub name: String,
}

/// What `anchor_results` lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AnchorMode {
    /// The fixed anchors.
    #[default]
    Codes,
    /// The fixed anchors, and `<code> at <path>` for each defect.
    PerDefect,
}

impl Set {
    /// The set of these names.
    ///
    /// # Errors
    /// [`UnknownAnchor`] for the first that is none.
    pub fn named(names: &[String]) -> Result<Set, UnknownAnchor> {
        names.iter().try_fold(Set(0), |set, name| {
            let unknown = || UnknownAnchor { name: name.clone() };
            let index = NAMES.iter().position(|known| known == name).ok_or_else(unknown)?;
            Ok(Set(set.0 | 1 << index))
        })
    }

    /// Both sets together.
    #[must_use]
    pub const fn and(self, other: Set) -> Set {
        Set(self.0 | other.0)
    }

    /// The names, in their order.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        NAMES.iter().enumerate().filter(move |(index, _)| self.0 >> index & 1 == 1).map(|(_, name)| *name)
    }
}

/// The anchors that held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held(u32);

impl Held {
    pub(super) fn of_check(check: &Check<'_>, met: Met) -> Held {
        let mut failed = 0;
        failed |= u32::from(check.verdict() != Verdict::Valid) << VALID_AS_SUBMITTED;
        failed |= u32::from(check.verdict() == Verdict::Unrepairable) << CONFORMS_AFTER_REPAIR;
        for defect in check.defects() {
            failed |= 1 << (FIRST_CODE + defect.code() as usize);
        }
        for rule in check.rules() {
            failed |= 1 << (FIRST_RULE + rule as usize);
        }
        Held(!(failed | guards(met)))
    }

    /// The guards alone can hold where nothing could be assessed.
    pub(super) fn of_refusal(met: Met) -> Held {
        Held((1 << NO_DUPLICATE_NAMES | 1 << NO_LONE_SURROGATES) & !guards(met))
    }

    /// Whether every anchor of `set` held.
    #[must_use]
    pub fn has_all(self, set: Set) -> bool {
        self.0 & set.0 == set.0
    }

    /// Every anchor of an assessed candidate with whether it held.
    pub fn all(self) -> impl Iterator<Item = (&'static str, bool)> {
        NAMES.iter().enumerate().map(move |(index, name)| (*name, self.0 >> index & 1 == 1))
    }

    /// The guards with whether they held.
    pub fn guards(self) -> impl Iterator<Item = (&'static str, bool)> {
        self.all().skip(NO_DUPLICATE_NAMES)
    }
}

/// The guards that fail (decision C6).
fn guards(met: Met) -> u32 {
    u32::from(met.repeated_names) << NO_DUPLICATE_NAMES | u32::from(met.lone_surrogates) << NO_LONE_SURROGATES
}

/// The anchor of a refusal, always false.
#[must_use]
pub fn of_refusal(refusal: Refusal) -> String {
    match refusal {
        Refusal::BodyOverCap => "no_body_over_cap".to_owned(),
        other => format!("no_{}", other.code()),
    }
}

/// How many defects [`AnchorMode::PerDefect`] lists, and in how many bytes of names.
pub const MOST_DEFECTS: usize = 200;
/// See [`MOST_DEFECTS`].
pub const MOST_DEFECT_BYTES: usize = 64 * 1024;
/// The anchor that says there are more.
pub const MORE_DEFECTS: &str = "more_defects_not_listed";

/// The anchors of single defects as JSON strings, each once. Their paths hold only names that the schema
/// declares.
pub(super) fn of_defects(check: &Check<'_>) -> Vec<Vec<u8>> {
    let mut anchors: Vec<Vec<u8>> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    let mut bytes = 0;
    for defect in check.defects() {
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
    use super::*;

    #[test]
    fn the_names_are_those_of_the_codes_and_rules() {
        let codes = DefectCode::ALL.iter().map(|code| format!("no_{}", code.code()));
        let rules = Rule::ALL
            .iter()
            .map(|rule| format!("without_{}_{}", rule.id().to_lowercase(), rule.name().replace('-', "_")));
        let own: Vec<String> = codes.chain(rules).collect();
        assert_eq!(
            NAMES.get(FIRST_CODE..NO_DUPLICATE_NAMES),
            Some(&own.iter().map(String::as_str).collect::<Vec<_>>()[..])
        );
    }
}
