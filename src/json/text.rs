//! The text of strings and names: escapes, WTF-8, code points.

use std::borrow::Cow;
use std::cmp::Ordering;

/// The text between the quotes of a string or name.
#[derive(Debug, Clone, Copy)]
pub struct Text<'d> {
    raw: &'d [u8],
    escaped: bool,
}

impl<'d> Text<'d> {
    /// No characters.
    pub(crate) const EMPTY: Text<'static> = Text { raw: &[], escaped: false };

    /// Characters that stand for themselves, as WTF-8: a backslash is a backslash.
    #[must_use]
    pub fn plain(text: &'d [u8]) -> Self {
        Text { raw: text, escaped: false }
    }

    pub(super) fn new(raw: &'d [u8], escaped: bool) -> Self {
        Text { raw, escaped }
    }

    /// The characters as WTF-8, escapes resolved. Borrows where there are none.
    #[must_use]
    pub fn decode(self) -> Cow<'d, [u8]> {
        if self.escaped { Cow::Owned(decode(self.raw)) } else { Cow::Borrowed(self.raw) }
    }

    /// The characters as they stand between the quotes.
    pub(crate) fn raw(self) -> &'d [u8] {
        self.raw
    }

    /// Compares by the decoded bytes, no further than the first difference: a long text beside many short ones
    /// costs no more than they do.
    pub(crate) fn compare(self, other: Text<'_>) -> Ordering {
        if self.escaped || other.escaped {
            // WTF-8 sorts as its code points do.
            self.code_points().cmp(other.code_points())
        } else {
            self.raw.cmp(other.raw)
        }
    }

    /// Whether some characters are written as escapes.
    pub(super) fn is_escaped(self) -> bool {
        self.escaped
    }

    /// The code points of what [`Text::decode`] gives, read as they are asked for.
    fn code_points(self) -> impl Iterator<Item = u32> + 'd {
        let mut at = 0;
        let mut read = move || {
            let rest = self.raw.get(at..)?;
            if self.escaped && rest.first() == Some(&b'\\') {
                let (escape, len) = escape(self.raw, at)?;
                at += len;
                return Some(match escape {
                    Escape::Character(character) => u32::from(character),
                    Escape::Lone(unit) => u32::from(unit),
                });
            }
            let (code, len) = code_point(rest)?;
            at += len;
            Some(code)
        };
        let mut ahead = None;
        std::iter::from_fn(move || {
            let code = ahead.take().or_else(&mut read)?;
            if let 0xD800..=0xDBFF = code {
                // Half of a pair by escape and half as it is are one character all the same.
                match read() {
                    Some(low @ 0xDC00..=0xDFFF) => {
                        return Some(0x1_0000 + ((code - 0xD800) << 10) + (low - 0xDC00));
                    }
                    next => ahead = next,
                }
            }
            Some(code)
        })
    }

    /// The number of code points; a lone surrogate is one (decision B4).
    #[must_use]
    pub fn count_code_points(self) -> usize {
        self.decode().iter().filter(|byte| **byte & 0xC0 != 0x80).count()
    }
}

impl PartialEq<[u8]> for Text<'_> {
    fn eq(&self, other: &[u8]) -> bool {
        *self == Text::plain(other)
    }
}

impl PartialEq for Text<'_> {
    fn eq(&self, other: &Text<'_>) -> bool {
        if self.escaped || other.escaped { self.compare(*other).is_eq() } else { self.raw == other.raw }
    }
}

/// What an escape stands for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Escape {
    Character(char),
    /// Half of a surrogate pair, without the escape of the other half beside it.
    Lone(u16),
}

/// The escape at `at`, and how many bytes it takes (12 for a surrogate pair); none if it is not valid.
pub(super) fn escape(text: &[u8], at: usize) -> Option<(Escape, usize)> {
    let rest = text.get(at..)?;
    let character = match rest.get(1)? {
        b'u' => return unicode_escape(rest),
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        _ => return None,
    };
    Some((Escape::Character(character), 2))
}

fn unicode_escape(rest: &[u8]) -> Option<(Escape, usize)> {
    let unit = code_unit(rest)?;
    if let 0xD800..=0xDBFF = unit
        && let Some(low @ 0xDC00..=0xDFFF) = rest.get(6..).and_then(code_unit)
    {
        let code = 0x1_0000 + ((u32::from(unit) - 0xD800) << 10) + (u32::from(low) - 0xDC00);
        return Some((Escape::Character(char::from_u32(code)?), 12));
    }
    match char::from_u32(u32::from(unit)) {
        Some(character) => Some((Escape::Character(character), 6)),
        None => Some((Escape::Lone(unit), 6)),
    }
}

/// The code unit of a `\uXXXX` that `rest` begins with.
fn code_unit(rest: &[u8]) -> Option<u16> {
    let [b'\\', b'u', hex @ ..] = rest else { return None };
    hex.get(..4)?.iter().try_fold(0, |unit: u16, byte| {
        let digit = char::from(*byte).to_digit(16)?;
        Some(unit << 4 | u16::try_from(digit).ok()?)
    })
}

fn decode(raw: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(raw.len());
    let mut at = 0;
    while let Some(rest) = raw.get(at..).filter(|rest| !rest.is_empty()) {
        let plain = rest.iter().position(|byte| *byte == b'\\').unwrap_or(rest.len());
        push_raw(&mut out, rest.get(..plain).unwrap_or_default());
        at += plain;
        match escape(raw, at) {
            Some((Escape::Character(character), len)) => {
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                at += len;
            }
            Some((Escape::Lone(unit), len)) => {
                push_raw(&mut out, &surrogate(unit));
                at += len;
            }
            None => break,
        }
    }
    out
}

/// The three bytes of a lone surrogate.
fn surrogate(unit: u16) -> [u8; 3] {
    let [high, low] = unit.to_be_bytes();
    [0xE0 | high >> 4, 0x80 | (high & 0xF) << 2 | low >> 6, 0x80 | low & 0x3F]
}

/// Appends WTF-8; a high surrogate at the end of `out` and a low one at the beginning of `more` become the
/// one character that they are in UTF-16.
fn push_raw(out: &mut Vec<u8>, more: &[u8]) {
    if let [.., 0xED, a @ 0xA0..=0xAF, b] = **out
        && let [0xED, c @ 0xB0..=0xBF, d, rest @ ..] = more
    {
        let high = u32::from(a & 0xF) << 6 | u32::from(b & 0x3F);
        let low = u32::from(c & 0xF) << 6 | u32::from(d & 0x3F);
        if let Some(character) = char::from_u32(0x1_0000 + (high << 10) + low) {
            out.truncate(out.len() - 3);
            out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            out.extend_from_slice(rest);
            return;
        }
    }
    out.extend_from_slice(more);
}

/// The code points of WTF-8, lone surrogates among them.
pub(crate) fn code_points(text: &[u8]) -> impl Iterator<Item = u32> + '_ {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (code, len) = code_point(rest)?;
        rest = rest.get(len..).unwrap_or_default();
        Some(code)
    })
}

/// The code point that `rest` begins with, and how many bytes it takes.
fn code_point(rest: &[u8]) -> Option<(u32, usize)> {
    Some(match *rest {
        [] => return None,
        [a @ 0..0x80, ..] => (u32::from(a), 1),
        [a @ 0..0xE0, b, ..] => (u32::from(a & 0x1F) << 6 | u32::from(b & 0x3F), 2),
        [a @ 0..0xF0, b, c, ..] => {
            (u32::from(a & 0xF) << 12 | u32::from(b & 0x3F) << 6 | u32::from(c & 0x3F), 3)
        }
        [a, b, c, d, ..] => {
            let high = u32::from(a & 0x7) << 18 | u32::from(b & 0x3F) << 12;
            (high | u32::from(c & 0x3F) << 6 | u32::from(d & 0x3F), 4)
        }
        // Not WTF-8, which no string of a document is.
        _ => (0xFFFD, rest.len()),
    })
}

/// Whether `needle` stands in `text`.
pub(crate) fn contains(text: &[u8], needle: &[u8]) -> bool {
    memchr::memmem::find(text, needle).is_some()
}

/// The white space of JSON.
pub(crate) fn is_white_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
}

/// `String.prototype.trim` of ECMAScript.
pub(crate) fn trim(text: &[u8]) -> &[u8] {
    let is_trimmed = |code: u32| {
        char::from_u32(code).is_some_and(|c| {
            // U+0085 is white space to Rust but not to ECMAScript; the byte order mark the other way round.
            c == '\u{feff}' || (c.is_whitespace() && c != '\u{85}')
        })
    };
    let mut rest = text;
    while let Some(code) = code_points(rest).next().filter(|code| is_trimmed(*code)) {
        rest = rest.get(char::from_u32(code).map_or(1, char::len_utf8)..).unwrap_or_default();
    }
    loop {
        let start = rest.iter().rposition(|byte| byte & 0xC0 != 0x80).unwrap_or(0);
        let last = rest.get(start..).unwrap_or_default();
        if code_points(last).next().is_none_or(|code| !is_trimmed(code)) {
            return rest;
        }
        rest = rest.get(..start).unwrap_or_default();
    }
}

/// `str::to_lowercase`, surrogates left as they are (decision B9).
pub(crate) fn to_lowercase(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        out.extend_from_slice(chunk.valid().to_lowercase().as_bytes());
        out.extend_from_slice(chunk.invalid());
    }
    out
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::Document;
    use super::*;

    #[test]
    fn decodes_escapes_and_joins_surrogates_however_they_are_written() {
        let high_raw = surrogate(0xD83D);
        let low_raw = surrogate(0xDCA9);
        let cases: [(&[u8], &[u8]); 7] = [
            (br#""a\n\/\u0041""#, b"a\n/A"),
            (br#""\ud83d\udca9""#, "\u{1F4A9}".as_bytes()),
            (br#""\udca9\ud83d""#, &[low_raw, high_raw].concat()),
            (br#""\ud83dx""#, &[&high_raw[..], b"x"].concat()),
            (&[b"\"", &high_raw[..], b"\\udca9\""].concat(), "\u{1F4A9}".as_bytes()),
            (&[b"\"\\ud83d", &low_raw[..], b"\""].concat(), "\u{1F4A9}".as_bytes()),
            (&[b"\"", &high_raw[..], b"\\n\""].concat(), &[&high_raw[..], b"\n"].concat()),
        ];
        for (json, text) in cases {
            let document = Document::parse_decoded(json.to_vec()).unwrap();
            assert_eq!(*document.root().as_text().unwrap().decode(), *text);
            assert_eq!(document.has_lone_surrogates(), std::str::from_utf8(text).is_err());
        }
    }

    #[test]
    fn compares_as_the_decoded_texts_do() {
        let (high, low) = (surrogate(0xD83D), surrogate(0xDCA9));
        let texts: Vec<Vec<u8>> = [
            &b""[..],
            b"a",
            br"\u0061",
            br"a\n",
            b"b",
            "\u{e9}".as_bytes(),
            br"\u00e9x",
            "\u{ffff}".as_bytes(),
            "\u{1F4A9}".as_bytes(),
            br"\ud83d\udca9",
            br"\ud83d",
            br"\ud83dx",
            br"\udca9\ud83d",
            &[&high[..], br"\udca9"].concat(),
            &[br"\ud83d", &low[..]].concat(),
            &high,
        ]
        .into_iter()
        .map(|text| [b"\"", text, b"\""].concat())
        .collect();
        for (a, b) in texts.iter().flat_map(|a| texts.iter().map(move |b| (a, b))) {
            let (a, b) =
                (Document::parse_decoded(a.clone()).unwrap(), Document::parse_decoded(b.clone()).unwrap());
            let (a, b) = (a.root().as_text().unwrap(), b.root().as_text().unwrap());
            assert_eq!(a.compare(b), a.decode().cmp(&b.decode()), "{a:?} {b:?}");
            assert_eq!(a == *b.decode(), a.decode() == b.decode(), "{a:?} {b:?}");
        }
    }

    #[test]
    fn counts_a_surrogate_pair_and_a_lone_surrogate_as_one_code_point_each() {
        let document = Document::parse(br#""\ud83d\udca9 \ud83d""#.to_vec()).unwrap();
        let text = document.root().as_text().unwrap();
        assert_eq!(text.count_code_points(), 3);
        assert_eq!(code_points(&text.decode()).collect::<Vec<_>>(), [0x1F4A9, 0x20, 0xD83D]);
    }

    #[test]
    fn trims_what_ecmascript_trims() {
        assert_eq!(trim("\u{feff}\u{a0}\u{2028} x \u{2003}\u{feff}".as_bytes()), b"x");
        assert_eq!(trim("\u{85}x\u{85}".as_bytes()), "\u{85}x\u{85}".as_bytes());
        assert_eq!(trim(b" \t\n"), b"");
    }

    #[test]
    fn lowercases_around_a_lone_surrogate() {
        let text = [b"\xC3\x84", &surrogate(0xD800)[..], b"B"].concat();
        assert_eq!(to_lowercase(&text), [b"\xC3\xA4", &surrogate(0xD800)[..], b"b"].concat());
    }
}
