//! Exact token counts of `cl100k_base`, as gpt-tokenizer counts them (`tokenizer` of the criteria, decision D5).
//!
//! A text is split into pieces (`split`); a piece that is a token counts one, any other is merged pair by pair,
//! the lowest rank first (`merge`). Spellings of special tokens are ordinary text. Time is linear in the text,
//! whatever it is.

mod class;
mod merge;
mod split;
mod vocabulary;

use std::sync::OnceLock;

use crate::budget::{Budget, Exhausted};
use merge::Merger;
use vocabulary::{Key, MAX_KEY, Met, NONE, Vocabulary};

/// The SHA-256 of the vocabulary's file (`tokenizer.data_sha256` of the criteria).
pub const DATA_SHA256: &str = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7";

/// The tokenizer as reports name it: ours, with the published data (decision D5).
pub const ID: &str = concat!(
    "cl100k_base/millwork-dock@",
    env!("CARGO_PKG_VERSION"),
    "/data-sha256:223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
);

/// The vocabulary's file as `build.rs` wrote it.
static DATA: &str = include_str!(concat!(env!("OUT_DIR"), "/cl100k_base.tiktoken"));

/// The vocabulary is not the pinned one, so no count would be right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the vocabulary compiled into this program is not the one that the criteria pin; build it again")]
pub struct WrongVocabulary;

/// Counts tokens. Immutable, some 8 MB; made once and shared.
#[derive(Debug)]
pub struct Tokenizer {
    vocabulary: Vocabulary,
}

impl Tokenizer {
    /// The tokenizer, made at the first call. Making it takes some 20 ms: a server calls this at start.
    ///
    /// # Errors
    /// [`WrongVocabulary`] unless the data has the hash [`DATA_SHA256`].
    pub fn shared() -> Result<&'static Tokenizer, WrongVocabulary> {
        static SHARED: OnceLock<Result<Tokenizer, WrongVocabulary>> = OnceLock::new();
        SHARED.get_or_init(|| Tokenizer::load(DATA)).as_ref().map_err(|wrong| *wrong)
    }

    fn load(data: &str) -> Result<Tokenizer, WrongVocabulary> {
        Ok(Tokenizer { vocabulary: Vocabulary::load(data, DATA_SHA256).ok_or(WrongVocabulary)? })
    }

    /// Something to count several texts with.
    #[must_use]
    pub fn counter(&self) -> Counter<'_> {
        Counter {
            vocabulary: &self.vocabulary,
            met: vec![Met::default(); MET].into(),
            merger: Merger::default(),
        }
    }
}

/// Pieces whose counts are kept while one catalogue is counted.
const MET: usize = 1 << 12;

/// Counts texts, and remembers the short pieces that it has merged. It holds text, so it lives no longer than the
/// request.
pub struct Counter<'t> {
    vocabulary: &'t Vocabulary,
    met: Box<[Met]>,
    merger: Merger,
}

impl Counter<'_> {
    /// The tokens of `text`.
    ///
    /// # Errors
    /// [`Exhausted`].
    pub fn count(&mut self, text: &str, budget: &mut Budget<'_>) -> Result<u64, Exhausted> {
        budget.spend(text.len() as u64 / 2)?;
        let (mut count, mut at) = (0, 0);
        while at < text.len() {
            let end = split::piece_end(text, at);
            if end - at > merge::SHORT {
                // Long pieces cost by the byte what short ones cost by the word.
                budget.spend((end - at) as u64 * 6)?;
            }
            count += u64::from(self.count_piece(text.as_bytes(), at, end));
            at = end;
        }
        Ok(count)
    }

    fn count_piece(&mut self, text: &[u8], start: usize, end: usize) -> u32 {
        let len = end - start;
        if len > MAX_KEY {
            let piece = text.get(start..end).unwrap_or_default();
            let known = self.vocabulary.rank_of_long(piece) != NONE;
            return if known { 1 } else { self.merger.count(self.vocabulary, text, start, len) };
        }
        if len == 1 {
            return 1;
        }
        let key = Key::new(text, start, len);
        if self.vocabulary.rank_of(key) != NONE {
            return 1;
        }
        let slot = key.slot(MET);
        if let Some(count) = self.met.get(slot).and_then(|met| met.count_of(key)) {
            return count;
        }
        let count = merge::count_short(self.vocabulary, text, start, len);
        if let Some(met) = self.met.get_mut(slot) {
            *met = Met::new(key, count);
        }
        count
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn refuses_any_other_data() {
        let other = DATA.replacen("IQ== 0", "IQ== 00", 1);
        assert_eq!(Tokenizer::load(&other).err(), Some(WrongVocabulary));
        assert_eq!(Tokenizer::load("").err(), Some(WrongVocabulary));
        assert!(ID.ends_with(DATA_SHA256));
    }
}
