//! Numbers: which of them an f64 keeps, and how the crate reads them.

use std::borrow::Cow;

use jsonschema::json::JsonNumber;

use crate::json::Number;

/// So many characters without an exponent are at most 15 digits, which every f64 keeps.
const SURE: usize = 15;

/// A number of the tape.
pub(super) struct TapeNumber<'a>(pub(super) Number<'a>);

impl TapeNumber<'_> {
    fn lexeme(&self) -> &str {
        std::str::from_utf8(self.0.lexeme()).unwrap_or_default()
    }
}

impl JsonNumber for TapeNumber<'_> {
    fn as_u64(&self) -> Option<u64> {
        self.lexeme().parse().ok()
    }

    fn as_i64(&self) -> Option<i64> {
        self.lexeme().parse().ok()
    }

    fn as_f64(&self) -> Option<f64> {
        self.lexeme().parse().ok()
    }

    fn as_str(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.lexeme())
    }

    fn to_number(&self) -> Cow<'_, serde_json::Number> {
        Cow::Owned(exact(self.0).unwrap_or_else(|| 0.into()))
    }

    fn is_integer(&self) -> bool {
        self.0.is_integral()
    }

    fn is_written_as_integer(&self) -> bool {
        !self.lexeme().contains(['.', 'e', 'E'])
    }
}

/// The number as the crate holds it; none if that is another value: neither of 64 bits nor what the nearest
/// f64 prints.
pub(super) fn exact(number: Number<'_>) -> Option<serde_json::Number> {
    let lexeme = std::str::from_utf8(number.lexeme()).ok()?;
    if let Ok(small) = lexeme.parse::<i64>() {
        // `-0` is 0 as an integer; nothing tells the two apart.
        return Some(small.into());
    }
    if let Ok(large) = lexeme.parse::<u64>() {
        return Some(large.into());
    }
    let nearest = nearest(lexeme, number)?;
    serde_json::Number::from_f64(nearest)
}

/// Whether the crate can hold the number. `as_float` says that it will read an integer as an f64, too.
pub(super) fn is_exact(number: Number<'_>, as_float: bool) -> bool {
    let Ok(lexeme) = std::str::from_utf8(number.lexeme()) else { return false };
    if lexeme.len() <= SURE && !lexeme.contains(['e', 'E']) {
        return true;
    }
    let whole = lexeme.parse::<i64>().is_ok() || lexeme.parse::<u64>().is_ok();
    (whole && !as_float) || nearest(lexeme, number).is_some()
}

/// The nearest f64, if its shortest digits are the number's own value.
fn nearest(lexeme: &str, number: Number<'_>) -> Option<f64> {
    let nearest: f64 = lexeme.parse().ok().filter(|nearest: &f64| nearest.is_finite())?;
    let printed = format!("{nearest:e}");
    Number::parse(printed.as_bytes()).filter(|printed| printed.compare(number).is_eq()).map(|_| nearest)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_exact_if_64_bits_or_an_f64_hold_its_value() {
        let holds = |text: &str, as_float| {
            let number = Number::parse(text.as_bytes()).unwrap();
            assert_eq!(exact(number).is_some(), is_exact(number, false), "{text}");
            is_exact(number, as_float)
        };
        for text in [
            "0",
            "-0",
            "0.1",
            "1.50",
            "1e2",
            "1e300",
            "123456789.123456",
            "10000000000000000000000000",
            "0e999",
        ] {
            assert!(holds(text, false) && holds(text, true), "{text}");
        }
        for text in ["18446744073709551615", "-9223372036854775808", "9007199254740993"] {
            assert!(holds(text, false), "{text}");
        }
        assert!(!holds("9007199254740993", true), "an f64 rounds it");
        for text in [
            "1e400",
            "-1e400",
            "1e-400",
            "18446744073709551617",
            "9007199254740993.0",
            "0.12345678901234567890",
        ] {
            assert!(!holds(text, false) && !holds(text, true), "{text}");
        }
    }
}
