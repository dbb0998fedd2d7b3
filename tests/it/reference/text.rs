//! R1 and R2 on the text of arguments, by a list of tokens.

use super::criteria::Entry;
use super::tree::{self, J, number_len, units};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Token {
    Open(char),
    Close(char),
    Comma,
    Colon,
    Text,
    Number,
    Literal,
}

impl Token {
    fn ends_value(self) -> bool {
        matches!(self, Token::Close(_) | Token::Text | Token::Number | Token::Literal)
    }
}

/// The value of the text, repaired where it does not parse as it stands, and the repairs. None:
/// `invalid_json_text`.
pub(super) fn read(text: &[u16]) -> Option<(J, Vec<Entry>)> {
    if let Some(value) = tree::parse(text) {
        return Some((value, Vec::new()));
    }
    let mut tokens = tokens(text)?;
    let mut text = text.to_vec();
    let mut diff = Vec::new();
    let mut open = Vec::new();
    for (token, _, _) in &tokens {
        match token {
            Token::Open(closer) => open.push(*closer),
            Token::Close(closer) if open.pop() != Some(*closer) => return None,
            _ => {}
        }
    }
    if !open.is_empty() {
        if let Some((Token::Number, _, end)) = tokens.last()
            && *end == text.len()
        {
            return None;
        }
        let closers: String = open.iter().rev().collect();
        for closer in open.iter().rev() {
            tokens.push((Token::Close(*closer), text.len(), text.len() + 1));
            text.push(*closer as u16);
        }
        diff.push(Entry::new("$arguments_text", "R1", J::Null, J::str(&closers)));
    }
    let mut removed = Vec::new();
    for (index, (token, at, _)) in tokens.iter().enumerate() {
        let after_value = index > 0 && tokens[index - 1].0.ends_value();
        let before_end = tokens.get(index + 1).is_none_or(|next| matches!(next.0, Token::Close(_)));
        if *token == Token::Comma && after_value && before_end {
            removed.push(*at);
            diff.push(Entry::new("$arguments_text", "R2", J::str(","), J::str("")));
        }
    }
    for at in removed.into_iter().rev() {
        text.remove(at);
    }
    Some((tree::parse(&text)?, diff))
}

/// The tokens, each with where it begins and ends; none if any piece is no token.
fn tokens(text: &[u16]) -> Option<Vec<(Token, usize, usize)>> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(unit) = text.get(at) {
        let rest = &text[at..];
        let (token, len) = match char::from_u32(u32::from(*unit))? {
            ' ' | '\t' | '\n' | '\r' => {
                at += 1;
                continue;
            }
            '{' => (Token::Open('}'), 1),
            '[' => (Token::Open(']'), 1),
            closer @ ('}' | ']') => (Token::Close(closer), 1),
            ',' => (Token::Comma, 1),
            ':' => (Token::Colon, 1),
            '"' => (Token::Text, string_len(rest)?),
            't' if rest.starts_with(&units("true")) => (Token::Literal, 4),
            'n' if rest.starts_with(&units("null")) => (Token::Literal, 4),
            'f' if rest.starts_with(&units("false")) => (Token::Literal, 5),
            _ => (Token::Number, number_len(rest)?),
        };
        out.push((token, at, at + len));
        at += len;
    }
    Some(out)
}

fn string_len(rest: &[u16]) -> Option<usize> {
    let mut at = 1;
    while rest.get(at) != Some(&0x22) {
        at += if *rest.get(at)? == 0x5c { 2 } else { 1 };
    }
    Some(at + 1)
}
