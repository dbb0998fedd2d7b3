//! A random name for each request, in its log line and in its answer, so that a caller and an operator can speak of
//! one request without speaking of its content.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use hyper::header::{HeaderName, HeaderValue};

/// Where an answer carries it.
pub(super) const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// Makes names: a counter under a hash whose key is drawn at start, so that none tells how many came before it.
#[derive(Default)]
pub(super) struct RequestIds {
    key: RandomState,
    next: AtomicU64,
}

/// 16 hexadecimal digits.
#[derive(Clone, Copy)]
pub(super) struct RequestId([u8; 16]);

impl RequestIds {
    pub(super) fn next(&self) -> RequestId {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut number = self.key.hash_one(self.next.fetch_add(1, Ordering::Relaxed));
        RequestId([0; 16].map(|_: u8| {
            number = number.rotate_left(4);
            DIGITS.get(usize::from(number.to_le_bytes()[0] & 15)).copied().unwrap_or(b'0')
        }))
    }
}

impl RequestId {
    pub(super) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    pub(super) fn header(self) -> Option<HeaderValue> {
        HeaderValue::from_bytes(&self.0).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_differ_and_are_hexadecimal() {
        let ids = RequestIds::default();
        let made: std::collections::BTreeSet<String> =
            (0..10_000).map(|_| ids.next().as_str().to_owned()).collect();
        assert_eq!(made.len(), 10_000);
        assert!(made.iter().all(|id| id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit())));
    }
}
