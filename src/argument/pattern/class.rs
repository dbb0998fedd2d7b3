//! Character classes: which code points a single step may consume.

use std::sync::Arc;

use super::property::PropertySet;

/// Sorted, disjoint, inclusive ranges of code points.
pub(super) type Ranges = [(u32, u32)];

pub(super) const MAX_CODE: u32 = 0x10_FFFF;

/// What JavaScript's `\s` matches beyond ASCII, with U+FEFF and without U+0085.
const SPACES: &Ranges = &[
    (0x9, 0xD),
    (0x20, 0x20),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
    (0xFEFF, 0xFEFF),
];
const DIGITS: &Ranges = &[(0x30, 0x39)];
const WORDS: &Ranges = &[(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)];
const LINE_ENDS: &Ranges = &[(0xA, 0xA), (0xD, 0xD), (0x2028, 0x2029)];

/// The classes that have a name of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    Digit,
    Word,
    Space,
    /// What `.` does not match.
    LineEnd,
}

impl Named {
    pub(super) const COUNT: usize = 4;

    fn ranges(self) -> &'static Ranges {
        match self {
            Named::Digit => DIGITS,
            Named::Word => WORDS,
            Named::Space => SPACES,
            Named::LineEnd => LINE_ENDS,
        }
    }
}

/// `[A-Za-z0-9_]`, by which `\b` and `\B` judge; no byte of a longer WTF-8 sequence is one.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// A finished class.
#[derive(Debug)]
pub(super) struct Class {
    /// One bit per ASCII code point, negation applied.
    ascii: [u64; 2],
    negated: bool,
    /// What is named beyond ASCII.
    ranges: Box<Ranges>,
    /// Property sets are shared, never copied: a class stays as small as its source. True: complemented.
    sets: Box<[(PropertySet, bool)]>,
}

impl Class {
    /// The class of one code point.
    pub(super) fn of(code: u32) -> Class {
        let mut builder = Builder::default();
        builder.add(code, code);
        builder.finish(false)
    }

    /// The class of a named set, or of everything else.
    pub(super) fn named(named: Named, negated: bool) -> Class {
        let mut builder = Builder::default();
        builder.add_named(named, false);
        builder.finish(negated)
    }

    /// Whether an ASCII byte is in the class; false for other bytes.
    #[inline]
    pub(super) fn has_ascii(&self, byte: u8) -> bool {
        let half = self.ascii.get(usize::from(byte >> 6)).copied().unwrap_or(0);
        half >> (byte & 63) & 1 == 1
    }

    #[inline]
    pub(super) fn has(&self, code: u32) -> bool {
        match u8::try_from(code) {
            Ok(byte) if byte < 128 => self.has_ascii(byte),
            _ => self.names(code) != self.negated,
        }
    }

    fn names(&self, code: u32) -> bool {
        find(&self.ranges, code)
            || self.sets.iter().any(|(set, complemented)| find(set, code) != *complemented)
    }

    /// The steps that one test is worth.
    pub(super) fn cost(&self) -> u64 {
        1 + self.sets.len() as u64 / 2
    }

    /// Whether some code point beyond ASCII may be in the class.
    fn may_have_wide(&self) -> bool {
        self.negated || !self.sets.is_empty() || !self.ranges.is_empty()
    }

    /// One bit for each byte that a member may start with.
    pub(super) fn first_bytes(&self) -> [u64; 4] {
        let [low, high] = self.ascii;
        [low, high, 0, if self.may_have_wide() { u64::MAX } else { 0 }]
    }

    /// The only code point in the class, if there is exactly one.
    pub(super) fn single(&self) -> Option<u32> {
        if self.negated || !self.sets.is_empty() {
            return None;
        }
        let [low, high] = self.ascii;
        match (&*self.ranges, low.count_ones() + high.count_ones()) {
            ([], 1) if low != 0 => Some(low.trailing_zeros()),
            ([], 1) => Some(64 + high.trailing_zeros()),
            ([(first, last)], 0) if first == last => Some(*first),
            _ => None,
        }
    }

    /// The ranges and sets that the class keeps.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.ranges.len() + self.sets.len()
    }

    /// Whether the two classes surely share no code point.
    pub(super) fn is_disjoint(&self, other: &Class) -> bool {
        let [low, high] = self.ascii;
        let [other_low, other_high] = other.ascii;
        low & other_low == 0 && high & other_high == 0 && !(self.may_have_wide() && other.may_have_wide())
    }
}

fn find(ranges: &Ranges, code: u32) -> bool {
    let behind = ranges.partition_point(|r| r.0 <= code);
    behind.checked_sub(1).and_then(|i| ranges.get(i)).is_some_and(|r| code <= r.1)
}

/// A class in the making: the union of what is added. Most classes are ASCII, and need no memory of their own.
#[derive(Debug, Default)]
pub(super) struct Builder {
    ascii: [u64; 2],
    ranges: Vec<(u32, u32)>,
    sets: Vec<(PropertySet, bool)>,
}

impl Builder {
    pub(super) fn add(&mut self, low: u32, high: u32) {
        join(&mut self.ascii, ascii_bits(low, high));
        if high > 127 {
            self.ranges.push((low.max(128), high));
        }
    }

    pub(super) fn add_named(&mut self, named: Named, complemented: bool) {
        let mut low = 0;
        for range in named.ranges() {
            if !complemented {
                self.add(range.0, range.1);
            } else if range.0 > low {
                self.add(low, range.0 - 1);
            }
            low = range.1 + 1;
        }
        if complemented {
            self.add(low, MAX_CODE);
        }
    }

    pub(super) fn add_property(&mut self, set: PropertySet, complemented: bool) {
        if !self.sets.iter().any(|(s, c)| Arc::ptr_eq(s, &set) && *c == complemented) {
            let ranges = set.iter().take_while(|r| r.0 < 128);
            let mut ascii = [0; 2];
            ranges.for_each(|range| join(&mut ascii, ascii_bits(range.0, range.1)));
            join(&mut self.ascii, if complemented { ascii.map(|bits| !bits) } else { ascii });
            self.sets.push((set, complemented));
        }
    }

    pub(super) fn finish(mut self, negated: bool) -> Class {
        if self.ranges.len() > 1 {
            self.ranges.sort_unstable();
            self.ranges.dedup_by(|next, kept| {
                let joins = next.0 <= kept.1.saturating_add(1);
                if joins {
                    kept.1 = kept.1.max(next.1);
                }
                joins
            });
        }
        let ascii = if negated { self.ascii.map(|bits| !bits) } else { self.ascii };
        Class { ascii, negated, ranges: self.ranges.into_boxed_slice(), sets: self.sets.into_boxed_slice() }
    }
}

/// The ASCII part of a range, one bit per code point.
fn ascii_bits(low: u32, high: u32) -> [u64; 2] {
    // The bits from `low` to `high` of the word that starts at `base`.
    let word = |base: u32| {
        let (low, high) = (low.max(base), high.min(base + 63));
        if low > high { 0 } else { (u64::MAX >> (63 - (high - low))) << (low - base) }
    };
    [word(0), word(64)]
}

fn join(bits: &mut [u64; 2], more: [u64; 2]) {
    bits[0] |= more[0];
    bits[1] |= more[1];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_ranges_and_negates() {
        let mut builder = Builder::default();
        for (low, high) in [(0x61, 0x63), (0x100, 0x200), (0x64, 0x66), (0x62, 0x62), (0x1FF, 0x300)] {
            builder.add(low, high);
        }
        let class = builder.finish(false);
        assert_eq!(&*class.ranges, &[(0x100, 0x300)]);
        for (code, expected) in
            [(0x60, false), (0x61, true), (0x66, true), (0x67, false), (0x300, true), (0x301, false)]
        {
            assert_eq!(class.has(code), expected, "{code:x}");
        }
        let mut builder = Builder::default();
        builder.add(0, MAX_CODE);
        let none = builder.finish(true);
        assert!((0..=MAX_CODE).step_by(7).all(|code| !none.has(code)), "[^\\0-\\u{{10ffff}}] is empty");
        assert!(Builder::default().finish(true).has(0xD800), "[^] has lone surrogates too");
        assert!(!Builder::default().finish(false).has(0x41), "[] is empty");
    }

    #[test]
    fn named_classes_are_javascripts() {
        let space = Class::named(Named::Space, false);
        assert!(
            space.has(0xFEFF)
                && space.has(0x2028)
                && space.has(0xB)
                && !space.has(0x85)
                && !space.has(0x180E)
        );
        let dot = Class::named(Named::LineEnd, true);
        assert!(dot.has(0x85) && dot.has(0xB) && !dot.has(0x2029) && !dot.has(0xD));
        assert!(!Class::named(Named::Digit, false).has(0x0661));
        assert!(!Class::named(Named::Word, false).has(0x017F));
    }

    #[test]
    fn knows_what_is_disjoint() {
        let (word, digit) = (Class::named(Named::Word, false), Class::named(Named::Digit, false));
        let (not_word, dot) = (Class::named(Named::Word, true), Class::named(Named::LineEnd, true));
        assert!(word.is_disjoint(&not_word) && digit.is_disjoint(&not_word));
        assert!(!word.is_disjoint(&digit) && !not_word.is_disjoint(&dot));
        assert_eq!(Class::of(0x41).single(), Some(0x41));
        assert_eq!(digit.single(), None);
    }
}
