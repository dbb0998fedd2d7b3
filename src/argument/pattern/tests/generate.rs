//! Random patterns and texts, from a seed.

use std::fmt::Write as _;

/// `SplitMix64`.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

/// Characters that texts and patterns share. `⟨` and `⟩` stand for a lone high and a lone low surrogate.
const LETTERS: &[&str] =
    &["a", "a", "a", "b", "b", "c", "0", "1", "8", "_", "-", " ", "é", "😀", "⟨", "⟩", "k"];
const RARE: &[&str] = &[
    "\n",
    "\r",
    "\u{2028}",
    "\u{FEFF}",
    "\u{85}",
    "\u{A0}",
    "\0",
    "\u{1}",
    "\t",
    "\\",
    "]",
    "{",
    "}",
    "x",
    "u",
    "p",
    "ſ",
    "\u{212A}",
    "𝒜",
    "Σ",
    "\u{10FFFF}",
    "\u{1F}",
    "\u{8}",
    "B",
    "/",
    ",",
    "<",
    ">",
];

/// Writes the stand-ins as what they stand for.
pub(super) fn units(text: &str) -> Vec<u16> {
    text.encode_utf16()
        .map(|unit| match unit {
            0x27E8 => 0xD83D,
            0x27E9 => 0xDE00,
            unit => unit,
        })
        .collect()
}

pub(super) fn text(random: &mut Random) -> String {
    let length = random.below(13);
    (0..length).map(|_| if random.one_in(12) { random.pick(RARE) } else { random.pick(LETTERS) }).collect()
}

/// What kinds of patterns to make.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    /// Constructs that only patterns without `u` have.
    pub(super) annex_b: bool,
    pub(super) surrogates: bool,
}

/// A pattern that is mostly well-formed.
pub(super) fn pattern(random: &mut Random, kind: Kind) -> String {
    let mut maker = Maker { random, kind, out: String::new(), groups: 0, names: 0 };
    maker.disjunction(3);
    if !kind.surrogates {
        maker.out.retain(|c| c != '⟨' && c != '⟩');
    }
    maker.out
}

const TOKENS: &[&str] = &[
    "a",
    "b",
    "(",
    ")",
    "(?:",
    "(?=",
    "(?!",
    "(?<=",
    "(?<!",
    "(?<n>",
    "(?<m>",
    "[",
    "[^",
    "]",
    "-",
    "|",
    "*",
    "+",
    "?",
    "??",
    "{",
    "}",
    "{1}",
    "{2,1}",
    "{0,2}",
    "{,3}",
    "{1,",
    "\\",
    "\\1",
    "\\2",
    "\\8",
    "\\01",
    "\\377",
    "\\400",
    "\\k",
    "\\k<n>",
    "\\c",
    "\\cA",
    "\\c1",
    "\\c_",
    "\\x",
    "\\x4",
    "\\x61",
    "\\u",
    "\\u0061",
    "\\u{61}",
    "\\u{110000}",
    "\\ud83d",
    "\\ude00",
    "\\b",
    "\\B",
    "\\d",
    "\\W",
    "\\s",
    "\\p{L}",
    "\\P{Lu}",
    "\\p{x}",
    "\\p",
    "\\-",
    "\\/",
    "\\_",
    "^",
    "$",
    ".",
    ",",
    "<",
    ">",
    ":",
    "=",
    "!",
    "😀",
    "⟨",
    "⟩",
    "0",
    "1",
    "é",
    "\\é",
    "\\😀",
    "\\0",
    "\\00",
    "(?",
    "(?<",
    "(?<é>",
    "(?<$>",
    "(?<\\u0061>",
    "(?i:",
];

/// Any sequence of tokens: mostly malformed.
pub(super) fn junk(random: &mut Random) -> String {
    let length = 1 + random.below(7);
    (0..length).map(|_| random.pick(TOKENS)).collect()
}

struct Maker<'r> {
    random: &'r mut Random,
    kind: Kind,
    out: String,
    groups: usize,
    names: usize,
}

impl Maker<'_> {
    fn disjunction(&mut self, depth: usize) {
        self.alternative(depth);
        while self.random.one_in(4) {
            self.out.push('|');
            self.alternative(depth);
        }
    }

    fn alternative(&mut self, depth: usize) {
        for _ in 0..self.random.below(4) {
            self.term(depth);
        }
    }

    fn term(&mut self, depth: usize) {
        match self.random.below(if depth == 0 { 16 } else { 22 }) {
            0..=6 => {
                self.character();
                self.quantifier(true);
            }
            7 | 8 => {
                self.class();
                self.quantifier(true);
            }
            9 => {
                let escapes = [
                    "\\d",
                    "\\D",
                    "\\w",
                    "\\W",
                    "\\s",
                    "\\S",
                    ".",
                    "\\p{L}",
                    "\\P{L}",
                    "\\p{Emoji}",
                    "\\p{sc=Greek}",
                ];
                self.out += self.random.pick(&escapes);
                self.quantifier(true);
            }
            10 => self.out += self.random.pick(&["^", "$", "\\b", "\\B"]),
            11 | 12 => {
                let number = 1 + self.random.below(self.groups.max(1) + 1);
                if self.names > 0 && self.random.one_in(3) {
                    let name = self.random.below(self.names);
                    write!(self.out, "\\k<n{name}>").unwrap();
                } else {
                    write!(self.out, "\\{number}").unwrap();
                }
                self.quantifier(false);
            }
            13 => self.escape(),
            14 | 15 => self.character(),
            16 | 17 => self.group("(", depth),
            18 => {
                if self.random.one_in(3) {
                    let open = format!("(?<n{}>", self.names);
                    self.names += 1;
                    self.group(&open, depth);
                } else {
                    self.group("(?:", depth);
                }
            }
            19 => self.group("(?:", depth),
            _ => {
                let open = self.random.pick(&["(?=", "(?!", "(?<=", "(?<!"]);
                self.out += open;
                self.disjunction(depth - 1);
                self.out.push(')');
                if self.kind.annex_b && open.len() == 3 && self.random.one_in(3) {
                    self.quantifier(false);
                }
            }
        }
    }

    fn group(&mut self, open: &str, depth: usize) {
        self.out += open;
        if open != "(?:" {
            self.groups += 1;
        }
        self.disjunction(depth - 1);
        self.out.push(')');
        self.quantifier(false);
    }

    fn quantifier(&mut self, single: bool) {
        if self.random.one_in(2) {
            return;
        }
        let quantifiers = [
            "*",
            "+",
            "?",
            "{2}",
            "{0,1}",
            "{1,2}",
            "{2,}",
            "{0}",
            "{1}",
            "{0,2}",
            "{,2}",
            "{0,4294967296}",
            "{4294967296}",
            "{2,99999999999}",
        ];
        // Node takes its time over large bounds of groups.
        let count = if self.kind.annex_b { 11 } else { 10 };
        let count = if single && self.random.one_in(20) { quantifiers.len() } else { count };
        self.out += self.random.pick(&quantifiers[..count]);
        if self.random.one_in(3) {
            self.out.push('?');
        }
    }

    fn character(&mut self) {
        if self.random.one_in(15) {
            let rare = self.random.pick(RARE);
            if "\\]{}/".contains(rare) {
                self.out.push('\\');
            }
            self.out += rare;
        } else {
            self.out += self.random.pick(LETTERS);
        }
    }

    fn escape(&mut self) {
        let all = [
            "\\n",
            "\\t",
            "\\x61",
            "\\u0061",
            "\\ud83d\\ude00",
            "\\ud83d",
            "\\ude00",
            "\\cA",
            "\\0",
            "\\.",
            "\\/",
            "\\u{61}",
            "\\u{1F600}",
            "\\u{d83d}",
            "\\-",
            "\\_",
            "\\c",
            "\\c1",
            "\\01",
            "\\101",
            "\\400",
            "\\8",
            "\\k",
            "\\x",
            "\\u",
            "\\u00",
            "\\é",
            "\\😀",
            "]",
            "{",
            "}",
            "\\p",
            "{a}",
            "\\a",
        ];
        let count = if self.kind.annex_b { all.len() } else { 14 };
        self.out += self.random.pick(&all[..count]);
    }

    fn class(&mut self) {
        self.out += self.random.pick(&["[", "[", "[^"]);
        for _ in 0..self.random.below(4) {
            self.member();
            if self.random.one_in(4) {
                self.out.push('-');
                self.member();
            }
        }
        self.out.push(']');
    }

    fn member(&mut self) {
        let all = [
            "a",
            "b",
            "c",
            "0",
            "1",
            "_",
            "k",
            "é",
            "😀",
            "⟨",
            "⟩",
            "^",
            "[",
            ".",
            "(",
            "*",
            "|",
            "&&",
            "~~",
            "\\d",
            "\\W",
            "\\s",
            "\\S",
            "\\p{L}",
            "\\P{Lu}",
            "\\b",
            "\\]",
            "\\\\",
            "\\-",
            "\\x61",
            "\\u0062",
            "\\ud83d",
            "\\u{1F600}",
            "\\n",
            "\\cA",
            "\\0",
            "\u{FFFF}",
            "\u{10FFFF}",
            "\\c",
            "\\c1",
            "\\c_",
            "\\1",
            "\\8",
            "\\377",
            "\\k",
            "\\B",
            "\\x",
            "\\u",
            "\\é",
            "\\a",
        ];
        let count = if self.kind.annex_b { all.len() } else { 38 };
        self.out += self.random.pick(&all[..count]);
    }
}
