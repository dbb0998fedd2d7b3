//! The reserved probe and its marker, wherever the check could come to see it (decision C10).

use crate::argument::repair_text;
use crate::budget::{Budget, Exhausted};
use crate::json::{Document, contains, trim};

/// The member name that marks a probe.
pub const MARKER: &str = "solverapi_probe";
/// The marker's value in the probe that Millwork sends.
pub const REGISTRATION: &str = "registration_preflight";

/// Whether a member named [`MARKER`] stands anywhere in `document`: escaped or not, at any depth, in a member
/// that a later one of the same name shadows, or inside strings that hold JSON, at any level. Such a string
/// may need a JavaScript trim or the repairs R1 and R2 to parse. Prose that mentions the word has no member.
///
/// # Errors
/// [`Exhausted`].
pub fn has_marker(document: &Document, budget: &mut Budget<'_>) -> Result<bool, Exhausted> {
    if !may_hold_marker(document.source(), budget)? {
        return Ok(false);
    }
    let mut inner: Vec<Document> = Vec::new();
    if search(document, &mut inner, budget)? {
        return Ok(true);
    }
    // Every level of strings in strings is shorter than the one around it.
    while let Some(document) = inner.pop() {
        if search(&document, &mut inner, budget)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Looks at the names of one document, and adds the documents that its strings hold to `inner`.
fn search(
    document: &Document,
    inner: &mut Vec<Document>,
    budget: &mut Budget<'_>,
) -> Result<bool, Exhausted> {
    for (is_name, text) in document.texts() {
        budget.spend(1)?;
        if is_name {
            if text == *MARKER.as_bytes() {
                return Ok(true);
            }
            continue;
        }
        if !may_hold_marker(text.raw(), budget)? {
            continue;
        }
        let decoded = text.decode();
        let trimmed = trim(&decoded);
        if matches!(trimmed.first(), Some(b'{' | b'[' | b'"')) && may_hold_marker(trimmed, budget)? {
            budget.spend(trimmed.len() as u64 / 8)?;
            let parsed = Document::parse_decoded(trimmed.to_vec()).ok();
            inner.extend(parsed.or_else(|| repair_text(trimmed)));
        }
    }
    Ok(false)
}

/// A quick look: each character of the marker is either itself or a `\u` escape, whatever the level.
fn may_hold_marker(text: &[u8], budget: &mut Budget<'_>) -> Result<bool, Exhausted> {
    budget.spend(text.len() as u64 / 256)?;
    Ok(contains(text, MARKER.as_bytes()) || contains(text, b"\\u"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn found(text: &str) -> bool {
        let document = Document::parse(text.as_bytes().to_vec()).unwrap();
        has_marker(&document, &mut Budget::of_steps(1_000_000)).unwrap()
    }

    fn quoted(text: &str) -> String {
        serde_json::to_string(text).unwrap()
    }

    #[test]
    fn finds_the_marker_wherever_it_hides() {
        let plain = r#"{"solverapi_probe":"registration_preflight"}"#;
        let escaped = r#"{"\u0073olverapi\u005fprobe":1}"#;
        for json in
            [plain, escaped, r#"[{"a":[{"solverapi_probe":null}]}]"#, r#"{"a":{"solverapi_probe":1},"a":2}"#]
        {
            assert!(found(json), "{json}");
            let mut nested = json.to_owned();
            for level in 1..5 {
                nested = quoted(&nested);
                assert!(found(&nested), "level {level}: {json}");
                assert!(found(&format!(r#"{{"arguments":{nested}}}"#)), "level {level}: {json}");
            }
        }
        let cut = r#"[{"solverapi_probe":"kit""#;
        let comma = r#"{"solverapi_probe":"kit",}"#;
        let spaced = "\u{feff}\u{a0} {\"solverapi_probe\":1}\u{2003}";
        for text in [cut, comma, spaced, &format!(" {}", quoted(cut))] {
            assert!(found(&quoted(text)), "{text}");
        }
    }

    #[test]
    fn leaves_ordinary_candidates_alone() {
        for text in [
            r#""solverapi_probe""#,
            r#"{"note":"solverapi_probe"}"#,
            r#"{"solverapi_probes":1,"Solverapi_probe":1}"#,
            &quoted("The word solverapi_probe is reserved: {\"solverapi_probe\":1}"),
            &quoted("{\"solverapi_probe\": what"),
            &quoted("[\"solverapi_probe\"]"),
            r#"{"a":"\u4e2d\u6587"}"#,
        ] {
            assert!(!found(text), "{text}");
        }
    }
}
