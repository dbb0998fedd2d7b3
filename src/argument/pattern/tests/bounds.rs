//! Bounds of time and memory, by steps.

use super::*;

/// The answer and the steps spent on it.
fn spend(pattern: &Pattern, text: &[u8], steps: u64) -> (Result<bool, Exhausted>, u64) {
    let mut budget = Budget::of_steps(steps);
    let answer = pattern.is_match(text, &mut budget);
    (answer, steps - budget.left())
}

fn compile(source: &str) -> Pattern {
    Pattern::compile(source.as_bytes()).unwrap_or_else(|e| panic!("{source}: {e}"))
}

fn long(end: &str) -> Vec<u8> {
    let mut text = vec![b'a'; 40_000];
    text.extend_from_slice(end.as_bytes());
    text
}

#[test]
fn regular_patterns_are_linear() {
    for source in [
        "(a+)+$",
        "^(a+)+$",
        "(?<!x)(a+)+$",
        "(?=(a+)+$)",
        "^(?!(a+)+b)(a|a)*$",
        "(a*)*b",
        "(a|aa)+$",
        r"^(\w+\s?)*$",
        "(.*)*x",
        "[^@]+@[^@]+",
        "a{1,5000}b",
        "(?:a{1,9}){1,9}b",
        r"^\-?(a+)+$",
        "(?<=(a+)+b)!",
        r"\p{L}+\d\p{L}+$",
    ] {
        let pattern = compile(source);
        for (text, expected) in [(long("!"), false), (long("é😀\u{feff}!"), false)] {
            let (answer, steps) = spend(&pattern, &text, 20_000_000);
            assert_eq!(answer, Ok(expected), "{source}");
            assert!(steps < 4_000_000, "{source}: {steps}");
            assert_eq!(
                spend(&pattern, &text, 20_000_000).1,
                steps,
                "{source}: the second time costs the same"
            );
        }
    }
    assert_eq!(spend(&compile("^(a+)+!$"), &long("!"), 2_000_000).0, Ok(true));
    assert_eq!(spend(&compile("(?<!x)(a+)+(?=!)"), &long("!"), 2_000_000).0, Ok(true));
}

#[test]
fn the_rest_stops_when_the_budget_is_spent() {
    for source in
        [r"^(a+)+\1!!$", r"(?:(a|aa)+)+\1b", r"(.*)(.*)(.*)\1x", "(?:(?:(?:a|a){0,90}){0,90}){0,90}b"]
    {
        let mut budget = Budget::of_steps(3_000_000);
        assert_eq!(compile(source).is_match(&long("!"), &mut budget), Err(Exhausted), "{source}");
        assert_eq!(budget.left(), 0, "{source}");
    }
}

#[test]
fn comparing_with_a_capture_costs_its_length() {
    let pattern = compile(r"^(a+)(?=\1)b");
    let (_, short) = spend(&pattern, &long("b")[30_000..], 1 << 40);
    let (_, tall) = spend(&pattern, &long("b"), 1 << 40);
    assert!(tall > 6 * short, "{tall}, {short}");
    let literal = compile(&"a".repeat(6_400));
    assert!(spend(&literal, &long("")[..6_399], 1 << 40).1 > 6_399 * 100);
}

#[test]
fn the_deadline_is_asked_for() {
    let late = || true;
    let mut budget = Budget::new(u64::MAX, &late);
    assert_eq!(compile(r"^(a+)+\1!!$").is_match(&long("!"), &mut budget), Err(Exhausted));
}

#[test]
fn choices_are_bounded() {
    // Two frames for each `a` with a count to undo, so more than the bound in all.
    let pattern = compile(r"^(?:a|(b)){3,}\1c");
    let text = vec![b'a'; 2_000_000];
    let (answer, steps) = spend(&pattern, &text, u64::MAX);
    assert_eq!(answer, Err(Exhausted));
    assert!(steps < 10_000_000, "{steps}");
}

#[test]
fn nesting_and_counts_cost_memory_in_proportion_only() {
    let nested = |open: &str, close: &str, times: usize| open.repeat(times) + "a" + &close.repeat(times);
    for (source, expected) in [
        (nested("(?:", ")", 100_000), Ok(true)),
        (nested("(?=", ")", 100_000), Ok(true)),
        (nested("(?:", ")*", 1_000), Ok(true)),
        (nested("(?:b", "|a)*", 60_000), Ok(true)),
        (nested("(", ")", 60_000) + r"\60000", Ok(false)),
        (nested("(", ")?", 60_000) + r"\60000", Ok(true)),
        ("(?:a|".repeat(60_000) + &")".repeat(60_000), Ok(true)),
        ("(?:ab){2,4000000000}".repeat(20_000), Ok(false)),
        ("[a-z]{2,4000000000}".repeat(20_000), Ok(false)),
        (r"\d\W.".repeat(100_000), Ok(false)),
    ] {
        let pattern = compile(&source);
        assert_eq!(spend(&pattern, b"a", 1 << 32).0, expected, "{}", &source[..20]);
        assert!(pattern.program.insts.len() < 3 * source.len());
        assert!(pattern.ast.classes.len() <= source.len() / 4);
    }
}

#[test]
fn property_sets_are_shared_between_classes() {
    let pattern = compile(&r"[\p{L}a][^\p{L}\p{L}]".repeat(10_000));
    let held: usize = pattern.ast.classes.iter().map(class::Class::held).sum();
    assert!(held <= 20_000, "{held}");
}

#[test]
fn patterns_are_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Pattern>();
}
