//! How single cases are played.

use std::collections::BTreeMap;

use super::stage::{Call, Kind, Seen, Stage};
use super::{Occurrence, Outcome, access, labelled};
use crate::case::{Access, Expectation, Procedure, Spec};
use crate::client::{Body, Version};
use crate::contract::{MAX_REQUEST_BYTES, PROBE};
use crate::finding::Finding;

/// How often the probe is repeated.
const REPEATS: usize = 5;
/// How deep the deep candidate is.
const DEEP: usize = 100;

/// The first call: the probe. Tells what it decides of the cases that everything else rests on.
pub(super) async fn first(stage: &Stage<'_>) -> BTreeMap<&'static str, Outcome> {
    let seen = stage.ask(stage.post("transport.connection", Kind::HeldUp, probe_body())).await;
    let handshake_missing = stage.plan.client.endpoint().tls && seen.session.is_none();
    let connected = !handshake_missing
        && !matches!(
            seen.trouble,
            Some(
                Finding::NameNotResolved
                    | Finding::AddressRefused
                    | Finding::NotConnected
                    | Finding::CertificateExpired
                    | Finding::CertificateWrongName
                    | Finding::CertificateUntrusted
                    | Finding::TlsFailed
                    | Finding::Http2NotOffered
            )
        );
    let mut outcomes = BTreeMap::from([
        ("transport.connection", Outcome::Passed),
        ("transport.no_redirect", Outcome::Passed),
        ("access.accepted", Outcome::Passed),
    ]);
    let public = stage.plan.access == Access::Public;
    let failed = match seen.status {
        None if !connected => Some(("transport.connection", seen.trouble.unwrap_or(Finding::NotConnected))),
        Some(300..=399) => Some(("transport.no_redirect", Finding::Redirected)),
        Some(401 | 403) if public => Some(("access.accepted", Finding::KeyDemanded)),
        Some(401 | 403) => Some(("access.accepted", Finding::KeyRefused)),
        Some(404) => Some(("probe.reserved", Finding::NotFound)),
        Some(411) => Some(("request.chunked_post", Finding::ChunkedRefused)),
        _ => None,
    };
    if let Some((case, finding)) = failed {
        outcomes.insert(case, seen.fail(finding));
        let order = ["transport.connection", "transport.no_redirect", "access.accepted"];
        let behind = order.iter().skip_while(|id| **id != case).skip(1);
        for id in behind {
            outcomes.insert(id, Outcome::NotJudged);
        }
    }
    outcomes
}

/// A case that is a file.
pub(super) async fn file(stage: &Stage<'_>, text: &str) -> Outcome {
    let Some(Spec { id, method, body, expect }) = Spec::read(text) else { return Outcome::NotJudged };
    let kind = if expect == Expectation::Verdict { Kind::Evaluation } else { Kind::Probe };
    let call = stage.post(&id, kind, Body::whole(Vec::new()));
    let seen = stage.ask(Call { method, body, ..call }).await;
    match &expect {
        Expectation::Verdict => seen.expect_verdict(),
        Expectation::Probe => {
            if let Some(verdict) = &seen.verdict {
                stage.remember_probe(verdict);
            }
            seen.expect_verdict()
        }
        Expectation::FailClosed => fail_closed(stage, &id, &seen),
        Expectation::Refused(statuses) => seen.expect_refusal(statuses),
    }
}

/// A case that is more than one plain call.
pub(super) async fn procedure(stage: &Stage<'_>, id: &str, procedure: Procedure) -> Outcome {
    match procedure {
        Procedure::ProbeRepeated => probe_repeated(stage, id).await,
        Procedure::MarkerAlike => marker_alike(stage),
        Procedure::BodyAtCap => {
            stage.ask(stage.post(id, Kind::Evaluation, large_body(MAX_REQUEST_BYTES))).await.expect_verdict()
        }
        Procedure::BodyOverCap => {
            let call = stage.post(id, Kind::Evaluation, large_body(MAX_REQUEST_BYTES + 1));
            stage.ask(call).await.expect_refusal(&[413])
        }
        Procedure::SlowBody => {
            let body = Body::slow(&labelled::built_in(), 6, stage.plan.timing.slow_body);
            stage.ask(stage.post(id, Kind::Slow, body)).await.expect_verdict()
        }
        Procedure::StalledBody => stalled_body(stage, id).await,
        Procedure::InvalidUtf8 => {
            let body = Body::whole(b"{\"candidate\":\"kit-canary \xc3( \xf0\x9f\"}".to_vec());
            stage.ask(stage.post(id, Kind::Probe, body)).await.expect_refusal(&[400])
        }
        Procedure::AllowHeader => {
            let call = stage.post(id, Kind::Probe, Body::whole(Vec::new()));
            let seen = stage.ask(Call { method: "GET", body: None, ..call }).await;
            seen.when_refused(405, seen.allows_post, Finding::NoAllow)
        }
        Procedure::DeepCandidate => {
            let body = format!("{{\"candidate\":{}{}}}", "[".repeat(DEEP), "]".repeat(DEEP));
            stage.ask(stage.post(id, Kind::Evaluation, Body::whole(body.into_bytes()))).await.expect_verdict()
        }
        Procedure::Repeatable => labelled::repeatable(stage, id).await,
        Procedure::Http2Probe => http2(stage, id, probe_body()).await.0,
        Procedure::Http2Verdict => http2_verdict(stage, id).await,
        Procedure::MissingKey
        | Procedure::WrongKey
        | Procedure::SimilarKeys
        | Procedure::RefusedBeforeBody
        | Procedure::RefusedBeforeParsing
        | Procedure::Challenge
        | Procedure::SchemeCase => access::procedure(stage, id, procedure).await,
    }
}

pub(super) fn probe_body() -> Body {
    Body::whole(format!("{{\"candidate\":{PROBE}}}").into_bytes())
}

fn fail_closed(stage: &Stage<'_>, id: &str, seen: &Seen) -> Outcome {
    let Some(verdict) = &seen.verdict else { return seen.expect_verdict() };
    if verdict.is_correct {
        return seen.fail(Finding::MarkerPassed);
    }
    if verdict.quality_score > 0.0 {
        return seen.fail(Finding::MarkerScored);
    }
    stage.remember_marked(id, verdict);
    Outcome::Passed
}

fn marker_alike(stage: &Stage<'_>) -> Outcome {
    let Some(unlike) = stage.marked_unlike_the_probe() else { return Outcome::NotJudged };
    if unlike.is_empty() {
        return Outcome::Passed;
    }
    let at = |id| Occurrence { finding: Finding::MarkerChecked, at: Some(id), status: Some(200) };
    Outcome::Failed(unlike.into_iter().map(at).collect())
}

async fn probe_repeated(stage: &Stage<'_>, id: &str) -> Outcome {
    let mut before = None;
    for _ in 0..REPEATS {
        let seen = stage.ask(stage.post(id, Kind::Probe, probe_body())).await;
        let Some(verdict) = &seen.verdict else { return seen.expect_verdict() };
        if !before.get_or_insert_with(|| verdict.clone()).same_receipt(verdict) {
            return seen.fail(Finding::ProbeChanged);
        }
    }
    Outcome::Passed
}

/// A text candidate in a body of so many bytes.
fn large_body(length: usize) -> Body {
    let (start, end) = (&b"{\"candidate\":\"labelled test input "[..], &b"\"}"[..]);
    let filling = vec![b'x'; length.saturating_sub(start.len() + end.len())];
    Body::in_pieces_of(&[start, &filling, end].concat(), 64 * 1024)
}

async fn stalled_body(stage: &Stage<'_>, id: &str) -> Outcome {
    let body = Body::cut(&labelled::built_in(), &[20]).without_end();
    let seen = stage.ask(stage.post(id, Kind::HeldUp, body)).await;
    match (seen.trouble, seen.status) {
        (Some(Finding::TimedOut), _) => seen.fail(Finding::HeldOpen),
        (_, Some(200..=299)) => seen.fail(Finding::AnsweredIncomplete),
        // Refused or cut off: either bounds it.
        _ => Outcome::Passed,
    }
}

/// A call over HTTP/2, and its outcome as far as the protocol is concerned.
///
/// What fails over it is told by the case itself: Millwork does not need HTTP/2, so no rule for all answers breaks.
async fn http2(stage: &Stage<'_>, id: &str, body: Body) -> (Outcome, Option<Seen>) {
    let call = stage.post(id, Kind::HeldUp, body);
    let seen = stage.ask(Call { version: Version::Http2, ..call }).await;
    match seen.trouble {
        Some(Finding::Http2NotOffered) => (Outcome::NotApplicable, None),
        Some(trouble) => (seen.fail(trouble), None),
        None => (seen.expect_verdict(), Some(seen)),
    }
}

async fn http2_verdict(stage: &Stage<'_>, id: &str) -> Outcome {
    let body = || Body::whole(labelled::sample(stage.plan));
    let (outcome, second) = http2(stage, id, body()).await;
    let Some(second) = second.filter(|_| outcome == Outcome::Passed) else { return outcome };
    let call = stage.post(id, Kind::Evaluation, body());
    let first = stage.ask(Call { version: Version::Http1, ..call }).await;
    match (&first.verdict, &second.verdict) {
        (Some(first), Some(then)) if !first.same_receipt(then) => second.fail(Finding::ProtocolDiffers),
        (Some(_), Some(_)) => Outcome::Passed,
        _ => Outcome::NotJudged,
    }
}

impl Seen {
    /// Failed, with this finding.
    pub(super) fn fail(&self, finding: Finding) -> Outcome {
        Outcome::Failed(vec![Occurrence { finding, at: None, status: self.status }])
    }

    /// A whole answer that is a technical failure.
    pub(super) fn is_error(&self) -> bool {
        self.status.is_some_and(|status| status >= 300)
    }

    /// A valid verdict, whatever it says. A missing or invalid one is another case's finding.
    pub(super) fn expect_verdict(&self) -> Outcome {
        match self.status {
            Some(200..=299) if self.verdict.is_some() => Outcome::Passed,
            None | Some(200..=299) => Outcome::NotJudged,
            Some(_) => self.fail(Finding::NoVerdict),
        }
    }

    /// One of these statuses.
    pub(super) fn expect_refusal(&self, statuses: &[u16]) -> Outcome {
        match self.status {
            None => Outcome::NotJudged,
            Some(status) if statuses.contains(&status) => Outcome::Passed,
            Some(200..=299) => self.fail(Finding::NotRefused),
            Some(_) => self.fail(Finding::StatusUnexpected),
        }
    }

    /// A detail of a refusal; nothing to say where there is no such refusal.
    pub(super) fn when_refused(&self, status: u16, holds: bool, finding: Finding) -> Outcome {
        match self.status {
            Some(found) if found == status && holds => Outcome::Passed,
            Some(found) if found == status => self.fail(finding),
            _ => Outcome::NotJudged,
        }
    }
}
