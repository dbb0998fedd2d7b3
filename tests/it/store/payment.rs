//! Payments under way: reserved, released, begun, finished, owed, delivered, unresolved, over.

use millwork_dock::service::Op::{self, ArgumentCheck, SplitProfile};
use millwork_dock::service::store::{CLAIM_MS, OWED_MS, REPLAY_MS, Store, StoreError, Unresolved};

use super::{at, entry, key, on_each, settled};

/// What is done to payment 1, at so many milliseconds after noon where the time matters.
#[derive(Debug, Clone, Copy)]
enum Step {
    Reserve(Op, u64),
    Release,
    Begin(Op, u64),
    /// With the transaction.
    Finish(&'static str, u64),
    Delivered,
    Drop,
    Amend(Op),
    Purge(u64),
    /// How many are unresolved.
    Unresolved(u64),
}
use Step::{Amend, Begin, Delivered, Drop, Finish, Purge, Release, Reserve};

/// A name, the steps, and what each answers; `failed` is an error.
type Script = (&'static str, &'static [(Step, &'static str)]);

const PAID: &[Script] = &[
    (
        "a payment is taken once, until its time is up",
        &[
            (Reserve(ArgumentCheck, 0), "Fresh"),
            (Reserve(ArgumentCheck, 1), "Underway"),
            (Reserve(SplitProfile, 1), "Underway"),
            (Reserve(ArgumentCheck, REPLAY_MS - 1), "Underway"),
            (Reserve(SplitProfile, REPLAY_MS), "Fresh"),
            (Reserve(ArgumentCheck, REPLAY_MS + 1), "Underway"),
        ],
    ),
    (
        "what was given back may be tried again",
        &[
            (Release, "()"),
            (Reserve(ArgumentCheck, 0), "Fresh"),
            (Release, "()"),
            (Reserve(ArgumentCheck, 1), "Fresh"),
        ],
    ),
    (
        "a delivered payment is remembered, then forgotten, and its transaction never",
        &[
            (Reserve(ArgumentCheck, 0), "Fresh"),
            (Begin(ArgumentCheck, 10), "()"),
            (Finish("tx", 100_000), "true"),
            (Delivered, "()"),
            (Release, "()"),
            (Reserve(ArgumentCheck, REPLAY_MS), "Replayed"),
            (Reserve(SplitProfile, 99_999 + OWED_MS), "Replayed"),
            (Reserve(ArgumentCheck, 100_000 + OWED_MS), "Fresh"),
            // The facilitator says again that it settled.
            (Begin(ArgumentCheck, 100_001 + OWED_MS), "()"),
            (Finish("tx", 100_002 + OWED_MS), "false"),
            (Step::Unresolved(u64::MAX / 4), "0"),
            (Reserve(ArgumentCheck, 100_004 + OWED_MS), "Replayed"),
        ],
    ),
    (
        "a transaction serves one operation",
        &[
            (Reserve(ArgumentCheck, 0), "Fresh"),
            (Begin(ArgumentCheck, 1), "()"),
            (Finish("tx", 2), "true"),
            (Reserve(SplitProfile, 2 + OWED_MS), "Fresh"),
            (Begin(SplitProfile, 3 + OWED_MS), "()"),
            (Finish("tx", 4 + OWED_MS), "false"),
        ],
    ),
    (
        "a finish whose answer was lost is made again",
        &[
            (Reserve(ArgumentCheck, 0), "Fresh"),
            (Begin(ArgumentCheck, 1), "()"),
            (Finish("tx", 2), "true"),
            (Finish("tx", 3), "true"),
            (Finish("another", 4), "failed"),
        ],
    ),
    (
        "only what is reserved for the operation can begin, and only what began can finish",
        &[
            (Begin(ArgumentCheck, 0), "failed"),
            (Finish("tx", 0), "failed"),
            (Reserve(ArgumentCheck, 0), "Fresh"),
            (Finish("tx", 1), "failed"),
            (Begin(SplitProfile, 1), "failed"),
            (Begin(ArgumentCheck, REPLAY_MS), "failed"),
            (Begin(ArgumentCheck, 1), "()"),
            (Begin(ArgumentCheck, 2), "failed"),
            (Amend(ArgumentCheck), "failed"),
            (Delivered, "()"),
            (Step::Unresolved(u64::MAX / 4), "1"),
        ],
    ),
    (
        "what is being settled is never over and never given back",
        &[
            (Reserve(ArgumentCheck, 0), "Fresh"),
            (Begin(ArgumentCheck, 1_000), "()"),
            (Release, "()"),
            (Step::Unresolved(1_000), "0"),
            (Step::Unresolved(1_001), "1"),
            (Purge(30 * OWED_MS), "()"),
            (Reserve(ArgumentCheck, 30 * OWED_MS), "Underway"),
            (Finish("tx", 30 * OWED_MS), "true"),
            (Step::Unresolved(u64::MAX / 4), "0"),
        ],
    ),
    (
        "what was not settled stays taken until its time is up",
        &[
            (Reserve(ArgumentCheck, 0), "Fresh"),
            (Begin(ArgumentCheck, 1), "()"),
            (Drop, "()"),
            (Step::Unresolved(u64::MAX / 4), "0"),
            (Finish("tx", 2), "failed"),
            (Reserve(ArgumentCheck, REPLAY_MS - 1), "Underway"),
            (Reserve(ArgumentCheck, REPLAY_MS), "Fresh"),
        ],
    ),
];

const OWED: &[Script] = &[
    (
        "a report that was not handed over is owed, to one caller at a time",
        &[
            (Reserve(ArgumentCheck, 0), "Fresh"),
            (Begin(ArgumentCheck, 1), "()"),
            (Finish("tx", 10), "true"),
            (Reserve(ArgumentCheck, 9 + CLAIM_MS), "Underway"),
            (Reserve(SplitProfile, 10 + CLAIM_MS), "Underway"),
            (Reserve(ArgumentCheck, 10 + CLAIM_MS), "Owed tx"),
            (Reserve(ArgumentCheck, 11 + CLAIM_MS), "Underway"),
            (Amend(SplitProfile), "failed"),
            (Amend(ArgumentCheck), "()"),
            (Delivered, "()"),
            (Amend(ArgumentCheck), "failed"),
            (Reserve(ArgumentCheck, 10 + 3 * CLAIM_MS), "Replayed"),
        ],
    ),
    (
        "whoever dies while delivering holds it up for a moment only",
        &[
            (Reserve(SplitProfile, 0), "Fresh"),
            (Begin(SplitProfile, 1), "()"),
            (Finish("tx", 10), "true"),
            (Reserve(SplitProfile, 10 + CLAIM_MS), "Owed tx"),
            (Release, "()"),
            (Reserve(SplitProfile, 9 + 2 * CLAIM_MS), "Underway"),
            (Reserve(SplitProfile, 10 + 2 * CLAIM_MS), "Owed tx"),
        ],
    ),
    (
        "a debt ends",
        &[
            (Reserve(ArgumentCheck, 0), "Fresh"),
            (Begin(ArgumentCheck, 1), "()"),
            (Finish("tx", 10), "true"),
            (Purge(9 + OWED_MS), "()"),
            (Reserve(ArgumentCheck, 9 + OWED_MS), "Owed tx"),
            (Purge(10 + OWED_MS), "()"),
            (Amend(ArgumentCheck), "failed"),
            (Reserve(ArgumentCheck, 10 + OWED_MS), "Fresh"),
        ],
    ),
];

async fn answer(store: &dyn Store, step: Step) -> String {
    let said = |answer: Result<String, StoreError>| answer.unwrap_or_else(|_| "failed".to_owned());
    let done = |answer: Result<(), StoreError>| said(answer.map(|()| "()".to_owned()));
    match step {
        Reserve(op, millis) => {
            let reserved = store.reserve(op, key(1), at(millis)).await;
            said(reserved.map(|reserved| format!("{reserved:?}").replace("(\"", " ").replace("\")", "")))
        }
        Release => done(store.release(key(1)).await),
        Begin(op, millis) => done(store.ledger_begin(key(1), &entry(op, millis), at(millis)).await),
        Finish(tx, millis) => {
            let finished = store.ledger_finish(key(1), &settled(tx), at(millis)).await;
            said(finished.map(|new| new.to_string()))
        }
        Drop => done(store.ledger_drop(key(1)).await),
        Delivered => done(store.delivered(key(1)).await),
        Amend(op) => done(store.ledger_amend(key(1), &entry(op, 0)).await),
        Purge(millis) => done(store.purge(at(millis)).await),
        Step::Unresolved(before) => {
            said(store.unresolved(at(before)).await.map(|listed| listed.len().to_string()))
        }
    }
}

async fn play(scripts: &[Script]) {
    for (title, steps) in scripts {
        on_each(async |name, store| {
            for (index, (step, expected)) in steps.iter().enumerate() {
                let answered = answer(&*store, *step).await;
                assert_eq!(answered, *expected, "{name}: {title}: step {index}, {step:?}");
            }
        })
        .await;
    }
}

#[tokio::test]
async fn a_payment_is_used_once() {
    play(PAID).await;
}

#[tokio::test]
async fn a_report_that_was_paid_is_owed() {
    play(OWED).await;
}

#[tokio::test]
async fn payments_without_an_outcome_are_listed_oldest_first() {
    on_each(async |name, store| {
        let listed = async |before| store.unresolved(at(before)).await.expect(name);
        for (number, op, begun) in
            [(7, ArgumentCheck, 2_000), (255, SplitProfile, 1_000), (1, ArgumentCheck, 9)]
        {
            store.reserve(op, key(number), at(0)).await.expect(name);
            store.ledger_begin(key(number), &entry(op, 5), at(begun)).await.expect(name);
        }
        store.ledger_finish(key(1), &settled("tx"), at(10)).await.expect(name);
        let unresolved = |number, op, began| {
            let payer = "Payer1111".to_owned();
            Unresolved { key: key(number), op, began: at(began), payer }
        };
        let both = [unresolved(255, SplitProfile, 1_000), unresolved(7, ArgumentCheck, 2_000)];
        assert_eq!(listed(2_001).await, both, "{name}");
        assert_eq!(listed(2_000).await, both[..1], "{name}");
    })
    .await;
}
