//! A strict JSON reader (RFC 8259) that keeps what others lose: numbers as written, repeated names, order, and where
//! each value stands.

use std::ops::Range;

/// How deep a text may be nested; `[]` is 1. Recursion is bounded by it.
pub const MAX_DEPTH: usize = 512;

/// A value and the bytes that it was read from.
#[derive(Debug, Clone, PartialEq)]
pub struct Json {
    /// What was read.
    pub value: Value,
    /// Where it stands in the text.
    pub at: Range<usize>,
}

/// A JSON value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as it was written.
    Number(String),
    /// A string; half a surrogate pair has become U+FFFD.
    Text(String),
    /// An array.
    Array(Vec<Json>),
    /// An object, with every member, also those of the same name.
    Object(Vec<(String, Json)>),
}

/// Why a text was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// Not UTF-8.
    #[error("not UTF-8")]
    Encoding,
    /// Breaks the grammar.
    #[error("not JSON, near byte {0}")]
    Grammar(usize),
    /// Deeper than [`MAX_DEPTH`].
    #[error("nested deeper than {MAX_DEPTH}")]
    Depth,
}

/// Reads one JSON text, white space around it allowed.
///
/// # Errors
/// [`Trouble`].
pub fn read(bytes: &[u8]) -> Result<Json, Trouble> {
    let text = std::str::from_utf8(bytes).map_err(|_| Trouble::Encoding)?;
    let mut reader = Reader { text, at: 0 };
    reader.space();
    let json = reader.value(1)?;
    reader.space();
    if reader.at == text.len() { Ok(json) } else { Err(reader.grammar()) }
}

impl Json {
    /// The member of this name that counts in ECMAScript: the last.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<&Json> {
        self.members()?.iter().rev().find(|(found, _)| found == name).map(|(_, json)| json)
    }

    /// All members of an object.
    #[must_use]
    pub fn members(&self) -> Option<&[(String, Json)]> {
        if let Value::Object(members) = &self.value { Some(members) } else { None }
    }

    /// The text of a string.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        if let Value::Text(text) = &self.value { Some(text) } else { None }
    }

    /// The number, as a JavaScript engine reads it: too large is infinite.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        if let Value::Number(number) = &self.value { number.parse().ok() } else { None }
    }

    /// The boolean.
    #[must_use]
    pub fn boolean(&self) -> Option<bool> {
        if let Value::Bool(boolean) = self.value { Some(boolean) } else { None }
    }

    /// An object or an array.
    #[must_use]
    pub fn is_structured(&self) -> bool {
        matches!(self.value, Value::Array(_) | Value::Object(_))
    }

    /// The bytes of this value in the text that it was read from.
    #[must_use]
    pub fn source<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        text.get(self.at.clone()).unwrap_or_default()
    }

    /// An object names a member twice.
    #[must_use]
    pub fn repeats_a_name(&self) -> bool {
        self.members().is_some_and(|members| {
            let mut names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
            names.sort_unstable();
            names.windows(2).any(|two| matches!(two, [a, b] if a == b))
        })
    }
}

/// Writes a text as a JSON string.
#[must_use]
pub fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn value(&mut self, depth: usize) -> Result<Json, Trouble> {
        let start = self.at;
        let value = match self.peek() {
            Some(b'{' | b'[') if depth > MAX_DEPTH => return Err(Trouble::Depth),
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => Value::Text(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => self.word()?,
        };
        Ok(Json { value, at: start..self.at })
    }

    fn object(&mut self, depth: usize) -> Result<Value, Trouble> {
        let mut members = Vec::new();
        self.at += 1;
        self.space();
        if self.take(b'}') {
            return Ok(Value::Object(members));
        }
        loop {
            self.space();
            let name = self.string()?;
            self.space();
            self.need(b':')?;
            self.space();
            members.push((name, self.value(depth + 1)?));
            self.space();
            if self.take(b'}') {
                return Ok(Value::Object(members));
            }
            self.need(b',')?;
        }
    }

    fn array(&mut self, depth: usize) -> Result<Value, Trouble> {
        let mut elements = Vec::new();
        self.at += 1;
        self.space();
        if self.take(b']') {
            return Ok(Value::Array(elements));
        }
        loop {
            self.space();
            elements.push(self.value(depth + 1)?);
            self.space();
            if self.take(b']') {
                return Ok(Value::Array(elements));
            }
            self.need(b',')?;
        }
    }

    fn word(&mut self) -> Result<Value, Trouble> {
        let words = [("null", Value::Null), ("true", Value::Bool(true)), ("false", Value::Bool(false))];
        for (word, value) in words {
            if self.rest().starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.grammar())
    }

    fn number(&mut self) -> Result<Value, Trouble> {
        let start = self.at;
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _signed = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        Ok(Value::Number(self.text.get(start..self.at).unwrap_or_default().to_owned()))
    }

    fn digits(&mut self) -> Result<(), Trouble> {
        let count = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        self.at += count;
        if count > 0 { Ok(()) } else { Err(self.grammar()) }
    }

    fn string(&mut self) -> Result<String, Trouble> {
        self.need(b'"')?;
        let mut text = String::new();
        loop {
            let rest = self.rest();
            let plain = rest.find(['"', '\\']).ok_or(self.grammar())?;
            let (run, _) = rest.split_at(plain);
            if run.bytes().any(|byte| byte < 0x20) {
                return Err(self.grammar());
            }
            text.push_str(run);
            self.at += plain;
            if self.take(b'"') {
                return Ok(text);
            }
            self.at += 1;
            text.push(self.escape()?);
        }
    }

    fn escape(&mut self) -> Result<char, Trouble> {
        let byte = self.peek().ok_or(self.grammar())?;
        self.at += 1;
        let c = match byte {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode(),
            _ => return Err(self.grammar()),
        };
        Ok(c)
    }

    fn unicode(&mut self) -> Result<char, Trouble> {
        let first = self.four_digits()?;
        if (0xd800..0xdc00).contains(&first) && self.rest().starts_with("\\u") {
            let before = self.at;
            self.at += 2;
            let second = self.four_digits()?;
            if (0xdc00..0xe000).contains(&second) {
                let point = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = before;
        }
        Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn four_digits(&mut self) -> Result<u32, Trouble> {
        let digits = self.text.get(self.at..self.at + 4).ok_or(self.grammar())?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(self.grammar());
        }
        self.at += 4;
        u32::from_str_radix(digits, 16).map_err(|_| self.grammar())
    }

    fn space(&mut self) {
        self.at += self.rest().bytes().take_while(|byte| b" \t\r\n".contains(byte)).count();
    }

    fn need(&mut self, byte: u8) -> Result<(), Trouble> {
        if self.take(byte) { Ok(()) } else { Err(self.grammar()) }
    }

    fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn grammar(&self) -> Trouble {
        Trouble::Grammar(self.at)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_serde_json_on_what_is_json() {
        let texts = [
            "null",
            " true ",
            "-0",
            "0.5e-7",
            "[1,[],{}]",
            r#"{"a":"\u00e9\ud83d\ude00\n"}"#,
            "\"\"",
            "[1,]",
            "{,}",
            "01",
            "1.",
            ".5",
            "+1",
            "1e",
            "-",
            "nul",
            "tru",
            "NaN",
            "Infinity",
            "[",
            "{\"a\"}",
            "{\"a\":}",
            "\"\\x\"",
            "\"\t\"",
            "\"",
            "1 2",
            "",
            "\u{feff}1",
            "'a'",
            "{\"a\":1,}",
            "\"\\u12g4\"",
            "\"\\u+123\"",
            "[1 2]",
            "{1:2}",
        ];
        for text in texts {
            let theirs = serde_json::from_str::<serde_json::Value>(text).is_ok();
            assert_eq!(read(text.as_bytes()).is_ok(), theirs, "{text}");
        }
        assert_eq!(read(b"\"\xff\""), Err(Trouble::Encoding));
        assert_eq!(read("[".repeat(MAX_DEPTH + 1).as_bytes()), Err(Trouble::Depth));
        let deepest = format!("{}{}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH));
        assert!(read(deepest.as_bytes()).is_ok());
    }

    #[test]
    fn keeps_what_others_lose() {
        let text = br#"{"a": 1.50, "b": "\ud800", "a": 1e400, "c": "\ud83d\ude00"}"#;
        let json = read(text).unwrap();
        assert!(json.repeats_a_name());
        let first = &json.members().unwrap()[0].1;
        assert_eq!((first.source(text), &first.value), (&b"1.50"[..], &Value::Number("1.50".to_owned())));
        assert_eq!(json.member("a").unwrap().number(), Some(f64::INFINITY));
        assert_eq!(json.member("b").unwrap().text(), Some("\u{fffd}"));
        assert_eq!(json.member("c").unwrap().text(), Some("\u{1f600}"));
    }
}
