//! The corpora of the criteria, and the command that verifies them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::command::{Ran, run};

const CORPORA: [&str; 2] = ["argument-check", "split-profile"];

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("conformance/corpus/{name}.v1.json"))
}

fn text(name: &str) -> String {
    fs::read_to_string(file(name)).unwrap()
}

fn verify(corpus: &str) -> Ran {
    run(&["corpus", "verify", "-"], corpus)
}

/// The corpus with `from` once replaced.
fn changed(corpus: &str, from: &str, to: &str) -> String {
    assert_eq!(corpus.matches(from).count(), 1, "{from}");
    corpus.replace(from, to)
}

/// The corpus with the part of one case replaced.
fn changed_in(corpus: &str, case: &str, from: &str, to: &str) -> String {
    let start = corpus.find(&format!("\"id\": \"{case}\"")).expect(case);
    let end = corpus[start..].find("\n    }").map_or(corpus.len(), |len| start + len);
    let before = &corpus[start..end];
    assert_eq!(before.matches(from).count(), 1, "{from} in {before}");
    format!("{}{}{}", &corpus[..start], before.replace(from, to), &corpus[end..])
}

/// The lines that name a failed case.
fn failed(ran: &Ran) -> Vec<&str> {
    let lines = ran.out.lines().filter_map(|line| line.strip_prefix("failed: "));
    lines.filter_map(|line| line.split_once(": expected ")).map(|(case, _)| case).collect()
}

#[test]
fn every_case_and_pin_holds() {
    let ran = run(&["corpus", "verify"], "");
    assert_eq!((ran.status, ran.err.as_str()), (0, ""), "{}", ran.out);
    for name in CORPORA {
        let corpus: Value = serde_json::from_str(&text(name)).unwrap();
        let (id, pin) = (corpus["corpus_id"].as_str().unwrap(), corpus["sha256"].as_str().unwrap());
        let count = corpus["cases"].as_array().unwrap().len();
        assert!(count > 100, "{name} has {count} cases");
        let line = format!("{id}: all {count} cases hold; the pin {pin} holds");
        assert!(ran.out.lines().any(|own| own == line), "{}", ran.out);
    }
    assert_eq!(ran.out.lines().count(), CORPORA.len());
}

#[test]
fn files_are_verified_like_what_is_built_in() {
    for name in CORPORA {
        let ran = run(&["corpus", "verify", file(name).to_str().unwrap()], "");
        assert_eq!(ran.status, 0, "{}{}", ran.out, ran.err);
    }
}

#[test]
fn neither_white_space_nor_member_order_counts() {
    for name in CORPORA {
        let corpus: Value = serde_json::from_str(&text(name)).unwrap();
        // serde_json sorts members, as RFC 8785 does but for rare names.
        let ran = verify(&corpus.to_string());
        assert_eq!(ran.status, 0, "{}{}", ran.out, ran.err);
    }
}

#[test]
fn a_changed_byte_breaks_the_pin_alone() {
    for name in CORPORA {
        let corpus = text(name);
        let first = corpus.find("\"shows\": \"").unwrap() + "\"shows\": \"".len();
        let other = if &corpus[first..=first] == "X" { "Y" } else { "X" };
        let ran = verify(&format!("{}{other}{}", &corpus[..first], &corpus[first + 1..]));
        assert_eq!(ran.status, 1);
        assert_eq!(failed(&ran), [""; 0]);
        let id = serde_json::from_str::<Value>(&corpus).unwrap()["corpus_id"].clone();
        let line = format!("failed: the pin of {}: it says ", id.as_str().unwrap());
        assert!(ran.out.starts_with(&line), "{}", ran.out);
        assert!(ran.out.ends_with(" does not hold\n"), "{}", ran.out);
    }
}

#[test]
fn a_wrong_pin_is_told_from_the_right_one() {
    let corpus = text("argument-check");
    let pin = serde_json::from_str::<Value>(&corpus).unwrap()["sha256"].as_str().unwrap().to_owned();
    let wrong = format!("{:0<64}", "0");
    let ran = verify(&changed(&corpus, &pin, &wrong));
    assert_eq!(ran.status, 1);
    let line =
        format!("failed: the pin of millwork-dock/argument-check-corpus/v1: it says {wrong}, and is {pin}\n");
    assert!(ran.out.starts_with(&line), "{}", ran.out);
}

#[test]
fn a_wrong_expectation_fails_and_names_the_case() {
    let wrong = [
        // A verdict, a code, a path, a rule, a refusal.
        ("valid", "\"VALID\"", "\"REPAIRED\""),
        ("array-too-short", "array_too_short", "array_too_long"),
        ("maximum-violation", "$.v\", \"code", "$.w\", \"code"),
        ("r3-number", "\"rule\": \"R3\"", "\"rule\": \"R4\""),
        ("arguments-missing", "arguments_missing", "schema_missing"),
        // A number that is equal but spelt otherwise; members that are equal but in another order.
        (
            "r5-keeps-the-spelling",
            r#"\"repaired\":{\"v\":{\"n\":1.50}}"#,
            r#"\"repaired\":{\"v\":{\"n\":1.5}}"#,
        ),
        ("repairs-as-submitted", r#"{\"c\":1,\"b\":2}"#, r#"{\"b\":2,\"c\":1}"#),
        // Something more, something less.
        ("r4-numbers", "[{ \"path\": \"$.l[0]\", \"code\": \"type_mismatch\" }, ", "["),
        ("missing-required", "\"repairs\": []", "\"repairs\": [{ \"path\": \"$.a\" }]"),
        ("format-is-not-checked", "\"not_checked\": [\"format\"]", "\"not_checked\": []"),
    ];
    each_fails("argument-check", &wrong);
}

#[test]
fn a_wrong_profile_fails_and_names_the_case() {
    let zero = r#""name_share": 1, "description_share": 0"#;
    let wrong = [
        // A share, a reason, a refusal, its rule, the verdict line.
        (
            "just-above-half",
            "\"R-1\": { \"name_share\": 0, \"description_share\": 0.5",
            "\"R-1\": { \"name_share\": 0, \"description_share\": 1",
        ),
        ("empty-catalogue", "empty_catalogue", "empty_definition"),
        ("zero-tools", "zero_tools", "catalogue_missing"),
        ("name-number", "name_not_string", "description_not_string"),
        ("repeated-tool-names", "tools: 2", "tools: 3"),
        // A name, an index, a group, its number.
        ("name-is-proto", "\"index\": 0, \"name\": \"__proto__\"", "\"index\": 0, \"name\": \"proto\""),
        ("name-with-byte-order-mark", "\"index\": 0", "\"index\": 1"),
        ("group-of-three-in-order", "\"indices\": [0, 2, 3]", "\"indices\": [0, 3, 2]"),
        ("groups-numbered-by-first-tool", "{ \"group\": 0,", "{ \"group\": 2,"),
        ("group-of-empty-objects", "\"group_count\": 1", "\"group_count\": 0"),
        // The number of rows, and what they say, where one stands for all.
        ("tools-at-the-cap", "\"times\": 200", "\"times\": 201"),
        ("tools-at-the-cap", "\"reason\": \"empty_definition\" }", "\"reason\": null }"),
        // Half a surrogate pair that is another half.
        ("name-with-lone-surrogate", r#"0,\"name\":\"\\ud800"#, r#"0,\"name\":\"\\ud801"#),
        ("three-bytes-may-be-three-tokens", &format!("\"R-1\": {{ {zero}"), "\"R-1\": { \"name_share\": 1"),
    ];
    each_fails("split-profile", &wrong);
}

/// With each change of one case, that case fails and no other.
fn each_fails(name: &str, wrong: &[(&str, &str, &str)]) {
    let corpus = text(name);
    for (case, from, to) in wrong {
        let ran = verify(&changed_in(&corpus, case, from, to));
        assert_eq!((ran.status, failed(&ran)), (1, vec![*case]), "{}{}", ran.out, ran.err);
        assert!(ran.out.contains(": 1 of "), "{}", ran.out);
    }
}

#[test]
fn what_is_no_corpus_is_said_to_be_none() {
    let small = r#"{"corpus_id":"x","criteria_id":"tool-argument/v1","criteria_revision":"1.0.0","sha256":"","cases":[{"id":"a","request":{},"expect":{"refusal":"schema_missing"}}]}"#;
    assert_eq!(verify(small).status, 1, "only its pin is wrong");
    let wrong = [
        (small, "", "is not JSON"),
        ("\"corpus_id\":\"x\",", "", "standard input is no corpus: it has no text `corpus_id`"),
        (
            "tool-argument/v1",
            "tool-argument/v2",
            "it is for criteria, or a revision of them, that are not these",
        ),
        ("1.0.0", "1.0.1", "it is for criteria, or a revision of them, that are not these"),
        ("\"cases\"", "\"cased\"", "it has no `cases`"),
        ("\"request\"", "\"requests\"", "its case 0 has no object `request`"),
        (
            "\"request\":{}",
            "\"request\":{\"body\":5}",
            "its case 0 has a piece of its body that is neither a text nor",
        ),
        (
            "\"request\":{}",
            "\"request\":{\"body\":[{\"repeat\":\"xx\",\"times\":9223372036854775808}]}",
            "its case 0 has a body of more than 1048576 bytes",
        ),
        ("\"expect\"", "\"expects\"", "its case 0 needs either `expect` or a text `expect_text`"),
        (
            "\"expect\":{\"refusal\":\"schema_missing\"}",
            "\"expect_text\":\"{\"",
            "an expectation that is no JSON",
        ),
        ("\"refusal\"", "\"refused\"", "the expectation of a holds a member that no answer has"),
        (
            "\"expect\":{\"refusal\":\"schema_missing\"}",
            "\"expect\":[]",
            "of a holds no object where there should be one",
        ),
        ("\"refusal\":\"schema_missing\"", "\"repairs\":{}", "of a holds no array where there should be one"),
        ("\"id\":\"a\"", "\"id\":\"a\",\"id\":\"b\"", "a name stands twice in one object"),
        ("\"schema_missing\"", "\"\\ud800\"", "half a surrogate pair"),
        ("\"schema_missing\"", "1e400", "too large for a double"),
    ];
    for (from, to, what) in wrong {
        let ran = verify(&changed(small, from, to));
        assert_eq!(ran.status, 2, "{to}: {}", ran.out);
        assert!(ran.err.contains(what), "{to}: {}", ran.err);
    }
    let deep = changed(
        small,
        "{\"refusal\"",
        &format!("{{\"x\":{}{},\"refusal\"", "[".repeat(300), "]".repeat(300)),
    );
    assert!(verify(&deep).err.contains("it nests deeper than 256 levels"));
    assert_eq!(run(&["corpus", "verify", "no-such-file"], "").status, 5);
}
