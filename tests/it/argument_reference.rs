//! The argument check against the naive second reading, whole reports byte for byte, on generated bodies.

use millwork_dock::argument::{Stop, check_request};
use millwork_dock::budget::{Budget, DEFAULT_STEPS};
use millwork_dock::json::Document;

use crate::generate::{self, Range, Rng, shrink};
use crate::reference::{self, J, Outcome, units, write};

const WIDE: Range = Range { wide: true, repairable: true };

/// What the engine says: the report up to its counts, or the refusal.
pub(crate) fn engine(body: &str) -> String {
    let document = Document::parse(body.as_bytes().to_vec()).unwrap();
    match check_request(document.root(), &mut Budget::of_steps(DEFAULT_STEPS)) {
        Ok(check) => {
            let mut report = Vec::new();
            check.write_report("", &mut report, usize::MAX).unwrap();
            let report = String::from_utf8(report).unwrap();
            let (report, _) = report.rsplit_once(",\"not_checked\":").unwrap();
            report.to_owned()
        }
        Err(Stop::Refused(refusal, _)) => refusal.code().to_owned(),
        Err(Stop::Exhausted(_)) => "the budget is spent".to_owned(),
    }
}

/// What the naive reading says of the same body.
pub(crate) fn reading(body: &str) -> String {
    let body = reference::parse(&units(body)).unwrap();
    match reference::check_body(&body) {
        Outcome::Refused(code) => code.to_owned(),
        Outcome::Report(report) => report.text(),
    }
}

/// A published body: the arguments as JSON, as text, as text with something cut off or put in, or as text twice.
pub(crate) fn body(rng: &mut Rng, range: Range) -> String {
    let schema = generate::root_schema(rng, range);
    let arguments = if rng.percent(96) {
        generate::fitting_object(rng, range, &schema)
    } else {
        generate::fitting(rng, range, &schema)
    };
    let mut schema_text = String::new();
    write(&schema, &mut schema_text);
    let mut text = String::new();
    generate::noisy(rng, &arguments, range.wide, &mut text);
    let arguments = match rng.below(10) {
        0..5 => format!("\"arguments\":{text}"),
        5 | 6 => format!("\"arguments_text\":{}", quoted(&text)),
        7 => format!("\"arguments_text\":{}", quoted(&quoted(&text))),
        _ => format!("\"arguments_text\":{}", quoted(&slipped(rng, &text))),
    };
    format!("{{{arguments},\"schema\":{schema_text}}}")
}

fn quoted(text: &str) -> String {
    let mut out = String::new();
    write(&J::str(text), &mut out);
    out
}

/// The text cut short, with commas put before closers, or with one character changed.
fn slipped(rng: &mut Rng, text: &str) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for _ in 0..rng.below(3) {
        let at = rng.below(characters.len() + 1);
        match rng.below(8) {
            0..3 => characters.truncate(at),
            3..6 => {
                let places: Vec<usize> =
                    (0..characters.len()).filter(|at| matches!(characters[*at], '}' | ']')).collect();
                let place = if places.is_empty() { at } else { rng.pick(&places) };
                characters.insert(place, ',');
            }
            6 => characters.insert(at, rng.pick(&['"', '[', '{', ',', ' ', '1', ':', ']', '\\'])),
            _ if at < characters.len() => drop(characters.remove(at)),
            _ => {}
        }
    }
    characters.into_iter().collect()
}

#[test]
fn every_report_is_the_naive_reading_of_the_criteria() {
    let mut rng = Rng::new(20_260_401);
    let mut seen = std::collections::BTreeMap::<String, u32>::new();
    for _ in 0..60_000 {
        let body = body(&mut rng, WIDE);
        let (own, naive) = (engine(&body), reading(&body));
        let outcome = own.split('"').nth(11).unwrap_or(&own).to_owned();
        *seen.entry(outcome).or_default() += 1;
        if own == naive {
            continue;
        }
        let fails = |body: &J| {
            let mut text = String::new();
            write(body, &mut text);
            let own = engine(&text);
            body.get("schema").is_some() && !own.starts_with("schema_") && own != reading(&text)
        };
        let parsed = reference::parse(&units(&body)).unwrap();
        let mut smallest = body.clone();
        if fails(&parsed) {
            smallest.clear();
            write(&shrink(parsed, &fails), &mut smallest);
        }
        panic!("{smallest}\n  engine {}\n  naive  {}", engine(&smallest), reading(&smallest));
    }
    println!("bodies by outcome: {seen:?}");
    for outcome in ["VALID", "REPAIRED", "UNREPAIRABLE", "arguments_not_object"] {
        assert!(seen.get(outcome).is_some_and(|count| *count > 500), "too few {outcome}: {seen:?}");
    }
}
