//! Labelled cases: an author's own candidates, and the verdicts that they must get.
//!
//! A file holds one such case or a list of them:
//! `{"id", "label", "candidate", "expect": {"is_correct", "quality_score"?: {"min"?, "max"?}, "anchor_results"?}}`, or
//! `"expect": {"technical_failure": {"status": 500}}`.

use crate::json::{self, Json, Value};
use crate::verdict::Verdict;

/// One labelled case.
#[derive(Debug, Clone, PartialEq)]
pub struct Labelled {
    /// Its id.
    pub id: String,
    /// The candidate, byte for byte as the file has it.
    pub candidate: Vec<u8>,
    /// An object or an array.
    pub is_structured: bool,
    /// What it must get.
    pub expect: Expected,
}

/// What a labelled case must get.
#[derive(Debug, Clone, PartialEq)]
pub enum Expected {
    /// A verdict.
    Verdict {
        /// The answer.
        is_correct: bool,
        /// The least score.
        min: f64,
        /// The greatest score.
        max: f64,
        /// Anchors that must have these values; others do not matter.
        anchors: Vec<(String, bool)>,
    },
    /// No verdict, but this status.
    TechnicalFailure(u16),
}

/// Why labelled cases cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LabelledTrouble {
    /// The file is not JSON.
    #[error("{0} is not JSON: {1}")]
    NotJson(String, json::Trouble),
    /// A case is incomplete or wrong.
    #[error("{file}, case {number}: {what}")]
    Case {
        /// The file.
        file: String,
        /// Counted from 1.
        number: usize,
        /// What is wrong.
        what: &'static str,
    },
    /// An id stands there twice.
    #[error("the labelled case {0} is there twice; give each its own id")]
    Twice(String),
    /// Only passes, or only rejections.
    #[error(
        "the labelled cases need at least one that passes and one that is rejected, else nobody sees both verdicts"
    )]
    OneSided,
}

impl Labelled {
    /// Reads files of cases: name and content of each.
    ///
    /// # Errors
    /// The first [`LabelledTrouble`].
    pub fn read_all(files: &[(String, Vec<u8>)]) -> Result<Vec<Labelled>, LabelledTrouble> {
        let mut cases: Vec<Labelled> = Vec::new();
        for (file, bytes) in files {
            let json =
                json::read(bytes).map_err(|trouble| LabelledTrouble::NotJson(file.clone(), trouble))?;
            let entries = if let Value::Array(entries) = &json.value {
                entries.as_slice()
            } else {
                std::slice::from_ref(&json)
            };
            for (n, entry) in entries.iter().enumerate() {
                let wrong = |what| LabelledTrouble::Case { file: file.clone(), number: n + 1, what };
                let case = Labelled::read(entry, bytes).map_err(wrong)?;
                if cases.iter().any(|before| before.id == case.id) {
                    return Err(LabelledTrouble::Twice(case.id));
                }
                cases.push(case);
            }
        }
        let expects = |wanted| {
            cases.iter().any(
                |case| matches!(case.expect, Expected::Verdict { is_correct, .. } if is_correct == wanted),
            )
        };
        if expects(true) && expects(false) { Ok(cases) } else { Err(LabelledTrouble::OneSided) }
    }

    fn read(json: &Json, source: &[u8]) -> Result<Labelled, &'static str> {
        let id = json.member("id").and_then(Json::text).filter(|id| is_plain_id(id));
        let id = id.ok_or("`id` must be 1 to 64 letters, digits or _.- and begin with a letter or digit")?;
        let label = json.member("label").and_then(Json::text).filter(|label| !label.trim().is_empty());
        label.ok_or("`label` must say what the case shows")?;
        let candidate = json.member("candidate").ok_or("`candidate` is missing; null is a candidate too")?;
        let expect = json.member("expect").ok_or("`expect` is missing")?;
        Ok(Labelled {
            id: id.to_owned(),
            candidate: candidate.source(source).to_vec(),
            is_structured: candidate.is_structured(),
            expect: expected(expect)?,
        })
    }
}

impl Expected {
    /// What of `verdict` is not as expected.
    #[must_use]
    pub fn differs(&self, verdict: &Verdict) -> Vec<crate::finding::Finding> {
        use crate::finding::Finding;
        let Expected::Verdict { is_correct, min, max, anchors } = self else {
            return vec![Finding::WrongFailure];
        };
        let held = verdict.anchors.as_deref().unwrap_or_default();
        [
            (Finding::WrongVerdict, verdict.is_correct == *is_correct),
            (Finding::WrongScore, (*min..=*max).contains(&verdict.quality_score)),
            (Finding::WrongAnchors, anchors.iter().all(|anchor| held.contains(anchor))),
        ]
        .into_iter()
        .filter_map(|(finding, holds)| (!holds).then_some(finding))
        .collect()
    }
}

fn expected(json: &Json) -> Result<Expected, &'static str> {
    if let Some(failure) = json.member("technical_failure") {
        let status = failure.member("status").and_then(Json::number);
        return match status {
            Some(500.0) => Ok(Expected::TechnicalFailure(500)),
            Some(504.0) => Ok(Expected::TechnicalFailure(504)),
            _ => Err("`expect.technical_failure.status` must be 500 or 504"),
        };
    }
    let is_correct = json.member("is_correct").and_then(Json::boolean);
    let is_correct = is_correct.ok_or("`expect.is_correct` must be true or false")?;
    let bound = |name: &str, otherwise: f64| {
        let bound = json.member("quality_score").and_then(|range| range.member(name));
        bound.map_or(Ok(otherwise), |bound| {
            bound.number().ok_or("`expect.quality_score` takes numbers `min` and `max`")
        })
    };
    let mut anchors = Vec::new();
    if let Some(json) = json.member("anchor_results") {
        for (name, value) in json.members().ok_or("`expect.anchor_results` must be an object")? {
            anchors.push((name.clone(), value.boolean().ok_or("`expect.anchor_results` holds booleans")?));
        }
    }
    Ok(Expected::Verdict { is_correct, min: bound("min", 0.0)?, max: bound("max", 1.0)?, anchors })
}

/// An id that is safe to print and to put into another id.
fn is_plain_id(id: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    (1..=64).contains(&id.len())
        && id.bytes().all(plain)
        && id.starts_with(|c: char| c.is_ascii_alphanumeric())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use super::*;
    use crate::finding::Finding;

    fn read(text: &str) -> Result<Vec<Labelled>, LabelledTrouble> {
        Labelled::read_all(&[("f.json".to_owned(), text.as_bytes().to_vec())])
    }

    const PASS: &str = r#"{"id":"p","label":"passes","candidate":{"n": 1.0},"expect":{"is_correct":true,
        "quality_score":{"min":0.5},"anchor_results":{"a":true}}}"#;
    const REJECT: &str = r#"{"id":"r","label":"rejected","candidate":"x","expect":{"is_correct":false}}"#;

    #[test]
    fn candidates_stay_as_they_were_written() {
        let cases = read(&format!("[{PASS},{REJECT}]")).unwrap();
        assert_eq!(cases[0].candidate, br#"{"n": 1.0}"#);
        assert_eq!((cases[0].is_structured, cases[1].is_structured), (true, false));
        let verdict = |is_correct, quality_score, a| Verdict {
            is_correct,
            quality_score,
            anchors: Some(vec![("a".to_owned(), a), ("b".to_owned(), false)]),
            metrics: Vec::new(),
        };
        assert_eq!(cases[0].expect.differs(&verdict(true, 0.5, true)), []);
        let all = [Finding::WrongVerdict, Finding::WrongScore, Finding::WrongAnchors];
        assert_eq!(cases[0].expect.differs(&verdict(false, 0.4, false)), all);
    }

    #[test]
    fn mistakes_are_named() {
        let what = |text: &str| match read(text).unwrap_err() {
            LabelledTrouble::Case { what, number: 1, .. } => what,
            other => panic!("{other}"),
        };
        assert!(what(r#"{"id":"a b"}"#).starts_with("`id`"));
        assert!(what(r#"{"id":"a","label":" "}"#).starts_with("`label`"));
        assert!(what(r#"{"id":"a","label":"b"}"#).starts_with("`candidate`"));
        assert!(what(r#"{"id":"a","label":"b","candidate":1}"#).starts_with("`expect` is"));
        assert!(
            what(r#"{"id":"a","label":"b","candidate":1,"expect":{"is_correct":1}}"#)
                .starts_with("`expect.is_c")
        );
        assert_eq!(read(PASS).unwrap_err(), LabelledTrouble::OneSided);
        assert_eq!(read(&format!("[{PASS},{PASS}]")).unwrap_err(), LabelledTrouble::Twice("p".to_owned()));
        assert!(matches!(read("[").unwrap_err(), LabelledTrouble::NotJson(..)));
    }
}
