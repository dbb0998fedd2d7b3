//! Unicode properties as `\p{…}` names them, with the tables of `icu_properties`.
//!
//! Names are ECMA-262's: exact spelling, `General_Category`, `Script`, `Script_Extensions` and the listed
//! binary properties. The tables are Unicode 17, as in the Node that is this engine's oracle.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use icu_properties::props::{GeneralCategory, GeneralCategoryGroup, IdContinue, IdStart, Script};
use icu_properties::script::ScriptWithExtensions;
use icu_properties::{CodePointMapData, CodePointSetData, PropertyParser};

use super::class::{MAX_CODE, Ranges};

/// The code points of one property value; shared by all classes that name it.
pub(super) type PropertySet = Arc<Ranges>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// `\p{Name}`: a general category or a binary property.
    Lone,
    Category,
    Script,
    Extensions,
}

type Name = (Kind, Box<[u8]>);

/// The sets met so far. Walking ICU's tables for one takes up to some 100 µs, and a schema may come with
/// every request. Only valid names get in, so the map is bounded by the names that exist (about a thousand).
static MET: Mutex<BTreeMap<Name, PropertySet>> = Mutex::new(BTreeMap::new());

/// The set that the text between the braces of `\p{…}` names.
pub(super) fn look_up(expression: &[u8]) -> Option<PropertySet> {
    let mut parts = expression.splitn(2, |b| *b == b'=');
    let (name, value) = (parts.next()?, parts.next());
    let (kind, value) = match (name, value) {
        (lone, None) => (Kind::Lone, lone),
        (b"General_Category" | b"gc", Some(value)) => (Kind::Category, value),
        (b"Script" | b"sc", Some(value)) => (Kind::Script, value),
        (b"Script_Extensions" | b"scx", Some(value)) => (Kind::Extensions, value),
        _ => return None,
    };
    let key = (kind, Box::from(value));
    let met = || MET.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(set) = met().get(&key) {
        return Some(Arc::clone(set));
    }
    // Made outside the lock; where two threads make the same set, the second replaces an equal one.
    let set: PropertySet = ranges(kind, value)?.into();
    met().insert(key, Arc::clone(&set));
    Some(set)
}

fn ranges(kind: Kind, value: &[u8]) -> Option<Vec<(u32, u32)>> {
    match kind {
        Kind::Lone => category(value).or_else(|| binary(value)),
        Kind::Category => category(value),
        Kind::Script => {
            let script = PropertyParser::<Script>::new().get_strict_utf8(value)?;
            in_use(pairs(CodePointMapData::<Script>::new().iter_ranges_for_value(script)))
        }
        Kind::Extensions => {
            let script = PropertyParser::<Script>::new().get_strict_utf8(value)?;
            in_use(pairs(ScriptWithExtensions::new().get_script_extensions_ranges(script)))
        }
    }
}

/// ICU knows codes of scripts that no character has; ECMA-262 does not.
fn in_use(ranges: Vec<(u32, u32)>) -> Option<Vec<(u32, u32)>> {
    (!ranges.is_empty()).then_some(ranges)
}

fn category(value: &[u8]) -> Option<Vec<(u32, u32)>> {
    let group = PropertyParser::<GeneralCategoryGroup>::new().get_strict_utf8(value)?;
    Some(pairs(CodePointMapData::<GeneralCategory>::new().iter_ranges_for_group(group)))
}

fn binary(name: &[u8]) -> Option<Vec<(u32, u32)>> {
    match name {
        b"Any" => Some(vec![(0, MAX_CODE)]),
        b"ASCII" => Some(vec![(0, 0x7F)]),
        b"Assigned" => Some(pairs(
            CodePointMapData::<GeneralCategory>::new()
                .iter_ranges_for_value_complemented(GeneralCategory::Unassigned),
        )),
        // ECMA-262's short name, which ICU4X spells otherwise.
        b"space" => binary(b"White_Space"),
        _ => CodePointSetData::new_for_ecma262(name).map(|set| pairs(set.iter_ranges())),
    }
}

/// Collects ranges, joining those that touch.
fn pairs(ranges: impl Iterator<Item = std::ops::RangeInclusive<u32>>) -> Vec<(u32, u32)> {
    let mut out: Vec<(u32, u32)> = Vec::new();
    for range in ranges {
        match out.last_mut() {
            Some(last) if last.1 + 1 == *range.start() => last.1 = *range.end(),
            _ => out.push((*range.start(), *range.end())),
        }
    }
    out
}

/// Whether a group's name may start with `code`.
pub(super) fn starts_name(code: u32) -> bool {
    code == u32::from(b'$') || code == u32::from(b'_') || CodePointSetData::new::<IdStart>().contains32(code)
}

/// Whether a group's name may go on with `code`.
pub(super) fn continues_name(code: u32) -> bool {
    matches!(code, 0x24 | 0x200C | 0x200D) || CodePointSetData::new::<IdContinue>().contains32(code)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use super::*;

    #[test]
    fn names_are_exact() {
        for name in [
            "L",
            "Lu",
            "Letter",
            "gc=Nd",
            "General_Category=punct",
            "Script=Greek",
            "sc=Grek",
            "scx=Zyyy",
            "sc=Zzzz",
            "Emoji",
            "ASCII",
            "Any",
            "Assigned",
            "space",
            "Bidi_M",
            "CWKCF",
        ] {
            assert!(look_up(name.as_bytes()).is_some(), "{name}");
        }
        for name in [
            "l",
            "letter",
            "gc=nd",
            "Greek",
            "sc=Afak",
            "sc=Hrkt",
            "Emoji=Yes",
            "sc=",
            "",
            "=L",
            "gc",
            "L=",
            "Line_Break=AL",
            "Hyphen",
            "RGI_Emoji",
            "any",
        ] {
            assert!(look_up(name.as_bytes()).is_none(), "{name}");
        }
    }

    #[test]
    fn sets_are_sorted_disjoint_and_shared() {
        for name in ["L", "Assigned", "Script=Latin", "scx=Deva", "ID_Continue", "Cn"] {
            let set = look_up(name.as_bytes()).unwrap();
            assert!(set.iter().all(|r| r.0 <= r.1 && r.1 <= MAX_CODE));
            assert!(set.windows(2).all(|w| w[0].1 + 1 < w[1].0), "{name}");
            assert!(Arc::ptr_eq(&set, &look_up(name.as_bytes()).unwrap()));
        }
    }
}
