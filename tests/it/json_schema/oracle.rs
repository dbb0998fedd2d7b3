//! Generated schemas and instances: over the tape, the crate says what it says over its own tree.

use std::collections::BTreeSet;

use jsonschema::error::ValidationErrorKind;
use millwork_dock::json_schema::Stop;

use super::{check, compile};
use crate::generate::{self, Range, Rng};
use crate::reference::{J, write};

const RANGE: Range = Range { wide: false, repairable: false };

const PAIRS_PER_SCHEMA: usize = 6;

#[test]
fn verdicts_and_errors_are_those_over_the_crates_own_tree() {
    let mut rng = Rng::new(5);
    let (mut pairs, mut valid, mut refused) = (0, 0, 0);
    let mut seen = BTreeSet::new();
    for _ in 0..2_500 {
        let schema = root(&mut rng);
        let text = written(&schema);
        let own = compile(&text);
        let Ok(own) = own else {
            let why = own.unwrap_err().to_string();
            assert!(why.contains("never ends") || why.contains("too many schemas"), "{why}: {text}");
            refused += 1;
            continue;
        };
        let theirs = jsonschema::options().build(&serde_json::from_str(&text).unwrap()).unwrap();
        for _ in 0..PAIRS_PER_SCHEMA {
            let fitting = generate::fitting(&mut rng, RANGE, &schema);
            let mut instance = String::new();
            generate::noisy(&mut rng, &fitting, true, &mut instance);
            let outcome = match check(&own, instance.as_bytes()) {
                Err(Stop::NumberNotExact) => continue,
                outcome => outcome.unwrap_or_else(|stop| panic!("{stop}: {text}\n{instance}")),
            };
            let expected = expectation(&theirs, &serde_json::from_str(&instance).unwrap());
            let failed: BTreeSet<&str> = outcome.failed.names().collect();
            assert_eq!(
                (&failed, outcome.visited - outcome.held),
                (&expected.0, expected.1),
                "{text}\n{instance}"
            );
            assert!(outcome.failed.is_within(own.keywords()), "{text}\n{instance}");
            pairs += 1;
            valid += usize::from(failed.is_empty());
            seen.extend(failed);
        }
    }
    println!("{pairs} pairs, {valid} valid, {refused} schemas refused; failed: {seen:?}");
    assert!(pairs > 10_000 && valid > 1_000 && valid < pairs - 1_000, "{pairs} {valid}");
    assert!(seen.len() >= 25, "{seen:?}");
}

/// What failed, and at how many places: from the errors, by the keyword that their path ends with.
fn expectation(
    validator: &jsonschema::Validator,
    instance: &serde_json::Value,
) -> (BTreeSet<&'static str>, u64) {
    let mut failed = BTreeSet::new();
    let mut places = BTreeSet::new();
    for error in validator.iter_errors(instance) {
        let path = error.schema_path().as_str();
        let ends = |name: &str| path.ends_with(&format!("/{name}"));
        let mut place = error.instance_path().as_str().to_owned();
        let keyword = match error.kind() {
            ValidationErrorKind::Required { property } => {
                place = format!("{place}\u{0}{property}");
                if ends("dependentRequired") { "dependentRequired" } else { "required" }
            }
            ValidationErrorKind::Contains if ends("minContains") => "minContains",
            ValidationErrorKind::Contains if ends("maxContains") => "maxContains",
            kind => kind.keyword(),
        };
        places.insert(place);
        let known = millwork_dock::json_schema::KEYWORDS.iter().find(|name| **name == keyword);
        failed.insert(*known.unwrap_or_else(|| panic!("{keyword} is no keyword of ours")));
    }
    (failed, places.len() as u64)
}

fn written(value: &J) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

/// A schema with everything that the argument criteria do not cover.
fn root(rng: &mut Rng) -> J {
    let mut root = rich(rng, 3);
    let J::Obj(members) = &mut root else { panic!("a schema is an object") };
    let definitions: Vec<(&str, J)> = ["x", "y", "z"].map(|name| (name, rich(rng, 2))).into();
    members.push((crate::reference::units("$defs"), J::obj(&definitions)));
    root
}

/// A schema of the covered subset, and one or two keywords beyond it.
fn rich(rng: &mut Rng, depth: usize) -> J {
    let mut schema = generate::schema(rng, RANGE, depth);
    for _ in 0..rng.pick(&[0, 1, 1, 2]) {
        let added = applied(rng, depth);
        let J::Obj(members) = &mut schema else { panic!("a schema is an object") };
        for (name, value) in added {
            let name = crate::reference::units(name);
            members.retain(|(own, _)| *own != name);
            members.push((name, value));
        }
    }
    schema
}

fn applied(rng: &mut Rng, depth: usize) -> Vec<(&'static str, J)> {
    if depth == 0 || rng.percent(15) {
        let to = rng.pick(&["#/$defs/x", "#/$defs/y", "#/$defs/z", "#"]);
        return match rng.below(4) {
            0 => vec![("$ref", J::str(to))],
            1 => vec![("additionalProperties", J::obj(&[("$ref", J::str(to))]))],
            2 => vec![("items", J::obj(&[("$ref", J::str(to))]))],
            _ => vec![("multipleOf", J::Num(rng.pick(&["1", "2", "0.5", "0.1", "3.0"]).to_owned()))],
        };
    }
    let several = |rng: &mut Rng| {
        let len = 1 + rng.below(3);
        J::Arr((0..len).map(|_| rich(rng, depth - 1)).collect())
    };
    let number = |rng: &mut Rng| J::Num(rng.pick(&["0", "1", "2"]).to_owned());
    let named = |value: J, rng: &mut Rng| J::obj(&[(rng.pick(&["a", "b", "c"]), value)]);
    match rng.below(13) {
        0 => vec![("allOf", several(rng))],
        1 => vec![("anyOf", several(rng))],
        2 => vec![("oneOf", several(rng))],
        3 => vec![("not", rich(rng, depth - 1))],
        4 => {
            vec![("if", rich(rng, depth - 1)), ("then", rich(rng, depth - 1)), ("else", rich(rng, depth - 1))]
        }
        5 => vec![("prefixItems", several(rng)), ("items", J::Bool(rng.percent(50)))],
        6 => {
            let bounds = [("minContains", number(rng)), ("maxContains", number(rng))];
            let mut all = vec![("contains", rich(rng, depth - 1))];
            all.extend(bounds.into_iter().filter(|_| rng.percent(40)));
            all
        }
        7 => {
            let pattern = rng.pick(&["^a", "b|c", "[^a]", ""]);
            vec![("patternProperties", J::obj(&[(pattern, rich(rng, depth - 1))]))]
        }
        8 => vec![("propertyNames", rich(rng, depth - 1))],
        9 => {
            let wanted = J::Arr(vec![J::str(rng.pick(&["a", "b", "c", "d"]))]);
            vec![("dependentRequired", named(wanted, rng))]
        }
        10 => {
            let schema = rich(rng, depth - 1);
            vec![("dependentSchemas", named(schema, rng))]
        }
        11 => vec![(
            "unevaluatedProperties",
            if rng.percent(50) { J::Bool(false) } else { rich(rng, depth - 1) },
        )],
        _ => vec![("unevaluatedItems", if rng.percent(50) { J::Bool(false) } else { rich(rng, depth - 1) })],
    }
}
