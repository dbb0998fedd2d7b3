//! Whole reports of published bodies against the naive second reading of the tests.

#![no_main]

use libfuzzer_sys::fuzz_target;
use millwork_dock::argument::{Stop, check_request};
use millwork_dock::budget::Budget;
use millwork_dock::json::Document;

#[allow(dead_code, unused_imports, reason = "the tests use more of it")]
#[path = "../../tests/it/reference/mod.rs"]
mod reference;

fuzz_target!(|text: &str| {
    // The naive reading knows few patterns, recurses, and has exponents of at most 38 digits.
    if text.contains("pattern") || text.contains("\\u00") || text.len() > 4_000 {
        return;
    }
    let Ok(body) = Document::parse(text.as_bytes().to_vec()) else { return };
    if long_digits(text) || body.depth() > 100 || body.root().get(b"schema").is_none() {
        return;
    }
    if body.has_repeated_names() {
        return;
    }
    let own = match check_request(body.root(), &mut Budget::of_steps(10_000_000)) {
        Ok(check) => {
            let mut report = Vec::new();
            check.write_report("", &mut report, usize::MAX).unwrap();
            let report = String::from_utf8(report).unwrap();
            report.rsplit_once(",\"not_checked\":").unwrap().0.to_owned()
        }
        Err(Stop::Refused(refusal, _)) if refusal.code().starts_with("arguments_") => {
            refusal.code().to_owned()
        }
        Err(_) => return,
    };
    let naive = reference::parse(&reference::units(text)).unwrap();
    match reference::check_body(&naive) {
        reference::Outcome::Refused(code) => assert_eq!(own, code),
        reference::Outcome::Report(report) => assert_eq!(own, report.text()),
    }
});

fn long_digits(text: &str) -> bool {
    text.as_bytes().windows(30).any(|run| run.iter().all(u8::is_ascii_digit))
}
