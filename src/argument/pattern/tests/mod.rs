//! Tests of whole patterns: by construct, by properties, and against Node and `regress`.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::format_collect,
    reason = "tests"
)]

mod bounds;
mod constructs;
mod generate;
mod oracle;

use super::*;

/// What each way of deciding says about a text; none where it has no answer within `steps`.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
struct Answers {
    whole: Option<bool>,
    backtracking: Option<bool>,
    linear: Option<bool>,
}

fn ask(pattern: &Pattern, text: &[u8], steps: u64) -> Answers {
    let units = pattern.units(text, &mut Budget::of_steps(u64::MAX)).unwrap();
    let budget = || Budget::of_steps(steps);
    Answers {
        whole: pattern.is_match(text, &mut budget()).ok(),
        backtracking: pattern.backtrack(&units, &mut budget(), u64::MAX).ok(),
        linear: pattern.nfa().and_then(|nfa| pattern.follow(nfa, &units, &mut budget()).ok()),
    }
}

/// UTF-16 as WTF-8, pairs joined.
fn wtf8(units: &[u16]) -> Vec<u8> {
    let mut out = Vec::new();
    for unit in char::decode_utf16(units.iter().copied()) {
        text::push(&mut out, unit.map_or_else(|e| u32::from(e.unpaired_surrogate()), u32::from));
    }
    out
}

fn utf16(text: &str) -> Vec<u16> {
    text.encode_utf16().collect()
}
