//! The published operations of both criteria: criteria, pre-check, check and metrics, paid and signed.
//!
//! `assess` asks the engine, `report` writes, `signing` signs; `pay` is a paid check from its payment to its ledger
//! row. What counts is in `tally`, what stops an operation in `wires`.

pub mod assess;
pub mod audit;
pub mod criteria;
mod pay;
pub mod report;
pub mod signing;
pub mod store;
pub mod tally;
pub mod wires;
pub mod x402;

pub use pay::Paid;

use std::sync::Arc;

use crate::contract;
use crate::fault::Fault;
use crate::utc::Utc;
use criteria::{Criteria, Statements};
use store::{Allowance, Quota, Store};
use tally::Tally;
use tokio::sync::Semaphore;
use wires::Wires;
use x402::Requirements;

/// A published operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Op {
    /// `argument-check`, by `tool-argument/v1`.
    ArgumentCheck,
    /// `split-profile`, by `token-efficiency/v1`.
    SplitProfile,
}

/// The free allowance of a caller (`free_tier` of both criteria).
pub const ALLOWANCE: Allowance = Allowance { per_day: 100, min_interval_ms: 5_000 };

/// One operation as it is served.
pub struct Service {
    /// Which.
    pub op: Op,
    /// What judges.
    pub engine: assess::Engine,
    /// Its criteria document.
    pub criteria: Criteria,
    /// What its reports say beside their findings.
    pub statements: Statements,
    /// How a check is paid; `None`: free and unmetered.
    pub payment: Option<Payment>,
    /// Trips that no longer stop it.
    pub acknowledged: Vec<String>,
    /// What outlives a reload of the configuration.
    pub state: Arc<State>,
}

/// How checks are paid.
#[derive(Clone)]
pub struct Payment {
    /// What is asked for.
    pub requirements: Arc<Requirements>,
    /// Where allowances, reservations and the ledger are.
    pub store: Arc<dyn Store>,
    /// The operator's own wallets.
    pub house_wallets: Vec<String>,
}

/// Sales of one operation at once; more are shed before anything is reserved.
const MOST_SALES: u32 = 1024;

/// The counters and wires of one operation in this process.
#[derive(Debug)]
pub struct State {
    /// What was counted.
    pub tally: Tally,
    /// What tripped.
    pub wires: Wires,
    /// A permit for each sale that may begin.
    sales: Arc<Semaphore>,
}

/// Why a pre-check is not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Denied {
    /// The last one is too recent; how many milliseconds to wait.
    TooSoon(u64),
    /// A fault.
    Fault(Fault),
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

    /// The corpus that its engine has to pass whole before it serves.
    #[must_use]
    pub const fn corpus(self) -> &'static str {
        match self {
            Op::ArgumentCheck => contract::ARGUMENT_CHECK_CORPUS,
            Op::SplitProfile => contract::SPLIT_PROFILE_CORPUS,
        }
    }
}

impl State {
    /// Of an operation that begins.
    #[must_use]
    pub fn new(op: Op) -> State {
        let sales = Arc::new(Semaphore::new(MOST_SALES as usize));
        State { tally: Tally::new(op), wires: Wires::new(op), sales }
    }

    /// Waits until no sale is under way, and lets none begin any more: a process that ends in the middle of one leaves
    /// its outcome to the operator.
    pub async fn drain(&self) {
        if let Ok(all) = self.sales.acquire_many(MOST_SALES).await {
            all.forget();
        }
    }
}

impl Service {
    /// Serves as long as no trip stops it.
    ///
    /// # Errors
    /// [`Fault::OperationStopped`].
    pub fn admit(&self) -> Result<(), Fault> {
        let stopped = !self.state.wires.stopped_by(&self.acknowledged).is_empty();
        if stopped { Err(Fault::OperationStopped) } else { Ok(()) }
    }

    /// Takes one free call of `caller` at `now`.
    ///
    /// # Errors
    /// See [`Denied`].
    pub async fn take_free_call(&self, caller: &str, now: Utc) -> Result<(), Denied> {
        let Some(Payment { store, .. }) = &self.payment else { return Ok(()) };
        match store.quota_take(self.op, caller, ALLOWANCE, now).await {
            Ok(Quota::Granted) => Ok(()),
            Ok(Quota::TooSoon(wait)) => Err(Denied::TooSoon(wait)),
            Ok(Quota::Exhausted) => Err(Denied::Fault(Fault::AllowanceExhausted)),
            Err(error) => {
                tracing::error!(%error, "a pre-check is refused");
                Err(Denied::Fault(Fault::StoreUnavailable))
            }
        }
    }

    /// What an operator should know: trips that stop the operation, and wires that ask for a review.
    #[must_use]
    pub fn conditions(&self) -> Vec<String> {
        let (op, wires) = (self.op.name(), &self.state.wires);
        let mut conditions: Vec<String> =
            wires.stopped_by(&self.acknowledged).iter().map(|trip| format!("{op} stopped: {trip}")).collect();
        conditions.extend(wires.to_review().iter().map(|wire| format!("{op} asks for a review: {wire}")));
        if wires.unresolved() > 0 {
            conditions.push(format!("{op} has payments without an outcome: {}", wires.unresolved()));
        }
        conditions
    }

    /// Appends what `services` count, each family once, in the exposition format 0.0.4.
    pub fn write_metrics<'s>(services: impl IntoIterator<Item = &'s Arc<Service>>, out: &mut String) {
        let mut families = tally::Families::default();
        for service in services {
            service.state.tally.write(&mut families);
            service.state.wires.write(&service.acknowledged, service.payment.is_some(), &mut families);
        }
        families.write(out);
    }
}
