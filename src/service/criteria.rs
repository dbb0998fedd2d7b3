//! The published criteria as this dock serves them: its own document from `contract/`, naming its own corpus and
//! tokenizer where it counts with others than the published ones.

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value, json};

use super::Op;
use crate::contract;
use crate::profile::tokens;

/// The document of one operation, made once.
#[derive(Debug, Clone)]
pub struct Criteria {
    /// JSON.
    pub body: String,
    /// A strong validator of it, in quotes (RFC 9110, section 8.8.3).
    pub etag: String,
}

/// What every report says beside its findings: what it is about, what it is not, what was paid for.
#[derive(Debug, Clone)]
pub struct Statements(String);

/// The contract of an operation as JSON. It is compiled in, and a test reads it: empty only if that test fails.
fn contract(op: Op) -> Map<String, Value> {
    let text = match op {
        Op::ArgumentCheck => contract::TOOL_ARGUMENT,
        Op::SplitProfile => contract::TOKEN_EFFICIENCY,
    };
    serde_json::from_str(text).unwrap_or_default()
}

/// The pin of our own corpus, which verifies this engine.
fn own_corpus(op: Op) -> Value {
    let corpus: Value = serde_json::from_str(op.corpus()).unwrap_or_default();
    json!({"id": corpus.get("corpus_id"), "sha256": corpus.get("sha256")})
}

impl Criteria {
    /// The criteria of `op` served under `base`; `is_paid` says whether a check costs its price here.
    #[must_use]
    pub fn new(op: Op, base: &str, is_paid: bool) -> Criteria {
        let mut document = contract(op);
        // The published members name what the publisher counts and verifies with.
        let mut own = |name: &str, value: Value| {
            if let Some(published) = document.insert(name.to_owned(), value) {
                document.insert(format!("published_{name}"), published);
            }
        };
        own("corpus", own_corpus(op));
        if op == Op::SplitProfile {
            own(
                "tokenizer",
                json!({"id": tokens::ID, "encoding": "cl100k_base", "special_tokens":
                "The spelling of a special token is ordinary text: the set of allowed specials is empty."}),
            );
        }
        let at = |endpoint: &str| format!("{base}/{endpoint}");
        document.insert(
            "served".to_owned(),
            json!({
                "by": concat!("millwork-dock@", env!("CARGO_PKG_VERSION")),
                "payment": if is_paid { "x402" } else { "none" },
                "criteria": at("criteria"), "precheck": at("precheck"), "check": at("check"), "metrics": at("metrics"),
                "keys": "/.well-known/jwks.json",
            }),
        );
        let body = Value::Object(document).to_string();
        let etag = format!("\"{}\"", URL_SAFE_NO_PAD.encode(digest(&SHA256, body.as_bytes())));
        Criteria { body, etag }
    }
}

impl Statements {
    /// Those of `op`, out of its contract.
    #[must_use]
    pub fn of(op: Op) -> Statements {
        let contract = contract(op);
        let pick = |names: &[(&str, &str)]| {
            let picked = names.iter().filter_map(|(name, pointer)| {
                let text = Value::Object(contract.clone()).pointer(pointer)?.clone();
                Some(((*name).to_owned(), text))
            });
            Value::Object(picked.collect()).to_string()
        };
        Statements(match op {
            Op::ArgumentCheck => pick(&[
                ("boundary", "/boundary"),
                ("honesty", "/honesty"),
                ("payment_includes", "/payment_includes"),
                ("retention", "/custody/retention"),
            ]),
            Op::SplitProfile => pick(&[
                ("scope", "/scope"),
                ("honesty", "/notes/tokenizer"),
                ("preload", "/notes/preload"),
                ("disclosure", "/notes/disclosure"),
                ("payment_includes", "/payment_includes"),
                ("retention", "/custody/construction"),
            ]),
        })
    }

    /// As one JSON object.
    #[must_use]
    pub fn json(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use super::*;

    #[test]
    fn every_statement_is_there() {
        for (op, count) in [(Op::ArgumentCheck, 4), (Op::SplitProfile, 6)] {
            let statements: Map<String, Value> = serde_json::from_str(Statements::of(op).json()).unwrap();
            assert_eq!(statements.len(), count, "{statements:?}");
            assert!(statements.values().all(|text| text.as_str().is_some_and(|text| text.len() > 40)));
        }
    }

    #[test]
    fn the_document_names_what_this_dock_counts_and_verifies_with() {
        let profile: Value =
            serde_json::from_str(&Criteria::new(Op::SplitProfile, "/split-profile", true).body).unwrap();
        assert_eq!(profile["tokenizer"]["id"], tokens::ID);
        assert_eq!(profile["published_tokenizer"]["implementation"], "gpt-tokenizer");
        assert_eq!(profile["served"]["check"], "/split-profile/check");
        for op in Op::ALL {
            let criteria = Criteria::new(op, "/x", false);
            let document: Value = serde_json::from_str(&criteria.body).unwrap();
            assert_eq!(document["corpus"]["sha256"].as_str().map(str::len), Some(64));
            assert_eq!(document["published_corpus"]["sha256"].as_str().map(str::len), Some(64));
            assert_eq!(document["served"]["payment"], "none");
            assert_ne!(criteria.etag, Criteria::new(op, "/x", true).etag);
        }
    }
}
