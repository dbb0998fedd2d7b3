//! The tape: a text, its nodes in document order, and `Copy` references into them.

use super::{Number, ParseError, Text, parse};

/// What a node is. Names are nodes of their own, each directly before its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    Null,
    False,
    True,
    Number,
    String,
    Array,
    Object,
    Name,
}

/// The text of this string or name holds at least one escape.
pub(super) const ESCAPED: u8 = 1;
/// A later member has the same name, so this name's value is that of the last one (decision A3).
pub(super) const SHADOWED: u8 = 2;

/// One value or name. 16 bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    /// Offset in the text: of the first character inside the quotes, or of the value.
    pub(super) start: u32,
    /// Bytes inside the quotes or of the lexeme; of a container, its distinct members or its items.
    pub(super) len: u32,
    /// The node after this value with all it holds; of a name, the node of its value.
    pub(super) next: u32,
    /// Of a name: a hash of its decoded text, to tell most names apart without reading them.
    pub(super) hash: u16,
    pub(super) tag: Tag,
    pub(super) flags: u8,
}

const _: () = assert!(size_of::<Node>() == 16);

/// A parsed JSON text.
#[derive(Debug)]
pub struct Document {
    pub(super) text: Vec<u8>,
    pub(super) nodes: Vec<Node>,
    pub(super) depth: u32,
    pub(super) repeated_names: bool,
    pub(super) lone_surrogates: bool,
}

impl Document {
    /// Parses a whole text as RFC 8259 defines it: UTF-8, no byte order mark, nothing after the value.
    /// Any depth is taken; time and memory are linear in the text (at most 16 bytes of tape a byte).
    ///
    /// # Errors
    /// [`ParseError`] with the byte where the text stops being JSON.
    pub fn parse(text: Vec<u8>) -> Result<Document, ParseError> {
        if let Err(error) = std::str::from_utf8(&text) {
            return Err(ParseError::invalid_utf8(error.valid_up_to()));
        }
        parse::document(text)
    }

    /// Parses the decoded text of a JSON string. It is UTF-8, but for surrogates that had no partner.
    ///
    /// # Errors
    /// [`ParseError`] as for [`Document::parse`].
    pub fn parse_decoded(text: Vec<u8>) -> Result<Document, ParseError> {
        let broken = std::str::from_utf8(&text).is_err();
        let mut document = parse::document(text)?;
        if broken {
            // A raw surrogate may find its partner in an escape beside it, so only decoding tells.
            document.lone_surrogates = document.any_lone_surrogate();
        }
        Ok(document)
    }

    /// The document `null`, for where there is none to speak of.
    pub(crate) fn null() -> std::sync::Arc<Document> {
        let node = Node { start: 0, len: 4, next: 1, hash: 0, tag: Tag::Null, flags: 0 };
        let (text, nodes) = (b"null".to_vec(), vec![node]);
        Document { text, nodes, depth: 0, repeated_names: false, lone_surrogates: false }.into()
    }

    /// The document `{}`.
    pub(crate) fn empty_object() -> std::sync::Arc<Document> {
        let node = Node { start: 0, len: 0, next: 1, hash: 0, tag: Tag::Object, flags: 0 };
        let (text, nodes) = (b"{}".to_vec(), vec![node]);
        Document { text, nodes, depth: 1, repeated_names: false, lone_surrogates: false }.into()
    }

    /// The value of the whole text.
    #[must_use]
    pub fn root(&self) -> Value<'_> {
        Value { document: self, node: 0 }
    }

    /// Levels of arrays and objects: 0 for a scalar, 1 for `[]`.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Some object has two members of one name. Reading follows ECMAScript (the last value, at the first
    /// position), but another reader may pick another one.
    #[must_use]
    pub fn has_repeated_names(&self) -> bool {
        self.repeated_names
    }

    /// Some string or name holds half of a surrogate pair, which UTF-8 cannot carry.
    #[must_use]
    pub fn has_lone_surrogates(&self) -> bool {
        self.lone_surrogates
    }

    /// The text.
    pub(crate) fn source(&self) -> &[u8] {
        &self.text
    }

    /// The value at a node number that [`Value::node`] gave.
    #[must_use]
    pub(crate) fn value_at(&self, node: u32) -> Value<'_> {
        Value { document: self, node }
    }

    /// The text of a string or name at a node number.
    pub(crate) fn text_at(&self, node: u32) -> Text<'_> {
        let node = self.node(node);
        Text::new(self.span(node), node.flags & ESCAPED != 0)
    }

    /// The name hash at the node number of a name.
    pub(crate) fn hash_at(&self, node: u32) -> u16 {
        self.node(node).hash
    }

    /// Every string and every name of the document, shadowed ones too, as `(is_name, text)`.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (bool, Text<'_>)> {
        self.nodes
            .iter()
            .filter(|node| matches!(node.tag, Tag::String | Tag::Name))
            .map(|node| (node.tag == Tag::Name, Text::new(self.span(*node), node.flags & ESCAPED != 0)))
    }

    fn any_lone_surrogate(&self) -> bool {
        self.texts().any(|(_, text)| std::str::from_utf8(&text.decode()).is_err())
    }

    pub(super) fn node(&self, index: u32) -> Node {
        const NONE: Node = Node { start: 0, len: 0, next: u32::MAX, hash: 0, tag: Tag::Null, flags: 0 };
        self.nodes.get(index as usize).copied().unwrap_or(NONE)
    }

    fn span(&self, node: Node) -> &[u8] {
        let start = node.start as usize;
        self.text.get(start..start + node.len as usize).unwrap_or_default()
    }
}

/// The six kinds of JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Boolean,
    /// A number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// A value in a [`Document`].
#[derive(Debug, Clone, Copy)]
pub struct Value<'d> {
    document: &'d Document,
    node: u32,
}

impl<'d> Value<'d> {
    /// What kind of value this is.
    #[must_use]
    pub fn kind(self) -> Kind {
        match self.document.node(self.node).tag {
            Tag::Null => Kind::Null,
            Tag::False | Tag::True => Kind::Boolean,
            Tag::Number => Kind::Number,
            Tag::String | Tag::Name => Kind::String,
            Tag::Array => Kind::Array,
            Tag::Object => Kind::Object,
        }
    }

    /// The boolean, if it is one.
    #[must_use]
    pub fn as_bool(self) -> Option<bool> {
        match self.document.node(self.node).tag {
            Tag::True => Some(true),
            Tag::False => Some(false),
            _ => None,
        }
    }

    /// The number, if it is one.
    #[must_use]
    pub fn as_number(self) -> Option<Number<'d>> {
        let node = self.document.node(self.node);
        (node.tag == Tag::Number).then(|| Number::new(self.document.span(node)))
    }

    /// The text of the string, if it is one.
    #[must_use]
    pub fn as_text(self) -> Option<Text<'d>> {
        (self.kind() == Kind::String).then(|| self.document.text_at(self.node))
    }

    /// The members of an object in their order; none for any other value.
    #[must_use]
    pub fn members(self) -> Members<'d> {
        let node = self.document.node(self.node);
        let end = if node.tag == Tag::Object { node.next } else { 0 };
        Members { document: self.document, at: self.node + 1, end }
    }

    /// The items of an array in their order; none for any other value.
    #[must_use]
    pub fn items(self) -> Items<'d> {
        let node = self.document.node(self.node);
        let end = if node.tag == Tag::Array { node.next } else { 0 };
        Items { document: self.document, at: self.node + 1, end }
    }

    /// The distinct members of an object or the items of an array; 0 for any other value.
    #[must_use]
    pub fn len(self) -> usize {
        let node = self.document.node(self.node);
        if matches!(node.tag, Tag::Array | Tag::Object) { node.len as usize } else { 0 }
    }

    /// Whether [`Value::len`] is 0.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The member of an object by its decoded name. Looks at every member: for few look-ups.
    #[must_use]
    pub fn get(self, name: &[u8]) -> Option<Value<'d>> {
        let hash = parse::name_hash(name);
        self.members().find(|member| member.hash() == hash && member.name() == *name).map(Member::value)
    }

    /// Whether the object itself has two members of one name.
    #[must_use]
    pub fn repeats_a_name(self) -> bool {
        let mut members = self.members();
        while members.at < members.end {
            if self.document.node(members.at).flags & SHADOWED != 0 {
                return true;
            }
            members.at = self.document.node(members.at + 1).next;
        }
        false
    }

    /// Nodes in this value, itself and names included: a measure of the work it can cause.
    pub(crate) fn count_nodes(self) -> u64 {
        u64::from(self.document.node(self.node).next.saturating_sub(self.node))
    }

    /// Levels of arrays and objects in this value: 0 for a scalar, 1 for `[]`.
    #[must_use]
    pub fn depth(self) -> u32 {
        if self.node == 0 {
            return self.document.depth;
        }
        let end = self.document.node(self.node).next;
        let mut open: Vec<u32> = Vec::new();
        let mut deepest = 0;
        for index in self.node..end {
            let node = self.document.node(index);
            while open.last().is_some_and(|end| *end <= index) {
                open.pop();
            }
            if matches!(node.tag, Tag::Array | Tag::Object) {
                open.push(node.next);
                deepest = deepest.max(open.len());
            }
        }
        u32::try_from(deepest).unwrap_or(u32::MAX)
    }

    /// The document this value lies in.
    #[must_use]
    pub fn document(self) -> &'d Document {
        self.document
    }

    /// The number of this value's node in its document.
    pub(crate) fn node(self) -> u32 {
        self.node
    }
}

/// A member of an object.
#[derive(Debug, Clone, Copy)]
pub struct Member<'d> {
    document: &'d Document,
    name: u32,
}

impl<'d> Member<'d> {
    /// Its name.
    #[must_use]
    pub fn name(self) -> Text<'d> {
        self.document.text_at(self.name)
    }

    /// Its value: of a repeated name, the last one.
    #[must_use]
    pub fn value(self) -> Value<'d> {
        Value { document: self.document, node: self.document.node(self.name).next }
    }

    /// The number of the name's node.
    pub(crate) fn name_node(self) -> u32 {
        self.name
    }

    /// The hash of the name, as `parse::name_hash` makes it.
    pub(crate) fn hash(self) -> u16 {
        self.document.hash_at(self.name)
    }
}

/// The members of an object, in the order of their (first) names.
#[derive(Debug, Clone)]
pub struct Members<'d> {
    document: &'d Document,
    at: u32,
    end: u32,
}

impl<'d> Iterator for Members<'d> {
    type Item = Member<'d>;

    fn next(&mut self) -> Option<Member<'d>> {
        while self.at < self.end {
            let name = self.at;
            self.at = self.document.node(name + 1).next;
            if self.document.node(name).flags & SHADOWED == 0 {
                return Some(Member { document: self.document, name });
            }
        }
        None
    }
}

/// The items of an array.
#[derive(Debug, Clone)]
pub struct Items<'d> {
    document: &'d Document,
    at: u32,
    end: u32,
}

impl<'d> Iterator for Items<'d> {
    type Item = Value<'d>;

    fn next(&mut self) -> Option<Value<'d>> {
        if self.at >= self.end {
            return None;
        }
        let item = Value { document: self.document, node: self.at };
        self.at = self.document.node(self.at).next;
        Some(item)
    }
}
