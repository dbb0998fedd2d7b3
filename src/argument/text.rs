//! The repairs of raw text, R1 and R2 (decisions B11, B12). They run only on text that does not parse.

use crate::json::{Document, Number, is_white_space};

/// A text that R1 and R2 made parse.
#[derive(Debug)]
pub(crate) struct RepairedText {
    pub(crate) document: Document,
    pub(crate) repair: TextRepair,
}

/// What R1 and R2 did to a text.
#[derive(Debug)]
pub(crate) struct TextRepair {
    /// The closing delimiters that R1 appended; empty: R1 was not needed.
    pub(crate) appended: Vec<u8>,
    /// How many commas R2 removed.
    pub(crate) commas: usize,
}

/// Repairs `text`, or nothing if the repairs do not make it parse.
pub(crate) fn repair(text: &[u8]) -> Option<RepairedText> {
    let plan = plan(text)?;
    let mut repaired = Vec::with_capacity(text.len() + plan.appended.len());
    let mut from = 0;
    for comma in &plan.commas {
        repaired.extend_from_slice(text.get(from..*comma)?);
        from = comma + 1;
    }
    repaired.extend_from_slice(text.get(from..)?);
    repaired.extend_from_slice(&plan.appended);
    let document = Document::parse_decoded(repaired).ok()?;
    Some(RepairedText { document, repair: TextRepair { appended: plan.appended, commas: plan.commas.len() } })
}

/// What to append to a text, and which commas to remove from it.
pub(super) struct Plan {
    pub(super) appended: Vec<u8>,
    pub(super) commas: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Token {
    Opener,
    Closer,
    Comma,
    Colon,
    Scalar,
}

/// Reads the tokens of `text`; nothing if it holds anything else, ends inside a token, or needs no repair.
pub(super) fn plan(text: &[u8]) -> Option<Plan> {
    let mut wanted: Vec<u8> = Vec::new();
    let mut commas = Vec::new();
    // A comma that follows a complete value; the next token decides about it.
    let mut pending = None;
    let mut previous = Token::Opener;
    let mut at = 0;
    while let Some(byte) = text.get(at).copied() {
        if is_white_space(byte) {
            at += 1;
            continue;
        }
        let token = match byte {
            b'{' | b'[' => {
                wanted.push(if byte == b'{' { b'}' } else { b']' });
                Token::Opener
            }
            b'}' | b']' => {
                if wanted.pop() != Some(byte) {
                    return None;
                }
                commas.extend(pending.take());
                Token::Closer
            }
            b',' => Token::Comma,
            b':' => Token::Colon,
            _ => Token::Scalar,
        };
        let after_value = matches!(previous, Token::Closer | Token::Scalar);
        pending = (token == Token::Comma && after_value).then_some(at);
        at = if token == Token::Scalar { scalar_end(text, at)? } else { at + 1 };
        previous = token;
    }
    // The digits of a number that touches the end may go on (decision B11).
    if !wanted.is_empty() && text.last().is_some_and(u8::is_ascii_digit) && previous == Token::Scalar {
        return None;
    }
    commas.extend(pending);
    wanted.reverse();
    (!wanted.is_empty() || !commas.is_empty()).then_some(Plan { appended: wanted, commas })
}

/// The end of the string, number or literal at `at`, if it is complete.
fn scalar_end(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    if rest.first() == Some(&b'"') {
        let mut escaped = false;
        let end = rest.iter().skip(1).position(|byte| {
            let ends = *byte == b'"' && !escaped;
            escaped = *byte == b'\\' && !escaped;
            ends
        })?;
        return Some(at + end + 2);
    }
    let len = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte)).count();
    let word = rest.get(..len)?;
    let complete = matches!(word, b"true" | b"false" | b"null") || Number::parse(word).is_some();
    complete.then_some(at + len)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repaired(text: &str) -> Option<(String, usize)> {
        let repair = repair(text.as_bytes())?.repair;
        Some((String::from_utf8_lossy(&repair.appended).into_owned(), repair.commas))
    }

    #[test]
    fn closes_at_a_token_boundary_only() {
        assert_eq!(repaired(r#"{"a":"x""#), Some(("}".into(), 0)));
        assert_eq!(repaired(r#"{"a":[{"b":true"#), Some(("}]}".into(), 0)));
        assert_eq!(repaired(r#"{"a": 1 "#), Some(("}".into(), 0)));
        assert_eq!(repaired("[{"), Some(("}]".into(), 0)));
        for text in [
            r#"{"a": 1"#,
            r#"{"a": tru"#,
            r#"{"a":"x"#,
            r#"{"a":"x\"#,
            r#"{"a":"#,
            r#"{"a""#,
            "{]",
            "}",
            "[-",
        ] {
            assert_eq!(repaired(text), None, "{text}");
        }
    }

    #[test]
    fn drops_commas_after_a_complete_value_only() {
        assert_eq!(repaired(r#"{"a":["x,]",],}"#), Some((String::new(), 2)));
        assert_eq!(repaired(r#"{"a":1},"#), Some((String::new(), 1)));
        assert_eq!(repaired("[1,\n ]"), Some((String::new(), 1)));
        assert_eq!(repaired(r#"["a","#), Some(("]".into(), 1)));
        for text in ["[,]", "[1,,]", "[,", "{,}", ",", r#"{"a",}"#, r#"{"a":,}"#, "[1 2,]"] {
            assert_eq!(repaired(text), None, "{text}");
        }
    }

    #[test]
    fn leaves_everything_else_alone() {
        for text in
            ["", " ", "```json\n{}\n```", "{'a':1}", "{\"a\":NaN}", "{\"a\":1} x", "\u{feff}{}", "{}{}"]
        {
            assert_eq!(repaired(text), None, "{text}");
        }
    }
}
