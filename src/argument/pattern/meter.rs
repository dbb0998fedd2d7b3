//! Spending on a budget in small change, with an own share of it.

use crate::budget::{Budget, Exhausted};

/// Steps are handed on to the budget in lots of about this size.
const LOT: u64 = 256;

/// Why a matcher stopped without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// The budget is spent.
    Exhausted,
    /// This matcher's share is spent, or its memory.
    Share,
}

impl From<Exhausted> for Stop {
    fn from(_: Exhausted) -> Stop {
        Stop::Exhausted
    }
}

/// What one matcher may spend.
pub(super) struct Meter<'m, 'b> {
    budget: &'m mut Budget<'b>,
    pending: u64,
    share: u64,
}

impl<'m, 'b> Meter<'m, 'b> {
    pub(super) fn new(budget: &'m mut Budget<'b>, share: u64) -> Self {
        Meter { budget, pending: 0, share }
    }

    /// Counts `steps`, and hands a full lot on.
    #[inline]
    pub(super) fn tick(&mut self, steps: u64) -> Result<(), Stop> {
        self.pending += steps;
        if self.pending < LOT { Ok(()) } else { self.settle() }
    }

    /// Hands on what is pending. To be called at the end, too.
    #[cold]
    pub(super) fn settle(&mut self) -> Result<(), Stop> {
        let steps = std::mem::take(&mut self.pending);
        self.budget.spend(steps)?;
        self.share = self.share.checked_sub(steps).ok_or(Stop::Share)?;
        Ok(())
    }
}
