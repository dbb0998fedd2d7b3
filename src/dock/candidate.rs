//! The request body: `{"candidate": …}` and nothing else.

use crate::budget::{Budget, Exhausted};
use crate::fault::Fault;
use crate::json::{Document, Kind, Text, Value, trim};

/// The candidate of a request body: any JSON value.
///
/// # Errors
/// [`Fault::MissingCandidate`] if the body is no object or has no `candidate`;
/// [`Fault::MalformedRequest`] if it has any other member, or `candidate` twice (decision C11).
pub fn candidate(body: &Document) -> Result<Value<'_>, Fault> {
    let root = body.root();
    if root.kind() != Kind::Object {
        return Err(Fault::MissingCandidate);
    }
    let candidate = root.get(b"candidate").ok_or(Fault::MissingCandidate)?;
    if root.len() != 1 || root.repeats_a_name() {
        return Err(Fault::MalformedRequest);
    }
    Ok(candidate)
}

/// What a text candidate is.
pub(super) enum TextKind {
    /// It does not begin as JSON objects and arrays do, white space aside.
    Plain,
    /// It does, and is none.
    Broken,
    /// It is one, read strictly and as a whole.
    Json(Document),
}

/// Reads a text candidate.
///
/// # Errors
/// [`Exhausted`].
pub(super) fn read_text(text: Text<'_>, budget: &mut Budget<'_>) -> Result<TextKind, Exhausted> {
    let text = text.decode();
    let text = trim(&text);
    if !matches!(text.first(), Some(b'{' | b'[')) {
        return Ok(TextKind::Plain);
    }
    budget.spend(text.len() as u64 / 16 + 1)?;
    Ok(Document::parse_decoded(text.to_vec()).map_or(TextKind::Broken, TextKind::Json))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn takes_exactly_one_member() {
        let fault = |text: &str| candidate(&Document::parse(text.as_bytes().to_vec()).unwrap()).err();
        assert_eq!(fault(r#"{"candidate":null}"#), None);
        assert_eq!(fault(r#"{"candid\u0061te":1}"#), None);
        for text in ["[]", "1", "\"candidate\"", "{}", r#"{"Candidate":1}"#, r#"{"x":1,"x":2}"#] {
            assert_eq!(fault(text), Some(Fault::MissingCandidate), "{text}");
        }
        for text in
            [r#"{"candidate":1,"x":2}"#, r#"{"candidate":1,"candidate":1}"#, r#"{"x":1,"candidate":1}"#]
        {
            assert_eq!(fault(text), Some(Fault::MalformedRequest), "{text}");
        }
    }
}
