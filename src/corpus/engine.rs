//! What the engines answer to a case, as the published operations would.

use crate::argument::{self, Check, ReportTooLarge, Stop, Verdict};
use crate::budget::{Budget, DEFAULT_STEPS};
use crate::json::{Document, write_string};
use crate::profile::tokens::{Tokenizer, WrongVocabulary};
use crate::profile::{self, Caps};

use super::case::Case;
use super::frame::{self, Frame, Others, arranged};

/// The most bytes of a report, far more than any case needs.
const MAX_REPORT_BYTES: usize = 8 << 20;

/// An engine, by the criteria that it follows.
#[derive(Debug, Clone, Copy)]
pub(super) enum Engine {
    Check,
    Profile(&'static Tokenizer),
}

impl Engine {
    /// The engine for these criteria, if there is one.
    ///
    /// # Errors
    /// [`WrongVocabulary`].
    pub(super) fn of(criteria_id: &str, revision: &str) -> Result<Option<Engine>, WrongVocabulary> {
        match (criteria_id, revision) {
            (argument::CRITERIA_ID, argument::CRITERIA_VERSION) => Ok(Some(Engine::Check)),
            (profile::CRITERIA_ID, profile::CRITERIA_REVISION) => {
                Tokenizer::shared().map(|tokenizer| Some(Engine::Profile(tokenizer)))
            }
            _ => Ok(None),
        }
    }

    /// What a case expects, arranged as [`Engine::answer`] is.
    ///
    /// # Errors
    /// What cannot be part of an answer, to be said behind the case's name.
    pub(super) fn expected(self, case: &Case) -> Result<Vec<u8>, String> {
        let frame: &Frame = match self {
            Engine::Check => &frame::CHECK,
            Engine::Profile(_) => &frame::PROFILE,
        };
        arranged(case.expect.root(), frame, Others::Refused)
    }

    /// What the engine answers: JSON, or in words why it has no answer.
    pub(super) fn answer(self, case: &Case) -> Vec<u8> {
        // A published operation reads no more bytes than its cap, and so does not know what stands in them.
        let (cap, over, no_json) = match self {
            Engine::Check => (
                argument::MAX_BODY_BYTES,
                argument::Refusal::BodyOverCap.code(),
                argument::Refusal::InvalidRequestBody.code(),
            ),
            Engine::Profile(_) => (
                Caps::PUBLISHED.body_bytes,
                profile::Refusal::BodyOverCap.code(),
                profile::Refusal::InvalidRequestBody.code(),
            ),
        };
        if case.body.len() > cap {
            return refusal(over, None);
        }
        let Ok(body) = Document::parse(case.body.clone()) else { return refusal(no_json, None) };
        let answer = match self {
            Engine::Check => check(&body, case),
            Engine::Profile(tokenizer) => split_profile(&body, tokenizer),
        };
        answer.unwrap_or_else(|why| format!("nothing: {why}").into_bytes())
    }
}

fn refusal(code: &str, rule: Option<&str>) -> Vec<u8> {
    let rule = rule.map_or(String::new(), |rule| format!(",\"rule\":\"{rule}\""));
    format!("{{\"refusal\":\"{code}\"{rule}}}").into_bytes()
}

fn check(body: &Document, case: &Case) -> Result<Vec<u8>, String> {
    match argument::check_request(body.root(), &mut Budget::of_steps(DEFAULT_STEPS)) {
        Ok(check) => {
            report(&check, case.expect.root().get(b"not_checked").is_some()).map_err(|why| why.to_string())
        }
        Err(Stop::Refused(refused, _)) => Ok(refusal(refused.code(), None)),
        Err(Stop::Exhausted(why)) => Err(why.to_string()),
    }
}

/// Verdict, diff, defects, and with REPAIRED the repaired arguments; what was not checked only where a case asks.
fn report(check: &Check<'_>, with_not_checked: bool) -> Result<Vec<u8>, ReportTooLarge> {
    let mut out = format!("{{\"verdict\":\"{}\",\"repairs\":", check.verdict().code()).into_bytes();
    check.write_diff(&mut out, MAX_REPORT_BYTES)?;
    out.extend_from_slice(b",\"defects\":");
    check.write_defects(&mut out, MAX_REPORT_BYTES)?;
    if check.verdict() == Verdict::Repaired {
        out.extend_from_slice(b",\"repaired\":");
        check.write_arguments(&mut out);
    }
    if with_not_checked {
        out.extend_from_slice(b",\"not_checked\":[");
        for (index, name) in check.not_checked().iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            write_string(name.as_bytes(), &mut out);
        }
        out.push(b']');
    }
    out.push(b'}');
    Ok(out)
}

/// The report as it is published, without what is the same in all of them.
fn split_profile(body: &Document, tokenizer: &Tokenizer) -> Result<Vec<u8>, String> {
    let budget = &mut Budget::of_steps(DEFAULT_STEPS);
    match profile::profile_request(tokenizer, body.root(), Caps::PUBLISHED, budget) {
        Ok(profile) => {
            let mut report = Vec::new();
            profile.write_report("", &mut report);
            let report = Document::parse(report).map_err(|why| format!("a report that is no JSON: {why}"))?;
            arranged(report.root(), &frame::PROFILE, Others::Dropped)
        }
        Err(profile::Stop::Refused(refused)) => Ok(refusal(refused.code(), refused.rule())),
        Err(profile::Stop::Exhausted(why)) => Err(why.to_string()),
    }
}
