//! When a certificate expires: the one field that rustls does not tell.
//!
//! RFC 5280, section 4.1: `Certificate ::= SEQUENCE { tbsCertificate SEQUENCE { [0] version OPTIONAL,
//! serialNumber INTEGER, signature SEQUENCE, issuer SEQUENCE, validity SEQUENCE { notBefore, notAfter } …`.

use crate::utc::Utc;

const INTEGER: u8 = 0x02;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;

/// The end of a DER certificate's validity; `None` if it cannot be read.
pub(super) fn expiry(der: &[u8]) -> Option<Utc> {
    let (certificate, _) = element(der, SEQUENCE)?;
    let (mut rest, _) = element(certificate, SEQUENCE)?;
    if let Some((_, after)) = element(rest, VERSION) {
        rest = after;
    }
    for kind in [INTEGER, SEQUENCE, SEQUENCE] {
        rest = element(rest, kind)?.1;
    }
    let (validity, _) = element(rest, SEQUENCE)?;
    let (_, after_begin) = time(validity)?;
    Some(time(after_begin)?.0)
}

/// The content of the element of this kind at the start of `der`, and what follows it.
fn element(der: &[u8], kind: u8) -> Option<(&[u8], &[u8])> {
    let (first, rest) = der.split_first()?;
    if *first != kind {
        return None;
    }
    let (length, rest) = rest.split_first()?;
    let (length, rest) = match *length {
        short @ ..=0x7f => (usize::from(short), rest),
        long @ 0x81..=0x83 => {
            let (digits, rest) = rest.split_at_checked(usize::from(long & 0x7f))?;
            (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
        }
        _ => return None,
    };
    rest.split_at_checked(length)
}

/// `UTCTime` (two digits of the year, 1950 to 2049) or `GeneralizedTime`, both in seconds and UTC.
fn time(der: &[u8]) -> Option<(Utc, &[u8])> {
    let (year_digits, (text, rest)) = match der.first() {
        Some(&UTC_TIME) => (2, element(der, UTC_TIME)?),
        Some(&GENERALIZED_TIME) => (4, element(der, GENERALIZED_TIME)?),
        _ => return None,
    };
    let (digits, zone) = text.split_at_checked(year_digits + 10)?;
    if zone != b"Z" || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let (year, others) = digits.split_at_checked(year_digits)?;
    let year = year.iter().fold(0, |year, digit| year * 10 + i32::from(digit - b'0'));
    let year = match year {
        short @ ..50 if year_digits == 2 => 2000 + short,
        short if year_digits == 2 => 1900 + short,
        long => long,
    };
    let mut pairs =
        others.chunks(2).map(|pair| pair.iter().fold(0, |pair, digit| pair * 10 + (digit - b'0')));
    let mut next = || pairs.next();
    let date = (year, next()?, next()?);
    Some((Utc::from_civil(date, (next()?, next()?, next()?))?, rest))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, clippy::indexing_slicing, reason = "tests")]
    use super::*;

    fn certificate(year: i32) -> Vec<u8> {
        let mut params = rcgen::CertificateParams::new(["a.example".to_owned()]).expect("a name");
        params.not_before = rcgen::date_time_ymd(2020, 1, 1);
        params.not_after = rcgen::date_time_ymd(year, 2, 3);
        let key = rcgen::KeyPair::generate().expect("a key");
        params.self_signed(&key).expect("a certificate").der().to_vec()
    }

    #[test]
    fn reads_both_forms_of_time() {
        for year in [2021, 2049, 2050, 4096] {
            let expiry = expiry(&certificate(year)).expect("an expiry");
            assert_eq!(expiry.to_string(), format!("{year}-02-03T00:00:00Z"));
        }
    }

    #[test]
    fn no_cut_or_changed_certificate_panics() {
        let der = certificate(2030);
        for end in 0..der.len().min(200) {
            let _ = expiry(&der[..end]);
        }
        for at in 0..der.len() {
            let mut changed = der.clone();
            changed[at] ^= 0xff;
            let _ = expiry(&changed);
        }
    }
}
