//! The reports that are signed: of a check, and of a pre-check. Only what the criteria let out.

use super::Op;
use super::assess::{Assessed, Refusal};
use super::criteria::Statements;
use super::store::ledger::Outcome;
use crate::argument::{self, DefectCode, Rule};
use crate::json::write_string;
use crate::profile;
use crate::utc::Utc;

/// The longest report, in bytes (decision B15).
pub const MAX_REPORT_BYTES: usize = 8 * 1024 * 1024;

/// A report that can be signed, and what the ledger and the counters keep of it.
#[derive(Debug)]
pub struct Report {
    /// The report, one JSON object.
    pub bytes: Vec<u8>,
    /// When the check ended.
    pub at: Utc,
    /// The verdict line, with its time.
    pub verdict_line: String,
    /// For the ledger.
    pub outcome: Outcome,
    /// How many repairs were made by each rule.
    pub repairs: [u64; Rule::ALL.len()],
}

/// The report would be over [`MAX_REPORT_BYTES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge;

/// R-3 where fewer than two tools carry a schema.
const NOT_ASSESSABLE: &str = "NOT-ASSESSABLE";
const ASSESSABLE: &str = "ASSESSABLE";
/// Why it is not.
const R3_REASON: &str = "fewer than two tools carry a schema";

/// The report of a check that ended at `at`.
///
/// # Errors
/// [`TooLarge`].
pub fn check(assessed: &Assessed, statements: &Statements, at: Utc) -> Result<Report, TooLarge> {
    let op = assessed.op();
    let stamp = format!(" — {at}");
    let mut engine = Vec::new();
    let (verdict_line, outcome, repairs) = match assessed {
        Assessed::Argument(check, _) => {
            check.write_report(&stamp, &mut engine, MAX_REPORT_BYTES).map_err(|_| TooLarge)?;
            (check.verdict_line(), argument_outcome(check), repairs(check))
        }
        Assessed::Profile(profile) => {
            profile.write_report(&stamp, &mut engine);
            let outcome = Outcome::Profile {
                tools: wide(profile.tools().len()),
                groups: wide(profile.groups().len()),
                blocks: blocks(profile),
            };
            (profile.verdict_line(), outcome, [0; Rule::ALL.len()])
        }
    };
    let mut bytes = head(op, "check", at);
    // The engine's object becomes part of this one.
    bytes.extend_from_slice(b",");
    bytes.extend_from_slice(engine.get(1..engine.len().saturating_sub(1)).unwrap_or_default());
    bytes.extend_from_slice(b",\"statements\":");
    bytes.extend_from_slice(statements.json().as_bytes());
    bytes.push(b'}');
    if bytes.len() > MAX_REPORT_BYTES {
        return Err(TooLarge);
    }
    Ok(Report { bytes, at, verdict_line: verdict_line + &stamp, outcome, repairs })
}

/// The answer of a pre-check: whether the body can be assessed, and nothing else.
#[must_use]
pub fn precheck(op: Op, assessed: Result<&Assessed, Refusal>, at: Utc) -> Vec<u8> {
    let mut out = head(op, "precheck", at);
    let criteria = match op {
        Op::ArgumentCheck => {
            format!(
                ",\"criteria_id\":\"{}\",\"criteria_version\":\"{}\"",
                argument::CRITERIA_ID,
                argument::CRITERIA_VERSION
            )
        }
        Op::SplitProfile => {
            format!(
                ",\"criteria_id\":\"{}\",\"criteria_revision\":\"{}\"",
                profile::CRITERIA_ID,
                profile::CRITERIA_REVISION
            )
        }
    };
    out.extend_from_slice(criteria.as_bytes());
    let rest = match assessed {
        Ok(Assessed::Argument(..)) => format!(",\"assessability\":\"{ASSESSABLE}\""),
        Ok(Assessed::Profile(profile)) => {
            let [one, two, three] = blocks(profile);
            let reason = if three == ASSESSABLE { "null".to_owned() } else { format!("\"{R3_REASON}\"") };
            let block = |id: &str, value: &str, reason: &str| {
                format!("\"{id}\":{{\"assessability\":\"{value}\",\"reason\":{reason}}}")
            };
            format!(
                ",\"assessability\":\"{ASSESSABLE}\",\"blocks\":{{{},{},{}}}",
                block("R-1", one, "null"),
                block("R-2", two, "null"),
                block("R-3", three, &reason)
            )
        }
        Err(Refusal { code, rule }) => {
            let rule = rule.map_or("null".to_owned(), |rule| format!("\"{rule}\""));
            format!(",\"assessability\":\"{NOT_ASSESSABLE}\",\"refusal\":\"{code}\",\"rule\":{rule}")
        }
    };
    out.extend_from_slice(rest.as_bytes());
    out.push(b'}');
    out
}

/// What every signed answer begins with.
fn head(op: Op, endpoint: &str, at: Utc) -> Vec<u8> {
    let version = env!("CARGO_PKG_VERSION");
    let mut out = b"{\"service\":".to_vec();
    write_string(op.name().as_bytes(), &mut out);
    let rest =
        format!(",\"op\":\"{endpoint}\",\"issued_by\":\"millwork-dock@{version}\",\"issued_at\":\"{at}\"");
    out.extend_from_slice(rest.as_bytes());
    out
}

impl Assessed {
    /// The operation that assessed it.
    #[must_use]
    pub fn op(&self) -> Op {
        match self {
            Assessed::Argument(..) => Op::ArgumentCheck,
            Assessed::Profile(_) => Op::SplitProfile,
        }
    }
}

fn blocks(profile: &profile::Profile) -> [&'static str; 3] {
    let third = if profile.schema_identity_assessable() { ASSESSABLE } else { NOT_ASSESSABLE };
    [ASSESSABLE, ASSESSABLE, third]
}

fn argument_outcome(check: &argument::Check<'_>) -> Outcome {
    let mut met = [false; DefectCode::ALL.len()];
    for defect in check.defects() {
        if let Some(met) =
            DefectCode::ALL.iter().position(|code| *code == defect.code()).and_then(|at| met.get_mut(at))
        {
            *met = true;
        }
    }
    let codes = DefectCode::ALL.iter().zip(met).filter(|(_, met)| *met).map(|(code, _)| code.code());
    Outcome::Argument {
        verdict: check.verdict().code(),
        repairs: wide(check.count_repairs()),
        defects: wide(check.count_defects()),
        defect_codes: codes.collect(),
    }
}

fn repairs(check: &argument::Check<'_>) -> [u64; Rule::ALL.len()] {
    let mut repairs = [0; Rule::ALL.len()];
    for rule in check.rules() {
        if let Some(count) = Rule::ALL.iter().position(|one| *one == rule).and_then(|at| repairs.get_mut(at))
        {
            *count += 1;
        }
    }
    repairs
}

fn wide(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
