//! JSON-Schema-Test-Suite: every test as the required member `v` of a call's arguments.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::argument_reference::engine;
use crate::data;
use crate::reference::{self, J, units, write};

/// Tests whose verdict is not the suite's, `folder/file: group: test`, each with its reason.
const KNOWN_GAPS: &[(&str, &str)] = &[];

/// Refused for a boolean where a schema is expected, not for a keyword.
const BOOLEAN: &str = "boolean schema";

/// The groups of these folders that the criteria refuse, each with (the first of) what they refuse in it.
const REFUSED_GROUPS: &[(&str, &str)] = &[
    (
        "covered/additionalProperties.json: additionalProperties being false does not allow other properties",
        "patternProperties",
    ),
    ("covered/additionalProperties.json: non-ASCII pattern with additionalProperties", "patternProperties"),
    ("covered/additionalProperties.json: additionalProperties with schema", "additionalProperties"),
    ("covered/additionalProperties.json: additionalProperties can exist by itself", "additionalProperties"),
    (
        "covered/additionalProperties.json: additionalProperties does not look in applicators",
        "additionalProperties",
    ),
    (
        "covered/additionalProperties.json: additionalProperties with null valued instance properties",
        "additionalProperties",
    ),
    ("covered/additionalProperties.json: additionalProperties with propertyNames", "additionalProperties"),
    ("covered/additionalProperties.json: dependentSchemas with additionalProperties", "dependentSchemas"),
    ("covered/items.json: items with boolean schema (true)", BOOLEAN),
    ("covered/items.json: items with boolean schema (false)", BOOLEAN),
    ("covered/items.json: items and subitems", "$defs"),
    ("covered/items.json: prefixItems with no additional items allowed", "prefixItems"),
    ("covered/items.json: items does not look in applicators, valid case", "allOf"),
    ("covered/items.json: prefixItems validation adjusts the starting index for items", "prefixItems"),
    ("covered/items.json: items with heterogeneous array", "prefixItems"),
    (
        "covered/properties.json: properties, patternProperties, additionalProperties interaction",
        "patternProperties",
    ),
    ("covered/properties.json: properties with boolean schema", BOOLEAN),
    ("covered/uniqueItems.json: uniqueItems with an array of items", "prefixItems"),
    ("covered/uniqueItems.json: uniqueItems with an array of items and additionalItems=false", "prefixItems"),
    ("covered/uniqueItems.json: uniqueItems=false with an array of items", "prefixItems"),
    (
        "covered/uniqueItems.json: uniqueItems=false with an array of items and additionalItems=false",
        "prefixItems",
    ),
    (
        "covered-optional/ecmascript-regex.json: patterns always use unicode semantics with patternProperties",
        "patternProperties",
    ),
    (
        "covered-optional/ecmascript-regex.json: \\w in patternProperties matches [A-Za-z0-9_], not unicode letters",
        "patternProperties",
    ),
    ("covered-optional/ecmascript-regex.json: patternProperties with ASCII ranges", "patternProperties"),
    (
        "covered-optional/ecmascript-regex.json: \\d in patternProperties matches [0-9], not unicode digits",
        "patternProperties",
    ),
    ("covered-optional/ecmascript-regex.json: patternProperties with non-ASCII digits", "patternProperties"),
    (
        "covered-optional/float-overflow.json: all integers are multiples of 0.5, if overflow is handled",
        "multipleOf",
    ),
    (
        "covered-optional/non-bmp-regex.json: Proper UTF-16 surrogate pair handling: patternProperties",
        "patternProperties",
    ),
    (
        "ignored-keywords/content.json: validation of string-encoded content based on media type",
        "contentMediaType",
    ),
    ("ignored-keywords/content.json: validation of binary string-encoding", "contentEncoding"),
    ("ignored-keywords/content.json: validation of binary-encoded media type documents", "contentEncoding"),
    (
        "ignored-keywords/content.json: validation of binary-encoded media type documents with schema",
        "contentEncoding",
    ),
    (
        "ignored-keywords/optional/unknownKeyword.json: $id inside an unknown keyword is not a real identifier",
        "$defs",
    ),
    (
        "ignored-keywords/vocabulary.json: schema that uses custom metaschema with with no validation vocabulary",
        BOOLEAN,
    ),
];

/// The one group of the refused folder that uses nothing refused: `$ref` is the name of a property in it.
const NOT_REFUSED: &str = "property named $ref that is not a reference";

#[derive(Default)]
struct Tally {
    groups: usize,
    tests: usize,
    refused: Vec<String>,
    differing: BTreeMap<String, String>,
}

#[test]
fn is_valid_exactly_where_the_suite_says_so() {
    let Some(root) = data::path("json-schema-test-suite") else { return };
    let mut tally = Tally::default();
    for folder in ["covered", "covered-optional", "ignored-keywords"] {
        let (groups, tests) = (tally.groups, tally.tests);
        for file in files(&root.join(folder)) {
            let name = file.strip_prefix(&root).unwrap().display().to_string();
            for group in groups_of(&file) {
                judge(&name, &group, &mut tally);
            }
        }
        println!("{folder}: {} groups, {} tests", tally.groups - groups, tally.tests - tests);
    }
    println!(
        "refused: {} groups; in all {} groups, {} tests",
        tally.refused.len(),
        tally.groups,
        tally.tests
    );
    for (gap, reason) in KNOWN_GAPS {
        assert!(tally.differing.remove(*gap).is_some(), "no gap any more: {gap} ({reason})");
    }
    assert!(tally.differing.is_empty(), "{:#?}", tally.differing);
    assert!(tally.refused.iter().eq(REFUSED_GROUPS.iter().map(|(name, _)| name)), "{:#?}", tally.refused);
    let for_a_boolean = REFUSED_GROUPS.iter().filter(|(_, why)| *why == BOOLEAN).count();
    assert_eq!((tally.groups, tally.tests), (161, 700));
    assert_eq!(
        (tally.refused.len() - for_a_boolean, for_a_boolean),
        (30, 4),
        "by keyword, by boolean schema"
    );
}

#[test]
fn refuses_the_refused_folder() {
    let Some(root) = data::path("json-schema-test-suite") else { return };
    let (mut groups, mut exceptions, mut codes) = (0, 0, BTreeMap::<String, usize>::new());
    for file in files(&root.join("refused")) {
        for group in groups_of(&file) {
            groups += 1;
            if text(&group) == NOT_REFUSED {
                let mut tally = Tally::default();
                judge("refused/ref.json", &group, &mut tally);
                assert!(tally.refused.is_empty() && tally.differing.is_empty(), "{:?}", tally.differing);
                exceptions += 1;
                continue;
            }
            let J::Arr(tests) = group.get("tests").unwrap() else { panic!("no tests") };
            for test in tests {
                let result = engine(&wrapped(group.get("schema").unwrap(), test.get("data").unwrap()));
                assert!(result.starts_with("schema_"), "{}: {}: {result}", file.display(), text(&group));
                *codes.entry(result).or_default() += 1;
            }
        }
    }
    println!("refused: {groups} groups, tests by code: {codes:?}");
    assert_eq!((groups, exceptions), (254, 1));
    assert!(codes.keys().eq(["schema_not_covered"]), "{codes:?}");
}

fn judge(file: &str, group: &J, tally: &mut Tally) {
    let name = format!("{file}: {}", text(group));
    let J::Arr(tests) = group.get("tests").unwrap() else { panic!("no tests") };
    tally.groups += 1;
    let mut refused = 0;
    for test in tests {
        tally.tests += 1;
        let result = engine(&wrapped(group.get("schema").unwrap(), test.get("data").unwrap()));
        if result == "schema_not_covered" {
            refused += 1;
            continue;
        }
        let valid = result.contains("\"verdict\":\"VALID\"");
        if !matches!(test.get("valid"), Some(J::Bool(expected)) if *expected == valid) {
            tally.differing.insert(format!("{name}: {}", text(test)), result);
        }
    }
    assert!(refused == 0 || refused == tests.len(), "{name}: a refusal depends on the schema alone");
    if refused > 0 {
        tally.refused.push(name);
    }
}

fn wrapped(schema: &J, data: &J) -> String {
    let (mut schema_text, mut data_text) = (String::new(), String::new());
    write(schema, &mut schema_text);
    write(data, &mut data_text);
    format!(
        "{{\"schema\":{{\"type\":\"object\",\"properties\":{{\"v\":{schema_text}}},\"required\":[\"v\"]}},\"arguments\":{{\"v\":{data_text}}}}}"
    )
}

fn text(described: &J) -> String {
    let Some(J::Str(text)) = described.get("description") else { panic!("no description") };
    String::from_utf16(text).unwrap()
}

fn groups_of(file: &Path) -> Vec<J> {
    let text = std::fs::read_to_string(file).unwrap();
    let Some(J::Arr(groups)) = reference::parse(&units(&text)) else {
        panic!("{} is no list", file.display())
    };
    groups
}

/// The JSON files in and below a folder, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            out.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "json") {
            out.push(path);
        }
    }
    out.sort();
    out
}
