//! Answers. The only place that maps a [`Fault`] to HTTP.
//!
//! Every text here is fixed: an answer repeats nothing of its request.

use std::sync::LazyLock;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, IF_NONE_MATCH,
    RETRY_AFTER, WWW_AUTHENTICATE,
};
use hyper::{Response, StatusCode};

use super::rate;
use crate::dock::Verdict;
use crate::fault::Fault;
use crate::service::Paid;
use crate::service::assess::Refusal;
use crate::service::criteria::Criteria;
use crate::service::x402::offer::Offer;

/// How long to wait with a payment whose way is blocked for now, in seconds.
const RETRY_PAYMENT_AFTER_SECONDS: u64 = 10;

/// An answer of the server.
pub(super) type Answer = Response<Full<Bytes>>;

/// The status that says a fault.
pub(super) const fn status(fault: Fault) -> StatusCode {
    match fault {
        Fault::BadHost | Fault::MalformedRequest | Fault::MissingCandidate | Fault::PaymentMalformed => {
            StatusCode::BAD_REQUEST
        }
        Fault::Unauthorized => StatusCode::UNAUTHORIZED,
        Fault::AllowanceExhausted
        | Fault::PaymentRequired
        | Fault::PaymentMismatch
        | Fault::PaymentInvalid
        | Fault::SettlementRefused => StatusCode::PAYMENT_REQUIRED,
        Fault::NotFound | Fault::NotCovered => StatusCode::NOT_FOUND,
        Fault::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        Fault::RequestTimeout => StatusCode::REQUEST_TIMEOUT,
        Fault::RequestTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Fault::ContentEncodingUnsupported => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        Fault::ExpectationFailed => StatusCode::EXPECTATION_FAILED,
        Fault::PaymentReplayed => StatusCode::CONFLICT,
        Fault::RateLimited | Fault::TooSoon => StatusCode::TOO_MANY_REQUESTS,
        Fault::CheckFailed | Fault::CheckResultInvalid | Fault::ToolNotGradable | Fault::ReportTooLarge => {
            StatusCode::INTERNAL_SERVER_ERROR
        }
        Fault::TransferEncodingUnsupported => StatusCode::NOT_IMPLEMENTED,
        Fault::EndpointKeysNotConfigured
        | Fault::EndpointKeysMisconfigured
        | Fault::EndpointKeysUnavailable
        | Fault::Overloaded
        | Fault::PaymentUnderway
        | Fault::SettlementUnknown
        | Fault::FacilitatorUnavailable
        | Fault::StoreUnavailable
        | Fault::OperationStopped => StatusCode::SERVICE_UNAVAILABLE,
        Fault::CheckTimeout => StatusCode::GATEWAY_TIMEOUT,
    }
}

/// A verdict, 200.
pub(super) fn verdict(verdict: &Verdict) -> Answer {
    let mut body = Vec::with_capacity(1024);
    verdict.write(&mut body);
    json(StatusCode::OK, Bytes::from(body))
}

/// A fault: `{"error": code}` and no verdict.
pub(super) fn fault(fault: Fault) -> Answer {
    let mut answer = json(status(fault), error_body(fault));
    let headers = answer.headers_mut();
    match fault {
        Fault::Unauthorized => {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        Fault::RateLimited | Fault::Overloaded => {
            headers.insert(RETRY_AFTER, HeaderValue::from(rate::RETRY_AFTER.as_secs()));
        }
        Fault::PaymentUnderway
        | Fault::SettlementUnknown
        | Fault::FacilitatorUnavailable
        | Fault::StoreUnavailable => {
            headers.insert(RETRY_AFTER, HeaderValue::from(RETRY_PAYMENT_AFTER_SECONDS));
        }
        _ => {}
    }
    answer
}

/// A method that its path does not take; `allow` names those that it does.
pub(super) fn method_not_allowed(allow: &'static str) -> Answer {
    let mut answer = fault(Fault::MethodNotAllowed);
    answer.headers_mut().insert(ALLOW, HeaderValue::from_static(allow));
    answer
}

/// The connection ends after this answer (HTTP/1.1 only).
pub(super) fn closing(mut answer: Answer) -> Answer {
    answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    answer
}

/// The status that says a refusal of a published body (decision B17).
pub(super) fn refusal_status(refusal: Refusal) -> StatusCode {
    if refusal == Refusal::BODY_OVER_CAP { StatusCode::PAYLOAD_TOO_LARGE } else { StatusCode::BAD_REQUEST }
}

/// A refusal of a published body: `{"error": code, "rule": …}`, the rule only where there is one.
pub(super) fn refusal(refusal: Refusal) -> Answer {
    let rule = refusal.rule.map_or_else(String::new, |rule| format!(r#","rule":"{rule}""#));
    json(refusal_status(refusal), format!(r#"{{"error":"{}"{rule}}}"#, refusal.code).into())
}

/// A pre-check that comes too soon; `wait` is in milliseconds.
pub(super) fn too_soon(wait: u64) -> Answer {
    let mut answer = json(status(Fault::TooSoon), error_body(Fault::TooSoon));
    answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from(wait.div_ceil(1000).max(1)));
    answer
}

/// A 402 that clients of both versions of x402 can pay.
pub(super) fn offer(offer: Offer) -> Answer {
    let mut answer = json(StatusCode::PAYMENT_REQUIRED, offer.body.into());
    insert_text(&mut answer, "payment-required", &offer.header);
    answer
}

/// A signed report or answer; with `status` for a pre-check that is a refusal.
pub(super) fn signed(status: StatusCode, envelope: Vec<u8>) -> Answer {
    json(status, envelope.into())
}

/// A signed report that was paid.
pub(super) fn paid(paid: Paid) -> Answer {
    let mut answer = json(StatusCode::OK, paid.body.into());
    insert_text(&mut answer, paid.version.response_header(), &paid.response);
    answer
}

/// The criteria document, or 304 where the caller has it.
pub(super) fn criteria(criteria: &Criteria, headers: &HeaderMap) -> Answer {
    let known = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let is_known = known.flat_map(|value| value.split(',')).any(|tag| {
        let tag = tag.trim();
        tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == criteria.etag
    });
    let mut answer = if is_known {
        let mut answer = Response::new(Full::new(Bytes::new()));
        *answer.status_mut() = StatusCode::NOT_MODIFIED;
        answer
    } else {
        json(StatusCode::OK, criteria.body.clone().into())
    };
    insert_text(&mut answer, "etag", &criteria.etag);
    answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=300"));
    answer
}

/// The key set (RFC 7517, section 8.5.1).
pub(super) fn keys(jwks: &str) -> Answer {
    let mut answer = json(StatusCode::OK, jwks.to_owned().into());
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/jwk-set+json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=300"));
    answer
}

/// Text for Prometheus.
pub(super) fn metrics(text: String) -> Answer {
    let mut answer = json(StatusCode::OK, text.into());
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    answer
}

/// Values that this program made: base64 and quoted digits, which a header can hold.
fn insert_text(answer: &mut Answer, name: &'static str, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        answer.headers_mut().insert(HeaderName::from_static(name), value);
    }
}

fn json(status: StatusCode, body: Bytes) -> Answer {
    let mut answer = Response::new(Full::new(body));
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

/// Made once: a refusal allocates no body.
fn error_body(fault: Fault) -> Bytes {
    static BODIES: LazyLock<Vec<Bytes>> = LazyLock::new(|| {
        Fault::ALL.iter().map(|fault| format!(r#"{{"error":"{}"}}"#, fault.code()).into()).collect()
    });
    BODIES.get(fault as usize).cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, clippy::indexing_slicing, reason = "tests")]
    use http_body_util::BodyExt;

    use super::*;

    #[tokio::test]
    async fn every_fault_says_its_own_code_and_never_succeeds() {
        for known in Fault::ALL {
            let answer = fault(*known);
            assert!(answer.status().is_client_error() || answer.status().is_server_error(), "{known}");
            assert_eq!(answer.headers()[CONTENT_TYPE], "application/json");
            assert_eq!(answer.headers()[CACHE_CONTROL], "no-store");
            let body = answer.into_body().collect().await.expect("a fixed body").to_bytes();
            assert_eq!(body, format!(r#"{{"error":"{}"}}"#, known.code()));
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte);
            assert!(known.code().len() <= 64 && known.code().bytes().all(plain), "{known}");
        }
    }

    #[test]
    fn every_status_is_the_one_that_the_contract_tells() {
        for known in Fault::ALL {
            let heading = format!("### `{}`\n\n- Status: ", known.code());
            let (_, entry) = crate::contract::ERRORS.split_once(&heading).expect("an entry");
            assert_eq!(entry.get(..3), Some(status(*known).as_str()), "{known}");
        }
    }
}
