//! As JSON, for programs.

use serde_json::{Value, json};

use super::{Report, contract, told, word};
use crate::contract::NOT_PROVED;
use crate::run::Played;

pub(super) fn write(report: &Report) -> String {
    let totals = report.totals();
    let latency: Vec<Value> = report
        .latencies()
        .iter()
        .map(|(name, budget, latency)| {
            json!({
                "of": name, "count": latency.count(), "budget_ms": millis(*budget),
                "p50_ms": millis(latency.percentile(50)), "p95_ms": millis(latency.percentile(95)),
                "p99_ms": millis(latency.percentile(99)), "max_ms": millis(latency.max()),
                "histogram": latency.histogram().into_iter().map(|(step, count)| json!({"step": step, "count": count})).collect::<Vec<Value>>(),
            })
        })
        .collect();
    let advice =
        report.findings.advice.iter().map(|advice| json!({"advice": advice.code(), "text": advice.text()}));
    let environment =
        report.environment().into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value.into()));
    let document = json!({
        "kit": {"name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION")},
        "contract": contract(),
        "passed": report.passed(),
        "registrable": !report.not_registrable,
        "strict": report.strict,
        "headline": report.headline(),
        "totals": {
            "passed": totals.passed, "required_failed": totals.failed, "recommended_failed": totals.advised,
            "not_judged": totals.not_judged, "not_applicable": totals.not_applicable,
        },
        "cases": report.findings.played.iter().map(|played| case(report, played)).collect::<Vec<Value>>(),
        "advice": advice.collect::<Vec<Value>>(),
        "latency": latency,
        "environment": environment.collect::<serde_json::Map<String, Value>>(),
        "does_not_prove": NOT_PROVED,
    });
    format!("{document:#}\n")
}

fn case(report: &Report, played: &Played) -> Value {
    let findings = told(&played.outcome).into_iter().map(|told| {
        json!({"finding": told.finding.code(), "text": told.finding.text(), "statuses": told.statuses, "at": told.at})
    });
    let findings: Vec<Value> = findings.collect();
    let todo = if findings.is_empty() { Value::Null } else { played.case.todo.into() };
    json!({
        "id": played.id, "case": played.case.id, "severity": played.case.severity.word(),
        "requirement": played.case.requirement, "outcome": word(&played.outcome).replace(' ', "_"),
        "ms": millis(report.time_of(&played.id)), "findings": findings, "do": todo,
    })
}

fn millis(time: std::time::Duration) -> Value {
    // A tenth of a millisecond is as fine as a network's times mean anything.
    let tenths = (time.as_secs_f64() * 10_000.0).round();
    (tenths / 10.0).into()
}
