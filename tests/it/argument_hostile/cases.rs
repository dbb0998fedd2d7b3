//! The hostile inputs, and what must come of each.

use std::time::{Duration, Instant};

use millwork_dock::argument::{Check, Schema, Stop, Submission, check, check_request};
use millwork_dock::budget::{Budget, DEFAULT_STEPS};
use millwork_dock::dock::{self, AnchorMode, Dock, Source, candidate};
use millwork_dock::fault::Fault;
use millwork_dock::json::{Document, Text};

use super::{Case, measured};

fn parse(text: &str) -> Document {
    Document::parse(text.as_bytes().to_vec()).unwrap()
}

fn outcome(result: &Result<Check<'_>, Stop>) -> String {
    match result {
        Ok(check) => check.verdict().code().to_owned(),
        Err(Stop::Refused(refusal, _)) => refusal.code().to_owned(),
        Err(Stop::Exhausted(_)) => "exhausted".to_owned(),
    }
}

/// A check of structured arguments against a pinned schema.
fn pinned(schema: &str, arguments: &str) -> String {
    let (schema, arguments) = (parse(schema), parse(arguments));
    let schema = Schema::compile(schema.root()).unwrap();
    measured(|| {
        let submission = Submission::Arguments(arguments.root());
        outcome(&check(&schema, submission, &mut Budget::of_steps(DEFAULT_STEPS)))
    })
}

/// A check against a schema for the member `v`.
fn of_v(schema: &str, value: &str) -> String {
    pinned(&format!("{{\"properties\":{{\"v\":{schema}}}}}"), &format!("{{\"v\":{value}}}"))
}

/// A whole request to a dock: parsed, judged, written.
fn judged(source: Source, candidate_text: &str) -> String {
    let dock = Dock::new(dock::Check::Argument(source), AnchorMode::Codes, None).unwrap();
    let body = format!("{{\"candidate\":{candidate_text}}}").into_bytes();
    measured(|| {
        let body = match Document::parse(body) {
            Ok(body) => body,
            Err(_) => return "not_json".to_owned(),
        };
        let mut out = Vec::new();
        match dock.judge(candidate(&body).unwrap(), &mut Budget::of_steps(DEFAULT_STEPS)) {
            Ok(verdict) => verdict.write(&mut out),
            Err(Fault::CheckTimeout) => return "exhausted".to_owned(),
            Err(fault) => return fault.code().to_owned(),
        }
        let answer: serde_json::Value = serde_json::from_slice(&out).unwrap();
        let anchors = answer["anchor_results"].as_object().unwrap();
        let failed = anchors.keys().find(|name| name.starts_with("no_") && anchors[*name] == false);
        failed.cloned().unwrap_or_else(|| format!("correct_{}", answer["is_correct"]))
    })
}

/// A dock whose schema takes any object.
fn anything(candidate_text: &str) -> String {
    let schema = Schema::owned(std::sync::Arc::new(parse("{\"type\":\"object\"}"))).unwrap();
    judged(Source::Arguments(schema), candidate_text)
}

fn list(len: usize, item: impl Fn(usize) -> String) -> String {
    let items: Vec<String> = (0..len).map(item).collect();
    format!("[{}]", items.join(","))
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

fn deep(levels: usize) -> String {
    "[".repeat(levels) + &"]".repeat(levels)
}

const DEEP: usize = 1_000_000;

pub(super) const CASES: &[Case] = &[
    Case("required by many empty objects, request", required_in_request, "exhausted"),
    Case(
        "required by many empty objects, pinned",
        || {
            let required = list(10_000, |index| format!("\"{index}\""));
            of_v(&format!("{{\"items\":{{\"required\":{required}}}}}"), &list(340_000, |_| "{}".into()))
        },
        "exhausted",
    ),
    Case(
        "many undeclared members",
        || {
            let members: Vec<String> = (0..100_000).map(|index| format!("\"{index}\":0")).collect();
            of_v("{\"additionalProperties\":false}", &format!("{{{}}}", members.join(",")))
        },
        "UNREPAIRABLE",
    ),
    Case(
        "many required and present",
        || {
            let names = list(50_000, |index| format!("\"long name {index} as others\""));
            let members: Vec<String> =
                (0..50_000).map(|index| format!("\"long name {index} as others\":0")).collect();
            of_v(&format!("{{\"required\":{names}}}"), &format!("{{{}}}", members.join(",")))
        },
        "VALID",
    ),
    Case(
        "unique items",
        || of_v("{\"uniqueItems\":true}", &list(200_000, |index| index.to_string())),
        "VALID",
    ),
    Case(
        "unique objects whose names hash alike",
        || {
            let item = |index: usize| {
                format!("{{\"aaaaaaaa{index:06}bbbbbbbb\":{{\"aaaaaaaa{index:06}bbbbbbbb\":0}}}}")
            };
            of_v("{\"uniqueItems\":true}", &list(20_000, item))
        },
        "VALID",
    ),
    Case(
        "one object of names that hash alike",
        || {
            let name = |index: usize| format!("\"aaaaaaaa{index:06}bbbbbbbb\"");
            let members: Vec<String> = (0..40_000).map(|index| format!("{}:0", name(index))).collect();
            let schema = format!("{{\"required\":{}}}", list(40_000, name));
            of_v(&schema, &format!("{{{}}}", members.join(",")))
        },
        "VALID",
    ),
    Case(
        "declared names that hash alike",
        || {
            let name = |index: usize| format!("\"aaaaaaaa{index:06}bbbbbbbb\"");
            let members = |value: &str| {
                (0..20_000).map(|index| format!("{}:{value}", name(index))).collect::<Vec<_>>().join(",")
            };
            of_v(&format!("{{\"properties\":{{{}}}}}", members("{}")), &format!("{{{}}}", members("0")))
        },
        "VALID",
    ),
    Case(
        "unique large items",
        || {
            let big = list(1_000, |index| index.to_string());
            of_v("{\"uniqueItems\":true}", &list(200, |index| format!("[{big},{index}]")))
        },
        "VALID",
    ),
    Case(
        "an enum of many for many",
        || {
            let entries = list(100_000, |index| index.to_string());
            let schema = format!("{{\"items\":{{\"enum\":{entries}}}}}");
            of_v(&schema, &list(100_000, |index| (index + 1_000).to_string()))
        },
        "UNREPAIRABLE",
    ),
    Case(
        "an enum that differs by case only",
        || {
            let entries = list(60_000, |index| format!("\"Entry{index}\""));
            of_v(
                &format!("{{\"items\":{{\"enum\":{entries}}}}}"),
                &list(60_000, |index| format!("\"ENTRY{index}\"")),
            )
        },
        "REPAIRED",
    ),
    Case(
        "an enum of one word in every case",
        || {
            let word = |index: usize| -> String {
                (0..16).map(|bit| if index >> bit & 1 == 1 { 'A' } else { 'a' }).collect()
            };
            let entries = list(30_000, |index| format!("\"{}\"", word(index)));
            of_v(
                &format!("{{\"items\":{{\"enum\":{entries}}}}}"),
                &list(30_000, |index| format!("\"{}\"", word(65_535 - index))),
            )
        },
        "UNREPAIRABLE",
    ),
    Case(
        "const against many",
        || {
            let big = list(20_000, |index| index.to_string());
            let schema = format!("{{\"items\":{{\"const\":{big}}}}}");
            of_v(&schema, &list(5, |_| big.clone()))
        },
        "VALID",
    ),
    Case(
        "powers of ten",
        || of_v("{\"uniqueItems\":true}", &list(4_000, |index| format!("1e{index}"))),
        "VALID",
    ),
    Case(
        "a huge exponent",
        || {
            let schema =
                r#"{"items":{"type":"integer","minimum":1,"maximum":1e1000000000},"uniqueItems":true}"#;
            of_v(schema, "[1e1000000000,1e999999999,\"1e99999999999999999999\",1e-1000000000]")
        },
        "UNREPAIRABLE",
    ),
    Case(
        "a million digits against many bounds",
        || {
            let digits = "1".repeat(500_000);
            of_v(
                &format!("{{\"items\":{{\"minimum\":{digits}}}}}"),
                &list(200_000, |index| if index == 0 { digits.clone() + "2" } else { "3".into() }),
            )
        },
        "exhausted",
    ),
    Case(
        "a million digits against many values",
        || {
            let digits = "1".repeat(500_000);
            of_v(&format!("{{\"items\":{{\"enum\":[{digits}]}}}}"), &list(200_000, |_| "3".into()))
        },
        "exhausted",
    ),
    Case(
        "a long escaped text against many short ones",
        || {
            let text = "\\n".repeat(100_000);
            of_v(&format!("{{\"items\":{{\"const\":\"{text}\"}}}}"), &list(100_000, |_| "\"\\n\"".into()))
        },
        "UNREPAIRABLE",
    ),
    Case("long escaped names whose hash is that of short ones", long_escaped_names, "VALID"),
    Case("strings in strings", nested_strings, "UNREPAIRABLE"),
    Case(
        "many texts to unwrap",
        || of_v("{\"items\":{\"type\":\"array\"}}", &list(200_000, |_| "\"[]\"".into())),
        "REPAIRED",
    ),
    Case(
        "many texts cut short",
        || of_v("{\"items\":{\"type\":\"object\"}}", &list(2_000, |_| quoted(&("{\"a\":".repeat(50) + "[")))),
        "UNREPAIRABLE",
    ),
    Case(
        "a large schema in a request",
        || {
            let names = list(9_000, |index| format!("\"aaaaaaaa{index:06}bbbbbbbb\""));
            request(&format!("{{\"required\":{names}}}"), "{}")
        },
        "UNREPAIRABLE",
    ),
    Case(
        "many patterns in a request",
        || {
            let member = |index| format!("\"{index}\":{{\"pattern\":\"^[\\\\p{{L}}\\\\p{{N}}]{{1,50}}$\"}}");
            let members: Vec<String> = (0..4_500).map(member).collect();
            let values: Vec<String> = (0..4_500).map(|index| format!("\"{index}\":\"xyz\"")).collect();
            request(
                &format!("{{\"properties\":{{{}}}}}", members.join(",")),
                &format!("{{{}}}", values.join(",")),
            )
        },
        "VALID",
    ),
    Case(
        "nested wraps of a large value",
        || {
            let schema =
                "{\"type\":\"array\",\"items\":".repeat(120) + "{\"type\":\"integer\"}" + &"}".repeat(120);
            of_v(&schema, &format!("{{\"a\":{}}}", list(200_000, |index| index.to_string())))
        },
        "UNREPAIRABLE",
    ),
    Case(
        "nested wraps of a large text",
        || {
            let schema =
                "{\"type\":\"array\",\"items\":".repeat(120) + "{\"type\":\"integer\"}" + &"}".repeat(120);
            of_v(&schema, &quoted(&format!("{{\"a\":{}}}", list(150_000, |index| index.to_string()))))
        },
        "UNREPAIRABLE",
    ),
    Case(
        "nested wraps in a large array",
        || {
            let schema =
                "{\"type\":\"array\",\"items\":".repeat(110) + "{\"type\":\"integer\"}" + &"}".repeat(110);
            of_v(&schema, &list(100_000, |_| "1".into()))
        },
        "exhausted",
    ),
    Case("wraps that branch", branching_wraps, "UNREPAIRABLE"),
    Case("long names above many defects", long_names, "too_large"),
    Case("a deep candidate", || anything(&deep(DEEP)), "no_arguments_not_object"),
    Case("a deep member", || anything(&format!("{{\"a\":{}}}", deep(DEEP))), "no_arguments_too_deep"),
    Case("a deep text", || anything(&quoted(&format!("{{\"a\":{}}}", deep(DEEP)))), "no_arguments_too_deep"),
    Case(
        "a deep text cut short",
        || anything(&quoted(&format!("{{\"a\":{}", "[".repeat(DEEP)))),
        "no_arguments_too_deep",
    ),
    Case(
        "a deep text in a text",
        || anything(&quoted(&quoted(&format!("{{\"a\":{}}}", deep(DEEP / 2))))),
        "no_arguments_not_object",
    ),
    Case(
        "a deep text under a wrap",
        || {
            let schema = "{\"type\":\"object\",\"properties\":{\"v\":{\"type\":\"array\"}}}";
            let schema = Schema::owned(std::sync::Arc::new(parse(schema))).unwrap();
            judged(Source::Arguments(schema), &format!("{{\"v\":{}}}", quoted(&deep(DEEP / 2))))
        },
        "correct_false",
    ),
    Case(
        "a deep request member",
        || judged(Source::CheckRequest, &format!("{{\"x\":{}}}", deep(100_000))),
        "no_schema_missing",
    ),
    Case(
        "deep arguments in a request",
        || {
            judged(
                Source::CheckRequest,
                &format!("{{\"schema\":{{}},\"arguments\":{{\"a\":{}}}}}", deep(100_000)),
            )
        },
        "no_arguments_too_deep",
    ),
    Case(
        "a deep schema",
        || judged(Source::CheckRequest, &format!("{{\"schema\":{},\"arguments\":{{}}}}", deep(100_000))),
        "no_schema_invalid",
    ),
    Case(
        "a deep enum entry",
        || {
            judged(
                Source::CheckRequest,
                &format!("{{\"schema\":{{\"enum\":[{}]}},\"arguments\":{{}}}}", deep(100_000)),
            )
        },
        "no_schema_invalid",
    ),
    Case(
        "deep items",
        || {
            let schema = "{\"items\":".repeat(20_000) + "{}" + &"}".repeat(20_000);
            judged(Source::CheckRequest, &format!("{{\"schema\":{schema},\"arguments\":{{}}}}"))
        },
        "no_schema_invalid",
    ),
    Case(
        "a deep default",
        || {
            judged(
                Source::CheckRequest,
                &format!("{{\"schema\":{{\"default\":{}}},\"arguments\":{{}}}}", deep(100_000)),
            )
        },
        "no_schema_invalid",
    ),
    Case("a million brackets as text", || anything(&quoted(&"[".repeat(1 << 20))), "no_arguments_not_object"),
    Case("a million braces as text", || anything(&quoted(&"{".repeat(1 << 20))), "no_invalid_json_text"),
    Case("a million quotes as text", || anything(&quoted(&"\"".repeat(1 << 19))), "no_invalid_json_text"),
    Case(
        "a million backslashes as text",
        || anything(&quoted(&"\\".repeat(1 << 19))),
        "no_invalid_json_text",
    ),
    Case(
        "a million commas as text",
        || anything(&quoted(&format!("[1{}", ",".repeat(1 << 20)))),
        "no_invalid_json_text",
    ),
    Case(
        "a million commas to drop",
        || {
            let text = format!("{{\"a\":{}", list(170_000, |_| "[1,]".into()));
            let schema = parse("{}");
            let schema = Schema::compile(schema.root()).unwrap();
            measured(|| {
                let submission = Submission::Text(Text::plain(text.as_bytes()));
                outcome(&check(&schema, submission, &mut Budget::of_steps(DEFAULT_STEPS)))
            })
        },
        "REPAIRED",
    ),
];

fn request(schema: &str, arguments: &str) -> String {
    let body = parse(&format!("{{\"schema\":{schema},\"arguments\":{arguments}}}"));
    measured(|| outcome(&check_request(body.root(), &mut Budget::of_steps(DEFAULT_STEPS))))
}

fn required_in_request() -> String {
    let required = list(15_000, |index| format!("\"{index:x}\""));
    let schema = format!("{{\"properties\":{{\"v\":{{\"items\":{{\"required\":{required}}}}}}}}}");
    request(&schema, &format!("{{\"v\":{}}}", list(40_000, |_| "{}".into())))
}

/// Each level doubles the backslashes, so a megabyte holds some twenty.
fn nested_strings() -> String {
    let mut schema =
        "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"}},\"required\":[\"b\"]}".to_owned();
    let mut value = "{\"a\":\"x\"}".to_owned();
    while value.len() < 500_000 {
        schema = format!("{{\"type\":\"object\",\"properties\":{{\"a\":{schema}}}}}");
        value = format!("{{\"a\":{}}}", quoted(&value));
    }
    of_v(&schema, &value)
}

/// Arrays whose items may be had by a wrap or through a member, so that each value is tried in many ways.
fn branching_wraps() -> String {
    let mut schema = "{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}".to_owned();
    let mut value = "{\"p\":true}".to_owned();
    for _ in 0..11 {
        schema = format!("{{\"type\":\"array\",\"items\":{schema},\"properties\":{{\"p\":{schema}}}}}");
        value = format!("{{\"p\":{value}}}");
    }
    of_v(&schema, &list(300, |_| value.clone()))
}

/// The hash of names in `json::parse`, to collide with. If that is changed, this loses its point, not its truth.
fn name_hash(name: &[u8]) -> u64 {
    let word = |chunk: Option<&[u8; 8]>| chunk.map_or(0, |chunk| u64::from_le_bytes(*chunk));
    let (head, tail) = if name.len() >= 8 {
        (word(name.first_chunk()), word(name.last_chunk()))
    } else {
        (name.iter().fold(0, |head, byte| head << 8 | u64::from(*byte)), 0)
    };
    (head ^ tail.rotate_left(29) ^ name.len() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48
}

fn long_escaped_names() -> String {
    let hash = name_hash("\n".repeat(50_000).as_bytes());
    let short =
        (0..).map(|index| format!("{index:x}")).find(|name| name_hash(name.as_bytes()) == hash).unwrap();
    let more: Vec<String> = (0..20).map(|index| format!("\"{index}\":{{}}")).collect();
    let schema =
        format!("{{\"items\":{{\"properties\":{{\"{}\":{{}},{}}}}}}}", "\\n".repeat(50_000), more.join(","));
    of_v(&schema, &list(100_000, |_| format!("{{\"{short}\":0}}")))
}

fn long_names() -> String {
    let name = "n".repeat(400_000);
    let schema = parse(&format!("{{\"properties\":{{\"{name}\":{{\"items\":{{\"type\":\"integer\"}}}}}}}}"));
    let schema = Schema::compile(schema.root()).unwrap();
    let arguments = parse(&format!("{{\"{name}\":{}}}", list(100_000, |_| "\"x\"".into())));
    measured(|| {
        let submission = Submission::Arguments(arguments.root());
        let check = check(&schema, submission, &mut Budget::of_steps(DEFAULT_STEPS)).unwrap();
        assert_eq!(check.count_defects(), 100_000);
        let start = Instant::now();
        let mut out = Vec::new();
        let refused = check.write_report("", &mut out, 8 << 20).is_err();
        assert!(start.elapsed() < Duration::from_secs(5));
        if refused { "too_large".to_owned() } else { "written".to_owned() }
    })
}
