//! The verdict, and the bytes of the answer.

use super::anchors::{self, Held};
use crate::argument::{Check, Refusal};

/// The fixed answer to a candidate that carries the probe's marker: valid, negative, without anchors.
pub const PROBE_ANSWER: &[u8] = br#"{"is_correct":false,"quality_score":0}"#;

/// A judgement with what led to it.
#[derive(Debug)]
pub struct Evaluation<'a> {
    /// What is answered.
    pub verdict: Verdict,
    /// The check, if the candidate could be assessed.
    pub check: Option<Check<'a>>,
    /// Why it could not be.
    pub refusal: Option<Refusal>,
}

impl Evaluation<'_> {
    /// The named metrics: counts that a dock may aggregate. They are never sent (decision C9).
    #[must_use]
    pub fn named_metrics(&self) -> Vec<(&'static str, u64)> {
        let Some(check) = &self.check else { return Vec::new() };
        vec![
            ("nodes_visited", check.nodes_visited()),
            ("nodes_held", check.nodes_held()),
            ("repairs", check.count_repairs() as u64),
            ("defects", check.count_defects() as u64),
        ]
    }
}

/// What Millwork is answered about a candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The candidate carries the probe's marker: [`PROBE_ANSWER`].
    Probe,
    /// The candidate cannot be assessed: not correct, score 0.
    Refused {
        /// Why.
        refusal: Refusal,
        /// The guards that held.
        held: Held,
    },
    /// The check ran.
    Assessed {
        /// Whether every required anchor held.
        is_correct: bool,
        /// Nodes that hold as submitted of those visited.
        score: Score,
        /// The anchors that held.
        held: Held,
        /// The anchors of single defects, as JSON strings.
        defects: Vec<Vec<u8>>,
    },
}

/// Nodes that hold as submitted, of those visited (decision C7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Score {
    /// Nodes that hold.
    pub held: u64,
    /// Nodes visited.
    pub visited: u64,
}

impl Score {
    /// The quotient, 0 where nothing was visited.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "a document has fewer than 2^32 nodes")]
    pub fn quotient(self) -> f64 {
        if self.visited == 0 { 0.0 } else { self.held as f64 / self.visited as f64 }
    }
}

impl Verdict {
    /// `is_correct`.
    #[must_use]
    pub fn is_correct(&self) -> bool {
        matches!(self, Verdict::Assessed { is_correct: true, .. })
    }

    /// `quality_score`: 0 to 1.
    #[must_use]
    pub fn quality_score(&self) -> f64 {
        match self {
            Verdict::Assessed { score, .. } => score.quotient(),
            Verdict::Probe | Verdict::Refused { .. } => 0.0,
        }
    }

    /// Appends the answer: `{"is_correct":…,"quality_score":…,"anchor_results":{…}}`.
    pub fn write(&self, out: &mut Vec<u8>) {
        if matches!(self, Verdict::Probe) {
            return out.extend_from_slice(PROBE_ANSWER);
        }
        out.reserve(1200);
        out.extend_from_slice(b"{\"is_correct\":");
        out.extend_from_slice(if self.is_correct() { b"true" } else { b"false" });
        out.extend_from_slice(b",\"quality_score\":");
        // Shortest digits, never an exponent: 1 is `1`.
        out.extend_from_slice(self.quality_score().to_string().as_bytes());
        out.extend_from_slice(b",\"anchor_results\":{");
        match self {
            Verdict::Probe => {}
            Verdict::Refused { refusal, held } => {
                out.extend_from_slice(b"\"assessable\":false,\"");
                out.extend_from_slice(anchors::of_refusal(*refusal).as_bytes());
                out.extend_from_slice(b"\":false,");
                write_anchors(held.guards(), out);
            }
            Verdict::Assessed { held, defects, .. } => {
                write_anchors(held.all(), out);
                for name in defects {
                    out.push(b',');
                    out.extend_from_slice(name);
                    out.extend_from_slice(b":false");
                }
            }
        }
        out.extend_from_slice(b"}}");
    }
}

fn write_anchors(anchors: impl Iterator<Item = (&'static str, bool)>, out: &mut Vec<u8>) {
    for (index, (name, held)) in anchors.enumerate() {
        out.extend_from_slice(if index > 0 { b",\"" } else { b"\"" });
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(if held { b"\":true" } else { b"\":false" });
    }
}
