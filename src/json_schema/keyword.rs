//! The assertion keywords that can fail, and sets of them.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;

/// Every keyword that can be what failed, in a fixed order: drafts 4 to 2020-12. An applicator without a
/// verdict of its own (`allOf`, `$ref`, `if`, `properties`, `items`, …) is none: what fails below it does.
/// `falseSchema` stands for the schema `false`.
pub const KEYWORDS: &[&str] = &[
    "type",
    "enum",
    "const",
    "multipleOf",
    "maximum",
    "exclusiveMaximum",
    "minimum",
    "exclusiveMinimum",
    "maxLength",
    "minLength",
    "pattern",
    "additionalItems",
    "maxItems",
    "minItems",
    "uniqueItems",
    "contains",
    "maxContains",
    "minContains",
    "unevaluatedItems",
    "maxProperties",
    "minProperties",
    "required",
    "dependentRequired",
    "dependencies",
    "additionalProperties",
    "propertyNames",
    "unevaluatedProperties",
    "anyOf",
    "oneOf",
    "not",
    "falseSchema",
];

const _: () = assert!(KEYWORDS.len() <= 48);

/// A set of [`KEYWORDS`], by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KeywordSet(u64);

impl KeywordSet {
    /// No keyword.
    pub const EMPTY: KeywordSet = KeywordSet(0);

    /// All of them.
    pub const ALL: KeywordSet = KeywordSet((1 << KEYWORDS.len()) - 1);

    /// Whether the keyword at this index of [`KEYWORDS`] is in the set.
    #[must_use]
    pub fn contains(self, index: usize) -> bool {
        index < KEYWORDS.len() && self.0 >> index & 1 == 1
    }

    /// Adds the keyword at this index of [`KEYWORDS`]; an index beyond them adds nothing.
    pub fn insert(&mut self, index: usize) {
        if index < KEYWORDS.len() {
            self.0 |= 1 << index;
        }
    }

    /// Both sets together.
    #[must_use]
    pub const fn and(self, other: KeywordSet) -> KeywordSet {
        KeywordSet(self.0 | other.0)
    }

    /// Whether it holds no keyword.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether all of it is in `other`, too.
    #[must_use]
    pub fn is_within(self, other: KeywordSet) -> bool {
        self.0 & !other.0 == 0
    }

    /// The indices, ascending.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        (0..KEYWORDS.len()).filter(move |index| self.contains(*index))
    }

    /// The names, in the order of [`KEYWORDS`].
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        KEYWORDS.iter().enumerate().filter(move |(index, _)| self.contains(*index)).map(|(_, name)| *name)
    }

    /// Adds a keyword by its name, if it is one of [`KEYWORDS`].
    pub(super) fn insert_named(&mut self, name: &str) {
        if let Some(index) = index(name) {
            self.insert(index);
        }
    }

    fn has(self, name: &str) -> bool {
        index(name).is_some_and(|index| self.contains(index))
    }
}

fn index(name: &str) -> Option<usize> {
    KEYWORDS.iter().position(|keyword| *keyword == name)
}

/// The keyword of the schema that an error is about. `met` are those that the schema has.
///
/// The crate names some by what they are alike: a member that `dependentRequired` asks for is `required` to it.
/// Where the keyword stood tells them apart.
pub(super) fn failed(error: &ValidationError<'_>, met: KeywordSet) -> &'static str {
    let named = error.kind().keyword();
    let alike: &[&str] = match error.kind() {
        Kind::Required { .. } => &["dependentRequired", "dependencies"],
        Kind::Contains => &["minContains", "maxContains"],
        _ => &[],
    };
    let path = error.schema_path().as_str();
    let last = path.rsplit('/').next().unwrap_or_default();
    let name = if alike.contains(&last) && met.has(last) { last } else { named };
    index(name).and_then(|index| KEYWORDS.get(index)).copied().unwrap_or("falseSchema")
}
