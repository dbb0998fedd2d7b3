//! The keys of a run. They come from the environment alone, and nothing prints them.

use std::fmt;
use std::hash::{BuildHasher, RandomState};

use crate::contract::ACCOUNT_KEY_PREFIX;
use crate::markup::escape;

/// The key that the endpoint accepts now.
pub const ENDPOINT_KEY: &str = "MILLWORK_KIT_ENDPOINT_KEY";
/// Further keys that it must accept as well, separated by commas or line ends.
pub const OVERLAP_KEYS: &str = "MILLWORK_KIT_OVERLAP_KEYS";
/// Keys that it must have stopped accepting.
pub const RETIRED_KEYS: &str = "MILLWORK_KIT_RETIRED_KEYS";

/// A key. It has no way to be shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// What the `Authorization` header says.
    pub(crate) fn bearer(&self) -> String {
        format!("Bearer {}", self.0)
    }

    /// The same with a scheme name in lower case.
    pub(crate) fn lower_case_bearer(&self) -> String {
        format!("bearer {}", self.0)
    }

    /// Keys that differ from this one in length alone.
    pub(crate) fn near_misses(&self) -> Vec<Key> {
        let mut shorter = self.0.clone();
        shorter.pop();
        vec![Key(shorter), Key(format!("{}x", self.0))]
    }

    /// The key, and how it looks inside a JSON string and inside HTML, where that differs.
    fn spellings(&self) -> Vec<String> {
        let quoted = crate::json::quote(&self.0);
        let json = quoted.get(1..quoted.len() - 1).unwrap_or_default().to_owned();
        let mut spellings = vec![self.0.clone(), json, escape(&self.0)];
        spellings.dedup();
        spellings
    }

    /// A key that nobody has.
    fn nobodys() -> Key {
        let random = || RandomState::new().hash_one(0);
        Key(format!("kit-wrong-key-{:016x}{:016x}", random(), random()))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// All keys of a run.
#[derive(Debug, Clone)]
pub struct Keys {
    /// The accepted one, for an authenticated endpoint.
    pub endpoint: Option<Key>,
    /// Others that are accepted too.
    pub overlap: Vec<Key>,
    /// Those that no longer are.
    pub retired: Vec<Key>,
    /// One that never was.
    pub wrong: Key,
}

/// Why the keys of the environment cannot be used. It names the variable, never a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyTrouble {
    /// None, though the endpoint is authenticated.
    #[error("--access authenticated needs the endpoint's key in the environment variable {ENDPOINT_KEY}")]
    Missing,
    /// Not what a header can carry.
    #[error(
        "a key in {0} cannot be sent: a key is visible ASCII, without blanks or commas, 8 to 512 characters"
    )]
    Unusable(&'static str),
    /// The key of a Millwork account.
    #[error(
        "{0} holds a Millwork account key ({ACCOUNT_KEY_PREFIX}…). Never give one to an endpoint; if it went to one, \
         revoke it. Make a key for this endpoint alone"
    )]
    AccountKey(&'static str),
    /// Accepted and retired at once.
    #[error("a key is both in {RETIRED_KEYS} and among those that the endpoint accepts")]
    Contradiction,
}

impl Keys {
    /// No key at all: a public endpoint.
    #[must_use]
    pub fn none() -> Keys {
        Keys { endpoint: None, overlap: Vec::new(), retired: Vec::new(), wrong: Key::nobodys() }
    }

    /// This one key, for tests.
    #[must_use]
    pub fn of(key: &str) -> Keys {
        Keys { endpoint: Some(Key(key.to_owned())), ..Keys::none() }
    }

    /// The keys of an authenticated endpoint, from environment variables.
    ///
    /// # Errors
    /// [`KeyTrouble`].
    pub fn from_variables(variable: &dyn Fn(&str) -> Option<String>) -> Result<Keys, KeyTrouble> {
        let several = |name: &'static str| {
            let text = variable(name).unwrap_or_default();
            let parts = text.split([',', '\n', '\r']).map(str::trim).filter(|part| !part.is_empty());
            parts.map(|part| usable(part, name)).collect::<Result<Vec<Key>, KeyTrouble>>()
        };
        let text = variable(ENDPOINT_KEY).unwrap_or_default();
        let text = text.trim();
        if text.is_empty() {
            return Err(KeyTrouble::Missing);
        }
        let keys = Keys {
            endpoint: Some(usable(text, ENDPOINT_KEY)?),
            overlap: several(OVERLAP_KEYS)?,
            retired: several(RETIRED_KEYS)?,
            wrong: Key::nobodys(),
        };
        let contradiction =
            keys.retired.iter().any(|key| keys.overlap.contains(key) || keys.endpoint.as_ref() == Some(key));
        if contradiction { Err(KeyTrouble::Contradiction) } else { Ok(keys) }
    }

    /// Whether any of the keys stands in `bytes`, as it is or as JSON or HTML would write it.
    #[must_use]
    pub fn is_in(&self, bytes: &[u8]) -> bool {
        self.all().flat_map(Key::spellings).any(|spelling| contains(bytes, spelling.as_bytes()))
    }

    fn all(&self) -> impl Iterator<Item = &Key> {
        self.endpoint.iter().chain(&self.overlap).chain(&self.retired).chain([&self.wrong])
    }
}

fn usable(text: &str, variable: &'static str) -> Result<Key, KeyTrouble> {
    if text.starts_with(ACCOUNT_KEY_PREFIX) {
        return Err(KeyTrouble::AccountKey(variable));
    }
    let plain = text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b',');
    // A shorter key would be found in texts that have nothing to do with it.
    if plain && (8..=512).contains(&text.len()) {
        Ok(Key(text.to_owned()))
    } else {
        Err(KeyTrouble::Unusable(variable))
    }
}

/// Whether `needle`, which is not empty, stands in `bytes`.
pub(crate) fn contains(bytes: &[u8], needle: &[u8]) -> bool {
    bytes.windows(needle.len()).any(|window| window == needle)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn keys(endpoint: &str, overlap: &str, retired: &str) -> Result<Keys, KeyTrouble> {
        Keys::from_variables(&|name| {
            let text = match name {
                ENDPOINT_KEY => endpoint,
                OVERLAP_KEYS => overlap,
                _ => retired,
            };
            Some(text.to_owned())
        })
    }

    #[test]
    fn reads_lists_and_refuses_what_cannot_be_sent() {
        let read = keys(" now-key-1 ", "next-key-1, \n next-key-2,", "old-key-1").unwrap();
        assert_eq!((read.overlap.len(), read.retired.len()), (2, 1));
        assert_eq!(keys("", "", "").unwrap_err(), KeyTrouble::Missing);
        assert_eq!(keys("a b c", "", "").unwrap_err(), KeyTrouble::Unusable(ENDPOINT_KEY));
        assert_eq!(keys("now-key-1", "naïve", "").unwrap_err(), KeyTrouble::Unusable(OVERLAP_KEYS));
        assert_eq!(
            keys("now-key-1", "", "solverapi_live_abc").unwrap_err(),
            KeyTrouble::AccountKey(RETIRED_KEYS)
        );
        assert_eq!(keys("now-key-1", "", "now-key-1").unwrap_err(), KeyTrouble::Contradiction);
    }

    #[test]
    fn nothing_shows_a_key() {
        let read = keys("canary-key", "canary-two", "canary-old").unwrap();
        assert!(!format!("{read:?}").contains("canary"));
        assert!(read.is_in(b"before canary-two after"));
        assert!(!read.is_in(b"canary"));
        let odd = Keys::of(r#""can\ary"<key>&1"#);
        for text in [
            r#"x"can\ary"<key>&1"#,
            r#"{"a":"\"can\\ary\"<key>&1"}"#,
            "<b>&quot;can\\ary&quot;&lt;key&gt;&amp;1",
        ] {
            assert!(odd.is_in(text.as_bytes()), "{text}");
        }
    }
}
