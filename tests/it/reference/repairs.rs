//! R3 to R7 on a node whose `type` fails, and R9.

use super::decimal::is_integral;
use super::tree::{J, number_len, parse_noting_repeats};

/// How deep arguments may nest.
pub(super) const MAX_DEPTH: usize = 128;

/// What the one applicable rule makes of a value.
pub(super) enum Turned {
    /// By R3, R4 or R6.
    Scalar(&'static str, J),
    Unwrapped(J),
    Wrapped,
}

/// The types that a schema names; none if it has no `type`.
pub(super) fn types(schema: &J) -> Option<Vec<String>> {
    match schema.get("type")? {
        J::Arr(items) => Some(items.iter().filter_map(text_of).collect()),
        single => Some(text_of(single).into_iter().collect()),
    }
}

fn text_of(value: &J) -> Option<String> {
    let J::Str(text) = value else { return None };
    String::from_utf16(text).ok()
}

pub(super) fn has_type(value: &J, name: &str) -> bool {
    match (value, name) {
        (J::Null, "null")
        | (J::Bool(_), "boolean")
        | (J::Num(_), "number")
        | (J::Str(_), "string")
        | (J::Arr(_), "array")
        | (J::Obj(_), "object") => true,
        (J::Num(lexeme), "integer") => is_integral(lexeme),
        _ => false,
    }
}

/// What the value becomes where exactly one of the listed types can be had by a rule. `above` is how many
/// containers the node stands in.
pub(super) fn turn(types: &[String], value: &J, above: usize) -> Option<Turned> {
    let lists = |name: &str| types.iter().any(|own| own == name);
    let mut found = Vec::new();
    if let Some(number) = as_number(value)
        && (lists("number") || lists("integer") && is_integral(&number))
    {
        found.push(Turned::Scalar("R3", J::Num(number)));
    }
    if let (J::Str(text), true) = (value, lists("boolean")) {
        for truth in [true, false] {
            if *text == super::units(&truth.to_string()) {
                found.push(Turned::Scalar("R4", J::Bool(truth)));
            }
        }
    }
    if let (J::Num(_) | J::Bool(_), true) = (value, lists("string")) {
        let mut spelling = String::new();
        super::write(value, &mut spelling);
        found.push(Turned::Scalar("R6", J::str(&spelling)));
    }
    if lists("object")
        && let Some(inner @ J::Obj(_)) = unwrap(value, above)
    {
        found.push(Turned::Unwrapped(inner));
    }
    if lists("array") && !matches!(value, J::Arr(_)) {
        if let Some(inner @ J::Arr(_)) = unwrap(value, above) {
            found.push(Turned::Unwrapped(inner));
        } else if above > 0 && above + 1 + value.depth() <= MAX_DEPTH {
            found.push(Turned::Wrapped);
        }
    }
    if found.len() == 1 { found.pop() } else { None }
}

fn as_number(value: &J) -> Option<String> {
    let J::Str(text) = value else { return None };
    if number_len(text) == Some(text.len()) { String::from_utf16(text).ok() } else { None }
}

fn unwrap(value: &J, above: usize) -> Option<J> {
    let J::Str(text) = value else { return None };
    match parse_noting_repeats(text) {
        Some((inner, false)) if above + inner.depth() <= MAX_DEPTH => Some(inner),
        _ => None,
    }
}

/// The one entry of an all-string enum that equals the string but for case.
pub(super) fn enum_entry(schema: &J, value: &J) -> Option<J> {
    let (Some(J::Arr(entries)), J::Str(text)) = (schema.get("enum"), value) else { return None };
    if entries.contains(value) || !entries.iter().all(|entry| matches!(entry, J::Str(_))) {
        return None;
    }
    let wanted = lower(text);
    let mut found: Vec<&J> = Vec::new();
    for entry in entries {
        if let J::Str(own) = entry
            && lower(own) == wanted
            && !found.contains(&entry)
        {
            found.push(entry);
        }
    }
    if let [only] = found[..] { Some(only.clone()) } else { None }
}

/// Lower case by Unicode's default mapping; a lone surrogate has no case.
fn lower(text: &[u16]) -> Vec<u16> {
    let mut out = Vec::new();
    let mut piece = String::new();
    for character in char::decode_utf16(text.iter().copied()) {
        match character {
            Ok(character) => piece.push(character),
            Err(lone) => {
                out.extend(piece.to_lowercase().encode_utf16());
                piece.clear();
                out.push(lone.unpaired_surrogate());
            }
        }
    }
    out.extend(piece.to_lowercase().encode_utf16());
    out
}
