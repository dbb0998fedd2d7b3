//! `JSON.stringify(JSON.parse(text))` of ECMAScript, byte for byte (decision D1): numbers as the shortest text of
//! their double, names that are array indices first and in ascending order, of repeated names the last value.

use super::{Member, Number, Value};

/// The largest name that ECMAScript orders as a number, 2³² − 2.
const MAX_INDEX: u32 = u32::MAX - 1;
/// Whole numbers of so many digits are doubles as they stand, and are written as they stand.
const EXACT_DIGITS: usize = 15;

/// Appends a number as ECMAScript writes the double it stands for; what is no finite double is `null`.
pub(super) fn write_number(number: Number<'_>, out: &mut Vec<u8>) {
    let lexeme = number.lexeme();
    let plain = lexeme.iter().all(u8::is_ascii_digit) && lexeme.len() <= EXACT_DIGITS;
    if plain {
        return out.extend_from_slice(lexeme);
    }
    // The grammar of JSON is within that of `f64`, so a lexeme always parses.
    let double: f64 = std::str::from_utf8(lexeme).ok().and_then(|text| text.parse().ok()).unwrap_or(f64::NAN);
    if double.is_finite() {
        out.extend_from_slice(ryu_js::Buffer::new().format_finite(double).as_bytes());
    } else {
        out.extend_from_slice(b"null");
    }
}

/// The members of an object in the order in which ECMAScript lists them; none if that is the order in which
/// they stand.
pub(super) fn reordered(object: Value<'_>) -> Option<Vec<Member<'_>>> {
    object.members().find_map(array_index)?;
    let mut members: Vec<_> = object.members().collect();
    // Stable: names that are no index keep their order behind those that are.
    members.sort_by_key(|member| array_index(*member).map_or(u64::MAX, u64::from));
    Some(members)
}

/// The array index that a name is: decimal digits without a leading zero, up to 2³² − 2.
fn array_index(member: Member<'_>) -> Option<u32> {
    let name = member.name();
    // An escape of a digit takes six bytes; no index has more than ten characters.
    if name.raw().len() > 60 {
        return None;
    }
    let name = name.decode();
    let canonical = match &*name {
        [b'0'] => true,
        [b'1'..=b'9', rest @ ..] => rest.len() < 10 && rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    if !canonical {
        return None;
    }
    std::str::from_utf8(&name).ok()?.parse().ok().filter(|index| *index <= MAX_INDEX)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::{Document, write_ecma};

    fn stringify(text: &str) -> String {
        let mut out = Vec::new();
        write_ecma(Document::parse(text.as_bytes().to_vec()).unwrap().root(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_are_those_of_ecmascript() {
        for (lexeme, written) in [
            ("-0", "0"),
            ("0", "0"),
            ("-7", "-7"),
            ("1.0", "1"),
            ("1.50", "1.5"),
            ("1e2", "100"),
            ("1E400", "null"),
            ("-1e400", "null"),
            ("1e-400", "0"),
            ("-1e-400", "0"),
            ("1e21", "1e+21"),
            ("1e20", "100000000000000000000"),
            ("1e-7", "1e-7"),
            ("0.000001", "0.000001"),
            ("123456789012345", "123456789012345"),
            ("9007199254740993", "9007199254740992"),
            ("12345678901234567890123456", "1.2345678901234568e+25"),
            ("5e-324", "5e-324"),
            ("1.7976931348623157e308", "1.7976931348623157e+308"),
            ("1e1000000000", "null"),
        ] {
            assert_eq!(stringify(lexeme), written, "{lexeme}");
        }
    }

    #[test]
    fn indices_come_first_and_the_last_of_repeated_names_counts() {
        for (text, written) in [
            (r#"{"b":1,"2":2,"a":3,"10":4,"\u0031":5}"#, r#"{"1":5,"2":2,"10":4,"b":1,"a":3}"#),
            (r#"{"01":1,"1":2,"-1":3,"1.0":4,"":5}"#, r#"{"1":2,"01":1,"-1":3,"1.0":4,"":5}"#),
            (
                r#"{"4294967295":1,"4294967294":2,"10000000000":3}"#,
                r#"{"4294967294":2,"4294967295":1,"10000000000":3}"#,
            ),
            (r#"{"a":1,"b":2,"a":{"c":3,"0":4}}"#, r#"{"a":{"0":4,"c":3},"b":2}"#),
            (r#"{"__proto__":1,"toString":2,"__proto__":[ ]}"#, r#"{"__proto__":[],"toString":2}"#),
            (r#"["\ud800\u0041\ud83d\udca9\u2028\u007f\u001f\/"]"#, "[\"\\ud800A💩\u{2028}\u{7f}\\u001f/\"]"),
        ] {
            assert_eq!(stringify(text), written, "{text}");
        }
    }
}
