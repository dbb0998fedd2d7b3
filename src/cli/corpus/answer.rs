//! What an engine answers to a case, and what the case expects, both as JSON in one order of members.
//!
//! Members of the answer's own frame may stand in any order in a corpus; the caller's values inside it, such as
//! repaired arguments, may not, and neither may their numbers be spelt in another way.

use millwork_dock::argument::{self, Check, Refusal, Stop, Verdict};
use millwork_dock::budget::{Budget, DEFAULT_STEPS};
use millwork_dock::json::{Document, Kind, Value, write_string, write_value};

use super::case::Case;

/// The most bytes of a report, far more than any case needs.
const MAX_REPORT_BYTES: usize = 8 << 20;

/// The criteria of a corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Criteria {
    ToolArgument,
}

impl Criteria {
    /// The criteria of these names.
    ///
    /// # Errors
    /// Which there are.
    pub(super) fn of(id: &str, revision: &str) -> Result<Criteria, String> {
        match (id, revision) {
            (argument::CRITERIA_ID, argument::CRITERIA_VERSION) => Ok(Criteria::ToolArgument),
            _ => Err(format!(
                "it is for {} {}; known are {} {}",
                id.escape_debug(),
                revision.escape_debug(),
                argument::CRITERIA_ID,
                argument::CRITERIA_VERSION
            )),
        }
    }

    fn frame(self) -> &'static Frame {
        match self {
            Criteria::ToolArgument => &CHECK,
        }
    }
}

/// How the members of an answer are arranged.
enum Frame {
    /// A value, as it stands.
    Value,
    /// An object with some of these members, in this order.
    Members(&'static [(&'static str, &'static Frame)]),
    /// An array of such.
    Items(&'static Frame),
}

const VALUE: Frame = Frame::Value;
const REPAIR: Frame = Frame::Members(&[
    ("path", &VALUE),
    ("rule", &VALUE),
    ("op", &VALUE),
    ("before", &VALUE),
    ("after", &VALUE),
]);
const DEFECT: Frame = Frame::Members(&[("path", &VALUE), ("code", &VALUE)]);
const CHECK: Frame = Frame::Members(&[
    ("refusal", &VALUE),
    ("verdict", &VALUE),
    ("repairs", &Frame::Items(&REPAIR)),
    ("defects", &Frame::Items(&DEFECT)),
    ("repaired", &VALUE),
    ("not_checked", &VALUE),
]);

/// The expectation of a case, arranged as answers are.
///
/// # Errors
/// What cannot be part of an answer, to be said behind the case's name.
pub(super) fn arranged(expect: Value<'_>, criteria: Criteria) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    arrange(expect, criteria.frame(), &mut out)?;
    Ok(out)
}

fn arrange(value: Value<'_>, frame: &Frame, out: &mut Vec<u8>) -> Result<(), String> {
    match frame {
        Frame::Value => write_value(value, out),
        Frame::Items(frame) => {
            if value.kind() != Kind::Array {
                return Err("holds no array where there should be one".to_owned());
            }
            out.push(b'[');
            for (index, item) in value.items().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                arrange(item, frame, out)?;
            }
            out.push(b']');
        }
        Frame::Members(names) => {
            if value.kind() != Kind::Object {
                return Err("holds no object where there should be one".to_owned());
            }
            let known =
                names.iter().filter_map(|(name, frame)| Some((name, value.get(name.as_bytes())?, frame)));
            let mut met = 0;
            for (name, member, frame) in known {
                out.push(if met == 0 { b'{' } else { b',' });
                met += 1;
                write_string(name.as_bytes(), out);
                out.push(b':');
                arrange(member, frame, out)?;
            }
            if met == 0 || met != value.len() {
                return Err("holds a member that no answer has".to_owned());
            }
            out.push(b'}');
        }
    }
    Ok(())
}

/// What the engine answers.
pub(super) fn answer(case: &Case, criteria: Criteria) -> Vec<u8> {
    match criteria {
        Criteria::ToolArgument => check(case),
    }
}

/// The argument check of a body, as the published operation would answer it.
fn check(case: &Case) -> Vec<u8> {
    if case.body.len() > argument::MAX_BODY_BYTES {
        return refusal(Refusal::BodyOverCap.code());
    }
    let Ok(body) = Document::parse(case.body.clone()) else {
        return refusal(Refusal::InvalidRequestBody.code());
    };
    match argument::check_request(body.root(), &mut Budget::of_steps(DEFAULT_STEPS)) {
        Ok(check) => report(&check, case.expect.root().get(b"not_checked").is_some()),
        Err(Stop::Refused(refused, _)) => refusal(refused.code()),
        Err(Stop::Exhausted(_)) => b"no answer: the budget is spent".to_vec(),
    }
}

fn refusal(code: &str) -> Vec<u8> {
    let mut out = b"{\"refusal\":".to_vec();
    write_string(code.as_bytes(), &mut out);
    out.push(b'}');
    out
}

/// Verdict, diff, defects, and with REPAIRED the repaired arguments; what was not checked only where a case asks.
fn report(check: &Check<'_>, with_not_checked: bool) -> Vec<u8> {
    let mut out = format!("{{\"verdict\":\"{}\",\"repairs\":", check.verdict().code()).into_bytes();
    let mut write = || {
        check.write_diff(&mut out, MAX_REPORT_BYTES)?;
        out.extend_from_slice(b",\"defects\":");
        check.write_defects(&mut out, MAX_REPORT_BYTES)
    };
    if write().is_err() {
        return b"no answer: the report is too large".to_vec();
    }
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
    out
}
