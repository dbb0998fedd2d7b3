//! A Solana transaction, as far as the dock has to understand it: what it signs, who pays the fee, and how much.
//!
//! Read strictly to its last byte: what came behind the message would change its bytes but not its meaning, and so
//! let one payment look like two.

use aws_lc_rs::digest::{SHA256, digest};

use crate::service::store::ReplayKey;

/// The program that sets limits and prices of computing.
const COMPUTE_BUDGET: &str = "ComputeBudget111111111111111111111111111111";
/// Solana's fee for each signature, in lamports.
const LAMPORTS_PER_SIGNATURE: u64 = 5_000;
/// Units that an instruction may use where no limit is set.
const UNITS_PER_INSTRUCTION: u64 = 200_000;
/// The most units that a transaction may use.
const MAX_UNITS: u64 = 1_400_000;

/// What the dock knows of a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transaction {
    /// SHA-256 of its message. The fee payer's signature is no part of that, so filling it in changes nothing.
    pub key: ReplayKey,
    /// Who pays Solana's fee: the first account.
    pub fee_payer: [u8; 32],
    /// Who else signs first: in a payment, the payer.
    pub payer: Option<[u8; 32]>,
    /// Solana's fee for it, in lamports: 5,000 a signature, and the priority fee.
    pub fee_lamports: u64,
}

impl Transaction {
    /// Reads the wire form; `None` if it is not exactly one transaction.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Transaction> {
        let mut rest = Reader(bytes);
        let signatures = rest.length()?;
        rest.take(signatures.checked_mul(64)?)?;
        let message = rest.0;
        let is_versioned = message.first()? & 0x80 != 0;
        // Version 0 is the only one there is.
        if is_versioned && rest.byte()? != 0x80 {
            return None;
        }
        let [required, _, _] = rest.array::<3>()?;
        let accounts = rest.length()?;
        let accounts = rest.take(accounts.checked_mul(32)?)?.as_chunks::<32>().0;
        rest.take(32)?;
        let mut price = Price::default();
        for _ in 0..rest.length()? {
            let program = accounts.get(usize::from(rest.byte()?));
            let count = rest.length()?;
            rest.take(count)?;
            let length = rest.length()?;
            let data = rest.take(length)?;
            price.instruction(program, data);
        }
        if is_versioned {
            for _ in 0..rest.length()? {
                rest.take(32)?;
                for _ in 0..2 {
                    let count = rest.length()?;
                    rest.take(count)?;
                }
            }
        }
        let is_whole =
            rest.0.is_empty() && usize::from(required) == signatures && signatures <= accounts.len();
        let key = digest(&SHA256, message).as_ref().try_into().ok()?;
        is_whole.then_some(Transaction {
            key: ReplayKey(key),
            fee_payer: *accounts.first()?,
            payer: accounts.get(1).filter(|_| required > 1).copied(),
            fee_lamports: u64::from(required) * LAMPORTS_PER_SIGNATURE + price.priority_lamports(),
        })
    }
}

/// What the instructions say of computing.
#[derive(Default)]
struct Price {
    limit: Option<u64>,
    micro_lamports: u64,
    instructions: u64,
}

impl Price {
    fn instruction(&mut self, program: Option<&[u8; 32]>, data: &[u8]) {
        if program.is_none_or(|program| super::address(COMPUTE_BUDGET).as_ref() != Some(program)) {
            self.instructions += 1;
            return;
        }
        match data.split_first() {
            Some((2, units)) => {
                self.limit = units.try_into().ok().map(u32::from_le_bytes).map(u64::from).or(self.limit);
            }
            Some((3, price)) => {
                self.micro_lamports = price.try_into().map_or(self.micro_lamports, u64::from_le_bytes);
            }
            _ => {}
        }
    }

    fn priority_lamports(&self) -> u64 {
        let units =
            self.limit.unwrap_or(self.instructions.saturating_mul(UNITS_PER_INSTRUCTION)).min(MAX_UNITS);
        let micro = u128::from(units) * u128::from(self.micro_lamports);
        u64::try_from(micro.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

/// Bytes still to be read.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn byte(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// A compact-u16: seven bits a byte, the shortest form only.
    fn length(&mut self) -> Option<usize> {
        let mut value = 0;
        for shift in [0, 7, 14] {
            let byte = self.byte()?;
            value |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                let is_shortest = byte != 0 || shift == 0;
                return (is_shortest && u16::try_from(value).is_ok()).then_some(value);
            }
        }
        None
    }
}

#[cfg(test)]
pub(super) mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::super::address_text;
    use super::*;

    /// A payment of 20,000 units that the stock client `@x402/svm` 2.27.0 made with throw-away keys.
    pub(in crate::service::x402) const REAL: &str = "AgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAif746VOJHeAMccHU0OAdL0h5e2yd7vmjydYNuzPIbswkfii9GRXLERqp7F0JZF9soO5KwA35B8mZnY8yZ4O8PgAIBBAgWtjVW2AYBC02Az6YHoOSOLP7my7nMJJou/euUJTGb7xgJ+tyehCU5aZCg4RGbThhMAHAqXrF+ESKPEYLlXCKbQA55EzziQuG0NDxA8MNy4l11dHph7Air2RGIFSUL2r3/8lF4wL04IfUTW2Y37BWv+E87c88mkucJkHeTEHHRNztELLORIVfxOpM9ATQoLQMrX/7NAaLb8bd5BgjfAC6nAwZGb+UhFzL/7K26csOb57yM5bvF9xJrLEObOkAAAAAFSlNamSkhBk0k6HFg2jh8fDW13bySu4HkH6hAQQVEjQbd9uHXZaGT2cvhRs7reawctIXtX1s3kTqM9YV+/wCpppUe9Yyvnr4D+XyKUrha0DK2GX2DdFcbXaJTX++zG5AEBQAFAiBOAAAFAAkDAQAAAAAAAAAHBAMEAgEKDCBOAAAAAAAABgYAIDIwOWJkYjEzZDBhZTBiN2QxZmI4MTQzMzA0ZDc2ZjVlAA==";

    fn real() -> Vec<u8> {
        STANDARD.decode(REAL).unwrap()
    }

    #[test]
    fn a_real_payment_is_understood() {
        let transaction = Transaction::parse(&real()).unwrap();
        assert_eq!(address_text(&transaction.fee_payer), "2Xf7h2A8x1zFLC9hMCvupvj6NZpdpMov747k45Wosto8");
        let payer = transaction.payer.unwrap();
        assert_eq!(address_text(&payer), "2cqcSZQDnnd5QGj2prqjkksX5srvN382nwCJzuZdek5Y");
        assert_eq!(transaction.fee_lamports, 10_001);
    }

    #[test]
    fn the_key_ignores_signatures_and_nothing_else() {
        let original = Transaction::parse(&real()).unwrap();
        let message = 1 + 2 * 64;
        for at in 0..real().len() {
            let mut changed = real();
            changed[at] ^= 1;
            let same = Transaction::parse(&changed).map(|transaction| transaction.key == original.key);
            assert!(
                if (1..message).contains(&at) { same == Some(true) } else { same != Some(true) },
                "byte {at}"
            );
        }
    }

    #[test]
    fn nothing_but_a_whole_transaction_is_one() {
        let whole = real();
        for length in 0..whole.len() {
            assert_eq!(Transaction::parse(&whole[..length]), None, "{length} bytes");
        }
        assert_eq!(Transaction::parse(&[&whole[..], b"\0"].concat()), None, "a byte behind it");
        let mut long = vec![0x82, 0];
        long.extend_from_slice(&whole[1..]);
        assert_eq!(Transaction::parse(&long), None, "a length that is not in its shortest form");
    }
}
