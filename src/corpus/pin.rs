//! The pin of a corpus: SHA-256 over RFC 8785 of the object without its member `sha256`.

use std::fmt::Write as _;

use crate::json::{Kind, Text, Value, write_ecma, write_string};
use sha2::{Digest, Sha256};

/// The pin that `corpus` should have, in hexadecimal digits.
///
/// The corpus nests no deeper than its caller allows, so this recurses.
///
/// # Errors
/// What RFC 8785 has no form for.
pub(super) fn pin(corpus: Value<'_>) -> Result<String, String> {
    let mut canonical = Vec::new();
    write_members(corpus, Some(b"sha256"), &mut canonical)?;
    let digest = Sha256::digest(&canonical);
    Ok(digest.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    }))
}

fn write_canonical(value: Value<'_>, out: &mut Vec<u8>) -> Result<(), String> {
    match value.kind() {
        Kind::Array => {
            out.push(b'[');
            for (index, item) in value.items().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_canonical(item, out)?;
            }
            out.push(b']');
        }
        Kind::Object => write_members(value, None, out)?,
        // Scalars are written as in ECMAScript, which has a form even for what RFC 8785 forbids.
        kind => {
            let start = out.len();
            write_ecma(value, out);
            if kind == Kind::Number && out.get(start..) == Some(b"null") {
                return Err("a number is too large for a double".to_owned());
            }
            if kind == Kind::String {
                value.as_text().map_or(Ok(String::new()), utf8)?;
            }
        }
    }
    Ok(())
}

/// Members in the order of their names' UTF-16 code units.
fn write_members(object: Value<'_>, without: Option<&[u8]>, out: &mut Vec<u8>) -> Result<(), String> {
    if object.repeats_a_name() {
        return Err("a name stands twice in one object".to_owned());
    }
    let mut members = Vec::new();
    for member in object.members() {
        members.push((utf8(member.name())?, member.value()));
    }
    members.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
    out.push(b'{');
    let kept = members.into_iter().filter(|(name, _)| Some(name.as_bytes()) != without);
    for (index, (name, value)) in kept.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write_string(name.as_bytes(), out);
        out.push(b':');
        write_canonical(value, out)?;
    }
    out.push(b'}');
    Ok(())
}

fn utf8(text: Text<'_>) -> Result<String, String> {
    String::from_utf8(text.decode().into_owned())
        .map_err(|_| "a text holds half a surrogate pair, which has no canonical form".to_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::json::Document;

    fn canonical(text: &str) -> Result<String, String> {
        let document = Document::parse(text.as_bytes().to_vec()).unwrap();
        let mut out = Vec::new();
        write_canonical(document.root(), &mut out)?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn writes_the_examples_of_rfc_8785() {
        let numbers = [
            ("333333333.33333329", "333333333.3333333"),
            ("1E30", "1e+30"),
            ("4.50", "4.5"),
            ("2e-3", "0.002"),
            ("0.000000000000000000000000001", "1e-27"),
            ("-0.0", "0"),
            ("1e20", "100000000000000000000"),
            ("123456789012345678901234", "1.2345678901234569e+23"),
            ("-0.000001", "-0.000001"),
            ("-0.0000001", "-1e-7"),
            ("5e-324", "5e-324"),
            ("9007199254740993", "9007199254740992"),
        ];
        for (given, wanted) in numbers {
            assert_eq!(canonical(given).as_deref(), Ok(wanted));
        }
        let text = r#"{"\ufb33":"Hebrew","\r":"CR","1":"One","\ud83d\ude00":"Smile","\u0080":"Control","\u20ac":[],"ö":{"€$\u000F\nA'B\"\\\\\"\/":null}}"#;
        let wanted = "{\"\\r\":\"CR\",\"1\":\"One\",\"\u{80}\":\"Control\",\"ö\":{\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\":null},\"€\":[],\"😀\":\"Smile\",\"\u{fb33}\":\"Hebrew\"}";
        assert_eq!(canonical(text).as_deref(), Ok(wanted));
    }

    #[test]
    fn refuses_what_has_no_canonical_form() {
        for text in [r#"{"a":1,"a":1}"#, r#"["\ud800"]"#, r#"{"\udc00":1}"#, "[1e400]"] {
            canonical(text).unwrap_err();
        }
    }
}
