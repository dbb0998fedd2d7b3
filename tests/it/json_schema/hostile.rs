//! Hostile instances and schemas: each ends, in bounded time and on a small stack, and says why.

use std::time::{Duration, Instant};

use millwork_dock::budget::{Budget, DEFAULT_STEPS, Exhausted};
use millwork_dock::json_schema::{Outcome, Schema, Stop};

use super::{compile, parse};

/// The most that a check of a whole budget may take here: it is meant to be some 3 s, and this build is slower.
const MOST: Duration = Duration::from_secs(20);

/// Bytes of a hostile instance.
const MEBIBYTE: usize = 1 << 20;

fn run(schema: &str, instance: &str, steps: u64) -> Result<Outcome, Stop> {
    let schema = compile(schema).unwrap_or_else(|unusable| panic!("{unusable}"));
    let document = parse(instance.as_bytes());
    let begun = Instant::now();
    let outcome = schema.check(document.root(), &mut Budget::of_steps(steps));
    let took = begun.elapsed();
    println!("{took:?} {outcome:?}");
    assert!(took < MOST, "{took:?}");
    outcome
}

fn list(item: &str) -> String {
    let mut text = String::from("[");
    while text.len() < MEBIBYTE {
        text.push_str(item);
        text.push(',');
    }
    text.push_str(item);
    text.push(']');
    text
}

#[test]
fn a_mebibyte_ends() {
    let numbered: Vec<String> = (0..120_000).map(|index| index.to_string()).collect();
    let numbered = format!("[{}]", numbered.join(","));
    let texts: Vec<String> = (0..80_000).map(|index| format!("\"{index}\"")).collect();
    let members: Vec<String> = (0..80_000).map(|index| format!("\"k{index}\":{index}")).collect();
    let object = format!("{{{}}}", members.join(","));
    let options: Vec<String> = (0..2_000).map(|index| format!("{{\"o\":{index}}}")).collect();
    let of_objects = format!("{{\"items\":{{\"enum\":[{}]}}}}", options.join(","));
    let properties: Vec<String> = (0..500).map(|index| format!("\"p{index}\":true")).collect();
    let many = format!("{{\"properties\":{{{}}},\"additionalProperties\":false}}", properties.join(","));
    let nothing = format!("{{\"items\":{{\"allOf\":[{}true]}}}}", "{},".repeat(16_000));
    let cases: Vec<(&str, &str, String)> = vec![
        ("unique numbers", r#"{"uniqueItems":true}"#, numbered.clone()),
        ("unique texts", r#"{"uniqueItems":true}"#, format!("[{}]", texts.join(","))),
        ("unique objects", r#"{"uniqueItems":true}"#, list(r#"{"a":1}"#)),
        ("every item wrong", r#"{"items":{"type":"string"}}"#, list("1")),
        ("every item wrong twice", r#"{"items":{"type":"string","enum":["a"]}}"#, list("1")),
        ("a long enum", &of_objects, list(r#"{"o":-1}"#)),
        ("many members", r#"{"additionalProperties":false}"#, object.clone()),
        ("many members, many properties", &many, object.clone()),
        ("names", r#"{"propertyNames":{"pattern":"^[^k]"}}"#, object.clone()),
        (
            "unevaluated",
            r#"{"anyOf":[{"properties":{"k1":true}},true],"unevaluatedProperties":false}"#,
            object.clone(),
        ),
        ("patterns of names", r#"{"patternProperties":{"(a|k)*b{1,50}$":false}}"#, object),
        (
            "a pattern of many states",
            r#"{"patternProperties":{"(a.{0,400}){1,3}b$":false}}"#,
            format!("{{\"{}\":1}}", "ak".repeat(MEBIBYTE / 2)),
        ),
        ("empty schemas", &nothing, list("1")),
        (
            "contains",
            r#"{"contains":{"contains":{"const":1}},"items":{"items":{"not":{"const":1}}}}"#,
            list("[2]"),
        ),
        ("not", r#"{"items":{"not":{"enum":[1,2,3,4,5,6,7,8,9]}}}"#, list("1")),
        ("one of", r#"{"items":{"oneOf":[{"maximum":0},{"type":"string"},{"type":"null"}]}}"#, list("1")),
    ];
    for (name, schema, instance) in cases {
        print!("{name}: ");
        if let Err(stop) = run(schema, &instance, DEFAULT_STEPS) {
            assert_eq!(stop, Stop::Exhausted(Exhausted), "{name}");
        }
    }
}

#[test]
fn a_pattern_that_backtracks_spends_the_budget() {
    let text = format!("\"{}\"", "a".repeat(40_000));
    assert_eq!(run(r#"{"pattern":"(a*)*\\1b"}"#, &text, 3_000_000), Err(Stop::Exhausted(Exhausted)));
    // The linear matcher takes over.
    assert!(run(r#"{"pattern":"(?<!x)(a+)+$"}"#, &text, DEFAULT_STEPS).is_ok());
}

/// One error would write the path to it, so each costs what its path is long.
#[test]
fn errors_below_a_long_name_do_not_fill_the_memory() {
    let items = vec!["1"; 100_000].join(",");
    let instance = format!("{{\"{}\":[{items}]}}", "n".repeat(400_000));
    let schema = r#"{"additionalProperties":{"items":{"type":"string"}}}"#;
    assert_eq!(run(schema, &instance, DEFAULT_STEPS), Err(Stop::Exhausted(Exhausted)));
}

/// Each level is reached in two ways, so errors double with each: 2^100 of them.
#[test]
fn errors_that_double_with_each_level_spend_the_budget() {
    let schema = r##"{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[
        {"properties":{"x":{"$ref":"#/$defs/a"}},"required":["y"]},
        {"properties":{"x":{"$ref":"#/$defs/a"}},"required":["z"]}]}}}"##;
    let instance = format!("{}{}", "{\"x\":".repeat(100) + "{}", "}".repeat(100));
    assert_eq!(run(schema, &instance, DEFAULT_STEPS), Err(Stop::Exhausted(Exhausted)));
}

#[test]
fn a_deadline_stops_a_check() {
    let schema = compile(r#"{"items":{"type":"string"}}"#).unwrap();
    let document = parse(list("1").as_bytes());
    let asked = std::cell::Cell::new(0);
    let expired = || {
        asked.set(asked.get() + 1);
        asked.get() > 500
    };
    let mut budget = Budget::new(u64::MAX, &expired);
    assert_eq!(schema.check(document.root(), &mut budget), Err(Stop::Exhausted(Exhausted)));
    assert_eq!((budget.left(), asked.get()), (0, 501), "and is not asked again");
}

#[test]
fn a_check_spends_what_it_costs_and_leaves_the_rest() {
    let schema = compile(r#"{"items":{"type":"integer"}}"#).unwrap();
    let spent = |instance: &str| {
        let mut budget = Budget::of_steps(1_000_000);
        schema.check(parse(instance.as_bytes()).root(), &mut budget).unwrap();
        1_000_000 - budget.left()
    };
    let (few, many) = (spent("[1,2]"), spent(&format!("[{}]", vec!["1"; 2_000].join(","))));
    assert!(few < 100 && many > 100 * few && many < 2_000 * few, "{few} {many}");
}

/// On half the stack of a thread that serves.
fn on_a_small_stack(run: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(1 << 20).spawn(run).unwrap().join().unwrap();
}

#[test]
fn depth_is_capped_and_what_is_below_the_cap_fits_the_stack() {
    on_a_small_stack(|| {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        let flat = r##"{"items":{"$ref":"#"}}"##;
        assert!(run(flat, &nested(128), DEFAULT_STEPS).is_ok());
        assert_eq!(run(flat, &nested(129), DEFAULT_STEPS), Err(Stop::TooDeep));
        assert_eq!(run(flat, &nested(400_000), DEFAULT_STEPS), Err(Stop::TooDeep));
        // As much as applies one through the other on each of the levels that may then be.
        for wrap in ["allOf", "anyOf", "oneOf"] {
            for height in [3, 7, 15, 30, 60] {
                let mut schema = r##"{"items":{"$ref":"#"},"type":["array","null"]}"##.to_owned();
                for _ in 1..height {
                    schema = format!("{{\"{wrap}\":[{schema}]}}");
                }
                // The reference is one more.
                let deepest = 1024 / (height + 1) - 1;
                let deep = |levels: usize| {
                    let open = "[".repeat(levels.saturating_sub(1));
                    format!("{open}[1]{}", "]".repeat(levels.saturating_sub(1)))
                };
                let outcome = run(&schema, &deep(deepest.min(128)), DEFAULT_STEPS).unwrap();
                assert!(!outcome.failed.is_empty());
                assert_eq!(run(&schema, &deep(deepest.min(128) + 1), DEFAULT_STEPS), Err(Stop::TooDeep));
            }
        }
    });
}

#[test]
fn hostile_schemas_are_refused_or_compile_on_a_small_stack() {
    on_a_small_stack(|| {
        let refused = |schema: &str, why: &str| {
            let unusable = compile(schema).unwrap_err();
            assert!(unusable.what.contains(why), "{unusable}");
        };
        let chain = |link: &dyn Fn(usize) -> String, len: usize| {
            let definitions: Vec<String> =
                (0..len).map(|index| format!("\"d{index}\":{}", link(index + 1))).collect();
            format!(
                "{{\"$ref\":\"#/$defs/d0\",\"$defs\":{{{},\"d{len}\":{{\"type\":\"null\"}}}}}}",
                definitions.join(",")
            )
        };
        let through = |next: usize| format!("{{\"$ref\":\"#/$defs/d{next}\"}}");
        let twice = |next: usize| format!("{{\"allOf\":[{0},{0}]}}", through(next));
        let down = |next: usize| format!("{{\"properties\":{{\"x\":{}}}}}", through(next));
        refused(&chain(&through, 5_000), "one through the other");
        refused(&chain(&twice, 20), "many ways");
        assert!(compile(&chain(&through, 50)).is_ok());
        assert!(compile(&chain(&down, 2_000)).is_ok());
        refused(&format!("{}true{}", "{\"not\":".repeat(200), "}".repeat(200)), "deeper");
        refused(&format!("{}true{}", "{\"not\":".repeat(100), "}".repeat(100)), "one through the other");
        assert!(compile(&format!("{}true{}", "{\"items\":".repeat(127), "}".repeat(127))).is_ok());
    });
}

#[test]
fn a_schema_is_shared_between_threads() {
    fn shared<T: Send + Sync + 'static>() {}
    shared::<Schema>();
}
