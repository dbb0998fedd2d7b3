//! The assertions of one node, without `type` and those about members.

use std::cmp::Ordering;

use super::decimal;
use super::repairs::{has_type, types};
use super::tree::{J, units, write_string};

/// Patterns that every engine reads alike, each with its meaning by hand.
pub(crate) const PATTERNS: &[(&str, fn(&[u32]) -> bool)] = &[
    ("^a", |text| text.first() == Some(&0x61)),
    ("b$", |text| text.last() == Some(&0x62)),
    ("^[a-z]+$", |text| !text.is_empty() && text.iter().all(|code| (0x61..=0x7a).contains(code))),
    ("[0-9]", |text| text.iter().any(|code| (0x30..=0x39).contains(code))),
    ("^.{2,3}$", |text| (2..=3).contains(&text.len()) && !text.contains(&10)),
    ("^$", |text| text.is_empty()),
    ("red|1e", |text| {
        text.windows(3).any(|run| run == [0x72, 0x65, 0x64]) || text.windows(2).any(|run| run == [0x31, 0x65])
    }),
    ("\\d{2}", |text| text.windows(2).any(|run| run.iter().all(|code| (0x30..=0x39).contains(code)))),
    ("^(?!t)", |text| text.first() != Some(&0x74)),
];

/// The codes of the assertions that fail, in their order.
pub(super) fn failing(schema: &J, value: &J) -> Vec<&'static str> {
    let mut codes = Vec::new();
    let mut note = |fails: bool, code| {
        if fails {
            codes.push(code);
        }
    };
    let of = |name: &str| schema.get(name);
    if let Some(J::Arr(entries)) = of("enum") {
        note(!entries.contains(value), "enum_mismatch");
    }
    if let Some(only) = of("const") {
        note(only != value, "const_mismatch");
    }
    let order = |name: &str, lexeme: &str| match of(name) {
        Some(J::Num(bound)) => Some(decimal::compare(lexeme, bound)),
        _ => None,
    };
    let count = |name: &str, len: usize| order(name, &len.to_string());
    let (less, greater, equal) = (Some(Ordering::Less), Some(Ordering::Greater), Some(Ordering::Equal));
    match value {
        J::Str(text) => {
            let codes: Vec<u32> = char::decode_utf16(text.iter().copied())
                .map(|read| read.map_or_else(|lone| u32::from(lone.unpaired_surrogate()), u32::from))
                .collect();
            note(count("minLength", codes.len()) == less, "string_too_short");
            note(count("maxLength", codes.len()) == greater, "string_too_long");
            if let Some(J::Str(pattern)) = of("pattern") {
                let known =
                    PATTERNS.iter().find(|(source, _)| units(source) == *pattern).expect("a known pattern");
                note(!known.1(&codes), "pattern_mismatch");
            }
        }
        J::Num(lexeme) => {
            note(order("minimum", lexeme) == less, "minimum_violation");
            note(order("maximum", lexeme) == greater, "maximum_violation");
            let at_least = order("exclusiveMinimum", lexeme);
            note(at_least == less || at_least == equal, "exclusive_minimum_violation");
            let at_most = order("exclusiveMaximum", lexeme);
            note(at_most == greater || at_most == equal, "exclusive_maximum_violation");
        }
        J::Arr(items) => {
            note(count("minItems", items.len()) == less, "array_too_short");
            note(count("maxItems", items.len()) == greater, "array_too_long");
            let repeated = items.iter().enumerate().any(|(index, item)| items[..index].contains(item));
            note(repeated && matches!(of("uniqueItems"), Some(J::Bool(true))), "items_not_unique");
        }
        J::Obj(members) => {
            note(count("minProperties", members.len()) == less, "too_few_properties");
            note(count("maxProperties", members.len()) == greater, "too_many_properties");
        }
        _ => {}
    }
    codes
}

pub(super) fn required(schema: &J) -> Vec<Vec<u16>> {
    let Some(J::Arr(names)) = schema.get("required") else { return Vec::new() };
    names.iter().filter_map(|name| if let J::Str(name) = name { Some(name.clone()) } else { None }).collect()
}

pub(super) fn requires(schema: &J, name: &[u16]) -> bool {
    required(schema).iter().any(|own| own == name)
}

pub(super) fn admits_null(schema: &J) -> bool {
    let holds = types(schema).is_none_or(|names| names.iter().any(|name| has_type(&J::Null, name)));
    holds && failing(schema, &J::Null).is_empty()
}

/// The path of a member. A lone surrogate is left to the JSON quoting of the name.
pub(super) fn member_path(path: &str, name: &[u16]) -> String {
    let plain = String::from_utf16(name).ok().filter(|name| {
        !name.is_empty()
            && !name.chars().any(|character| {
                character.is_whitespace() || character.is_control() || ".[]\"\\".contains(character)
            })
    });
    match plain {
        Some(name) => format!("{path}.{name}"),
        None => {
            let mut quoted = String::new();
            write_string(name, &mut quoted);
            format!("{path}[{quoted}]")
        }
    }
}
