//! Exact decimal numbers. An exponent is never expanded: `1e1000000000` costs no more than `1`.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use super::parse::number_end;

/// A number as it was written.
#[derive(Debug, Clone, Copy)]
pub struct Number<'d> {
    lexeme: &'d [u8],
}

impl<'d> Number<'d> {
    pub(super) fn new(lexeme: &'d [u8]) -> Self {
        Number { lexeme }
    }

    /// The whole of `text` as a number of the JSON grammar, without white space around it.
    #[must_use]
    pub fn parse(text: &'d [u8]) -> Option<Number<'d>> {
        (number_end(text, 0) == Ok(text.len())).then_some(Number { lexeme: text })
    }

    /// The characters of the number as they were written.
    #[must_use]
    pub fn lexeme(self) -> &'d [u8] {
        self.lexeme
    }

    /// The exact value.
    #[must_use]
    pub fn decimal(self) -> Decimal<'d> {
        Decimal::new(self.lexeme)
    }

    /// Whether the value is a whole number: `3`, `3.0`, `30e-1`.
    #[must_use]
    pub fn is_integral(self) -> bool {
        short_integer(self.lexeme).is_some() || self.decimal().is_integral()
    }

    /// Compares by exact value.
    #[must_use]
    pub fn compare(self, other: Number<'_>) -> Ordering {
        match (short_integer(self.lexeme), short_integer(other.lexeme)) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => self.decimal().cmp(&other.decimal()),
        }
    }

    /// The steps of a [`Budget`](crate::budget::Budget) that comparing costs: both numbers are read in full to
    /// find where their digits begin and end, however short the other is.
    pub(crate) fn compare_steps(self, other: Number<'_>) -> u64 {
        (self.lexeme.len() + other.lexeme.len()) as u64 / 16
    }

    /// The value as a count; `None` unless it is a whole number from 0. Saturates at `u64::MAX`, more than
    /// any length can be.
    #[must_use]
    pub fn as_count(self) -> Option<u64> {
        if let Some(small) = short_integer(self.lexeme) {
            return u64::try_from(small).ok();
        }
        self.decimal().as_count()
    }
}

/// The value of up to 18 digits without fraction or exponent, which are nearly all numbers there are.
fn short_integer(lexeme: &[u8]) -> Option<i64> {
    let (negative, digits) = match lexeme {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.len() > 18 {
        return None;
    }
    let value = digits
        .iter()
        .try_fold(0_i64, |value, byte| byte.is_ascii_digit().then(|| value * 10 + i64::from(byte - b'0')))?;
    Some(if negative { -value } else { value })
}

/// A number in normal form: `0.d₁d₂… × 10^(exponent + 1)` without zeros at either end of the digits. Equal
/// values have equal normal forms, so it can be compared and hashed.
#[derive(Debug, Clone)]
pub struct Decimal<'d> {
    negative: bool,
    /// The significant digits: those before the point, then those after it. Both empty: zero.
    head: &'d [u8],
    tail: &'d [u8],
    /// The power of ten of the first significant digit.
    exponent: Exponent,
}

/// An integer of any size; `Small` whenever it has at most 18 digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Exponent {
    Small(i64),
    Big { negative: bool, digits: Vec<u8> },
}

impl<'d> Decimal<'d> {
    fn new(lexeme: &'d [u8]) -> Self {
        let (negative, unsigned) = match lexeme {
            [b'-', rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        let (mantissa, exponent) = split_at_byte(unsigned, |byte| matches!(byte, b'e' | b'E'));
        let (head, tail) = split_at_byte(mantissa, |byte| byte == b'.');
        let head = trim_leading_zeros(head);
        let before_point = head.len();
        let tail_len = tail.len();
        let (head, tail) = match (head, trim_trailing_zeros(tail)) {
            (head, []) => (trim_trailing_zeros(head), &[][..]),
            ([], tail) => (&[][..], trim_leading_zeros(tail)),
            both => both,
        };
        if head.is_empty() && tail.is_empty() {
            return Decimal { negative: false, head, tail, exponent: Exponent::Small(0) };
        }
        let offset = if before_point > 0 {
            i64::try_from(before_point).unwrap_or(i64::MAX) - 1
        } else {
            // 0.001: the first significant digit stands that far behind the point.
            let full = mantissa.get(mantissa.len() - tail_len..).unwrap_or_default();
            -1 - i64::try_from(full.iter().take_while(|byte| **byte == b'0').count()).unwrap_or(i64::MAX)
        };
        Decimal { negative, head, tail, exponent: Exponent::new(exponent, offset) }
    }

    fn digits(&self) -> impl Iterator<Item = u8> + '_ {
        self.head.iter().chain(self.tail).copied()
    }

    fn is_zero(&self) -> bool {
        self.head.is_empty() && self.tail.is_empty()
    }

    fn is_integral(&self) -> bool {
        let significant = i64::try_from(self.head.len() + self.tail.len()).unwrap_or(i64::MAX);
        match &self.exponent {
            Exponent::Small(exponent) => self.is_zero() || significant <= *exponent + 1,
            Exponent::Big { negative, .. } => !negative,
        }
    }

    fn as_count(&self) -> Option<u64> {
        if self.is_zero() {
            return Some(0);
        }
        if self.negative || !self.is_integral() {
            return None;
        }
        let Exponent::Small(exponent @ 0..=19) = self.exponent else { return Some(u64::MAX) };
        let places = usize::try_from(exponent).unwrap_or(0) + 1;
        let digits = self.digits().chain(std::iter::repeat(b'0')).take(places);
        let count = digits
            .fold(0_u64, |count, digit| count.saturating_mul(10).saturating_add(u64::from(digit - b'0')));
        Some(count)
    }
}

impl Ord for Decimal<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.is_zero(), other.is_zero(), self.negative, other.negative) {
            (true, true, ..) => Ordering::Equal,
            (true, false, _, negative) => {
                if negative {
                    Ordering::Greater
                } else {
                    Ordering::Less
                }
            }
            (false, true, negative, _) => {
                if negative {
                    Ordering::Less
                } else {
                    Ordering::Greater
                }
            }
            (_, _, true, false) => Ordering::Less,
            (_, _, false, true) => Ordering::Greater,
            (_, _, negative, _) => {
                let size = self.exponent.cmp(&other.exponent).then_with(|| self.digits().cmp(other.digits()));
                if negative { size.reverse() } else { size }
            }
        }
    }
}

impl PartialOrd for Decimal<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Decimal<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Decimal<'_> {}

impl Hash for Decimal<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.negative, &self.exponent).hash(state);
        self.digits().for_each(|digit| state.write_u8(digit));
        state.write_u8(0xFF);
    }
}

impl Exponent {
    /// The exponent as written (sign and digits, or nothing) plus `offset`, which is under 2³² in size.
    fn new(written: &[u8], offset: i64) -> Exponent {
        let (negative, digits) = match written {
            [b'-', digits @ ..] => (true, digits),
            [b'+', digits @ ..] | digits => (false, digits),
        };
        let digits = trim_leading_zeros(digits);
        if digits.len() <= 17 {
            let size = digits.iter().fold(0_i64, |value, byte| value * 10 + i64::from(byte - b'0'));
            return Exponent::Small(if negative { -size } else { size } + offset);
        }
        // At least 10¹⁷, so the offset cannot change the sign.
        let offset = if negative { -offset } else { offset };
        let digits = add_to_digits(digits, offset);
        if digits.len() > 18 {
            return Exponent::Big { negative, digits };
        }
        let size = digits.iter().fold(0_i64, |value, byte| value * 10 + i64::from(byte - b'0'));
        Exponent::Small(if negative { -size } else { size })
    }
}

impl Ord for Exponent {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Exponent::Small(a), Exponent::Small(b)) => a.cmp(b),
            (Exponent::Small(_), Exponent::Big { negative, .. }) => {
                if *negative {
                    Ordering::Greater
                } else {
                    Ordering::Less
                }
            }
            (Exponent::Big { .. }, Exponent::Small(_)) => other.cmp(self).reverse(),
            (Exponent::Big { negative: a, digits: x }, Exponent::Big { negative: b, digits: y }) => {
                let size = x.len().cmp(&y.len()).then_with(|| x.cmp(y));
                b.cmp(a).then(if *a { size.reverse() } else { size })
            }
        }
    }
}

impl PartialOrd for Exponent {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// `digits + offset` in decimal, without leading zeros; the result must be positive.
fn add_to_digits(digits: &[u8], offset: i64) -> Vec<u8> {
    let mut out = digits.to_vec();
    let mut carry = offset;
    for digit in out.iter_mut().rev() {
        let sum = i64::from(*digit - b'0') + carry;
        *digit = b'0' + u8::try_from(sum.rem_euclid(10)).unwrap_or(0);
        carry = sum.div_euclid(10);
        if carry == 0 {
            break;
        }
    }
    if carry > 0 {
        let front = carry.to_string().into_bytes();
        out.splice(0..0, front);
    }
    trim_leading_zeros(&out).to_vec()
}

/// The bytes before the first that `is` names, and those after it.
fn split_at_byte(text: &[u8], is: impl Fn(u8) -> bool) -> (&[u8], &[u8]) {
    match text.iter().position(|byte| is(*byte)) {
        Some(at) => (text.get(..at).unwrap_or_default(), text.get(at + 1..).unwrap_or_default()),
        None => (text, &[]),
    }
}

fn trim_leading_zeros(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().take_while(|byte| **byte == b'0').count();
    digits.get(zeros..).unwrap_or_default()
}

fn trim_trailing_zeros(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().rev().take_while(|byte| **byte == b'0').count();
    digits.get(..digits.len() - zeros).unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn number(text: &str) -> Number<'_> {
        Number::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn compares_exactly() {
        // Each line ascending; the numbers of one entry are equal.
        let ascending = [
            &["-1e99999999999999999999999999", "-10e99999999999999999999999998"][..],
            &["-1e400"],
            &["-10", "-1e1"],
            &["-0.5"],
            &["-1e-1000000000"],
            &["0", "-0", "0.0", "0e99999999999999999999"],
            &["1e-99999999999999999999"],
            &["1e-1000000000"],
            &["0.001", "1e-3", "0.1e-2", "1.0e-3", "10e-4"],
            &["1", "1.0", "1e0", "10e-1", "0.1e1", "0.01E+2"],
            &["9.9"],
            &["10", "1e1"],
            &["12345678901234567890"],
            &["12345678901234567891"],
            &["1e1000000000"],
            &["9e99999999999999999", "0.9e100000000000000000", "90e99999999999999998"],
            &["1e100000000000000000"],
            &["1e1000000000000000000", "0.1e1000000000000000001"],
        ];
        for (i, left) in ascending.iter().enumerate() {
            for (j, right) in ascending.iter().enumerate() {
                for (a, b) in left.iter().flat_map(|a| right.iter().map(move |b| (a, b))) {
                    assert_eq!(number(a).compare(number(b)), i.cmp(&j), "{a} {b}");
                }
            }
        }
    }

    #[test]
    fn equal_values_hash_alike() {
        let state = std::hash::RandomState::new();
        let hash = |text| std::hash::BuildHasher::hash_one(&state, number(text).decimal());
        assert_eq!(hash("100"), hash("1.00e2"));
        assert_eq!(hash("-0"), hash("0.0"));
        assert_eq!(hash("90e99999999999999998"), hash("0.9e100000000000000000"));
    }

    #[test]
    fn knows_whole_numbers_and_counts() {
        for text in ["0", "-0.0", "3", "3.0", "30e-1", "1e99999999999999999999", "12e1", "0e-5", "1.50e1"] {
            assert!(number(text).is_integral(), "{text}");
        }
        for text in ["0.5", "1e-1", "1e-99999999999999999999", "15e-1", "3.01", "-2.5e0"] {
            assert!(!number(text).is_integral(), "{text}");
        }
        let counts = [("0", Some(0)), ("-0", Some(0)), ("2.0", Some(2)), ("1.2e3", Some(1200)), ("-1", None)];
        for (text, count) in counts.into_iter().chain([("0.5", None), ("1e30", Some(u64::MAX))]) {
            assert_eq!(number(text).as_count(), count, "{text}");
        }
        assert_eq!(number("18446744073709551616").as_count(), Some(u64::MAX));
        assert_eq!(number("1844674407370955161e1").as_count(), Some(18_446_744_073_709_551_610));
    }

    #[test]
    fn parses_the_grammar_and_nothing_else() {
        for text in
            ["", "-", "01", "1.", ".5", "+5", " 5", "5 ", "1e", "1e+", "0x1", "Infinity", "1,000", "--1"]
        {
            assert!(Number::parse(text.as_bytes()).is_none(), "{text}");
        }
    }
}
