//! How cases about keys are played.

use super::Outcome;
use super::calls::probe_body;
use super::labelled::built_in;
use super::stage::{Call, Kind, Seen, Stage};
use crate::case::Procedure;
use crate::client::Body;
use crate::finding::Finding;
use crate::keys::Key;

pub(super) async fn procedure(stage: &Stage<'_>, id: &str, procedure: Procedure) -> Outcome {
    match procedure {
        Procedure::WrongKey => {
            probe_with(stage, id, Some(stage.plan.keys.wrong.bearer())).await.expect_refusal(&[401])
        }
        Procedure::SimilarKeys => similar_keys(stage, id).await,
        Procedure::RefusedBeforeBody => before_body(stage, id).await,
        Procedure::RefusedBeforeParsing => {
            let body = Body::whole(b"{\"candidate\": kit-canary, which is not JSON".to_vec());
            let call = stage.post(id, Kind::Probe, body);
            stage.ask(Call { authorization: None, ..call }).await.expect_refusal(&[401])
        }
        Procedure::Challenge => {
            let seen = probe_with(stage, id, None).await;
            seen.when_refused(401, seen.challenges_bearer, Finding::NoChallenge)
        }
        Procedure::SchemeCase => {
            let lower = stage.plan.keys.endpoint.as_ref().map(Key::lower_case_bearer);
            probe_with(stage, id, lower).await.expect_verdict()
        }
        _ => probe_with(stage, id, None).await.expect_refusal(&[401]),
    }
}

/// The probe with another `Authorization`, or none.
pub(super) async fn probe_with(stage: &Stage<'_>, id: &str, authorization: Option<String>) -> Seen {
    let call = stage.post(id, Kind::Probe, probe_body());
    stage.ask(Call { authorization, ..call }).await
}

async fn similar_keys(stage: &Stage<'_>, id: &str) -> Outcome {
    let keys = stage.plan.keys.endpoint.as_ref().map(Key::near_misses).unwrap_or_default();
    for key in keys {
        let outcome = probe_with(stage, id, Some(key.bearer())).await.expect_refusal(&[401]);
        if outcome != Outcome::Passed {
            return outcome;
        }
    }
    Outcome::Passed
}

/// Without a key, and with a body that does not end: the refusal has to come from the head alone.
async fn before_body(stage: &Stage<'_>, id: &str) -> Outcome {
    let body = Body::cut(&built_in(), &[20]).without_end();
    let call = stage.post(id, Kind::HeldUp, body);
    let seen = stage.ask(Call { authorization: None, budget: stage.plan.timing.probe, ..call }).await;
    match (seen.trouble, seen.status) {
        // Its deadline for bodies may be shorter than this budget.
        (Some(Finding::TimedOut | Finding::ClosedEarly), _) | (_, Some(408)) => {
            seen.fail(Finding::WaitedForBody)
        }
        _ => seen.expect_refusal(&[401]),
    }
}
