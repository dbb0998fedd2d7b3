//! The endpoint's URL, and what Millwork would refuse about it at registration.

use std::fmt;

use crate::keys::Keys;

/// A URL that may be called.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// The host: a name in ASCII, or an address without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The path, as it is sent.
    pub path: String,
    /// Over TLS; plain only where the author asked for it, on loopback.
    pub tls: bool,
    /// `host` or `host:port`, as in the URL.
    pub authority: String,
}

/// A rule of registration that a URL breaks. Nothing is sent then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Not an absolute URL.
    Malformed,
    /// Not https.
    Scheme,
    /// `user:password@`.
    UserInfo,
    /// `?…`.
    Query,
    /// `#…`.
    Fragment,
    /// A part that looks like a key, or is one.
    Credential,
}

impl Refusal {
    /// All of them.
    pub const ALL: &[Refusal] = &[
        Refusal::Malformed,
        Refusal::Scheme,
        Refusal::UserInfo,
        Refusal::Query,
        Refusal::Fragment,
        Refusal::Credential,
    ];

    /// Its name, as `list` and `explain` have it.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Refusal::Malformed => "registration.url",
            Refusal::Scheme => "registration.https",
            Refusal::UserInfo => "registration.no_user_info",
            Refusal::Query => "registration.no_query",
            Refusal::Fragment => "registration.no_fragment",
            Refusal::Credential => "registration.no_credential",
        }
    }

    /// What is wrong and what to do. It never repeats the URL, which may hold a credential.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Refusal::Malformed => {
                "The URL is no absolute URL with a host in ASCII. Write it as https://host/path; a name in other \
                 letters goes in its xn-- form."
            }
            Refusal::Scheme => {
                "The URL is not https, and Millwork refuses it, loopback included. Put TLS in front of the dock; \
                 before you have it, --allow-http-loopback tests http on loopback."
            }
            Refusal::UserInfo => {
                "The URL holds a user or password before its host. Take it out: a managed dock gets its key in the \
                 Authorization header."
            }
            Refusal::Query => {
                "The URL has a query. Register a plain path, and move what the query said into it."
            }
            Refusal::Fragment => {
                "The URL has a fragment, which is never sent. Take out the # and what follows."
            }
            Refusal::Credential => {
                "A part of the URL looks like a credential. URLs end up in logs: rename the part, and let a managed \
                 dock check a key."
            }
        }
    }
}

impl Endpoint {
    /// Reads a URL as registration does.
    ///
    /// # Errors
    /// Every rule that it breaks.
    pub fn read(url: &str, keys: &Keys, allow_http_loopback: bool) -> Result<Endpoint, Vec<Refusal>> {
        let mut broken = Vec::new();
        let (plain, fragment) = url.split_once('#').map_or((url, false), |(plain, _)| (plain, true));
        let Some(parts) = Parts::of(plain) else { return Err(vec![Refusal::Malformed]) };
        let loopback = allow_http_loopback && is_loopback(&parts.host);
        let mut check = |rule: Refusal, holds: bool| {
            if !holds {
                broken.push(rule);
            }
        };
        check(Refusal::Scheme, parts.tls || loopback);
        check(Refusal::UserInfo, !parts.user_info);
        check(Refusal::Query, !parts.query);
        check(Refusal::Fragment, !fragment);
        let secret = keys.is_in(url.as_bytes()) || parts.path.split('/').any(looks_like_a_credential);
        check(Refusal::Credential, !secret);
        if !broken.is_empty() {
            return Err(broken);
        }
        let Parts { host, port, path, tls, authority, .. } = parts;
        Ok(Endpoint { host, port, path, tls, authority })
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", if self.tls { "https" } else { "http" }, self.authority, self.path)
    }
}

struct Parts {
    host: String,
    port: u16,
    path: String,
    tls: bool,
    authority: String,
    user_info: bool,
    query: bool,
}

impl Parts {
    fn of(url: &str) -> Option<Parts> {
        let uri: http::Uri = url.parse().ok()?;
        let tls = match uri.scheme_str()? {
            "https" => true,
            "http" => false,
            _ => return None,
        };
        let authority = uri.authority()?;
        let host = authority.host();
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        if bare.is_empty() {
            return None;
        }
        let shown = authority.as_str().rsplit('@').next()?.to_owned();
        let port = match shown.strip_prefix(host)?.strip_prefix(':') {
            Some(port) => port.parse().ok()?,
            None if tls => 443,
            None => 80,
        };
        Some(Parts {
            host: bare.to_ascii_lowercase(),
            port,
            path: uri.path().to_owned(),
            tls,
            user_info: authority.as_str().contains('@'),
            query: uri.query().is_some(),
            authority: shown,
        })
    }
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// How keys of well-known makers begin.
const PREFIXES: &[&str] = &[
    "sk-",
    "sk_",
    "pk_live_",
    "rk_live_",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xox",
    "akia",
    "eyj",
    "solverapi_",
];
/// Words that announce a key, as in `token=…` or `api_key:…`.
const WORDS: &[&str] = &["key", "token", "secret", "password", "passwd", "bearer", "signature", "credential"];

/// A part of a path that looks like a key: known prefixes, `word=value`, or a long run without a pattern.
fn looks_like_a_credential(part: &str) -> bool {
    let part = percent_decoded(part);
    let lower = part.to_ascii_lowercase();
    let known = lower.len() >= 16 && PREFIXES.iter().any(|prefix| lower.starts_with(prefix));
    let named = lower
        .split_once(['=', ':'])
        .is_some_and(|(name, value)| !value.is_empty() && WORDS.iter().any(|word| name.ends_with(word)));
    known || named || is_random(&part)
}

/// At least 24 characters of a key's alphabet with both cases and digits mixed, or 32 hexadecimal digits.
fn is_random(part: &str) -> bool {
    let hexadecimal = part.len() >= 32 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let alphabet = part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.~+/=".contains(&byte));
    let has = |wanted: fn(&u8) -> bool| part.bytes().filter(wanted).count() >= 3;
    let mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    hexadecimal || (part.len() >= 24 && alphabet && mixed)
}

fn percent_decoded(part: &str) -> String {
    let bytes = part.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let escaped = (*byte == b'%').then(|| part.get(at + 1..at + 3)).flatten();
        let escaped = escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        decoded.push(escaped.unwrap_or(*byte));
        at += if escaped.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn refusals(url: &str) -> Vec<Refusal> {
        Endpoint::read(url, &Keys::none(), false).err().unwrap_or_default()
    }

    #[test]
    fn names_every_rule_that_a_url_breaks() {
        for url in [
            "https://dock.example/check",
            "https://dock.example",
            "https://dock.example:8443/a/b-c",
            "https://[2606:4700::1111]/x",
            "https://dock.example/verifiers/550e8400-e29b-41d4-a716-446655440000",
            "https://dock.example/structured-output-acceptance-check-v2",
            "https://dock.example/token/check",
        ] {
            assert_eq!(refusals(url), [], "{url}");
        }
        for (url, rule) in [
            ("dock.example/check", Refusal::Malformed),
            ("ftp://dock.example/", Refusal::Malformed),
            ("https:///check", Refusal::Malformed),
            ("https://bücher.example/", Refusal::Malformed),
            ("https://dock.example:99999/", Refusal::Malformed),
            ("https://dock.example:/", Refusal::Malformed),
            ("http://dock.example/", Refusal::Scheme),
            ("http://localhost/", Refusal::Scheme),
            ("https://user@dock.example/", Refusal::UserInfo),
            ("https://dock.example/?a=1", Refusal::Query),
            ("https://dock.example/#top", Refusal::Fragment),
            ("https://dock.example/key=abc", Refusal::Credential),
            ("https://dock.example/api%5Fkey%3Dabc", Refusal::Credential),
            ("https://dock.example/sk_live_51Habcdefgh", Refusal::Credential),
            ("https://dock.example/check/aB3dE6gH9jK2mN5pQ8sT1vW4", Refusal::Credential),
            ("https://dock.example/0123456789abcdef0123456789abcdef", Refusal::Credential),
        ] {
            assert_eq!(refusals(url), [rule], "{url}");
        }
        assert_eq!(refusals("http://a:b@dock.example/?x#y").len(), 4);
    }

    #[test]
    fn a_url_that_holds_a_key_of_the_run_is_refused() {
        let keys = Keys::of("plain-but-secret-key");
        let read = Endpoint::read("https://dock.example/plain-but-secret-key/check", &keys, false);
        assert_eq!(read.unwrap_err(), [Refusal::Credential]);
    }

    #[test]
    fn plain_http_is_for_loopback_alone_and_only_on_request() {
        let read = |url| Endpoint::read(url, &Keys::none(), true);
        let endpoint = read("http://127.0.0.1:8080/check").unwrap();
        assert_eq!(
            (endpoint.tls, endpoint.port, endpoint.to_string().as_str()),
            (false, 8080, "http://127.0.0.1:8080/check")
        );
        assert!(read("http://[::1]/").is_ok());
        assert_eq!(read("http://dock.example/").unwrap_err(), [Refusal::Scheme]);
        assert_eq!(read("http://10.0.0.1/").unwrap_err(), [Refusal::Scheme]);
    }
}
