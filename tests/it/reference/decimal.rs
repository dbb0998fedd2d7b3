//! Exact decimals, by lists of digits.

use std::cmp::Ordering;

/// Sign, digits without zeros at either end, and the exponent of ten of the first digit; zero has no digits.
struct Parts {
    negative: bool,
    digits: Vec<u8>,
    magnitude: i128,
}

fn parts(lexeme: &str) -> Parts {
    let (negative, rest) = lexeme.strip_prefix('-').map_or((false, lexeme), |rest| (true, rest));
    let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
    let exponent: i128 = exponent.parse().expect("tests keep exponents within i128");
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).map(|byte| byte - b'0').collect();
    let zeros = digits.iter().take_while(|digit| **digit == 0).count();
    let mut kept = digits[zeros..].to_vec();
    while kept.last() == Some(&0) {
        kept.pop();
    }
    let magnitude = exponent + whole.len() as i128 - zeros as i128;
    Parts {
        negative: negative && !kept.is_empty(),
        magnitude: if kept.is_empty() { 0 } else { magnitude },
        digits: kept,
    }
}

pub(super) fn compare(a: &str, b: &str) -> Ordering {
    let (a, b) = (parts(a), parts(b));
    let sign = |parts: &Parts| match (parts.digits.is_empty(), parts.negative) {
        (true, _) => 0,
        (false, true) => -1,
        (false, false) => 1,
    };
    let size = |a: &Parts, b: &Parts| (a.magnitude, &a.digits).cmp(&(b.magnitude, &b.digits));
    sign(&a).cmp(&sign(&b)).then_with(|| match sign(&a) {
        0 => Ordering::Equal,
        1 => size(&a, &b),
        _ => size(&b, &a),
    })
}

pub(super) fn is_integral(lexeme: &str) -> bool {
    let parts = parts(lexeme);
    parts.digits.len() as i128 <= parts.magnitude.max(0)
}
