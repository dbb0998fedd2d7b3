//! The parser against `serde_json`: the same texts accepted, the same values read.
//!
//! Known differences: `serde_json` refuses lone surrogates, numbers over an f64, and depth over 127.

#![no_main]

use libfuzzer_sys::fuzz_target;
use millwork_dock::json::{Document, write_value};

fuzz_target!(|text: &[u8]| {
    let theirs = serde_json::from_slice::<serde_json::Value>(text);
    let ours = match Document::parse(text.to_vec()) {
        Ok(document) => document,
        Err(error) => {
            assert!(theirs.is_err(), "refused: {error}");
            assert!(error.offset <= text.len());
            return;
        }
    };
    let mut written = Vec::new();
    write_value(ours.root(), &mut written);
    let again = Document::parse(written.clone()).expect("what is written is JSON");
    let mut twice = Vec::new();
    write_value(again.root(), &mut twice);
    assert_eq!(written, twice);
    match theirs {
        Ok(value) => assert_eq!(serde_json::from_slice::<serde_json::Value>(&written).unwrap(), value),
        Err(error) => {
            let why = error.to_string();
            let known = ours.has_lone_surrogates()
                || ["surrogate", "hex escape", "out of range", "recursion limit"]
                    .iter()
                    .any(|known| why.contains(known));
            assert!(known, "accepted, but {why}");
        }
    }
});
