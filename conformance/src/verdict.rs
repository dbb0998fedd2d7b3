//! Reads the body of an answer as Millwork does: strictly, converting nothing.

use serde_json::{Map, Number, Value as Plain};

use crate::contract;
use crate::finding::Finding;
use crate::json::{self, Json, Trouble, Value};

/// A valid verdict.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The answer.
    pub is_correct: bool,
    /// The measure beside it.
    pub quality_score: f64,
    /// The named rules, by name; of a repeated name the last. Absent and empty are told apart.
    pub anchors: Option<Vec<(String, bool)>>,
    /// The metrics. They are checked and dropped, as Millwork does, and no receipt shows them.
    pub metrics: Vec<(String, f64)>,
}

impl Verdict {
    /// A receipt would show the same.
    #[must_use]
    pub fn same_receipt(&self, other: &Verdict) -> bool {
        // Both are finite, so this is equality of numbers, 0 and -0 included.
        let same_score = (self.quality_score - other.quality_score).abs() == 0.0;
        self.is_correct == other.is_correct && same_score && self.anchors == other.anchors
    }
}

/// What a body turned out to be.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The verdict, if everything about it is right.
    pub verdict: Result<Verdict, Vec<Finding>>,
    /// It has the members of a verdict, right or wrong.
    pub looks_like_a_verdict: bool,
    /// A name that matters stands there twice.
    pub repeats_a_name: bool,
}

/// Reads a body.
#[must_use]
pub fn read(body: &[u8]) -> Reading {
    let json = match json::read(body) {
        Ok(json) => json,
        Err(trouble) => {
            let finding = if trouble == Trouble::Depth { Finding::TooDeep } else { Finding::NotJson };
            return Reading {
                verdict: Err(vec![finding]),
                looks_like_a_verdict: false,
                repeats_a_name: false,
            };
        }
    };
    let looks = json.member("is_correct").is_some() || json.member("quality_score").is_some();
    let inner = |name: &str| json.member(name).is_some_and(Json::repeats_a_name);
    let repeats = json.repeats_a_name() || inner("anchor_results") || inner("named_metrics");
    Reading { verdict: verdict(&json), looks_like_a_verdict: looks, repeats_a_name: repeats }
}

fn verdict(json: &Json) -> Result<Verdict, Vec<Finding>> {
    if json.members().is_none() {
        return Err(vec![Finding::NotAnObject]);
    }
    let mut flaws = Vec::new();
    let mut note = |flaw: Finding| flaws.push(flaw);
    let is_correct = is_correct(json.member("is_correct")).map_err(&mut note).unwrap_or_default();
    let quality_score = quality_score(json.member("quality_score")).map_err(&mut note).unwrap_or_default();
    let anchors =
        json.member("anchor_results").map(|json| anchors(json).map_err(&mut note).unwrap_or_default());
    let metrics =
        json.member("named_metrics").map(|json| metrics(json).map_err(&mut note).unwrap_or_default());
    if flaws.is_empty() && !contract::response_is_valid(&plain(json)) {
        flaws.push(Finding::SchemaRefused);
    }
    if flaws.is_empty() {
        Ok(Verdict { is_correct, quality_score, anchors, metrics: metrics.unwrap_or_default() })
    } else {
        Err(flaws)
    }
}

fn is_correct(json: Option<&Json>) -> Result<bool, Finding> {
    match &json.ok_or(Finding::IsCorrectMissing)?.value {
        Value::Bool(verdict) => Ok(*verdict),
        Value::Text(_) => Err(Finding::IsCorrectText),
        Value::Number(_) => Err(Finding::IsCorrectNumber),
        _ => Err(Finding::IsCorrectOther),
    }
}

fn quality_score(json: Option<&Json>) -> Result<f64, Finding> {
    let score = json.ok_or(Finding::ScoreMissing)?.number().ok_or(Finding::ScoreNotNumber)?;
    if !score.is_finite() {
        Err(Finding::ScoreNotFinite)
    } else if (0.0..=1.0).contains(&score) {
        Ok(score)
    } else {
        Err(Finding::ScoreOutOfRange)
    }
}

fn anchors(json: &Json) -> Result<Vec<(String, bool)>, Finding> {
    let members = json.members().ok_or(Finding::AnchorsNotObject)?;
    let mut anchors = std::collections::BTreeMap::new();
    for (name, value) in members {
        anchors.insert(name.clone(), value.boolean().ok_or(Finding::AnchorNotBoolean)?);
    }
    Ok(anchors.into_iter().collect())
}

fn metrics(json: &Json) -> Result<Vec<(String, f64)>, Finding> {
    let members = json.members().ok_or(Finding::MetricsNotObject)?;
    let mut metrics = std::collections::BTreeMap::new();
    for (name, value) in members {
        let number = value.number().ok_or(Finding::MetricNotNumber)?;
        if !number.is_finite() {
            return Err(Finding::MetricNotFinite);
        }
        metrics.insert(name.clone(), number);
    }
    Ok(metrics.into_iter().collect())
}

/// The value as the schema validator takes it. A number that is not finite has none, and becomes null; the reader
/// above has named it where it matters.
fn plain(json: &Json) -> Plain {
    match &json.value {
        Value::Null => Plain::Null,
        Value::Bool(boolean) => Plain::Bool(*boolean),
        Value::Number(number) => number
            .parse::<i64>()
            .map(Number::from)
            .ok()
            .or_else(|| Number::from_f64(number.parse().unwrap_or(f64::NAN)))
            .map_or(Plain::Null, Plain::Number),
        Value::Text(text) => Plain::String(text.clone()),
        Value::Array(elements) => Plain::Array(elements.iter().map(plain).collect()),
        Value::Object(members) => {
            let members = members.iter().map(|(name, json)| (name.clone(), plain(json)));
            Plain::Object(members.collect::<Map<String, Plain>>())
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn names_each_flaw() {
        for (body, flaws) in [
            ("", vec![Finding::NotJson]),
            ("{\"is_correct\":true,\"quality_score\":NaN}", vec![Finding::NotJson]),
            ("[]", vec![Finding::NotAnObject]),
            ("{}", vec![Finding::IsCorrectMissing, Finding::ScoreMissing]),
            (r#"{"is_correct":"true","quality_score":1}"#, vec![Finding::IsCorrectText]),
            (r#"{"is_correct":1,"quality_score":1}"#, vec![Finding::IsCorrectNumber]),
            (r#"{"is_correct":null,"quality_score":1}"#, vec![Finding::IsCorrectOther]),
            (r#"{"is_correct":true,"quality_score":"1"}"#, vec![Finding::ScoreNotNumber]),
            (r#"{"is_correct":true,"quality_score":1e400}"#, vec![Finding::ScoreNotFinite]),
            (r#"{"is_correct":true,"quality_score":1.0000001}"#, vec![Finding::ScoreOutOfRange]),
            (r#"{"is_correct":true,"quality_score":-0.1}"#, vec![Finding::ScoreOutOfRange]),
            (r#"{"is_correct":true,"quality_score":1,"anchor_results":[]}"#, vec![Finding::AnchorsNotObject]),
            (
                r#"{"is_correct":true,"quality_score":1,"anchor_results":{"a":1}}"#,
                vec![Finding::AnchorNotBoolean],
            ),
            (
                r#"{"is_correct":true,"quality_score":1,"anchor_results":null}"#,
                vec![Finding::AnchorsNotObject],
            ),
            (r#"{"is_correct":true,"quality_score":1,"named_metrics":1}"#, vec![Finding::MetricsNotObject]),
            (
                r#"{"is_correct":true,"quality_score":1,"named_metrics":{"a":"1"}}"#,
                vec![Finding::MetricNotNumber],
            ),
            (
                r#"{"is_correct":true,"quality_score":1,"named_metrics":{"a":-1e999}}"#,
                vec![Finding::MetricNotFinite],
            ),
        ] {
            assert_eq!(read(body.as_bytes()).verdict, Err(flaws), "{body}");
        }
        let deep =
            format!(r#"{{"is_correct":true,"quality_score":1,"x":{}{}}}"#, "[".repeat(600), "]".repeat(600));
        assert_eq!(read(deep.as_bytes()).verdict, Err(vec![Finding::TooDeep]));
    }

    #[test]
    fn agrees_with_the_schema_of_the_contract() {
        let correct = ["true", "\"true\"", "1", "null", "[]"];
        let scores = ["0", "1", "0.5", "-0", "1.1", "-1", "\"1\"", "null", "1e-400"];
        let extras = [
            "",
            r#","anchor_results":{}"#,
            r#","anchor_results":{"a":true,"b":false}"#,
            r#","anchor_results":{"a":0}"#,
            r#","named_metrics":{"m":-12.5}"#,
            r#","named_metrics":{"m":null}"#,
            r#","anchor_results":[]"#,
            r#","x":"y""#,
        ];
        for correct in correct {
            for score in scores {
                for extra in extras {
                    let body = format!(r#"{{"is_correct":{correct},"quality_score":{score}{extra}}}"#);
                    let schema = contract::response_is_valid(&serde_json::from_str(&body).unwrap());
                    assert_eq!(read(body.as_bytes()).verdict.is_ok(), schema, "{body}");
                }
            }
        }
    }

    #[test]
    fn the_last_of_repeated_names_counts_and_is_noted() {
        let reading = read(br#"{"is_correct":true,"quality_score":1,"is_correct":false}"#);
        assert!(reading.repeats_a_name && !reading.verdict.unwrap().is_correct);
        let reading = read(br#"{"is_correct":true,"quality_score":1,"anchor_results":{"a":true,"a":false}}"#);
        assert_eq!(
            (reading.repeats_a_name, reading.verdict.unwrap().anchors),
            (true, Some(vec![("a".to_owned(), false)]))
        );
    }
}
