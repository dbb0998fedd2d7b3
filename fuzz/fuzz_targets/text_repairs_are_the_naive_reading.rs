//! R1 and R2 on any text against the naive second reading of the tests.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use millwork_dock::argument::{Schema, Stop, Submission, check};
use millwork_dock::budget::Budget;
use millwork_dock::json::{Document, Text};

#[allow(dead_code, unused_imports, reason = "the tests use more of it")]
#[path = "../../tests/it/reference/mod.rs"]
mod reference;

static SCHEMA: LazyLock<Schema<'static>> = LazyLock::new(|| {
    let schema = Document::parse(br#"{"type":"object"}"#.to_vec()).unwrap();
    Schema::owned(std::sync::Arc::new(schema)).unwrap()
});

fuzz_target!(|text: &str| {
    if text.bytes().filter(|byte| b"[{".contains(byte)).count() > 100 {
        return;
    }
    let body = reference::J::obj(&[
        ("arguments_text", reference::J::str(text)),
        ("schema", reference::J::obj(&[("type", reference::J::str("object"))])),
    ]);
    let submission = Submission::Text(Text::plain(text.as_bytes()));
    let own = match check(&SCHEMA, submission, &mut Budget::of_steps(10_000_000)) {
        Ok(check) => {
            let mut report = Vec::new();
            check.write_report("", &mut report, usize::MAX).unwrap();
            let report = String::from_utf8(report).unwrap();
            report.rsplit_once(",\"not_checked\":").unwrap().0.to_owned()
        }
        Err(Stop::Refused(refusal, _)) => refusal.code().to_owned(),
        Err(Stop::Exhausted(_)) => panic!("ten million steps for {} bytes", text.len()),
    };
    match reference::check_body(&body) {
        reference::Outcome::Refused(code) => assert_eq!(own, code),
        reference::Outcome::Report(report) => assert_eq!(own, report.text()),
    }
});
