//! Whether a schema would go round in circles, and how far the crate recurses into it.
//!
//! A keyword applies its schemas either to the very value (`allOf`, `$ref`) or to what lies in it (`properties`,
//! `items`). Circles of the first sort never end, and their schemas multiply: those are refused. Circles that go
//! into the value end with it.

use std::collections::HashMap;

use serde_json::Value as Tree;

use super::reference::References;
use super::survey::{Place, subschemas};

/// How many schemas may apply to one value, each as often as it is reached.
const MAX_WEIGHT: u32 = 16_384;

/// How many of them may apply one through the other.
const MAX_HEIGHT: u32 = 64;

/// How deep the crate may recurse, in schemas. That much fits in half of a thread's 2 MiB.
pub(super) const MAX_FRAMES: u32 = 1024;

/// What a meta-schema of JSON Schema applies to one value, generously.
const META_SCHEMA: Measure = Measure { weight: 64, height: 8 };

/// How a schema may be gone through.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Shape {
    /// The most schemas that apply to one value, each as often as it is reached.
    pub(super) weight: u32,
    /// The most that apply to one value one through the other.
    height: u32,
    /// The schema goes round through the value, so that only the value's depth ends it.
    circular: bool,
}

impl Shape {
    /// Whether the crate can follow a value of this depth on a small stack.
    pub(super) fn can_follow(self, depth: u32) -> bool {
        !self.circular || (depth + 1).saturating_mul(self.height) <= MAX_FRAMES
    }
}

/// What applies to one value beginning at a schema.
#[derive(Debug, Clone, Copy)]
struct Measure {
    weight: u32,
    height: u32,
}

/// A schema that is not to be compiled, and why.
type Refusal<'s> = (&'s Tree, &'static str);

/// Measures a schema by all its positions.
pub(super) fn measure<'s>(references: &References<'s>, positions: &[&'s Tree]) -> Result<Shape, Refusal<'s>> {
    let mut measures = Measures { references, known: HashMap::new() };
    let mut shape = Shape::default();
    for schema in positions {
        let measure = measures.of(schema, MAX_HEIGHT)?;
        shape.weight = shape.weight.max(measure.weight);
        shape.height = shape.height.max(measure.height);
    }
    let root = positions.first().and_then(|root| frames(references, root, MAX_FRAMES, &mut HashMap::new()));
    Ok(Shape { circular: root.is_none(), ..shape })
}

struct Measures<'a, 's> {
    references: &'a References<'s>,
    /// None while a schema is being measured.
    known: HashMap<*const Tree, Option<Measure>>,
}

impl<'s> Measures<'_, 's> {
    /// What applies to one value beginning at a schema; it may be `left` schemas high.
    fn of(&mut self, schema: &'s Tree, left: u32) -> Result<Measure, Refusal<'s>> {
        match self.known.get(&std::ptr::from_ref(schema)) {
            Some(Some(known)) if known.height <= left => return Ok(*known),
            Some(None) => {
                return Err((
                    schema,
                    "the schema refers to itself without going into the value: it never ends",
                ));
            }
            _ => {}
        }
        let Some(left) = left.checked_sub(1) else {
            return Err((
                schema,
                "too many schemas apply to one value one through the other: join some of them",
            ));
        };
        self.known.insert(schema, None);
        let (targets, astray) = self.references.of(schema);
        let mut measure = if astray.is_some() { META_SCHEMA } else { Measure { weight: 1, height: 0 } };
        let inside = subschemas(schema).into_iter().filter(|(place, _)| *place == Place::Same);
        for subschema in inside.map(|(_, subschema)| subschema).chain(targets) {
            let below = self.of(subschema, left)?;
            measure.weight = measure.weight.saturating_add(below.weight);
            measure.height = measure.height.max(below.height);
        }
        measure.height += 1;
        if measure.weight > MAX_WEIGHT {
            let what =
                "too many schemas apply to one value, since each is reached in many ways: join some of them";
            return Err((schema, what));
        }
        self.known.insert(schema, Some(measure));
        Ok(measure)
    }
}

/// How many schemas apply one through the other, also inside the value; none if there is no end within `left`.
fn frames<'s>(
    references: &References<'s>,
    schema: &'s Tree,
    left: u32,
    known: &mut HashMap<*const Tree, Option<u32>>,
) -> Option<u32> {
    if let Some(frames) = known.get(&std::ptr::from_ref(schema)) {
        return frames.filter(|frames| *frames <= left);
    }
    let left = left.checked_sub(1)?;
    // Whoever comes here again before it is measured has gone round.
    known.insert(schema, None);
    let (targets, astray) = references.of(schema);
    if astray.is_some() {
        return None;
    }
    let applied = subschemas(schema).into_iter().filter(|(place, _)| *place != Place::Definition);
    let mut deepest = 0;
    for subschema in applied.map(|(_, subschema)| subschema).chain(targets) {
        deepest = deepest.max(frames(references, subschema, left, known)?);
    }
    known.insert(schema, Some(deepest + 1));
    Some(deepest + 1)
}
