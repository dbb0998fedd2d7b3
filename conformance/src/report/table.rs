//! For the terminal: what failed and what to do first, then every case on a line.

use std::fmt::Write;

use super::latency::ms;
use super::{NOT_REGISTRABLE, Report, told, word};
use crate::contract::NOT_PROVED;

pub(super) fn write(report: &Report) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = lines(report, &mut text);
    text
}

fn lines(report: &Report, text: &mut String) -> std::fmt::Result {
    if report.not_registrable {
        writeln!(text, "{NOT_REGISTRABLE}\n")?;
    }
    writeln!(text, "{}\n{} · {} · {}\n", report.headline(), report.url, report.access, report.protocol)?;
    for played in report.failed() {
        writeln!(text, "FAILED  {}  ({})", played.id, played.case.severity.word())?;
        for told in told(&played.outcome) {
            writeln!(text, "  {}: {}", told.finding.code(), told.finding.text())?;
            let places = told.places();
            if !places.is_empty() {
                writeln!(text, "    {places}")?;
            }
        }
        writeln!(text, "  Do: {}\n  Asked for by: {}\n", played.case.todo, played.case.requirement)?;
    }
    let width = report.findings.played.iter().map(|played| played.id.len()).max().unwrap_or(0);
    for played in &report.findings.played {
        let (id, weight) = (&played.id, played.case.severity.word());
        writeln!(text, "{id:width$}  {weight:11}  {}", word(&played.outcome))?;
    }
    let totals = report.totals();
    writeln!(
        text,
        "\n{} passed, {} required failed, {} recommended failed, {} not judged, {} not applicable",
        totals.passed, totals.failed, totals.advised, totals.not_judged, totals.not_applicable
    )?;
    for (name, budget, latency) in report.latencies() {
        let [p50, p95] = [50, 95].map(|percent| ms(latency.percentile(percent)));
        let (count, max) = (latency.count(), ms(latency.max()));
        writeln!(text, "{count} {name}: p50 {p50}, p95 {p95}, max {max}, budget {}", ms(budget))?;
    }
    for advice in &report.findings.advice {
        writeln!(text, "\nAdvice ({}): {}", advice.code(), advice.text())?;
    }
    writeln!(text, "\nWhat a pass does not prove:")?;
    NOT_PROVED.iter().try_for_each(|line| writeln!(text, "- {line}"))
}
