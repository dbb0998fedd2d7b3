//! The pinned schema as the crate's own tree, once at start; or why it cannot be that.

use serde_json::{Map, Value as Tree};

use super::number::exact;
use crate::json::{Kind, Text, Value};

/// How deep a schema may nest (decision A4).
const MAX_DEPTH: u32 = 128;

/// Why a schema cannot be compiled, for whoever runs the dock.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} (at {})", place(.path))]
pub struct Unusable {
    /// What is wrong, and what to do about it.
    pub what: String,
    /// Where: a JSON Pointer from the root of the schema.
    pub path: String,
}

impl Unusable {
    pub(super) fn new(what: impl Into<String>, path: impl Into<String>) -> Unusable {
        Unusable { what: what.into(), path: path.into() }
    }
}

fn place(path: &str) -> &str {
    if path.is_empty() { "the root of the schema" } else { path }
}

/// The schema as a tree. Of a repeated name, the last member counts.
pub(super) fn tree(schema: Value<'_>) -> Result<Tree, Unusable> {
    if schema.depth() > MAX_DEPTH {
        return Err(Unusable::new(format!("the schema nests deeper than {MAX_DEPTH} levels"), ""));
    }
    convert(schema, &mut String::new())
}

/// Reads boolean `exclusiveMinimum` and `exclusiveMaximum` at `paths` as draft 4 does, if no `$schema` says
/// otherwise: generators for `OpenAPI` 3.0 write them so, and with 2020-12 they can mean nothing else.
pub(super) fn read_draft4_bounds(tree: &mut Tree, paths: &[String]) {
    if tree.get("$schema").is_some() {
        return;
    }
    for path in paths {
        let Some(members) = tree.pointer_mut(path).and_then(Tree::as_object_mut) else { continue };
        for (bound, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
            match members.get(exclusive) {
                Some(Tree::Bool(false)) => drop(members.remove(exclusive)),
                Some(Tree::Bool(true)) => {
                    if let Some(limit) = members.remove(bound) {
                        members.insert(exclusive.to_owned(), limit);
                    }
                }
                _ => {}
            }
        }
    }
}

fn convert(value: Value<'_>, path: &mut String) -> Result<Tree, Unusable> {
    Ok(match value.kind() {
        Kind::Null => Tree::Null,
        Kind::Boolean => value.as_bool().into(),
        Kind::Number => {
            let number = value.as_number().and_then(exact);
            Tree::Number(number.ok_or_else(|| {
                Unusable::new(
                    "a number that a 64-bit float would change: write it with fewer digits",
                    &**path,
                )
            })?)
        }
        Kind::String => {
            value.as_text().map_or(Ok(Tree::Null), |text| string(text, path).map(Tree::String))?
        }
        Kind::Array => {
            let mut items = Vec::with_capacity(value.len());
            for (index, item) in value.items().enumerate() {
                items.push(below(path, &index.to_string(), |path| convert(item, path))?);
            }
            Tree::Array(items)
        }
        Kind::Object => {
            let mut members = Map::new();
            for member in value.members() {
                let name = string(member.name(), path)?;
                let value = below(path, &name, |path| convert(member.value(), path))?;
                members.insert(name, value);
            }
            Tree::Object(members)
        }
    })
}

fn string(text: Text<'_>, path: &str) -> Result<String, Unusable> {
    String::from_utf8(text.decode().into_owned())
        .map_err(|_| Unusable::new("a text with half of a surrogate pair: write the whole character", path))
}

/// Runs `visit` with one more step on the JSON Pointer.
fn below<T>(path: &mut String, step: &str, visit: impl FnOnce(&mut String) -> T) -> T {
    let len = path.len();
    push_step(path, step);
    let result = visit(path);
    path.truncate(len);
    result
}

/// One more step on a JSON Pointer.
pub(super) fn push_step(path: &mut String, step: &str) {
    path.push('/');
    path.push_str(&step.replace('~', "~0").replace('/', "~1"));
}

/// The JSON Pointer to a value of a tree.
pub(super) fn path_to(root: &Tree, value: &Tree) -> String {
    let mut steps = Vec::new();
    find(root, value, &mut steps);
    let mut path = String::new();
    steps.iter().rev().for_each(|step| push_step(&mut path, step));
    path
}

fn find(tree: &Tree, value: &Tree, steps: &mut Vec<String>) -> bool {
    if std::ptr::eq(tree, value) {
        return true;
    }
    let step = match tree {
        Tree::Array(items) => {
            items.iter().position(|item| find(item, value, steps)).map(|index| index.to_string())
        }
        Tree::Object(members) => {
            members.iter().find(|(_, member)| find(member, value, steps)).map(|(name, _)| name.clone())
        }
        _ => None,
    };
    steps.extend(step.clone());
    step.is_some()
}
