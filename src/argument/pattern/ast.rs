//! The syntax tree of a pattern, in one arena: nodes name their children by index, children lie together.

use super::class::Class;

/// The bound that stands for "no bound" in a quantifier. Counts saturate here, as they do in V8.
pub(super) const UNBOUNDED: u32 = 0x7FFF_FFFF;

/// Index of a node in [`Ast::nodes`].
pub(super) type NodeId = u32;

/// A run of entries in one of the tree's side tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: u32,
    pub(super) len: u32,
}

impl Span {
    /// The entries of `table` that this span names.
    pub(super) fn of<T>(self, table: &[T]) -> &[T] {
        let start = self.start as usize;
        table.get(start..start + self.len as usize).unwrap_or_default()
    }
}

/// What holds at a position without consuming anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    End,
    WordBoundary,
    NotWordBoundary,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Node {
    Empty,
    Char(u32),
    /// Consecutive characters, in WTF-8, in [`Ast::literals`].
    Literal(Span),
    /// Index in [`Ast::classes`].
    Class(u32),
    Anchor(Anchor),
    /// A back-reference to this capture group.
    Back(u32),
    Capture {
        group: u32,
        body: NodeId,
    },
    Look {
        behind: bool,
        negate: bool,
        body: NodeId,
    },
    /// Index in [`Ast::repeats`].
    Repeat(u32),
    /// Children in [`Ast::children`].
    Concat(Span),
    Alternatives(Span),
}

/// A quantified node. Captures `groups.start + 1 ..= groups.start + groups.len` are inside it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Repeat {
    pub(super) body: NodeId,
    pub(super) min: u32,
    pub(super) max: u32,
    pub(super) greedy: bool,
    pub(super) groups: Span,
    /// The class of the body, where it is one character or class.
    pub(super) class: Option<u32>,
}

/// A parsed pattern.
#[derive(Debug, Default)]
pub(super) struct Ast {
    pub(super) nodes: Vec<Node>,
    /// Parallel to `nodes`: whether the node can match without consuming.
    pub(super) nullable: Vec<bool>,
    pub(super) children: Vec<NodeId>,
    pub(super) literals: Vec<u8>,
    pub(super) classes: Vec<Class>,
    pub(super) repeats: Vec<Repeat>,
    pub(super) root: NodeId,
    /// How many capture groups there are.
    pub(super) groups: u32,
    pub(super) has_back: bool,
}

impl Ast {
    pub(super) fn node(&self, id: NodeId) -> Node {
        self.nodes.get(id as usize).copied().unwrap_or(Node::Empty)
    }

    pub(super) fn is_nullable(&self, id: NodeId) -> bool {
        self.nullable.get(id as usize).copied().unwrap_or(true)
    }

    /// Adds a node, with whether it can match without consuming.
    pub(super) fn add(&mut self, node: Node, nullable: bool) -> NodeId {
        let id = index(self.nodes.len());
        self.nodes.push(node);
        self.nullable.push(nullable);
        id
    }
}

/// A table index. Tables grow with the source, which [`super::MAX_SOURCE`] keeps far below 2³².
pub(super) fn index(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
