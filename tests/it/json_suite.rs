//! JSONTestSuite: what is accepted, what is refused, what R1 and R2 mend, and what values are read.

use std::path::PathBuf;

use millwork_dock::argument::{Refusal, Schema, Stop, Submission, check};
use millwork_dock::budget::{Budget, DEFAULT_STEPS};
use millwork_dock::json::{Document, Text, write_value};

use crate::data;

/// The `i_` texts, which a parser may take or leave, that are accepted: numbers of any size, lone surrogates that
/// are escaped, and any depth. The other 14 are no UTF-8, or begin with a byte order mark.
const EITHER_ACCEPTED: &[&str] = &[
    "i_number_double_huge_neg_exp",
    "i_number_huge_exp",
    "i_number_neg_int_huge_exp",
    "i_number_pos_double_huge_exp",
    "i_number_real_neg_overflow",
    "i_number_real_pos_overflow",
    "i_number_real_underflow",
    "i_number_too_big_neg_int",
    "i_number_too_big_pos_int",
    "i_number_very_big_negative_int",
    "i_object_key_lone_2nd_surrogate",
    "i_string_1st_surrogate_but_2nd_missing",
    "i_string_1st_valid_surrogate_2nd_invalid",
    "i_string_incomplete_surrogate_and_escape_valid",
    "i_string_incomplete_surrogate_pair",
    "i_string_incomplete_surrogates_escape_valid",
    "i_string_invalid_lonely_surrogate",
    "i_string_invalid_surrogate",
    "i_string_inverted_surrogates_U+1D11E",
    "i_string_lone_second_surrogate",
    "i_structure_500_nested_arrays",
];

/// The `n_` texts that closing brackets (R1) or dropping commas (R2) makes JSON.
const REPAIRED: &[&str] = &[
    "n_array_comma_after_close",
    "n_array_extra_comma",
    "n_array_incomplete",
    "n_array_newlines_unclosed",
    "n_array_number_and_comma",
    "n_array_unclosed",
    "n_array_unclosed_trailing_comma",
    "n_array_unclosed_with_object_inside",
    "n_object_trailing_comma",
    "n_structure_comma_instead_of_closing_brace",
    "n_structure_lone-open-bracket",
    "n_structure_open_array_open_object",
    "n_structure_open_array_string",
    "n_structure_open_object",
    "n_structure_unclosed_object",
];

fn files(folder: &str) -> Option<Vec<(String, Vec<u8>)>> {
    let folder = data::path(folder)?;
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let read = |path: PathBuf| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        (name, std::fs::read(path).unwrap())
    };
    Some(paths.into_iter().map(read).collect())
}

#[test]
fn accepts_and_refuses_what_the_suite_says() {
    let Some(files) = files("json-test-suite/test_parsing") else { return };
    let (mut wrong, mut either) = (Vec::new(), Vec::new());
    for (name, text) in &files {
        let result = Document::parse(text.clone());
        if let Err(error) = &result {
            assert!(error.offset <= text.len(), "{name}: {error}");
        }
        match (name.as_bytes()[0], result.is_ok()) {
            (b'y', true) | (b'n' | b'i', false) => {}
            (b'i', true) => either.push(name.as_str()),
            _ => wrong.push(name),
        }
    }
    println!("test_parsing: {} texts", files.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(either, EITHER_ACCEPTED, "{either:#?}");
    assert_eq!(files.len(), 318);
}

#[test]
fn repairs_exactly_fifteen_broken_texts() {
    let Some(files) = files("json-test-suite/test_parsing") else { return };
    let schema = Document::parse(br#"{"type":"object"}"#.to_vec()).unwrap();
    let schema = Schema::compile(schema.root()).unwrap();
    let mut repaired = Vec::new();
    for (name, text) in files.iter().filter(|(name, _)| name.starts_with("n_")) {
        let Ok(text) = std::str::from_utf8(text) else { continue };
        // Few of the texts are objects, which arguments must be, so each is tried as it stands (a text that is
        // mended but no object is refused, one that is not is a defect) and as a member's value.
        let wrapped = format!("{{\"v\":{text}");
        let outcome = |text: &str| {
            let submission = Submission::Text(Text::plain(text.as_bytes()));
            match check(&schema, submission, &mut Budget::of_steps(DEFAULT_STEPS)) {
                Ok(check) => (check.count_defects() == 0, false),
                Err(Stop::Refused(refusal, _)) => (false, refusal == Refusal::ArgumentsNotObject),
                Err(Stop::Exhausted(_)) => panic!("{name}: the budget is spent"),
            }
        };
        let (mended, no_object) = outcome(text);
        if mended || no_object && outcome(&wrapped).0 {
            repaired.push(name.as_str());
        }
    }
    assert_eq!(repaired, REPAIRED, "{repaired:#?}");
    assert_eq!(repaired.len(), 15);
}

#[test]
fn reads_the_values_that_parsers_disagree_about() {
    let Some(files) = files("json-test-suite/test_transform") else { return };
    let mut read = Vec::new();
    for (name, text) in &files {
        let mut out = Vec::new();
        match Document::parse(text.clone()) {
            Ok(document) => write_value(document.root(), &mut out),
            Err(error) => out.extend_from_slice(error.to_string().as_bytes()),
        }
        read.push((name.as_str(), String::from_utf8(out).unwrap()));
    }
    let read: Vec<(&str, &str)> = read.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(read, TRANSFORMED, "{read:#?}");
}

/// The texts of `test_transform`, as they are written again.
const TRANSFORMED: &[(&str, &str)] = &[
    ("number_-9223372036854775808", "[-9223372036854775808]"),
    ("number_-9223372036854775809", "[-9223372036854775809]"),
    ("number_1.0", "[1.0]"),
    ("number_1.000000000000000005", "[1.000000000000000005]"),
    ("number_1000000000000000", "[1000000000000000]"),
    ("number_10000000000000000999", "[10000000000000000999]"),
    ("number_1e-999", "[1E-999]"),
    ("number_1e6", "[1E6]"),
    ("number_9223372036854775807", "[9223372036854775807]"),
    ("number_9223372036854775808", "[9223372036854775808]"),
    ("object_key_nfc_nfd", "{\"é\":\"NFC\",\"e\u{301}\":\"NFD\"}"),
    ("object_key_nfd_nfc", "{\"e\u{301}\":\"NFD\",\"é\":\"NFC\"}"),
    ("object_same_key_different_values", "{\"a\":2}"),
    ("object_same_key_same_value", "{\"a\":1}"),
    ("object_same_key_unclear_values", "{\"a\":-0}"),
    ("string_1_escaped_invalid_codepoint", "[\"\\ud800\"]"),
    ("string_1_invalid_codepoint", "the text is not UTF-8 at byte 2"),
    ("string_2_escaped_invalid_codepoints", "[\"\\ud800\\ud800\"]"),
    ("string_2_invalid_codepoints", "the text is not UTF-8 at byte 2"),
    ("string_3_escaped_invalid_codepoints", "[\"\\ud800\\ud800\\ud800\"]"),
    ("string_3_invalid_codepoints", "the text is not UTF-8 at byte 2"),
    ("string_with_escaped_NULL", "[\"A\\u0000B\"]"),
];

/// Brackets a million deep, closed or not.
#[test]
fn takes_a_million_levels() {
    for (open, close, unit) in [("[", "]", 1), ("{\"a\":", "}", 5)] {
        let levels = 1_000_000;
        let inner = if unit == 1 { "" } else { "1" };
        let text = open.repeat(levels) + inner + &close.repeat(levels);
        let document = Document::parse(text.clone().into_bytes()).unwrap();
        assert_eq!(document.depth(), 1_000_000);
        let mut out = Vec::new();
        write_value(document.root(), &mut out);
        assert!(out == text.as_bytes(), "written as it was read");
        drop(document);
        let unclosed = Document::parse(open.repeat(levels).into_bytes()).unwrap_err();
        assert_eq!(unclosed.offset, levels * unit, "it goes wrong where it ends");
        let crossed = Document::parse((open.repeat(levels) + inner + ")").into_bytes()).unwrap_err();
        assert_eq!(crossed.offset, levels * unit + inner.len());
    }
}

#[test]
fn says_where_a_text_goes_wrong() {
    let cases: &[(&[u8], usize)] = &[
        (b"", 0),
        (b"  ", 2),
        (b"{\"a\":1,}", 7),
        (b"[1,]", 3),
        (b"[1 2]", 3),
        (b"nul", 3),
        (b"nulL", 3),
        (b"1.", 2),
        (b"1.x", 2),
        (b"-", 1),
        (b"01", 1),
        (b"1e+", 3),
        (b"\"a", 2),
        (b"\"a\nb\"", 2),
        (b"{} x", 3),
        (b"\xef\xbb\xbf{}", 0),
        (b"[\"\xff\"]", 2),
        (b"{1:2}", 1),
        (b"{\"a\" 1}", 5),
    ];
    for (text, offset) in cases {
        let error = Document::parse(text.to_vec()).unwrap_err();
        assert_eq!(error.offset, *offset, "{}: {error}", String::from_utf8_lossy(text));
    }
}
