//! What holds of every check whatever the input: nothing invented, nothing changed that the diff does not say,
//! and one verdict however the submission is written down.

use std::collections::BTreeSet;

use millwork_dock::argument::{
    Check, Schema, Stop, Submission, Verdict, check, check_request, replay, replay_text,
};
use millwork_dock::budget::{Budget, DEFAULT_STEPS};
use millwork_dock::dock::{self, AnchorMode, Dock, Finding, Source, candidate};
use millwork_dock::json::{Document, write_value};

use crate::argument_reference::{body, engine};
use crate::generate::{self, Range, Rng};
use crate::reference::{self, J, units, write};

const WIDE: Range = Range { wide: true, repairable: true };

/// The response schema of the published contract.
const RESPONSE: &str = r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":
    {"is_correct":{"type":"boolean"},"quality_score":{"type":"number","minimum":0,"maximum":1},
    "anchor_results":{"type":"object","additionalProperties":{"type":"boolean"}},
    "named_metrics":{"type":"object","additionalProperties":{"type":"number"}}},
    "required":["is_correct","quality_score"],"additionalProperties":true}"#;

fn parse(text: &str) -> Document {
    Document::parse(text.as_bytes().to_vec()).unwrap()
}

fn budget() -> Budget<'static> {
    Budget::of_steps(DEFAULT_STEPS)
}

fn compact(document: &Document) -> Vec<u8> {
    let mut out = Vec::new();
    write_value(document.root(), &mut out);
    out
}

fn arguments(check: &Check<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    check.write_arguments(&mut out);
    out
}

#[test]
fn the_diff_is_the_whole_change() {
    let mut rng = Rng::new(4);
    let (mut valid, mut repaired, mut unrepairable) = (0, 0, 0);
    for _ in 0..20_000 {
        let text = body(&mut rng, WIDE);
        let body = parse(&text);
        let check = match check_request(body.root(), &mut budget()) {
            Ok(check) => check,
            Err(Stop::Refused(..)) => continue,
            Err(Stop::Exhausted(_)) => panic!("{text}"),
        };
        let (structured, raw) = (body.root().get(b"arguments"), body.root().get(b"arguments_text"));
        let raw = raw.map(|raw| raw.as_text().unwrap().decode().into_owned());
        let mut diff = Vec::new();
        check.write_diff(&mut diff, usize::MAX).unwrap();
        match check.verdict() {
            Verdict::Unrepairable => {
                unrepairable += 1;
                assert_eq!((&diff[..], check.count_repairs()), (&b"[]"[..], 0), "{text}");
                assert!(check.count_defects() > 0 && check.nodes_held() <= check.nodes_visited(), "{text}");
            }
            Verdict::Valid => {
                valid += 1;
                let submitted = match (structured, raw) {
                    (Some(value), _) => {
                        let mut out = Vec::new();
                        write_value(value, &mut out);
                        out
                    }
                    (_, raw) => compact(&Document::parse_decoded(raw.unwrap()).unwrap()),
                };
                assert_eq!((&diff[..], arguments(&check)), (&b"[]"[..], submitted), "{text}");
            }
            Verdict::Repaired => {
                repaired += 1;
                let diff = Document::parse(diff).unwrap();
                let replayed = match structured {
                    Some(value) => replay(value, diff.root()),
                    None => replay_text(&raw.unwrap(), diff.root()),
                };
                assert_eq!(replayed.as_ref(), Ok(&arguments(&check)), "{text}");
                holds_when_checked_again(&body, &check, &text);
            }
        }
    }
    println!("{valid} valid, {repaired} repaired and replayed, {unrepairable} unrepairable");
    assert!(valid > 1_000 && repaired > 1_000 && unrepairable > 1_000);
}

fn holds_when_checked_again(body: &Document, first: &Check<'_>, text: &str) {
    let schema = Schema::compile(body.root().get(b"schema").unwrap()).unwrap();
    let blob = Document::parse(arguments(first)).unwrap();
    let second = check(&schema, Submission::Arguments(blob.root()), &mut budget()).unwrap();
    assert_eq!(second.verdict(), Verdict::Valid, "{text}");
    assert_eq!(arguments(&second), arguments(first), "{text}");
}

/// Every leaf of the repaired arguments is spelled like a leaf of the submission (texts in texts read too) or
/// like an enum entry that R9 put there: so no digit, letter or truth value is invented.
#[test]
fn no_leaf_is_invented() {
    let mut rng = Rng::new(5);
    let mut leaves = 0;
    for _ in 0..20_000 {
        let text = body(&mut rng, WIDE);
        let report = engine(&text);
        if !report.contains("\"verdict\":\"REPAIRED\"") {
            continue;
        }
        let report = reference::parse(&units(&(report + "}"))).unwrap();
        let body = reference::parse(&units(&text)).unwrap();
        let mut known = BTreeSet::new();
        match (body.get("arguments"), body.get("arguments_text")) {
            (Some(value), _) => spellings(value, true, &mut known),
            (_, Some(J::Str(raw))) => spellings(&reference::read_text(raw).unwrap(), true, &mut known),
            _ => panic!("{text}"),
        }
        let Some(J::Arr(diff)) = report.get("diff") else { panic!("{text}") };
        for entry in diff.iter().filter(|entry| entry.get("rule") == Some(&J::str("R9"))) {
            spellings(entry.get("after").unwrap(), false, &mut known);
        }
        let mut repaired = BTreeSet::new();
        spellings(report.get("arguments").unwrap(), false, &mut repaired);
        leaves += repaired.len();
        assert!(repaired.is_subset(&known), "{text}\n{:?}", repaired.difference(&known));
    }
    println!("{leaves} leaves of repaired arguments");
    assert!(leaves > 1_000);
}

/// The spelling of each leaf and name; with `nested`, also of those in strings that hold JSON.
fn spellings(value: &J, nested: bool, out: &mut BTreeSet<Vec<u16>>) {
    match value {
        J::Arr(items) => items.iter().for_each(|item| spellings(item, nested, out)),
        J::Obj(members) => {
            for (name, value) in members {
                out.insert(name.clone());
                spellings(value, nested, out);
            }
        }
        J::Str(text) => {
            out.insert(text.clone());
            if let (true, Some(inner)) = (nested, reference::parse(text)) {
                spellings(&inner, true, out);
            }
        }
        leaf => {
            let mut text = String::new();
            write(leaf, &mut text);
            out.insert(units(&text));
        }
    }
}

#[test]
fn white_space_does_not_matter() {
    let mut rng = Rng::new(6);
    let mut reports = 0;
    for _ in 0..10_000 {
        let schema = generate::root_schema(&mut rng, WIDE);
        let arguments = generate::fitting_object(&mut rng, WIDE, &schema);
        let (mut schema_text, mut tight) = (String::new(), String::new());
        write(&schema, &mut schema_text);
        write(&arguments, &mut tight);
        let loose = spaced(&mut rng, &tight);
        let report = |text: &str| {
            let mut quoted = String::new();
            write(&J::str(text), &mut quoted);
            engine(&format!("{{\"arguments_text\":{quoted},\"schema\":{schema_text}}}"))
        };
        let expected = report(&tight);
        assert_eq!(expected, report(&loose), "{schema_text}\n{loose}");
        let structured = engine(&format!("{{\"arguments\":{loose},\"schema\":{schema_text}}}"));
        assert_eq!(expected, structured, "{schema_text}\n{loose}");
        reports += usize::from(expected.starts_with('{'));
    }
    println!("{reports} reports, each three times");
    assert!(reports > 8_000);
}

/// JSON white space put in wherever the grammar lets it stand.
fn spaced(rng: &mut Rng, text: &str) -> String {
    let mut out = String::new();
    let (mut inside, mut escaped) = (false, false);
    for character in text.chars() {
        let structural = !inside && "{}[]:,".contains(character);
        let mut space = |out: &mut String| {
            while structural && rng.percent(40) {
                out.push(rng.pick(&[' ', '\t', '\n', '\r']));
            }
        };
        space(&mut out);
        out.push(character);
        space(&mut out);
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = inside,
            '"' => inside = !inside,
            _ => {}
        }
    }
    out
}

/// What a dock answers: structured and as text the same bytes, in each mode, and always a valid response.
#[test]
fn a_candidate_and_its_text_get_one_answer() {
    let response = jsonschema::validator_for(&serde_json::from_str(RESPONSE).unwrap()).unwrap();
    let mut rng = Rng::new(7);
    let requests = Dock::new(dock::Check::Argument(Source::CheckRequest), AnchorMode::Codes, None).unwrap();
    let (mut answers, mut perfect) = (0, 0);
    for _ in 0..6_000 {
        let schema = generate::root_schema(&mut rng, WIDE);
        let arguments = generate::fitting_object(&mut rng, WIDE, &schema);
        let (mut schema_text, mut text) = (String::new(), String::new());
        write(&schema, &mut schema_text);
        generate::noisy(&mut rng, &arguments, true, &mut text);
        let request = format!("{{\"schema\":{schema_text},\"arguments\":{text}}}");
        let mut judged = vec![(&requests, request)];
        let pinned: Vec<Dock> = [AnchorMode::Codes, AnchorMode::PerDefect]
            .into_iter()
            .map(|mode| {
                let schema = Schema::owned(std::sync::Arc::new(parse(&schema_text))).unwrap();
                let require = if rng.percent(50) { None } else { Some(&[][..]) };
                Dock::new(dock::Check::Argument(Source::Arguments(schema)), mode, require).unwrap()
            })
            .collect();
        judged.extend(pinned.iter().map(|dock| (dock, text.clone())));
        for (dock, text) in judged {
            let mut quoted = String::new();
            write(&J::str(&text), &mut quoted);
            let structured = answer(dock, &text);
            assert_eq!(structured, answer(dock, &quoted), "{schema_text}\n{text}");
            let (is_valid, answer) = structured;
            let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
            assert!(response.is_valid(&answer), "{answer}");
            assert_eq!(
                answer["quality_score"].as_f64() == Some(1.0),
                is_valid,
                "{schema_text}\n{text}\n{answer}"
            );
            answers += 1;
            perfect += usize::from(is_valid);
        }
    }
    println!("{answers} answers, each twice; {perfect} of VALID arguments");
    assert!(perfect > 1_000);
}

/// Whether the verdict of the criteria is VALID, and the answer.
fn answer(dock: &Dock, candidate_text: &str) -> (bool, String) {
    let body = parse(&format!("{{\"candidate\":{candidate_text}}}"));
    let evaluation = dock.evaluate(candidate(&body).unwrap(), &mut budget()).unwrap();
    let mut out = Vec::new();
    evaluation.verdict.write(&mut out);
    let valid = matches!(&evaluation.finding, Finding::Arguments(check) if check.verdict() == Verdict::Valid);
    (valid, String::from_utf8(out).unwrap())
}
