//! Serialising: compact, strings as `JSON.stringify` writes them; numbers and the order of members as they
//! stand, or as ECMAScript has them.

use super::text::code_points;
use super::{Items, Kind, Member, Members, Text, Value, ecma};

/// Appends `value` without white space, number lexemes verbatim, members in their order. Does not recurse, so
/// any depth may be written.
pub fn write_value(value: Value<'_>, out: &mut Vec<u8>) {
    write(value, Form::Verbatim, out);
}

/// Appends what `JSON.stringify(JSON.parse(text))` gives for `value`, byte for byte (decision D1). Does not
/// recurse.
pub fn write_ecma(value: Value<'_>, out: &mut Vec<u8>) {
    write(value, Form::Ecma, out);
}

/// How numbers are written, and members ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Verbatim,
    Ecma,
}

fn write(value: Value<'_>, form: Form, out: &mut Vec<u8>) {
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut next = Some(value);
    loop {
        if let Some(value) = next.take() {
            write_head(value, form, &mut open, out);
        }
        let Some(innermost) = open.last_mut() else { return };
        let first = std::mem::take(&mut innermost.untouched);
        match &mut innermost.rest {
            Rest::Items(items) => {
                next = items.next();
                if next.is_some() {
                    separate(first, out);
                } else {
                    out.push(b']');
                    open.pop();
                }
            }
            Rest::Members(members) => {
                let member = members.next();
                next = member.map(Member::value);
                if let Some(member) = member {
                    separate(first, out);
                    write_text(member.name(), out);
                    out.push(b':');
                } else {
                    out.push(b'}');
                    open.pop();
                }
            }
        }
    }
}

/// A container that is being written.
struct Open<'d> {
    rest: Rest<'d>,
    untouched: bool,
}

enum Rest<'d> {
    Items(Items<'d>),
    Members(InOrder<'d>),
}

/// Members as they stand, or put in another order.
enum InOrder<'d> {
    AsTheyStand(Members<'d>),
    Reordered(std::vec::IntoIter<Member<'d>>),
}

impl<'d> Iterator for InOrder<'d> {
    type Item = Member<'d>;

    fn next(&mut self) -> Option<Member<'d>> {
        match self {
            InOrder::AsTheyStand(members) => members.next(),
            InOrder::Reordered(members) => members.next(),
        }
    }
}

/// Writes a scalar, or opens a container.
fn write_head<'d>(value: Value<'d>, form: Form, open: &mut Vec<Open<'d>>, out: &mut Vec<u8>) {
    match value.kind() {
        Kind::Null => out.extend_from_slice(b"null"),
        Kind::Boolean => {
            out.extend_from_slice(if value.as_bool() == Some(true) { b"true" } else { b"false" });
        }
        Kind::Number => match (value.as_number(), form) {
            (Some(number), Form::Ecma) => ecma::write_number(number, out),
            (number, _) => out.extend_from_slice(number.map_or(b"", |number| number.lexeme())),
        },
        Kind::String => write_text(value.as_text().unwrap_or(Text::EMPTY), out),
        Kind::Array => {
            out.push(b'[');
            open.push(Open { rest: Rest::Items(value.items()), untouched: true });
        }
        Kind::Object => {
            out.push(b'{');
            let reordered = if form == Form::Ecma { ecma::reordered(value) } else { None };
            let members = match reordered {
                Some(members) => InOrder::Reordered(members.into_iter()),
                None => InOrder::AsTheyStand(value.members()),
            };
            open.push(Open { rest: Rest::Members(members), untouched: true });
        }
    }
}

fn separate(first: bool, out: &mut Vec<u8>) {
    if !first {
        out.push(b',');
    }
}

/// Whether `value` serialises to more than `cap` bytes.
pub(crate) fn compact_len_over(value: Value<'_>, cap: usize) -> bool {
    // Serialising lengthens nothing but a raw lone surrogate, from three bytes to six.
    if value.document().source().len() <= cap / 2 {
        return false;
    }
    let mut out = Vec::new();
    write_value(value, &mut out);
    out.len() > cap
}

pub(crate) fn write_text(text: Text<'_>, out: &mut Vec<u8>) {
    write_string(&text.decode(), out);
}

/// Appends WTF-8 as a JSON string: the two-character escapes where JSON has one, `\u` for other control
/// characters and for lone surrogates, everything else as it is.
pub fn write_string(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    let mut from = 0;
    for (at, byte) in text.iter().enumerate() {
        let short = match byte {
            b'"' => b'"',
            b'\\' => b'\\',
            8 => b'b',
            9 => b't',
            10 => b'n',
            12 => b'f',
            13 => b'r',
            0..0x20 => 0,
            // 0xED begins U+D000 to U+DFFF, of which the surrogates have a second byte from 0xA0.
            0xED if text.get(at + 1).is_some_and(|next| *next >= 0xA0) => 0,
            _ => continue,
        };
        out.extend_from_slice(text.get(from..at).unwrap_or_default());
        from = at + 1;
        if short > 0 {
            out.extend_from_slice(&[b'\\', short]);
            continue;
        }
        let rest = text.get(at..).unwrap_or_default();
        let code = code_points(rest).next().unwrap_or(0);
        out.extend_from_slice(format!("\\u{code:04x}").as_bytes());
        from = if *byte == 0xED { at + 3 } else { at + 1 };
    }
    out.extend_from_slice(text.get(from..).unwrap_or_default());
    out.push(b'"');
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::Document;
    use super::*;

    #[test]
    fn writes_compactly_and_verbatim() {
        let text = r#" { "a" : [ 1.50 , 1e3 , -0 , true , null ] , "\u0062\u001f\n" : "\ud83d\ud83d\udca9\/" , "a" : { } } "#;
        let document = Document::parse(text.as_bytes().to_vec()).unwrap();
        let mut out = Vec::new();
        write_value(document.root(), &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), r#"{"a":{},"b\u001f\n":"\ud83d💩/"}"#);
        let text = r"[1.50,1e3,-0,12345678901234567890123456,1E+2]";
        let document = Document::parse(text.as_bytes().to_vec()).unwrap();
        let mut out = Vec::new();
        write_value(document.root(), &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), text);
    }
}
