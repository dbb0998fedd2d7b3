//! What a schema is made of, before the crate compiles it: its assertion keywords, what it can cost, and
//! where it is not fit to be compiled.

use std::collections::HashSet;

use serde_json::{Map, Value as Tree};

use super::keyword::KeywordSet;
use super::measure::{Shape, measure};
use super::meter::Costs;
use super::reference::{Astray, References};
use super::source::{Unusable, path_to, push_step};
use crate::argument::pattern::Pattern;

/// Up to this number an f64 holds every integer.
const MAX_SAFE: f64 = 9_007_199_254_740_992.0;

/// Bytes that the crate takes for a value of a schema that an error carries along.
const BYTES_PER_VALUE: u64 = 96;

/// Where the meta-schemas are that the crate brings along.
const META_SCHEMAS: &str = "://json-schema.org/draft";

/// The findings.
#[derive(Debug, Clone, Default)]
pub(super) struct Survey {
    /// The assertion keywords met.
    pub(super) keywords: KeywordSet,
    pub(super) costs: Costs,
    pub(super) shape: Shape,
    /// Some `multipleOf` makes the crate read integers as floats.
    pub(super) floats: bool,
    /// Where schemas stand whose `exclusiveMinimum` or `exclusiveMaximum` is a boolean, as in draft 4.
    pub(super) draft4_bounds: Vec<String>,
    /// What is wrong with a reference, if the crate does not know its target either.
    pub(super) astray: Option<Unusable>,
}

pub(super) fn survey(root: &Tree) -> Result<Survey, Unusable> {
    let mut surveyor = Surveyor {
        root,
        references: References::new(root),
        positions: Vec::new(),
        seen: HashSet::new(),
        survey: Survey::default(),
    };
    surveyor.visit(root)?;
    // What references reach may stand anywhere, such as under a keyword that nobody knows.
    let mut next = 0;
    while let Some(schema) = surveyor.positions.get(next).copied() {
        next += 1;
        let (targets, astray) = surveyor.references.of(schema);
        if let Some(astray) = astray {
            surveyor.survey.keywords = KeywordSet::ALL;
            if !astray.reference.contains(META_SCHEMAS) {
                surveyor.survey.astray.get_or_insert_with(|| unreachable(astray, path_to(root, schema)));
            }
        }
        targets.into_iter().try_for_each(|target| surveyor.visit(target))?;
    }
    let Surveyor { references, positions, mut survey, .. } = surveyor;
    survey.shape = measure(&references, &positions)
        .map_err(|(schema, what)| Unusable::new(what, path_to(root, schema)))?;
    survey.costs.value = u64::from(survey.shape.weight) / 8;
    Ok(survey)
}

struct Surveyor<'s> {
    root: &'s Tree,
    references: References<'s>,
    /// Every schema.
    positions: Vec<&'s Tree>,
    seen: HashSet<*const Tree>,
    survey: Survey,
}

impl<'s> Surveyor<'s> {
    fn visit(&mut self, schema: &'s Tree) -> Result<(), Unusable> {
        if !self.seen.insert(schema) {
            return Ok(());
        }
        self.positions.push(schema);
        if *schema == Tree::Bool(false) {
            self.survey.keywords.insert_named("falseSchema");
        }
        if let Some(members) = schema.as_object() {
            for (name, value) in members {
                self.note(schema, name, value)?;
            }
        }
        subschemas(schema).into_iter().try_for_each(|(_, subschema)| self.visit(subschema))
    }

    fn note(&mut self, schema: &Tree, name: &str, value: &Tree) -> Result<(), Unusable> {
        self.survey.keywords.insert_named(name);
        match name {
            "multipleOf" => {
                let exact =
                    value.as_f64().is_some_and(|divisor| divisor.fract() == 0.0 && divisor < MAX_SAFE);
                self.survey.floats |= !exact;
            }
            "exclusiveMinimum" | "exclusiveMaximum" if value.is_boolean() => {
                self.survey.draft4_bounds.push(path_to(self.root, schema));
            }
            "patternProperties" => {
                for pattern in value.as_object().into_iter().flat_map(Map::keys) {
                    if let Some(what) = unfit_for_names(pattern) {
                        let mut path = path_to(self.root, value);
                        push_step(&mut path, pattern);
                        return Err(Unusable::new(what, path));
                    }
                    self.survey.costs.name += pattern_cost(pattern);
                }
            }
            "not" => {
                let bytes = values(value) * BYTES_PER_VALUE;
                self.survey.costs.error = self.survey.costs.error.max(bytes);
            }
            "$ref" if value.as_str() == Some("") => {
                let what = "an empty `$ref`: write `#` for the root";
                return Err(Unusable::new(what, path_to(self.root, value)));
            }
            _ => {}
        }
        Ok(())
    }
}

/// Where the value stands that a subschema applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// It is the same value.
    Same,
    /// Inside the value.
    Inside,
    /// Nowhere, until a reference leads to it.
    Definition,
}

/// The subschemas of a schema.
pub(super) fn subschemas(schema: &Tree) -> Vec<(Place, &Tree)> {
    let is_schema = |value: &&Tree| value.is_object() || value.is_boolean();
    let mut found: Vec<(Place, &Tree)> = Vec::new();
    for (name, value) in schema.as_object().into_iter().flatten() {
        let one = Some(value).filter(is_schema);
        let listed = value.as_array().into_iter().flatten();
        let named = value.as_object().into_iter().flat_map(Map::values).filter(is_schema);
        match name.as_str() {
            "not" | "if" | "then" | "else" => found.extend(one.map(|one| (Place::Same, one))),
            "allOf" | "anyOf" | "oneOf" => found.extend(listed.map(|item| (Place::Same, item))),
            "dependentSchemas" | "dependencies" => found.extend(named.map(|named| (Place::Same, named))),
            "contains" | "propertyNames" => found.extend(one.map(|one| (Place::Inside, one))),
            // `false` here is a failure of the keyword itself.
            "additionalProperties" | "additionalItems" | "unevaluatedItems" | "unevaluatedProperties" => {
                found.extend(one.filter(|one| one.is_object()).map(|one| (Place::Inside, one)));
            }
            "items" => found.extend(one.into_iter().chain(listed).map(|item| (Place::Inside, item))),
            "prefixItems" => found.extend(listed.map(|item| (Place::Inside, item))),
            "properties" | "patternProperties" => found.extend(named.map(|named| (Place::Inside, named))),
            "$defs" | "definitions" => found.extend(named.map(|named| (Place::Definition, named))),
            _ => {}
        }
    }
    found
}

/// What to do about a reference that leads to nothing.
fn unreachable(astray: Astray<'_>, mut path: String) -> Unusable {
    let Astray { keyword, reference } = astray;
    let what = if reference.starts_with('#') {
        format!("`{keyword}` names `{reference}`, and there is nothing of that name in the schema")
    } else {
        format!(
            "`{keyword}` leads outside the schema, to `{reference}`, and nothing is retrieved: bring what it names into `$defs`"
        )
    };
    push_step(&mut path, keyword);
    Unusable::new(what, path)
}

/// Why a pattern of `patternProperties` is not to be given to the crate. It would take these escapes, and read them
/// otherwise than ECMA-262 does.
fn unfit_for_names(pattern: &str) -> Option<String> {
    if let Err(error) = Pattern::compile(pattern.as_bytes()) {
        return Some(format!("the pattern does not compile: {error}"));
    }
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        if character == '\\'
            && let Some(escaped @ ('b' | 'B' | 'A' | 'z')) = characters.next()
        {
            return Some(format!("`\\{escaped}` in a pattern of `patternProperties`: write it without"));
        }
    }
    None
}

/// Steps for matching 16 bytes of a name at worst: every state of the pattern at every byte. Its states are
/// about its characters times its repetitions.
fn pattern_cost(source: &str) -> u64 {
    const MOST: u64 = 400_000;
    let repetitions = source.split('{').skip(1).filter_map(|rest| {
        let bounds = rest.split_once('}')?.0;
        bounds.split(',').filter_map(|bound| bound.parse::<u64>().ok()).max()
    });
    let states = repetitions.fold(source.len() as u64, |states, bound| states.saturating_mul(bound.max(1)));
    (4 + states).min(MOST)
}

/// How many values a tree has.
fn values(tree: &Tree) -> u64 {
    1 + match tree {
        Tree::Array(items) => items.iter().map(values).sum(),
        Tree::Object(members) => members.values().map(|value| 1 + values(value)).sum(),
        _ => 0,
    }
}
