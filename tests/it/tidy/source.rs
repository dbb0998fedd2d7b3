//! A small reader of Rust source: tokens without comments and literals, test code removed, paths resolved.
//!
//! It knows as much of the language as the tidy rules ask for, and its own tests show what that is.

/// The tokens of `text`: identifiers, `::`, and single characters. Comments are left out; a literal is `"`.
pub(super) fn tokens(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (token, length) = next(rest, first);
        let (text, after) = rest.split_at(length);
        match token {
            Token::Skip => {}
            Token::Literal => found.push("\""),
            Token::Text => found.push(text),
        }
        rest = after;
    }
    found
}

enum Token {
    Skip,
    Literal,
    Text,
}

fn next(rest: &str, first: char) -> (Token, usize) {
    if rest.starts_with("//") {
        return (Token::Skip, rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return (Token::Skip, block_comment(rest));
    }
    if let Some(length) = string(rest) {
        return (Token::Literal, length);
    }
    if let Some(length) = character(rest) {
        return (Token::Literal, length);
    }
    if first.is_alphanumeric() || first == '_' {
        return (Token::Text, rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len()));
    }
    if rest.starts_with("::") {
        return (Token::Text, 2);
    }
    let token = if first.is_whitespace() { Token::Skip } else { Token::Text };
    (token, first.len_utf8())
}

fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while let Some(pair) = rest.get(at..) {
        if pair.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if pair.starts_with("*/") {
            depth -= 1;
            at += 2;
        } else {
            at += pair.chars().next().map_or(1, char::len_utf8);
        }
        if depth == 0 || at >= rest.len() {
            break;
        }
    }
    at.min(rest.len())
}

/// The length of the string literal that `rest` begins with.
fn string(rest: &str) -> Option<usize> {
    let prefix = ["br", "cr", "r", "b", "c", ""].into_iter().find(|prefix| {
        rest.strip_prefix(prefix).is_some_and(|after| after.trim_start_matches('#').starts_with('"'))
    })?;
    let after = &rest[prefix.len()..];
    let hashes = after.len() - after.trim_start_matches('#').len();
    let raw = prefix.ends_with('r');
    if hashes > 0 && !raw {
        return None;
    }
    let body = &after[hashes + 1..];
    let start = rest.len() - body.len();
    if raw {
        let end = format!("\"{}", "#".repeat(hashes));
        return Some(start + body.find(&end).map_or(body.len(), |at| at + end.len()));
    }
    let mut escaped = false;
    for (at, c) in body.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some(start + at + 1),
            _ => {}
        }
    }
    Some(rest.len())
}

/// The length of the character literal that `rest` begins with; a lifetime is none.
fn character(rest: &str) -> Option<usize> {
    let prefix = usize::from(rest.starts_with("b'"));
    let body = rest[prefix..].strip_prefix('\'')?;
    let start = prefix + 1;
    let mut chars = body.char_indices();
    let (_, c) = chars.next()?;
    if c == '\\' {
        let (_, _) = chars.next()?;
        return chars.find(|(_, c)| *c == '\'').map(|(at, _)| start + at + 1);
    }
    chars.next().filter(|(_, c)| *c == '\'').map(|(at, _)| start + at + 1)
}

/// `tokens` without the items under `#[cfg(test)]`, and the names of the modules that such items declare.
pub(super) fn without_tests<'a>(tokens: &[&'a str]) -> (Vec<&'a str>, Vec<&'a str>) {
    const MARK: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let (mut kept, mut modules, mut at) = (Vec::new(), Vec::new(), 0);
    while at < tokens.len() {
        if tokens[at..].starts_with(&MARK) {
            let item = &tokens[at + MARK.len()..];
            let item = &item[..item_length(item)];
            if let [.., "mod", name, ";"] = item {
                modules.push(*name);
            }
            at += MARK.len() + item.len();
        } else {
            kept.push(tokens[at]);
            at += 1;
        }
    }
    (kept, modules)
}

/// How many tokens the item takes: up to its `;`, or to the end of its braces, or before those of what holds it.
fn item_length(item: &[&str]) -> usize {
    let mut depth = 0_usize;
    for (at, token) in item.iter().enumerate() {
        match *token {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" if depth == 0 => return at,
            "}" | ")" | "]" => {
                depth -= 1;
                if depth == 0 && *token == "}" {
                    return at + 1;
                }
            }
            ";" if depth == 0 => return at + 1,
            _ => {}
        }
    }
    item.len()
}

/// All paths in `tokens`, groups of `use` written out: `a::{b, c::d}` gives `a::b` and `a::c::d`.
pub(super) fn paths<'a>(tokens: &[&'a str]) -> Vec<Vec<&'a str>> {
    let (mut found, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        if is_name(tokens[at]) {
            at += path(&tokens[at..], &[], &mut found);
        } else {
            at += 1;
        }
    }
    found
}

/// Reads one path from the start of `tokens`, after `before`; returns how many tokens it took.
fn path<'a>(tokens: &[&'a str], before: &[&'a str], found: &mut Vec<Vec<&'a str>>) -> usize {
    let mut names = before.to_vec();
    let mut at = 0;
    loop {
        match tokens.get(at) {
            Some(name) if is_name(name) => names.push(name),
            Some(&"{") if at > 0 => {
                at += 1;
                while tokens.get(at).is_some_and(|token| *token != "}") {
                    at += if is_name(tokens[at]) { path(&tokens[at..], &names, found) } else { 1 };
                }
                return at + 1;
            }
            _ => break,
        }
        at += 1;
        if tokens.get(at) != Some(&"::") {
            break;
        }
        at += 1;
    }
    found.push(names);
    at.max(1)
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// The attributes that allow or expect a lint without saying why.
pub(super) fn allowed_without_reason<'a>(tokens: &[&'a str]) -> Vec<String> {
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let opens = *token == "#" && matches!(tokens.get(at + 1), Some(&"[" | &"!"));
        if !opens {
            continue;
        }
        let attribute: Vec<&'a str> =
            tokens[at..].iter().copied().take_while(|token| *token != "]").collect();
        let allows =
            attribute.windows(2).any(|pair| ["allow", "expect"].contains(&pair[0]) && pair[1] == "(");
        if allows && !attribute.windows(2).any(|pair| pair == ["reason", "="]) {
            found.push(attribute.concat());
        }
    }
    found
}

#[test]
fn comments_and_literals_are_no_code() {
    let text = r##"a /* b /* c */ d */ "e\" f" r#"g " h"# 'i' '\'' '\u{6a}' b'k' &'l m // n
        o::p"##;
    assert_eq!(tokens(text), ["a", "\"", "\"", "\"", "\"", "\"", "\"", "&", "'", "l", "m", "o", "::", "p"]);
}

#[test]
fn test_items_are_left_out_and_their_files_named() {
    let text = "fn a() {} #[cfg(test)] mod b; #[cfg(test)] #[path(x)] mod c { fn d() { {} } } #[cfg(test)] use e; mod g; fn f() {}";
    let (kept, modules) = without_tests(&tokens(text));
    assert_eq!(kept.concat(), "fna(){}modg;fnf(){}");
    assert_eq!(modules, ["b"]);
}

#[test]
fn paths_are_written_out() {
    let text = "use crate::{a, b::{c, d as e}}; fn f() { crate::g::h::<u8>(i); self::j } use k::*;";
    let found: Vec<String> = paths(&tokens(text)).iter().map(|path| path.join("::")).collect();
    for path in ["crate::a", "crate::b::c", "crate::b::d", "crate::g::h", "self::j", "k"] {
        assert!(found.iter().any(|one| one == path), "{path} is not in {found:?}");
    }
}

#[test]
fn an_allowance_needs_a_reason() {
    let text = r#"#[allow(x)] #[allow(y, reason = "z")] #![expect(w)] #[cfg_attr(q, allow(v))] fn f() { a.expect("b") }"#;
    assert_eq!(
        allowed_without_reason(&tokens(text)),
        ["#[allow(x)", "#![expect(w)", "#[cfg_attr(q,allow(v))"]
    );
}
