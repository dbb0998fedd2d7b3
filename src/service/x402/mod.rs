//! Payment by x402: scheme `exact` on Solana, protocol versions 1 and 2 side by side.
//!
//! `offer` is what a 402 asks for, `payload` what a client sends, `transaction` what is in it, `facilitator` who
//! verifies and settles it.

pub mod facilitator;
pub mod offer;
pub mod payload;
pub mod transaction;

use std::time::Duration;

/// The price of a check, in USDC units (`price` of both criteria): $0.02.
pub const PRICE_USDC_UNITS: u64 = 20_000;
/// How long a client has to pay an offer, in seconds.
pub const MAX_TIMEOUT_SECONDS: u32 = 60;

/// Which Solana, with its two spellings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// Mainnet.
    Solana,
    /// Devnet.
    SolanaDevnet,
}

/// The version of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// Body offers, `X-PAYMENT`.
    One,
    /// Header offers, `PAYMENT-SIGNATURE`.
    Two,
}

/// What payments are checked against: our own requirements (`[x402]`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirements {
    /// The facilitator's base URL, without a slash at its end.
    pub facilitator: String,
    /// The wallet that is paid, base58.
    pub pay_to: String,
    /// Which Solana.
    pub network: Network,
    /// The mint of the token, base58.
    pub asset: String,
    /// Wallets of the facilitator that pay Solana's fee; never empty, the first is offered, any is accepted.
    pub fee_payers: Vec<String>,
    /// How long the facilitator may take to verify.
    pub verify_timeout: Duration,
    /// How long a caller waits for the facilitator to settle.
    pub settle_timeout: Duration,
}

impl Network {
    /// Both.
    pub const ALL: [Network; 2] = [Network::Solana, Network::SolanaDevnet];

    /// The name in version 1, and in the configuration.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Network::Solana => "solana",
            Network::SolanaDevnet => "solana-devnet",
        }
    }

    /// The name in version 2 (CAIP-2).
    #[must_use]
    pub const fn caip2(self) -> &'static str {
        match self {
            Network::Solana => "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
            Network::SolanaDevnet => "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
        }
    }

    /// The mint of USDC there.
    #[must_use]
    pub const fn usdc(self) -> &'static str {
        match self {
            Network::Solana => "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
            Network::SolanaDevnet => "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU",
        }
    }

    /// As `version` spells it.
    #[must_use]
    pub const fn spelled(self, version: Version) -> &'static str {
        match version {
            Version::One => self.name(),
            Version::Two => self.caip2(),
        }
    }
}

impl Version {
    /// The number.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Version::One => 1,
            Version::Two => 2,
        }
    }

    /// The header that a client pays with.
    #[must_use]
    pub const fn payment_header(self) -> &'static str {
        match self {
            Version::One => "x-payment",
            Version::Two => "payment-signature",
        }
    }

    /// The header that tells the client how it was settled.
    #[must_use]
    pub const fn response_header(self) -> &'static str {
        match self {
            Version::One => "x-payment-response",
            Version::Two => "payment-response",
        }
    }
}

/// The 32 bytes of a Solana address, if it is one.
#[must_use]
pub fn address(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    // 32 bytes take 32 to 44 characters; longer text would cost time by its square.
    let is_whole = text.len() <= 44 && bs58::decode(text).onto(&mut bytes).ok()? == bytes.len();
    is_whole.then_some(bytes)
}

/// A Solana address as text.
#[must_use]
pub fn address_text(bytes: &[u8; 32]) -> String {
    bs58::encode(bytes).into_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_32_bytes() {
        for mint in Network::ALL.map(Network::usdc) {
            assert_eq!(address(mint).map(|bytes| address_text(&bytes)).as_deref(), Some(mint));
        }
        let long = "1".repeat(100_000);
        for bad in ["", "1", "abc", "0OIl", &"1".repeat(33), &"z".repeat(44), &long, "canary"] {
            assert_eq!(address(bad), None, "{bad:.50}");
        }
        assert_eq!(address(&"1".repeat(32)), Some([0; 32]));
    }
}
