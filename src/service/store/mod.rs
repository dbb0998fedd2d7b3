//! What outlives a request: allowances, payments under way, the ledger, and tripped wires.
//!
//! The ledger holds the closed field lists of the two criteria, one table each, and nothing else
//! ([`ledger::columns`]). A payment under way lives in `reservations`, together with the ledger row that it will
//! become, until it is settled. Nothing here is content of a submission, a size or a hash of it.
//!
//! A reservation's life: [`Store::reserve`] takes it; [`Store::release`] gives it back if nothing can have been
//! settled; [`Store::ledger_begin`] notes the row before the facilitator is asked to settle; then either
//! [`Store::ledger_finish`] moves the row to the ledger or [`Store::ledger_drop`] forgets it; [`Store::delivered`] ends it. A process that dies in
//! between leaves a row under way that never expires: [`Store::unresolved`] lists it for the operator.

pub mod ledger;
mod postgres;
mod postgres_tls;
mod sql;
mod sqlite;

use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

pub use postgres::Postgres;
pub use sqlite::Sqlite;

use super::Op;
use crate::utc::Utc;
use ledger::Entry;

/// How long a payment is remembered so that it cannot be used twice, in milliseconds; a Solana transaction cannot
/// be settled any more after some 90 s (payments.md).
pub const REPLAY_MS: u64 = 120_000;
/// How long a settled payment whose report was not delivered may be sent again for it, in milliseconds.
pub const OWED_MS: u64 = 24 * 3_600_000;
/// How long after it was settled or claimed an owed payment cannot be claimed, in milliseconds: longer than it takes
/// to hand an answer over, so that nobody gets two reports for one payment.
pub const CLAIM_MS: u64 = 5_000;

/// The longest that a call may take.
const CALL: Duration = Duration::from_secs(5);

/// Opens the store that `url` names: `sqlite:PATH`, or `postgres://…` or `postgresql://…` ([`Postgres::connect`]).
///
/// # Errors
/// The URL is none of these, or the store cannot be used. The text holds no password.
pub async fn open(url: &str) -> Result<Arc<dyn Store>, StoreError> {
    if let Some(path) = url.strip_prefix("sqlite:").filter(|path| !path.is_empty()) {
        return Ok(Arc::new(Sqlite::open(Path::new(path)).await?));
    }
    if url.starts_with("postgres://") || url.starts_with("postgresql://") {
        return Ok(Arc::new(Postgres::connect(url).await?));
    }
    Err(StoreError("the URL of a store begins with sqlite:, postgres:// or postgresql://".to_owned()))
}

/// What a store answers, later.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// The store cannot do its work now. For the log; callers are told a fixed code.
#[derive(Debug, thiserror::Error)]
#[error("the store failed: {0}")]
pub struct StoreError(pub String);

/// A free allowance (`free_tier` of the criteria).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Calls of one caller in one UTC day.
    pub per_day: u32,
    /// The least time between two granted calls of one caller, in milliseconds.
    pub min_interval_ms: u64,
}

/// Whether a free call is granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quota {
    /// It is, and counted.
    Granted,
    /// The last one is too recent; how many milliseconds to wait.
    TooSoon(u64),
    /// Today's are used up. Wins over [`Quota::TooSoon`].
    Exhausted,
}

/// Names a payment under way: SHA-256 of the message bytes of its transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ReplayKey(pub [u8; 32]);

/// What became of an attempt to reserve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reserved {
    /// The payment is new and now taken.
    Fresh,
    /// The payment was settled under this transaction id, but its report was never handed over. It is claimed for
    /// [`CLAIM_MS`], to deliver the report.
    Owed(String),
    /// The payment is in use, or its outcome is not known yet.
    Underway,
    /// The payment was used.
    Replayed,
}

/// What the facilitator said of a settled payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    /// The transaction's id.
    pub tx: String,
}

/// A payment whose outcome nobody recorded: its process ended, or the facilitator never answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unresolved {
    /// The reservation.
    pub key: ReplayKey,
    /// The operation.
    pub op: Op,
    /// When settling began.
    pub began: Utc,
    /// The payer's wallet as the transaction names it.
    pub payer: String,
}

/// What the tripwires look at, over the days that were asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Figures {
    /// Paid checks, without those of house wallets.
    pub paid: u64,
    /// Those of them that were refunded.
    pub refunded: u64,
    /// Free pre-checks that were granted.
    pub free: u64,
}

/// A wire that tripped and stops its operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trip {
    /// Its name, such as `repair_invented_value`.
    pub name: String,
    /// When.
    pub at: Utc,
}

/// A rate of the Bank of Canada (Valet, `FXUSDCAD`), for the ledger's CAD block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rate {
    /// The first day that it holds for, `2026-11-30`.
    pub from: String,
    /// The last day that it holds for.
    pub through: String,
    /// Its own date.
    pub date: String,
    /// CAD for one USD, as published, such as `1.4012`.
    pub rate: String,
}

/// What became of an attempt to note a refund.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refunded {
    /// It is noted.
    Noted,
    /// It was noted before.
    Already,
    /// No row has this transaction.
    Unknown,
}

/// State that all requests, and with `PostgreSQL` all replicas, share. Every method is atomic and durable: once it
/// has answered, a killed process or machine changes nothing of it.
pub trait Store: Send + Sync + 'static {
    /// Asks for one free call of `caller` at `now`, and counts it if it is granted. A day before the caller's last
    /// granted one counts as that one, so that clocks that differ grant nothing more.
    fn quota_take<'a>(&'a self, op: Op, caller: &'a str, allowance: Allowance, now: Utc)
    -> Answer<'a, Quota>;

    /// Takes a payment for use, for [`REPLAY_MS`].
    fn reserve(&self, op: Op, key: ReplayKey, now: Utc) -> Answer<'_, Reserved>;

    /// Gives a payment back that [`Store::reserve`] found fresh and that cannot have been settled: it may be tried
    /// again.
    fn release(&self, key: ReplayKey) -> Answer<'_, ()>;

    /// Notes the ledger row of a reserved payment, before it is settled. An error if the payment is not reserved.
    fn ledger_begin<'a>(&'a self, key: ReplayKey, entry: &'a Entry, now: Utc) -> Answer<'a, ()>;

    /// Moves the row to the ledger: the payment is settled, and its report is owed for [`OWED_MS`]. False if a
    /// ledger has the transaction already, in which case nothing is served for it again. May be called again with the
    /// same transaction if its answer was lost: true then means what it meant.
    fn ledger_finish<'a>(&'a self, key: ReplayKey, settled: &'a Settled, now: Utc) -> Answer<'a, bool>;

    /// Forgets the row: the facilitator refused to settle. The payment stays taken until its time is up.
    fn ledger_drop(&self, key: ReplayKey) -> Answer<'_, ()>;

    /// The report of a settled payment was handed over: the payment is used.
    fn delivered(&self, key: ReplayKey) -> Answer<'_, ()>;

    /// Puts what the check said that is delivered now into the row of an owed payment (verdict line, status or
    /// counts, and the version of the criteria). Payer, time, price and transaction stay. An error if nothing is owed.
    fn ledger_amend<'a>(&'a self, key: ReplayKey, entry: &'a Entry) -> Answer<'a, ()>;

    /// Payments whose settling began before `before` and has no outcome.
    fn unresolved(&self, before: Utc) -> Answer<'_, Vec<Unresolved>>;

    /// What happened on `since` (a day) and after.
    fn figures<'a>(&'a self, op: Op, since: &'a str) -> Answer<'a, Figures>;

    /// Trips a wire. Each time is kept, once.
    fn trip<'a>(&'a self, op: Op, trip: &'a Trip) -> Answer<'a, ()>;

    /// When wires tripped, oldest first.
    fn trips(&self, op: Op) -> Answer<'_, Vec<Trip>>;

    /// Forgets what is over: expired reservations, allowances of days before yesterday.
    fn purge(&self, now: Utc) -> Answer<'_, ()>;

    /// At most `most` rows of the ledger in order of time, those after `after` (timestamp and transaction id of a
    /// row), each with the cells of [`ledger::columns`].
    fn ledger_page<'a>(
        &'a self,
        op: Op,
        after: Option<(&'a str, &'a str)>,
        most: u32,
    ) -> Answer<'a, Vec<Vec<ledger::Cell>>>;

    /// Fills the CAD block of the pending rows of both tables; how many it filled.
    fn ledger_rate<'a>(&'a self, rates: &'a [Rate]) -> Answer<'a, u64>;

    /// Notes in the CAD block that the payment `tx` was refunded.
    fn ledger_refund<'a>(&'a self, tx: &'a str, refund: &'a str) -> Answer<'a, Refunded>;
}
