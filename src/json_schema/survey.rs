//! What a schema is made of, before the crate compiles it: its assertion keywords, what it can cost, and
//! whether it would go round in circles.
//!
//! A keyword either applies its schemas to the very value (`allOf`, `$ref`) or to what lies in it
//! (`properties`, `items`). Circles of the first sort never end, and their schemas multiply: those are refused.
//! Circles that go into the value end with it.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value as Tree};

use super::keyword::KeywordSet;
use super::meter::Costs;
use super::reference::References;
use super::source::{Unusable, push_step};

/// How many schemas may apply to one value, each as often as it is reached.
const MAX_WEIGHT: u32 = 4096;

/// How many of them may apply one through the other.
pub(super) const MAX_HEIGHT: u32 = 64;

/// Up to this number an f64 holds every integer.
const MAX_SAFE: f64 = 9_007_199_254_740_992.0;

/// Bytes that the crate takes for a value of a schema that an error carries along.
const BYTES_PER_VALUE: u64 = 96;

/// The findings.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Survey {
    /// The assertion keywords met.
    pub(super) keywords: KeywordSet,
    pub(super) costs: Costs,
    /// The most schemas that apply to one value one through the other.
    pub(super) height: u32,
    /// Some `multipleOf` makes the crate read integers as floats.
    pub(super) floats: bool,
}

/// Where the value stands that a subschema applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// It is the same value.
    Same,
    /// Inside the value, or nowhere.
    Other,
}

pub(super) fn survey(root: &Tree) -> Result<Survey, Unusable> {
    let mut surveyor = Surveyor {
        references: References::new(root),
        positions: Vec::new(),
        seen: HashSet::new(),
        survey: Survey::default(),
    };
    surveyor.visit(root, root, &mut String::new())?;
    // What references reach may stand anywhere, such as under a keyword that nobody knows.
    let mut next = 0;
    while let Some((schema, resource, path)) = surveyor.positions.get(next).cloned() {
        next += 1;
        let (targets, outside) = surveyor.references.of(schema, resource);
        if outside {
            surveyor.survey.keywords = KeywordSet::ALL;
        }
        for target in targets {
            surveyor.visit(target, resource, &mut path.clone())?;
        }
    }
    surveyor.measure_all()?;
    Ok(surveyor.survey)
}

struct Surveyor<'s> {
    references: References<'s>,
    /// Every schema, the resource it belongs to, and the path to it.
    positions: Vec<(&'s Tree, &'s Tree, String)>,
    seen: HashSet<*const Tree>,
    survey: Survey,
}

impl<'s> Surveyor<'s> {
    fn visit(&mut self, schema: &'s Tree, resource: &'s Tree, path: &mut String) -> Result<(), Unusable> {
        if !self.seen.insert(schema) {
            return Ok(());
        }
        let resource = if schema.get("$id").or(schema.get("id")).is_some_and(Tree::is_string) {
            schema
        } else {
            resource
        };
        self.positions.push((schema, resource, path.clone()));
        if *schema == Tree::Bool(false) {
            self.survey.keywords.insert_named("falseSchema");
        }
        let Some(members) = schema.as_object() else { return Ok(()) };
        self.note(members, path)?;
        for (_, steps, subschema) in subschemas(members) {
            let len = path.len();
            steps.iter().for_each(|step| push_step(path, step));
            let visited = self.visit(subschema, resource, path);
            path.truncate(len);
            visited?;
        }
        Ok(())
    }

    fn note(&mut self, members: &Map<String, Tree>, path: &str) -> Result<(), Unusable> {
        for (name, value) in members {
            self.survey.keywords.insert_named(name);
            match name.as_str() {
                "multipleOf" => {
                    let exact =
                        value.as_f64().is_some_and(|divisor| divisor.fract() == 0.0 && divisor < MAX_SAFE);
                    self.survey.floats |= !exact;
                }
                "patternProperties" => {
                    let names = value.as_object().into_iter().flat_map(Map::keys);
                    let cost: u64 = names.map(|pattern| pattern_cost(pattern)).sum();
                    self.survey.costs.per_name = self.survey.costs.per_name.saturating_add(cost);
                }
                "not" => {
                    let bytes = values(value) * BYTES_PER_VALUE;
                    self.survey.costs.per_error = self.survey.costs.per_error.max(bytes);
                }
                "$ref" if value.as_str() == Some("") => {
                    return Err(Unusable::new("an empty `$ref`: write `#` for the root", path));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Measures every position, and keeps the greatest height.
    fn measure_all(&mut self) -> Result<(), Unusable> {
        let mut measures = Measures { known: HashMap::new(), surveyor: self };
        let mut height = 0;
        for (schema, resource, path) in &self.positions {
            let measured =
                measures.measure(schema, resource, MAX_HEIGHT).map_err(|what| Unusable::new(what, path))?;
            height = height.max(measured.height);
        }
        self.survey.height = height;
        Ok(())
    }
}

/// What applies to one value beginning at a schema.
#[derive(Debug, Clone, Copy)]
struct Measure {
    /// How many schemas, each as often as it is reached.
    weight: u32,
    /// How many of them one through the other.
    height: u32,
}

/// What a meta-schema of JSON Schema applies to one value, generously.
const META_SCHEMA: Measure = Measure { weight: 64, height: 8 };

struct Measures<'a, 's> {
    /// None while a schema is being measured.
    known: HashMap<*const Tree, Option<Measure>>,
    surveyor: &'a Surveyor<'s>,
}

impl<'s> Measures<'_, 's> {
    fn measure(&mut self, schema: &'s Tree, resource: &'s Tree, left: u32) -> Result<Measure, &'static str> {
        match self.known.get(&std::ptr::from_ref(schema)) {
            Some(Some(known)) if known.height <= left => return Ok(*known),
            Some(None) => {
                return Err("the schema refers to itself without going into the value: it never ends");
            }
            _ => {}
        }
        let Some(left) = left.checked_sub(1) else {
            return Err("too many schemas apply to one value one through the other: join some of them");
        };
        self.known.insert(schema, None);
        let (targets, outside) = self.surveyor.references.of(schema, resource);
        let mut measure = if outside { META_SCHEMA } else { Measure { weight: 1, height: 0 } };
        let members = schema.as_object();
        let inside = members.into_iter().flat_map(subschemas).filter(|(place, ..)| *place == Place::Same);
        let applied: Vec<&Tree> = inside.map(|(_, _, subschema)| subschema).chain(targets).collect();
        for subschema in applied {
            let below =
                self.measure(subschema, self.surveyor.references.resource(subschema, resource), left)?;
            measure.weight = measure.weight.saturating_add(below.weight);
            measure.height = measure.height.max(below.height);
        }
        measure.height += 1;
        if measure.weight > MAX_WEIGHT {
            return Err(
                "too many schemas apply to one value, since each is reached in many ways: join some of them",
            );
        }
        self.known.insert(schema, Some(measure));
        Ok(measure)
    }
}

/// The subschemas of a schema, and the steps to them.
fn subschemas(members: &Map<String, Tree>) -> impl Iterator<Item = (Place, Vec<String>, &Tree)> {
    members.iter().flat_map(|(name, value)| {
        let place = match name.as_str() {
            "allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else" | "dependentSchemas"
            | "dependencies" => Place::Same,
            _ => Place::Other,
        };
        let mut found: Vec<(Place, Vec<String>, &Tree)> = Vec::new();
        let is_schema = |value: &Tree| value.is_object() || value.is_boolean();
        match name.as_str() {
            "not" | "if" | "then" | "else" | "contains" | "propertyNames" if is_schema(value) => {
                found.push((place, vec![name.clone()], value));
            }
            // `false` here is a failure of the keyword itself.
            "additionalProperties" | "additionalItems" | "unevaluatedItems" | "unevaluatedProperties"
                if value.is_object() =>
            {
                found.push((place, vec![name.clone()], value));
            }
            "items" if is_schema(value) => found.push((place, vec![name.clone()], value)),
            "allOf" | "anyOf" | "oneOf" | "items" | "prefixItems" => {
                let items = value.as_array().into_iter().flatten().enumerate();
                found.extend(items.map(|(index, item)| (place, vec![name.clone(), index.to_string()], item)));
            }
            "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas"
            | "dependencies" => {
                let members = value.as_object().into_iter().flatten().filter(|(_, value)| is_schema(value));
                found.extend(members.map(|(key, value)| (place, vec![name.clone(), key.clone()], value)));
            }
            _ => {}
        }
        found
    })
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
