//! The pin of a corpus: SHA-256 over RFC 8785 of the object without its member `sha256`.

use std::fmt::Write as _;

use millwork_dock::json::{Kind, Value, write_string};
use sha2::{Digest, Sha256};

/// The pin that `corpus` should have, in hexadecimal digits.
///
/// The corpus nests no deeper than its caller allows, so this recurses.
///
/// # Errors
/// What RFC 8785 has no form for.
pub(super) fn pin(corpus: Value<'_>) -> Result<String, String> {
    let mut canonical = String::new();
    write_members(corpus, Some("sha256"), &mut canonical)?;
    let digest = Sha256::digest(canonical.as_bytes());
    Ok(digest.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    }))
}

fn write_canonical(value: Value<'_>, out: &mut String) -> Result<(), String> {
    match value.kind() {
        Kind::Null => out.push_str("null"),
        Kind::Boolean => out.push_str(if value.as_bool() == Some(true) { "true" } else { "false" }),
        Kind::Number => write_number(value.as_number().map_or(b"", |number| number.lexeme()), out)?,
        Kind::String => write_text(&text(value.as_text().map(millwork_dock::json::Text::decode))?, out),
        Kind::Array => {
            for (index, item) in value.items().enumerate() {
                out.push(if index == 0 { '[' } else { ',' });
                write_canonical(item, out)?;
            }
            out.push_str(if value.is_empty() { "[]" } else { "]" });
        }
        Kind::Object => write_members(value, None, out)?,
    }
    Ok(())
}

/// Members in the order of their names' UTF-16 code units.
fn write_members(object: Value<'_>, without: Option<&str>, out: &mut String) -> Result<(), String> {
    if object.repeats_a_name() {
        return Err("a name stands twice in one object".to_owned());
    }
    let mut members = Vec::new();
    for member in object.members() {
        members.push((text(Some(member.name().decode()))?, member.value()));
    }
    members.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
    out.push('{');
    let kept = members.into_iter().filter(|(name, _)| Some(name.as_str()) != without);
    for (index, (name, value)) in kept.enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_text(&name, out);
        out.push(':');
        write_canonical(value, out)?;
    }
    out.push('}');
    Ok(())
}

fn text(decoded: Option<std::borrow::Cow<'_, [u8]>>) -> Result<String, String> {
    String::from_utf8(decoded.unwrap_or_default().into_owned())
        .map_err(|_| "a text holds half a surrogate pair, which has no canonical form".to_owned())
}

fn write_text(text: &str, out: &mut String) {
    let mut bytes = Vec::new();
    write_string(text.as_bytes(), &mut bytes);
    out.push_str(&String::from_utf8_lossy(&bytes));
}

/// A number as ECMAScript writes the double that it is.
fn write_number(lexeme: &[u8], out: &mut String) -> Result<(), String> {
    let number = std::str::from_utf8(lexeme).ok().and_then(|lexeme| lexeme.parse::<f64>().ok());
    let number = number.filter(|number| number.is_finite()).ok_or("a number is too large for a double")?;
    // Writing to a string never fails. Both forms have the shortest digits that read back, as ECMAScript has.
    let _ = if number == 0.0 {
        write!(out, "0")
    } else if (1e-6..1e21).contains(&number.abs()) {
        write!(out, "{number}")
    } else {
        let text = format!("{number:e}");
        write!(out, "{}", if text.contains("e-") { text } else { text.replace('e', "e+") })
    };
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use millwork_dock::json::Document;

    fn canonical(text: &str) -> Result<String, String> {
        let document = Document::parse(text.as_bytes().to_vec()).unwrap();
        let mut out = String::new();
        write_canonical(document.root(), &mut out).map(|()| out)
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
            ("123456789012345678901234", "1.2345678901234568e+23"),
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
