//! Corners that a random generator seldom meets, each read twice: by the engine and by the naive reading.

use crate::argument_reference::{engine, reading};
use crate::reference::{J, write};

fn quoted(text: &str) -> String {
    let mut out = String::new();
    write(&J::str(text), &mut out);
    out
}

fn arrays(levels: usize) -> String {
    "[".repeat(levels) + &"]".repeat(levels)
}

fn agree(schema: &str, arguments: &str) -> String {
    let body = format!("{{\"schema\":{schema},{arguments}}}");
    let (own, naive) = (engine(&body), reading(&body));
    assert_eq!(own, naive, "{}", body.chars().take(2_000).collect::<String>());
    own
}

fn of_v(schema: &str, value: &str) -> String {
    agree(
        &format!("{{\"type\":\"object\",\"properties\":{{\"v\":{schema}}}}}"),
        &format!("\"arguments\":{{\"v\":{value}}}"),
    )
}

#[test]
fn depth_ends_at_128_however_it_comes_about() {
    let refused = "arguments_too_deep";
    for (levels, ends) in [(127, false), (128, true)] {
        let object = format!("{{\"v\":{}}}", arrays(levels));
        for form in [
            format!("\"arguments\":{object}"),
            format!("\"arguments_text\":{}", quoted(&object)),
            format!("\"arguments_text\":{}", quoted(&format!("{{\"v\":{},}}", arrays(levels)))),
        ] {
            assert_eq!(agree("{\"type\":\"object\"}", &form) == refused, ends, "{levels}");
        }
        // Encoded twice: a text that R5 may not unwrap is no object.
        let twice = quoted(&quoted(&object));
        let result = agree("{\"type\":\"object\"}", &format!("\"arguments_text\":{twice}"));
        assert_eq!(result == "arguments_not_object", ends, "{levels}");
        // R5 where it just fits, and where R7 takes the text as the single element instead.
        let unwrapped = of_v("{\"type\":\"array\"}", &quoted(&arrays(levels)));
        assert_eq!(unwrapped.contains("\"rule\":\"R7\""), ends, "{unwrapped}");
        let inner = of_v("{\"type\":\"object\"}", &quoted(&format!("{{\"a\":{}}}", arrays(levels - 1))));
        assert_eq!(inner.contains("type_mismatch"), ends, "{inner}");
        let wrapped = of_v("{\"type\":\"array\"}", &format!("{{\"a\":{}}}", arrays(levels - 2)));
        assert_eq!(wrapped.contains("type_mismatch"), ends, "{wrapped}");
    }
    // A hundred wraps around a value of some depth.
    let schema = "{\"type\":\"array\",\"items\":".repeat(100) + "{}" + &"}".repeat(100);
    for (levels, ends) in [(20, false), (27, false), (28, true), (30, true)] {
        let wraps = of_v(&schema, &format!("{{\"a\":{}}}", arrays(levels - 1)));
        assert_eq!(wraps.contains("type_mismatch"), ends, "{levels}: {wraps}");
        of_v(&schema, &quoted(&arrays(levels)));
        of_v(&schema, &quoted(&format!("{{\"a\":{}}}", arrays(levels))));
    }
}

#[test]
fn halves_of_a_pair_from_two_levels_of_escapes_are_one_character() {
    for text in [
        r#"{\"v\":\"\ud83d\\udca9\"}"#,
        r#"{\"v\":\"\\ud83d\udca9\"}"#,
        r#"{\"v\":\"\ud83d\udca9\"}"#,
        r#"{\"v\":\"\\ud83d\\udca9\"}"#,
        r#"{\"v\":\"x\ud83dx\\udca9\"}"#,
    ] {
        for schema in
            [r#"{"maxLength":1}"#, r#"{"const":"💩"}"#, r#"{"enum":["x","💩"]}"#, r#"{"type":"array"}"#]
        {
            let schema = format!("{{\"type\":\"object\",\"properties\":{{\"v\":{schema}}}}}");
            agree(&schema, &format!("\"arguments_text\":\"{text}\""));
        }
        // The same as a member's name.
        let text = text.replace("\\\"v\\\":", "").replace('}', ":1}");
        agree(
            r#"{"type":"object","required":["💩"],"properties":{"💩":{"type":"string"}}}"#,
            &format!("\"arguments_text\":\"{text}\""),
        );
    }
}

#[test]
fn text_repairs_stop_where_the_published_rules_stop() {
    let texts = [
        "",
        " ",
        "{",
        "{ ",
        "[",
        "{\"a\"",
        "{\"a\":",
        "{\"a\": ",
        "{\"a\":1",
        "{\"a\":1 ",
        "{\"a\":1\n",
        "{\"a\":-",
        "{\"a\":tru",
        "{\"a\":true",
        "{\"a\":\"x\"",
        "{\"a\":\"x",
        "{\"a\":\"x\\",
        "{\"a\":[",
        "{\"a\":[1,",
        "{\"a\":[1,]",
        "{\"a\":[1,],}",
        "{\"a\":[,]}",
        "{,}",
        "{\"a\":1,,}",
        "{\"a\":[1,,2]}",
        "{\"a\":1,}",
        "{\"a\":1,} ",
        "{\"a\":1},",
        "{\"a\":1} , ",
        "{\"a\":1}}",
        "{\"a\":1]",
        "{\"a\":[}",
        "{\"a\":[}]",
        "{\"a\",}",
        "{\"a\":,}",
        "1,",
        "\"{}\",",
        "\"{}\"",
        "\"{} \" ,",
        "\"[]\"",
        "\"[]\",",
        "\"[{}]\"",
        "{\"a\":1,\"b\"",
        "{\"a\":{\"b\":[{\"c\":null",
        "{\"a\":{\"b\":[{\"c\":null,",
        "{\"a\":1.",
        "{\"a\":1e",
        "{\"a\":01,}",
        "{\"a\":1,}x",
        "{\"a\":1;}",
        "{'a':1}",
        "{a:1}",
        "// x\n{}",
        "{}//",
        "{\"a\":NaN}",
        "\u{feff}{}",
        "{\"a\":1\u{a0}",
        "{\"a\":\"\n\",}",
        "{\"a\":\"\\x\",}",
        "[{\"a\":1}",
        "{\"a\":1 \"b\":2,}",
        "{\"a\":1,\"a\":[2,",
        "{\"a\":[\"],\",",
        "{\"a\":\",}\",}",
    ];
    for text in texts {
        for schema in [
            "{\"type\":\"object\"}",
            "{\"type\":[\"object\",\"null\"]}",
            "{}",
            "{\"type\":[\"object\",\"string\"]}",
            "{\"type\":[\"object\",\"array\"]}",
            "{\"type\":\"array\"}",
            "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}}}",
        ] {
            agree(schema, &format!("\"arguments_text\":{}", quoted(text)));
        }
    }
}

#[test]
fn one_rule_or_none_where_several_types_are_listed() {
    let values = [
        "\"1\"",
        "\"1.5\"",
        "\"true\"",
        "\"[]\"",
        "\"{}\"",
        "\" {} \"",
        "\"null\"",
        "\"{\\\"a\\\":1,\\\"a\\\":2}\"",
        "1",
        "1.5",
        "true",
        "null",
        "[]",
        "{}",
        "\"x\"",
        "{\"a\":\"1\"}",
        "[\"1\"]",
        "\"[\\\"1\\\"]\"",
        "\"\\\"1\\\"\"",
        "\"1e400\"",
        "\"-0\"",
    ];
    let kinds = crate::generate::TYPES;
    for bits in 1_u32..1 << kinds.len() {
        if bits.count_ones() > 3 {
            continue;
        }
        let listed: Vec<String> = (0..kinds.len())
            .filter(|bit| bits >> bit & 1 == 1)
            .map(|bit| format!("\"{}\"", kinds[bit]))
            .collect();
        for value in values {
            for more in [
                "",
                ",\"items\":{\"type\":\"integer\"}",
                ",\"enum\":[\"X\",\"TRUE\",\"1\"]",
                ",\"properties\":{\"a\":{\"type\":\"integer\"}}",
            ] {
                let schema = format!("{{\"type\":[{}]{more}}}", listed.join(","));
                of_v(&schema, value);
                agree(
                    &format!("{{\"properties\":{{\"v\":{schema}}},\"required\":[\"v\"]}}"),
                    &format!("\"arguments\":{{\"v\":{value}}}"),
                );
            }
        }
    }
}

#[test]
fn published_bodies_are_refused_in_their_order() {
    let cases = [
        ("[]", "invalid_request_body"),
        ("null", "invalid_request_body"),
        ("{}", "schema_missing"),
        ("{\"arguments\":{}}", "schema_missing"),
        ("{\"schema\":null,\"arguments\":{}}", "schema_invalid"),
        ("{\"schema\":5}", "schema_invalid"),
        ("{\"schema\":true}", "schema_not_covered"),
        ("{\"schema\":{}}", "arguments_missing"),
        ("{\"schema\":{},\"arguments\":{},\"arguments_text\":\"{}\"}", "arguments_ambiguous"),
        ("{\"schema\":{},\"arguments\":null,\"arguments_text\":null}", "arguments_ambiguous"),
        ("{\"schema\":{},\"arguments_text\":{}}", "arguments_text_invalid"),
        ("{\"schema\":{},\"arguments_text\":null}", "arguments_text_invalid"),
        ("{\"schema\":{},\"arguments\":null}", "arguments_not_object"),
        ("{\"schema\":{},\"arguments\":\"{}\"}", "arguments_not_object"),
        ("{\"schema\":{\"type\":\"object\"},\"arguments\":\"{}\"}", "arguments_not_object"),
        ("{\"schema\":{},\"schema\":{},\"arguments\":{}}", "invalid_request_body"),
        ("{\"schema\":{},\"arguments\":{},\"\\u0061rguments\":{}}", "invalid_request_body"),
        ("{\"schema\":{\"anyOf\":[]},\"arguments\":5}", "schema_not_covered"),
        ("{\"schema\":{\"type\":\"dict\"}}", "schema_invalid"),
    ];
    for (body, code) in cases {
        assert_eq!(engine(body), code, "{body}");
    }
    assert!(engine("{\"schema\":{},\"arguments\":{},\"more\":1}").contains("VALID"));
    let large = format!("{{\"schema\":{{}},\"arguments\":{{\"a\":\"{}\"}}}}", "x".repeat(262_144));
    assert_eq!(engine(&large), "CAP-EXCEEDED:body_bytes");
}
