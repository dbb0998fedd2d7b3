//! `contract/*.json` against the published documents themselves: every fact of theirs stands at the same place in ours.
//!
//! A fact is a number, a boolean, null, or a label (a string of fewer than six words); longer strings are prose, which
//! the contract files say in their own words. The documents are no part of this repository: without them the
//! tests say so and end.

use std::fs;

use millwork_dock::contract;
use serde_json::Value;

use super::{column, file, strings};
use crate::data;

/// From how many words on a string is prose.
const PROSE_WORDS: usize = 6;

/// How one of our files relates to its published document, beyond "the same fact at the same place".
struct Comparison {
    document: &'static str,
    ours: &'static str,
    /// Places of the published document that are compared otherwise (see the test), or by number of items only.
    length_only: &'static [&'static str],
    elsewhere: &'static [&'static str],
    /// Prose that is carried over word for word, since it is an identifier.
    verbatim: &'static [&'static str],
    /// Places of ours that turn published prose into data: each number and single word has to occur there.
    derived: &'static [&'static str],
    /// Places of ours that the published document does not have.
    own: &'static [&'static str],
}

const VERIFIER_DOCK: Comparison = Comparison {
    document: "003_",
    ours: contract::VERIFIER_DOCK,
    length_only: &["/retention/never_sent_to_the_dock"],
    elsewhere: &[],
    verbatim: &[],
    derived: &["/access/kit_modes", "/access/authentication_failure_statuses"],
    own: &["/client"],
};

const TOOL_ARGUMENT: Comparison = Comparison {
    document: "000_",
    ours: contract::TOOL_ARGUMENT,
    length_only: &["/verdicts", "/never_a_repair", "/custody/ledger_closed_fields"],
    elsewhere: &["/endpoints"],
    verbatim: &[
        "/whitelist/2/applies",
        "/whitelist/3/applies",
        "/whitelist/4/applies",
        "/whitelist/5/applies",
        "/whitelist/6/applies",
        "/whitelist/8/applies",
    ],
    derived: &["/free_endpoints", "/ops", "/diff", "/schema_subset/not_checked", "/stop_rules"],
    own: &[
        "/schema_subset/also_not_covered",
        "/schema_subset/annotations",
        "/refusal_order",
        "/caps",
        "/free_refusals",
        "/custody/ledger_columns",
    ],
};

const TOKEN_EFFICIENCY: Comparison = Comparison {
    document: "002_",
    ours: contract::TOKEN_EFFICIENCY,
    length_only: &["/custody/ledger_closed_fields"],
    elsewhere: &["/endpoints"],
    verbatim: &["/verdict_grammar/line"],
    derived: &[
        "/free_endpoints",
        "/endpoints",
        "/revisions",
        "/input_contract/ignored_members",
        "/shares",
        "/withholding",
        "/blocks/0/members",
        "/blocks/0/null_reasons",
        "/blocks/1",
        "/free_precheck",
        "/custody/ledger_never",
        "/forbidden",
        "/stop_rules",
    ],
    own: &["/refusals", "/blocks/2", "/custody/ledger_columns"],
};

#[test]
fn every_fact_of_the_verifier_dock_contract_stands_in_ours() {
    compare(&VERIFIER_DOCK);
}

#[test]
fn every_fact_of_the_tool_argument_criteria_stands_in_ours() {
    compare(&TOOL_ARGUMENT);
}

#[test]
fn every_fact_of_the_token_efficiency_criteria_stands_in_ours() {
    compare(&TOKEN_EFFICIENCY);
}

fn compare(comparison: &Comparison) {
    let Some(text) = published(comparison.document) else { return };
    let mut walk = Walk { comparison, text: &text, used: Vec::new(), facts: 0, wrong: Vec::new() };
    let (published, ours) = (file(&text), file(comparison.ours));
    walk.forward(&published, Some(&ours), "");
    walk.backward(&ours, Some(&published), "");
    let Comparison { length_only, elsewhere, verbatim, derived, own, .. } = comparison;
    for place in [*length_only, elsewhere, verbatim, derived, own].concat() {
        assert!(walk.used.iter().any(|used| used == place), "the exception {place} matches nothing");
    }
    assert!(walk.wrong.is_empty(), "{}", walk.wrong.join("\n"));
    assert!(walk.facts > 30, "only {} facts compared", walk.facts);
}

#[test]
fn the_withholding_tables_are_the_published_ones() {
    let Some(text) = published("002_") else { return };
    let withholding = &file(contract::TOKEN_EFFICIENCY)["withholding"];
    let triples = withholding["box_unique_triples"].to_string();
    let triples = triples.trim_start_matches('[').trim_end_matches(']').replace("],[", "], [");
    assert!(text.contains(&format!("[{triples}]")), "{triples}");
    let (string, schema) = (&withholding["least_bytes"]["string"], &withholding["least_bytes"]["schema"]);
    let table = format!(
        "string parts β(0)={}, β(1)={}, β(2)={}, β(c)=c for c≥3; schema parts β(0)={}, β(c)=c for c≥1",
        string["0"], string["1"], string["2"], schema["0"]
    );
    assert!(text.contains(&table), "{table}");
    assert!(string["from_3"].is_string() && schema["from_1"].is_string());
}

#[test]
fn what_is_compared_elsewhere_is_equal_too() {
    for (document, ours) in [("000_", contract::TOOL_ARGUMENT), ("002_", contract::TOKEN_EFFICIENCY)] {
        let Some(text) = published(document) else { return };
        let (published, ours) = (file(&text), file(ours));
        for name in ["criteria", "precheck", "check", "metrics"] {
            let endpoint = ours["endpoints"][name].as_str().expect(name);
            let said = published["endpoints"][name].as_str().expect(name);
            assert_eq!(said.split(' ').take(2).collect::<Vec<_>>().join(" "), endpoint);
            assert_eq!(said.contains("(free"), strings(&ours, "/free_endpoints").contains(&name), "{name}");
        }
    }
    let Some(text) = published("000_") else { return };
    let (published, ours) = (file(&text), file(contract::TOOL_ARGUMENT));
    let verdicts: Vec<&str> =
        strings(&published, "/verdicts").iter().filter_map(|said| said.split(' ').next()).collect();
    assert_eq!(verdicts, column(&ours, "/verdicts", "name"));
}

#[test]
fn the_embedded_schemas_are_equal_but_for_their_descriptions() {
    let Some(text) = published("003_") else { return };
    let (published, ours) = (file(&text), file(contract::VERIFIER_DOCK));
    for of in ["request", "response"] {
        assert_eq!(without_prose(&published[of]["schema"]), without_prose(&ours[of]["schema"]), "{of}");
    }
}

/// The text of the published document whose name begins so; none, said plainly, where the documents are absent.
fn published(prefix: &str) -> Option<String> {
    let folder = data::path("../seeds")?;
    let mut files = fs::read_dir(folder).expect("the folder can be read").filter_map(Result::ok);
    let found = files.find(|entry| entry.file_name().to_string_lossy().starts_with(prefix));
    let path = found.unwrap_or_else(|| panic!("no document {prefix}… among the published ones")).path();
    Some(fs::read_to_string(path).expect("a published document is text"))
}

fn without_prose(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => members
            .iter()
            .filter(|(name, value)| {
                !(["description", "$comment"].contains(&name.as_str()) && value.is_string())
            })
            .map(|(name, value)| (name.clone(), without_prose(value)))
            .collect(),
        other => other.clone(),
    }
}

/// One comparison under way.
struct Walk<'a> {
    comparison: &'a Comparison,
    text: &'a str,
    used: Vec<String>,
    facts: usize,
    wrong: Vec<String>,
}

impl Walk<'_> {
    /// Every fact of `published` is in `ours`.
    fn forward(&mut self, published: &Value, ours: Option<&Value>, at: &str) {
        if self.listed(self.comparison.elsewhere, at) {
            return;
        }
        let Some(ours) = ours else {
            if holds_fact(published) {
                self.wrong.push(format!("{at} is missing"));
            }
            return;
        };
        match published {
            Value::Object(members) => {
                for (name, value) in members {
                    self.forward(value, ours.get(name), &format!("{at}/{name}"));
                }
            }
            Value::Array(items) => self.forward_items(items, ours, at),
            Value::String(said) if is_prose(said) => {
                if self.listed(self.comparison.verbatim, at) {
                    self.expect_equal(published, ours, at);
                }
            }
            fact => self.expect_equal(fact, ours, at),
        }
    }

    fn forward_items(&mut self, items: &[Value], ours: &Value, at: &str) {
        let count = ours.as_array().map(Vec::len);
        if count != Some(items.len()) {
            self.wrong.push(format!("{at}: {} items, ours {count:?}", items.len()));
        } else if !self.listed(self.comparison.length_only, at) {
            for (index, item) in items.iter().enumerate() {
                self.forward(item, ours.get(index), &format!("{at}/{index}"));
            }
        }
    }

    fn expect_equal(&mut self, published: &Value, ours: &Value, at: &str) {
        self.facts += 1;
        if published != ours && *published != Value::String(label(ours)) {
            self.wrong.push(format!("{at}: {published}, ours {ours}"));
        }
    }

    /// Every number and every list of `ours` is published, or listed as derived or own.
    fn backward(&mut self, ours: &Value, published: Option<&Value>, at: &str) {
        if self.listed(self.comparison.own, at) {
            return;
        }
        if self.listed(self.comparison.derived, at) {
            return self.occurs(ours, at);
        }
        match (ours, published) {
            (Value::Object(members), _) => {
                for (name, value) in members {
                    self.backward(value, published.and_then(|said| said.get(name)), &format!("{at}/{name}"));
                }
            }
            (Value::Array(items), Some(Value::Array(_))) => {
                for (index, item) in items.iter().enumerate() {
                    self.backward(item, published.and_then(|said| said.get(index)), &format!("{at}/{index}"));
                }
            }
            (Value::Array(_), _) | (Value::Number(_), None) => {
                self.wrong.push(format!("{at} is not published"));
            }
            _ => {}
        }
    }

    /// Every number and single word under `ours` occurs in the published text.
    fn occurs(&mut self, ours: &Value, at: &str) {
        match ours {
            Value::Object(members) => members.values().for_each(|value| self.occurs(value, at)),
            Value::Array(items) => items.iter().for_each(|item| self.occurs(item, at)),
            Value::Number(number) if !has_number(self.text, &number.to_string()) => {
                self.wrong.push(format!("{at}: {number} is not in the published text"));
            }
            Value::String(word) if !word.contains(' ') && !self.text.contains(word.as_str()) => {
                self.wrong.push(format!("{at}: `{word}` is not in the published text"));
            }
            _ => {}
        }
    }

    fn listed(&mut self, places: &[&str], at: &str) -> bool {
        let found = places.contains(&at);
        if found {
            self.used.push(at.to_owned());
        }
        found
    }
}

fn is_prose(said: &str) -> bool {
    said.split_whitespace().count() >= PROSE_WORDS
}

fn holds_fact(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.values().any(holds_fact),
        Value::Array(items) => items.iter().any(holds_fact),
        Value::String(said) => !is_prose(said),
        _ => true,
    }
}

/// How the published lists name what one of our rows describes: `code`, with the status if it is not 400.
fn label(ours: &Value) -> String {
    let code = ours["code"].as_str().unwrap_or_default();
    match ours["status"].as_u64() {
        Some(status) if status != 400 => format!("{code} ({status})"),
        _ => code.to_owned(),
    }
}

/// Whether `number` stands in `text` as a number of its own, thousands set off by commas or not.
fn has_number(text: &str, number: &str) -> bool {
    let plain = text.replace(',', "");
    let loose = text.replace(',', " ");
    let is_number_char = |c: char| c.is_ascii_digit() || c == '.';
    [plain, loose]
        .iter()
        .any(|text| text.split(|c| !is_number_char(c)).any(|token| token.trim_matches('.') == number))
}
