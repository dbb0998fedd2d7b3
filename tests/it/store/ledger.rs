//! The ledger: its columns, its rows, and what is added to a row later.

use millwork_dock::contract;
use millwork_dock::service::Op::{self, ArgumentCheck, SplitProfile};
use millwork_dock::service::store::ledger::{CAD_BASIS, Cell, Entry, Outcome, columns};
use millwork_dock::service::store::{Figures, Rate, Refunded, Trip};
use serde_json::Value;

use super::{DAY, Place, at, entry, key, on_each, paid, settled};

/// A row as one text, each cell as `column=value`.
fn told(op: Op, row: &[Cell]) -> String {
    assert_eq!(row.len(), columns(op).len());
    let cells = columns(op).iter().zip(row).map(|(column, cell)| match cell {
        Cell::Null => format!("{column}=null"),
        Cell::Number(number) => format!("{column}={number}"),
        Cell::Flag(flag) => format!("{column}={flag}"),
        Cell::Text(text) => format!("{column}='{text}'"),
    });
    cells.collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn the_tables_have_the_published_columns_and_no_others() {
    for (op, table, criteria) in [
        (ArgumentCheck, "argument_check_ledger", contract::TOOL_ARGUMENT),
        (SplitProfile, "split_profile_ledger", contract::TOKEN_EFFICIENCY),
    ] {
        let criteria: Value = serde_json::from_str(criteria).expect("JSON");
        let fields = criteria["custody"]["ledger_columns"].as_array().expect("a list");
        let named: Vec<&Value> = fields.iter().map(|field| &field["field"]).collect();
        let closed = criteria["custody"]["ledger_closed_fields"].as_array().expect("a list");
        assert_eq!(named, closed.iter().collect::<Vec<_>>());
        let listed = fields.iter().flat_map(|field| field["columns"].as_array().expect("columns"));
        let listed: Vec<&str> = listed.map(|column| column.as_str().expect("a name")).collect();
        assert_eq!(listed, columns(op));
        for place in Place::every().await {
            place.open().await;
            assert_eq!(place.columns(table).await, listed, "{}", place.name);
        }
    }
}

#[tokio::test]
async fn a_row_holds_what_its_entry_says() {
    on_each(async |name, store| {
        let house = Entry { house: true, ..entry(SplitProfile, 61_000) };
        assert!(paid(&*store, 1, &entry(ArgumentCheck, 0), "tx 1").await, "{name}");
        assert!(paid(&*store, 2, &house, "tx 2").await, "{name}");
        for (op, row) in [
            (
                ArgumentCheck,
                format!(
                    "payer_wallet='Payer1111' timestamp='2026-11-30T12:00:00Z' day='2026-11-30' \
                     price_usdc_units=20000 cad_rate=null cad_rate_date=null cad_basis='{CAD_BASIS}' \
                     cad_pending=true refund=null payment_tx_id='tx 1' solana_fee_lamports=10000 \
                     criteria_version='1.2.0' op='argument-check' verdict_line='LINE 0' \
                     status_verdict='REPAIRED' status_repairs=2 status_defects=3 \
                     status_defect_codes='type_mismatch required_missing' house=false"
                ),
            ),
            (
                SplitProfile,
                format!(
                    "payer_wallet='Payer1111' timestamp='2026-11-30T12:01:01Z' day='2026-11-30' \
                     price_usdc_units=20000 cad_rate=null cad_rate_date=null cad_basis='{CAD_BASIS}' \
                     cad_pending=true refund=null payment_tx_id='tx 2' solana_fee_lamports=10000 \
                     criteria_version='1.2.0' verdict_line='LINE 61000' tool_count=7 \
                     schema_identity_group_count=2 r1_assessability='ASSESSABLE' \
                     r2_assessability='ASSESSABLE' r3_assessability='NOT-ASSESSABLE' house=true"
                ),
            ),
        ] {
            let rows = store.ledger_page(op, None, 10).await.expect(name);
            assert_eq!(rows.iter().map(|cells| told(op, cells)).collect::<Vec<_>>(), [row], "{name}");
        }
    })
    .await;
}

#[tokio::test]
async fn pages_are_in_order_of_time_and_leave_nothing_out() {
    on_each(async |name, store| {
        // Three in one second, in no order; capital letters come first.
        let rows = [("b", 5_000), ("a", 5_000), ("C", 5_999), ("z", 1_000), ("y", DAY)];
        for (number, (tx, millis)) in (1..).zip(rows) {
            paid(&*store, number, &entry(SplitProfile, millis), tx).await;
        }
        for most in 1..=6_u32 {
            let (mut seen, mut after) = (Vec::new(), None::<(String, String)>);
            loop {
                let from = after.as_ref().map(|(timestamp, tx)| (timestamp.as_str(), tx.as_str()));
                let page = store.ledger_page(SplitProfile, from, most).await.expect(name);
                assert!(page.len() <= most as usize, "{name}");
                let Some(last) = page.last() else { break };
                let (Cell::Text(timestamp), Cell::Text(tx)) = (&last[1], &last[9]) else {
                    panic!("{last:?}")
                };
                after = Some((timestamp.clone(), tx.clone()));
                seen.extend(page.iter().map(|row| format!("{:?}", row[9])));
            }
            assert_eq!(seen.join(" ").replace("Text", ""), r#"("z") ("C") ("a") ("b") ("y")"#, "{name}");
        }
        assert!(store.ledger_page(ArgumentCheck, None, 10).await.expect(name).is_empty(), "{name}");
    })
    .await;
}

#[tokio::test]
async fn rates_fill_pending_rows_of_their_days() {
    let rate = |from: &str, through: &str, date: &str, rate: &str| Rate {
        from: from.to_owned(),
        through: through.to_owned(),
        date: date.to_owned(),
        rate: rate.to_owned(),
    };
    on_each(async |name, store| {
        paid(&*store, 1, &entry(ArgumentCheck, 0), "tx 1").await;
        paid(&*store, 2, &entry(ArgumentCheck, DAY), "tx 2").await;
        paid(&*store, 3, &entry(ArgumentCheck, 2 * DAY), "tx 3").await;
        paid(&*store, 4, &entry(SplitProfile, DAY), "tx 4").await;
        let rates = [
            rate("2026-11-27", "2026-11-30", "2026-11-27", "1.4010"),
            rate("2026-12-01", "2026-12-01", "2026-12-01", "1.4"),
        ];
        assert_eq!(store.ledger_rate(&rates).await.expect(name), 3, "{name}");
        let other = [rate("2026-01-01", "2026-12-01", "2026-01-01", "9")];
        assert_eq!(store.ledger_rate(&other).await.expect(name), 0, "{name}: a rate that is known stays");
        assert_eq!(store.ledger_rate(&[]).await.expect(name), 0, "{name}");
        let rows = [
            store.ledger_page(ArgumentCheck, None, 10).await.expect(name),
            store.ledger_page(SplitProfile, None, 10).await.expect(name),
        ];
        let cad: Vec<String> = rows.concat().iter().map(|row| format!("{:?}", &row[4..=7])).collect();
        let filled = |rate: &str, date: &str| {
            format!("[Text(\"{rate}\"), Text(\"{date}\"), Text(\"{CAD_BASIS}\"), Flag(false)]")
        };
        let pending = format!("[Null, Null, Text(\"{CAD_BASIS}\"), Flag(true)]");
        let first = filled("1.4010", "2026-11-27");
        let second = filled("1.4", "2026-12-01");
        assert_eq!(cad, [&first, &second, &pending, &second].map(String::as_str), "{name}");
    })
    .await;
}

#[tokio::test]
async fn a_refund_is_noted_once() {
    on_each(async |name, store| {
        paid(&*store, 1, &entry(ArgumentCheck, 0), "tx 1").await;
        paid(&*store, 2, &entry(SplitProfile, 0), "tx 2").await;
        let house = Entry { house: true, ..entry(SplitProfile, 0) };
        paid(&*store, 3, &house, "tx 3").await;
        for (tx, refund, expected) in [
            ("tx 2", "first", Refunded::Noted),
            ("tx 2", "second", Refunded::Already),
            ("tx 1", "other", Refunded::Noted),
            ("tx 3", "house", Refunded::Noted),
            ("tx", "none", Refunded::Unknown),
        ] {
            assert_eq!(store.ledger_refund(tx, refund).await.expect(name), expected, "{name}: {tx}");
        }
        let rows = store.ledger_page(SplitProfile, None, 10).await.expect(name);
        assert_eq!(rows[0][8], Cell::Text("first".to_owned()), "{name}");
        // House wallets count nowhere.
        for (op, since, expected) in [
            (SplitProfile, "2026-11-30", Figures { paid: 1, refunded: 1, free: 0 }),
            (SplitProfile, "2026-12-01", Figures::default()),
            (ArgumentCheck, "2026-11-29", Figures { paid: 1, refunded: 1, free: 0 }),
        ] {
            assert_eq!(store.figures(op, since).await.expect(name), expected, "{name}: {op:?} since {since}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_delivered_debt_amends_what_the_check_said_and_nothing_else() {
    on_each(async |name, store| {
        for (number, op) in [(1, ArgumentCheck), (2, SplitProfile)] {
            let tx = format!("tx {number}");
            store.reserve(op, key(number), at(0)).await.expect(name);
            store.ledger_begin(key(number), &entry(op, 1), at(1)).await.expect(name);
            store.ledger_finish(key(number), &settled(&tx), at(2)).await.expect(name);
            let outcome = match op {
                ArgumentCheck => {
                    Outcome::Argument { verdict: "VALID", repairs: 0, defects: 0, defect_codes: Vec::new() }
                }
                SplitProfile => Outcome::Profile { tools: 9, groups: 0, blocks: ["NOT-ASSESSABLE"; 3] },
            };
            let again = Entry {
                payer: "Another2222".to_owned(),
                at: at(DAY),
                price_usdc_units: 1,
                solana_fee_lamports: 1,
                criteria_version: "2.0.0",
                verdict_line: "AGAIN".to_owned(),
                house: true,
                outcome,
            };
            let before = store.ledger_page(op, None, 10).await.expect(name);
            store.ledger_amend(key(number), &again).await.expect(name);
            let after = store.ledger_page(op, None, 10).await.expect(name);
            let pairs = before[0].iter().zip(&after[0]);
            let cells = columns(op).iter().zip(pairs);
            let changed: Vec<&str> =
                cells.filter(|(_, (old, new))| old != new).map(|(column, _)| *column).collect();
            let expected: &[&str] = match op {
                ArgumentCheck => &[
                    "criteria_version",
                    "verdict_line",
                    "status_verdict",
                    "status_repairs",
                    "status_defects",
                    "status_defect_codes",
                ],
                SplitProfile => &[
                    "criteria_version",
                    "verdict_line",
                    "tool_count",
                    "schema_identity_group_count",
                    "r1_assessability",
                    "r2_assessability",
                ],
            };
            assert_eq!(changed, expected, "{name}");
            assert!(told(op, &after[0]).contains("verdict_line='AGAIN'"), "{name}");
        }
    })
    .await;
}

#[tokio::test]
async fn tripped_wires_are_kept_oldest_first() {
    on_each(async |name, store| {
        let trip = |wire: &str, millis| Trip { name: wire.to_owned(), at: at(millis) };
        let late = trip("repair_invented_value", 2_001);
        for made in [&late, &trip("refunds", 1_005), &late, &trip("refunds", 3_000)] {
            store.trip(ArgumentCheck, made).await.expect(name);
        }
        let kept = store.trips(ArgumentCheck).await.expect(name);
        assert_eq!(kept, [trip("refunds", 1_005), late, trip("refunds", 3_000)], "{name}");
        assert!(store.trips(SplitProfile).await.expect(name).is_empty(), "{name}");
    })
    .await;
}
