//! Generated schemas and instances: over the tape, the crate says what it says over its own tree.

use std::collections::BTreeSet;

use jsonschema::error::ValidationErrorKind;
use millwork_dock::budget::{Budget, Exhausted};
use millwork_dock::json_schema::Stop;

use super::{STEPS, check, compile, parse};
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

/// A budget that ends anywhere gives no outcome, never another one; one step more than it costs is enough. The crate sees values change under it then.
#[test]
fn a_budget_that_ends_anywhere_gives_no_other_outcome() {
    let mut rng = Rng::new(6);
    let (mut stopped, mut ended) = (0, 0);
    for _ in 0..1_000 {
        let schema = root(&mut rng);
        let Ok(own) = compile(&written(&schema)) else { continue };
        let document = parse(written(&generate::fitting(&mut rng, RANGE, &schema)).as_bytes());
        let mut whole = Budget::of_steps(STEPS);
        let Ok(outcome) = own.check(document.root(), &mut whole) else { continue };
        let cost = usize::try_from(STEPS - whole.left()).unwrap();
        let cuts: Vec<usize> = if cost < 300 {
            (0..=cost + 1).collect()
        } else {
            (0..100).map(|_| rng.below(cost + 1)).chain([cost + 1]).collect()
        };
        for steps in cuts {
            match own.check(document.root(), &mut Budget::of_steps(steps as u64)) {
                Ok(other) => {
                    assert_eq!(other, outcome, "{} {steps}", written(&schema));
                    ended += 1;
                }
                Err(stop) => {
                    assert_eq!(stop, Stop::Exhausted(Exhausted));
                    stopped += 1;
                }
            }
        }
    }
    println!("{stopped} stopped, {ended} ended");
    assert!(stopped > 40_000 && ended > 400, "{stopped} {ended}");
}

/// Keywords whose value the meta-schema restricts, beside references.
const RESTRICTED: &[&str] = &[
    "type",
    "enum",
    "const",
    "multipleOf",
    "maximum",
    "exclusiveMaximum",
    "minimum",
    "exclusiveMinimum",
    "maxLength",
    "minLength",
    "pattern",
    "prefixItems",
    "items",
    "maxItems",
    "minItems",
    "uniqueItems",
    "contains",
    "maxContains",
    "minContains",
    "unevaluatedItems",
    "maxProperties",
    "minProperties",
    "required",
    "dependentRequired",
    "dependentSchemas",
    "properties",
    "patternProperties",
    "additionalProperties",
    "propertyNames",
    "unevaluatedProperties",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "$defs",
    "definitions",
    "format",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "title",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "$comment",
    "$vocabulary",
    "nullable",
];

/// Values that tell one restriction from another.
const VALUES: &[&str] = &[
    "0",
    "-1",
    "1.5",
    "2.0",
    "-0.0",
    "1e2",
    "1e300",
    "18446744073709551615",
    "true",
    "false",
    "null",
    "[]",
    "{}",
    "\"\"",
    "\"string\"",
    "\"dict\"",
    "[\"a\",\"a\"]",
    "[\"a\",\"b\"]",
    "[1]",
    "[\"string\",\"null\"]",
    "[\"null\",\"null\"]",
    "{\"a\":{}}",
    "{\"a\":5}",
    "{\"a\":[]}",
    "{\"a\":[\"b\"]}",
    "{\"a\":{\"type\":\"x\"}}",
    "[{}]",
    "[true]",
    "[null]",
    "{\"(\":true}",
    "\"(\"",
];

#[test]
fn schemas_are_refused_where_their_meta_schema_refuses_them() {
    let (mut taken, mut refused) = (0, 0);
    for (keyword, value) in
        RESTRICTED.iter().flat_map(|keyword| VALUES.iter().map(move |value| (keyword, value)))
    {
        for place in ["*", "{\"items\":*}", "{\"properties\":{\"a\":{\"anyOf\":[true,*]}}}"] {
            let schema = place.replace('*', &format!("{{\"{keyword}\":{value}}}"));
            let expected = match (*keyword, *value) {
                // What draft 4 wrote there.
                ("exclusiveMinimum" | "exclusiveMaximum", "false") => true,
                // `format` asserts nothing there.
                ("pattern", "\"(\"") | ("patternProperties", "{\"(\":true}") => false,
                _ => jsonschema::draft202012::meta::is_valid(&serde_json::from_str(&schema).unwrap()),
            };
            let compiled = compile(&schema);
            assert_eq!(compiled.is_ok(), expected, "{schema}: {compiled:?}");
            match compiled {
                Ok(schema) => {
                    for instance in ["{}", "[1,\"a\"]", "1", "\"a\"", "null", "{\"a\":1}", "{\"a\":[[]]}"] {
                        check(&schema, instance.as_bytes()).unwrap();
                    }
                    taken += 1;
                }
                Err(unusable) => {
                    assert!(unusable.path.contains(keyword), "{schema}: {unusable}");
                    refused += 1;
                }
            }
        }
    }
    println!("{taken} taken, {refused} refused");
    assert!(taken > 1_000 && refused > 1_000, "{taken} {refused}");
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
