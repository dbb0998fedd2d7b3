//! Tripwires (`kill_line` of both criteria): some ask for a review, some stop the operation.
//!
//! A stop is kept in the store, holds for all replicas, and ends when the operator's configuration acknowledges that
//! very trip by its name and time.

use std::sync::{Mutex, PoisonError};

use super::Op;
use super::store::{Figures, Store, StoreError, Trip};
use super::tally::Families;
use crate::utc::Utc;

/// The days that refunds and free use are looked at over.
const WINDOW_DAYS: u64 = 30;
/// Refunds over this share of paid checks trip, in percent.
const REFUNDS_PERCENT: u64 = 5;
/// Free use over so many times the paid use trips.
const FREE_TIMES_PAID: u64 = 10;
/// A payment without an outcome after this time is shown to the operator, in milliseconds.
const UNRESOLVED_AFTER_MS: u64 = 180_000;
const DAY_MS: u64 = 24 * 3_600_000;

/// What is known of an operation's wires.
#[derive(Debug)]
pub struct Wires {
    op: Op,
    state: Mutex<State>,
}

#[derive(Debug, Default, Clone)]
struct State {
    figures: Figures,
    unresolved: usize,
    /// As the store has them, and those that this process could not store.
    trips: Vec<Trip>,
}

impl Trip {
    /// As `/readyz` shows it and `acknowledged` repeats it: `name@time`.
    #[must_use]
    pub fn label(&self) -> String {
        format!("{}@{}", self.name, self.at)
    }
}

impl Wires {
    /// Nothing has tripped yet.
    #[must_use]
    pub fn new(op: Op) -> Wires {
        Wires { op, state: Mutex::default() }
    }

    /// A wire trips: from now on the operation is stopped.
    pub async fn trip(&self, name: &str, store: Option<&dyn Store>) {
        // To the second, as it is written everywhere.
        let at = Utc::from_unix_millis(Utc::now().unix() * 1000);
        let trip = Trip { name: name.to_owned(), at };
        tracing::error!(op = self.op.name(), wire = name, at = %at, "a tripwire tripped: the operation is stopped");
        if let Some(store) = store
            && let Err(error) = store.trip(self.op, &trip).await
        {
            tracing::error!(%error, "the trip is known to this process alone");
        }
        self.set(|state| state.trips.push(trip));
    }

    /// Asks the store what happened, here and elsewhere.
    ///
    /// # Errors
    /// The store's; then what was known stays.
    pub async fn refresh(&self, store: &dyn Store, now: Utc) -> Result<(), StoreError> {
        let since = Utc::from_unix_millis(now.unix_millis().saturating_sub((WINDOW_DAYS - 1) * DAY_MS)).day();
        let figures = store.figures(self.op, &since).await?;
        let stored = store.trips(self.op).await?;
        let before = Utc::from_unix_millis(now.unix_millis().saturating_sub(UNRESOLVED_AFTER_MS));
        let unresolved = store.unresolved(before).await?.iter().filter(|one| one.op == self.op).count();
        self.set(|state| {
            let reviews = reviews(&state.figures);
            for review in reviews_new(&reviews, &figures) {
                tracing::warn!(op = self.op.name(), wire = review, "a tripwire asks for a review");
            }
            if unresolved > state.unresolved {
                let op = self.op.name();
                tracing::warn!(op, unresolved, "payments have no outcome; `ledger unresolved` lists them");
            }
            state.figures = figures;
            state.unresolved = unresolved;
            for trip in stored {
                if !state.trips.contains(&trip) {
                    state.trips.push(trip);
                }
            }
        });
        Ok(())
    }

    /// The trips that stop the operation: those that `acknowledged` does not name.
    #[must_use]
    pub fn stopped_by(&self, acknowledged: &[String]) -> Vec<String> {
        let state = self.get();
        state.trips.iter().map(Trip::label).filter(|label| !acknowledged.contains(label)).collect()
    }

    /// The wires that ask for a review.
    #[must_use]
    pub fn to_review(&self) -> Vec<&'static str> {
        reviews(&self.get().figures)
    }

    /// Payments whose outcome nobody recorded.
    #[must_use]
    pub fn unresolved(&self) -> usize {
        self.get().unresolved
    }

    /// Appends what is known; figures of payment only where checks are paid.
    pub fn write(&self, acknowledged: &[String], is_paid: bool, families: &mut Families) {
        let State { figures, unresolved, .. } = self.get();
        let mut gauge = |name, help, value: &dyn std::fmt::Display| {
            families.open(name, "gauge", help);
            families.add(name, self.op, "", value);
        };
        if is_paid {
            gauge("paid_30d", "Paid checks of 30 days, without house wallets.", &figures.paid);
            gauge("refunded_30d", "Refunded ones of them.", &figures.refunded);
            gauge("free_30d", "Granted pre-checks of 30 days.", &figures.free);
            gauge("refund_ratio", "Refunded to paid, 30 days.", &Ratio(figures.refunded, figures.paid));
            gauge("free_paid_ratio", "Free to paid, 30 days.", &Ratio(figures.free, figures.paid));
            gauge("unresolved_payments", "Payments without a recorded outcome.", &unresolved);
        }
        families.open(
            "tripwire",
            "gauge",
            "1 for a tripped wire; stop tells whether it stops the operation.",
        );
        for name in self.to_review() {
            families.add("tripwire", self.op, &format!("wire=\"{name}\",stop=\"false\""), 1);
        }
        for label in self.stopped_by(acknowledged) {
            let name = label.split('@').next().unwrap_or_default();
            families.add("tripwire", self.op, &format!("wire=\"{name}\",stop=\"true\""), 1);
        }
    }

    fn get(&self) -> State {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

fn reviews(figures: &Figures) -> Vec<&'static str> {
    let Figures { paid, refunded, free } = *figures;
    let mut reviews = Vec::new();
    if refunded.saturating_mul(100) > paid.saturating_mul(REFUNDS_PERCENT) {
        reviews.push("refunds_over_5_percent");
    }
    if free > paid.saturating_mul(FREE_TIMES_PAID) {
        reviews.push("free_use_over_10_times_paid");
    }
    reviews
}

fn reviews_new(before: &[&'static str], now: &Figures) -> Vec<&'static str> {
    reviews(now).into_iter().filter(|review| !before.contains(review)).collect()
}

/// A ratio as Prometheus reads it; 0 where there is nothing at all.
struct Ratio(u64, u64);

impl std::fmt::Display for Ratio {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Ratio(0, _) => f.write_str("0"),
            Ratio(_, 0) => f.write_str("+Inf"),
            // Six places, without a float.
            Ratio(part, whole) => {
                let millionths = u128::from(*part) * 1_000_000 / u128::from(*whole);
                write!(f, "{}.{:06}", millionths / 1_000_000, millionths % 1_000_000)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reviews_are_asked_for_above_the_published_lines_only() {
        let of = |paid, refunded, free| reviews(&Figures { paid, refunded, free });
        assert!(of(0, 0, 0).is_empty());
        assert!(of(100, 5, 1000).is_empty());
        assert_eq!(of(100, 6, 1000), ["refunds_over_5_percent"]);
        assert_eq!(of(100, 5, 1001), ["free_use_over_10_times_paid"]);
        assert_eq!(of(0, 0, 1), ["free_use_over_10_times_paid"]);
    }

    #[test]
    fn ratios_are_written_without_rounding_up() {
        for (ratio, text) in [
            (Ratio(0, 0), "0"),
            (Ratio(1, 0), "+Inf"),
            (Ratio(1, 3), "0.333333"),
            (Ratio(30, 3), "10.000000"),
        ] {
            assert_eq!(ratio.to_string(), text);
        }
    }
}
