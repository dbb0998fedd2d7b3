//! The facilitator: it verifies payments and settles them on Solana. Spoken to over HTTPS by JSON.

use std::sync::OnceLock;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::header::CONTENT_TYPE;
use hyper::{Method, Request};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::time::timeout;

use super::payload::Payment;
use super::{Requirements, address, address_text};
use crate::json::{Document, Value};

/// The longest answer that is read, in bytes.
const MAX_ANSWER_BYTES: usize = 64 * 1024;
/// How long a settlement is waited for after its caller was told that it is unknown.
const SETTLE_PATIENCE: Duration = Duration::from_mins(2);

/// Whether a payment is valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verified {
    /// It is; the payer, if it is named.
    Valid(Option<String>),
    /// It is not.
    Invalid,
}

/// What became of a payment that was to be settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settlement {
    /// It is paid, by this transaction.
    Settled(String),
    /// It is certainly not paid.
    Refused,
    /// Nobody can tell: perhaps it is.
    Unknown,
}

/// The facilitator did not answer, or not so that it could be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the facilitator did not answer as it should")]
pub struct Unavailable;

impl Requirements {
    /// Asks whether `payment` is valid.
    ///
    /// # Errors
    /// [`Unavailable`], also if the answer takes longer than `verify_timeout`.
    pub async fn verify(&self, payment: &Payment) -> Result<Verified, Unavailable> {
        let answer = timeout(self.verify_timeout, self.ask("/verify", payment)).await;
        let answer = answer.map_err(|_| Unavailable)??;
        let root = answer.root();
        match root.get(b"isValid").and_then(Value::as_bool) {
            Some(true) => Ok(Verified::Valid(wallet(root))),
            Some(false) => Ok(Verified::Invalid),
            None => Err(Unavailable),
        }
    }

    /// Has `payment` settled; asks once more while it is pending.
    pub async fn settle(&self, payment: &Payment) -> Settlement {
        let asked = async {
            match self.settle_once(payment).await {
                Err(Pending) => self.settle_once(payment).await.unwrap_or(Settlement::Unknown),
                Ok(settlement) => settlement,
            }
        };
        timeout(SETTLE_PATIENCE, asked).await.unwrap_or(Settlement::Unknown)
    }

    async fn settle_once(&self, payment: &Payment) -> Result<Settlement, Pending> {
        let Ok(answer) = self.ask("/settle", payment).await else { return Ok(Settlement::Unknown) };
        let root = answer.root();
        let transaction = text(root, "transaction").filter(|id| is_transaction_id(id));
        match (root.get(b"success").and_then(Value::as_bool), transaction) {
            (Some(true), Some(transaction)) => Ok(Settlement::Settled(transaction)),
            (Some(false), transaction) => match text(root, "errorReason").unwrap_or_default().as_str() {
                "settlement_pending" if transaction.is_some() => Err(Pending),
                reason if is_certain(reason) => Ok(Settlement::Refused),
                _ => Ok(Settlement::Unknown),
            },
            _ => Ok(Settlement::Unknown),
        }
    }

    /// The answer's JSON, whatever its status.
    async fn ask(&self, path: &str, payment: &Payment) -> Result<Document, Unavailable> {
        let version = payment.version.number();
        let requirements =
            self.for_facilitator(payment.version, &address_text(&payment.transaction.fee_payer));
        let payload = &payment.json;
        let body = format!(
            r#"{{"x402Version":{version},"paymentPayload":{payload},"paymentRequirements":{requirements}}}"#
        );
        let request = Request::builder()
            .method(Method::POST)
            .uri(format!("{}{path}", self.facilitator))
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(body)))
            .map_err(|_| Unavailable)?;
        fetch(request).await.and_then(|bytes| Document::parse(bytes).map_err(|_| Unavailable))
    }
}

/// Settling goes on, and its transaction has an id.
struct Pending;

/// Sends a request and reads a bounded answer, over TLS as the system's roots (or `SSL_CERT_FILE`) say.
///
/// # Errors
/// [`Unavailable`].
pub async fn fetch(request: Request<Full<Bytes>>) -> Result<Vec<u8>, Unavailable> {
    let client = client().ok_or(Unavailable)?;
    let answer = client.request(request).await.map_err(|_| Unavailable)?;
    let body = Limited::new(answer.into_body(), MAX_ANSWER_BYTES);
    Ok(body.collect().await.map_err(|_| Unavailable)?.to_bytes().into())
}

type HttpsClient = Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

/// One client for the process; `None` if the machine has no root certificates that could be read.
fn client() -> Option<&'static HttpsClient> {
    static CLIENT: OnceLock<Option<HttpsClient>> = OnceLock::new();
    let made = CLIENT.get_or_init(|| {
        let connector = hyper_rustls::HttpsConnectorBuilder::new()
            .with_tls_config(tls()?)
            // Plain HTTP is for a facilitator on the loopback; the configuration sees to that.
            .https_or_http()
            .enable_http1()
            .build();
        Some(Client::builder(TokioExecutor::new()).build(connector))
    });
    made.as_ref()
}

/// How the dock speaks TLS to others.
pub(crate) fn tls() -> Option<rustls::ClientConfig> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = std::sync::Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config =
        rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().ok()?;
    Some(config.with_root_certificates(roots).with_no_client_auth())
}

/// Reasons that come from verifying, which settling does once more before it sends anything. The names are an open
/// set: what is not known to be one of them may mean that the money moved.
fn is_certain(reason: &str) -> bool {
    const CERTAIN: [&str; 6] = [
        "insufficient_funds",
        "network_mismatch",
        "fee_payer_not_managed_by_facilitator",
        "unsupported_scheme",
        "invalid_scheme",
        "invalid_network",
    ];
    const BEGINNINGS: [&str; 4] = [
        "invalid_exact_svm_payload_",
        "invalid_exact_svm_network_",
        "invalid_exact_svm_fee_payer_",
        "invalid_payload",
    ];
    CERTAIN.contains(&reason) || BEGINNINGS.iter().any(|beginning| reason.starts_with(beginning))
}

/// A base58 signature of 64 bytes.
fn is_transaction_id(text: &str) -> bool {
    let mut bytes = [0; 64];
    text.len() <= 88 && bs58::decode(text).onto(&mut bytes).is_ok_and(|length| length == bytes.len())
}

fn wallet(answer: Value<'_>) -> Option<String> {
    text(answer, "payer").filter(|payer| address(payer).is_some())
}

fn text(value: Value<'_>, name: &str) -> Option<String> {
    String::from_utf8(value.get(name.as_bytes())?.as_text()?.decode().into_owned()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_verifying_says_is_certainly_unpaid() {
        for reason in ["invalid_exact_svm_payload_amount_mismatch", "insufficient_funds", "network_mismatch"]
        {
            assert!(is_certain(reason), "{reason}");
        }
        for reason in [
            "duplicate_settlement",
            "settlement_pending",
            "transaction_failed",
            "invalid_exact_svm_transaction_failed",
            "unexpected_settle_error",
            "",
        ] {
            assert!(!is_certain(reason), "{reason}");
        }
    }
}
