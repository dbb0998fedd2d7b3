//! The facts of the contract, from its machine-readable form.

use std::sync::LazyLock;
use std::time::Duration;

use serde_json::Value;

/// `contract/verifier-dock.v1.json`.
pub const TEXT: &str = include_str!("../../contract/verifier-dock.v1.json");

/// The contract, read.
pub static CONTRACT: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(TEXT).unwrap_or_default());

/// The most bytes that an answer may have; the connection is cut there.
pub const MAX_RESPONSE_BYTES: usize = 1_048_576;
/// The most bytes that a dock has to take.
pub const MAX_REQUEST_BYTES: usize = 1_048_576;
/// The member that marks a probe.
pub const MARKER: &str = "solverapi_probe";
/// The reserved probe, as a candidate.
pub const PROBE: &str = r#"{"solverapi_probe":"registration_preflight"}"#;
/// How the keys of Millwork accounts begin. No dock must ever get one.
pub const ACCOUNT_KEY_PREFIX: &str = "solverapi_live_";

/// How long things may take.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// The probe, and every request that is refused.
    pub probe: Duration,
    /// An evaluation.
    pub run: Duration,
    /// What the kit spends on sending a slow body.
    pub slow_body: Duration,
}

impl Timing {
    /// What the contract says, and a body slow enough to notice, yet well inside a dock's 5 s.
    pub const CONTRACT: Timing = Timing {
        probe: Duration::from_secs(3),
        run: Duration::from_secs(10),
        slow_body: Duration::from_secs(2),
    };
}

/// What passing does not prove.
pub const NOT_PROVED: &[&str] = &[
    "That the verdicts are right. Only your labelled cases say anything about that, and only for themselves.",
    "That Millwork's network reaches the endpoint, or that it stays up: this was one run, from one place.",
    "That a verdict stays the same over time, under load, or on every machine behind the name.",
    "That a connection is ready: Millwork decides that when you register it.",
];

/// The answer satisfies the contract's response schema.
#[must_use]
pub fn response_is_valid(answer: &Value) -> bool {
    static SCHEMA: LazyLock<Option<jsonschema::Validator>> = LazyLock::new(|| {
        let schema = CONTRACT.pointer("/response/schema")?;
        jsonschema::draft202012::new(schema).ok()
    });
    SCHEMA.as_ref().is_some_and(|schema| schema.is_valid(answer))
}

/// A section of the contract, by its dotted name.
#[must_use]
pub fn section(name: &str) -> Option<&'static Value> {
    name.split('.').try_fold(&*CONTRACT, |value, member| value.get(member))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_contract() {
        let number = |name: &str| section(name).and_then(Value::as_u64).unwrap();
        assert_eq!(Timing::CONTRACT.probe, Duration::from_millis(number("timing.probe_budget_ms")));
        assert_eq!(Timing::CONTRACT.run, Duration::from_millis(number("timing.run_budget_ms")));
        assert_eq!(MAX_RESPONSE_BYTES as u64, number("timing.max_response_bytes"));
        assert_eq!(MAX_REQUEST_BYTES as u64, number("client.max_request_bytes"));
        let text = |name: &str| section(name).and_then(Value::as_str).unwrap();
        assert_eq!(MARKER, text("client.probe_marker"));
        assert_eq!(ACCOUNT_KEY_PREFIX, text("client.account_key_prefix"));
        assert_eq!(section("reserved_probe.candidate").unwrap().to_string(), PROBE);
        assert!(response_is_valid(section("reserved_probe.expected_body").unwrap()));
        assert!(!response_is_valid(&Value::Null));
    }
}
