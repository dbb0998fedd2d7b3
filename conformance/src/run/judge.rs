//! What every answer is held against, whatever the case.

use super::stage::{Kind, Seen};
use crate::case::Rule;
use crate::client::{Answer, Reply};
use crate::finding::Finding;
use crate::json::{self, Json};
use crate::keys::{Keys, contains};
use crate::verdict;

/// Stands in the bodies of the kit that an endpoint has to refuse, so that an echo can be seen.
const CANARY: &[u8] = b"kit-canary";

/// An answer, judged.
pub(super) struct Judged {
    pub(super) seen: Seen,
    pub(super) findings: Vec<(Rule, Finding)>,
}

pub(super) fn judge(kind: Kind, reply: &Reply, keys: &Keys) -> Judged {
    let mut findings = Vec::new();
    let mut seen = Seen {
        status: None,
        verdict: None,
        trouble: None,
        challenges_bearer: false,
        allows_post: false,
        session: reply.session,
    };
    match &reply.answer {
        Err(trouble) => {
            seen.trouble = Some(*trouble);
            findings.extend(rule_of(*trouble, kind).map(|rule| (rule, *trouble)));
        }
        Ok(answer) => {
            seen.status = Some(answer.status);
            seen.challenges_bearer = answer.lists("www-authenticate", "bearer");
            seen.allows_post = answer.lists("allow", "post");
            if (200..300).contains(&answer.status) {
                seen.verdict = success(answer, &mut findings);
            } else {
                error(answer, &mut findings);
            }
            everywhere(answer, keys, &mut findings);
        }
    }
    Judged { seen, findings }
}

/// The rule that a missing answer breaks.
fn rule_of(trouble: Finding, kind: Kind) -> Option<Rule> {
    match (trouble, kind) {
        (Finding::TooLarge, _) => Some(Rule::Size),
        (_, Kind::HeldUp) | (Finding::Http2NotOffered, _) => None,
        (Finding::TimedOut, Kind::Probe) => Some(Rule::ProbeBudget),
        (Finding::TimedOut, _) => Some(Rule::RunBudget),
        _ => Some(Rule::Answers),
    }
}

fn success(answer: &Answer, findings: &mut Vec<(Rule, Finding)>) -> Option<verdict::Verdict> {
    let mut found = |rule, finding| findings.push((rule, finding));
    let json = answer.lists("content-type", "application/json") && answer.field("content-type").is_some();
    if !json {
        found(Rule::MediaType, Finding::MediaType);
    }
    let reading = verdict::read(&answer.body);
    if reading.repeats_a_name {
        found(Rule::RepeatedNames, Finding::RepeatedName);
    }
    match reading.verdict {
        Ok(verdict) => Some(verdict),
        Err(flaws) => {
            for flaw in flaws {
                let of_body = matches!(flaw, Finding::NotJson | Finding::TooDeep | Finding::NotAnObject);
                found(if of_body { Rule::Body } else { Rule::Schema }, flaw);
            }
            None
        }
    }
}

fn error(answer: &Answer, findings: &mut Vec<(Rule, Finding)>) {
    if verdict::read(&answer.body).looks_like_a_verdict {
        findings.push((Rule::ErrorWithoutVerdict, Finding::ErrorWithVerdict));
    }
    if !is_error_code(&answer.body) {
        findings.push((Rule::ErrorCode, Finding::ErrorWithoutCode));
    }
    if contains(&answer.body, CANARY) || answer.fields.iter().any(|(_, value)| contains(value, CANARY)) {
        findings.push((Rule::ErrorEcho, Finding::CandidateEchoed));
    }
}

fn everywhere(answer: &Answer, keys: &Keys, findings: &mut Vec<(Rule, Finding)>) {
    if !answer.lists("cache-control", "no-store") {
        findings.push((Rule::NoStore, Finding::Cacheable));
    }
    if keys.is_in(&answer.body) || answer.fields.iter().any(|(_, value)| keys.is_in(value)) {
        findings.push((Rule::KeyEcho, Finding::KeyEchoed));
    }
}

/// `{"error": code}`, with a code as Millwork shows it. Further members do not matter here.
fn is_error_code(body: &[u8]) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte);
    let json = json::read(body).ok();
    let code = json.as_ref().and_then(|json| json.member("error")).and_then(Json::text);
    code.is_some_and(|code| (1..=64).contains(&code.len()) && code.bytes().all(plain))
}
