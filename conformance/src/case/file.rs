//! A case that is data: one file under `cases/`.
//!
//! `{"id", "request": {"candidate" | "body" | "method", "cut"?}, "expect"}`. `body` is text and sent as it stands, for
//! what a JSON value cannot say; `cut` is a list of offsets, or `"every_byte"`. `expect` is `"verdict"`,
//! `"fail_closed"`, `"probe"`, or `{"refused": [status, …]}`.

use crate::client::Body;
use crate::json::{self, Json};

/// One call and what it has to lead to.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// The case's id.
    pub id: String,
    /// The method.
    pub method: &'static str,
    /// The body.
    pub body: Option<Body>,
    /// What has to come.
    pub expect: Expectation,
}

/// What an answer has to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expectation {
    /// A verdict, whatever it says.
    Verdict,
    /// The probe's own answer.
    Probe,
    /// What the marker gets: not correct, and a score of 0.
    FailClosed,
    /// One of these statuses.
    Refused(Vec<u16>),
}

impl Spec {
    /// Reads a file.
    #[must_use]
    pub fn read(text: &str) -> Option<Spec> {
        let json = json::read(text.as_bytes()).ok()?;
        let request = json.member("request")?;
        let method = match request.member("method").and_then(Json::text) {
            None => "POST",
            Some("GET") => "GET",
            Some(_) => return None,
        };
        let bytes = match (request.member("candidate"), request.member("body")) {
            (Some(candidate), None) => Some(candidate_body(candidate.source(text.as_bytes()))),
            (None, Some(body)) => Some(body.text()?.as_bytes().to_vec()),
            (None, None) if method != "POST" => None,
            _ => return None,
        };
        let body = match bytes {
            Some(bytes) => Some(cut(bytes, request.member("cut"))?),
            None => None,
        };
        let id = json.member("id")?.text()?.to_owned();
        Some(Spec { id, method, body, expect: expectation(json.member("expect")?)? })
    }
}

/// `{"candidate": …}` around the bytes of a candidate, which are sent as they are.
#[must_use]
pub(crate) fn candidate_body(candidate: &[u8]) -> Vec<u8> {
    [b"{\"candidate\":", candidate, b"}"].concat()
}

fn cut(bytes: Vec<u8>, how: Option<&Json>) -> Option<Body> {
    let Some(how) = how else { return Some(Body::whole(bytes)) };
    if how.text() == Some("every_byte") {
        return Some(Body::in_pieces_of(&bytes, 1));
    }
    let json::Value::Array(offsets) = &how.value else { return None };
    let offsets: Option<Vec<usize>> = offsets
        .iter()
        .map(
            |offset| if let json::Value::Number(number) = &offset.value { number.parse().ok() } else { None },
        )
        .collect();
    Some(Body::cut(&bytes, &offsets?))
}

fn expectation(json: &Json) -> Option<Expectation> {
    match json.text() {
        Some("verdict") => return Some(Expectation::Verdict),
        Some("probe") => return Some(Expectation::Probe),
        Some("fail_closed") => return Some(Expectation::FailClosed),
        _ => {}
    }
    let json::Value::Array(statuses) = &json.member("refused")?.value else { return None };
    let status =
        |json: &Json| if let json::Value::Number(number) = &json.value { number.parse().ok() } else { None };
    statuses.iter().map(status).collect::<Option<Vec<u16>>>().map(Expectation::Refused)
}
