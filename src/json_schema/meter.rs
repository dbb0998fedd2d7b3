//! What one check may spend, seen from inside the crate that validates.
//!
//! The crate cannot be told to stop. It sees the instance only through [`super::node`], though, and every look
//! spends here. Once the budget is spent, whatever it looks at is an empty null: nothing is left to descend
//! into, so it ends soon, and what it says is thrown away.

use std::cell::Cell;

use jsonschema::ValidationError;

use crate::budget::{Budget, Exhausted};

/// Steps between two questions whether the deadline has passed.
const POLL_EVERY: u64 = 1024;

/// Bytes that the crate's errors may take, by estimate: it keeps all of them until it ends.
const MAX_ERROR_BYTES: u64 = 64 << 20;

/// Bytes of one error beside its path.
const ERROR_BYTES: u64 = 2 * size_of::<ValidationError<'static>>() as u64 + 512;

/// Steps of one error, by measurement.
const ERROR_STEPS: u64 = 32;

/// What the compiled schema costs where the crate works out of sight of the instance.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Costs {
    /// Steps for each 16 bytes of a member's name: what the patterns of `patternProperties` may take for it.
    pub(super) name: u64,
    /// Steps for each value handed out: schemas that ask nothing of it cost something, too.
    pub(super) value: u64,
    /// Bytes of the schema that an error may carry along.
    pub(super) error: u64,
}

/// Steps for a value that is handed out.
const VISIT: u64 = 4;

/// The budget of a check, behind a shared reference.
pub(super) struct Meter<'a> {
    left: Cell<u64>,
    error_bytes: Cell<u64>,
    until_poll: Cell<u64>,
    costs: Costs,
    expired: &'a dyn Fn() -> bool,
}

impl<'a> Meter<'a> {
    /// All that is left of `budget`. [`Meter::settle`] gives back what was not used.
    pub(super) fn new(budget: &Budget<'a>, costs: Costs) -> Meter<'a> {
        Meter {
            left: Cell::new(budget.left()),
            error_bytes: Cell::new(MAX_ERROR_BYTES),
            until_poll: Cell::new(POLL_EVERY),
            costs,
            expired: budget.expired(),
        }
    }

    /// Takes what was spent from `budget`.
    pub(super) fn settle(&self, budget: &mut Budget<'_>) -> Result<(), Exhausted> {
        if self.is_spent() {
            return budget.spend(u64::MAX);
        }
        budget.spend(budget.left().saturating_sub(self.left.get()))
    }

    /// Whether nothing is left: the last step is never enough. A meter that is spent stays so.
    pub(super) fn is_spent(&self) -> bool {
        self.left.get() == 0
    }

    /// Spends steps; false once nothing is left.
    pub(super) fn spend(&self, steps: u64) -> bool {
        let left = self.left.get().saturating_sub(steps);
        self.left.set(left);
        if let Some(rest) = self.until_poll.get().checked_sub(steps) {
            self.until_poll.set(rest);
        } else {
            self.until_poll.set(POLL_EVERY);
            if (self.expired)() {
                self.left.set(0);
            }
        }
        !self.is_spent()
    }

    /// Steps for a value that is handed out.
    pub(super) fn visit(&self) -> bool {
        self.spend(VISIT + self.costs.value)
    }

    /// Steps for reading `bytes` of text.
    pub(super) fn read(&self, bytes: usize) -> bool {
        self.spend(1 + bytes as u64 / 16)
    }

    /// Steps for a member's name, which the patterns of the schema are matched with.
    pub(super) fn read_name(&self, bytes: usize) -> bool {
        self.spend((1 + bytes as u64 / 16).saturating_mul(1 + self.costs.name))
    }

    /// Counts an error at a place whose JSON Pointer has `path` bytes, and what else it holds.
    pub(super) fn error(&self, path: u64, held: u64) {
        let bytes = ERROR_BYTES + self.costs.error + 2 * path + held;
        self.error_bytes.set(self.error_bytes.get().saturating_sub(bytes));
        if self.error_bytes.get() == 0 {
            self.left.set(0);
        }
        self.spend(ERROR_STEPS + bytes / 64);
    }

    /// Runs one of this library's own engines on what is left; none once that is spent.
    pub(super) fn lend<T>(&self, run: impl FnOnce(&mut Budget<'_>) -> Result<T, Exhausted>) -> Option<T> {
        let mut budget = Budget::new(self.left.get(), self.expired);
        let result = run(&mut budget);
        let used = self.left.get() - budget.left();
        if result.is_err() {
            self.left.set(0);
        }
        (self.spend(used) && result.is_ok()).then_some(result.ok()).flatten()
    }
}
