//! Who may call a managed dock: the set of accepted keys, and the comparison with the one that was sent.
//!
//! Only SHA-256 digests of keys are kept. They are compared by the crate `subtle`, which rustls brings along:
//! its results are combined without a branch, where aws-lc-rs answers each comparison by a `Result` that
//! invites one. Every comparison goes over all [`MAX_KEYS`] places, taken or not, so that the time of an
//! answer tells neither which key fitted nor how many there are.
//!
//! The buffers that held a key's text are not wiped: the same bytes stay in the process's environment, which
//! cannot be wiped without unsafe code, and in the buffers that hyper read the request into. Wiping one copy
//! of three would promise what it does not keep; the manual switches core dumps off instead.

use crate::config::KeySource;
use crate::fault::Fault;
use crate::watch;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use sha2::{Digest, Sha256};
use std::fmt;
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};

/// The most keys of one dock: enough for any rotation, few enough to compare them all each time.
pub const MAX_KEYS: usize = 32;

/// The shortest key, in bytes: 16 characters of a password manager are some 95 bits, out of any guess's reach.
pub const MIN_KEY_BYTES: usize = 16;

/// The longest key, in bytes; well below the server's cap on a request's headers.
pub const MAX_KEY_BYTES: usize = 512;

/// The longest label of a key, in bytes.
pub const MAX_LABEL_BYTES: usize = 32;

/// The longest text of keys, from a file or a variable, in bytes.
pub const MAX_SOURCE_BYTES: u64 = 64 * 1024;

/// How the keys of Millwork accounts begin. Such a key opens an account, so it must not sit in a dock.
const ACCOUNT_KEY_PREFIX: &str = "solverapi_live_";

/// The keys that a managed dock accepts, all at once. Never empty; immutable; holds digests only.
#[derive(Clone)]
pub struct Keys {
    digests: [[u8; 32]; MAX_KEYS],
    count: usize,
    labels: Vec<String>,
}

impl Keys {
    /// Reads keys that are separated by commas or line ends; blanks around them are dropped. A label may stand before
    /// a key, with a blank between them: 1 to 32 letters, digits and `-_.`, by which metrics count the key's requests.
    ///
    /// # Errors
    /// [`Fault::EndpointKeysNotConfigured`] and [`Fault::EndpointKeysMisconfigured`], as [`KeyTrouble`] says.
    pub fn from_text(text: &str) -> Result<Keys, Fault> {
        read_keys(text).map_err(Fault::from)
    }

    /// Reads keys as [`Keys::from_text`] does, from the bytes of a file.
    ///
    /// # Errors
    /// As [`Keys::from_text`]; also [`KeyTrouble::NotUtf8`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Keys, KeyTrouble> {
        read_keys(std::str::from_utf8(bytes).map_err(|_| KeyTrouble::NotUtf8)?)
    }

    /// How many keys are accepted.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// What each key is called: its label, or its place, counted from 1.
    #[must_use]
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// Admits a request that carries exactly one `Authorization: Bearer <key>` with an accepted key; the key's place in
    /// [`Keys::labels`].
    ///
    /// # Errors
    /// [`Fault::Unauthorized`] for anything else.
    pub fn admit(&self, headers: &HeaderMap) -> Result<usize, Fault> {
        let key = bearer(headers).ok_or(Fault::Unauthorized)?;
        let (found, place) = self.hold(key);
        if found.into() { Ok(usize::from(place)) } else { Err(Fault::Unauthorized) }
    }

    fn hold(&self, key: &[u8]) -> (Choice, u8) {
        let sent: [u8; 32] = Sha256::digest(key).into();
        let start = (Choice::from(0), 0_u8);
        (0_u8..).zip(&self.digests).fold(start, |(found, place), (n, digest)| {
            let taken = Choice::from(u8::from(usize::from(n) < self.count));
            let same = digest.ct_eq(&sent) & taken;
            (found | same, u8::conditional_select(&place, &n, same))
        })
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keys(…)")
    }
}

/// Why a dock has no usable keys. Tells the place of a bad key, never a part of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyTrouble {
    /// The variable is not set, or there is nothing but blanks.
    #[error("no key is configured")]
    None,
    /// A key that opens a Millwork account.
    #[error("key {0} is a Millwork account key; make one for the dock with `millwork-dock key access new`")]
    AccountKey(usize),
    /// A key that is too short or too long, or holds what a header cannot carry.
    #[error(
        "key {0} cannot be used: a key is {MIN_KEY_BYTES} to {MAX_KEY_BYTES} visible ASCII characters, without blanks, or a \
         label of 1 to {MAX_LABEL_BYTES} letters, digits and -_. and the key"
    )]
    Unusable(usize),
    /// More than [`MAX_KEYS`].
    #[error("there are more than {MAX_KEYS} keys; remove the retired ones")]
    TooMany,
    /// Not UTF-8.
    #[error("the keys are not UTF-8 text")]
    NotUtf8,
    /// Over [`MAX_SOURCE_BYTES`].
    #[error("the keys are over {MAX_SOURCE_BYTES} bytes long")]
    TooLong,
    /// The file cannot be read.
    #[error("the file of keys cannot be read: {0}")]
    Unreadable(String),
}

impl From<KeyTrouble> for Fault {
    fn from(trouble: KeyTrouble) -> Fault {
        match trouble {
            KeyTrouble::None => Fault::EndpointKeysNotConfigured,
            KeyTrouble::AccountKey(_) | KeyTrouble::Unusable(_) | KeyTrouble::TooMany => {
                Fault::EndpointKeysMisconfigured
            }
            KeyTrouble::NotUtf8 | KeyTrouble::TooLong | KeyTrouble::Unreadable(_) => {
                Fault::EndpointKeysUnavailable
            }
        }
    }
}

impl From<std::io::Error> for KeyTrouble {
    fn from(error: std::io::Error) -> KeyTrouble {
        match error.kind() {
            std::io::ErrorKind::FileTooLarge => KeyTrouble::TooLong,
            _ => KeyTrouble::Unreadable(error.to_string()),
        }
    }
}

impl KeySource {
    /// Reads the keys as they are now. Blocks on the file system.
    ///
    /// # Errors
    /// The fault that calls of the dock are answered with.
    pub fn read(&self) -> Result<Keys, Fault> {
        self.inspect().map_err(Fault::from)
    }

    /// Reads the keys as they are now, and tells the operator why there are none.
    ///
    /// # Errors
    /// See [`KeyTrouble`].
    pub fn inspect(&self) -> Result<Keys, KeyTrouble> {
        match self {
            KeySource::Env(name) => {
                let value = std::env::var_os(name).ok_or(KeyTrouble::None)?;
                if value.len() as u64 > MAX_SOURCE_BYTES {
                    return Err(KeyTrouble::TooLong);
                }
                Keys::from_bytes(value.as_encoded_bytes())
            }
            KeySource::File(path) => Keys::from_bytes(&watch::read_bounded(path, MAX_SOURCE_BYTES)?),
        }
    }
}

fn read_keys(text: &str) -> Result<Keys, KeyTrouble> {
    let mut keys = Keys { digests: [[0; 32]; MAX_KEYS], count: 0, labels: Vec::new() };
    let written = text.split([',', '\n', '\r']).map(str::trim).filter(|key| !key.is_empty());
    for (n, entry) in written.enumerate() {
        let (label, key) = match entry.split_once([' ', '\t']) {
            Some((label, key)) => (Some(label), key.trim_start()),
            None => (None, entry),
        };
        if entry.contains(ACCOUNT_KEY_PREFIX) {
            return Err(KeyTrouble::AccountKey(n + 1));
        }
        let lengths = MIN_KEY_BYTES..=MAX_KEY_BYTES;
        let is_key = lengths.contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_key || label.is_some_and(|label| !is_label(label)) {
            return Err(KeyTrouble::Unusable(n + 1));
        }
        *keys.digests.get_mut(n).ok_or(KeyTrouble::TooMany)? = Sha256::digest(key).into();
        keys.count = n + 1;
        keys.labels.push(label.map_or_else(|| (n + 1).to_string(), ToOwned::to_owned));
    }
    if keys.count == 0 { Err(KeyTrouble::None) } else { Ok(keys) }
}

/// No key looks like a label by accident: what `key access new` prints is longer.
fn is_label(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    text.len() <= MAX_LABEL_BYTES && !text.starts_with(crate::config::KEY_PREFIX) && text.bytes().all(plain)
}

/// The key of the one `Authorization` header, if that is a bearer credential (RFC 6750, RFC 9110 11.4).
fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    let (scheme, key) = value.as_bytes().split_at_checked(b"bearer".len())?;
    let spaces = key.iter().position(|byte| *byte != b' ')?;
    let key = key.get(spaces..)?;
    let sound = spaces > 0 && key.len() <= MAX_KEY_BYTES && key.iter().all(u8::is_ascii_graphic);
    (scheme.eq_ignore_ascii_case(b"bearer") && sound).then_some(key)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use http::HeaderValue;

    const A: &str = "mwdock_0123456789abcdef";
    const B: &str = "another-key/of+sixteen=or-more";

    fn headers(values: &[&[u8]]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, HeaderValue::from_bytes(value).unwrap());
        }
        headers
    }

    fn admits(keys: &Keys, authorization: &str) -> bool {
        let answer = keys.admit(&headers(&[authorization.as_bytes()]));
        assert!(matches!(answer, Ok(_) | Err(Fault::Unauthorized)));
        answer.is_ok()
    }

    #[test]
    fn admits_every_configured_key_and_no_other() {
        for text in [format!("{A},{B}"), format!(" ,\r\n{A}\r\n\n , {B}\n,"), format!("{A}\n{B}\n{A}")] {
            let keys = Keys::from_text(&text).unwrap();
            assert!(admits(&keys, &format!("Bearer {A}")), "{text:?}");
            assert!(admits(&keys, &format!("Bearer {B}")), "{text:?}");
            for other in
                [&A[1..], &A[..A.len() - 1], &A.to_uppercase(), &format!("{A},{B}"), "0000000000000000"]
            {
                assert!(!admits(&keys, &format!("Bearer {other}")), "{other}");
            }
        }
        let rotated = Keys::from_text(B).unwrap();
        assert!(!admits(&rotated, &format!("Bearer {A}")), "a key that was taken out");
    }

    #[test]
    fn admits_in_every_place_of_a_full_set_and_takes_no_more() {
        let key = |n: usize| format!("key-number-{n:08}");
        let all: Vec<String> = (0..MAX_KEYS).map(key).collect();
        let keys = Keys::from_text(&all.join(",")).unwrap();
        assert_eq!(keys.count(), MAX_KEYS);
        assert!(all.iter().all(|key| admits(&keys, &format!("Bearer {key}"))));
        assert!(!admits(&keys, &format!("Bearer {}", key(MAX_KEYS))));
        let more = format!("{},{}", all.join(","), key(MAX_KEYS));
        assert_eq!(read_keys(&more).unwrap_err(), KeyTrouble::TooMany);
    }

    #[test]
    fn a_key_goes_by_its_label_or_its_place() {
        let keys = Keys::from_text(&format!("2026-11 {A}\n{B},\nthird\t 0123456789abcdef")).unwrap();
        assert_eq!(keys.labels(), ["2026-11", "2", "third"]);
        for (key, place) in [(A, 0), (B, 1), ("0123456789abcdef", 2)] {
            let sent = headers(&[format!("Bearer {key}").as_bytes()]);
            assert_eq!(keys.admit(&sent), Ok(place), "{key}");
        }
        assert!(!admits(&keys, "Bearer 2026-11"));
    }

    #[test]
    fn an_empty_place_matches_nothing() {
        let digests = [Sha256::digest(A).into(); MAX_KEYS];
        let keys = Keys { digests, count: 0, labels: Vec::new() };
        assert!(!admits(&keys, &format!("Bearer {A}")));
    }

    #[test]
    fn reads_the_scheme_in_any_case_and_nothing_malformed() {
        let keys = Keys::from_text(A).unwrap();
        for scheme in ["Bearer ", "bearer ", "BEARER ", "bEaReR   "] {
            assert!(admits(&keys, &format!("{scheme}{A}")), "{scheme}");
        }
        for scheme in
            ["", "Bearer", "Basic ", "Bearer\t", "Bearer \t", " Bearer ", "Bearers ", "Bearer: ", "Token "]
        {
            assert!(!admits(&keys, &format!("{scheme}{A}")), "{scheme:?}");
        }
        for value in
            ["", "Bearer", "Bearer ", "Bearer    ", "B", &format!("Bearer {A} "), &format!("Bearer {A} {A}")]
        {
            assert!(!admits(&keys, value), "{value:?}");
        }
        assert!(!admits(&keys, &format!("Bearer {}", "x".repeat(MAX_KEY_BYTES + 1))));
    }

    #[test]
    fn wants_exactly_one_header() {
        let keys = Keys::from_text(A).unwrap();
        let good = format!("Bearer {A}");
        assert_eq!(keys.admit(&headers(&[])), Err(Fault::Unauthorized));
        assert_eq!(keys.admit(&headers(&[good.as_bytes(), good.as_bytes()])), Err(Fault::Unauthorized));
        assert_eq!(keys.admit(&headers(&[b"Basic eDp5", good.as_bytes()])), Err(Fault::Unauthorized));
        assert_eq!(keys.admit(&headers(&[b"Bearer \xff\xfe0123456789abcdef"])), Err(Fault::Unauthorized));
        assert_eq!(keys.admit(&headers(&[good.as_bytes()])), Ok(0));
    }

    #[test]
    fn says_what_is_wrong_with_a_set() {
        let short = "x".repeat(MIN_KEY_BYTES - 1);
        let long = "x".repeat(MAX_KEY_BYTES + 1);
        let cases = [
            ("", KeyTrouble::None),
            (" \t,\r\n,, \n", KeyTrouble::None),
            ("solverapi_live_0123456789abcdef", KeyTrouble::AccountKey(1)),
            (&format!("{A}, solverapi_live_"), KeyTrouble::AccountKey(2)),
            (&short, KeyTrouble::Unusable(1)),
            (&long, KeyTrouble::Unusable(1)),
            (&format!("{A}\n{B}\n0123456789 abcdef"), KeyTrouble::Unusable(3)),
            (&format!("a/label {A}"), KeyTrouble::Unusable(1)),
            (&format!("{} {A}", "x".repeat(MAX_LABEL_BYTES + 1)), KeyTrouble::Unusable(1)),
            (&format!("{A} {B}"), KeyTrouble::Unusable(1)),
            ("0123456789abcdef\u{7f}", KeyTrouble::Unusable(1)),
            ("0123456789abcdefé", KeyTrouble::Unusable(1)),
            (&format!("\u{feff}{A}"), KeyTrouble::Unusable(1)),
        ];
        for (text, trouble) in cases {
            assert_eq!(read_keys(text).map(|_| ()), Err(trouble), "{text:?}");
        }
        assert_eq!(Keys::from_bytes(b"\xff").map(|_| ()), Err(KeyTrouble::NotUtf8));
        assert!(Keys::from_text(&"x".repeat(MIN_KEY_BYTES)).is_ok());
        assert!(Keys::from_text(&"x".repeat(MAX_KEY_BYTES)).is_ok());
    }

    #[test]
    fn each_trouble_has_its_fault() {
        assert_eq!(Keys::from_text("").map(|_| ()), Err(Fault::EndpointKeysNotConfigured));
        assert_eq!(Keys::from_text("solverapi_live_x").map(|_| ()), Err(Fault::EndpointKeysMisconfigured));
        assert_eq!(Keys::from_text("short").map(|_| ()), Err(Fault::EndpointKeysMisconfigured));
        let dir = tempfile::tempdir().unwrap();
        let read = |bytes: Option<&[u8]>| {
            let path = dir.path().join("keys");
            if let Some(bytes) = bytes {
                std::fs::write(&path, bytes).unwrap();
            }
            KeySource::File(path).read().map(|keys| keys.count())
        };
        assert_eq!(read(None), Err(Fault::EndpointKeysUnavailable));
        assert_eq!(read(Some(b"")), Err(Fault::EndpointKeysNotConfigured));
        assert_eq!(read(Some(b"\xff\xff")), Err(Fault::EndpointKeysUnavailable));
        assert_eq!(read(Some(&vec![b'\n'; 64 * 1024 + 1])), Err(Fault::EndpointKeysUnavailable));
        assert_eq!(read(Some(&vec![b'\n'; 64 * 1024])), Err(Fault::EndpointKeysNotConfigured));
        assert_eq!(read(Some(format!("{A}\n{B}\n").as_bytes())), Ok(2));
        let unset = KeySource::Env("MILLWORK_DOCK_TEST_NO_SUCH_VARIABLE".into());
        assert_eq!(unset.read().map(|_| ()), Err(Fault::EndpointKeysNotConfigured));
        // Cargo sets this one for every test: a variable that can be read, and is no key.
        assert_eq!(
            KeySource::Env("CARGO_PKG_VERSION".into()).read().map(|_| ()),
            Err(Fault::EndpointKeysMisconfigured)
        );
    }

    #[test]
    fn nothing_shows_a_key() {
        let keys = Keys::from_text(A).unwrap();
        assert_eq!(format!("{keys:?} {keys:#?}"), "Keys(…) Keys(…)");
        for text in [format!("solverapi_live_{A}"), format!("{A} {B}")] {
            let trouble = read_keys(&text).unwrap_err();
            let told = format!("{trouble} {trouble:?} {}", Fault::from(trouble.clone()));
            assert!(!told.contains("0123456789abcdef") && !told.contains("sixteen"), "{told}");
        }
    }
}
