//! Reading WTF-8 one code point at a time, in both directions.
//!
//! WTF-8 is UTF-8 plus lone surrogates as three-byte sequences. Patterns without `u` match UTF-16 code
//! units; for them [`split_pairs`] writes each supplementary code point as its two surrogates, three bytes
//! each, so that "one step" is one code unit and the matchers need not know the difference.
//!
//! Every function accepts any bytes: what is not WTF-8 is read as some code point, and reading advances.

use std::borrow::Cow;

/// The code point that starts at `at` and the offset behind it.
#[inline]
pub(super) fn next(text: &[u8], at: usize) -> Option<(u32, usize)> {
    let first = *text.get(at)?;
    if first < 0x80 { Some((u32::from(first), at + 1)) } else { Some(next_wide(text, at, first)) }
}

fn next_wide(text: &[u8], at: usize, first: u8) -> (u32, usize) {
    let follow = |offset: usize| text.get(at + offset).map_or(0, |b| u32::from(*b) & 0x3F);
    let (code, length) = match first {
        0xC0..=0xDF => ((u32::from(first) & 0x1F) << 6 | follow(1), 2),
        0xE0..=0xEF => ((u32::from(first) & 0x0F) << 12 | follow(1) << 6 | follow(2), 3),
        0xF0..=0xFF => ((u32::from(first) & 0x07) << 18 | follow(1) << 12 | follow(2) << 6 | follow(3), 4),
        _ => (u32::from(first), 1),
    };
    (code, (at + length).min(text.len()))
}

/// The code point that ends at `at` and the offset where it starts.
#[inline]
pub(super) fn previous(text: &[u8], at: usize) -> Option<(u32, usize)> {
    let start = step_back(text, at)?;
    next(text, start).map(|(code, _)| (code, start))
}

/// The offset of the code point that ends at `at`.
#[inline]
pub(super) fn step_back(text: &[u8], at: usize) -> Option<usize> {
    let mut start = at.checked_sub(1)?;
    let lowest = at.saturating_sub(4);
    while start > lowest && text.get(start).is_some_and(|b| b & 0xC0 == 0x80) {
        start -= 1;
    }
    Some(start)
}

/// Appends `code` (a scalar value or a surrogate) in WTF-8.
pub(super) fn push(out: &mut Vec<u8>, code: u32) {
    let [_, high, middle, low] = code.to_be_bytes();
    let last = 0x80 | (low & 0x3F);
    let second_last = 0x80 | ((middle & 0x0F) << 2) | (low >> 6);
    match code {
        0..=0x7F => out.push(low),
        0x80..=0x7FF => out.extend([0xC0 | (middle << 2) | (low >> 6), last]),
        0x800..=0xFFFF => out.extend([0xE0 | (middle >> 4), second_last, last]),
        _ => {
            let second = 0x80 | ((high & 0x03) << 4) | (middle >> 4);
            out.extend([0xF0 | (high >> 2 & 0x07), second, second_last, last]);
        }
    }
}

/// The code point that a high and a low surrogate stand for.
pub(super) fn join_pair(high: u32, low: u32) -> Option<u32> {
    ((0xD800..=0xDBFF).contains(&high) && (0xDC00..=0xDFFF).contains(&low))
        .then(|| 0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00))
}

/// The text as UTF-16 sees it: each supplementary code point as two three-byte surrogates.
pub(super) fn split_pairs(text: &[u8]) -> Cow<'_, [u8]> {
    let Some(first) = text.iter().position(|b| *b >= 0xF0) else { return Cow::Borrowed(text) };
    let (head, rest) = text.split_at(first);
    let mut out = Vec::with_capacity(text.len() + text.len() / 2);
    out.extend_from_slice(head);
    let mut at = 0;
    while let Some((code, behind)) = next(rest, at) {
        if let Some(offset) = code.checked_sub(0x1_0000) {
            push(&mut out, 0xD800 + (offset >> 10 & 0x3FF));
            push(&mut out, 0xDC00 + (offset & 0x3FF));
        } else {
            push(&mut out, code);
        }
        at = behind;
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn reads_what_it_writes_in_both_directions() {
        let codes = [0, 0x41, 0x7F, 0x80, 0x7FF, 0x800, 0xD800, 0xDFFF, 0xFEFF, 0xFFFF, 0x1_0000, 0x10_FFFF];
        let mut bytes = Vec::new();
        for code in codes {
            push(&mut bytes, code);
        }
        let mut at = 0;
        for code in codes {
            let (read, behind) = next(&bytes, at).unwrap();
            assert_eq!(read, code);
            assert_eq!(previous(&bytes, behind), Some((code, at)));
            at = behind;
        }
        assert_eq!(next(&bytes, at), None);
        assert_eq!(previous(&bytes, 0), None);
    }

    #[test]
    fn splits_supplementary_code_points_only() {
        assert!(matches!(split_pairs("aé€".as_bytes()), Cow::Borrowed(_)));
        let split = split_pairs("é😀z".as_bytes());
        let mut expected = "é".as_bytes().to_vec();
        push(&mut expected, 0xD83D);
        push(&mut expected, 0xDE00);
        expected.push(b'z');
        assert_eq!(*split, *expected);
        assert_eq!(join_pair(0xD83D, 0xDE00), Some(0x1_F600));
        assert_eq!(join_pair(0xDE00, 0xD83D), None);
    }

    #[test]
    fn advances_over_bytes_that_are_no_wtf8() {
        for bytes in [&[0x80, 0xFF][..], &[0xF0], &[0xE2, 0x82], &[0x80; 9]] {
            let (mut at, mut back) = (0, bytes.len());
            while let Some((_, behind)) = next(bytes, at) {
                assert!(behind > at);
                at = behind;
            }
            while let Some((_, start)) = previous(bytes, back) {
                assert!(start < back);
                back = start;
            }
        }
    }
}
