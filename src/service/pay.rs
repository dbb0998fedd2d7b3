//! A paid check, from its payment to its ledger row and its answer.
//!
//! It runs as a task of its own: a caller who leaves stops nothing half-way. Until the answer is handed over, the
//! report is owed, so that the same payment, sent again, brings it without being settled again.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::report::Report;
use super::signing::Signing;
use super::store::ledger::Entry;
use super::store::{ReplayKey, Reserved, Settled, Store, StoreError};
use super::tally::Payer;
use super::x402::facilitator::{Settlement, Verified};
use super::x402::payload::Payment as Sent;
use super::x402::{PRICE_USDC_UNITS, Version, address_text};
use super::{Payment, Service};
use crate::fault::Fault;
use crate::utc::Utc;

/// How often the ledger is tried for a payment that is settled.
const FINISH_ATTEMPTS: u32 = 5;

/// A check that was paid.
#[derive(Debug)]
pub struct Paid {
    /// The signed report's envelope.
    pub body: Vec<u8>,
    /// Which header tells of the settlement.
    pub version: Version,
    /// What it says, base64.
    pub response: String,
}

/// Where the outcome goes; gone once it was told.
type Reply = Option<oneshot::Sender<Result<Paid, Fault>>>;

impl Service {
    /// Has `sent` pay for `report`, and delivers it.
    ///
    /// # Errors
    /// The fault that the caller is told; each says in `contract/errors.md` whether something was paid.
    pub async fn sell(
        self: Arc<Self>,
        payment: Payment,
        signing: Arc<Signing>,
        sent: Sent,
        report: Report,
    ) -> Result<Paid, Fault> {
        let permit = Arc::clone(&self.state.sales).try_acquire_owned().map_err(|_| Fault::Overloaded)?;
        let (reply, outcome) = oneshot::channel();
        tokio::spawn(async move {
            Sale { service: self, payment, signing, sent, report }.run(reply).await;
            drop(permit);
        });
        // The task answers unless it panics, which is a defect of ours.
        outcome.await.unwrap_or(Err(Fault::SettlementUnknown))
    }
}

/// One report on its way to being paid.
struct Sale {
    service: Arc<Service>,
    payment: Payment,
    signing: Arc<Signing>,
    sent: Sent,
    report: Report,
}

impl Sale {
    async fn run(&self, reply: oneshot::Sender<Result<Paid, Fault>>) {
        let mut reply = Some(reply);
        let key = self.sent.transaction.key;
        match self.pay(&mut reply).await {
            Ok(paid) => {
                let payer = paid.payer;
                let told = reply.take().is_some_and(|reply| reply.send(Ok(paid.delivery)).is_ok());
                if told {
                    self.service.state.tally.checked(&self.report, payer);
                    // A failure leaves the report owed: at worst it is delivered once more.
                    self.noted(self.store().delivered(key).await);
                }
            }
            Err(fault) => {
                if let Some(reply) = reply {
                    // A caller who has left is not told.
                    let _ = reply.send(Err(fault));
                }
            }
        }
    }

    fn store(&self) -> &dyn Store {
        &*self.payment.store
    }

    /// The order of payments.md: reserve, verify, sign, note the row, settle, finish the row.
    async fn pay(&self, reply: &mut Reply) -> Result<Delivery, Fault> {
        let op = self.service.op;
        let key = self.sent.transaction.key;
        match self.stored(self.store().reserve(op, key, Utc::now()).await)? {
            Reserved::Fresh => {}
            Reserved::Owed(transaction) => return self.deliver_again(transaction).await,
            Reserved::Underway => return Err(Fault::PaymentUnderway),
            Reserved::Replayed => return Err(Fault::PaymentReplayed),
        }
        let payer = match self.payment.requirements.verify(&self.sent).await {
            Ok(Verified::Valid(payer)) => payer,
            Ok(Verified::Invalid) => return Err(self.give_back(Fault::PaymentInvalid).await),
            Err(_) => return Err(self.give_back(Fault::FacilitatorUnavailable).await),
        };
        let Some(payer) = payer.or_else(|| self.sent.transaction.payer.map(|payer| address_text(&payer)))
        else {
            return Err(self.give_back(Fault::PaymentInvalid).await);
        };
        let body = self.signing.envelope(&self.report.bytes);
        let entry = self.entry(&payer);
        if let Err(error) = self.store().ledger_begin(key, &entry, Utc::now()).await {
            self.noted(Err(error));
            return Err(self.give_back(Fault::StoreUnavailable).await);
        }
        match self.settle(reply).await {
            Settlement::Settled(transaction) => {
                self.finish(key, Settled { tx: transaction.clone() }).await?;
                Ok(self.delivery(body, &transaction, &payer))
            }
            Settlement::Refused => {
                self.noted(self.store().ledger_drop(key).await);
                Err(Fault::SettlementRefused)
            }
            Settlement::Unknown => {
                tracing::error!(op = op.name(), "a payment has no outcome; `ledger unresolved` lists it");
                Err(Fault::SettlementUnknown)
            }
        }
    }

    /// Waits for the facilitator. A caller is kept waiting no longer than `settle_timeout`; then it is told that the
    /// outcome is unknown, and the outcome is still recorded when it comes.
    async fn settle(&self, reply: &mut Reply) -> Settlement {
        let mut settling = pin!(self.payment.requirements.settle(&self.sent));
        if let Ok(settlement) = timeout(self.payment.requirements.settle_timeout, &mut settling).await {
            return settlement;
        }
        if let Some(reply) = reply.take() {
            // A caller who has left is not told.
            let _ = reply.send(Err(Fault::SettlementUnknown));
        }
        settling.await
    }

    /// Records a settled payment. The money has moved, so a store that fails is asked again for a while.
    async fn finish(&self, key: ReplayKey, settled: Settled) -> Result<(), Fault> {
        for attempt in 0..FINISH_ATTEMPTS {
            match self.store().ledger_finish(key, &settled, Utc::now()).await {
                Ok(true) => return Ok(()),
                Ok(false) => return Err(Fault::PaymentReplayed),
                Err(error) => {
                    self.noted(Err(error));
                    tokio::time::sleep(Duration::from_millis(200 << attempt)).await;
                }
            }
        }
        // The id is public on Solana, and without it nobody could complete the ledger.
        tracing::error!(
            transaction = settled.tx,
            "a settled payment is not in the ledger; complete it by hand"
        );
        Err(Fault::SettlementUnknown)
    }

    /// The report of a payment that was settled before and brought its payer nothing.
    async fn deliver_again(&self, transaction: String) -> Result<Delivery, Fault> {
        let key = self.sent.transaction.key;
        let payer = self.sent.transaction.payer.map(|payer| address_text(&payer)).unwrap_or_default();
        let entry = self.entry(&payer);
        self.stored(self.store().ledger_amend(key, &entry).await)?;
        Ok(self.delivery(self.signing.envelope(&self.report.bytes), &transaction, &payer))
    }

    fn entry(&self, payer: &str) -> Entry {
        Entry {
            payer: payer.to_owned(),
            at: self.report.at,
            price_usdc_units: PRICE_USDC_UNITS,
            solana_fee_lamports: self.sent.transaction.fee_lamports,
            criteria_version: self.service.op.criteria_version(),
            verdict_line: self.report.verdict_line.clone(),
            house: self.payment.house_wallets.iter().any(|wallet| wallet == payer),
            outcome: self.report.outcome.clone(),
        }
    }

    fn delivery(&self, body: Vec<u8>, transaction: &str, payer: &str) -> Delivery {
        let version = self.sent.version;
        let network = self.payment.requirements.network.spelled(version);
        // Base58 and fixed names need no quoting.
        let response = format!(
            r#"{{"success":true,"transaction":"{transaction}","network":"{network}","payer":"{payer}"}}"#
        );
        let is_house = self.payment.house_wallets.iter().any(|wallet| wallet == payer);
        Delivery {
            delivery: Paid { body, version, response: STANDARD.encode(response) },
            payer: if is_house { Payer::House } else { Payer::Outside },
        }
    }

    /// Nothing was settled: the payment may be tried again.
    async fn give_back(&self, fault: Fault) -> Fault {
        self.noted(self.store().release(self.sent.transaction.key).await);
        fault
    }

    fn stored<T>(&self, stored: Result<T, StoreError>) -> Result<T, Fault> {
        stored.map_err(|error| {
            self.noted(Err(error));
            Fault::StoreUnavailable
        })
    }

    fn noted(&self, stored: Result<(), StoreError>) {
        if let Err(error) = stored {
            tracing::error!(op = self.service.op.name(), %error, "a payment's state could not be written");
        }
    }
}

/// A paid check, and by whom.
struct Delivery {
    delivery: Paid,
    payer: Payer,
}

impl super::Op {
    /// The version of its criteria, as the ledger has it.
    #[must_use]
    pub const fn criteria_version(self) -> &'static str {
        match self {
            super::Op::ArgumentCheck => crate::argument::CRITERIA_VERSION,
            super::Op::SplitProfile => crate::profile::CRITERIA_REVISION,
        }
    }
}
