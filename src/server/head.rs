//! The rules for a request's head that hyper leaves to the handler (network.md).
//!
//! hyper refuses by itself what does not parse, contradictory lengths, and a `chunked` that is not last.

use hyper::Version;
use hyper::header::{CONTENT_ENCODING, EXPECT, HOST, HeaderMap, HeaderValue, TRANSFER_ENCODING};
use hyper::http::request::Parts;

use crate::fault::Fault;

/// Checks everything about the head but path, method and access.
///
/// # Errors
/// [`Fault::BadHost`] unless exactly one valid host is named; [`Fault::ExpectationFailed`] for an `Expect`
/// other than `100-continue`; [`Fault::TransferEncodingUnsupported`] for a `Transfer-Encoding` other than
/// exactly `chunked`; [`Fault::ContentEncodingUnsupported`] for a `Content-Encoding` other than `identity`.
pub(super) fn lawful(head: &Parts) -> Result<(), Fault> {
    one_host(head)?;
    let headers = &head.headers;
    only(headers, &EXPECT, b"100-continue").then_some(()).ok_or(Fault::ExpectationFailed)?;
    only(headers, &TRANSFER_ENCODING, b"chunked").then_some(()).ok_or(Fault::TransferEncodingUnsupported)?;
    only(headers, &CONTENT_ENCODING, b"identity").then_some(()).ok_or(Fault::ContentEncodingUnsupported)
}

/// The client waits for `100 Continue` before it sends the body.
pub(super) fn awaits_continue(head: &Parts) -> bool {
    head.headers.contains_key(EXPECT)
}

/// The header is absent, or there once with exactly `value`, whatever its case.
fn only(headers: &HeaderMap, name: &hyper::header::HeaderName, value: &[u8]) -> bool {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => true,
        (Some(only), None) => only.as_bytes().eq_ignore_ascii_case(value),
        (Some(_), Some(_)) => false,
    }
}

fn one_host(head: &Parts) -> Result<(), Fault> {
    let mut hosts = head.headers.get_all(HOST).iter();
    let host = hosts.next().map(HeaderValue::as_bytes);
    if hosts.next().is_some() {
        return Err(Fault::BadHost);
    }
    let authority = head.uri.authority().map(|authority| authority.as_str().as_bytes());
    let lawful = match (authority, host) {
        // HTTP/2 has `:authority`; a `Host` beside it must say the same (RFC 9113, section 8.3.1).
        (Some(authority), host) if head.version == Version::HTTP_2 => {
            is_host(authority) && host.is_none_or(|host| host == authority)
        }
        (None, Some(host)) => is_host(host),
        // HTTP/1.1 in absolute form still owes a `Host` (RFC 9112, section 3.2.2).
        (Some(authority), Some(host)) => is_host(authority) && is_host(host),
        (_, None) => false,
    };
    lawful.then_some(()).ok_or(Fault::BadHost)
}

/// `host [":" port]` of RFC 3986, without user information; never empty.
pub(super) fn is_host(text: &[u8]) -> bool {
    let (host_is_valid, rest) = if let Some(literal) = text.strip_prefix(b"[") {
        let Some(end) = literal.iter().position(|byte| *byte == b']') else { return false };
        let (address, rest) = literal.split_at(end);
        (is_ipv6(address), rest.get(1..).unwrap_or_default())
    } else {
        let end = text.iter().position(|byte| *byte == b':').unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        (!name.is_empty() && name.iter().all(|byte| is_name_byte(*byte)), rest)
    };
    host_is_valid && is_port(rest)
}

fn is_ipv6(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| text.parse::<std::net::Ipv6Addr>().is_ok())
}

/// Empty, or a colon and at most five digits.
fn is_port(text: &[u8]) -> bool {
    match text.split_first() {
        None => true,
        Some((b':', digits)) => digits.len() <= 5 && digits.iter().all(u8::is_ascii_digit),
        Some(_) => false,
    }
}

/// `unreserved`, `sub-delims` and `%` of RFC 3986.
fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=%".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_that_are_and_are_not() {
        for good in ["localhost", "dock.example:8443", "127.0.0.1", "[::1]:443", "[2001:db8::1]", "a:"] {
            assert!(is_host(good.as_bytes()), "{good}");
        }
        for bad in
            ["", ":443", "a b", "a:b", "a:123456", "user@host", "[::1", "[]", "[::1]x", "a/b", "a,b:c", "ü"]
        {
            assert!(!is_host(bad.as_bytes()), "{bad}");
        }
    }
}
