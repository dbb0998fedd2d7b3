//! Byte pair merging: as long as two neighbours together are a token, the pair of the lowest rank becomes one
//! part, the leftmost of equals first. What is left are the tokens of the piece.

use super::vocabulary::{NONE, Vocabulary};

/// Pieces up to so many bytes are merged by looking at every pair again and again.
pub(super) const SHORT: usize = 32;

/// Counts the tokens of a piece that begins at `base`, is no token itself, and has at least two bytes and at most
/// [`SHORT`].
pub(super) fn count_short(vocabulary: &Vocabulary, text: &[u8], base: usize, len: usize) -> u32 {
    // Of each part where it begins in the piece, and the rank of it and its neighbour to the right together.
    let mut starts = [0_u8; SHORT + 2];
    let mut ranks = [NONE; SHORT + 2];
    let mut parts = len.min(SHORT);
    let piece = text.get(base..base + parts).unwrap_or_default();
    for (index, start) in (0..).zip(&mut starts) {
        *start = index;
    }
    for (pair, rank) in piece.windows(2).zip(&mut ranks) {
        if let [first, second] = pair {
            *rank = vocabulary.rank_of_pair(*first, *second);
        }
    }
    loop {
        let pairs = ranks.get(..parts.saturating_sub(1)).unwrap_or_default();
        let Some((at, lowest)) = pairs.iter().copied().enumerate().min_by_key(|(_, rank)| *rank) else {
            break;
        };
        if lowest == NONE {
            break;
        }
        starts.copy_within(at + 2..=parts, at + 1);
        ranks.copy_within(at + 2..=parts, at + 1);
        parts -= 1;
        let rank_at = |at: usize| match (starts.get(at), starts.get(at + 2)) {
            (Some(start), Some(end)) if at + 2 <= parts => {
                vocabulary.rank_between(text, base + usize::from(*start), base + usize::from(*end))
            }
            _ => NONE,
        };
        let (own, before) = (rank_at(at), at.checked_sub(1).map(rank_at));
        if let Some(rank) = ranks.get_mut(at) {
            *rank = own;
        }
        if let (Some(rank), Some(before)) = (at.checked_sub(1).and_then(|at| ranks.get_mut(at)), before) {
            *rank = before;
        }
    }
    u32::try_from(parts).unwrap_or(u32::MAX)
}

/// A long piece: what begins at `base` in `text`.
#[derive(Clone, Copy)]
struct Piece<'t> {
    vocabulary: &'t Vocabulary,
    text: &'t [u8],
    base: usize,
}

impl Piece<'_> {
    fn rank_between(self, start: usize, end: usize) -> u32 {
        self.vocabulary.rank_between(self.text, self.base + start, self.base + end)
    }
}

/// A part of a long piece: one token, so that its length fits into a byte. Eight bytes, since how many fit into a
/// cache decides how long the longest pieces take.
#[derive(Debug, Clone, Copy)]
struct Part {
    /// The rank of it and its neighbour to the right together; [`NONE`] too where a part no longer begins.
    rank: u32,
    /// How long it is.
    len: u8,
    /// How long the part before it is; 0 for the first.
    len_before: u8,
}

/// A pair to be merged at a rank.
#[derive(Debug, Clone, Copy)]
struct Entry {
    start: u32,
    /// The next entry of the same rank, or [`NONE`].
    next: u32,
}

/// Merges long pieces in time linear in their length: pairs wait in a list for each rank, and the ranks are gone
/// through once, upwards. That is enough, since a merge makes only pairs of higher rank than its own: a token
/// that merging can reach is made of merges in ascending order, which a test looks up for each of them.
#[derive(Debug, Default)]
pub(super) struct Merger {
    parts: Vec<Part>,
    entries: Vec<Entry>,
    /// Of each rank its last entry, if its bit in `waiting` is set.
    lists: Vec<u32>,
    waiting: Vec<u64>,
    /// How many bits are set in `waiting`.
    ranks_waiting: usize,
    /// The entries of the rank that is being merged.
    starts: Vec<u32>,
}

/// Above every rank.
const RANKS: usize = 100_256;

impl Merger {
    /// Counts the tokens of a piece that begins at `base`, has at least two bytes, and is no token itself.
    pub(super) fn count(&mut self, vocabulary: &Vocabulary, text: &[u8], base: usize, len: usize) -> u32 {
        if len <= SHORT {
            return count_short(vocabulary, text, base, len);
        }
        // Offsets in a part are 32 bits wide; four gigabytes are far above every cap.
        let Ok(len) = u32::try_from(len) else { return u32::MAX };
        let piece = Piece { vocabulary, text, base };
        self.begin(piece, len);
        let mut count = len;
        let mut word = 0;
        while self.ranks_waiting > 0 {
            let Some(bits) = self.waiting.get_mut(word) else { break };
            if *bits == 0 {
                word += 1;
                continue;
            }
            let bit = bits.trailing_zeros();
            *bits &= *bits - 1;
            self.ranks_waiting -= 1;
            let rank = word * 64 + bit as usize;
            count -= self.merge_all(piece, rank);
        }
        count
    }

    fn begin(&mut self, piece: Piece<'_>, len: u32) {
        self.lists.resize(RANKS, NONE);
        self.waiting.resize(RANKS.div_ceil(64), 0);
        self.entries.clear();
        self.parts.clear();
        let bytes = piece.text.get(piece.base..piece.base + len as usize).unwrap_or_default();
        let ranks = bytes.windows(2).map(|pair| match pair {
            [first, second] => piece.vocabulary.rank_of_pair(*first, *second),
            _ => NONE,
        });
        let parts = (0..len).zip(ranks.chain([NONE]));
        self.parts.extend(parts.map(|(start, rank)| Part { rank, len: 1, len_before: u8::from(start > 0) }));
        for start in 0..len {
            let rank = self.part(start).rank;
            self.wait(start, rank);
        }
    }

    /// Merges every pair that waits at `rank`, from left to right; how many there were.
    fn merge_all(&mut self, piece: Piece<'_>, rank: usize) -> u32 {
        let mut starts = std::mem::take(&mut self.starts);
        starts.clear();
        let mut next = self.lists.get(rank).copied().unwrap_or(NONE);
        while let Some(entry) = self.entries.get(next as usize) {
            starts.push(entry.start);
            next = entry.next;
        }
        starts.sort_unstable();
        let mut merged = 0;
        for start in &starts {
            // A pair may have gone since it was put here: one of its parts was merged with another.
            if self.part(*start).rank as usize == rank {
                self.merge(piece, *start);
                merged += 1;
            }
        }
        self.starts = starts;
        merged
    }

    /// Makes the part at `start` and its neighbour to the right one.
    fn merge(&mut self, piece: Piece<'_>, start: u32) {
        let left = self.part(start);
        let middle = start + u32::from(left.len);
        let right = self.part(middle);
        let len = left.len.saturating_add(right.len);
        self.set(middle, |part| part.rank = NONE);
        self.set(start + u32::from(len), |part| part.len_before = len);
        self.set(start, |part| part.len = len);
        self.rank_again(piece, start);
        if left.len_before > 0 {
            self.rank_again(piece, start - u32::from(left.len_before));
        }
    }

    fn rank_again(&mut self, piece: Piece<'_>, start: u32) {
        let middle = start as usize + usize::from(self.part(start).len);
        let rank = match self.parts.get(middle) {
            Some(right) => piece.rank_between(start as usize, middle + usize::from(right.len)),
            None => NONE,
        };
        self.set(start, |part| part.rank = rank);
        self.wait(start, rank);
    }

    fn wait(&mut self, start: u32, rank: u32) {
        let (Some(list), Some(bits)) =
            (self.lists.get_mut(rank as usize), self.waiting.get_mut(rank as usize / 64))
        else {
            return;
        };
        let bit = 1_u64 << (rank % 64);
        let first = *bits & bit == 0;
        self.ranks_waiting += usize::from(first);
        let next = if first { NONE } else { *list };
        *list = u32::try_from(self.entries.len()).unwrap_or(NONE);
        *bits |= bit;
        self.entries.push(Entry { start, next });
    }

    fn part(&self, start: u32) -> Part {
        const NO_PART: Part = Part { rank: NONE, len: 0, len_before: 0 };
        self.parts.get(start as usize).copied().unwrap_or(NO_PART)
    }

    fn set(&mut self, start: u32, change: impl FnOnce(&mut Part)) {
        if let Some(part) = self.parts.get_mut(start as usize) {
            change(part);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;

    use super::super::{DATA, DATA_SHA256};
    use super::*;

    /// Merges by the words of the algorithm; the ranks of the merges in their order, and the parts that are left.
    fn by_the_book(vocabulary: &Vocabulary, piece: &[u8]) -> (Vec<u32>, usize) {
        let mut cuts: Vec<usize> = (0..=piece.len()).collect();
        let mut ranks = Vec::new();
        loop {
            let pairs = cuts.windows(3).map(|cut| match cut {
                [start, _, end] => vocabulary.rank_between(piece, *start, *end),
                _ => NONE,
            });
            let lowest = pairs.enumerate().min_by_key(|(_, rank)| *rank).filter(|(_, rank)| *rank != NONE);
            let Some((at, rank)) = lowest else { return (ranks, cuts.len() - 1) };
            cuts.remove(at + 1);
            ranks.push(rank);
        }
    }

    /// What [`Merger`] rests on: a merge never makes a pair of a lower rank than its own, since every token that can
    /// be reached is made of merges in ascending order.
    #[test]
    fn tokens_are_merged_in_ascending_order() {
        let vocabulary = Vocabulary::load(DATA, DATA_SHA256).unwrap();
        let (mut reached, mut not_reached) = (0, 0);
        for line in DATA.lines() {
            let mut token = vec![0; line.len()];
            let len = STANDARD.decode_slice(line.split_once(' ').unwrap().0, &mut token).unwrap();
            token.truncate(len);
            let own = vocabulary.rank_between(&token, 0, token.len());
            let (ranks, parts) = by_the_book(&vocabulary, &token);
            assert!(ranks.is_sorted(), "{token:?}: {ranks:?}");
            if parts == 1 && own != NONE {
                assert!(ranks.last().is_none_or(|last| *last == own), "{token:?}");
                reached += 1;
            } else {
                not_reached += 1;
            }
        }
        println!("{reached} tokens reached, {not_reached} not");
        assert_eq!(not_reached, 8, "the tokens with a byte order mark");
    }

    #[test]
    fn short_and_long_pieces_are_merged_by_the_book() {
        let vocabulary = Vocabulary::load(DATA, DATA_SHA256).unwrap();
        let mut state = 7_u64;
        let mut random = |end: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state % end).unwrap()
        };
        let mut merger = Merger::default();
        let alphabets: [&[u8]; 6] = [
            b"a",
            b"ab",
            b"etaoinshr",
            b"=-/",
            b"\xe4\xb8\xad\xe6\x96\x87",
            b"\xef\xbb\xbf\xf0\x9f\x98\x80a ",
        ];
        for case in 0..4000 {
            let alphabet = alphabets.get(case % 6).unwrap();
            let len = 2 + random(if case % 10 == 0 { 400 } else { 60 });
            let text: Vec<u8> =
                (0..len + 20).map(|_| *alphabet.get(random(alphabet.len() as u64)).unwrap()).collect();
            let base = random(20);
            let (_, expected) = by_the_book(&vocabulary, text.get(base..base + len).unwrap());
            assert_eq!(
                merger.count(&vocabulary, &text, base, len) as usize,
                expected,
                "{text:?} from {base}, {len}"
            );
        }
    }
}
