//! Which schemas are refused: against the draft 2020-12 meta-schema as the `jsonschema` crate holds it, and by
//! the published list of what is not covered.

use crate::argument_reference::engine;
use crate::generate::{self, Range, Rng};
use crate::reference::{J, write};

const RANGE: Range = Range { wide: false, repairable: false };

/// Keywords whose value the meta-schema restricts, covered or annotation.
const RESTRICTED: &[&str] = &[
    "type",
    "enum",
    "const",
    "required",
    "properties",
    "additionalProperties",
    "items",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$comment",
    "$anchor",
    "format",
    "nullable",
    "x-order",
    "pattern",
];

/// Values that tell one restriction from another.
const VALUES: &[&str] = &[
    "0",
    "-1",
    "1.5",
    "2.0",
    "-0.0",
    "1e2",
    "true",
    "false",
    "null",
    "[]",
    "{}",
    "\"\"",
    "\"string\"",
    "\"object\"",
    "\"dict\"",
    "\"String\"",
    "[\"a\",\"a\"]",
    "[\"a\",\"b\"]",
    "[1]",
    "[\"string\",\"null\"]",
    "[\"null\",\"null\"]",
    "[1,1]",
    "[\"a\",1]",
    "{\"a\":{}}",
    "{\"a\":5}",
    "{\"a\":null}",
    "{\"a\":[]}",
    "{\"a\":{\"type\":\"x\"}}",
    "[{}]",
    "\"a-b\"",
    "\"1a\"",
    "\"#a\"",
    "[null]",
];

fn of(schema: &str) -> String {
    let result = engine(&format!("{{\"schema\":{schema},\"arguments\":{{}}}}"));
    if result.starts_with('{') { "taken".to_owned() } else { result }
}

#[test]
fn schemas_are_invalid_where_the_meta_schema_says_so() {
    let mut rng = Rng::new(99);
    let (mut taken, mut invalid, mut uncovered) = (0, 0, 0);
    for _ in 0..30_000 {
        let mut schema = generate::root_schema(&mut rng, RANGE);
        let keyword = rng.pick(RESTRICTED);
        let value = rng.pick(VALUES);
        put(&mut rng, &mut schema, keyword, value);
        let mut text = String::new();
        write(&schema, &mut text);
        let as_meta_schema = serde_json::from_str(&text).unwrap();
        let valid = jsonschema::draft202012::meta::is_valid(&as_meta_schema);
        let expected = match (keyword, value) {
            ("items", value) if value.starts_with('[') || ["true", "false"].contains(&value) => {
                "schema_not_covered"
            }
            ("exclusiveMinimum" | "exclusiveMaximum", "true" | "false") => "schema_not_covered",
            ("additionalProperties", value) if value.starts_with('{') => "schema_not_covered",
            ("enum", "[]") => "schema_invalid",
            _ if valid => "taken",
            _ => "schema_invalid",
        };
        assert_eq!(of(&text), expected, "{keyword}: {value}\n{text}");
        match expected {
            "taken" => taken += 1,
            "schema_invalid" => invalid += 1,
            _ => uncovered += 1,
        }
    }
    println!("schemas: {taken} taken, {invalid} invalid, {uncovered} not covered");
    assert!(taken > 5_000 && invalid > 5_000 && uncovered > 500);
}

/// Sets a keyword at a random schema position.
fn put(rng: &mut Rng, schema: &mut J, keyword: &str, value: &str) {
    let J::Obj(members) = schema else { panic!("a schema is an object") };
    if rng.percent(50) {
        let below: Vec<&mut J> = members
            .iter_mut()
            .flat_map(|(name, value)| match (String::from_utf16(name).unwrap().as_str(), value) {
                ("items", schema) => vec![schema],
                ("properties", J::Obj(properties)) => {
                    properties.iter_mut().map(|(_, schema)| schema).collect()
                }
                _ => Vec::new(),
            })
            .collect();
        if !below.is_empty() {
            let chosen = rng.below(below.len());
            return put(rng, below.into_iter().nth(chosen).unwrap(), keyword, value);
        }
    }
    let keyword = crate::reference::units(keyword);
    members.retain(|(name, _)| *name != keyword);
    members.push((keyword, crate::reference::parse(&crate::reference::units(value)).unwrap()));
}

#[test]
fn every_published_uncovered_form_is_refused_wherever_schemas_stand() {
    const KEYWORDS: &[&str] = &[
        "$ref",
        "$defs",
        "definitions",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "if",
        "then",
        "else",
        "dependentRequired",
        "dependentSchemas",
        "contains",
        "propertyNames",
        "patternProperties",
        "prefixItems",
        "unevaluatedProperties",
        "unevaluatedItems",
        "contentEncoding",
        "contentMediaType",
        "multipleOf",
        "minContains",
        "maxContains",
        "dependencies",
        "additionalItems",
        "$dynamicRef",
        "$recursiveRef",
        "contentSchema",
    ];
    let forms = KEYWORDS.iter().flat_map(|keyword| {
        ["{}", "[]", "1", "null", "true", "\"#\""].map(|value| format!("\"{keyword}\":{value}"))
    });
    let more = [
        "\"additionalProperties\":{}",
        "\"items\":[]",
        "\"items\":true",
        "\"items\":false",
        "\"exclusiveMinimum\":true",
        "\"exclusiveMaximum\":false",
        "\"properties\":{\"a\":true}",
        "\"properties\":{\"a\":false}",
    ];
    let mut count = 0;
    for form in forms.chain(more.map(str::to_owned)) {
        for place in [
            "{*}",
            "{\"items\":{*}}",
            "{\"properties\":{\"a\":{*}}}",
            "{\"properties\":{\"a\":{\"items\":{*}}}}",
            "{\"items\":{\"properties\":{\"\":{*}}}}",
        ] {
            assert_eq!(of(&place.replace('*', &form)), "schema_not_covered", "{place} {form}");
            count += 1;
        }
        for place in [
            "{\"enum\":[{*}]}",
            "{\"const\":{*}}",
            "{\"default\":{*}}",
            "{\"examples\":[{*}]}",
            "{\"x-more\":{*}}",
        ] {
            assert_eq!(of(&place.replace('*', &form)), "taken", "{place} {form}");
            count += 1;
        }
    }
    // As names of properties they are names.
    for keyword in KEYWORDS {
        assert_eq!(
            of(&format!("{{\"properties\":{{\"{keyword}\":{{}}}},\"required\":[\"{keyword}\"]}}")),
            "taken",
            "{keyword}"
        );
    }
    println!("{count} forms in their places");
    for pattern in ["(", "[", "a{2,1}", "*", "(?<a", ")"] {
        assert_eq!(of(&format!("{{\"pattern\":\"{pattern}\"}}")), "schema_invalid", "{pattern}");
    }
}
