//! The ledger's rows: the closed field lists of the two criteria (`custody.ledger_closed_fields`).

use crate::service::Op;
use crate::utc::Utc;

/// Where CAD rates come from; the `cad_basis` of every row.
pub const CAD_BASIS: &str = "Bank of Canada Valet FXUSDCAD, last business day on or before the day";

/// A row before it is settled: everything but the transaction's id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The payer's wallet, base58.
    pub payer: String,
    /// When the check ended.
    pub at: Utc,
    /// The price in USDC units (millionths of a USDC).
    pub price_usdc_units: u64,
    /// What the facilitator pays Solana for it, in lamports.
    pub solana_fee_lamports: u64,
    /// The version or revision of the criteria.
    pub criteria_version: &'static str,
    /// The verdict line, with its time.
    pub verdict_line: String,
    /// The payer's wallet is the operator's own.
    pub house: bool,
    /// What only one of the two operations has.
    pub outcome: Outcome,
}

/// The part of a row that differs between the operations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// `argument-check`: the status summary. Codes only, never a path, key or value.
    Argument {
        /// `VALID`, `REPAIRED` or `UNREPAIRABLE`.
        verdict: &'static str,
        /// How many repairs the diff lists.
        repairs: u64,
        /// How many defects the report lists.
        defects: u64,
        /// The codes of the defects, each once, in the order of the criteria.
        defect_codes: Vec<&'static str>,
    },
    /// `split-profile`.
    Profile {
        /// How many tools the catalogue has.
        tools: u64,
        /// How many schema-identity groups.
        groups: u64,
        /// `ASSESSABLE` or `NOT-ASSESSABLE`, of.
        blocks: [&'static str; 3],
    },
}

/// A value of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell {
    /// Nothing.
    Null,
    /// A number.
    Number(i64),
    /// True or false.
    Flag(bool),
    /// A text.
    Text(String),
}

impl Outcome {
    /// The operation whose row this is part of.
    #[must_use]
    pub fn op(&self) -> Op {
        match self {
            Outcome::Argument { .. } => Op::ArgumentCheck,
            Outcome::Profile { .. } => Op::SplitProfile,
        }
    }
}

/// The columns of an operation's ledger in the order of its published list, which
/// `custody.ledger_columns` of the criteria in `contract/` repeats.
#[must_use]
pub const fn columns(op: Op) -> &'static [&'static str] {
    match op {
        Op::ArgumentCheck => &[
            "payer_wallet",
            "timestamp",
            "day",
            "price_usdc_units",
            "cad_rate",
            "cad_rate_date",
            "cad_basis",
            "cad_pending",
            "refund",
            "payment_tx_id",
            "solana_fee_lamports",
            "criteria_version",
            "op",
            "verdict_line",
            "status_verdict",
            "status_repairs",
            "status_defects",
            "status_defect_codes",
            "house",
        ],
        Op::SplitProfile => &[
            "payer_wallet",
            "timestamp",
            "day",
            "price_usdc_units",
            "cad_rate",
            "cad_rate_date",
            "cad_basis",
            "cad_pending",
            "refund",
            "payment_tx_id",
            "solana_fee_lamports",
            "criteria_version",
            "verdict_line",
            "tool_count",
            "schema_identity_group_count",
            "r1_assessability",
            "r2_assessability",
            "r3_assessability",
            "house",
        ],
    }
}
