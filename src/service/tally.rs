//! What an operation counts of itself, as text for Prometheus. Labels are fixed codes; no figure is on content.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::sync::{Mutex, PoisonError};

use super::Op;
use super::report::Report;
use super::store::ledger::Outcome;
use crate::argument::Rule;

/// The families, with what they count.
const FAMILIES: [(&str, &str); 5] = [
    ("checks_total", "Delivered checks by verdict and by how they were paid."),
    ("prechecks_total", "Granted pre-checks."),
    ("refusals_total", "Bodies that could not be assessed, by refusal code."),
    ("failures_total", "Requests without a report, by code."),
    ("repairs_total", "Repairs in delivered reports, by rule."),
];

/// The counters of one operation in this process.
#[derive(Debug)]
pub struct Tally {
    op: Op,
    /// By family and labels.
    series: Mutex<BTreeMap<(&'static str, String), u64>>,
}

/// How a delivered check was paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payer {
    /// `payment = "none"`.
    Nobody,
    /// A wallet of the operator's own.
    House,
    /// Somebody else.
    Outside,
}

impl Tally {
    /// Counters at zero.
    #[must_use]
    pub fn new(op: Op) -> Tally {
        Tally { op, series: Mutex::default() }
    }

    /// A check's report was delivered.
    pub fn checked(&self, report: &Report, payer: Payer) {
        let verdict = match &report.outcome {
            Outcome::Argument { verdict, .. } => verdict,
            Outcome::Profile { .. } => "PROFILED",
        };
        let payment = match payer {
            Payer::Nobody => "none",
            Payer::House => "house",
            Payer::Outside => "outside",
        };
        self.add("checks_total", format_args!("verdict=\"{verdict}\",payment=\"{payment}\""), 1);
        for (rule, count) in Rule::ALL.iter().zip(report.repairs).filter(|(_, count)| *count > 0) {
            self.add("repairs_total", format_args!("rule=\"{}\"", rule.id()), count);
        }
    }

    /// A pre-check was granted.
    pub fn prechecked(&self) {
        self.add("prechecks_total", format_args!(""), 1);
    }

    /// A body was refused at `endpoint`.
    pub fn refused(&self, endpoint: &str, code: &str) {
        self.add("refusals_total", format_args!("endpoint=\"{endpoint}\",code=\"{code}\""), 1);
    }

    /// A request failed at `endpoint`, or had to pay first.
    pub fn failed(&self, endpoint: &str, code: &str) {
        self.add("failures_total", format_args!("endpoint=\"{endpoint}\",code=\"{code}\""), 1);
    }

    fn add(&self, family: &'static str, labels: fmt::Arguments<'_>, count: u64) {
        let mut series = self.series.lock().unwrap_or_else(PoisonError::into_inner);
        *series.entry((family, labels.to_string())).or_default() += count;
    }

    /// Appends the counters.
    pub fn write(&self, families: &mut Families) {
        let series = self.series.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (family, help) in FAMILIES {
            families.open(family, "counter", help);
            for ((_, labels), count) in series.iter().filter(|((name, _), _)| *name == family) {
                families.add(family, self.op, labels, count);
            }
        }
    }
}

/// Series by family, since a family may stand only once in a text for Prometheus.
#[derive(Default)]
pub struct Families {
    families: BTreeMap<&'static str, Family>,
}

struct Family {
    kind: &'static str,
    help: &'static str,
    lines: String,
}

impl Families {
    /// A family, with or without series.
    pub fn open(&mut self, name: &'static str, kind: &'static str, help: &'static str) {
        self.families.entry(name).or_insert_with(|| Family { kind, help, lines: String::new() });
    }

    /// One series of a family that is open.
    pub fn add(&mut self, name: &'static str, op: Op, labels: &str, value: impl fmt::Display) {
        let Some(family) = self.families.get_mut(name) else { return };
        let (comma, op) = (if labels.is_empty() { "" } else { "," }, op.name());
        // Writing to a string never fails.
        let _ =
            writeln!(family.lines, "millwork_dock_operation_{name}{{op=\"{op}\"{comma}{labels}}} {value}");
    }

    /// Appends the text.
    pub fn write(&self, out: &mut String) {
        for (name, Family { kind, help, lines }) in &self.families {
            let _ = write!(
                out,
                "# HELP millwork_dock_operation_{name} {help}\n# TYPE millwork_dock_operation_{name} {kind}\n{lines}"
            );
        }
    }
}
