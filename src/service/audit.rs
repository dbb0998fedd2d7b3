//! Looks at every report of the argument check once more before it is signed, by other means than the engine's.
//!
//! The criteria stop the operation for a repair that invented a value and for a verdict that rests on a part of the
//! schema without saying so. Whoever waits for somebody to find one has served it by then.

use crate::argument::{self, Check, ENFORCED, Rule, Schema, Submission, Verdict, check, replay, replay_text};
use crate::budget::{Budget, Exhausted};
use crate::json::{Document, Kind, Member, Value, write_value};

/// Why a report is not signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// A wire trips.
    Found(Finding),
    /// The budget is spent.
    Exhausted(Exhausted),
}

/// A wire that trips.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// A repair, or the diff as a whole, changed more than its rule allows.
    RepairInventedValue,
    /// The schema has a keyword that was neither enforced nor named as not checked.
    UndisclosedPartialCoverage,
}

/// Keywords without any meaning for a verdict, which the criteria name themselves (`schema_subset.not_checked`).
const DISCLOSED: [&str; 4] = ["title", "description", "default", "examples"];

impl Finding {
    /// The wire's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Finding::RepairInventedValue => "repair_invented_value",
            Finding::UndisclosedPartialCoverage => "undisclosed_partial_coverage",
        }
    }
}

/// Audits the check of a published body. Costs some three times what the check did.
///
/// # Errors
/// The first finding, or that the budget is spent.
pub fn audit(result: &Check<'_>, body: &Document, budget: &mut Budget<'_>) -> Result<(), Stop> {
    const COVERAGE: Stop = Stop::Found(Finding::UndisclosedPartialCoverage);
    // Every body that was checked has a schema.
    let Some(schema) = body.root().get(b"schema") else { return Err(COVERAGE) };
    let disclosed = result.not_checked();
    let mut open = vec![schema];
    while let Some(schema) = open.pop() {
        for member in schema.members() {
            let name = member.name().decode().into_owned();
            let name = String::from_utf8_lossy(&name);
            let known =
                ENFORCED.contains(&&*name) || DISCLOSED.contains(&&*name) || disclosed.contains(&*name);
            if !known {
                return Err(COVERAGE);
            }
            match &*name {
                "properties" => open.extend(member.value().members().map(Member::value)),
                "items" => open.push(member.value()),
                _ => {}
            }
        }
        if schema.kind() != Kind::Object {
            return Err(COVERAGE);
        }
    }
    if result.verdict() != Verdict::Repaired {
        return Ok(());
    }
    // To find a member by its name costs as many steps as there are members.
    let (repairs, nodes) = (result.count_repairs() as u64, body.root().count_nodes());
    budget.spend(repairs.saturating_mul(nodes) / 32 + nodes).map_err(Stop::Exhausted)?;
    let Some(repaired) = replayed(result, body) else {
        return Err(Stop::Found(Finding::RepairInventedValue));
    };
    match conforms(&repaired, schema, budget) {
        Ok(true) => Ok(()),
        Ok(false) => Err(Stop::Found(Finding::RepairInventedValue)),
        Err(exhausted) => Err(Stop::Exhausted(exhausted)),
    }
}

/// The repaired arguments, if the diff alone makes them out of the submission, and each of its entries is what its
/// rule allows.
fn replayed(result: &Check<'_>, body: &Document) -> Option<Document> {
    let (mut diff, mut arguments) = (Vec::new(), Vec::new());
    result.write_diff(&mut diff, usize::MAX).ok()?;
    result.write_arguments(&mut arguments);
    let diff = Document::parse(diff).ok()?;
    let replayed = match (body.root().get(b"arguments"), body.root().get(b"arguments_text")) {
        (Some(value), None) => replay(value, diff.root()),
        (None, Some(text)) => replay_text(&text.as_text()?.decode(), diff.root()),
        _ => return None,
    };
    let is_faithful =
        replayed.as_ref() == Ok(&arguments) && diff.root().items().zip(result.rules()).all(keeps_the_value);
    is_faithful.then(|| Document::parse(arguments).ok()).flatten()
}

/// The repaired arguments are VALID as they stand.
fn conforms(repaired: &Document, schema: Value<'_>, budget: &mut Budget<'_>) -> Result<bool, Exhausted> {
    let mut written = Vec::new();
    write_value(schema, &mut written);
    let Ok(schema) = Document::parse(written) else { return Ok(false) };
    let Ok(schema) = Schema::compile(schema.root()) else { return Ok(false) };
    match check(&schema, Submission::Arguments(repaired.root()), budget) {
        Ok(again) => Ok(again.verdict() == Verdict::Valid),
        Err(argument::Stop::Refused(..)) => Ok(false),
        Err(argument::Stop::Exhausted(exhausted)) => Err(exhausted),
    }
}

/// An entry of the diff says the same before and after, but for what its rule may change.
fn keeps_the_value((entry, rule): (Value<'_>, Rule)) -> bool {
    let (Some(before), Some(after)) = (entry.get(b"before"), entry.get(b"after")) else { return false };
    let text = |value: Value<'_>| value.as_text().map(|text| text.decode().into_owned());
    let written = |value: Value<'_>| {
        let mut out = Vec::new();
        write_value(value, &mut out);
        out
    };
    match rule {
        Rule::R1 => text(after).is_some_and(|closers| closers.iter().all(|byte| b"}]".contains(byte))),
        Rule::R2 => text(before).as_deref() == Some(b",") && text(after).as_deref() == Some(b""),
        Rule::R3 | Rule::R4 => text(before) == Some(written(after)),
        Rule::R5 => {
            let inner = text(before).and_then(|text| Document::parse_decoded(text).ok());
            inner.is_some_and(|inner| written(inner.root()) == written(after))
        }
        Rule::R6 => text(after) == Some(written(before)),
        Rule::R7 => {
            after.kind() == Kind::Array && written(after) == [b"[", written(before).as_slice(), b"]"].concat()
        }
        Rule::R8 => before.kind() == Kind::Null && after.kind() == Kind::Null,
        Rule::R9 => {
            let lower = |value| text(value).map(|text| String::from_utf8_lossy(&text).to_lowercase());
            lower(before).is_some() && lower(before) == lower(after)
        }
    }
}
