//! The tokens of `cl100k_base` and their ranks, to be looked up by their bytes.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// No token.
pub(super) const NONE: u32 = u32::MAX;
/// The longest text that fits into a [`Key`].
pub(super) const MAX_KEY: usize = 15;

/// The tokens that begin with a byte order mark. gpt-tokenizer decodes a piece before it looks it up, its
/// decoder drops the mark, and so it never finds them.
const NEVER_FOUND: [u32; 8] = [3305, 4117, 18706, 35866, 43372, 62619, 82823, 98933];

/// Twice as many slots as tokens, and more.
const SLOTS: usize = 1 << 18;
/// The same for the tokens that are longer than a [`Key`].
const LONG_SLOTS: usize = 1 << 14;

/// Up to 15 bytes, and how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key(u128);

impl Key {
    /// The key of no text.
    pub(super) const EMPTY: Key = Key(0);

    /// The key of the `len` bytes at `start`; `len` is at most [`MAX_KEY`].
    #[inline]
    pub(super) fn new(text: &[u8], start: usize, len: usize) -> Key {
        let rest = text.get(start..).unwrap_or_default();
        let word = if let Some(bytes) = rest.first_chunk::<16>() {
            u128::from_le_bytes(*bytes)
        } else {
            let mut bytes = [0; 16];
            for (to, from) in bytes.iter_mut().zip(rest) {
                *to = *from;
            }
            u128::from_le_bytes(bytes)
        };
        let mask = (1 << (8 * (len & MAX_KEY))) - 1;
        Key(word & mask | (len as u128) << 120)
    }

    /// Where to look for the key first, in a table of so many slots.
    #[inline]
    pub(super) fn slot(self, slots: usize) -> usize {
        self.hash() % slots
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "the halves are meant")]
    fn hash(self) -> usize {
        let (low, high) = (self.0 as u64, (self.0 >> 64) as u64);
        let product = u128::from(low ^ 0x9E37_79B9_7F4A_7C15) * u128::from(high ^ 0xD1B5_4A32_D192_ED03);
        (product as u64 ^ (product >> 64) as u64) as usize
    }
}

/// A key with the count of tokens that it was merged to, which is no more than its bytes: half a byte is free
/// beside the length.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Met(u128);

impl Met {
    pub(super) fn new(key: Key, count: u32) -> Met {
        Met(key.0 | u128::from(count) << 124)
    }

    /// The count, if it is this key's.
    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "four bits")]
    pub(super) fn count_of(self, key: Key) -> Option<u32> {
        let count = (self.0 >> 124) as u32;
        (self.0 ^ u128::from(count) << 124 == key.0).then_some(count)
    }
}

/// The vocabulary.
pub(super) struct Vocabulary {
    /// Keys and their ranks by hash, the next slot where one is taken.
    keys: Box<[Key]>,
    ranks: Box<[u32]>,
    /// Ranks of the tokens of two bytes.
    pairs: Box<[u32]>,
    /// Tokens longer than a key by hash, and their ranks.
    long: Box<[(Box<[u8]>, u32)]>,
}

impl std::fmt::Debug for Vocabulary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Vocabulary")
    }
}

impl Vocabulary {
    /// Reads a `.tiktoken` file: a line a token, base64 and rank. None unless it has the SHA-256 `hash`, in
    /// hexadecimal digits.
    pub(super) fn load(data: &str, hash: &str) -> Option<Vocabulary> {
        let digits = Sha256::digest(data).into_iter().flat_map(|byte| [byte >> 4, byte & 15]);
        let digits = digits.filter_map(|digit| char::from_digit(u32::from(digit), 16));
        if !digits.eq(hash.chars()) {
            return None;
        }
        let mut vocabulary = Vocabulary {
            keys: vec![Key::EMPTY; SLOTS].into(),
            ranks: vec![NONE; SLOTS].into(),
            pairs: vec![NONE; 1 << 16].into(),
            long: vec![(Box::default(), NONE); LONG_SLOTS].into(),
        };
        let mut token = Vec::new();
        for line in data.lines() {
            let (base64, rank) = line.split_once(' ')?;
            token.resize(base64.len(), 0);
            let len = STANDARD.decode_slice(base64, &mut token).ok()?;
            let rank = rank.parse().ok()?;
            if !NEVER_FOUND.contains(&rank) {
                vocabulary.insert(token.get(..len)?, rank);
            }
        }
        Some(vocabulary)
    }

    fn insert(&mut self, token: &[u8], rank: u32) {
        if token.len() > MAX_KEY {
            let mut slot = hash_of_long(token) % LONG_SLOTS;
            while self.long.get(slot).is_some_and(|(_, rank)| *rank != NONE) {
                slot = (slot + 1) % LONG_SLOTS;
            }
            if let Some(entry) = self.long.get_mut(slot) {
                *entry = (token.into(), rank);
            }
            return;
        }
        let key = Key::new(token, 0, token.len());
        let mut slot = key.slot(SLOTS);
        while self.keys.get(slot).is_some_and(|other| *other != Key::EMPTY) {
            slot = (slot + 1) % SLOTS;
        }
        if let (Some(entry), Some(its)) = (self.keys.get_mut(slot), self.ranks.get_mut(slot)) {
            (*entry, *its) = (key, rank);
        }
        if let [first, second] = token
            && let Some(pair) = self.pairs.get_mut(pair_index(*first, *second))
        {
            *pair = rank;
        }
    }

    /// The rank of a token of at most [`MAX_KEY`] bytes, or [`NONE`].
    #[inline]
    pub(super) fn rank_of(&self, key: Key) -> u32 {
        let mut slot = key.slot(SLOTS);
        while let Some(other) = self.keys.get(slot) {
            if *other == key {
                return self.ranks.get(slot).copied().unwrap_or(NONE);
            }
            if *other == Key::EMPTY {
                break;
            }
            slot = (slot + 1) % SLOTS;
        }
        NONE
    }

    /// The rank of a token of more than [`MAX_KEY`] bytes, or [`NONE`].
    pub(super) fn rank_of_long(&self, token: &[u8]) -> u32 {
        let mut slot = hash_of_long(token) % LONG_SLOTS;
        while let Some((other, rank)) = self.long.get(slot) {
            if *rank == NONE || **other == *token {
                return *rank;
            }
            slot = (slot + 1) % LONG_SLOTS;
        }
        NONE
    }

    /// The rank of what stands between two offsets, or [`NONE`].
    #[inline]
    pub(super) fn rank_between(&self, text: &[u8], start: usize, end: usize) -> u32 {
        let len = end.saturating_sub(start);
        if len <= MAX_KEY {
            self.rank_of(Key::new(text, start, len))
        } else {
            self.rank_of_long(text.get(start..end).unwrap_or_default())
        }
    }

    /// The rank of a token of these two bytes, or [`NONE`].
    #[inline]
    pub(super) fn rank_of_pair(&self, first: u8, second: u8) -> u32 {
        self.pairs.get(pair_index(first, second)).copied().unwrap_or(NONE)
    }
}

fn pair_index(first: u8, second: u8) -> usize {
    usize::from(first) << 8 | usize::from(second)
}

/// The length and the ends tell long tokens apart well enough; most are runs of one character.
#[allow(clippy::cast_possible_truncation, reason = "the low bits choose the slot")]
fn hash_of_long(token: &[u8]) -> usize {
    let word = |bytes: Option<&[u8; 8]>| bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let (first, last) = (word(token.first_chunk()), word(token.last_chunk()));
    let mixed = (first ^ last.rotate_left(29) ^ (token.len() as u64) << 57)
        .wrapping_add(token.len() as u64)
        .wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 32) as usize
}
