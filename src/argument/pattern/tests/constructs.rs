//! One construct at a time. The same tables are put to Node by [`super::oracle`].

use super::*;

/// Pattern, a text it matches, a text it does not match.
pub(super) const PAIRS: &[(&str, &str, &str)] = &[
    // Disjunction, concatenation, anchors.
    ("^ab$", "ab", "abc"),
    ("b", "abc", "ac"),
    ("^(?:a|bc|)$", "", "b"),
    ("a^b|c$", "c", "ab"),
    // Quantifiers: greedy, lazy, counted, saturating.
    ("^a*?b$", "aab", "aac"),
    ("^a{2,3}$", "aaa", "aaaa"),
    ("^a{2}$", "aa", "a"),
    ("^(?:ab){2,}$", "ababab", "ab"),
    ("^(?:ab){2,}?c$", "ababc", "abc"),
    ("^(?:a|ab)(?:c|bcd)(?:d*)$", "abcd", "abbcb"),
    ("^x{0,4294967296}$", "xxx", "xy"),
    ("^(?:xy){0,99999999999999999999}$", "xyxy", "x"),
    ("^(?:){4294967296}$", "", "a"),
    ("^a{0}b$", "b", "ab"),
    ("^(?:a??){3}b$", "aab", "aaaab"),
    // `.` and the classes.
    ("^.$", "\u{85}", "\n"),
    ("^.$", "\u{b}", "\u{2028}"),
    ("^.$", "😀", "\u{2029}"),
    (r"^\d\D$", "1x", "\u{661}x"),
    (r"^\w\W$", "_é", "éé"),
    (r"^\s$", "\u{feff}", "\u{85}"),
    (r"^\s\S$", "\u{3000}x", "\u{180e}x"),
    ("^[a-c]$", "b", "d"),
    ("^[^a-c]$", "😀", "a"),
    ("^[^]$", "\n", ""),
    ("^(?:[]|a)$", "a", "]"),
    (r"^[\d\-x]$", "-", "y"),
    ("^[-a]$", "-", "b"),
    ("^[a&&b]$", "&", "c"),
    ("^[!--~~[]$", "[", "b"),
    (r"^[\b]$", "\u{8}", "b"),
    ("^[é-ü]$", "ö", "z"),
    ("^[😀-😎]$", "😃", "🙀"),
    // Boundaries are ASCII.
    (r"\bb\b", "a b c", "abc"),
    (r"é\b", "éa", "é "),
    (r"a\Bb", "ab", "a b"),
    (r"^\B$", "", "a"),
    // Escapes.
    (r"^\cJ\t\x41\u0042\u{43}\0$", "\n\tABC\0", "\n\tABC0"),
    (r"^\ud83d\ude00$", "😀", "😎"),
    (r"^\.\/\{\}$", "./{}", "x/{}"),
    // Captures and references to them.
    (r"^(a+)b\1$", "aabaa", "aaba"),
    (r"^(?<q>['x])y\k<q>$", "xyx", "xy'"),
    (r"^\k<later>(?<later>a)$", "a", "aa"),
    (r"^(?:(a)|b)*\1$", "ab", "ba"),
    (r"^(a)?\1b$", "b", "ab"),
    (r"^(?:(a)|(b)|c)+\1\2$", "abc", "cca"),
    (r"^(a\1)$", "a", "aa"),
    (r"^(?:(?=(a))?)*\1b$", "b", "ab"),
    // Empty iterations.
    ("^(?:a*)*$", "aa", "b"),
    ("^(?:a?){3}$", "aaa", "aaaa"),
    (r"^(?:|a)+$", "aaa", "b"),
    (r"^(?:a*?)*?b$", "aab", "aac"),
    // Look-around, nested, with captures, backwards.
    ("^(?=.*[A-Z])(?=.*[0-9]).{4,}$", "abC4", "abcd"),
    ("^(?!.*[.]{2})[a-z.]+$", "a.b", "a..b"),
    ("(?<=[$])[0-9]+", "$5", "5"),
    ("(?<![$])(?<![0-9])[0-9]+", "5", "$55"),
    (r"^(?=(a+))a*b\1$", "aaabaaa", "aaaba"),
    (r"(?<=^(\d+)(\d+))\1\2$", "123123", "12"),
    (r"(?<=\1(a))b", "aab", "ab"),
    (r"(?<=(?<a>\w){2})\k<a>$", "cbc", "cbb"),
    ("(?<=a(?=bc)b)c", "abc", "abd"),
    ("(?<!^|a)b", "cb", "ab"),
    (r"^(?!(a)b)\1a", "ac", "ab"),
    // Properties.
    (r"^\p{Lu}\P{Lu}$", "Éé", "éé"),
    (r"^[\p{L}\p{Nd}_]+$", "naïve_٣", "a-b"),
    (r"^\p{Script=Greek}$", "α", "a"),
    (r"^\p{scx=Deva}$", "।", "a"),
    (r"^[^\p{ASCII}]$", "é", "e"),
    (r"^\p{Emoji_Presentation}$", "😀", "1"),
    // Only without `u`.
    (r"^[\w-\.]+$", "a-b.c", "a b"),
    (r"^\-\_\a$", "-_a", "-_b"),
    ("^a{,5}$", "a{,5}", "aaa"),
    ("^]{x}$", "]{x}", "x"),
    (r"^\101\8\400$", "A8 0", "A84"),
    (r"^\c$", "\\c", "c"),
    (r"^[\c1\c_\c]+$", "\u{11}\u{1f}\\c", "1"),
    (r"^\x4\u004$", "x4u004", "\u{4}"),
    (r"^(?=a)*a$", "a", "b"),
    (r"^\k<n>$", "k<n>", "n"),
    (r"^\1(a)\2$", "a\u{2}", "a2"),
    (r"^\p{L}\-$", "p{L}-", "a-"),
    (r"^\u{2}\-$", "uu-", "\u{2}-"),
    (r"^.\-$", "a-", "😀-"),
    (r"^..\-$", "😀-", "a-"),
    (r"^[😀]{2}\-$", "😀-", "a-"),
];

/// Sources that compile neither way.
pub(super) const INVALID: &[&str] = &[
    "(",
    ")",
    "[",
    "*",
    "a**",
    "+",
    "?",
    "{1}",
    "a|{1}",
    "^*",
    "a{2,1}",
    "(?",
    "(?a)",
    "(?i:a)",
    "(?<a",
    "(?<a>",
    "(?<>a)",
    "(?<1>a)",
    "(?<a>x)(?<a>y)",
    "(?<a>x)|(?<a>y)",
    r"\",
    r"[\",
    "[b-a]",
    "(?<=a)*",
    "(?<!a){2}",
    r"(?<a>)\k",
    r"(?<a>)\k<b>",
    r"(?<a>)[\k]",
    "(?:",
    "a)",
    "x{9999999999999999999999,1}",
    r"\b+",
    "a???",
];

#[test]
fn each_construct_matches_what_it_should() {
    let mut wrong = Vec::new();
    for (source, matches, fails) in PAIRS {
        let Ok(pattern) = Pattern::compile(source.as_bytes()) else {
            wrong.push(format!("{source} does not compile"));
            continue;
        };
        for (text, expected) in [(matches, true), (fails, false)] {
            let answers = ask(&pattern, text.as_bytes(), 100_000);
            let linear = (!pattern.ast.has_back).then_some(expected);
            if answers != (Answers { whole: Some(expected), backtracking: Some(expected), linear }) {
                wrong.push(format!("{source} on {text:?}: {answers:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn lone_surrogates_are_code_points() {
    let lone = wtf8(&[0xD83D]);
    for (source, text, expected) in [
        ("^.$", &lone, true),
        (r"^\ud83d$", &lone, true),
        (r"^\u{d83d}$", &lone, true),
        (r"^[\ud800-\udbff]$", &lone, true),
        (r"^[^a]$", &lone, true),
        (r"^\p{Cs}$", &lone, true),
        (r"^\p{L}$", &lone, false),
        (r"\ud83d", &wtf8(&[0xD83D, 0xDE00]), false),
        (r"\ud83d\-?", &wtf8(&[0xD83D, 0xDE00]), true),
        (r"(?<=\ud83d)\ude00\-?", &wtf8(&[0xD83D, 0xDE00]), true),
    ] {
        let pattern = Pattern::compile(source.as_bytes()).unwrap();
        let answers = ask(&pattern, text, 10_000);
        assert_eq!((answers.whole, answers.linear), (Some(expected), Some(expected)), "{source}");
    }
    let pattern = Pattern::compile(&lone).unwrap();
    assert_eq!(pattern.is_match(&lone, &mut Budget::of_steps(100)), Ok(true), "in the source, too");
}

#[test]
fn refuses_what_compiles_neither_way() {
    for source in INVALID {
        assert!(Pattern::compile(source.as_bytes()).is_err(), "{source}");
    }
    let many = "()".repeat(65_536);
    assert!(Pattern::compile(many.as_bytes()).is_err(), "more groups than V8 takes");
    assert!(Pattern::compile(&many.as_bytes()[2..]).is_ok());
    assert!(Pattern::compile("a".repeat(MAX_SOURCE + 1).as_bytes()).is_err());
}

#[test]
fn errors_say_where_and_quote_nothing() {
    let error = Pattern::compile(b"secret(").unwrap_err();
    assert_eq!(error, PatternError { offset: 7, reason: "unterminated group" });
    assert_eq!(error.to_string(), "unterminated group at byte 7");
}

#[test]
fn takes_the_mode_that_compiles() {
    for (source, unicode) in
        [("a", true), (r"\-", false), (r"[\-]", true), ("{", false), (r"\p{L}", true), (r"\p{x}", false)]
    {
        assert_eq!(Pattern::compile(source.as_bytes()).unwrap().unicode, unicode, "{source}");
    }
}

#[test]
fn finds_where_a_match_can_start() {
    let filter = |source: &str| Pattern::compile(source.as_bytes()).unwrap().program.prefilter;
    for source in ["^a", "(?:^a|^b)", "^", "(?=b)^a", "(^)", "(?:^)+a"] {
        assert_eq!(filter(source), Prefilter::Start, "{source}");
    }
    for source in ["", "a*", "^a|b", "(?:^)*a", "$", r"(b?)\1", "(?:a|)"] {
        assert_eq!(filter(source), Prefilter::Anywhere, "{source}");
    }
    for source in ["a", "a+", "a*b", "(?:a|[b-c])", r"\ba", "(?:a?b?){2}c", "(?!x)a", "(?:a|bc)*c"] {
        let Prefilter::Bytes(bytes) = filter(source) else { panic!("{source}") };
        assert!(Prefilter::has(&bytes, b'a') && !Prefilter::has(&bytes, b'x'), "{source}");
    }
}
