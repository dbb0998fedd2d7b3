//! Values, their text, and when two are equal.

use std::cmp::Ordering;

use super::decimal;

/// A JSON value; a number is its lexeme, a string its UTF-16 code units.
#[derive(Debug, Clone)]
pub(crate) enum J {
    Null,
    Bool(bool),
    Num(String),
    Str(Vec<u16>),
    Arr(Vec<J>),
    Obj(Vec<(Vec<u16>, J)>),
}

impl J {
    pub(crate) fn str(text: &str) -> J {
        J::Str(units(text))
    }

    pub(crate) fn obj(members: &[(&str, J)]) -> J {
        J::Obj(members.iter().map(|(name, value)| (units(name), value.clone())).collect())
    }

    pub(crate) fn get(&self, name: &str) -> Option<&J> {
        self.get_units(&units(name))
    }

    pub(crate) fn get_units(&self, name: &[u16]) -> Option<&J> {
        let J::Obj(members) = self else { return None };
        members.iter().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    pub(crate) fn depth(&self) -> usize {
        match self {
            J::Arr(items) => 1 + items.iter().map(J::depth).max().unwrap_or(0),
            J::Obj(members) => 1 + members.iter().map(|(_, value)| value.depth()).max().unwrap_or(0),
            _ => 0,
        }
    }
}

/// Equality of JSON Schema: numbers by value, objects without order.
impl PartialEq for J {
    fn eq(&self, other: &J) -> bool {
        match (self, other) {
            (J::Null, J::Null) => true,
            (J::Bool(a), J::Bool(b)) => a == b,
            (J::Num(a), J::Num(b)) => decimal::compare(a, b) == Ordering::Equal,
            (J::Str(a), J::Str(b)) => a == b,
            (J::Arr(a), J::Arr(b)) => a == b,
            (J::Obj(a), J::Obj(b)) => {
                a.len() == b.len() && a.iter().all(|(name, value)| other.get_units(name) == Some(value))
            }
            _ => false,
        }
    }
}

pub(crate) fn units(text: &str) -> Vec<u16> {
    text.encode_utf16().collect()
}

/// Appends `value` as `JSON.stringify` would, but for numbers, which stay as they were written.
pub(crate) fn write(value: &J, out: &mut String) {
    match value {
        J::Null => out.push_str("null"),
        J::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        J::Num(lexeme) => out.push_str(lexeme),
        J::Str(text) => write_string(text, out),
        J::Arr(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                write(item, out);
            }
            out.push(']');
        }
        J::Obj(members) => {
            out.push('{');
            for (index, (name, value)) in members.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                write_string(name, out);
                out.push(':');
                write(value, out);
            }
            out.push('}');
        }
    }
}

pub(crate) fn write_string(text: &[u16], out: &mut String) {
    out.push('"');
    for character in char::decode_utf16(text.iter().copied()) {
        match character {
            Ok('"') => out.push_str("\\\""),
            Ok('\\') => out.push_str("\\\\"),
            Ok('\n') => out.push_str("\\n"),
            Ok('\r') => out.push_str("\\r"),
            Ok('\t') => out.push_str("\\t"),
            Ok('\u{8}') => out.push_str("\\b"),
            Ok('\u{c}') => out.push_str("\\f"),
            Ok(control @ '\0'..='\u{1f}') => out.push_str(&format!("\\u{:04x}", u32::from(control))),
            Ok(other) => out.push(other),
            Err(lone) => out.push_str(&format!("\\u{:04x}", lone.unpaired_surrogate())),
        }
    }
    out.push('"');
}

/// The value of a JSON text; of repeated names the last value, at the place of the first.
pub(crate) fn parse(text: &[u16]) -> Option<J> {
    parse_noting_repeats(text).map(|(value, _)| value)
}

/// The value, and whether any object in it repeats a name.
pub(crate) fn parse_noting_repeats(text: &[u16]) -> Option<(J, bool)> {
    let mut parser = Parser { text, at: 0, repeats: false };
    let value = parser.value()?;
    parser.space();
    (parser.at == text.len()).then_some((value, parser.repeats))
}

/// The length of the JSON number that `text` begins with.
pub(super) fn number_len(text: &[u16]) -> Option<usize> {
    let digit = |at: usize| matches!(text.get(at), Some(0x30..=0x39));
    let is = |at: usize, wanted: &str| {
        text.get(at).is_some_and(|unit| wanted.encode_utf16().any(|other| other == *unit))
    };
    let mut at = usize::from(is(0, "-"));
    if !digit(at) {
        return None;
    }
    if is(at, "0") {
        at += 1;
    } else {
        while digit(at) {
            at += 1;
        }
    }
    if is(at, ".") {
        at += 1;
        if !digit(at) {
            return None;
        }
        while digit(at) {
            at += 1;
        }
    }
    if is(at, "eE") {
        at += 1;
        at += usize::from(is(at, "+-"));
        if !digit(at) {
            return None;
        }
        while digit(at) {
            at += 1;
        }
    }
    Some(at)
}

struct Parser<'t> {
    text: &'t [u16],
    at: usize,
    repeats: bool,
}

impl Parser<'_> {
    fn space(&mut self) {
        while matches!(self.text.get(self.at), Some(0x20 | 9 | 10 | 13)) {
            self.at += 1;
        }
    }

    /// Takes `wanted` after white space.
    fn take(&mut self, wanted: &str) -> bool {
        self.space();
        let found = self.text[self.at..].starts_with(&units(wanted));
        if found {
            self.at += wanted.len();
        }
        found
    }

    fn value(&mut self) -> Option<J> {
        if self.take("null") {
            return Some(J::Null);
        }
        if self.take("true") {
            return Some(J::Bool(true));
        }
        if self.take("false") {
            return Some(J::Bool(false));
        }
        if self.take("[") {
            return self.array();
        }
        if self.take("{") {
            return self.object();
        }
        if self.take("\"") {
            return Some(J::Str(self.string()?));
        }
        let len = number_len(&self.text[self.at..])?;
        let lexeme = String::from_utf16(&self.text[self.at..self.at + len]).ok()?;
        self.at += len;
        Some(J::Num(lexeme))
    }

    fn array(&mut self) -> Option<J> {
        let mut items = Vec::new();
        if self.take("]") {
            return Some(J::Arr(items));
        }
        loop {
            items.push(self.value()?);
            if self.take("]") {
                return Some(J::Arr(items));
            }
            if !self.take(",") {
                return None;
            }
        }
    }

    fn object(&mut self) -> Option<J> {
        let mut members: Vec<(Vec<u16>, J)> = Vec::new();
        if self.take("}") {
            return Some(J::Obj(members));
        }
        loop {
            if !self.take("\"") {
                return None;
            }
            let name = self.string()?;
            if !self.take(":") {
                return None;
            }
            let value = self.value()?;
            match members.iter_mut().find(|(own, _)| *own == name) {
                Some(member) => {
                    self.repeats = true;
                    member.1 = value;
                }
                None => members.push((name, value)),
            }
            if self.take("}") {
                return Some(J::Obj(members));
            }
            if !self.take(",") {
                return None;
            }
        }
    }

    /// The rest of a string whose opening quote is taken.
    fn string(&mut self) -> Option<Vec<u16>> {
        let mut out = Vec::new();
        loop {
            let unit = *self.text.get(self.at)?;
            self.at += 1;
            match unit {
                0x22 => return Some(out),
                0..=0x1f => return None,
                0x5c => {
                    let escape = char::from_u32(u32::from(*self.text.get(self.at)?))?;
                    self.at += 1;
                    out.push(match escape {
                        '"' | '\\' | '/' => escape as u16,
                        'b' => 8,
                        'f' => 12,
                        'n' => 10,
                        'r' => 13,
                        't' => 9,
                        'u' => {
                            let hex = String::from_utf16(self.text.get(self.at..self.at + 4)?).ok()?;
                            if !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                                return None;
                            }
                            self.at += 4;
                            u16::from_str_radix(&hex, 16).ok()?
                        }
                        _ => return None,
                    });
                }
                _ => out.push(unit),
            }
        }
    }
}
