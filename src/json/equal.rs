//! Equality of JSON values as JSON Schema means it, and a hash that agrees with it.
//!
//! Both recurse: callers have capped the depth (decision A4).

use std::hash::{BuildHasher, Hash, Hasher, RandomState};

use super::{Kind, Value};
use crate::budget::{Budget, Exhausted};

/// Objects up to this size are compared member by member without sorting.
const FEW: usize = 8;

/// Whether two values are equal: numbers by exact value, objects regardless of order.
pub(crate) fn equal(a: Value<'_>, b: Value<'_>, budget: &mut Budget<'_>) -> Result<bool, Exhausted> {
    budget.spend(1)?;
    if a.kind() != b.kind() || a.len() != b.len() {
        return Ok(false);
    }
    match a.kind() {
        Kind::Null => Ok(true),
        Kind::Boolean => Ok(a.as_bool() == b.as_bool()),
        Kind::Number => {
            let (Some(a), Some(b)) = (a.as_number(), b.as_number()) else { return Ok(false) };
            budget.spend(a.compare_steps(b))?;
            Ok(a.compare(b).is_eq())
        }
        Kind::String => {
            let (Some(a), Some(b)) = (a.as_text(), b.as_text()) else { return Ok(false) };
            let per_step = if a.is_escaped() || b.is_escaped() { 4 } else { 64 };
            budget.spend(a.raw().len().min(b.raw().len()) as u64 / per_step)?;
            Ok(a == b)
        }
        Kind::Array => {
            for (a, b) in a.items().zip(b.items()) {
                if !equal(a, b, budget)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Kind::Object => equal_objects(a, b, budget),
    }
}

fn equal_objects(a: Value<'_>, b: Value<'_>, budget: &mut Budget<'_>) -> Result<bool, Exhausted> {
    if a.len() > FEW {
        let sorted = |value: Value<'_>| {
            let mut members: Vec<_> =
                value.members().map(|m| (m.name().decode().into_owned(), m.value().node())).collect();
            members.sort_unstable();
            members
        };
        budget.spend(a.len() as u64 * 8)?;
        for ((name, left), (other, right)) in sorted(a).into_iter().zip(sorted(b)) {
            if name != other || !equal(a.document().value_at(left), b.document().value_at(right), budget)? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    for member in a.members() {
        let Some(other) = b.members().find(|m| m.hash() == member.hash() && m.name() == member.name()) else {
            return Ok(false);
        };
        if !equal(member.value(), other.value(), budget)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A hash under `state`: equal values have equal hashes.
pub(crate) fn hash(value: Value<'_>, state: &RandomState, budget: &mut Budget<'_>) -> Result<u64, Exhausted> {
    let mut hasher = state.build_hasher();
    value.kind().hash(&mut hasher);
    budget.spend(2)?;
    match value.kind() {
        Kind::Null => {}
        Kind::Boolean => value.as_bool().hash(&mut hasher),
        Kind::Number => {
            if let Some(number) = value.as_number() {
                budget.spend(number.lexeme().len() as u64 / 16)?;
                number.decimal().hash(&mut hasher);
            }
        }
        Kind::String => {
            if let Some(text) = value.as_text() {
                budget.spend(text.raw().len() as u64 / 16)?;
                text.decode().hash(&mut hasher);
            }
        }
        Kind::Array => {
            for item in value.items() {
                hasher.write_u64(hash(item, state, budget)?);
            }
        }
        Kind::Object => {
            // A sum, since the order of members does not count.
            let mut sum = 0_u64;
            for member in value.members() {
                let value = hash(member.value(), state, budget)?;
                budget.spend(member.name().raw().len() as u64 / 16)?;
                sum = sum.wrapping_add(state.hash_one((&*member.name().decode(), value)));
            }
            hasher.write_u64(sum);
        }
    }
    Ok(hasher.finish())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::Document;
    use super::*;

    #[test]
    fn equality_and_hash_agree() {
        let big = |flip: bool| {
            let members: Vec<String> = (0..20).map(|i| format!("\"k{i}\":{i}")).collect();
            let list = if flip { members.into_iter().rev().collect() } else { members };
            format!("{{{}}}", list.join(","))
        };
        let (big, flipped) = (big(false), big(true));
        let classes: [&[&str]; 9] = [
            &["null"],
            &["1", "1.0", "10e-1"],
            &["\"1\"", r#""\u0031""#],
            &["[1,2]", "[1.0, 2e0]"],
            &["[2,1]"],
            &[r#"{"a":1,"b":[{}]}"#, r#"{"b":[{}],"\u0061":1.0}"#, r#"{"a":0,"b":[{}],"a":1}"#],
            &[r#"{"a":1,"c":[{}]}"#],
            &["{}"],
            &[&big, &flipped],
        ];
        let state = RandomState::new();
        let mut budget = Budget::of_steps(1_000_000);
        for (i, left) in classes.iter().enumerate() {
            for (j, right) in classes.iter().enumerate() {
                for (a, b) in left.iter().flat_map(|a| right.iter().map(move |b| (a, b))) {
                    let (a, b) = [a, b].map(|text| Document::parse(text.as_bytes().to_vec()).unwrap()).into();
                    assert_eq!(equal(a.root(), b.root(), &mut budget).unwrap(), i == j);
                    let hashes = [a.root(), b.root()].map(|value| hash(value, &state, &mut budget).unwrap());
                    assert_eq!(hashes[0] == hashes[1], i == j);
                }
            }
        }
    }
}
