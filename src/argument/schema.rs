//! Compiling a JSON Schema to the subset that `tool-argument/v1` enforces, or refusing it (decisions B1, B2).

use super::MAX_DEPTH;
use super::code::Refusal;
use super::enumeration::Enumeration;
use super::held::Held;
use super::keyword::{self, Assertion};
use super::pattern::Pattern;
use crate::json::{Document, Kind, Member, Number, Text, Value};

/// A compiled schema. Every schema position of the document is one node; node 0 is the root.
#[derive(Debug)]
pub struct Schema<'s> {
    pub(super) source: Held<'s>,
    nodes: Vec<Node>,
    names: Vec<Name>,
    required: Vec<u32>,
    assertions: Vec<Assertion>,
    pub(super) patterns: Vec<Pattern>,
    pub(super) enumerations: Vec<Enumeration>,
    not_checked: Vec<u32>,
}

/// A schema position.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    /// The types of `type`; empty where the keyword is absent.
    pub(super) types: Types,
    /// `additionalProperties` is false.
    pub(super) closed: bool,
    /// The assertions hold a null.
    pub(super) admits_null: bool,
    /// The schema of `items`.
    pub(super) items: Option<u32>,
    names: Span,
    required: Span,
    assertions: Span,
    /// Where the schema stands in its document.
    source: u32,
}

/// A name of `properties` or `required`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Name {
    hash: u16,
    /// The name's node in the schema's document.
    pub(super) source: u32,
    /// The schema node of the property; while compiling, its position in the document.
    pub(super) schema: Option<u32>,
    /// Its index in `required`.
    pub(super) required: Option<u32>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Span {
    start: u32,
    end: u32,
}

impl Span {
    fn of<T>(self, all: &[T]) -> &[T] {
        all.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}

/// A set of type names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Types(u8);

impl Types {
    pub(super) const NULL: Types = Types(1);
    pub(super) const BOOLEAN: Types = Types(2);
    pub(super) const NUMBER: Types = Types(4);
    pub(super) const STRING: Types = Types(8);
    pub(super) const ARRAY: Types = Types(16);
    pub(super) const OBJECT: Types = Types(32);
    pub(super) const INTEGER: Types = Types(64);

    fn named(name: &[u8]) -> Option<Types> {
        Some(match name {
            b"null" => Types::NULL,
            b"boolean" => Types::BOOLEAN,
            b"number" => Types::NUMBER,
            b"string" => Types::STRING,
            b"array" => Types::ARRAY,
            b"object" => Types::OBJECT,
            b"integer" => Types::INTEGER,
            _ => return None,
        })
    }

    pub(super) fn has(self, one: Types) -> bool {
        self.0 & one.0 != 0
    }

    /// Whether the keyword holds for `value`; an absent keyword always does.
    pub(super) fn admit(self, value: Value<'_>) -> bool {
        let one = match value.kind() {
            _ if self.0 == 0 => return true,
            Kind::Null => Types::NULL,
            Kind::Boolean => Types::BOOLEAN,
            Kind::String => Types::STRING,
            Kind::Array => Types::ARRAY,
            Kind::Object => Types::OBJECT,
            Kind::Number => {
                return self.has(Types::NUMBER)
                    || (self.has(Types::INTEGER) && value.as_number().is_some_and(Number::is_integral));
            }
        };
        self.has(one)
    }
}

/// Why a schema is refused, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{}", refusal.code())]
pub struct SchemaRefusal {
    /// `schema_invalid` or `schema_not_covered`.
    pub refusal: Refusal,
    /// The keyword at fault, if it is one keyword's.
    pub keyword: Option<&'static str>,
    /// The node of the document at fault.
    pub(super) node: u32,
}

impl SchemaRefusal {
    /// The JSON Pointer, from the root of the schema, to what is at fault.
    #[must_use]
    pub fn schema_path(&self, schema: Value<'_>) -> String {
        let mut pointer = String::new();
        let mut value = schema;
        while value.node() != self.node {
            let inside = |child: Value<'_>| {
                child.node() <= self.node
                    && u64::from(self.node) < u64::from(child.node()) + child.count_nodes()
            };
            let item = value.items().enumerate().find(|(_, item)| inside(*item));
            let member = value.members().find(|member| inside(member.value()));
            let (step, next) = match (item, member) {
                (Some((index, item)), _) => (index.to_string(), item),
                (None, Some(member)) => {
                    (String::from_utf8_lossy(&member.name().decode()).into_owned(), member.value())
                }
                (None, None) => break,
            };
            pointer.push('/');
            pointer.push_str(&step.replace('~', "~0").replace('/', "~1"));
            value = next;
        }
        pointer
    }

    /// The code, the keyword and its place in the document with this root, for the operator.
    #[must_use]
    pub fn told(&self, root: Value<'_>) -> String {
        let keyword = self.keyword.map_or(String::new(), |keyword| format!(" (keyword {keyword})"));
        format!("{self}{keyword} at #{}", self.schema_path(root))
    }
}

impl Schema<'static> {
    /// Compiles a schema that the result shall own, such as a dock's pinned one.
    ///
    /// # Errors
    /// [`SchemaRefusal`] as for [`Schema::compile`].
    pub fn owned(document: std::sync::Arc<Document>) -> Result<Schema<'static>, SchemaRefusal> {
        compile(&Held::Shared(document), 0)
    }

    /// The same for a schema that is a part of `document`: `schema` is a value in it.
    ///
    /// # Errors
    /// As for [`Schema::owned`].
    pub(crate) fn owned_at(
        document: std::sync::Arc<Document>,
        schema: Value<'_>,
    ) -> Result<Schema<'static>, SchemaRefusal> {
        compile(&Held::Shared(document), schema.node())
    }
}

impl<'s> Schema<'s> {
    /// Compiles a schema.
    ///
    /// # Errors
    /// [`SchemaRefusal`]: `schema_not_covered` if any schema position uses a keyword or form outside the
    /// enforced subset, else `schema_invalid` if any is not as the draft 2020-12 meta-schema says.
    pub fn compile(schema: Value<'s>) -> Result<Schema<'s>, SchemaRefusal> {
        compile(&Held::Borrowed(schema.document()), schema.node())
    }

    /// The names of the keywords met that no verdict rests on, as nodes of the document.
    pub(super) fn not_checked(&self) -> &[u32] {
        &self.not_checked
    }

    /// The schema at a node, as it was written.
    #[must_use]
    pub(super) fn written(&self, node: u32) -> Option<Value<'_>> {
        self.nodes.get(node as usize).map(|node| self.source.value_at(node.source))
    }

    /// The `type` of the root.
    pub(super) fn root_types(&self) -> Types {
        self.node(0).types
    }

    pub(super) fn note_not_checked(&mut self, name: u32) {
        self.not_checked.push(name);
    }

    pub(super) fn add_assertion(&mut self, assertion: Assertion) {
        self.assertions.push(assertion);
    }

    pub(super) fn node(&self, node: u32) -> Node {
        self.nodes.get(node as usize).copied().unwrap_or(Node::EMPTY)
    }

    pub(super) fn names(&self, node: &Node) -> &[Name] {
        node.names.of(&self.names)
    }

    /// The indexes into [`Schema::names`] of the required ones, in `required` order.
    pub(super) fn required(&self, node: &Node) -> &[u32] {
        node.required.of(&self.required)
    }

    pub(super) fn assertions(&self, node: &Node) -> &[Assertion] {
        node.assertions.of(&self.assertions)
    }

    /// The index of a submitted name among [`Schema::names`].
    pub(super) fn find(&self, node: &Node, member: Member<'_>) -> Option<usize> {
        let (names, hash, text) = (self.names(node), member.hash(), member.name());
        let same = |name: &Name| name.hash == hash && self.source.text_at(name.source) == text;
        if names.len() <= 8 {
            return names.iter().position(same);
        }
        names.binary_search_by(|name| order(&self.source, name, hash, text)).ok()
    }
}

/// Names are sorted by hash, then text.
fn order(source: &Document, name: &Name, hash: u16, text: Text<'_>) -> std::cmp::Ordering {
    name.hash.cmp(&hash).then_with(|| source.text_at(name.source).compare(text))
}

impl Node {
    const NONE: Span = Span { start: 0, end: 0 };
    const EMPTY: Node = Node {
        types: Types(0),
        closed: false,
        admits_null: true,
        items: None,
        names: Node::NONE,
        required: Node::NONE,
        assertions: Node::NONE,
        source: 0,
    };
}

pub(super) fn compile<'s>(source: &Held<'s>, root: u32) -> Result<Schema<'s>, SchemaRefusal> {
    let refuse = |refusal, node| Err(SchemaRefusal { refusal, keyword: None, node });
    match source.value_at(root).kind() {
        Kind::Object => {}
        Kind::Boolean => return refuse(Refusal::SchemaNotCovered, root),
        _ => return refuse(Refusal::SchemaInvalid, root),
    }
    if source.value_at(root).depth() > MAX_DEPTH {
        return refuse(Refusal::SchemaInvalid, root);
    }
    let mut schema = Schema {
        source: source.clone(),
        nodes: Vec::new(),
        names: Vec::new(),
        required: Vec::new(),
        assertions: Vec::new(),
        patterns: Vec::new(),
        enumerations: Vec::new(),
        not_checked: Vec::new(),
    };
    let mut compiler = Compiler { schema: &mut schema, invalid: None };
    compiler.node(source.value_at(root))?;
    match compiler.invalid {
        Some(refusal) => Err(refusal),
        None => Ok(schema),
    }
}

pub(super) struct Compiler<'c, 's> {
    pub(super) schema: &'c mut Schema<'s>,
    /// The first thing found invalid. It is told only if nothing is found that is not covered (decision B2).
    invalid: Option<SchemaRefusal>,
}

/// A keyword while it is compiled.
#[derive(Clone, Copy)]
pub(super) struct Keyword<'v> {
    pub(super) name: &'static str,
    pub(super) value: Value<'v>,
}

impl Keyword<'_> {
    pub(super) fn not_covered(self) -> SchemaRefusal {
        let (keyword, node) = (Some(self.name), self.value.node());
        SchemaRefusal { refusal: Refusal::SchemaNotCovered, keyword, node }
    }
}

impl Compiler<'_, '_> {
    pub(super) fn invalid(&mut self, keyword: Keyword<'_>) {
        let (name, node) = (Some(keyword.name), keyword.value.node());
        self.invalid.get_or_insert(SchemaRefusal { refusal: Refusal::SchemaInvalid, keyword: name, node });
    }

    /// Compiles the schema object `value`; recurses as deep as the schema, which is capped.
    fn node(&mut self, value: Value<'_>) -> Result<u32, SchemaRefusal> {
        let index = self.schema.nodes.len();
        self.schema.nodes.push(Node::EMPTY);
        let mut node = Node { source: value.node(), ..Node::EMPTY };
        let (names, assertions) = (self.schema.names.len(), self.schema.assertions.len());
        let (mut items, mut required) = (None, None);
        for member in value.members() {
            let name = member.name().decode();
            let Some(name) = keyword::known(&name) else {
                self.schema.not_checked.push(member.name_node());
                continue;
            };
            let keyword = Keyword { name, value: member.value() };
            match name {
                "type" => node.types = self.types(keyword),
                "properties" => self.properties(keyword)?,
                "required" => required = Some(keyword),
                "additionalProperties" => match (keyword.value.as_bool(), keyword.value.kind()) {
                    (Some(open), _) => node.closed = !open,
                    (None, Kind::Object) => return Err(keyword.not_covered()),
                    (None, _) => self.invalid(keyword),
                },
                "items" => match keyword.value.kind() {
                    Kind::Object => items = Some(keyword.value),
                    Kind::Array | Kind::Boolean => return Err(keyword.not_covered()),
                    _ => self.invalid(keyword),
                },
                _ => self.assertion(keyword, member)?,
            }
        }
        node.required = self.required(required, names);
        node.names = span(names, self.schema.names.len());
        if let Some(assertions) = self.schema.assertions.get_mut(assertions..) {
            assertions.sort_unstable_by_key(Assertion::code);
        }
        node.assertions = span(assertions, self.schema.assertions.len());
        node.admits_null = self.admits_null(&node);
        for at in names..self.schema.names.len() {
            let Some(position) = self.schema.names.get(at).and_then(|name| name.schema) else { continue };
            let child = self.node(value.document().value_at(position))?;
            if let Some(name) = self.schema.names.get_mut(at) {
                name.schema = Some(child);
            }
        }
        node.items = items.map(|items| self.node(items)).transpose()?;
        if let Some(place) = self.schema.nodes.get_mut(index) {
            *place = node;
        }
        Ok(u32::try_from(index).unwrap_or(u32::MAX))
    }

    fn types(&mut self, keyword: Keyword<'_>) -> Types {
        let name = |value: Value<'_>| value.as_text().and_then(|text| Types::named(&text.decode()));
        if keyword.value.kind() != Kind::Array {
            return name(keyword.value).unwrap_or_else(|| {
                self.invalid(keyword);
                Types::default()
            });
        }
        let mut types = Types::default();
        for item in keyword.value.items() {
            match name(item) {
                Some(one) if !types.has(one) => types.0 |= one.0,
                _ => self.invalid(keyword),
            }
        }
        if keyword.value.is_empty() {
            self.invalid(keyword);
        }
        types
    }

    /// Notes the declared names; their schemas are compiled once the node's own lists are complete.
    fn properties(&mut self, keyword: Keyword<'_>) -> Result<(), SchemaRefusal> {
        if keyword.value.kind() != Kind::Object {
            self.invalid(keyword);
        }
        for member in keyword.value.members() {
            let child = Keyword { name: keyword.name, value: member.value() };
            match child.value.kind() {
                Kind::Object => {}
                Kind::Boolean => return Err(child.not_covered()),
                _ => {
                    self.invalid(child);
                    continue;
                }
            }
            let (hash, source) = (member.hash(), member.name_node());
            self.schema.names.push(Name { hash, source, schema: Some(child.value.node()), required: None });
        }
        Ok(())
    }

    /// Merges `required` into the names from `names` on, which end up sorted; gives the list in its order.
    fn required(&mut self, keyword: Option<Keyword<'_>>, names: usize) -> Span {
        let count = keyword.map_or(0, |keyword| keyword.value.len());
        if let Some(keyword) = keyword {
            let is_list = keyword.value.kind() == Kind::Array;
            if !is_list || keyword.value.items().any(|item| item.kind() != Kind::String) {
                self.invalid(keyword);
                return Node::NONE;
            }
            for (index, item) in (0..).zip(keyword.value.items()) {
                let text = item.as_text().unwrap_or(Text::EMPTY);
                let hash = crate::json::name_hash(&text.decode());
                self.schema.names.push(Name {
                    hash,
                    source: item.node(),
                    schema: None,
                    required: Some(index),
                });
            }
        }
        let Schema { source, names: all, required, .. } = &mut *self.schema;
        let text = |name: &Name| source.text_at(name.source);
        if let Some(own) = all.get_mut(names..) {
            own.sort_unstable_by(|a, b| order(source, a, b.hash, text(b)).then(a.required.cmp(&b.required)));
        }
        // The declaration of a name, if there is one, comes directly before its entry of `required`.
        let mut twice = false;
        let mut own = all.split_off(names);
        own.dedup_by(|later, earlier| {
            if later.hash != earlier.hash || text(later) != text(earlier) {
                return false;
            }
            twice |= earlier.required.is_some();
            earlier.required = later.required;
            true
        });
        let start = required.len();
        required.resize(start + count, 0);
        for (index, name) in (0..).zip(&own) {
            if let Some(place) = name.required.and_then(|order| required.get_mut(start + order as usize)) {
                *place = index;
            }
        }
        all.append(&mut own);
        let required = span(start, required.len());
        if let (true, Some(keyword)) = (twice, keyword) {
            self.invalid(keyword);
        }
        required
    }

    fn admits_null(&self, node: &Node) -> bool {
        let typed = node.types.0 == 0 || node.types.has(Types::NULL);
        typed
            && self.schema.assertions(node).iter().all(|assertion| match assertion {
                Assertion::Enum(index) => self
                    .schema
                    .enumerations
                    .get(*index as usize)
                    .is_some_and(|list| list.holds_null(&self.schema.source)),
                Assertion::Const(node) => self.schema.source.value_at(*node).kind() == Kind::Null,
                // A keyword of another type does not apply to null.
                _ => true,
            })
    }
}

fn span(start: usize, end: usize) -> Span {
    let [start, end] = [start, end].map(|at| u32::try_from(at).unwrap_or(u32::MAX));
    Span { start, end }
}
