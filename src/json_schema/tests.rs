//! Units of the engine: the crate's own contract for a representation, drafts, refusals, and what is counted.

use jsonschema::json::conformance;

use super::meter::{Costs, Meter};
use super::node::{Tape, TapeNode};
use super::*;
use crate::json::Document;

fn parse(text: &str) -> Document {
    Document::parse(text.as_bytes().to_vec()).unwrap()
}

fn compile(schema: &str) -> Result<Schema, Unusable> {
    Schema::compile(parse(schema).root())
}

fn check(schema: &str, instance: &str) -> Result<Outcome, Stop> {
    compile(schema).unwrap().check(parse(instance).root(), &mut Budget::of_steps(10_000_000))
}

fn failed(schema: &str, instance: &str) -> Vec<&'static str> {
    check(schema, instance).unwrap().failed.names().collect()
}

#[test]
fn the_tape_keeps_the_crates_contract() {
    let document = parse(&conformance::document().to_string());
    let budget = Budget::of_steps(1_000_000);
    let meter = Meter::new(&budget, Costs::default());
    conformance::assert_conformance::<Tape>(&TapeNode::root(document.root(), &meter));
    assert!(!meter.is_spent());
}

#[test]
fn each_keyword_fails_under_its_own_name() {
    const CASES: &[(&str, &str, &str)] = &[
        ("type", r#"{"type":"string"}"#, "1"),
        ("enum", r#"{"enum":[1,"a"]}"#, "2"),
        ("const", r#"{"const":{"a":[1.0]}}"#, r#"{"a":[2]}"#),
        ("multipleOf", r#"{"multipleOf":0.01}"#, "0.015"),
        ("maximum", r#"{"maximum":9007199254740993}"#, "9007199254740994"),
        ("exclusiveMaximum", r#"{"exclusiveMaximum":1}"#, "1.0"),
        ("minimum", r#"{"minimum":1}"#, "0.5"),
        ("exclusiveMinimum", r#"{"exclusiveMinimum":1}"#, "1"),
        ("maxLength", r#"{"maxLength":1}"#, r#""\ud83d\udca9x""#),
        ("minLength", r#"{"minLength":2}"#, r#""\ud83d\udca9""#),
        ("pattern", r#"{"pattern":"(?<!a)b\\1|(c)d\\1"}"#, r#""ab""#),
        ("maxItems", r#"{"maxItems":1}"#, "[1,2]"),
        ("minItems", r#"{"minItems":1}"#, "[]"),
        ("uniqueItems", r#"{"uniqueItems":true}"#, r#"[{"a":1,"b":2},{"b":2.0,"a":1}]"#),
        ("contains", r#"{"contains":{"const":1}}"#, "[2]"),
        ("minContains", r#"{"contains":{"const":1},"minContains":2}"#, "[1]"),
        ("maxContains", r#"{"contains":{"const":1},"maxContains":1}"#, "[1,1]"),
        ("unevaluatedItems", r#"{"prefixItems":[true],"unevaluatedItems":false}"#, "[1,2]"),
        ("maxProperties", r#"{"maxProperties":0}"#, r#"{"a":1}"#),
        ("minProperties", r#"{"minProperties":2}"#, r#"{"a":1,"a":2}"#),
        ("required", r#"{"required":["a"]}"#, r#"{"b":1}"#),
        ("dependentRequired", r#"{"dependentRequired":{"a":["b"]}}"#, r#"{"a":1}"#),
        ("additionalProperties", r#"{"properties":{"a":true},"additionalProperties":false}"#, r#"{"b":1}"#),
        ("propertyNames", r#"{"propertyNames":{"pattern":"^a"}}"#, r#"{"ab":1,"b":1}"#),
        ("unevaluatedProperties", r#"{"anyOf":[true],"unevaluatedProperties":false}"#, r#"{"b":1}"#),
        ("anyOf", r#"{"anyOf":[{"type":"string"},{"minimum":2}]}"#, "1"),
        ("oneOf", r#"{"oneOf":[{"type":"number"},{"minimum":1}]}"#, "1"),
        ("not", r#"{"not":{"type":"number"}}"#, "1"),
        ("falseSchema", r#"{"properties":{"a":false}}"#, r#"{"a":1}"#),
        (
            "dependencies",
            r#"{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":["b"]}}"#,
            r#"{"a":1}"#,
        ),
        (
            "additionalItems",
            r#"{"$schema":"http://json-schema.org/draft-07/schema#","items":[true],"additionalItems":false}"#,
            "[1,2]",
        ),
    ];
    for (keyword, schema, instance) in CASES {
        assert_eq!(failed(schema, instance), [*keyword], "{schema}");
        assert!(compile(schema).unwrap().keywords().names().any(|name| name == *keyword), "{schema}");
    }
    let mut tried: Vec<_> = CASES.iter().map(|(keyword, ..)| *keyword).collect();
    let mut all = KEYWORDS.to_vec();
    tried.sort_unstable();
    all.sort_unstable();
    assert_eq!(tried, all);
}

#[test]
fn the_draft_is_what_the_schema_says() {
    let draft = |uri: &str, rest: &str| format!("{{\"$schema\":\"{uri}\",{rest}}}");
    let exclusive = r#""minimum":1,"exclusiveMinimum":true"#;
    assert_eq!(
        failed(&draft("http://json-schema.org/draft-04/schema#", exclusive), "1"),
        ["exclusiveMinimum"]
    );
    assert!(compile(&draft("http://json-schema.org/draft-06/schema#", exclusive)).is_err());
    // 1.0 is an integer but in draft 4.
    assert_eq!(
        failed(&draft("http://json-schema.org/draft-04/schema#", r#""type":"integer""#), "1.0"),
        ["type"]
    );
    assert!(
        failed(&draft("http://json-schema.org/draft-06/schema#", r#""type":"integer""#), "1.0").is_empty()
    );
    let beside = r##""definitions":{"a":{}},"$ref":"#/definitions/a","type":"string""##;
    assert!(failed(&draft("http://json-schema.org/draft-07/schema#", beside), "1").is_empty());
    assert_eq!(failed(&draft("https://json-schema.org/draft/2019-09/schema", beside), "1"), ["type"]);
    let prefix = r#""prefixItems":[{"type":"string"}]"#;
    assert!(failed(&draft("https://json-schema.org/draft/2019-09/schema", prefix), "[1]").is_empty());
    assert_eq!(failed(&draft("https://json-schema.org/draft/2020-12/schema", prefix), "[1]"), ["type"]);
    assert_eq!(failed(&format!("{{{prefix}}}"), "[1]"), ["type"]);
    let unknown = compile(&draft("https://example.com/mine", prefix)).unwrap_err();
    assert_eq!(unknown.path, "/$schema");
    assert!(unknown.what.contains("2020-12"), "{unknown}");
}

#[test]
fn a_reference_may_lead_to_a_meta_schema_or_an_embedded_resource() {
    let schema = r#"{"properties":{"schema":{"$ref":"https://json-schema.org/draft/2020-12/schema"}}}"#;
    assert!(failed(schema, r#"{"schema":{"type":"string"}}"#).is_empty());
    assert_eq!(failed(schema, r#"{"schema":{"minLength":-1}}"#), ["minimum"]);
    assert_eq!(compile(schema).unwrap().keywords(), KeywordSet::ALL);
    let astray =
        r##"{"allOf":[{"$ref":"https://json-schema.org/draft/2020-12/schema"},{"$ref":"#/$defs/a"}]}"##;
    assert_eq!(compile(astray).unwrap_err().path, "/allOf/1/$ref");
    // Of two resources whose names end alike, the one that is named.
    let alike = r#"{"$id":"https://example.com/item","allOf":[{"$ref":"https://example.com/base/item"}],
        "$defs":{"base":{"$id":"https://example.com/base/item","type":"null"}}}"#;
    assert_eq!(failed(alike, "1"), ["type"]);
}

#[test]
fn bounds_of_draft_4_are_read_where_no_draft_is_said() {
    let schema = r#"{"items":{"minimum":1,"exclusiveMinimum":true,"maximum":3,"exclusiveMaximum":false},"default":{"exclusiveMinimum":true}}"#;
    assert!(failed(schema, "[2,3]").is_empty());
    assert_eq!(failed(schema, "[1]"), ["exclusiveMinimum"]);
    assert_eq!(failed(schema, "[4]"), ["maximum"]);
    assert!(compile(r#"{"exclusiveMinimum":true}"#).is_err(), "there is no bound to exclude");
}

#[test]
fn formats_and_contents_are_annotations_in_every_draft() {
    for uri in [
        "http://json-schema.org/draft-04/schema#",
        "http://json-schema.org/draft-06/schema#",
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft/2019-09/schema",
        "https://json-schema.org/draft/2020-12/schema",
    ] {
        for keyword in [
            r#""format":"email""#,
            r#""format":"date-time""#,
            r#""contentEncoding":"base64""#,
            r#""contentMediaType":"application/json""#,
            r#""contentEncoding":"base64","contentMediaType":"application/json","contentSchema":{"type":"object"}"#,
        ] {
            let schema = format!("{{\"$schema\":\"{uri}\",{keyword}}}");
            assert!(failed(&schema, "\"{]\"").is_empty(), "{schema}");
        }
    }
}

#[test]
fn schemas_are_refused_with_the_place_and_what_to_do() {
    const CASES: &[(&str, &str, &str)] = &[
        (r##"{"$ref":"#"}"##, "never ends", ""),
        (r##"{"properties":{"a":{"$ref":"#/properties/a"}}}"##, "never ends", "/properties/a"),
        (
            r##"{"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"},true]}},"$ref":"#/$defs/a"}"##,
            "never ends",
            "/$defs/a",
        ),
        (r##"{"$dynamicAnchor":"a","allOf":[{"$dynamicRef":"#a"}]}"##, "never ends", ""),
        (r#"{"items":{"$ref":""}}"#, "write `#`", "/items/$ref"),
        (r#"{"items":{"$ref":"https://example.com/a.json"}}"#, "outside", "/items/$ref"),
        (r#"{"items":{"$ref":"file:///etc/hosts"}}"#, "outside", "/items/$ref"),
        (r#"{"items":{"$ref":"other.json#/a"}}"#, "outside", "/items/$ref"),
        (r##"{"items":{"$ref":"#/$defs/a"}}"##, "there is nothing", "/items/$ref"),
        (r##"{"items":{"$ref":"#a"}}"##, "there is nothing", "/items/$ref"),
        (r#"{"properties":{"a/b":{"maximum":1e400}}}"#, "64-bit float", "/properties/a~1b/maximum"),
        (r#"{"const":12345678901234567890123456}"#, "64-bit float", "/const"),
        (r#"{"const":"\ud800"}"#, "surrogate", "/const"),
        (r#"{"properties":{"a":{"type":"dict"}}}"#, "meta-schema", "/properties/a/type"),
        (r#"{"minLength":-1}"#, "minimum of 0", "/minLength"),
        (r#"{"properties":{"a":{"pattern":"("}}}"#, "does not compile", "/properties/a/pattern"),
        (r#"{"patternProperties":{"(":true}}"#, "does not compile", "/patternProperties/("),
        (r#"{"patternProperties":{"(?=a)":true}}"#, "linear time", "/patternProperties/(?=a)"),
        (r#"{"patternProperties":{"(a)\\1":true}}"#, "linear time", "/patternProperties/(a)\\1"),
        (
            r#"{"patternProperties":{"(a{1000}){1000}":true}}"#,
            "too large",
            "/patternProperties/(a{1000}){1000}",
        ),
        ("[]", "\"boolean\"", ""),
    ];
    for (schema, what, path) in CASES {
        let unusable = compile(schema).unwrap_err();
        assert!(unusable.what.contains(what), "{schema}: {unusable}");
        assert_eq!(unusable.path, *path, "{schema}: {unusable}");
    }
}

#[test]
fn counts_values_and_those_without_an_error() {
    let schema = r#"{"type":"object","properties":{"a":{"type":"string","minLength":9,"pattern":"x"},"b":{"type":"null"}},
        "required":["a","c","d"],"dependentRequired":{"b":["c"]}}"#;
    let count = |instance| {
        let outcome = check(schema, instance).unwrap();
        (outcome.visited, outcome.held)
    };
    assert_eq!(count(r#"{"a":"xxxxxxxxx","c":[1,[2]],"d":{"e":null}}"#), (8, 8));
    // One value with two errors, one with one, and one missing member that two keywords want.
    assert_eq!(count(r#"{"a":"","b":1,"d":0}"#), (5, 2));
    assert_eq!(count("[]"), (1, 0));
}

#[test]
fn the_last_of_a_repeated_name_counts_in_instance_and_schema() {
    let schema = r#"{"properties":{"a":{"type":"string"},"a":{"type":"null"}},"additionalProperties":false}"#;
    let outcome = check(schema, r#"{"a":1,"a":null}"#).unwrap();
    assert_eq!((outcome.failed.is_empty(), outcome.visited), (true, 2));
    assert_eq!(failed(schema, r#"{"a":null,"\u0061":1}"#), ["type"]);
}

#[test]
fn half_a_surrogate_pair_is_one_character_and_equals_nothing_else() {
    assert!(failed(r#"{"minLength":2,"maxLength":2}"#, r#""\ud800a""#).is_empty());
    assert_eq!(failed(r#"{"enum":["\ufffd"]}"#, r#""\ud800""#), ["enum"]);
    assert_eq!(failed(r#"{"uniqueItems":true}"#, r#"["\ud800","\ud801","\ud800"]"#), ["uniqueItems"]);
    assert!(failed(r#"{"uniqueItems":true}"#, r#"["\ud800","\ud801","\ufffd"]"#).is_empty());
    assert!(failed(r#"{"pattern":"^\\ud800$"}"#, r#""\ud800""#).is_empty());
    assert_eq!(failed(r#"{"required":["\ufffd"]}"#, r#"{"\ud800":1}"#), ["required"]);
    assert_eq!(failed(r#"{"propertyNames":{"maxLength":0}}"#, r#"{"\udc00":1}"#), ["propertyNames"]);
    assert_eq!(
        failed(r#"{"additionalProperties":{"type":"null"}}"#, r#"{"\ud800":1,"\udc00":null}"#),
        ["type"]
    );
}

#[test]
fn numbers_that_a_float_would_change_stop_the_check() {
    for instance in
        ["1e400", "-1e400", "1e-400", "[0.12345678901234567890]", r#"{"a":12345678901234567890123456}"#]
    {
        assert_eq!(check("{}", instance), Err(Stop::NumberNotExact), "{instance}");
    }
    assert!(
        failed(r#"{"maximum":18446744073709551615,"type":"integer"}"#, "18446744073709551615").is_empty()
    );
    // The crate reads an integer as a float where it divides by a fraction.
    assert_eq!(check(r#"{"multipleOf":1.5}"#, "9007199254740993"), Err(Stop::NumberNotExact));
    assert!(failed(r#"{"multipleOf":3}"#, "9007199254740993").is_empty());
}

#[test]
fn sets_of_keywords_hold_what_was_inserted() {
    let mut set = KeywordSet::EMPTY;
    assert!(set.is_empty() && set.is_within(KeywordSet::EMPTY));
    set.insert(3);
    set.insert(KEYWORDS.len());
    assert_eq!(set.iter().collect::<Vec<_>>(), [3]);
    assert_eq!(set.names().collect::<Vec<_>>(), [KEYWORDS[3]]);
    assert!(set.contains(3) && !set.contains(2) && !set.contains(64));
    assert!(set.is_within(KeywordSet::ALL) && !KeywordSet::ALL.is_within(set));
    assert_eq!(KeywordSet::ALL.iter().count(), KEYWORDS.len());
}
