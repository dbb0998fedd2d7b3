//! Free allowances and what counts them.

use millwork_dock::service::Op::{ArgumentCheck, SplitProfile};
use millwork_dock::service::store::Quota::{self, Exhausted, Granted, TooSoon};
use millwork_dock::service::store::{Allowance, Figures};

use super::{DAY, at, on_each};
use millwork_dock::service::Op;

const TWICE: Allowance = Allowance { per_day: 2, min_interval_ms: 5_000 };
const THRICE: Allowance = Allowance { per_day: 3, min_interval_ms: 0 };
const NEVER: Allowance = Allowance { per_day: 0, min_interval_ms: 5_000 };
/// From noon to the next day.
const MIDNIGHT: u64 = DAY / 2;

/// In order: operation, caller, allowance, milliseconds after noon, what is answered.
const CALLS: &[(Op, &str, Allowance, u64, Quota)] = &[
    (ArgumentCheck, "a", TWICE, 10_000, Granted),
    (ArgumentCheck, "a", TWICE, 10_000, TooSoon(5_000)),
    (ArgumentCheck, "a", TWICE, 14_999, TooSoon(1)),
    // A clock that is behind.
    (ArgumentCheck, "a", TWICE, 9_000, TooSoon(6_000)),
    // Others are others.
    (ArgumentCheck, "b", TWICE, 10_001, Granted),
    (SplitProfile, "a", TWICE, 10_001, Granted),
    (ArgumentCheck, "a", TWICE, 15_000, Granted),
    // Exhausted wins over too soon.
    (ArgumentCheck, "a", TWICE, 15_001, Exhausted),
    (ArgumentCheck, "a", TWICE, 90_000, Exhausted),
    (ArgumentCheck, "b", TWICE, 90_000, Granted),
    // A new day has a new allowance, and the interval goes on.
    (ArgumentCheck, "c", TWICE, MIDNIGHT - 1_000, Granted),
    (ArgumentCheck, "c", TWICE, MIDNIGHT + 1_000, TooSoon(3_000)),
    (ArgumentCheck, "c", TWICE, MIDNIGHT + 4_000, Granted),
    (ArgumentCheck, "c", TWICE, MIDNIGHT + 9_000, Granted),
    (ArgumentCheck, "c", TWICE, MIDNIGHT + 14_000, Exhausted),
    // The day before counts as the day after: of three, one was used.
    (ArgumentCheck, "d", THRICE, MIDNIGHT, Granted),
    (ArgumentCheck, "d", THRICE, MIDNIGHT - 1, Granted),
    (ArgumentCheck, "d", THRICE, MIDNIGHT - 2, Granted),
    (ArgumentCheck, "d", THRICE, MIDNIGHT - 1, Exhausted),
    (ArgumentCheck, "d", THRICE, MIDNIGHT, Exhausted),
    (ArgumentCheck, "e", NEVER, 0, Exhausted),
    (ArgumentCheck, "it's \"ß\" \\ $1 ?", TWICE, 0, Granted),
    (ArgumentCheck, "it's \"ß\" \\ $1 ?", TWICE, 0, TooSoon(5_000)),
];

#[tokio::test]
async fn allowances_are_granted_by_day_and_interval() {
    on_each(async |name, store| {
        for (index, (op, caller, allowance, millis, expected)) in CALLS.iter().enumerate() {
            let given = store.quota_take(*op, caller, *allowance, at(*millis)).await.expect(name);
            assert_eq!(given, *expected, "{name}, call {index}");
        }
        // What was granted is counted, by the day that it was granted for.
        for (op, since, free) in [
            (ArgumentCheck, "2026-11-30", 11),
            (ArgumentCheck, "2026-12-01", 5),
            (ArgumentCheck, "2026-12-02", 0),
            (SplitProfile, "2026-11-30", 1),
            (SplitProfile, "2026-12-01", 0),
        ] {
            let figures = store.figures(op, since).await.expect(name);
            assert_eq!(figures, Figures { free, ..Figures::default() }, "{name}, {op:?} since {since}");
        }
    })
    .await;
}

#[tokio::test]
async fn allowances_of_days_before_yesterday_are_forgotten() {
    let once = Allowance { per_day: 1, min_interval_ms: 0 };
    on_each(async |name, store| {
        let take = async |millis| store.quota_take(ArgumentCheck, "a", once, at(millis)).await.expect(name);
        assert_eq!(take(0).await, Granted);
        store.purge(at(DAY)).await.expect(name);
        assert_eq!(take(0).await, Exhausted, "{name}: yesterday's are kept");
        store.purge(at(2 * DAY)).await.expect(name);
        assert_eq!(take(0).await, Granted, "{name}: older ones are not");
        let free = store.figures(ArgumentCheck, "2026-11-30").await.expect(name).free;
        assert_eq!(free, 2, "{name}: the counts stay");
    })
    .await;
}
