//! The published operations at a real server: free and paid, refused and replayed, killed and counted.

mod audit;
mod custody;
mod facilitator;
mod free;
mod kill;
mod paid;
mod stock;

use std::path::Path;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support::{Dock, Reply, directory};

/// The wallet that is paid.
pub(crate) const PAY_TO: &str = "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin";
/// The fee payer of [`payment`].
pub(crate) const FEE_PAYER: &str = "2Xf7h2A8x1zFLC9hMCvupvj6NZpdpMov747k45Wosto8";
/// The payer of [`payment`].
pub(crate) const PAYER: &str = "2cqcSZQDnnd5QGj2prqjkksX5srvN382nwCJzuZdek5Y";

/// A body of the argument check, and what it comes to.
pub(crate) const VALID: &str =
    r#"{"schema":{"type":"object","properties":{"n":{"type":"number"}}},"arguments":{"n":1.50}}"#;
pub(crate) const REPAIRED: &str =
    r#"{"schema":{"type":"object","properties":{"n":{"type":"number"}}},"arguments":{"n":"1.50"}}"#;
pub(crate) const UNREPAIRABLE: &str =
    r#"{"schema":{"type":"object","required":["n","m"]},"arguments_text":"{\"n\":1"}"#;
/// A body of the split profile.
pub(crate) const CATALOGUE: &str = r#"{"catalogue":[{"name":"get_weather","description":"Weather of a city, now and for some days","inputSchema":{"type":"object","properties":{"city":{"type":"string"}}}},
    {"name":"b","inputSchema":{}},{"name":"c","inputSchema":{}}],"calls_per_day":5}"#;

/// What to add to a configuration for both operations.
pub(crate) fn services(payment: &str) -> String {
    format!(
        "[[service]]\nop = \"argument-check\"\npayment = \"{payment}\"\nrate_limit = \"off\"\n\
         [[service]]\nop = \"split-profile\"\npayment = \"{payment}\"\nrate_limit = \"off\"\n\
         [signing]\nkey = \"signing.pem\"\n"
    )
}

/// `[x402]` with this facilitator.
pub(crate) fn x402(facilitator: &str, fee_payer: &str) -> String {
    format!(
        "[x402]\nfacilitator = \"{facilitator}\"\npay_to = \"{PAY_TO}\"\nnetwork = \"solana-devnet\"\n\
         fee_payers = [\"{fee_payer}\"]\nverify_timeout_ms = 5000\nsettle_timeout_ms = 1500\n"
    )
}

/// A server with both operations.
pub(crate) async fn start(more: &str) -> Dock {
    let directory = directory("", more);
    write_key(directory.path());
    Dock::in_directory(directory).await
}

/// A new signing key where the configuration looks for it.
pub(crate) fn write_key(directory: &Path) {
    let (pem, _) = millwork_dock::service::signing::new_key().unwrap();
    std::fs::write(directory.join("signing.pem"), pem).unwrap();
}

/// A GET, with more header lines.
pub(crate) async fn get(dock: &Dock, path: &str, headers: &str) -> Reply {
    let mut http = dock.http1().await;
    http.send(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n").as_bytes()).await;
    http.any_reply().await
}

/// A POST, with more header lines.
pub(crate) async fn post(dock: &Dock, path: &str, headers: &str, body: &str) -> Reply {
    let mut http = dock.http1().await;
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n{headers}\r\n",
        body.len()
    );
    http.send(format!("{head}{body}").as_bytes()).await;
    http.any_reply().await
}

/// A payment of version 2 that only a stub facilitator accepts; `number` tells one from another.
pub(crate) fn payment(number: u32) -> String {
    payload(number, |transaction| {
        json!({"x402Version": 2, "payload": {"transaction": transaction}, "accepted": {"scheme": "exact",
            "network": "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1", "amount": "20000",
            "asset": "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU", "payTo": PAY_TO, "maxTimeoutSeconds": 60,
            "extra": {"feePayer": FEE_PAYER}}})
    })
}

/// The header line of [`payment`].
pub(crate) fn paying(number: u32) -> String {
    format!("PAYMENT-SIGNATURE: {}\r\n", payment(number))
}

/// The same payment by version 1.
pub(crate) fn payment_v1(number: u32) -> String {
    payload(
        number,
        |transaction| json!({"x402Version": 1, "scheme": "exact", "network": "solana-devnet", "payload": {"transaction": transaction}}),
    )
}

fn payload(number: u32, wrap: impl Fn(&str) -> Value) -> String {
    /// What the stock client made once, with throw-away keys: a memo of 32 characters stands before the last byte.
    const MADE: &str = "AgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAif746VOJHeAMccHU0OAdL0h5e2yd7vmjydYNuzPIbswkfii9GRXLERqp7F0JZF9soO5KwA35B8mZnY8yZ4O8PgAIBBAgWtjVW2AYBC02Az6YHoOSOLP7my7nMJJou/euUJTGb7xgJ+tyehCU5aZCg4RGbThhMAHAqXrF+ESKPEYLlXCKbQA55EzziQuG0NDxA8MNy4l11dHph7Air2RGIFSUL2r3/8lF4wL04IfUTW2Y37BWv+E87c88mkucJkHeTEHHRNztELLORIVfxOpM9ATQoLQMrX/7NAaLb8bd5BgjfAC6nAwZGb+UhFzL/7K26csOb57yM5bvF9xJrLEObOkAAAAAFSlNamSkhBk0k6HFg2jh8fDW13bySu4HkH6hAQQVEjQbd9uHXZaGT2cvhRs7reawctIXtX1s3kTqM9YV+/wCpppUe9Yyvnr4D+XyKUrha0DK2GX2DdFcbXaJTX++zG5AEBQAFAiBOAAAFAAkDAQAAAAAAAAAHBAMEAgEKDCBOAAAAAAAABgYAIDIwOWJkYjEzZDBhZTBiN2QxZmI4MTQzMzA0ZDc2ZjVlAA==";
    let mut transaction = STANDARD.decode(MADE).unwrap();
    let end = transaction.len() - 1;
    transaction[end - 32..end].copy_from_slice(format!("{number:032}").as_bytes());
    STANDARD.encode(wrap(&STANDARD.encode(transaction)).to_string())
}

/// The transaction id that the stub facilitator gives a payload.
pub(crate) fn transaction_id(transaction: &str) -> String {
    let digest = Sha256::digest(transaction);
    bs58::encode([digest.as_slice(), digest.as_slice()].concat()).into_string()
}

/// The payload of an answer, whose `report` says the same.
pub(crate) fn report(reply: &Reply) -> Value {
    let answer = reply.json();
    let payload = URL_SAFE_NO_PAD.decode(answer["jws"]["payload"].as_str().expect("a payload")).unwrap();
    let signed: Value = serde_json::from_slice(&payload).unwrap();
    assert_eq!(signed, answer["report"]);
    signed
}

/// The settlement that a header tells of.
pub(crate) fn settlement(reply: &Reply, header: &str) -> Value {
    let header = reply.head.header(header).unwrap_or_else(|| panic!("no {header}: {reply:?}"));
    serde_json::from_slice(&STANDARD.decode(header).unwrap()).unwrap()
}

/// The criteria that a report names, for asking whether a text is published at all.
pub(crate) static PUBLISHED_VERDICTS: LazyLock<[&str; 3]> =
    LazyLock::new(|| ["VALID", "REPAIRED", "UNREPAIRABLE"]);
