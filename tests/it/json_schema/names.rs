//! `patternProperties` is matched by the crate's linear engine, `pattern` by this library's own: they are to agree,
//! or the pattern is refused there.

use millwork_dock::argument::pattern::Pattern;
use millwork_dock::budget::Budget;

use super::{STEPS, check, compile};
use crate::reference::PATTERNS;

/// Patterns where ECMA-262 and Rust's expressions part.
const PARTING: &[&str] = &[
    r"\d",
    r"^\d+$",
    r"\D",
    r"\w",
    r"^\w+$",
    r"\W",
    r"\s",
    r"^\s$",
    r"\S",
    r"^\S$",
    ".",
    "^.$",
    "^..$",
    "a$",
    "^$",
    "$^",
    "[^a]",
    "^[^a]$",
    "[]",
    "[^]",
    "^[^]$",
    r"\bé",
    r"\b",
    r"\B",
    r"a\\\B",
    r"\\b",
    r"\ba\b",
    r"[\d-z]",
    r"[a-\d]",
    r"[\w-]",
    r"[a&&b]",
    r"[a--b]",
    r"[a~~b]",
    "[[a]]",
    "[[:alpha:]]",
    r"\cJ",
    r"[\cJ]",
    r"\x41",
    r"\u00e9",
    r"\u{1F4A9}",
    r"\ud83d\udca9",
    "💩",
    "^💩$",
    "[💩]",
    r"\p{L}",
    r"^\p{Letter}+$",
    r"\p{Script=Greek}",
    r"\P{L}",
    r"\p{Lu}",
    r"\/",
    r"\-",
    r"a\-b",
    "(?:a|b)+",
    "(?<n>a)b",
    "a{2}",
    "a{,2}",
    "a{2,}",
    "a{1,2}?",
    "a*?b",
    "{",
    "a{",
    "}",
    "]",
    r"\0",
    r"[\b]",
    r"\t\n\v\f\r",
    "x*",
    "(a*)*",
    "(a|ab)(c|bcd)",
    "^(?:a|ab)$",
    "#a",
    "a b",
    "(?i:a)",
    "(?i)a",
    "a++",
    r"\A",
    r"\z",
    r"\Z",
    r"\h",
    r"\G",
    r"\Qa\E",
    "(?#c)a",
    "(?P<n>a)",
    "(?>a)",
    r"\N",
    r"\R",
    r"\X",
    r"\e",
    r"\a",
    "[a-Z]",
    "^[a-z0-9_.-]+$",
    "^x-",
    "ſ",
    "K",
];

const NAMES: &[&str] = &[
    "",
    "a",
    "b",
    "A",
    "ab",
    "abc",
    "abcd",
    "aa",
    "aaa",
    "B",
    "Z",
    "z",
    "m",
    "1",
    "12",
    "٣",
    "_",
    "-",
    "a-b",
    "a b",
    "#a",
    "é",
    "É",
    "aé",
    "ß",
    "ſ",
    "k",
    "K",
    "\u{212a}",
    "α",
    "Ω",
    "中",
    "💩",
    "💩💩",
    "\n",
    "a\n",
    "\r",
    "\u{85}",
    "\u{a0}",
    "\u{feff}",
    "\u{2028}",
    "\u{2029}",
    "\u{b}",
    "\u{c}",
    "\t",
    " ",
    "\u{0}",
    "\u{1}",
    "\u{8}",
    "\u{7}",
    "\u{1b}",
    "/",
    "\\",
    "{",
    "}",
    "[",
    "]",
    "a{",
    "a{,2}",
    "&",
    "&&",
    "a&b",
    "~",
    "^",
    "$",
    ".",
    "x-a",
    "Qa",
    "h",
    "e",
    "[:alpha:]",
    "J",
    "cJ",
    "N",
    "R",
    "X",
    "G",
];

#[test]
fn patterns_of_names_find_what_patterns_of_texts_find() {
    let (mut pairs, mut refused) = (0, Vec::new());
    let mut differing: Vec<String> = Vec::new();
    for pattern in PATTERNS.iter().map(|(pattern, ..)| *pattern).chain(PARTING.iter().copied()) {
        let quoted = serde_json::to_string(pattern).unwrap();
        let ours = Pattern::compile(pattern.as_bytes());
        let Ok(theirs) = compile(&format!("{{\"patternProperties\":{{{quoted}:false}}}}")) else {
            refused.push(pattern);
            continue;
        };
        let ours = ours.unwrap_or_else(|error| panic!("{pattern}: {error}"));
        for name in NAMES {
            let expected = ours.is_match(name.as_bytes(), &mut Budget::of_steps(STEPS)).unwrap();
            let instance = format!("{{{}:1}}", serde_json::to_string(name).unwrap());
            let found = !check(&theirs, instance.as_bytes()).unwrap().failed.is_empty();
            pairs += 1;
            if found != expected {
                differing.push(format!("{pattern} {name:?}: ours {expected}"));
            }
        }
    }
    println!("{pairs} pairs; refused {refused:?}");
    assert!(differing.is_empty(), "{differing:#?}");
    assert!(pairs > 4_000, "{pairs}");
    for unread in [r"\A", r"\z", r"\b", r"a\\\B", "^(?!t)"] {
        assert!(refused.contains(&unread), "{unread}");
    }
}
