//! Seeded generators of schemas, of arguments that nearly fit them, and of their texts; and a shrinker.

use crate::reference::{J, PATTERNS, units, write};

/// A small deterministic generator (splitmix64): the same seed gives the same cases on every machine.
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap()
    }

    pub(crate) fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

const NAMES: &[&str] = &["a", "b", "c", "d", "", "x.y", "é", "__proto__", "10", "a b", "q\"", "$"];
const TEXTS: &[&str] = &[
    "",
    "a",
    "ab",
    "aB",
    "AB",
    "b",
    "red",
    "Red",
    "RED",
    "true",
    "false",
    "True",
    "null",
    "1",
    "1.0",
    "1.5",
    "-0",
    "1e2",
    "01",
    "1.",
    " 1",
    "+1",
    "20.00",
    "é",
    "É",
    "ß",
    "SS",
    "ss",
    "İ",
    "i̇",
    "ΑΣ",
    "ας",
    "ασ",
    "💩",
    "x\ny",
    "yes",
    "9007199254740993",
    "12345678901234567890",
    "1e400",
    "\"a\"",
    "[1",
    "{\"a\":1",
    "a,b",
    "\u{7f}",
    "k",
    "\u{212a}",
];
const NUMBERS: &[&str] = &[
    "0", "-0", "1", "1.0", "1e0", "10e-1", "2", "3", "1.5", "-1", "-1.5", "100", "1e2", "1E+2", "0.5",
    "5e-1", "7", "20.0",
];
/// Numbers that no f64 holds.
const WIDE: &[&str] =
    &["1e400", "-1e400", "1e-400", "9007199254740993", "9007199254740992.0", "0.1", "12345678901234567890"];
pub(crate) const TYPES: &[&str] = &["string", "number", "integer", "boolean", "null", "array", "object"];

/// What the values may hold.
#[derive(Clone, Copy)]
pub(crate) struct Range {
    /// Numbers that no f64 holds, lone surrogates, and repeated names.
    pub(crate) wide: bool,
    /// Values that a repair might turn into what is wanted.
    pub(crate) repairable: bool,
}

pub(crate) fn number(rng: &mut Rng, range: Range) -> J {
    let list = if range.wide && rng.percent(15) { WIDE } else { NUMBERS };
    J::Num((rng.pick(list)).to_owned())
}

pub(crate) fn text(rng: &mut Rng, range: Range) -> J {
    let mut text = rng.pick(TEXTS);
    while !range.wide && text.parse::<f64>().is_ok_and(|number| number.abs() > 1e9) {
        text = rng.pick(TEXTS);
    }
    let mut text = units(text);
    if range.wide && rng.percent(4) {
        let at = rng.below(text.len() + 1);
        text.insert(at, rng.pick(&[0xd83d, 0xdca9, 0xdfff]));
    }
    J::Str(text)
}

fn name(rng: &mut Rng, range: Range) -> Vec<u16> {
    if range.wide && rng.percent(2) {
        return vec![0x61, 0xd800];
    }
    if rng.percent(70) { units(NAMES[rng.below(4)]) } else { units(rng.pick(NAMES)) }
}

fn members<T>(
    rng: &mut Rng,
    range: Range,
    most: usize,
    mut make: impl FnMut(&mut Rng) -> T,
) -> Vec<(Vec<u16>, T)> {
    let mut out: Vec<(Vec<u16>, T)> = Vec::new();
    for _ in 0..rng.below(most + 1) {
        let name = name(rng, range);
        let value = make(rng);
        if !out.iter().any(|(own, _)| *own == name) {
            out.push((name, value));
        }
    }
    out
}

/// Any value.
pub(crate) fn value(rng: &mut Rng, range: Range, depth: usize) -> J {
    match rng.below(if depth == 0 { 6 } else { 9 }) {
        0 => J::Null,
        1 => J::Bool(rng.percent(50)),
        2 | 3 => number(rng, range),
        4 | 5 => text(rng, range),
        6 | 7 => {
            let len = rng.below(4);
            J::Arr((0..len).map(|_| value(rng, range, depth - 1)).collect())
        }
        _ => J::Obj(members(rng, range, 3, |rng| value(rng, range, depth - 1))),
    }
}

/// A schema of the covered subset. Sparse, so that values often fit.
pub(crate) fn schema(rng: &mut Rng, range: Range, depth: usize) -> J {
    let mut out: Vec<(&str, J)> = Vec::new();
    let named = |name: &&str| J::str(name);
    let mut types = Vec::new();
    for _ in 0..rng.pick(&[0, 1, 1, 1, 1, 1, 2, 2, 3]) {
        let kind = rng.pick(if depth == 0 { &TYPES[..5] } else { TYPES });
        if !types.contains(&kind) {
            types.push(kind);
        }
    }
    match types[..] {
        [] => {}
        [single] if rng.percent(90) => out.push(("type", J::str(single))),
        _ => out.push(("type", J::Arr(types.iter().map(named).collect()))),
    }
    let about = |kind: &str, rng: &mut Rng| {
        let fits = types.contains(&kind) || kind == "number" && types.contains(&"integer");
        rng.percent(if fits || types.is_empty() { 45 } else { 6 })
    };
    if rng.percent(14) {
        let strings = rng.percent(65);
        let len = 1 + rng.below(4);
        let entry = |rng: &mut Rng| if strings { text(rng, range) } else { value(rng, range, 1) };
        out.push(("enum", J::Arr((0..len).map(|_| entry(rng)).collect())));
    }
    if rng.percent(5) {
        out.push(("const", value(rng, range, 2)));
    }
    if about("string", rng) {
        bounds(rng, &mut out, &["minLength", "maxLength"], &["0", "1", "2", "3", "2.0", "4"]);
        if rng.percent(25) {
            out.push(("pattern", J::str(rng.pick(PATTERNS).0)));
        }
    }
    if about("number", rng) {
        let names = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
        bounds(rng, &mut out, &names, &["0", "1", "1.0", "2", "100", "-1", "1.5", "0.5"]);
    }
    if about("array", rng) {
        bounds(rng, &mut out, &["minItems", "maxItems"], &["0", "1", "2", "3"]);
        if rng.percent(40) {
            out.push(("uniqueItems", J::Bool(rng.percent(85))));
        }
        if depth > 0 && rng.percent(80) {
            out.push(("items", schema(rng, range, depth - 1)));
        }
    }
    if about("object", rng) {
        object_keywords(rng, range, depth, &mut out);
    }
    J::obj(&out)
}

fn bounds(rng: &mut Rng, out: &mut Vec<(&'static str, J)>, names: &[&'static str], limits: &[&str]) {
    for name in names {
        if rng.percent(18) {
            out.push((name, J::Num((rng.pick(limits)).to_owned())));
        }
    }
}

fn object_keywords(rng: &mut Rng, range: Range, depth: usize, out: &mut Vec<(&'static str, J)>) {
    bounds(rng, out, &["minProperties", "maxProperties"], &["0", "1", "2", "3"]);
    if depth > 0 {
        let properties = members(rng, range, 4, |rng| schema(rng, range, depth - 1));
        out.push(("properties", J::Obj(properties)));
    }
    if rng.percent(40) {
        let names = members(rng, range, 2, |_| ());
        out.push(("required", J::Arr(names.into_iter().map(|(name, ())| J::Str(name)).collect())));
    }
    if rng.percent(30) {
        out.push(("additionalProperties", J::Bool(rng.percent(30))));
    }
}

/// The schema of a whole call: nearly always an object.
pub(crate) fn root_schema(rng: &mut Rng, range: Range) -> J {
    let mut out: Vec<(&str, J)> = Vec::new();
    match rng.below(20) {
        0 => {
            out.push((
                "type",
                J::Arr(vec![J::str("object"), J::str(rng.pick(&["null", "array", "string"]))]),
            ));
        }
        1 => {}
        2 => return schema(rng, range, 3),
        _ => out.push(("type", J::str("object"))),
    }
    object_keywords(rng, range, 3, &mut out);
    J::obj(&out)
}

/// A value that the schema nearly describes.
pub(crate) fn fitting(rng: &mut Rng, range: Range, schema: &J) -> J {
    if rng.percent(6) {
        return value(rng, range, 2);
    }
    if let (Some(J::Arr(entries)), true) = (schema.get("enum"), rng.percent(80)) {
        return near(rng, range, rng_entry(entries, rng.0));
    }
    if let (Some(only), true) = (schema.get("const"), rng.percent(80)) {
        return near(rng, range, only.clone());
    }
    let kind = match schema.get("type") {
        Some(J::Str(kind)) => String::from_utf16(kind).unwrap(),
        Some(J::Arr(kinds)) => match &kinds[rng.below(kinds.len())] {
            J::Str(kind) => String::from_utf16(kind).unwrap(),
            _ => String::new(),
        },
        _ if schema.get("properties").is_some() => "object".to_owned(),
        _ if schema.get("items").is_some() => "array".to_owned(),
        _ => (rng.pick(TYPES)).to_owned(),
    };
    let made = match kind.as_str() {
        "string" => text(rng, range),
        "number" | "integer" => number(rng, range),
        "boolean" => J::Bool(rng.percent(50)),
        "null" => J::Null,
        "array" => {
            let anything = J::Obj(Vec::new());
            let items = schema.get("items").unwrap_or(&anything);
            let len = rng.below(4);
            J::Arr((0..len).map(|_| fitting(rng, range, items)).collect())
        }
        _ => fitting_object(rng, range, schema),
    };
    near(rng, range, made)
}

fn rng_entry(entries: &[J], salt: u64) -> J {
    entries[usize::try_from(salt % entries.len() as u64).unwrap()].clone()
}

/// An object with most of the declared members, in any order, and now and then another.
pub(crate) fn fitting_object(rng: &mut Rng, range: Range, schema: &J) -> J {
    let mut out = Vec::new();
    if let Some(J::Obj(properties)) = schema.get("properties") {
        for (name, schema) in properties {
            if rng.percent(80) {
                let place = rng.below(out.len() + 1);
                out.insert(place, (name.clone(), fitting(rng, range, schema)));
            }
        }
    }
    if rng.percent(12) {
        let name = name(rng, range);
        if !out.iter().any(|(own, _)| *own == name) {
            out.push((name, value(rng, range, 1)));
        }
    }
    J::Obj(out)
}

/// The value, or what a caller's slip makes of it.
fn near(rng: &mut Rng, range: Range, value: J) -> J {
    if !range.repairable || !rng.percent(22) {
        return value;
    }
    let mut spelling = String::new();
    write(&value, &mut spelling);
    match (rng.below(6), &value) {
        (0, _) => J::Null,
        (1, J::Arr(items)) if items.len() == 1 => items[0].clone(),
        (1 | 2, J::Str(text)) => {
            let text = String::from_utf16_lossy(text);
            J::str(&if rng.percent(50) { text.to_uppercase() } else { text.to_lowercase() })
        }
        (3, _) => J::str(&format!(" {spelling}\n")),
        (4, J::Str(_)) => value,
        _ => J::str(&spelling),
    }
}

/// The text of a value with white space, escapes and repeated names put in at random.
pub(crate) fn noisy(rng: &mut Rng, value: &J, repeats: bool, out: &mut String) {
    space(rng, out);
    match value {
        J::Arr(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                noisy(rng, item, repeats, out);
            }
            space(rng, out);
            out.push(']');
        }
        J::Obj(members) => {
            out.push('{');
            for (index, (name, value)) in members.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                if repeats && rng.percent(3) {
                    let repeated = rng.below(index + 1);
                    noisy(rng, &J::Str(members[repeated].0.clone()), false, out);
                    out.push_str(":[null],");
                }
                noisy(rng, &J::Str(name.clone()), false, out);
                space(rng, out);
                out.push(':');
                noisy(rng, value, repeats, out);
            }
            space(rng, out);
            out.push('}');
        }
        J::Str(text) if rng.percent(20) => {
            out.push('"');
            for unit in text {
                out.push_str(&format!("\\u{unit:04X}"));
            }
            out.push('"');
        }
        other => write(other, out),
    }
    space(rng, out);
}

fn space(rng: &mut Rng, out: &mut String) {
    while rng.percent(10) {
        out.push(rng.pick(&[' ', '\n', '\t', '\r']));
    }
}

/// The smallest value, by dropping and replacing parts, that still `fails`.
pub(crate) fn shrink(value: J, fails: &dyn Fn(&J) -> bool) -> J {
    let mut best = value;
    'again: loop {
        for smaller in smaller(&best) {
            if fails(&smaller) {
                best = smaller;
                continue 'again;
            }
        }
        return best;
    }
}

fn smaller(value: &J) -> Vec<J> {
    let mut out = Vec::new();
    match value {
        J::Arr(items) => {
            for (index, item) in items.iter().enumerate() {
                let mut fewer = items.clone();
                fewer.remove(index);
                out.push(J::Arr(fewer));
                for item in smaller(item) {
                    let mut simpler = items.clone();
                    simpler[index] = item;
                    out.push(J::Arr(simpler));
                }
            }
        }
        J::Obj(members) => {
            for (index, (_, value)) in members.iter().enumerate() {
                let mut fewer = members.clone();
                fewer.remove(index);
                out.push(J::Obj(fewer));
                for value in smaller(value) {
                    let mut simpler = members.clone();
                    simpler[index].1 = value;
                    out.push(J::Obj(simpler));
                }
            }
        }
        J::Str(text) if text.len() > 1 => {
            for index in 0..text.len().min(40) {
                let mut shorter = text.clone();
                shorter.remove(index);
                out.push(J::Str(shorter));
            }
        }
        _ => {}
    }
    out
}
