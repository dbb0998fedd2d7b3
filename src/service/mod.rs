//! The published operations of both criteria: criteria, pre-check, check and metrics, paid and signed.

pub mod assess;
pub mod audit;
pub mod criteria;
pub mod report;
pub mod signing;
pub mod store;
pub mod x402;

/// A published operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Op {
    /// `argument-check`, by `tool-argument/v1`.
    ArgumentCheck,
    /// `split-profile`, by `token-efficiency/v1`.
    SplitProfile,
}

impl Op {
    /// Both.
    pub const ALL: [Op; 2] = [Op::ArgumentCheck, Op::SplitProfile];

    /// The name, as configuration, reports, metrics and the ledger have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Op::ArgumentCheck => "argument-check",
            Op::SplitProfile => "split-profile",
        }
    }
}
