//! The budget of one check: a number of steps, and the caller's word whether its deadline has passed.
//!
//! A time-out around CPU work stops nothing; an engine that spends steps stops by itself. One step is
//! worth some 10 to 20 ns of work on the machine that `benches/` name. All patterns, comparisons and
//! visited nodes of one check draw on one budget, so many cheap parts cannot add up to an expensive whole.

/// The steps of a whole check unless `limits.check_steps` says otherwise: some 3 s of work.
pub const DEFAULT_STEPS: u64 = 200_000_000;

/// How many steps pass between two questions whether the deadline has passed.
const POLL_EVERY: u64 = 1024;

/// Steps that one check may still spend.
pub struct Budget<'a> {
    left: u64,
    until_poll: u64,
    expired: &'a dyn Fn() -> bool,
}

/// The budget is spent: the check has no result. A technical failure (`check_timeout`), never a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the check outran its budget")]
pub struct Exhausted;

impl<'a> Budget<'a> {
    /// A budget of `steps`, ended early once `expired` answers true. Engines know no clock: the caller
    /// reads it in `expired`, which is asked every 1,024 steps.
    pub fn new(steps: u64, expired: &'a dyn Fn() -> bool) -> Self {
        Budget { left: steps, until_poll: POLL_EVERY, expired }
    }

    /// A budget of `steps` without a deadline.
    #[must_use]
    pub fn of_steps(steps: u64) -> Budget<'static> {
        Budget::new(steps, &|| false)
    }

    /// Spends `steps`.
    ///
    /// # Errors
    /// [`Exhausted`] once fewer steps are left than asked for, or the deadline has passed.
    #[inline]
    pub fn spend(&mut self, steps: u64) -> Result<(), Exhausted> {
        let Some(left) = self.left.checked_sub(steps) else {
            self.left = 0;
            return Err(Exhausted);
        };
        self.left = left;
        match self.until_poll.checked_sub(steps) {
            Some(rest) => self.until_poll = rest,
            None => self.poll()?,
        }
        Ok(())
    }

    /// Steps not yet spent.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.left
    }

    /// The caller's word whether the deadline has passed, for an engine that keeps its own count.
    pub(crate) fn expired(&self) -> &'a dyn Fn() -> bool {
        self.expired
    }

    #[cold]
    fn poll(&mut self) -> Result<(), Exhausted> {
        self.until_poll = POLL_EVERY;
        if (self.expired)() {
            self.left = 0;
            return Err(Exhausted);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stops_when_the_steps_are_spent() {
        let mut budget = Budget::of_steps(3);
        assert_eq!(budget.spend(2), Ok(()));
        assert_eq!(budget.spend(2), Err(Exhausted));
        assert_eq!(budget.left(), 0, "a failed spend leaves nothing to go on with");
    }

    #[test]
    fn asks_for_the_deadline_and_stays_stopped() {
        let late = || true;
        let mut budget = Budget::new(u64::MAX, &late);
        assert_eq!(budget.spend(1000), Ok(()), "not asked before 1,024 steps");
        assert_eq!(budget.spend(1000), Err(Exhausted));
        assert_eq!(budget.spend(1), Err(Exhausted));
    }
}
