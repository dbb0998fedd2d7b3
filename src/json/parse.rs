//! The parser: one pass over the bytes, no recursion, the open containers chained through the tape itself.

use super::document::{Document, ESCAPED, Node, SHADOWED, Tag};
use super::text::{self, Escape};

/// Why a text is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ParseErrorKind {
    /// The text ends before its value does.
    #[error("the text ends before its value does")]
    UnexpectedEnd,
    /// A character that cannot stand here.
    #[error("unexpected character")]
    UnexpectedCharacter,
    /// Something follows the value.
    #[error("something follows the value")]
    TrailingCharacters,
    /// A control character inside a string must be escaped.
    #[error("a control character inside a string must be escaped")]
    ControlCharacter,
    /// A backslash that begins no escape.
    #[error("invalid escape in a string")]
    InvalidEscape,
    /// A number that the grammar does not allow, such as `01` or `1.`.
    #[error("invalid number")]
    InvalidNumber,
    /// Not UTF-8.
    #[error("the text is not UTF-8")]
    InvalidUtf8,
    /// 4 GiB or more, which a tape cannot address.
    #[error("the text is 4 GiB or longer")]
    TooLong,
}

/// Where and why a text is not JSON. Holds nothing of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{kind} at byte {offset}")]
pub struct ParseError {
    /// Why.
    pub kind: ParseErrorKind,
    /// The byte, from 0, at which the text stops being the beginning of a JSON text.
    pub offset: usize,
}

impl ParseError {
    pub(super) fn invalid_utf8(offset: usize) -> ParseError {
        ParseError { kind: ParseErrorKind::InvalidUtf8, offset }
    }

    /// Line and column of the offset in `text`, both from 1, the column in bytes.
    #[must_use]
    pub fn line_and_column(&self, text: &[u8]) -> (usize, usize) {
        let before = text.get(..self.offset).unwrap_or(text);
        let line = before.split(|byte| *byte == b'\n').count();
        let column = before.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
        (line, column)
    }
}

type Result<T> = std::result::Result<T, ParseError>;

/// No container is open.
const NONE: u32 = u32::MAX;

pub(super) fn document(text: Vec<u8>) -> Result<Document> {
    if u32::try_from(text.len()).is_err() {
        return Err(ParseError { kind: ParseErrorKind::TooLong, offset: 0 });
    }
    let mut parser = Parser {
        text: &text,
        at: 0,
        nodes: Vec::with_capacity(text.len() / 10 + 4),
        open: NONE,
        depth: 0,
        deepest: 0,
        repeated_names: false,
        lone_surrogates: false,
    };
    parser.run()?;
    let Parser { nodes, deepest, repeated_names, lone_surrogates, .. } = parser;
    Ok(Document { text, nodes, depth: deepest, repeated_names, lone_surrogates })
}

struct Parser<'t> {
    text: &'t [u8],
    at: usize,
    nodes: Vec<Node>,
    /// The innermost open container; while open, its `next` holds the one around it.
    open: u32,
    depth: u32,
    deepest: u32,
    repeated_names: bool,
    lone_surrogates: bool,
}

#[allow(clippy::cast_possible_truncation, reason = "`document` refused texts of 4 GiB and over")]
impl Parser<'_> {
    fn run(&mut self) -> Result<()> {
        loop {
            if self.value()? {
                continue;
            }
            // A value is complete; so may be the containers around it.
            loop {
                let byte = self.peek();
                if self.open == NONE {
                    return if byte.is_none() {
                        Ok(())
                    } else {
                        Err(self.error(ParseErrorKind::TrailingCharacters))
                    };
                }
                let is_array = self.nodes.get(self.open as usize).is_some_and(|node| node.tag == Tag::Array);
                match byte {
                    Some(b',') => {
                        self.at += 1;
                        if !is_array {
                            self.name()?;
                        }
                        break;
                    }
                    Some(b']') if is_array => self.close(),
                    Some(b'}') if !is_array => self.close(),
                    _ => return Err(self.unexpected()),
                }
            }
        }
    }

    /// Reads one value, or the opening of a container. True: a container was opened and wants its first value.
    #[inline]
    fn value(&mut self) -> Result<bool> {
        let byte = self.peek();
        if self.open != NONE
            && let Some(node) = self.nodes.get_mut(self.open as usize)
        {
            node.len += 1;
        }
        let start = self.at;
        match byte {
            Some(b'"') => self.string(Tag::String)?,
            Some(b'{') => {
                self.open_container(Tag::Object);
                if self.peek() == Some(b'}') {
                    self.close();
                } else {
                    self.name()?;
                    return Ok(true);
                }
            }
            Some(b'[') => {
                self.open_container(Tag::Array);
                if self.peek() == Some(b']') {
                    self.close();
                } else {
                    return Ok(true);
                }
            }
            Some(b'-' | b'0'..=b'9') => {
                self.at = number_end(self.text, start).map_err(|offset| self.number_error(offset))?;
                self.push(Tag::Number, start, self.at, 0);
            }
            Some(b't') => self.literal(b"true", Tag::True)?,
            Some(b'f') => self.literal(b"false", Tag::False)?,
            Some(b'n') => self.literal(b"null", Tag::Null)?,
            _ => return Err(self.unexpected()),
        }
        Ok(false)
    }

    fn open_container(&mut self, tag: Tag) {
        let index = self.nodes.len() as u32;
        self.nodes.push(Node { start: self.at as u32, len: 0, next: self.open, hash: 0, tag, flags: 0 });
        self.open = index;
        self.at += 1;
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
    }

    fn close(&mut self) {
        self.at += 1;
        self.depth -= 1;
        let (container, end) = (self.open, self.nodes.len() as u32);
        let Some(node) = self.nodes.get_mut(container as usize) else { return };
        self.open = node.next;
        node.next = end;
        if node.tag == Tag::Object && node.len > 1 {
            self.find_repeated_names(container, end);
        }
    }

    /// Reads a member's name and its colon.
    #[inline]
    fn name(&mut self) -> Result<()> {
        if self.peek() != Some(b'"') {
            return Err(self.unexpected());
        }
        self.string(Tag::Name)?;
        if self.peek() != Some(b':') {
            return Err(self.unexpected());
        }
        self.at += 1;
        Ok(())
    }

    #[inline]
    fn string(&mut self, tag: Tag) -> Result<()> {
        self.at += 1;
        let start = self.at;
        let mut flags = 0;
        loop {
            self.at = plain_end(self.text, self.at);
            match self.text.get(self.at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    flags = ESCAPED;
                    self.escape()?;
                }
                Some(_) => return Err(self.error(ParseErrorKind::ControlCharacter)),
                None => return Err(self.error(ParseErrorKind::UnexpectedEnd)),
            }
        }
        self.push(tag, start, self.at, flags);
        self.at += 1;
        Ok(())
    }

    #[cold]
    fn escape(&mut self) -> Result<()> {
        match text::escape(self.text, self.at) {
            Some((Escape::Lone(_), len)) => {
                self.lone_surrogates = true;
                self.at += len;
                Ok(())
            }
            Some((_, len)) => {
                self.at += len;
                Ok(())
            }
            None if is_cut_escape(self.text.get(self.at..).unwrap_or_default()) => {
                self.at = self.text.len();
                Err(self.error(ParseErrorKind::UnexpectedEnd))
            }
            None => Err(self.error(ParseErrorKind::InvalidEscape)),
        }
    }

    fn literal(&mut self, word: &[u8], tag: Tag) -> Result<()> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let same = rest.iter().zip(word).take_while(|(a, b)| a == b).count();
        if same < word.len() {
            self.at += same;
            return Err(self.unexpected());
        }
        let start = self.at;
        self.at += word.len();
        self.push(tag, start, self.at, 0);
        Ok(())
    }

    #[inline]
    fn push(&mut self, tag: Tag, start: usize, end: usize, flags: u8) {
        let index = self.nodes.len() as u32;
        let hash = if tag == Tag::Name {
            let raw = self.text.get(start..end).unwrap_or_default();
            if flags & ESCAPED == 0 {
                name_hash(raw)
            } else {
                name_hash(&super::Text::new(raw, true).decode())
            }
        } else {
            0
        };
        let node = Node { start: start as u32, len: (end - start) as u32, next: index + 1, hash, tag, flags };
        self.nodes.push(node);
    }

    /// The next byte that is no white space.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        loop {
            match self.text.get(self.at) {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.at += 1,
                other => return other.copied(),
            }
        }
    }

    fn error(&self, kind: ParseErrorKind) -> ParseError {
        ParseError { kind, offset: self.at }
    }

    fn unexpected(&self) -> ParseError {
        let at_end = self.at >= self.text.len();
        self.error(if at_end { ParseErrorKind::UnexpectedEnd } else { ParseErrorKind::UnexpectedCharacter })
    }

    fn number_error(&self, offset: usize) -> ParseError {
        let at_end = offset >= self.text.len();
        let kind = if at_end { ParseErrorKind::UnexpectedEnd } else { ParseErrorKind::InvalidNumber };
        ParseError { kind, offset }
    }

    /// Marks the members of `container` whose name comes again (decision A3).
    fn find_repeated_names(&mut self, container: u32, end: u32) {
        let mut seen: u64 = 0;
        let mut suspicious = false;
        let mut at = container + 1;
        while at < end {
            let Some(name) = self.nodes.get(at as usize) else { return };
            let bit = 1_u64 << (name.hash >> 10);
            suspicious |= seen & bit != 0;
            seen |= bit;
            at = self.nodes.get(at as usize + 1).map_or(end, |value| value.next);
        }
        if suspicious {
            self.mark_repeated_names(container, end);
        }
    }

    /// By sorting, so that hostile names cost n log n comparisons whatever their hashes.
    fn mark_repeated_names(&mut self, container: u32, end: u32) {
        let mut names: Vec<(u16, u32)> = Vec::new();
        let mut at = container + 1;
        while let (true, Some(name)) = (at < end, self.nodes.get(at as usize)) {
            names.push((name.hash, at));
            at = self.nodes.get(at as usize + 1).map_or(end, |value| value.next);
        }
        let text = |index: u32| {
            let node = self.nodes.get(index as usize).copied();
            node.map_or(super::Text::EMPTY, |node| {
                let start = node.start as usize;
                let raw = self.text.get(start..start + node.len as usize).unwrap_or_default();
                super::Text::new(raw, node.flags & ESCAPED != 0)
            })
        };
        names.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| text(a.1).compare(text(b.1))).then(a.1.cmp(&b.1)));
        // (first, last) of every name that comes more than once.
        let mut groups: Vec<(u32, u32, Vec<u32>)> = Vec::new();
        for pair in names.windows(2) {
            let [(hash, earlier), (other, later)] = pair else { continue };
            if hash != other || text(*earlier).compare(text(*later)).is_ne() {
                continue;
            }
            match groups.last_mut() {
                Some((_, last, shadowed)) if last == earlier => {
                    *last = *later;
                    shadowed.push(*later);
                }
                _ => groups.push((*earlier, *later, vec![*later])),
            }
        }
        for (first, last, shadowed) in groups {
            self.repeated_names = true;
            if let Some(node) = self.nodes.get_mut(container as usize) {
                node.len -= shadowed.len() as u32;
            }
            if let Some(node) = self.nodes.get_mut(first as usize) {
                node.next = last + 1;
            }
            for index in shadowed {
                if let Some(node) = self.nodes.get_mut(index as usize) {
                    node.flags |= SHADOWED;
                }
            }
        }
    }
}

/// The first byte from `at` that ends a run of plain string characters: a quote, a backslash or a control
/// character. Eight bytes at a time.
#[inline]
fn plain_end(text: &[u8], mut at: usize) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    while let Some(chunk) = text.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let word = u64::from_le_bytes(*chunk);
        let zero_in = |x: u64| x.wrapping_sub(ONES) & !x;
        let quote = zero_in(word ^ (ONES * u64::from(b'"')));
        let backslash = zero_in(word ^ (ONES * u64::from(b'\\')));
        let control = word.wrapping_sub(ONES * 0x20) & !word;
        let hit = (quote | backslash | control) & HIGH;
        if hit != 0 {
            return at + hit.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while let Some(byte) = text.get(at) {
        if matches!(byte, b'"' | b'\\' | 0..0x20) {
            break;
        }
        at += 1;
    }
    at
}

/// The end of the number that starts at `at`, or the offset at which it is none.
pub(super) fn number_end(text: &[u8], mut at: usize) -> std::result::Result<usize, usize> {
    let digits = |mut at: usize| {
        let start = at;
        while matches!(text.get(at), Some(b'0'..=b'9')) {
            at += 1;
        }
        if at > start { Ok(at) } else { Err(at) }
    };
    if text.get(at) == Some(&b'-') {
        at += 1;
    }
    if text.get(at) == Some(&b'0') {
        at += 1;
        if matches!(text.get(at), Some(b'0'..=b'9')) {
            return Err(at);
        }
    } else {
        at = digits(at)?;
    }
    if text.get(at) == Some(&b'.') {
        at = digits(at + 1)?;
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        at += 1;
        if matches!(text.get(at), Some(b'+' | b'-')) {
            at += 1;
        }
        at = digits(at)?;
    }
    Ok(at)
}

/// Whether `rest`, which begins with a backslash, is the beginning of an escape that the end of text cuts off.
fn is_cut_escape(rest: &[u8]) -> bool {
    match rest {
        [b'\\'] => true,
        [b'\\', b'u', hex @ ..] => hex.len() < 4 && hex.iter().all(u8::is_ascii_hexdigit),
        _ => false,
    }
}

/// A hash of a decoded name from its length and its first and last eight bytes: to tell most names apart.
/// Equal names have equal hashes; nothing else may be concluded from it.
#[inline]
pub(crate) fn name_hash(name: &[u8]) -> u16 {
    let word = |chunk: Option<&[u8; 8]>| chunk.map_or(0, |chunk| u64::from_le_bytes(*chunk));
    let (head, tail) = if name.len() >= 8 {
        (word(name.first_chunk()), word(name.last_chunk()))
    } else {
        (name.iter().fold(0, |head, byte| head << 8 | u64::from(*byte)), 0)
    };
    let mixed = (head ^ tail.rotate_left(29) ^ name.len() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 48) as u16
}
