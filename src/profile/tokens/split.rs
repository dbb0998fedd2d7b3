//! Where pieces end: the pattern of `cl100k_base` as gpt-tokenizer writes it, by hand.
//!
//! ```text
//! '(?:[sS]|[dD]|[mM]|[tT]|[lL][lL]|[vV][eE]|[rR][eE])
//! | [^\r\n\p{L}\p{N}]?\p{L}+  |  \p{N}{1,3}  |  ?[^\s\p{L}\p{N}]+[\r\n]*
//! | \s+$  |  \s*[\r\n]  |  \s+(?!\S)  |  \s
//! ```

use super::class::{Class, class_at, class_of_ascii};

/// Where the piece ends that begins at `at`, which is a character's beginning. Always after `at`.
#[inline]
pub(super) fn piece_end(text: &str, at: usize) -> usize {
    let Some((class, len)) = class_at(text, at) else { return text.len() };
    let after = at + len;
    match class {
        Class::Letter => run_end(text, after, Class::Letter),
        Class::Number => number_end(text, after),
        Class::Newline => space_end(text, at),
        Class::Space => match class_at(text, after) {
            Some((Class::Letter, len)) => run_end(text, after + len, Class::Letter),
            Some((Class::Other, len)) if text.as_bytes().get(at) == Some(&b' ') => {
                other_end(text, after + len)
            }
            _ => space_end(text, at),
        },
        Class::Other => {
            if let Some(end) = contraction_end(text.as_bytes(), at) {
                return end;
            }
            match class_at(text, after) {
                Some((Class::Letter, len)) => run_end(text, after + len, Class::Letter),
                Some((Class::Other, len)) => other_end(text, after + len),
                _ => newlines_end(text.as_bytes(), after),
            }
        }
    }
}

/// Where a run of one class ends.
#[inline]
fn run_end(text: &str, mut at: usize, class: Class) -> usize {
    loop {
        let rest = text.as_bytes().get(at..).unwrap_or_default();
        at += rest.iter().position(|byte| class_of_ascii(*byte) != Some(class)).unwrap_or(rest.len());
        match class_at(text, at) {
            Some((next, len)) if next == class => at += len,
            _ => return at,
        }
    }
}

/// `\p{N}{1,3}` behind its first.
fn number_end(text: &str, mut at: usize) -> usize {
    for _ in 0..2 {
        match class_at(text, at) {
            Some((Class::Number, len)) => at += len,
            _ => break,
        }
    }
    at
}

/// `[^\s\p{L}\p{N}]+[\r\n]*` behind its first.
fn other_end(text: &str, at: usize) -> usize {
    newlines_end(text.as_bytes(), run_end(text, at, Class::Other))
}

fn newlines_end(text: &[u8], mut at: usize) -> usize {
    while let Some(b'\r' | b'\n') = text.get(at) {
        at += 1;
    }
    at
}

/// A run of white space: all of it at the end of the text; up to its last newline; all but the character before
/// what follows; that one character.
fn space_end(text: &str, start: usize) -> usize {
    let (mut at, mut last, mut newline) = (start, start, None);
    while let Some((class, len)) = class_at(text, at) {
        match class {
            Class::Newline => newline = Some(at + len),
            Class::Space => {}
            Class::Letter | Class::Number | Class::Other => {
                let all_but_one = if last > start { last } else { at };
                return newline.unwrap_or(all_but_one);
            }
        }
        last = at;
        at += len;
    }
    at
}

/// An English contraction at an apostrophe.
fn contraction_end(text: &[u8], at: usize) -> Option<usize> {
    let [b'\'', first, rest @ ..] = text.get(at..)? else { return None };
    match (first.to_ascii_lowercase(), rest.first().map(u8::to_ascii_lowercase)) {
        (b's' | b'd' | b'm' | b't', _) => Some(at + 2),
        (b'l', Some(b'l')) | (b'v' | b'r', Some(b'e')) => Some(at + 3),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::piece_end;

    fn pieces(text: &str) -> Vec<&str> {
        let (mut pieces, mut at) = (Vec::new(), 0);
        while at < text.len() {
            let end = piece_end(text, at);
            pieces.push(text.get(at..end).unwrap_or("not at a character"));
            at = end;
        }
        pieces
    }

    /// The pieces that `text.match(pattern)` gives in Node.
    #[test]
    fn pieces_end_where_the_pattern_says() {
        for (text, expected) in [
            ("\"name\":{\"a\"}", vec!["\"name", "\":{\"", "a", "\"}"]),
            (
                "it's IT'S 'sale we'll 'Ve 're 'l",
                vec!["it", "'s", " IT", "'S", " '", "sale", " we", "'ll", " '", "Ve", " '", "re", " '", "l"],
            ),
            ("'Sx 'lL", vec!["'S", "x", " '", "lL"]),
            ("1234567 12", vec!["123", "456", "7", " ", "12"]),
            ("a  b", vec!["a", " ", " b"]),
            ("a   ", vec!["a", "   "]),
            ("a \n  b", vec!["a", " \n", " ", " b"]),
            ("a \n\r\n  \n", vec!["a", " \n\r\n  \n"]),
            ("\t\tx\t1 \u{a0}.", vec!["\t", "\tx", "\t", "1", " ", "\u{a0}", "."]),
            ("x \u{feff}y", vec!["x", " ", "\u{feff}y"]),
            ("x\u{85}\u{85}y", vec!["x", "\u{85}\u{85}", "y"]),
            (" ...\r\n\n x", vec![" ...\r\n\n", " x"]),
            ("'\u{17f} \u{212a}", vec!["'\u{17f}", " \u{212a}"]),
            ("a\u{301}b日本、語Ⅷ½", vec!["a", "\u{301}b日本", "、語", "Ⅷ½"]),
        ] {
            assert_eq!(pieces(text), expected, "{text:?}");
        }
    }
}
