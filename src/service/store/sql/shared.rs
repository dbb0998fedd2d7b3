//! The store of whatever is a [`Backend`].

use super::{Backend, payment, quota, rows, trip};
use crate::service::Op;
use crate::service::store::ledger::{Cell, Entry};
use crate::service::store::{
    Allowance, Answer, Figures, Quota, Rate, Refunded, ReplayKey, Reserved, Settled, Store, Trip, Unresolved,
};
use crate::utc::Utc;

impl<B: Backend> Store for B {
    fn quota_take<'a>(
        &'a self,
        op: Op,
        caller: &'a str,
        allowance: Allowance,
        now: Utc,
    ) -> Answer<'a, Quota> {
        Box::pin(self.work(quota::Take { op, caller: caller.to_owned(), allowance, now }))
    }

    fn reserve(&self, op: Op, key: ReplayKey, now: Utc) -> Answer<'_, Reserved> {
        Box::pin(self.work(payment::Reserve { op, key, now }))
    }

    fn release(&self, key: ReplayKey) -> Answer<'_, ()> {
        Box::pin(self.work(payment::Release(key)))
    }

    fn ledger_begin<'a>(&'a self, key: ReplayKey, entry: &'a Entry, now: Utc) -> Answer<'a, ()> {
        Box::pin(self.work(payment::Begin { key, entry: entry.clone(), now }))
    }

    fn ledger_finish<'a>(&'a self, key: ReplayKey, settled: &'a Settled, now: Utc) -> Answer<'a, bool> {
        Box::pin(self.work(payment::Finish { key, settled: settled.clone(), now }))
    }

    fn ledger_drop(&self, key: ReplayKey) -> Answer<'_, ()> {
        Box::pin(self.work(payment::Forget(key)))
    }

    fn delivered(&self, key: ReplayKey) -> Answer<'_, ()> {
        Box::pin(self.work(payment::Delivered(key)))
    }

    fn ledger_amend<'a>(&'a self, key: ReplayKey, entry: &'a Entry) -> Answer<'a, ()> {
        Box::pin(self.work(payment::Amend { key, entry: entry.clone() }))
    }

    fn unresolved(&self, before: Utc) -> Answer<'_, Vec<Unresolved>> {
        Box::pin(self.work(payment::ListUnresolved(before)))
    }

    fn figures<'a>(&'a self, op: Op, since: &'a str) -> Answer<'a, Figures> {
        Box::pin(self.work(rows::Sums { op, since: since.to_owned() }))
    }

    fn trip<'a>(&'a self, op: Op, trip: &'a Trip) -> Answer<'a, ()> {
        Box::pin(self.work(trip::Put { op, trip: trip.clone() }))
    }

    fn trips(&self, op: Op) -> Answer<'_, Vec<Trip>> {
        Box::pin(self.work(trip::List(op)))
    }

    fn purge(&self, now: Utc) -> Answer<'_, ()> {
        Box::pin(self.work(payment::Purge(now)))
    }

    fn ledger_page<'a>(
        &'a self,
        op: Op,
        after: Option<(&'a str, &'a str)>,
        most: u32,
    ) -> Answer<'a, Vec<Vec<Cell>>> {
        // Nothing is before the empty text.
        let (timestamp, tx) = after.unwrap_or_default();
        Box::pin(self.work(rows::Page { op, after: (timestamp.to_owned(), tx.to_owned()), most }))
    }

    fn ledger_rate<'a>(&'a self, rates: &'a [Rate]) -> Answer<'a, u64> {
        Box::pin(self.work(rows::FillRates(rates.to_vec())))
    }

    fn ledger_refund<'a>(&'a self, tx: &'a str, refund: &'a str) -> Answer<'a, Refunded> {
        Box::pin(self.work(rows::Refund { tx: tx.to_owned(), refund: refund.to_owned() }))
    }
}
