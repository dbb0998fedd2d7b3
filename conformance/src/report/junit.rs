//! As JUnit's XML, for build servers. A recommended case that fails counts as skipped, unless the run is strict.

use std::fmt::Write;
use std::time::Duration;

use super::{NOT_REGISTRABLE, Report, told};
use crate::case::Severity;
use crate::markup::escape;
use crate::run::{Outcome, Played};

pub(super) fn write(report: &Report) -> String {
    let counts = |played: &&Played| {
        matches!(played.outcome, Outcome::Failed(_))
            && (report.strict || played.case.severity == Severity::Required)
    };
    let all = report.findings.played.len();
    let failures = report.findings.played.iter().filter(counts).count();
    let passed = report.totals().passed;
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let head = format!(
        "tests=\"{all}\" failures=\"{failures}\" errors=\"0\" skipped=\"{}\" time=\"{}\"",
        all - failures - passed,
        seconds(report.findings.took)
    );
    // Writing to a string does not fail.
    let _ = writeln!(xml, "<testsuites {head}>");
    let at = report.at.trim_end_matches('Z');
    let _ = writeln!(xml, "<testsuite name=\"{}\" {head} timestamp=\"{at}\">", escape(&report.url));
    if report.not_registrable {
        let _ = writeln!(
            xml,
            "<properties><property name=\"registrable\" value=\"{NOT_REGISTRABLE}\"/></properties>"
        );
    }
    for played in &report.findings.played {
        let (class, name) = (played.case.severity.word(), escape(&played.id));
        let time = seconds(report.time_of(&played.id));
        let _ = writeln!(
            xml,
            "<testcase classname=\"{class}\" name=\"{name}\" time=\"{time}\">{}</testcase>",
            inner(played, counts(&played))
        );
    }
    xml.push_str("</testsuite>\n</testsuites>\n");
    xml
}

fn inner(played: &Played, counts: bool) -> String {
    let codes: Vec<&str> = told(&played.outcome).iter().map(|told| told.finding.code()).collect();
    let codes = codes.join(", ");
    match played.outcome {
        Outcome::Passed => String::new(),
        Outcome::NotJudged => "<skipped message=\"not judged: another case says why\"/>".to_owned(),
        Outcome::NotApplicable => "<skipped message=\"not applicable\"/>".to_owned(),
        Outcome::Failed(_) if !counts => format!("<skipped message=\"recommended: {codes}\"/>"),
        Outcome::Failed(_) => {
            let told = told(&played.outcome);
            let lines: Vec<String> = told
                .iter()
                .map(|told| format!("{}: {} {}", told.finding.code(), told.finding.text(), told.places()))
                .chain([format!("Do: {}", played.case.todo)])
                .collect();
            format!("<failure type=\"{codes}\" message=\"{codes}\">{}</failure>", escape(&lines.join("\n")))
        }
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64())
}
