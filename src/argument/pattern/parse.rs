//! From the source of a pattern to its syntax tree: disjunctions, groups and quantifiers.
//!
//! The grammar is ECMA-262's, with `u` or with Annex B instead; where V8 and the standard leave a choice,
//! V8's. Nesting is kept on a stack of its own, so depth costs memory only. [`super::escape`] and
//! [`super::bracket`] hold the escapes and the bracketed classes.

use std::collections::BTreeMap;

use super::PatternError;
use super::ast::{Anchor, Ast, Node, NodeId, Repeat, Span, UNBOUNDED, index};
use super::class::{Class, Named};
use super::text;

/// V8 refuses patterns with more groups.
const MAX_GROUPS: u32 = 0xFFFF;

enum Group {
    /// `(?:…)`, and the whole pattern.
    Plain,
    Capture(u32),
    Look {
        behind: bool,
        negate: bool,
    },
}

/// A group that is not closed yet.
struct Open {
    group: Group,
    /// Where its terms and its finished alternatives start in the parser's lists.
    terms: usize,
    alternatives: usize,
    groups_before: u32,
}

/// A `\k<name>` whose group may come later.
struct NamedBack {
    node: NodeId,
    name: Vec<u32>,
    at: usize,
}

pub(super) struct Parser<'s> {
    pub(super) source: &'s [u8],
    pub(super) at: usize,
    pub(super) unicode: bool,
    pub(super) ast: Ast,
    terms: Vec<NodeId>,
    alternatives: Vec<NodeId>,
    open: Vec<Open>,
    names: BTreeMap<Vec<u32>, u32>,
    named_backs: Vec<NamedBack>,
    /// Whether group `i + 1` is open.
    inside: Vec<bool>,
    /// The highest numbered back-reference and where it stands.
    highest_back: (u32, usize),
    /// How many groups there are in all and whether one has a name, once it was asked.
    scanned: Option<(u32, bool)>,
    named_classes: [Option<u32>; 2 * Named::COUNT],
    singles: [Option<u32>; 128],
}

/// Parses `source`: WTF-8, or, without `u`, what [`text::split_pairs`] makes of it.
pub(super) fn parse(source: &[u8], unicode: bool) -> Result<Ast, PatternError> {
    let mut parser = Parser {
        source,
        at: 0,
        unicode,
        ast: Ast::default(),
        terms: Vec::new(),
        alternatives: Vec::new(),
        open: vec![Open { group: Group::Plain, terms: 0, alternatives: 0, groups_before: 0 }],
        names: BTreeMap::new(),
        named_backs: Vec::new(),
        inside: Vec::new(),
        highest_back: (0, 0),
        scanned: None,
        named_classes: [None; 2 * Named::COUNT],
        singles: [None; 128],
    };
    parser.ast.nodes.reserve(source.len().min(64));
    parser.ast.nullable.reserve(source.len().min(64));
    while parser.at < source.len() {
        parser.term()?;
    }
    parser.finish()
}

impl Parser<'_> {
    pub(super) fn peek(&self) -> Option<u8> {
        self.source.get(self.at).copied()
    }

    /// Steps over `byte` if it comes next.
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let eats = self.peek() == Some(byte);
        self.at += usize::from(eats);
        eats
    }

    /// The next character of the source.
    pub(super) fn next(&mut self) -> Option<u32> {
        let (code, behind) = text::next(self.source, self.at)?;
        self.at = behind;
        Some(code)
    }

    pub(super) fn error(&self, reason: &'static str) -> PatternError {
        PatternError { offset: self.at, reason }
    }

    fn term(&mut self) -> Result<(), PatternError> {
        let groups_before = self.ast.groups;
        let node = match self.peek() {
            Some(b'|') => {
                self.at += 1;
                self.end_alternative();
                return Ok(());
            }
            Some(b'(') => return self.open_group(),
            Some(b')') => return self.close_group(),
            Some(b'^') => {
                self.anchor(Anchor::Start);
                return Ok(());
            }
            Some(b'$') => {
                self.anchor(Anchor::End);
                return Ok(());
            }
            Some(b'\\') => match self.atom_escape()? {
                Some(node) => node,
                None => return Ok(()),
            },
            Some(b'[') => {
                self.at += 1;
                self.bracket()?
            }
            Some(b'.') => {
                self.at += 1;
                self.named_class(Named::LineEnd, true)
            }
            Some(b'*' | b'+' | b'?') => return Err(self.error("nothing to repeat")),
            Some(b'{') if self.unicode || self.braces().is_some() => {
                return Err(self.error("nothing to repeat"));
            }
            Some(b'}' | b']') if self.unicode => return Err(self.error("lone bracket")),
            _ => match self.next() {
                Some(code) => self.ast.add(Node::Char(code), false),
                None => return Ok(()),
            },
        };
        self.push_quantified(node, groups_before)
    }

    pub(super) fn anchor(&mut self, anchor: Anchor) {
        self.at += 1;
        let node = self.ast.add(Node::Anchor(anchor), true);
        self.terms.push(node);
    }

    /// The node of a named class; each is made once.
    pub(super) fn named_class(&mut self, named: Named, negated: bool) -> NodeId {
        let place = 2 * named as usize + usize::from(negated);
        let known = self.named_classes.get(place).copied().flatten();
        let class = known.unwrap_or_else(|| {
            let class = index(self.ast.classes.len());
            self.ast.classes.push(Class::named(named, negated));
            if let Some(known) = self.named_classes.get_mut(place) {
                *known = Some(class);
            }
            class
        });
        self.ast.add(Node::Class(class), false)
    }

    pub(super) fn class(&mut self, class: Class) -> NodeId {
        let node = if let Some(code) = class.single() {
            Node::Char(code)
        } else {
            self.ast.classes.push(class);
            Node::Class(index(self.ast.classes.len() - 1))
        };
        self.ast.add(node, false)
    }

    /// The class of one character; those of ASCII are made once.
    fn single(&mut self, code: u32) -> u32 {
        if let Some(Some(known)) = self.singles.get(code as usize) {
            return *known;
        }
        let class = index(self.ast.classes.len());
        self.ast.classes.push(Class::of(code));
        if let Some(place) = self.singles.get_mut(code as usize) {
            *place = Some(class);
        }
        class
    }

    fn open_group(&mut self) -> Result<(), PatternError> {
        self.at += 1;
        let groups_before = self.ast.groups;
        let group = if self.eat(b'?') { self.group_kind()? } else { Group::Capture(self.new_group()?) };
        let (terms, alternatives) = (self.terms.len(), self.alternatives.len());
        self.open.push(Open { group, terms, alternatives, groups_before });
        Ok(())
    }

    fn new_group(&mut self) -> Result<u32, PatternError> {
        if self.ast.groups == MAX_GROUPS {
            return Err(self.error("too many groups"));
        }
        self.ast.groups += 1;
        self.inside.push(true);
        Ok(self.ast.groups)
    }

    /// What follows `(?`.
    fn group_kind(&mut self) -> Result<Group, PatternError> {
        let behind = match self.peek() {
            Some(b':') => {
                self.at += 1;
                return Ok(Group::Plain);
            }
            Some(b'=' | b'!') => false,
            Some(b'<') => {
                self.at += 1;
                true
            }
            _ => return Err(self.error("invalid group")),
        };
        if self.eat(b'=') {
            Ok(Group::Look { behind, negate: false })
        } else if self.eat(b'!') {
            Ok(Group::Look { behind, negate: true })
        } else {
            let group = self.new_group()?;
            let name = self.group_name()?;
            match self.names.insert(name, group) {
                None => Ok(Group::Capture(group)),
                Some(_) => Err(self.error("duplicate group name")),
            }
        }
    }

    fn close_group(&mut self) -> Result<(), PatternError> {
        if self.open.len() < 2 {
            return Err(self.error("unmatched )"));
        }
        self.at += 1;
        let body = self.end_disjunction();
        let Some(open) = self.open.pop() else { return Ok(()) };
        let nullable = self.ast.is_nullable(body);
        let node = match open.group {
            Group::Plain => body,
            Group::Capture(group) => {
                if let Some(inside) = self.inside.get_mut(group as usize - 1) {
                    *inside = false;
                }
                self.ast.add(Node::Capture { group, body }, nullable)
            }
            Group::Look { behind, negate } => self.ast.add(Node::Look { behind, negate, body }, true),
        };
        match open.group {
            Group::Look { behind, .. } if behind || self.unicode => {
                self.terms.push(node);
                Ok(())
            }
            _ => self.push_quantified(node, open.groups_before),
        }
    }

    /// Closes the alternative that is being read: its terms become one node.
    fn end_alternative(&mut self) {
        let from = self.open.last().map_or(0, |open| open.terms);
        let start = self.ast.children.len();
        let mut at = from;
        let mut nullable = true;
        while let Some(term) = self.terms.get(at).copied() {
            let run = self
                .terms
                .iter()
                .skip(at)
                .take_while(|t| matches!(self.ast.node(**t), Node::Char(_)))
                .count();
            let child = if run < 2 { term } else { self.literal(at, run) };
            at += run.max(1);
            nullable &= self.ast.is_nullable(child);
            self.ast.children.push(child);
        }
        self.terms.truncate(from);
        let node = match self.ast.children.get(start..) {
            Some([only]) => {
                let only = *only;
                self.ast.children.truncate(start);
                only
            }
            Some([]) | None => self.ast.add(Node::Empty, true),
            Some(children) => {
                let span = Span { start: index(start), len: index(children.len()) };
                self.ast.add(Node::Concat(span), nullable)
            }
        };
        self.alternatives.push(node);
    }

    /// Joins `run` character terms from `at` on into one literal.
    fn literal(&mut self, at: usize, run: usize) -> NodeId {
        let start = self.ast.literals.len();
        for term in self.terms.iter().skip(at).take(run) {
            if let Node::Char(code) = self.ast.node(*term) {
                text::push(&mut self.ast.literals, code);
            }
        }
        let span = Span { start: index(start), len: index(self.ast.literals.len() - start) };
        self.ast.add(Node::Literal(span), false)
    }

    fn end_disjunction(&mut self) -> NodeId {
        self.end_alternative();
        let from = self.open.last().map_or(0, |open| open.alternatives);
        match self.alternatives.get(from..) {
            Some([only]) => {
                let only = *only;
                self.alternatives.truncate(from);
                only
            }
            several => {
                let several = several.unwrap_or_default();
                let nullable = several.iter().any(|id| self.ast.is_nullable(*id));
                let span = Span { start: index(self.ast.children.len()), len: index(several.len()) };
                self.ast.children.extend_from_slice(several);
                self.alternatives.truncate(from);
                self.ast.add(Node::Alternatives(span), nullable)
            }
        }
    }

    fn push_quantified(&mut self, body: NodeId, groups_before: u32) -> Result<(), PatternError> {
        let (min, max) = match self.peek() {
            Some(b'*') => (0, UNBOUNDED),
            Some(b'+') => (1, UNBOUNDED),
            Some(b'?') => (0, 1),
            Some(b'{') => match self.braces() {
                Some((min, max, behind)) => {
                    if min > max {
                        return Err(self.error("bounds out of order"));
                    }
                    self.at = behind - 1;
                    (min, max)
                }
                None if self.unicode => return Err(self.error("incomplete quantifier")),
                None => {
                    self.terms.push(body);
                    return Ok(());
                }
            },
            _ => {
                self.terms.push(body);
                return Ok(());
            }
        };
        self.at += 1;
        let greedy = !self.eat(b'?');
        let groups = Span { start: groups_before, len: self.ast.groups - groups_before };
        let node = if max == 0 {
            self.ast.add(Node::Empty, true)
        } else if (min, max) == (1, 1) || matches!(self.ast.node(body), Node::Empty) {
            body
        } else {
            let class = match self.ast.node(body) {
                Node::Class(class) => Some(class),
                Node::Char(code) => Some(self.single(code)),
                _ => None,
            };
            self.ast.repeats.push(Repeat { body, min, max, greedy, groups, class });
            let nullable = min == 0 || self.ast.is_nullable(body);
            self.ast.add(Node::Repeat(index(self.ast.repeats.len() - 1)), nullable)
        };
        self.terms.push(node);
        Ok(())
    }

    /// Reads `{n}`, `{n,}` or `{n,m}` without moving: the bounds and the offset behind the brace.
    fn braces(&self) -> Option<(u32, u32, usize)> {
        let (min, mut at) = self.decimal(self.at + 1)?;
        let mut max = min;
        if self.source.get(at) == Some(&b',') {
            at += 1;
            max = UNBOUNDED;
            if let Some((bound, behind)) = self.decimal(at) {
                (max, at) = (bound, behind);
            }
        }
        (self.source.get(at) == Some(&b'}')).then_some((min, max, at + 1))
    }

    /// The decimal number at `at`, saturating at [`UNBOUNDED`], and the offset behind it.
    pub(super) fn decimal(&self, at: usize) -> Option<(u32, usize)> {
        let digits = self.source.get(at..)?.iter().take_while(|b| b.is_ascii_digit());
        let (value, count) = digits.fold((0u32, 0), |(value, count), digit| {
            (value.saturating_mul(10).saturating_add(u32::from(digit - b'0')), count + 1)
        });
        (count > 0).then_some((value.min(UNBOUNDED), at + count))
    }

    /// How many groups the whole pattern has and whether one has a name, by V8's quick look ahead.
    pub(super) fn scan(&mut self) -> (u32, bool) {
        if let Some(scanned) = self.scanned {
            return scanned;
        }
        let (mut groups, mut named, mut in_class) = (0u32, false, false);
        let mut bytes = self.source.iter();
        while let Some(byte) = bytes.next() {
            match byte {
                b'\\' => {
                    bytes.next();
                }
                b']' => in_class = false,
                _ if in_class => {}
                b'[' => in_class = true,
                b'(' => match bytes.as_slice() {
                    [b'?', b'<', b'=' | b'!', ..] => {}
                    [b'?', b'<', ..] => {
                        named = true;
                        groups += 1;
                    }
                    [b'?', ..] => {}
                    _ => groups += 1,
                },
                _ => {}
            }
        }
        *self.scanned.insert((groups, named))
    }

    /// A back-reference to group `group`; inside that group it matches the empty text, as nothing is
    /// captured yet.
    pub(super) fn back(&mut self, group: u32, at: usize) -> NodeId {
        if group > self.highest_back.0 {
            self.highest_back = (group, at);
        }
        if group.checked_sub(1).and_then(|i| self.inside.get(i as usize)) == Some(&true) {
            return self.ast.add(Node::Empty, true);
        }
        self.ast.has_back = true;
        self.ast.add(Node::Back(group), true)
    }

    pub(super) fn named_back(&mut self, name: Vec<u32>, at: usize) -> NodeId {
        if let Some(group) = self.names.get(&name) {
            return self.back(*group, at);
        }
        self.ast.has_back = true;
        let node = self.ast.add(Node::Back(0), true);
        self.named_backs.push(NamedBack { node, name, at });
        node
    }

    fn finish(mut self) -> Result<Ast, PatternError> {
        if self.open.len() > 1 {
            return Err(self.error("unterminated group"));
        }
        self.ast.root = self.end_disjunction();
        for NamedBack { node, name, at } in &self.named_backs {
            let Some(group) = self.names.get(name) else {
                return Err(PatternError { offset: *at, reason: "reference to no group" });
            };
            if let Some(node) = self.ast.nodes.get_mut(*node as usize) {
                *node = Node::Back(*group);
            }
        }
        let (group, offset) = self.highest_back;
        if group > self.ast.groups {
            return Err(PatternError { offset, reason: "reference to no group" });
        }
        Ok(self.ast)
    }
}
