//! The verdict, and the bytes of the answer.

use super::anchors::Anchors;
use super::tool_call::CallFinding;
use crate::{argument, profile};

/// The fixed answer to a candidate that carries the probe's marker: valid, negative, without anchors.
pub const PROBE_ANSWER: &[u8] = br#"{"is_correct":false,"quality_score":0}"#;

/// A judgement with what led to it.
#[derive(Debug)]
pub struct Evaluation<'a> {
    /// What is answered.
    pub verdict: Verdict,
    /// Why.
    pub finding: Finding<'a>,
}

/// What a check found.
#[derive(Debug)]
pub enum Finding<'a> {
    /// The probe's marker, so no check ran.
    Probe,
    /// Arguments that were checked.
    Arguments(argument::Check<'a>),
    /// Arguments that cannot be assessed.
    ArgumentsRefused(argument::Refusal),
    /// Tool calls, one after the other; none where the candidate holds none.
    Calls(Vec<CallFinding<'a>>),
    /// A value that JSON Schema validated.
    Instance(crate::json_schema::Outcome),
    /// A value that JSON Schema cannot validate.
    InstanceRefused(super::json_schema::Refusal),
    /// A catalogue that was profiled.
    Profile(profile::Profile),
    /// A catalogue that is not in contract.
    CatalogueRefused(profile::Refusal),
}

impl Evaluation<'_> {
    /// The named metrics: counts that a dock may aggregate. They are never sent (decision C9), and there are none
    /// of a catalogue, whose counts nobody may see.
    #[must_use]
    pub fn named_metrics(&self) -> Vec<(&'static str, u64)> {
        let checks: Vec<&argument::Check<'_>> = match &self.finding {
            Finding::Arguments(check) => vec![check],
            Finding::Calls(calls) => calls.iter().filter_map(CallFinding::check).collect(),
            _ => return Vec::new(),
        };
        let checks = checks.iter();
        vec![
            ("nodes_visited", checks.clone().map(|check| check.nodes_visited()).sum()),
            ("nodes_held", checks.clone().map(|check| check.nodes_held()).sum()),
            ("repairs", checks.clone().map(|check| check.count_repairs() as u64).sum()),
            ("defects", checks.map(|check| check.count_defects() as u64).sum()),
        ]
    }
}

/// What Millwork is answered about a candidate.
#[derive(Debug, Clone)]
pub enum Verdict {
    /// The candidate carries the probe's marker: [`PROBE_ANSWER`].
    Probe,
    /// A check has an opinion.
    Judged {
        /// Whether every required anchor held.
        is_correct: bool,
        /// How much of it is good.
        score: Score,
        /// Which rules held.
        anchors: Anchors,
    },
}

/// A quotient from 0 to 1: of arguments, the nodes that hold as submitted of those visited; of a catalogue, whether
/// it was profiled (decision C7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Score {
    /// Nodes that hold.
    pub held: u64,
    /// Nodes visited.
    pub visited: u64,
}

impl Score {
    /// Nothing is good.
    pub const ZERO: Score = Score { held: 0, visited: 1 };
    /// Everything is.
    pub const ONE: Score = Score { held: 1, visited: 1 };

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
        matches!(self, Verdict::Judged { is_correct: true, .. })
    }

    /// `quality_score`: 0 to 1.
    #[must_use]
    pub fn quality_score(&self) -> f64 {
        match self {
            Verdict::Judged { score, .. } => score.quotient(),
            Verdict::Probe => 0.0,
        }
    }

    /// Appends the answer: `{"is_correct":…,"quality_score":…,"anchor_results":{…}}`.
    pub fn write(&self, out: &mut Vec<u8>) {
        let Verdict::Judged { anchors, .. } = self else { return out.extend_from_slice(PROBE_ANSWER) };
        out.reserve(1200);
        out.extend_from_slice(b"{\"is_correct\":");
        out.extend_from_slice(if self.is_correct() { b"true" } else { b"false" });
        out.extend_from_slice(b",\"quality_score\":");
        // Shortest digits, never an exponent: 1 is `1`.
        out.extend_from_slice(self.quality_score().to_string().as_bytes());
        out.extend_from_slice(b",\"anchor_results\":");
        anchors.write(out);
        out.push(b'}');
    }
}
