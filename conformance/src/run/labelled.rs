//! How labelled cases and other families are played.

use super::access::probe_with;
use super::stage::{Kind, Seen, Stage};
use super::{Advice, Occurrence, Outcome, Plan};
use crate::case::{Expected, Family, Labelled, candidate_body};
use crate::client::Body;
use crate::finding::Finding;
use crate::json;
use crate::keys::Key;

pub(super) async fn family(stage: &Stage<'_>, id: &str, family: Family, index: usize) -> Outcome {
    let keys = &stage.plan.keys;
    match family {
        Family::Overlap => {
            let key = keys.overlap.get(index).map(Key::bearer);
            probe_with(stage, id, key).await.expect_verdict()
        }
        Family::Retired => {
            let key = keys.retired.get(index).map(Key::bearer);
            probe_with(stage, id, key).await.expect_refusal(&[401])
        }
        Family::Labelled => match stage.plan.labelled.get(index) {
            Some(case) => labelled(stage, id, case).await,
            None => Outcome::NotApplicable,
        },
        Family::TextMatches => match stage.plan.labelled.get(index) {
            Some(case) => text_matches(stage, id, case).await,
            None => Outcome::NotApplicable,
        },
    }
}

async fn labelled(stage: &Stage<'_>, id: &str, case: &Labelled) -> Outcome {
    let seen = evaluate(stage, id, &case.candidate).await;
    if let Expected::TechnicalFailure(status) = case.expect {
        return match seen.status {
            None => Outcome::NotJudged,
            Some(found) if found == status => Outcome::Passed,
            Some(_) => seen.fail(Finding::WrongFailure),
        };
    }
    let Some(verdict) = &seen.verdict else { return seen.expect_verdict() };
    let differences = case.expect.differs(verdict);
    if differences.is_empty() {
        return Outcome::Passed;
    }
    let found = |finding| Occurrence { finding, at: None, status: seen.status };
    Outcome::Failed(differences.into_iter().map(found).collect())
}

/// The candidate as JSON, and as the text that a model would send.
async fn text_matches(stage: &Stage<'_>, id: &str, case: &Labelled) -> Outcome {
    let text = json::quote(&String::from_utf8_lossy(&case.candidate));
    let structured = evaluate(stage, id, &case.candidate).await;
    let as_text = evaluate(stage, id, text.as_bytes()).await;
    match (&structured.verdict, &as_text.verdict) {
        (Some(one), Some(other)) if one.same_receipt(other) => {
            if one.metrics != other.metrics {
                stage.advise(Advice::MetricsDiffer);
            }
            Outcome::Passed
        }
        (Some(_), Some(_)) => as_text.fail(Finding::TextDiffers),
        // A technical failure has to be one in both forms.
        _ if structured.is_error() && structured.status == as_text.status => Outcome::Passed,
        _ if structured.is_error() || as_text.is_error() => as_text.fail(Finding::TextDiffers),
        _ => Outcome::NotJudged,
    }
}

/// The built-in candidate and every labelled one, twice each.
pub(super) async fn repeatable(stage: &Stage<'_>, id: &str) -> Outcome {
    let labelled = stage.plan.labelled.iter().map(|case| candidate_body(&case.candidate));
    for body in std::iter::once(built_in()).chain(labelled) {
        let ask = async || stage.ask(stage.post(id, Kind::Evaluation, Body::whole(body.clone()))).await;
        let (first, second) = (ask().await, ask().await);
        match (&first.verdict, &second.verdict) {
            (Some(one), Some(other)) if !one.same_receipt(other) => {
                return second.fail(Finding::NotRepeatable);
            }
            (Some(_), Some(_)) => {}
            _ if first.is_error() && first.status == second.status => {}
            _ => return Outcome::NotJudged,
        }
    }
    Outcome::Passed
}

/// A body that any endpoint has to judge.
pub(super) fn built_in() -> Vec<u8> {
    br#"{"candidate":{"labelled_test_input":"kit","list":[1,2,3]}}"#.to_vec()
}

/// The body that tells most about a dock: the first labelled case that has a verdict, if there is one.
pub(super) fn sample(plan: &Plan) -> Vec<u8> {
    let judged = plan.labelled.iter().find(|case| matches!(case.expect, Expected::Verdict { .. }));
    judged.map_or_else(built_in, |case| candidate_body(&case.candidate))
}

async fn evaluate(stage: &Stage<'_>, id: &str, candidate: &[u8]) -> Seen {
    stage.ask(stage.post(id, Kind::Evaluation, Body::whole(candidate_body(candidate)))).await
}
