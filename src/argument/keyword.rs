//! The keywords: which the criteria know, how each is compiled, and what each asserts.

use super::code::DefectCode;
use super::enumeration::Enumeration;
use super::pattern::Pattern;
use super::schema::{Compiler, Keyword, Schema, SchemaRefusal};
use crate::budget::{Budget, Exhausted};
use crate::json::{Kind, Member, Number, Value};

/// The enforced keywords, as published.
pub const ENFORCED: &[&str] = &[
    "type",
    "enum",
    "const",
    "required",
    "properties",
    "additionalProperties",
    "items",
    "minLength",
    "maxLength",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
];

/// The published keywords that are refused wherever a schema may stand, even unused.
pub const NOT_COVERED: &[&str] = &[
    "$ref",
    "$defs",
    "definitions",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "contains",
    "propertyNames",
    "patternProperties",
    "prefixItems",
    "unevaluatedProperties",
    "unevaluatedItems",
    "contentEncoding",
    "contentMediaType",
];

/// Standard assertions and applicators that the criteria do not list, refused so that no verdict rests on
/// undisclosed partial coverage (decision B1).
pub const NOT_COVERED_UNLISTED: &[&str] = &[
    "multipleOf",
    "minContains",
    "maxContains",
    "dependencies",
    "additionalItems",
    "$dynamicRef",
    "$recursiveRef",
    "contentSchema",
];

/// Keywords that assert nothing, but whose own form the meta-schema prescribes.
const ANNOTATIONS: &[&str] = &[
    "title",
    "description",
    "default",
    "examples",
    "format",
    "$schema",
    "$id",
    "$anchor",
    "$dynamicAnchor",
    "$comment",
    "$vocabulary",
    "deprecated",
    "readOnly",
    "writeOnly",
];

/// Annotations that the criteria name as enforced as nothing; a report does not list them again.
const PLAIN: &[&str] = &["title", "description", "default", "examples"];

/// The keyword of this name, if it is one.
pub(super) fn known(name: &[u8]) -> Option<&'static str> {
    let lists = [ENFORCED, ANNOTATIONS, NOT_COVERED, NOT_COVERED_UNLISTED];
    lists.into_iter().flatten().copied().find(|known| known.as_bytes() == name)
}

/// What a keyword asserts about a value of its type.
#[derive(Debug, Clone, Copy)]
pub(super) enum Assertion {
    /// By its number in the schema.
    Enum(u32),
    /// By its node in the schema's document, as the bounds below.
    Const(u32),
    MinLength(u64),
    MaxLength(u64),
    /// By its number in the schema.
    Pattern(u32),
    Minimum(u32),
    Maximum(u32),
    ExclusiveMinimum(u32),
    ExclusiveMaximum(u32),
    MinItems(u64),
    MaxItems(u64),
    UniqueItems,
    MinProperties(u64),
    MaxProperties(u64),
}

impl Compiler<'_, '_> {
    /// Compiles every keyword but those that lead to other schemas.
    pub(super) fn assertion(
        &mut self,
        keyword: Keyword<'_>,
        member: Member<'_>,
    ) -> Result<(), SchemaRefusal> {
        let Keyword { name, value } = keyword;
        let number = value.as_number();
        let count = number.and_then(Number::as_count);
        let valid = match name {
            "enum" => !value.is_empty() && value.kind() == Kind::Array,
            "pattern" => {
                self.pattern(keyword);
                return Ok(());
            }
            "exclusiveMinimum" | "exclusiveMaximum" if value.kind() == Kind::Boolean => {
                return Err(keyword.not_covered());
            }
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => number.is_some(),
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
                count.is_some()
            }
            "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => value.kind() == Kind::Boolean,
            "const" | "default" => true,
            "title" | "description" | "format" | "$schema" | "$comment" => value.kind() == Kind::String,
            "examples" => value.kind() == Kind::Array,
            "$id" => text_is(value, |id| !id.strip_suffix(b"#").unwrap_or(id).contains(&b'#')),
            "$anchor" | "$dynamicAnchor" => text_is(value, is_anchor),
            "$vocabulary" => {
                value.kind() == Kind::Object && value.members().all(|m| m.value().kind() == Kind::Boolean)
            }
            _ => return Err(keyword.not_covered()),
        };
        if !valid {
            self.invalid(keyword);
            return Ok(());
        }
        let (node, count) = (value.node(), count.unwrap_or(0));
        let assertion = match name {
            "enum" => {
                self.schema.enumerations.push(Enumeration::new(value));
                Assertion::Enum(last(&self.schema.enumerations))
            }
            "const" => Assertion::Const(node),
            "minLength" => Assertion::MinLength(count),
            "maxLength" => Assertion::MaxLength(count),
            "minimum" => Assertion::Minimum(node),
            "maximum" => Assertion::Maximum(node),
            "exclusiveMinimum" => Assertion::ExclusiveMinimum(node),
            "exclusiveMaximum" => Assertion::ExclusiveMaximum(node),
            "minItems" => Assertion::MinItems(count),
            "maxItems" => Assertion::MaxItems(count),
            "uniqueItems" if value.as_bool() == Some(true) => Assertion::UniqueItems,
            "minProperties" => Assertion::MinProperties(count),
            "maxProperties" => Assertion::MaxProperties(count),
            _ => {
                if !PLAIN.contains(&name) && name != "uniqueItems" {
                    self.schema.note_not_checked(member.name_node());
                }
                return Ok(());
            }
        };
        self.schema.add_assertion(assertion);
        Ok(())
    }

    fn pattern(&mut self, keyword: Keyword<'_>) {
        match keyword.value.as_text().map(|text| Pattern::compile(&text.decode())) {
            Some(Ok(pattern)) => {
                self.schema.patterns.push(pattern);
                self.schema.add_assertion(Assertion::Pattern(last(&self.schema.patterns)));
            }
            Some(Err(_)) | None => self.invalid(keyword),
        }
    }
}

fn last<T>(list: &[T]) -> u32 {
    u32::try_from(list.len() - 1).unwrap_or(u32::MAX)
}

fn text_is(value: Value<'_>, is: impl Fn(&[u8]) -> bool) -> bool {
    value.as_text().is_some_and(|text| is(&text.decode()))
}

/// `^[A-Za-z_][-A-Za-z0-9._]*$`, as the meta-schema has it.
fn is_anchor(name: &[u8]) -> bool {
    let first = name.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    first && name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(byte))
}

impl Assertion {
    /// The defect of a value that fails the assertion.
    pub(super) fn code(&self) -> DefectCode {
        match self {
            Assertion::Enum(_) => DefectCode::EnumMismatch,
            Assertion::Const(_) => DefectCode::ConstMismatch,
            Assertion::MinLength(_) => DefectCode::StringTooShort,
            Assertion::MaxLength(_) => DefectCode::StringTooLong,
            Assertion::Pattern(_) => DefectCode::PatternMismatch,
            Assertion::Minimum(_) => DefectCode::MinimumViolation,
            Assertion::Maximum(_) => DefectCode::MaximumViolation,
            Assertion::ExclusiveMinimum(_) => DefectCode::ExclusiveMinimumViolation,
            Assertion::ExclusiveMaximum(_) => DefectCode::ExclusiveMaximumViolation,
            Assertion::MinItems(_) => DefectCode::ArrayTooShort,
            Assertion::MaxItems(_) => DefectCode::ArrayTooLong,
            Assertion::UniqueItems => DefectCode::ItemsNotUnique,
            Assertion::MinProperties(_) => DefectCode::TooFewProperties,
            Assertion::MaxProperties(_) => DefectCode::TooManyProperties,
        }
    }

    /// Whether `value` satisfies the assertion. A value of another type than the keyword's always does.
    /// `len` is the number of items or members, which a repair may have changed.
    ///
    /// # Errors
    /// [`Exhausted`].
    pub(super) fn holds(
        self,
        schema: &Schema<'_>,
        value: Value<'_>,
        len: usize,
        budget: &mut Budget<'_>,
    ) -> Result<bool, Exhausted> {
        let source = &schema.source;
        let mut bound = |node: u32, holds: fn(std::cmp::Ordering) -> bool| {
            let (Some(number), Some(bound)) = (value.as_number(), source.value_at(node).as_number()) else {
                return Ok(true);
            };
            budget.spend(number.compare_steps(bound))?;
            Ok(holds(number.compare(bound)))
        };
        let (items, members) = (value.kind() == Kind::Array, value.kind() == Kind::Object);
        Ok(match self {
            Assertion::Enum(index) => match schema.enumerations.get(index as usize) {
                Some(list) => list.contains(source, value, budget)?,
                None => true,
            },
            Assertion::Const(node) => crate::json::equal(value, source.value_at(node), budget)?,
            Assertion::MinLength(least) => length(value, budget)?.is_none_or(|length| length >= least),
            Assertion::MaxLength(most) => length(value, budget)?.is_none_or(|length| length <= most),
            Assertion::Pattern(index) => match (value.as_text(), schema.patterns.get(index as usize)) {
                (Some(text), Some(pattern)) => pattern.is_match(&text.decode(), budget)?,
                _ => true,
            },
            Assertion::Minimum(node) => bound(node, std::cmp::Ordering::is_ge)?,
            Assertion::Maximum(node) => bound(node, std::cmp::Ordering::is_le)?,
            Assertion::ExclusiveMinimum(node) => bound(node, std::cmp::Ordering::is_gt)?,
            Assertion::ExclusiveMaximum(node) => bound(node, std::cmp::Ordering::is_lt)?,
            Assertion::MinItems(least) => !items || len as u64 >= least,
            Assertion::MaxItems(most) => !items || len as u64 <= most,
            Assertion::UniqueItems => super::enumeration::all_unique(value, budget)?,
            Assertion::MinProperties(least) => !members || len as u64 >= least,
            Assertion::MaxProperties(most) => !members || len as u64 <= most,
        })
    }
}

/// Code points of a string (decision B4).
fn length(value: Value<'_>, budget: &mut Budget<'_>) -> Result<Option<u64>, Exhausted> {
    let Some(text) = value.as_text() else { return Ok(None) };
    budget.spend(text.raw().len() as u64 / 32)?;
    Ok(Some(text.count_code_points() as u64))
}
