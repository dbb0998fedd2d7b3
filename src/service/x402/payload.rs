//! What a client pays with: the decoded header, held against our own requirements.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::transaction::Transaction;
use super::{PRICE_USDC_UNITS, Requirements, Version, address_text};
use crate::json::{Document, Number, Value, write_value};

/// The longest transaction that Solana takes, in bytes.
const MAX_TRANSACTION_BYTES: usize = 1232;

/// A payment that fits our requirements. Whether it is valid, the facilitator says.
#[derive(Debug)]
pub struct Payment {
    /// The version that it was sent by.
    pub version: Version,
    /// The whole payload as JSON, for the facilitator.
    pub json: String,
    /// The transaction in it.
    pub transaction: Transaction,
}

/// Why a payment is not even shown to the facilitator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unpayable {
    /// It cannot be decoded.
    Malformed,
    /// It pays something else: another network, asset, amount, wallet or fee payer.
    Mismatch,
}

impl Requirements {
    /// Reads the payment in a header of `version`.
    ///
    /// # Errors
    /// See [`Unpayable`].
    pub fn read_payment(&self, version: Version, header: &[u8]) -> Result<Payment, Unpayable> {
        let json = STANDARD.decode(header.trim_ascii()).map_err(|_| Unpayable::Malformed)?;
        let document = Document::parse(json).map_err(|_| Unpayable::Malformed)?;
        if document.has_repeated_names() || document.depth() > 32 {
            return Err(Unpayable::Malformed);
        }
        let payload = document.root();
        let stated = payload.get(b"x402Version").and_then(Value::as_number).and_then(Number::as_count);
        if stated != Some(u64::from(version.number())) {
            return Err(Unpayable::Malformed);
        }
        let transaction = payload.get(b"payload").and_then(|payload| text(payload, "transaction"));
        let transaction = transaction.ok_or(Unpayable::Malformed)?;
        if transaction.len() > MAX_TRANSACTION_BYTES * 2 {
            return Err(Unpayable::Malformed);
        }
        let bytes = STANDARD.decode(transaction).map_err(|_| Unpayable::Malformed)?;
        if bytes.len() > MAX_TRANSACTION_BYTES {
            return Err(Unpayable::Malformed);
        }
        let transaction = Transaction::parse(&bytes).ok_or(Unpayable::Malformed)?;
        let accepted = match version {
            Version::One => Some(payload),
            Version::Two => payload.get(b"accepted"),
        };
        let accepted = accepted.ok_or(Unpayable::Malformed)?;
        if !self.fits(version, accepted) || !self.fee_payers.contains(&address_text(&transaction.fee_payer)) {
            return Err(Unpayable::Mismatch);
        }
        let mut json = Vec::new();
        write_value(payload, &mut json);
        let json = String::from_utf8(json).map_err(|_| Unpayable::Malformed)?;
        Ok(Payment { version, json, transaction })
    }

    /// What the client says that it accepted is what we offer. Version 1 says scheme and network only; amount,
    /// wallet and asset are then in the transaction alone, where the facilitator holds them against ours.
    fn fits(&self, version: Version, accepted: Value<'_>) -> bool {
        let is = |name: &str, wanted: &str| text(accepted, name).is_some_and(|found| found == wanted);
        let common = is("scheme", "exact") && is("network", self.network.spelled(version));
        common
            && match version {
                Version::One => true,
                Version::Two => {
                    let fee_payer = accepted.get(b"extra").and_then(|extra| text(extra, "feePayer"));
                    is("amount", &PRICE_USDC_UNITS.to_string())
                        && is("asset", &self.asset)
                        && is("payTo", &self.pay_to)
                        && fee_payer.is_some_and(|payer| self.fee_payers.contains(&payer))
                }
            }
    }
}

/// A member that is a string in UTF-8.
fn text(value: Value<'_>, name: &str) -> Option<String> {
    let text = value.get(name.as_bytes())?.as_text()?.decode().into_owned();
    String::from_utf8(text).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use std::time::Duration;

    use super::super::transaction::tests::REAL;
    use super::super::{MAX_TIMEOUT_SECONDS, Network};
    use super::*;

    fn requirements() -> Requirements {
        Requirements {
            facilitator: String::new(),
            pay_to: "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin".to_owned(),
            network: Network::SolanaDevnet,
            asset: Network::SolanaDevnet.usdc().to_owned(),
            fee_payers: vec![
                "11111111111111111111111111111111".to_owned(),
                "2Xf7h2A8x1zFLC9hMCvupvj6NZpdpMov747k45Wosto8".to_owned(),
            ],
            verify_timeout: Duration::ZERO,
            settle_timeout: Duration::ZERO,
        }
    }

    fn two(change: impl Fn(&mut serde_json::Value)) -> Result<Version, Unpayable> {
        let mut payload = serde_json::json!({"x402Version": 2, "payload": {"transaction": REAL}, "accepted": {
            "scheme": "exact", "network": Network::SolanaDevnet.caip2(), "amount": "20000",
            "asset": Network::SolanaDevnet.usdc(), "payTo": requirements().pay_to, "maxTimeoutSeconds": MAX_TIMEOUT_SECONDS,
            "extra": {"feePayer": requirements().fee_payers[1]}}});
        change(&mut payload);
        let header = STANDARD.encode(payload.to_string());
        requirements().read_payment(Version::Two, header.as_bytes()).map(|payment| payment.version)
    }

    #[test]
    fn a_payment_is_what_was_offered() {
        assert_eq!(two(|_| ()), Ok(Version::Two));
        for (pointer, other) in [
            ("/accepted/scheme", "upto"),
            ("/accepted/network", "solana-devnet"),
            ("/accepted/amount", "2000"),
            ("/accepted/asset", "So11111111111111111111111111111111111111112"),
            ("/accepted/payTo", "2Xf7h2A8x1zFLC9hMCvupvj6NZpdpMov747k45Wosto8"),
            ("/accepted/extra/feePayer", "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin"),
        ] {
            let change =
                |payload: &mut serde_json::Value| *payload.pointer_mut(pointer).unwrap() = other.into();
            assert_eq!(two(change), Err(Unpayable::Mismatch), "{pointer}");
        }
        for (pointer, other) in [
            ("/x402Version", serde_json::json!(1)),
            ("/x402Version", "2".into()),
            ("/payload/transaction", "AAAA".into()),
            ("/payload/transaction", format!("{REAL}AAAA").into()),
            ("/payload", serde_json::Value::Null),
        ] {
            let change =
                |payload: &mut serde_json::Value| *payload.pointer_mut(pointer).unwrap() = other.clone();
            assert_eq!(two(change), Err(Unpayable::Malformed), "{pointer}");
        }
    }

    #[test]
    fn version_one_names_scheme_and_network() {
        let read = |network: &str| {
            let payload = serde_json::json!({"x402Version": 1, "scheme": "exact", "network": network,
                "payload": {"transaction": REAL}});
            let header = STANDARD.encode(payload.to_string());
            requirements().read_payment(Version::One, header.as_bytes()).map(|payment| payment.version)
        };
        assert_eq!(read("solana-devnet"), Ok(Version::One));
        assert_eq!(read("solana"), Err(Unpayable::Mismatch));
        for header in [&b""[..], b"%", b"e30=", b"bnVsbA=="] {
            let read = requirements().read_payment(Version::One, header).map(|_| ());
            assert_eq!(read, Err(Unpayable::Malformed));
        }
        let twice = STANDARD.encode(format!(
            r#"{{"x402Version":1,"scheme":"exact","network":"solana-devnet","payload":{{"transaction":"AA"}},"payload":{{"transaction":"{REAL}"}}}}"#
        ));
        let read = requirements().read_payment(Version::One, twice.as_bytes()).map(|_| ());
        assert_eq!(read, Err(Unpayable::Malformed), "two readings of one payment");
    }
}
