//! What is paid: offers, payments and their outcomes, the ledger, and the free allowance beside it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use millwork_dock::server::Stop;
use millwork_dock::service::store::{self, Quota, Store, Trip};
use millwork_dock::service::{ALLOWANCE, Op};
use millwork_dock::utc::Utc;
use serde_json::{Value, json};

use super::facilitator::{Facilitator, Mode};
use super::{
    CATALOGUE, FEE_PAYER, PAYER, REPAIRED, UNREPAIRABLE, VALID, get, paying, payment_v1, post, report,
    services, settlement, start, x402,
};
use crate::command::run;
use crate::support::{Dock, Reply};

const CHECK: &str = "/argument-check/check";

async fn paid(more: &str) -> (Dock, Facilitator) {
    let facilitator = Facilitator::start().await;
    let dock = start(&format!("{}{}{more}", services("x402"), x402(&facilitator.url, FEE_PAYER))).await;
    (dock, facilitator)
}

/// The ledger of an operation, as the operator exports it.
fn ledger(directory: &Path, op: &str) -> Vec<Value> {
    let config = directory.join("dock.toml");
    let ran =
        run(&["ledger", "export", "--config", config.to_str().unwrap(), "--op", op, "--format", "jsonl"], "");
    assert_eq!(ran.status, 0, "{}", ran.err);
    ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

async fn open(dock: &Dock) -> Arc<dyn Store> {
    store::open(&format!("sqlite:{}", dock.directory.path().join("dock.db").display())).await.unwrap()
}

#[tokio::test]
async fn a_check_is_offered_paid_and_delivered() {
    let (dock, facilitator) = paid("").await;
    let reply = post(&dock, CHECK, "", REPAIRED).await;
    assert_eq!(reply.head.status, 402);
    let body = reply.json();
    assert_eq!((&body["x402Version"], &body["error"]), (&json!(1), &json!("payment_required")));
    let offer = settlement(&reply, "payment-required");
    assert_eq!(offer["resource"]["url"], format!("https://localhost{CHECK}"));
    assert_eq!(offer["accepts"][0]["amount"], "20000");
    assert_eq!(body["accepts"][0]["maxAmountRequired"], "20000");
    assert!(facilitator.settled().is_empty());

    let reply = post(&dock, CHECK, &paying(1), REPAIRED).await;
    assert_eq!(reply.head.status, 200, "{reply:?}");
    assert_eq!(report(&reply)["verdict"], "REPAIRED");
    let told = settlement(&reply, "payment-response");
    assert_eq!((&told["success"], &told["payer"]), (&json!(true), &json!(PAYER)));
    assert_eq!(facilitator.requirements()["extra"]["feePayer"], FEE_PAYER);
    let rows = ledger(dock.directory.path(), "argument-check");
    assert_eq!(rows.len(), 1);
    let row = &rows[0];
    assert_eq!(row["payment_tx_id"], told["transaction"]);
    assert_eq!(row["payer_wallet"], PAYER);
    assert_eq!(row["verdict_line"], report(&reply)["verdict_line"]);
    assert_eq!((&row["price_usdc_units"], &row["solana_fee_lamports"]), (&json!(20_000), &json!(10_001)));
    assert_eq!(
        (&row["cad_pending"], &row["refund"], &row["house"]),
        (&json!(true), &Value::Null, &json!(false))
    );
    assert_eq!((&row["status_verdict"], &row["status_repairs"]), (&json!("REPAIRED"), &json!(1)));

    let reply = post(&dock, "/split-profile/check", &paying(2), CATALOGUE).await;
    assert_eq!(reply.head.status, 200, "{reply:?}");
    let rows = ledger(dock.directory.path(), "split-profile");
    assert_eq!((&rows[0]["tool_count"], &rows[0]["r3_assessability"]), (&json!(3), &json!("ASSESSABLE")));
}

#[tokio::test]
async fn a_client_of_version_one_pays_the_same_offer() {
    let (dock, _facilitator) = paid(&format!("[store]\nhouse_wallets = [\"{PAYER}\"]\n")).await;
    let reply = post(&dock, CHECK, &format!("x-payment: {}\r\n", payment_v1(1)), UNREPAIRABLE).await;
    assert_eq!(reply.head.status, 200, "{reply:?}");
    let told = settlement(&reply, "x-payment-response");
    assert_eq!(told["network"], "solana-devnet");
    let rows = ledger(dock.directory.path(), "argument-check");
    assert_eq!(rows[0]["house"], true);
    assert_eq!(rows[0]["status_defect_codes"], "invalid_json_text");
    // The same transaction by the other version is the same payment.
    let reply = post(&dock, CHECK, &paying(1), VALID).await;
    assert_eq!(reply.refusal(), (409, "payment_replayed".to_owned()));
}

#[tokio::test]
async fn nothing_is_paid_for_what_is_refused() {
    let (dock, facilitator) = paid("").await;
    for (body, status, code) in
        [("[", 400, "invalid_request_body"), (r#"{"schema":{},"arguments":[]}"#, 400, "arguments_not_object")]
    {
        for headers in ["", &paying(1)] {
            assert_eq!(post(&dock, CHECK, headers, body).await.refusal(), (status, code.to_owned()));
        }
    }
    let cases = [
        ("PAYMENT-SIGNATURE: %\r\n".to_owned(), 400, "payment_malformed"),
        (format!("{}{}", paying(1), paying(2)), 400, "payment_malformed"),
        (format!("{}x-payment: {}\r\n", paying(1), payment_v1(1)), 400, "payment_malformed"),
    ];
    for (headers, status, code) in cases {
        let reply = post(&dock, CHECK, &headers, VALID).await;
        assert_eq!(reply.refusal(), (status, code.to_owned()), "{headers:.60}");
    }
    facilitator
        .set(Mode { verify: Some(json!({"isValid": false, "invalidReason": "x"})), ..Mode::default() });
    let reply = post(&dock, CHECK, &paying(1), VALID).await;
    assert_eq!((reply.head.status, &reply.json()["error"]), (402, &json!("payment_invalid")));
    facilitator.set(Mode { verify: None, ..Mode::default() });
    let reply = post(&dock, CHECK, &paying(1), VALID).await;
    assert_eq!(reply.refusal(), (503, "facilitator_unavailable".to_owned()));
    let refused = json!({"success": false, "errorReason": "insufficient_funds", "transaction": ""});
    facilitator.set(Mode { settle: Some(refused), ..Mode::default() });
    let reply = post(&dock, CHECK, &paying(1), VALID).await;
    assert_eq!((reply.head.status, &reply.json()["error"]), (402, &json!("settlement_refused")));
    assert!(facilitator.settled().is_empty() && ledger(dock.directory.path(), "argument-check").is_empty());
    // Nothing of this hinders another payment.
    facilitator.set(Mode::default());
    assert_eq!(post(&dock, CHECK, &paying(3), VALID).await.head.status, 200);
}

#[tokio::test]
async fn one_payment_buys_one_report() {
    let (dock, facilitator) = paid("").await;
    assert_eq!(post(&dock, CHECK, &paying(1), VALID).await.head.status, 200);
    for body in [VALID, REPAIRED] {
        let reply = post(&dock, CHECK, &paying(1), body).await;
        assert_eq!(reply.refusal(), (409, "payment_replayed".to_owned()));
    }
    let reply = post(&dock, "/split-profile/check", &paying(1), CATALOGUE).await;
    assert_eq!(reply.refusal(), (409, "payment_replayed".to_owned()), "nor one of the other operation");
    // Many at once: one is served.
    facilitator.set(Mode { delay: Duration::from_millis(300), ..Mode::default() });
    let headers = paying(2);
    let many = (0..12).map(|_| post(&dock, CHECK, &headers, VALID));
    let replies: Vec<Reply> = join(many).await;
    let served = replies.iter().filter(|reply| reply.head.status == 200).count();
    assert_eq!(served, 1);
    let others = replies.iter().filter(|reply| reply.head.status != 200);
    assert!(
        others.map(Reply::refusal).all(|(_, code)| code == "payment_underway" || code == "payment_replayed")
    );
    assert!(facilitator.settled().values().all(|times| *times == 1), "{:?}", facilitator.settled());
    assert_eq!(ledger(dock.directory.path(), "argument-check").len(), 2);
}

async fn join<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut futures: Vec<_> = futures.map(Box::pin).collect();
    let mut done: Vec<Option<F::Output>> = futures.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        for (future, done) in futures.iter_mut().zip(&mut done).filter(|(_, done)| done.is_none()) {
            if let std::task::Poll::Ready(output) = future.as_mut().poll(context) {
                *done = Some(output);
            }
        }
        if done.iter().all(Option::is_some) { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    done.into_iter().flatten().collect()
}

#[tokio::test]
async fn a_late_settlement_is_never_paid_twice() {
    let (dock, facilitator) = paid("").await;
    facilitator.set(Mode { delay: Duration::from_millis(2500), ..Mode::default() });
    let reply = post(&dock, CHECK, &paying(1), VALID).await;
    assert_eq!(reply.refusal(), (503, "settlement_unknown".to_owned()));
    assert!(reply.head.header("retry-after").is_some());
    // Until its outcome is known, the same payment waits.
    let reply = post(&dock, CHECK, &paying(1), VALID).await;
    assert_eq!(reply.refusal(), (503, "payment_underway".to_owned()));
    // Once it is, the same payment brings the report, and nothing is settled again.
    let mut last = None;
    for _ in 0..100 {
        let reply = post(&dock, CHECK, &paying(1), REPAIRED).await;
        if reply.head.status == 200 {
            last = Some(reply);
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let reply = last.expect("the report that was paid");
    assert_eq!(report(&reply)["verdict"], "REPAIRED");
    let settled = facilitator.settled();
    assert_eq!(settled.values().copied().collect::<Vec<_>>(), [1]);
    let rows = ledger(dock.directory.path(), "argument-check");
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["verdict_line"], report(&reply)["verdict_line"], "what was delivered");
    let reply = post(&dock, CHECK, &paying(1), VALID).await;
    assert_eq!(reply.refusal(), (409, "payment_replayed".to_owned()));
}

#[tokio::test]
async fn a_stop_waits_for_payments_whose_callers_have_left() {
    let (dock, facilitator) = paid("").await;
    facilitator.set(Mode { delay: Duration::from_secs(1), ..Mode::default() });
    let mut http = dock.http1().await;
    let head = format!("POST {CHECK} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n", VALID.len());
    http.send(format!("{head}{}\r\n{VALID}", paying(1)).as_bytes()).await;
    while facilitator.settled().is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    drop(http);
    let Dock { directory, server, .. } = dock;
    assert!(server.stop(Stop::Now, std::future::pending()).await);
    assert_eq!(ledger(directory.path(), "argument-check").len(), 1);
    let config = directory.path().join("dock.toml");
    let ran = run(&["ledger", "unresolved", "--config", config.to_str().unwrap()], "");
    assert_eq!(ran.out, "every payment has its outcome\n");
}

#[tokio::test]
async fn what_has_no_outcome_waits_for_the_operator() {
    let (dock, facilitator) = paid("").await;
    for (number, reason) in (1..).zip(["duplicate_settlement", "invalid_exact_svm_transaction_failed", "new"])
    {
        let answer = json!({"success": false, "errorReason": reason, "transaction": ""});
        facilitator.set(Mode { settle: Some(answer), ..Mode::default() });
        let reply = post(&dock, CHECK, &paying(number), VALID).await;
        assert_eq!(reply.refusal(), (503, "settlement_unknown".to_owned()), "{reason}");
    }
    let config = dock.directory.path().join("dock.toml");
    let unresolved = |more: &[&str]| {
        let ran = run(&[&["ledger", "unresolved", "--config", config.to_str().unwrap()], more].concat(), "");
        (ran.status, ran.out)
    };
    let (status, list) = unresolved(&[]);
    assert_eq!((status, list.lines().count()), (0, 3), "{list}");
    let keys: Vec<&str> = list.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(unresolved(&["--key", keys[0], "--settled", "transaction-of-the-first"]).0, 0);
    assert_eq!(unresolved(&["--key", keys[1], "--dropped"]).0, 0);
    assert_eq!(unresolved(&["--key", keys[0], "--dropped"]).0, 2, "it has its outcome");
    assert_eq!(unresolved(&[]).1.lines().count(), 1);
    let rows = ledger(dock.directory.path(), "argument-check");
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["payment_tx_id"], "transaction-of-the-first");
}

#[tokio::test]
async fn rates_and_refunds_are_noted() {
    let (dock, _facilitator) = paid("").await;
    let reply = post(&dock, CHECK, &paying(1), VALID).await;
    let tx = settlement(&reply, "payment-response")["transaction"].as_str().unwrap().to_owned();
    let config = dock.directory.path().join("dock.toml");
    let config = config.to_str().unwrap();
    let day = Utc::now().day();
    let valet = json!({"observations": [{"d": day, "FXUSDCAD": {"v": "1.4012"}}]}).to_string();
    let ran = run(&["ledger", "rate", "--config", config, "--valet", "-"], &valet);
    assert_eq!((ran.status, ran.out.as_str()), (0, "1 rows have their rate now\n"), "{}", ran.err);
    let refund = || run(&["ledger", "refund", "--config", config, &tx, "--by", "another"], "").status;
    assert_eq!((refund(), refund()), (0, 1));
    assert_eq!(run(&["ledger", "refund", "--config", config, "unknown"], "").status, 1);
    let rows = ledger(dock.directory.path(), "argument-check");
    let row = &rows[0];
    assert_eq!((&row["cad_rate"], &row["cad_rate_date"]), (&json!("1.4012"), &json!(day)));
    assert_eq!(row["cad_pending"], false);
    assert!(row["refund"].as_str().unwrap().ends_with("Z another"));
    let ran = run(&["ledger", "export", "--config", config, "--op", "argument-check"], "");
    assert_eq!(ran.out.lines().count(), 2);
    assert!(ran.out.starts_with("payer_wallet,timestamp,day,"), "{}", ran.out);
}

#[tokio::test]
async fn the_free_allowance_has_its_interval_and_its_end() {
    let (dock, facilitator) = paid("").await;
    let precheck = |body: String| {
        let dock = &dock;
        async move { post(dock, "/argument-check/precheck", "", &body).await }
    };
    let with = |caller: &str| VALID.replacen('{', &format!("{{\"caller\":\"{caller}\","), 1);
    assert_eq!(precheck(with(PAYER)).await.head.status, 200);
    let reply = precheck(with(PAYER)).await;
    assert_eq!(reply.refusal(), (429, "too_soon".to_owned()));
    let wait: u64 = reply.head.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=5).contains(&wait), "{wait}");
    assert_eq!(precheck(with(FEE_PAYER)).await.head.status, 200, "another wallet");
    assert_eq!(precheck(VALID.to_owned()).await.head.status, 200, "no wallet: the address");
    assert_eq!(precheck(with("no wallet at all")).await.head.status, 429, "the same address");
    assert_eq!(precheck("[".to_owned()).await.head.status, 400, "a refusal takes nothing");

    let store = open(&dock).await;
    let day = Utc::now().unix_millis() / 86_400_000 * 86_400_000;
    for call in 0..100 {
        let at = Utc::from_unix_millis(day + call);
        let allowance = store::Allowance { min_interval_ms: 0, ..ALLOWANCE };
        let quota =
            store.quota_take(Op::SplitProfile, &format!("wallet:{PAYER}"), allowance, at).await.unwrap();
        assert_eq!(quota, Quota::Granted);
    }
    let body = CATALOGUE.replacen('{', &format!("{{\"caller\":\"{PAYER}\","), 1);
    let reply = post(&dock, "/split-profile/precheck", "", &body).await;
    assert_eq!(reply.refusal(), (402, "allowance_exhausted".to_owned()));
    assert!(reply.head.header("payment-required").is_none(), "a pre-check cannot be bought");
    assert!(facilitator.settled().is_empty());
}

#[tokio::test]
async fn a_tripped_wire_stops_its_operation_until_it_is_acknowledged() {
    let (dock, _facilitator) = paid("").await;
    let at = Utc::from_unix_millis(Utc::now().unix() * 1000);
    let trip = Trip { name: "repair_invented_value".to_owned(), at };
    open(&dock).await.trip(Op::ArgumentCheck, &trip).await.unwrap();
    let label = format!("repair_invented_value@{at}");
    wait_for_readiness(&dock, &format!("argument-check stopped: {label}")).await;
    for path in [CHECK, "/argument-check/precheck"] {
        assert_eq!(post(&dock, path, "", VALID).await.refusal(), (503, "operation_stopped".to_owned()));
    }
    assert_eq!(get(&dock, "/argument-check/criteria", "").await.head.status, 200);
    assert_eq!(post(&dock, "/split-profile/precheck", "", CATALOGUE).await.head.status, 200);
    dock.is_well().await;
    let file = dock.directory.path().join("dock.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let acknowledged = format!("op = \"argument-check\"\nacknowledged = [\"{label}\"]");
    std::fs::write(&file, text.replace("op = \"argument-check\"", &acknowledged)).unwrap();
    for _ in 0..100 {
        if post(&dock, "/argument-check/precheck", "", VALID).await.head.status == 200 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("still stopped");
}

/// Waits for up to 15 s until readiness gives this reason.
async fn wait_for_readiness(dock: &Dock, reason: &str) {
    let mut text = String::new();
    for _ in 0..150 {
        text = dock.get_admin("/readyz").await.1;
        if text.contains(reason) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("no {reason} in {text}");
}

#[tokio::test]
async fn free_use_without_paid_use_asks_for_a_review() {
    let (dock, _facilitator) = paid("").await;
    assert_eq!(post(&dock, "/argument-check/precheck", "", VALID).await.head.status, 200);
    wait_for_readiness(&dock, "argument-check asks for a review: free_use_over_10_times_paid").await;
    let metrics = String::from_utf8(get(&dock, "/argument-check/metrics", "").await.body).unwrap();
    assert!(
        metrics.contains("millwork_dock_operation_free_paid_ratio{op=\"argument-check\"} +Inf"),
        "{metrics}"
    );
    assert_eq!(dock.get_admin("/readyz").await.0, 200, "a review stops nothing");
}
