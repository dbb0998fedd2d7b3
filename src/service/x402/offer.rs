//! What a 402 asks for: one answer that clients of both versions can pay.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{MAX_TIMEOUT_SECONDS, PRICE_USDC_UNITS, Requirements, Version};
use crate::json::write_string;

/// A payable offer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The JSON body, version 1.
    pub body: String,
    /// The value of the header `PAYMENT-REQUIRED`, version 2.
    pub header: String,
}

impl Requirements {
    /// The offer for a check at `url`, which `description` describes; `error` is the code why it is made.
    #[must_use]
    pub fn offer(&self, url: &str, description: &str, error: &str) -> Offer {
        let fee_payer = self.fee_payers.first().map_or("", String::as_str);
        let resource = Resource { url, description };
        let one = self.accepts(Version::One, &resource, fee_payer);
        let two = self.accepts(Version::Two, &resource, fee_payer);
        let (url, description) = (quoted(url), quoted(description));
        let body = format!(r#"{{"x402Version":1,"error":"{error}","accepts":[{one}]}}"#);
        let header = format!(
            r#"{{"x402Version":2,"error":"{error}","resource":{{"url":{url},"description":{description},"mimeType":"application/json"}},"accepts":[{two}]}}"#
        );
        Offer { body, header: STANDARD.encode(header) }
    }

    /// Our requirements as the facilitator reads them, for a transaction whose fee `fee_payer` pays.
    #[must_use]
    pub fn for_facilitator(&self, version: Version, fee_payer: &str) -> String {
        self.accepts(version, &Resource { url: "", description: "" }, fee_payer)
    }

    fn accepts(&self, version: Version, resource: &Resource<'_>, fee_payer: &str) -> String {
        let Requirements { pay_to, network, asset, .. } = self;
        let network = network.spelled(version);
        // Wallets and mints are base58 and need no quoting.
        let common = format!(
            r#""scheme":"exact","network":"{network}","asset":"{asset}","payTo":"{pay_to}","maxTimeoutSeconds":{MAX_TIMEOUT_SECONDS},"extra":{{"feePayer":"{fee_payer}"}}"#
        );
        match version {
            Version::One => {
                let (url, description) = (quoted(resource.url), quoted(resource.description));
                format!(
                    r#"{{{common},"maxAmountRequired":"{PRICE_USDC_UNITS}","resource":{url},"description":{description},"mimeType":"application/json"}}"#
                )
            }
            Version::Two => format!(r#"{{{common},"amount":"{PRICE_USDC_UNITS}"}}"#),
        }
    }
}

/// What is paid for.
struct Resource<'a> {
    url: &'a str,
    description: &'a str,
}

/// `text` as a JSON string.
fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    write_string(text.as_bytes(), &mut out);
    String::from_utf8_lossy(&out).into_owned()
}
