//! As one page that needs nothing else: no script, no font, no picture, no request.

use std::fmt::Write;

use super::latency::{Latency, ms};
use super::{NOT_REGISTRABLE, Report, told, word};
use crate::contract::NOT_PROVED;
use crate::markup::escape;
use crate::run::{Outcome, Played};

const STYLE: &str = include_str!("page.css");

pub(super) fn write(report: &Report) -> String {
    let mut page = String::from("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    page.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    page.push_str("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n");
    // Writing to a string does not fail.
    let _ = body(report, &mut page);
    page
}

fn body(report: &Report, page: &mut String) -> std::fmt::Result {
    let verdict = if report.passed() { "passed" } else { "failed" };
    writeln!(
        page,
        "<title>Dock conformance: {verdict}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>"
    )?;
    if report.not_registrable {
        writeln!(page, "<p class=\"banner\">{}</p>", escape(NOT_REGISTRABLE))?;
    }
    writeln!(page, "<header class=\"{verdict}\"><h1>{}</h1>", escape(&report.headline()))?;
    writeln!(page, "<p><span class=\"url\">{}</span></p></header>", escape(&report.url))?;
    findings(report, page)?;
    totals(report, page)?;
    for (name, budget, latency) in report.latencies() {
        histogram(page, name, &ms(budget), &latency)?;
    }
    cases(report, page)?;
    writeln!(page, "<section><h2>Environment</h2>\n<dl>")?;
    for (name, value) in report.environment() {
        writeln!(page, "<div><dt>{name}</dt><dd>{}</dd></div>", escape(&value))?;
    }
    writeln!(page, "</dl></section>\n<section><h2>What a pass does not prove</h2>\n<ul>")?;
    for line in NOT_PROVED {
        writeln!(page, "<li>{}</li>", escape(line))?;
    }
    writeln!(page, "</ul></section>\n</main>\n</body>\n</html>")
}

fn findings(report: &Report, page: &mut String) -> std::fmt::Result {
    writeln!(page, "<section><h2>Findings</h2>")?;
    let failed = report.failed();
    if failed.is_empty() {
        writeln!(page, "<p>None.</p>")?;
    }
    for played in failed {
        finding(page, played)?;
    }
    for advice in &report.findings.advice {
        let text = prose(advice.text());
        writeln!(
            page,
            "<article class=\"advice\"><h3>{}</h3><p class=\"tag\">advice</p><p>{text}</p></article>",
            advice.code()
        )?;
    }
    writeln!(page, "</section>")
}

fn finding(page: &mut String, played: &Played) -> std::fmt::Result {
    let weight = played.case.severity.word();
    writeln!(
        page,
        "<article class=\"{weight}\"><h3>{}</h3><p class=\"tag\">{weight}</p>",
        escape(&played.id)
    )?;
    for told in told(&played.outcome) {
        let (code, text) = (told.finding.code(), prose(told.finding.text()));
        writeln!(page, "<p><code>{code}</code> {text}</p>")?;
        let places = told.places();
        if !places.is_empty() {
            writeln!(page, "<p class=\"places\">{}</p>", escape(&places))?;
        }
    }
    let (todo, requirement) = (prose(played.case.todo), escape(played.case.requirement));
    writeln!(page, "<p class=\"todo\">{todo}</p><p class=\"places\">Asked for by {requirement}</p></article>")
}

fn totals(report: &Report, page: &mut String) -> std::fmt::Result {
    let totals = report.totals();
    writeln!(page, "<section><h2>Totals</h2>\n<ul class=\"totals\">")?;
    for (count, name) in [
        (totals.passed, "passed"),
        (totals.failed, "required failed"),
        (totals.advised, "recommended failed"),
        (totals.not_judged, "not judged"),
        (totals.not_applicable, "not applicable"),
    ] {
        writeln!(page, "<li><strong>{count}</strong> {name}</li>")?;
    }
    writeln!(page, "</ul></section>")
}

fn histogram(page: &mut String, name: &str, budget: &str, latency: &Latency) -> std::fmt::Result {
    writeln!(page, "<section><h2>Latency of {name}</h2>")?;
    let [p50, p95, p99] = [50, 95, 99].map(|percent| ms(latency.percentile(percent)));
    let (count, max) = (latency.count(), ms(latency.max()));
    writeln!(
        page,
        "<p>{count} calls: p50 {p50}, p95 {p95}, p99 {p99}, max {max}. The budget is {budget}.</p>"
    )?;
    let steps = latency.histogram();
    let most = steps.iter().map(|(_, count)| *count).max().unwrap_or(1).max(1);
    writeln!(page, "<table class=\"histogram\"><tbody>")?;
    for (step, count) in steps {
        let width = count * 100 / most;
        writeln!(
            page,
            "<tr><th scope=\"row\">{step}</th><td><span class=\"bar\" style=\"width:{width}%\"></span></td><td>{count}</td></tr>"
        )?;
    }
    writeln!(page, "</tbody></table></section>")
}

fn cases(report: &Report, page: &mut String) -> std::fmt::Result {
    writeln!(page, "<section><h2>All cases</h2>\n<div class=\"scroll\"><table class=\"cases\">")?;
    writeln!(page, "<thead><tr><th>Case</th><th>Weight</th><th>Outcome</th></tr></thead>\n<tbody>")?;
    for played in &report.findings.played {
        let (id, weight, outcome) = (escape(&played.id), played.case.severity.word(), word(&played.outcome));
        let class = if matches!(played.outcome, Outcome::Failed(_)) { weight } else { "quiet" };
        let shows = prose(played.case.shows);
        writeln!(
            page,
            "<tr class=\"{class}\"><td><code>{id}</code><br><small>{shows}</small></td><td>{weight}</td><td>{outcome}</td></tr>"
        )?;
    }
    writeln!(page, "</tbody></table></div></section>")
}

/// A sentence, with what stands between backticks as code.
fn prose(text: &str) -> String {
    let parts = escape(text);
    let parts = parts.split('`').enumerate();
    parts.map(|(n, part)| if n % 2 == 1 { format!("<code>{part}</code>") } else { part.to_owned() }).collect()
}
