//! The bundled dock's check, and its search for the marker.
//!
//! The check: an object whose `amount` is a number from 0 to 100 is correct. A text that begins with `{` or `[` is read
//! as JSON first.

use crate::contract::MARKER;
use crate::json::{self, Json, Value};

/// What the check says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Outcome {
    Verdict { present: bool, in_range: bool, from_text: bool },
    Crash,
}

pub(super) fn check(candidate: &Json) -> Outcome {
    let parsed = candidate.text().map(js_trim).filter(|text| text.starts_with(['{', '[']));
    let parsed = parsed.and_then(|text| json::read(text.as_bytes()).ok());
    let value = parsed.as_ref().unwrap_or(candidate);
    let amount = value.member("amount");
    if amount.and_then(Json::text) == Some("crash") {
        return Outcome::Crash;
    }
    let in_range = amount.and_then(Json::number).is_some_and(|amount| (0.0..=100.0).contains(&amount));
    Outcome::Verdict { present: amount.is_some(), in_range, from_text: parsed.is_some() }
}

/// Where the marker is looked for.
#[derive(Debug, Clone, Copy)]
#[allow(clippy::struct_excessive_bools, reason = "places, each looked at or not")]
pub(super) struct Search {
    /// In a candidate that is a text.
    pub(super) text: bool,
    /// In texts within it.
    pub(super) nested: bool,
    /// In texts that are JSON only once brackets are closed and commas dropped, or behind what JavaScript trims.
    pub(super) mended: bool,
    /// Under names that a later member replaces.
    pub(super) shadowed: bool,
}

impl Search {
    pub(super) const EVERYWHERE: Search = Search { text: true, nested: true, mended: true, shadowed: true };

    pub(super) fn finds(self, candidate: &Json) -> bool {
        match &candidate.value {
            Value::Text(text) => self.text && self.in_text(text, !self.nested),
            _ => self.in_value(candidate),
        }
    }

    fn in_value(self, json: &Json) -> bool {
        match &json.value {
            Value::Object(members) => members.iter().enumerate().any(|(n, (name, value))| {
                let later = members.iter().skip(n + 1).any(|(later, _)| later == name);
                (self.shadowed || !later) && (name == MARKER || self.in_value(value))
            }),
            Value::Array(elements) => elements.iter().any(|element| self.in_value(element)),
            Value::Text(text) => self.nested && self.in_text(text, false),
            _ => false,
        }
    }

    fn in_text(self, text: &str, structured_only: bool) -> bool {
        let trimmed = if self.mended { js_trim(text) } else { text.trim_ascii() };
        if !trimmed.starts_with(['{', '[']) && (structured_only || !trimmed.starts_with('"')) {
            return false;
        }
        let read = json::read(trimmed.as_bytes()).ok();
        let read = read.or_else(|| self.mended.then(|| json::read(mend(trimmed).as_bytes()).ok()).flatten());
        read.is_some_and(|json| self.in_value(&json))
    }
}

/// White space as JavaScript trims it.
fn js_trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() && c != '\u{85}' || c == '\u{feff}')
}

/// Drops trailing commas and closes what is open.
fn mend(text: &str) -> String {
    let (mut mended, mut open, mut in_string, mut escaped) = (String::new(), Vec::new(), false, false);
    for c in text.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            '{' if !in_string => open.push('}'),
            '[' if !in_string => open.push(']'),
            '}' | ']' if !in_string => {
                open.pop();
                mended = without_comma(&mended);
            }
            _ => {}
        }
        mended.push(c);
    }
    let mut mended = without_comma(&mended);
    mended.extend(open.iter().rev());
    mended
}

fn without_comma(text: &str) -> String {
    let trimmed = text.trim_end();
    trimmed.strip_suffix(',').unwrap_or(trimmed).to_owned()
}

/// How deep a value is nested.
pub(super) fn depth(json: &Json) -> usize {
    match &json.value {
        Value::Array(elements) => 1 + elements.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.iter().map(|(_, value)| depth(value)).max().unwrap_or(0),
        _ => 0,
    }
}

/// Whether `holds` for the value or one inside it.
pub(super) fn any(json: &Json, holds: &dyn Fn(&Json) -> bool) -> bool {
    holds(json)
        || match &json.value {
            Value::Array(elements) => elements.iter().any(|element| any(element, holds)),
            Value::Object(members) => members.iter().any(|(_, value)| any(value, holds)),
            _ => false,
        }
}
