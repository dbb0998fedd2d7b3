//! The parser and the writer against Node's `JSON.parse` and `JSON.stringify` on generated texts: the same texts
//! accepted, the same values read, the same texts written.

use millwork_dock::json::{Document, Kind, Text, Value, write_ecma};

use crate::generate::Rng;
use crate::node;

const TEXTS: usize = 120_000;

#[test]
fn reads_and_writes_what_node_does() {
    let texts = texts();
    let lines: Vec<u8> = texts.iter().flat_map(|text| line(text)).collect();
    let Some(mut script) = node::ask("tests/it/json_node.mjs", lines) else { return };
    let mut accepted = 0;
    for text in &texts {
        let answer = script.answer();
        let own = match Document::parse_decoded(text.clone()) {
            Ok(document) => {
                let mut written = Vec::new();
                write_ecma(document.root(), &mut written);
                format!("{}\t{}", canonical(document.root()), String::from_utf8(written).unwrap())
            }
            Err(error) => {
                assert!(error.offset <= text.len(), "{error}");
                "!".to_owned()
            }
        };
        assert_eq!(own, answer, "{}", String::from_utf8_lossy(text));
        if let Ok(whole) = std::str::from_utf8(text) {
            let strict = Document::parse(whole.as_bytes().to_vec());
            assert_eq!(strict.is_ok(), own != "!", "{whole}");
        }
        accepted += usize::from(own != "!");
    }
    script.end();
    println!("{TEXTS} texts, of which {accepted} are JSON");
    assert!(accepted > TEXTS / 4 && accepted < TEXTS * 3 / 4, "a mix of both kinds: {accepted}");
}

/// The text as a line of JSON for Node, all of it escaped as code units.
fn line(text: &[u8]) -> Vec<u8> {
    let mut out = String::from("\"");
    for unit in code_units(text) {
        match char::from_u32(u32::from(unit)) {
            Some(c @ ' '..='~') if c != '"' && c != '\\' => out.push(c),
            _ => out.push_str(&format!("\\u{unit:04x}")),
        }
    }
    out.push_str("\"\n");
    out.into_bytes()
}

/// WTF-8 as UTF-16.
fn code_units(text: &[u8]) -> Vec<u16> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.first() {
        let len = match first {
            0..0x80 => 1,
            0x80..0xE0 => 2,
            0xE0..0xF0 => 3,
            _ => 4,
        };
        let mut code = u32::from(*first) & (0xFF >> if len == 1 { 0 } else { len + 1 });
        for byte in &rest[1..len] {
            code = code << 6 | u32::from(*byte) & 0x3F;
        }
        if code >= 0x1_0000 {
            out.push(u16::try_from(0xD800 + ((code - 0x1_0000) >> 10)).unwrap());
            out.push(u16::try_from(0xDC00 + ((code - 0x1_0000) & 0x3FF)).unwrap());
        } else {
            out.push(u16::try_from(code).unwrap());
        }
        rest = &rest[len..];
    }
    out
}

fn hex(text: Text<'_>) -> String {
    code_units(&text.decode()).iter().map(|unit| format!("{unit:04x}")).collect()
}

/// The same canonical form as the script's.
fn canonical(value: Value<'_>) -> String {
    match value.kind() {
        Kind::Null => "null".to_owned(),
        Kind::Boolean => value.as_bool().unwrap().to_string(),
        Kind::Number => {
            let lexeme = String::from_utf8(value.as_number().unwrap().lexeme().to_vec()).unwrap();
            format!("n{:016x}", lexeme.parse::<f64>().unwrap().to_bits())
        }
        Kind::String => format!("s{}", hex(value.as_text().unwrap())),
        Kind::Array => {
            let items: Vec<String> = value.items().map(canonical).collect();
            format!("[{}]", items.join(","))
        }
        Kind::Object => {
            let mut members: Vec<(String, String)> =
                value.members().map(|member| (hex(member.name()), canonical(member.value()))).collect();
            members.sort();
            let members: Vec<String> =
                members.into_iter().map(|(name, value)| format!("{name}:{value}")).collect();
            format!("{{{}}}", members.join(","))
        }
    }
}

fn texts() -> Vec<Vec<u8>> {
    let mut rng = Rng::new(77);
    let texts = (0..TEXTS).map(|_| {
        let mut text = Vec::new();
        let depth = if rng.percent(2) { 200 } else { 4 };
        value(&mut rng, depth, &mut text);
        if rng.percent(60) {
            for _ in 0..=rng.below(2) {
                mutate(&mut rng, &mut text);
            }
        }
        text
    });
    texts.collect()
}

const PIECES: &[&str] = &[
    "\"", "\\", "{", "}", "[", "]", ",", ":", "-", "+", ".", "0", "1", "e", "E", " ", "\n", "\t", "\r",
    "\u{b}", "\u{a0}", "\u{feff}", "\u{2028}", "\u{0}", "\u{1f}", "\u{7f}", "\u{85}", "true", "null", "nul",
    "NaN", "Infinity", "//", "/*", "'", "\\u", "\\ud83d", "\\udca9", "\\u00", "\\x41", "\\/", "é", "💩",
    "0x1", "01", "1.", ".5", "1e", "1e+", "-0",
];

fn mutate(rng: &mut Rng, text: &mut Vec<u8>) {
    let mut places: Vec<usize> =
        (0..=text.len()).filter(|at| text.get(*at).is_none_or(|byte| byte & 0xC0 != 0x80)).collect();
    let (from, to) = (rng.below(places.len()), rng.below(places.len()));
    match rng.below(6) {
        0 => text.truncate(places[from]),
        1 | 2 => drop(text.splice(places[from]..places[from], rng.pick(PIECES).bytes())),
        3 if from + 1 < places.len() => drop(text.drain(places[from]..places[from + 1])),
        4 if from + 1 < places.len() => {
            drop(text.splice(places[from]..places[from + 1], rng.pick(PIECES).bytes()));
        }
        _ => {
            places.truncate(from.max(to) + 1);
            text.drain(places[from.min(to)]..places[from.max(to)]);
        }
    }
}

fn value(rng: &mut Rng, depth: usize, out: &mut Vec<u8>) {
    space(rng, out);
    let deep = depth > 10;
    match if deep { 7 + rng.below(2) } else { rng.below(if depth == 0 { 7 } else { 10 }) } {
        0 => out.extend_from_slice(b"null"),
        1 => out.extend_from_slice(if rng.percent(50) { b"true" } else { b"false" }),
        2..=4 => number(rng, out),
        5 | 6 => string(rng, out),
        7 | 9 => {
            out.push(b'[');
            for index in 0..if deep { 1 } else { rng.below(4) } {
                out.extend_from_slice(if index > 0 { b"," } else { b"" });
                value(rng, depth - 1, out);
            }
            out.push(b']');
        }
        _ => {
            out.push(b'{');
            for index in 0..if deep { 1 } else { rng.below(5) } {
                out.extend_from_slice(if index > 0 { b"," } else { b"" });
                space(rng, out);
                match rng.pick(&[
                    "a",
                    "b",
                    "10",
                    "9",
                    "0",
                    "01",
                    "4294967294",
                    "4294967295",
                    "\\u0031",
                    "-1",
                    "__proto__",
                    "constructor",
                    "toString",
                    "\\u0061",
                    "*",
                ]) {
                    "*" => string(rng, out),
                    name => out.extend_from_slice(format!("\"{name}\"").as_bytes()),
                }
                space(rng, out);
                out.push(b':');
                value(rng, depth - 1, out);
            }
            out.push(b'}');
        }
    }
    space(rng, out);
}

fn space(rng: &mut Rng, out: &mut Vec<u8>) {
    while rng.percent(8) {
        out.push(rng.pick(b" \t\n\r"));
    }
}

fn number(rng: &mut Rng, out: &mut Vec<u8>) {
    const WHOLE: &[&str] = &[
        "0",
        "1",
        "42",
        "9007199254740993",
        "18446744073709551616",
        "179769313486231580793",
        "5",
        "17976931348623157",
        "22250738585072014",
        "123456789012345678901234567890123456789012345678901234567890",
    ];
    const FRACTION: &[&str] = &[
        "",
        "",
        ".0",
        ".5",
        ".1",
        ".30000000000000004",
        ".000000000000000000000000000001",
        ".99999999999999999999",
    ];
    const EXPONENT: &[&str] = &[
        "",
        "",
        "",
        "e0",
        "E+2",
        "e-2",
        "e308",
        "e309",
        "e-324",
        "e-325",
        "e292",
        "e-400",
        "e1000000000",
        "e-1000000000",
        "e00000000000000000001",
        "e99999999999999999999999",
    ];
    out.extend_from_slice(if rng.percent(25) { b"-" } else { b"" });
    for part in [WHOLE, FRACTION, EXPONENT] {
        out.extend_from_slice(rng.pick(part).as_bytes());
    }
}

fn string(rng: &mut Rng, out: &mut Vec<u8>) {
    const PARTS: &[&[u8]] = &[
        b"a",
        b"b",
        b" ",
        b"\\n",
        b"\\\"",
        b"\\\\",
        b"\\/",
        b"\\b\\f\\r\\t",
        b"\\u0000",
        b"\\u001f",
        b"\\u00e9",
        b"\\u00E9",
        b"\\ud83d\\udca9",
        b"\\ud83d",
        b"\\udca9",
        b"\\uD83D\\u0041",
        b"\\udca9\\ud83d",
        b"\xc3\xa9",
        b"\xe2\x82\xac",
        b"\xf0\x9f\x92\xa9",
        b"\xe2\x80\xa8",
        b"\x7f",
        b"/",
        b"{",
        b"]",
        b":,",
        b"\xef\xbf\xbf",
        b"\xf4\x8f\xbf\xbf",
    ];
    out.push(b'"');
    for _ in 0..rng.below(5) {
        out.extend_from_slice(rng.pick(PARTS));
    }
    if rng.percent(3) {
        // A raw lone surrogate, as a text inside a string may hold; never beside its other half, which WTF-8 joins.
        out.extend_from_slice(rng.pick(&[
            &b"x\xed\xa0\xbdx"[..],
            b"x\xed\xb2\xa9x",
            b"\xed\xa0\xbd\\udca9",
            b"\\ud83d\xed\xb2\xa9",
        ]));
    }
    out.push(b'"');
}
