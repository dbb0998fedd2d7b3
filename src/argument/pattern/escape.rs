//! What follows a backslash, and the names of groups.

use super::PatternError;
use super::ast::{Anchor, Node, NodeId};
use super::class::{Builder, Class, Named};
use super::parse::Parser;
use super::property::{self, PropertySet};
use super::text;

/// An escape that stands for a set of code points.
pub(super) enum SetEscape {
    Named(Named, bool),
    Property(PropertySet, bool),
}

impl Parser<'_> {
    /// An escape outside brackets: a node, or none where it was an anchor.
    pub(super) fn atom_escape(&mut self) -> Result<Option<NodeId>, PatternError> {
        let start = self.at;
        self.at += 1;
        match self.peek() {
            Some(b'b') => {
                self.anchor(Anchor::WordBoundary);
                return Ok(None);
            }
            Some(b'B') => {
                self.anchor(Anchor::NotWordBoundary);
                return Ok(None);
            }
            Some(b'1'..=b'9') => {
                if let Some(node) = self.numbered_back(start) {
                    return Ok(Some(node));
                }
            }
            Some(b'k') if self.unicode || self.scan().1 => {
                self.at += 1;
                if !self.eat(b'<') {
                    return Err(self.error("invalid named reference"));
                }
                let name = self.group_name()?;
                return Ok(Some(self.named_back(name, start)));
            }
            _ => {}
        }
        if let Some(set) = self.set_escape()? {
            return Ok(Some(match set {
                SetEscape::Named(named, negated) => self.named_class(named, negated),
                SetEscape::Property(set, complemented) => {
                    let mut builder = Builder::default();
                    builder.add_property(set, complemented);
                    let class: Class = builder.finish(false);
                    self.class(class)
                }
            }));
        }
        let code = self.character_escape(false)?;
        Ok(Some(self.ast.add(Node::Char(code), false)))
    }

    /// `\1` and up. Without `u`, a number above the count of groups is no reference.
    fn numbered_back(&mut self, start: usize) -> Option<NodeId> {
        let (group, behind) = self.decimal(self.at)?;
        if self.unicode || group <= self.scan().0 {
            self.at = behind;
            return Some(self.back(group, start));
        }
        None
    }

    /// `\d \D \w \W \s \S` and, with `u`, `\p{…} \P{…}`.
    pub(super) fn set_escape(&mut self) -> Result<Option<SetEscape>, PatternError> {
        let Some(letter) = self.peek() else { return Ok(None) };
        let negated = letter.is_ascii_uppercase();
        let named = match letter {
            b'd' | b'D' => Named::Digit,
            b'w' | b'W' => Named::Word,
            b's' | b'S' => Named::Space,
            b'p' | b'P' if self.unicode => {
                self.at += 1;
                let set = self.property().ok_or_else(|| self.error("invalid property name"))?;
                return Ok(Some(SetEscape::Property(set, negated)));
            }
            _ => return Ok(None),
        };
        self.at += 1;
        Ok(Some(SetEscape::Named(named, negated)))
    }

    fn property(&mut self) -> Option<PropertySet> {
        let rest = self.source.get(self.at..)?.strip_prefix(b"{")?;
        let length = rest.iter().position(|b| *b == b'}')?;
        let set = property::look_up(rest.get(..length)?)?;
        self.at += length + 2;
        Some(set)
    }

    /// An escape that stands for one character; the backslash is read already.
    pub(super) fn character_escape(&mut self, in_brackets: bool) -> Result<u32, PatternError> {
        let start = self.at;
        let Some(code) = self.next() else { return Err(self.error("backslash at the end")) };
        let invalid = PatternError { offset: start, reason: "invalid escape" };
        let unicode = self.unicode;
        Ok(match u8::try_from(code).unwrap_or(0) {
            b'f' => 0xC,
            b'n' => 0xA,
            b'r' => 0xD,
            b't' => 0x9,
            b'v' => 0xB,
            b'c' => match self.peek() {
                Some(letter) if letter.is_ascii_alphabetic() => self.control(letter),
                _ if unicode => return Err(invalid),
                Some(letter) if in_brackets && (letter.is_ascii_digit() || letter == b'_') => {
                    self.control(letter)
                }
                _ => {
                    // The backslash stands for itself, and the `c` is read again.
                    self.at = start;
                    u32::from(b'\\')
                }
            },
            b'0' if unicode => match self.peek() {
                Some(b'0'..=b'9') => return Err(invalid),
                _ => 0,
            },
            b'1'..=b'9' if unicode => return Err(invalid),
            digit @ b'0'..=b'7' => self.octal(u32::from(digit - b'0')),
            b'x' => match self.hexadecimal(2) {
                Some(value) => value,
                None if unicode => return Err(invalid),
                None => code,
            },
            b'u' => match self.unicode_escape(unicode) {
                Some(value) => value,
                None if unicode => return Err(invalid),
                None => code,
            },
            byte if unicode => {
                let is_syntax = b"^$\\.*+?()[]{}|/".contains(&byte) || (in_brackets && byte == b'-');
                if !is_syntax {
                    return Err(invalid);
                }
                code
            }
            b'k' if self.scan().1 => return Err(invalid),
            _ => code,
        })
    }

    fn control(&mut self, letter: u8) -> u32 {
        self.at += 1;
        u32::from(letter & 0x1F)
    }

    /// Up to two more octal digits, as long as the value stays below 256.
    fn octal(&mut self, mut value: u32) -> u32 {
        for _ in 0..2 {
            match self.peek() {
                Some(digit @ b'0'..=b'7') if value < 32 => {
                    value = value * 8 + u32::from(digit - b'0');
                    self.at += 1;
                }
                _ => break,
            }
        }
        value
    }

    /// Exactly `count` hexadecimal digits, or nothing.
    fn hexadecimal(&mut self, count: usize) -> Option<u32> {
        let digits = self.source.get(self.at..self.at + count)?;
        let mut value = 0;
        for digit in digits {
            value = value << 4 | char::from(*digit).to_digit(16)?;
        }
        self.at += count;
        Some(value)
    }

    /// What follows `\u`; with `unicode` also `{…}` and a second escape that completes a pair.
    fn unicode_escape(&mut self, unicode: bool) -> Option<u32> {
        if unicode && self.peek() == Some(b'{') {
            return self.braced_code();
        }
        let code = self.hexadecimal(4)?;
        let behind = self.at;
        if unicode
            && self.eat(b'\\')
            && self.eat(b'u')
            && let Some(pair) = self.hexadecimal(4).and_then(|low| text::join_pair(code, low))
        {
            return Some(pair);
        }
        self.at = behind;
        Some(code)
    }

    fn braced_code(&mut self) -> Option<u32> {
        let rest = self.source.get(self.at + 1..)?;
        let length = rest.iter().position(|b| *b == b'}').filter(|length| *length > 0)?;
        let mut value = 0u32;
        for digit in rest.get(..length)? {
            value = value << 4 | char::from(*digit).to_digit(16)?;
            if value > super::class::MAX_CODE {
                return None;
            }
        }
        self.at += length + 2;
        Some(value)
    }

    /// The name of a group up to and with its `>`; its `<` is read already.
    pub(super) fn group_name(&mut self) -> Result<Vec<u32>, PatternError> {
        let mut name = Vec::new();
        let invalid = PatternError { offset: self.at, reason: "invalid group name" };
        loop {
            let Some(mut code) = self.next() else { return Err(invalid) };
            if code == u32::from(b'>') && !name.is_empty() {
                return Ok(name);
            }
            if code == u32::from(b'\\') {
                code = if self.eat(b'u') { self.unicode_escape(true) } else { None }.ok_or(invalid)?;
            } else if let Some((low, behind)) = text::next(self.source, self.at) {
                // Without `u` the source has its pairs split; a name joins them again.
                if let Some(pair) = text::join_pair(code, low) {
                    (code, self.at) = (pair, behind);
                }
            }
            let fits =
                if name.is_empty() { property::starts_name(code) } else { property::continues_name(code) };
            if !fits {
                return Err(invalid);
            }
            name.push(code);
        }
    }
}
