//! Reports: one set of facts, four ways to write it. Words of the kit's own and numbers, nothing else.

mod html;
mod json;
mod junit;
pub(crate) mod latency;
mod table;

use std::time::Duration;

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::case::Severity;
use crate::client::Version;
use crate::keys::Keys;
use crate::run::{Findings, Outcome, Plan, Played};
use latency::Latency;

/// All that the reports say.
#[derive(Debug)]
pub struct Report {
    /// The endpoint's URL. Registration's rules keep credentials out of it.
    pub url: String,
    /// `public` or `authenticated`.
    pub access: &'static str,
    /// What the calls were made with.
    pub protocol: &'static str,
    /// The endpoint is plain http, which Millwork refuses.
    pub not_registrable: bool,
    /// A recommended case that fails fails the run.
    pub strict: bool,
    /// Whose authorities were trusted.
    pub trust: &'static str,
    /// When it was written, UTC.
    pub at: String,
    /// What was found.
    pub findings: Findings,
}

/// How many cases had which outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Passed.
    pub passed: usize,
    /// Required, and failed.
    pub failed: usize,
    /// Recommended, and failed.
    pub advised: usize,
    /// Not judged.
    pub not_judged: usize,
    /// Not applicable.
    pub not_applicable: usize,
}

/// A report that would have held a key was not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the report would have held a key, so it was not written; give cases and path names that hold no key"
)]
pub struct Leak;

impl Report {
    /// The report of a run.
    #[must_use]
    pub fn new(plan: &Plan, findings: Findings, strict: bool, own_authorities: bool) -> Report {
        let endpoint = plan.client.endpoint();
        Report {
            url: endpoint.to_string(),
            access: plan.access.word(),
            protocol: if plan.version == Version::Http2 { "HTTP/2" } else { "HTTP/1.1" },
            not_registrable: !endpoint.tls,
            strict,
            trust: match (endpoint.tls, own_authorities) {
                (false, _) => "none: plain http",
                (true, true) => "the authorities of --ca-file",
                (true, false) => "Mozilla's authorities, as Node has them",
            },
            at: now(),
            findings,
        }
    }

    /// How the cases came out.
    #[must_use]
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for played in &self.findings.played {
            let count = match (&played.outcome, played.case.severity) {
                (Outcome::Passed, _) => &mut totals.passed,
                (Outcome::Failed(_), Severity::Required) => &mut totals.failed,
                (Outcome::Failed(_), Severity::Recommended) => &mut totals.advised,
                (Outcome::NotJudged, _) => &mut totals.not_judged,
                (Outcome::NotApplicable, _) => &mut totals.not_applicable,
            };
            *count += 1;
        }
        totals
    }

    /// Whether the run ends well.
    #[must_use]
    pub fn passed(&self) -> bool {
        let totals = self.totals();
        totals.failed == 0 && (!self.strict || totals.advised == 0)
    }

    /// For the terminal.
    ///
    /// # Errors
    /// [`Leak`]; so do all of these.
    pub fn table(&self, keys: &Keys) -> Result<String, Leak> {
        guarded(table::write(self), keys)
    }

    /// As JSON.
    ///
    /// # Errors
    /// [`Leak`].
    pub fn json(&self, keys: &Keys) -> Result<String, Leak> {
        guarded(json::write(self), keys)
    }

    /// As JUnit's XML.
    ///
    /// # Errors
    /// [`Leak`].
    pub fn junit(&self, keys: &Keys) -> Result<String, Leak> {
        guarded(junit::write(self), keys)
    }

    /// As one page.
    ///
    /// # Errors
    /// [`Leak`].
    pub fn html(&self, keys: &Keys) -> Result<String, Leak> {
        guarded(html::write(self), keys)
    }

    /// The failed cases, required ones first.
    fn failed(&self) -> Vec<&Played> {
        let mut failed: Vec<&Played> = self
            .findings
            .played
            .iter()
            .filter(|played| matches!(played.outcome, Outcome::Failed(_)))
            .collect();
        failed.sort_by_key(|played| played.case.severity != Severity::Required);
        failed
    }

    /// Latency of probes and refusals, and of evaluations.
    fn latencies(&self) -> [(&'static str, Duration, Latency); 2] {
        let of = |evaluation: bool| {
            let times = self.findings.times.iter().filter(|timed| timed.evaluation == evaluation);
            Latency::of(times.map(|timed| timed.took).collect())
        };
        let budgets = crate::contract::Timing::CONTRACT;
        [("probes and refusals", budgets.probe, of(false)), ("evaluations", budgets.run, of(true))]
    }

    /// What one case's calls took together.
    fn time_of(&self, id: &str) -> Duration {
        self.findings.times.iter().filter(|timed| timed.id == id).map(|timed| timed.took).sum()
    }

    /// Name and value of what is worth knowing about how the run was made.
    fn environment(&self) -> Vec<(&'static str, String)> {
        let tls = self.findings.session.map_or("none", |session| session.tls);
        vec![
            ("Kit", format!("{} {}", env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))),
            ("Contract", contract()),
            ("Endpoint", self.url.clone()),
            ("Access", self.access.to_owned()),
            ("Protocol", self.protocol.to_owned()),
            ("TLS", tls.to_owned()),
            ("Trust", self.trust.to_owned()),
            ("Platform", format!("{} {}", std::env::consts::OS, std::env::consts::ARCH)),
            ("Time", self.at.clone()),
            ("Duration", format!("{} ms", self.findings.took.as_millis())),
        ]
    }

    /// One sentence.
    fn headline(&self) -> String {
        let totals = self.totals();
        let plural = |count: usize| if count == 1 { "case" } else { "cases" };
        match (totals.failed, totals.advised) {
            (0, 0) => "All cases passed.".to_owned(),
            (0, advised) => {
                format!("All required cases passed; {advised} recommended {} did not.", plural(advised))
            }
            (failed, 0) => format!("{failed} required {} failed.", plural(failed)),
            (failed, advised) => {
                format!(
                    "{failed} required {} failed, and {advised} recommended {}.",
                    plural(failed),
                    plural(advised)
                )
            }
        }
    }
}

const NOT_REGISTRABLE: &str = "NOT REGISTRABLE: the endpoint is plain http, and Millwork calls https alone.";

fn contract() -> String {
    let text = |name| crate::contract::section(name).and_then(serde_json::Value::as_str).unwrap_or_default();
    format!("{} {}", text("contract_id"), text("contract_version"))
}

fn now() -> String {
    let now = OffsetDateTime::now_utc();
    now.replace_nanosecond(0).unwrap_or(now).format(&Rfc3339).unwrap_or_default()
}

fn guarded(text: String, keys: &Keys) -> Result<String, Leak> {
    if keys.is_in(text.as_bytes()) { Err(Leak) } else { Ok(text) }
}

/// The word for an outcome.
const fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => "passed",
        Outcome::Failed(_) => "failed",
        Outcome::NotJudged => "not judged",
        Outcome::NotApplicable => "not applicable",
    }
}

/// A finding of one case, with the statuses it came with and the cases whose calls showed it.
struct Told {
    finding: crate::finding::Finding,
    statuses: Vec<u16>,
    at: Vec<String>,
}

/// The findings of one case, each once.
fn told(outcome: &Outcome) -> Vec<Told> {
    let Outcome::Failed(occurrences) = outcome else { return Vec::new() };
    let mut told: Vec<Told> = Vec::new();
    for occurrence in occurrences {
        let known = told.iter().position(|told| told.finding == occurrence.finding).unwrap_or(told.len());
        if known == told.len() {
            told.push(Told { finding: occurrence.finding, statuses: Vec::new(), at: Vec::new() });
        }
        if let Some(told) = told.get_mut(known) {
            told.statuses.extend(occurrence.status.filter(|status| !told.statuses.contains(status)));
            told.at.extend(occurrence.at.clone().filter(|id| !told.at.contains(id)));
        }
    }
    told
}

impl Told {
    /// Where it was seen, in at most five names.
    fn places(&self) -> String {
        const MOST: usize = 5;
        let statuses: Vec<String> = self.statuses.iter().map(u16::to_string).collect();
        let mut parts = Vec::new();
        if !statuses.is_empty() {
            parts.push(format!("status {}", statuses.join(", ")));
        }
        if !self.at.is_empty() {
            let named: Vec<&str> = self.at.iter().take(MOST).map(String::as_str).collect();
            let more = self.at.len().saturating_sub(MOST);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            parts.push(format!("at {}{more}", named.join(", ")));
        }
        parts.join("; ")
    }
}
