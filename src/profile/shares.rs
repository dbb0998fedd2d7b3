//! Shares: exact counts in, multiples of a half out.

use super::withholding::is_withheld;

/// A part of a whole, rounded down to a multiple of 0.5 (`rounding` of the criteria).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Share {
    /// 0: less than half.
    Zero,
    /// 0.5: at least half, and not all.
    Half,
    /// 1: all.
    One,
}

impl Share {
    /// The published number.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Share::Zero => "0",
            Share::Half => "0.5",
            Share::One => "1",
        }
    }

    /// Exact: no division (decision D2). `total` is not 0.
    pub(super) fn of(part: u64, total: u64) -> Share {
        if part == total {
            Share::One
        } else if part.saturating_mul(2) >= total {
            Share::Half
        } else {
            Share::Zero
        }
    }
}

/// The three shares of one whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shares {
    /// `name_share`
    pub name: Share,
    /// `description_share`
    pub description: Share,
    /// `schema_share`
    pub schema: Share,
}

/// Why three shares are null.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// A tool without tokens.
    EmptyDefinition,
    /// A catalogue without tokens.
    EmptyCatalogue,
    /// The counts could be derived from the shares.
    SharesWithheld,
}

impl Reason {
    /// The published name.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Reason::EmptyDefinition => "empty_definition",
            Reason::EmptyCatalogue => "empty_catalogue",
            Reason::SharesWithheld => "shares_withheld",
        }
    }
}

/// The shares of a tool or of the catalogue, or why there are none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Split {
    /// Published.
    Shares(Shares),
    /// All three are null.
    None(Reason),
}

/// Tokens of the three parts. They never leave the engine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Counts {
    pub(super) name: u64,
    pub(super) description: u64,
    pub(super) schema: u64,
}

impl Counts {
    pub(super) fn total(self) -> u64 {
        self.name + self.description + self.schema
    }

    /// The shares; none where there is nothing to divide.
    pub(super) fn shares(self) -> Option<Shares> {
        let total = self.total();
        (total > 0).then(|| Shares {
            name: Share::of(self.name, total),
            description: Share::of(self.description, total),
            schema: Share::of(self.schema, total),
        })
    }
}

/// Bytes of the three part strings; 0 where a part is absent.
#[derive(Clone, Copy, Default)]
pub(super) struct PartBytes {
    pub(super) name: u64,
    pub(super) description: u64,
    pub(super) schema: u64,
}

/// A tool, or the catalogue: the sum of its tools.
#[derive(Clone, Copy, Default)]
pub(super) struct Whole {
    counts: Counts,
    bytes: PartBytes,
}

impl Whole {
    pub(super) fn new(counts: Counts, bytes: PartBytes) -> Whole {
        Whole { counts, bytes }
    }

    pub(super) fn add(&mut self, tool: &Whole) {
        self.counts.name += tool.counts.name;
        self.counts.description += tool.counts.description;
        self.counts.schema += tool.counts.schema;
        self.bytes.name += tool.bytes.name;
        self.bytes.description += tool.bytes.description;
        self.bytes.schema += tool.bytes.schema;
    }

    /// What is published of it; `empty` is the reason where it has no tokens.
    pub(super) fn split(&self, empty: Reason) -> Split {
        match self.counts.shares() {
            None => Split::None(empty),
            Some(shares) if is_withheld(shares, self.bytes) => Split::None(Reason::SharesWithheld),
            Some(shares) => Split::Shares(shares),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded_down_to_halves() {
        for (part, total, share) in [
            (0, 1, Share::Zero),
            (1, 3, Share::Zero),
            (49, 99, Share::Zero),
            (1, 2, Share::Half),
            (50, 99, Share::Half),
            (98, 99, Share::Half),
            (99, 99, Share::One),
            (u64::MAX - 1, u64::MAX, Share::Half),
        ] {
            assert_eq!(Share::of(part, total), share, "{part} of {total}");
        }
    }
}
