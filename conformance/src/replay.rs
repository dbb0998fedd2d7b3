//! Sends real candidates as Millwork does, and tells what each receipt would show.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use serde_json::{Value, json};

use crate::case::candidate_body;
use crate::client::{Body, Client, Request, Version};
use crate::contract::{MAX_REQUEST_BYTES, Timing};
use crate::finding::Finding;
use crate::json;
use crate::keys::{Key, Keys};
use crate::report::latency::{Latency, ms};
use crate::verdict;

/// The longest name of an anchor that is shown whole, in characters.
const MAX_NAME: usize = 120;

/// What one receipt would show.
#[derive(Debug, Clone, PartialEq)]
pub struct Receipt {
    /// The line of the candidate, counted from 1.
    pub line: usize,
    /// The verdict, or why there is none.
    pub result: Result<Shown, Missing>,
    /// From the start of the call to the last byte.
    pub took: Duration,
}

/// A verdict on a receipt.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    /// The answer.
    pub is_correct: bool,
    /// The measure beside it.
    pub quality_score: f64,
    /// The anchors, with names that are safe to print.
    pub anchors: Vec<(String, bool)>,
    /// How many metrics were checked and dropped.
    pub metrics_dropped: usize,
}

/// Why a receipt shows no verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Missing {
    /// The status is not 2xx.
    Status(u16),
    /// Something else: no answer, or an invalid one.
    Found(Finding),
}

impl Missing {
    fn text(self) -> String {
        match self {
            Missing::Status(status) => format!("status {status}"),
            Missing::Found(finding) => finding.code().to_owned(),
        }
    }
}

/// A line that is no candidate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// Not JSON.
    #[error("line {0} is not JSON ({1}); each line is one candidate, as JSON")]
    NotJson(usize, json::Trouble),
    /// Over the cap.
    #[error("line {0} makes a body over {MAX_REQUEST_BYTES} bytes, which no dock has to take")]
    TooLong(usize),
    /// None.
    #[error("the file holds no candidate")]
    Empty,
}

/// The candidates of a file, one a line, with their lines. Empty lines do not count.
///
/// # Errors
/// The first [`Trouble`].
pub fn candidates(text: &[u8]) -> Result<Vec<(usize, Vec<u8>)>, Trouble> {
    let mut candidates = Vec::new();
    for (n, line) in text.split(|byte| *byte == b'\n').enumerate() {
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        json::read(line).map_err(|trouble| Trouble::NotJson(n + 1, trouble))?;
        let body = candidate_body(line);
        if body.len() > MAX_REQUEST_BYTES {
            return Err(Trouble::TooLong(n + 1));
        }
        candidates.push((n + 1, body));
    }
    if candidates.is_empty() { Err(Trouble::Empty) } else { Ok(candidates) }
}

/// Sends one candidate.
pub async fn send(client: &Client, keys: &Keys, version: Version, line: usize, body: Vec<u8>) -> Receipt {
    let request = Request {
        method: "POST",
        authorization: keys.endpoint.as_ref().map(Key::bearer),
        body: Some(Body::whole(body)),
        budget: Timing::CONTRACT.run,
        version,
    };
    let reply = client.send(request).await;
    let result = match reply.answer {
        Err(finding) => Err(Missing::Found(finding)),
        Ok(answer) if !(200..300).contains(&answer.status) => Err(Missing::Status(answer.status)),
        Ok(answer) => verdict::read(&answer.body)
            .verdict
            .map(|verdict| shown(verdict, keys))
            .map_err(|flaws| Missing::Found(flaws.first().copied().unwrap_or(Finding::SchemaRefused))),
    };
    Receipt { line, result, took: reply.took }
}

fn shown(verdict: verdict::Verdict, keys: &Keys) -> Shown {
    let anchors = verdict.anchors.unwrap_or_default();
    Shown {
        is_correct: verdict.is_correct,
        quality_score: verdict.quality_score,
        anchors: anchors.into_iter().map(|(name, held)| (clean(&name, keys), held)).collect(),
        metrics_dropped: verdict.metrics.len(),
    }
}

/// An anchor's name, safe for a terminal: no control characters, no key, not endless.
fn clean(name: &str, keys: &Keys) -> String {
    if keys.is_in(name.as_bytes()) {
        return "(withheld: it holds a key)".to_owned();
    }
    let mut clean = String::new();
    for c in name.chars().take(MAX_NAME) {
        // Bidirectional and invisible characters could make a name look like another.
        let plain = c == ' '
            || (!c.is_whitespace()
                && !c.is_control()
                && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'));
        if plain {
            clean.push(c);
        } else {
            clean.extend(c.escape_unicode());
        }
    }
    if name.chars().count() > MAX_NAME {
        clean.push('…');
    }
    clean
}

/// A receipt on a line of the terminal.
#[must_use]
pub fn line(receipt: &Receipt) -> String {
    let (line, took) = (receipt.line, ms(receipt.took));
    match &receipt.result {
        Err(missing) => format!("line {line:>5}  no verdict   {:>20}  {took:>8}", missing.text()),
        Ok(shown) => {
            let answer = if shown.is_correct { "correct" } else { "not correct" };
            let broken: Vec<&str> =
                shown.anchors.iter().filter(|(_, held)| !held).map(|(name, _)| name.as_str()).collect();
            let held = shown.anchors.len() - broken.len();
            let not_held =
                if broken.is_empty() { String::new() } else { format!("; not: {}", broken.join(", ")) };
            let score = format!("score {:.3}", shown.quality_score);
            format!(
                "line {line:>5}  {answer:11}  {score:>20}  {took:>8}  {held} of {} anchors hold{not_held}",
                shown.anchors.len()
            )
        }
    }
}

/// What all receipts come to.
struct Totals<'a> {
    correct: usize,
    not_correct: usize,
    missing: BTreeMap<Missing, usize>,
    /// Anchors that did not hold, and how often.
    broken: BTreeMap<&'a str, usize>,
    latency: Latency,
}

fn totals(receipts: &[Receipt]) -> Totals<'_> {
    let mut totals = Totals {
        correct: 0,
        not_correct: 0,
        missing: BTreeMap::new(),
        broken: BTreeMap::new(),
        latency: Latency::of(receipts.iter().map(|receipt| receipt.took).collect()),
    };
    for receipt in receipts {
        match &receipt.result {
            Ok(shown) => {
                let count = if shown.is_correct { &mut totals.correct } else { &mut totals.not_correct };
                *count += 1;
                for (name, _) in shown.anchors.iter().filter(|(_, held)| !held) {
                    *totals.broken.entry(name).or_default() += 1;
                }
            }
            Err(missing) => *totals.missing.entry(*missing).or_default() += 1,
        }
    }
    totals
}

/// The last lines for the terminal.
#[must_use]
pub fn summary(receipts: &[Receipt]) -> String {
    let totals = totals(receipts);
    let [p50, p95, p99] = [50, 95, 99].map(|percent| ms(totals.latency.percentile(percent)));
    let without: usize = totals.missing.values().sum();
    let mut text = format!(
        "\n{} candidates: {} correct, {} not correct, {without} without a verdict\n\
         p50 {p50}, p95 {p95}, p99 {p99}, max {}\n",
        receipts.len(),
        totals.correct,
        totals.not_correct,
        ms(totals.latency.max())
    );
    // Writing to a string does not fail.
    for (missing, count) in &totals.missing {
        let _ = writeln!(text, "no verdict, {}: {count}", missing.text());
    }
    let mut broken: Vec<(&&str, &usize)> = totals.broken.iter().collect();
    broken.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    for (name, count) in broken {
        let _ = writeln!(text, "did not hold, {name}: {count}");
    }
    text
}

/// All of it as JSON.
#[must_use]
pub fn document(receipts: &[Receipt]) -> String {
    let totals = totals(receipts);
    let millis = |time: Duration| json!((time.as_secs_f64() * 10_000.0).round() / 10.0);
    let receipt = |receipt: &Receipt| match &receipt.result {
        Ok(shown) => json!({
            "line": receipt.line, "verdict": true, "is_correct": shown.is_correct, "quality_score": shown.quality_score,
            "anchor_results": shown.anchors.iter().cloned().collect::<BTreeMap<String, bool>>(),
            "named_metrics_dropped": shown.metrics_dropped, "ms": millis(receipt.took),
        }),
        Err(missing) => {
            json!({"line": receipt.line, "verdict": false, "why": missing.text(), "ms": millis(receipt.took)})
        }
    };
    let missing: BTreeMap<String, usize> =
        totals.missing.iter().map(|(why, count)| (why.text(), *count)).collect();
    let latency = &totals.latency;
    let document = json!({
        "receipts": receipts.iter().map(receipt).collect::<Vec<Value>>(),
        "totals": {
            "candidates": receipts.len(), "correct": totals.correct, "not_correct": totals.not_correct,
            "no_verdict": missing, "anchors_not_held": totals.broken,
            "p50_ms": millis(latency.percentile(50)), "p95_ms": millis(latency.percentile(95)),
            "p99_ms": millis(latency.percentile(99)), "max_ms": millis(latency.max()),
        },
    });
    format!("{document:#}\n")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_a_candidate_as_it_stands() {
        let read = candidates(b"{\"a\": 1.0}\r\n\n\"text\"\n").unwrap();
        assert_eq!(
            read,
            [(1, b"{\"candidate\":{\"a\": 1.0}}".to_vec()), (3, b"{\"candidate\":\"text\"}".to_vec())]
        );
        assert!(matches!(candidates(b"1\n{"), Err(Trouble::NotJson(2, _))));
        assert_eq!(candidates(b"\n"), Err(Trouble::Empty));
        let long = |filling: usize| format!("\"{}\"", "x".repeat(filling));
        let around = "{\"candidate\":\"\"}".len();
        assert_eq!(candidates(long(MAX_REQUEST_BYTES - around + 1).as_bytes()), Err(Trouble::TooLong(1)));
        assert!(candidates(long(MAX_REQUEST_BYTES - around).as_bytes()).is_ok());
    }

    #[test]
    fn names_are_cleaned() {
        let keys = Keys::of("canary-key-123");
        assert_eq!(clean("type_mismatch at $.limit", &keys), "type_mismatch at $.limit");
        assert_eq!(clean("a\u{1b}[31m\n\u{202e}b", &keys), "a\\u{1b}[31m\\u{a}\\u{202e}b");
        assert_eq!(clean("x canary-key-123", &keys), "(withheld: it holds a key)");
        assert_eq!(clean(&"é".repeat(200), &keys).chars().count(), MAX_NAME + 1);
    }
}
