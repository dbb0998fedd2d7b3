//! One case of a corpus: its request as the text of a body, and its expectation as a document.

use crate::json::{Document, Kind, Value, write_value};

use super::text_of;

/// How long a request may get when its pieces are joined, some way over every cap that a case can show.
const MAX_BODY_BYTES: usize = 1 << 20;

/// A case.
pub(super) struct Case {
    pub(super) id: String,
    /// The text of the request's body.
    pub(super) body: Vec<u8>,
    pub(super) expect: Document,
}

impl Case {
    /// Reads a case.
    ///
    /// # Errors
    /// What it lacks, to be said behind its number.
    pub(super) fn read(case: Value<'_>) -> Result<Case, String> {
        let id = text_of(case, "id").ok_or("has no text `id`")?;
        let request = case.get(b"request").filter(|request| request.kind() == Kind::Object);
        let body = body(request.ok_or("has no object `request`")?)?;
        let expect = match (case.get(b"expect"), case.get(b"expect_text").and_then(Value::as_text)) {
            (Some(expect), None) => {
                let mut text = Vec::new();
                write_value(expect, &mut text);
                text
            }
            (None, Some(text)) => text.decode().into_owned(),
            _ => return Err("needs either `expect` or a text `expect_text`".to_owned()),
        };
        let expect = Document::parse(expect)
            .map_err(|error| format!("has an expectation that is no JSON: {error}"))?;
        Ok(Case { id, body, expect })
    }
}

/// `{"body": …}` is the text itself, whole or in pieces; any other object is the body.
fn body(request: Value<'_>) -> Result<Vec<u8>, String> {
    let mut text = Vec::new();
    let Some(body) = request.get(b"body").filter(|_| request.len() == 1) else {
        write_value(request, &mut text);
        return Ok(text);
    };
    if body.kind() != Kind::Array {
        append(body, &mut text)?;
    }
    for piece in body.items() {
        append(piece, &mut text)?;
    }
    Ok(text)
}

/// A piece is a text, or `{repeat, times}`.
fn append(piece: Value<'_>, text: &mut Vec<u8>) -> Result<(), String> {
    const WRONG: &str = "has a piece of its body that is neither a text nor {repeat, times}";
    let (part, times) = match piece.as_text() {
        Some(part) => (part, 1),
        None => (piece.get(b"repeat").and_then(Value::as_text).ok_or(WRONG)?, times(piece).ok_or(WRONG)?),
    };
    let part = part.decode();
    let len = part.len().checked_mul(times).and_then(|len| len.checked_add(text.len()));
    if len.is_none_or(|len| len > MAX_BODY_BYTES) {
        return Err(format!("has a body of more than {MAX_BODY_BYTES} bytes"));
    }
    text.extend_from_slice(&part.repeat(times));
    Ok(())
}

fn times(piece: Value<'_>) -> Option<usize> {
    std::str::from_utf8(piece.get(b"times")?.as_number()?.lexeme()).ok()?.parse().ok()
}
