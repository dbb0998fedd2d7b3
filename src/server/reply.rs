//! Answers. The only place that maps a [`Fault`] to HTTP.
//!
//! Every text here is fixed: an answer repeats nothing of its request.

use std::sync::LazyLock;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE,
};
use hyper::{Response, StatusCode};

use super::rate;
use crate::dock::Verdict;
use crate::fault::Fault;

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
        Fault::CheckFailed
        | Fault::CheckResultInvalid
        | Fault::ToolNotGradable
        | Fault::ReportTooLarge => {
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

/// A fault: `{"error": code}` and no verdict. With `close` the connection ends after it (HTTP/1.1 only).
pub(super) fn fault(fault: Fault, close: bool) -> Answer {
    let mut answer = json(status(fault), error_body(fault));
    let headers = answer.headers_mut();
    match fault {
        Fault::Unauthorized => {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        Fault::MethodNotAllowed => {
            headers.insert(ALLOW, HeaderValue::from_static("POST"));
        }
        Fault::RateLimited | Fault::Overloaded => {
            headers.insert(RETRY_AFTER, HeaderValue::from(rate::RETRY_AFTER.as_secs()));
        }
        _ => {}
    }
    if close {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    answer
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
            let answer = fault(*known, false);
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
