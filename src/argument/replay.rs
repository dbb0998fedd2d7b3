//! Applying a diff to a submission: what a receiver of a report does to see that nothing else was changed.

use super::text;
use crate::json::{Document, Kind, Value, write_string, write_value};

/// Why a diff does not fit a submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// An entry is not `{path, rule, op, before, after}`, or its path or operation is not one of the format's.
    #[error("entry {0} of the diff is malformed")]
    MalformedEntry(usize),
    /// An entry names a place that the submission does not have, or another value than stands there.
    #[error("entry {0} of the diff does not fit the submission")]
    Mismatch(usize),
    /// After the text repairs of the diff, the text is not JSON.
    #[error("the repaired text is not JSON")]
    NotJson,
    /// The submission nests deeper than [`super::MAX_DEPTH`].
    #[error("the submission nests too deep")]
    TooDeep,
}

type Result<T> = std::result::Result<T, ReplayError>;

/// Applies `diff` to arguments; gives the repaired arguments, compact.
///
/// # Errors
/// [`ReplayError`] if the diff does not fit.
pub fn replay(arguments: Value<'_>, diff: Value<'_>) -> Result<Vec<u8>> {
    apply(arguments, diff, 0)
}

/// Applies `diff` to the raw text of arguments; gives the repaired arguments, compact.
///
/// # Errors
/// [`ReplayError`] if the diff does not fit.
pub fn replay_text(text: &[u8], diff: Value<'_>) -> Result<Vec<u8>> {
    let mut text = text.to_vec();
    let mut commas = Vec::new();
    for (index, entry) in diff.items().enumerate() {
        match (member(entry, b"op").as_deref(), member(entry, b"path").as_deref()) {
            (Some(b"append"), Some(b"$arguments_text")) => {
                text.extend_from_slice(&member(entry, b"after").ok_or(ReplayError::MalformedEntry(index))?);
            }
            (Some(b"remove"), Some(b"$arguments_text")) => commas.push(index),
            _ => break,
        }
    }
    let text_entries =
        diff.items().take_while(|entry| member(*entry, b"path").as_deref() == Some(b"$arguments_text"));
    let count = text_entries.count();
    if let Some(first) = commas.first() {
        let planned = text::plan(&text).ok_or(ReplayError::Mismatch(*first))?.commas;
        if planned.len() != commas.len() {
            return Err(ReplayError::Mismatch(*first));
        }
        for comma in planned.into_iter().rev() {
            text.remove(comma);
        }
    }
    let document = Document::parse_decoded(text).map_err(|_| ReplayError::NotJson)?;
    apply(document.root(), diff, count)
}

fn apply(arguments: Value<'_>, diff: Value<'_>, from: usize) -> Result<Vec<u8>> {
    if arguments.depth() > super::MAX_DEPTH {
        return Err(ReplayError::TooDeep);
    }
    let mut tree = Tree::new(arguments);
    for (index, entry) in diff.items().enumerate().skip(from) {
        let malformed = ReplayError::MalformedEntry(index);
        let path = member(entry, b"path").ok_or(malformed)?;
        let steps = steps(&path).ok_or(malformed)?;
        let (before, after) = (entry.get(b"before").ok_or(malformed)?, entry.get(b"after").ok_or(malformed)?);
        let mismatch = ReplayError::Mismatch(index);
        match member(entry, b"op").as_deref() {
            Some(b"replace") => {
                let place = tree.find(&steps).ok_or(mismatch)?;
                if place.write() != compact(before) {
                    return Err(mismatch);
                }
                *place = Tree::new(after);
            }
            Some(b"remove") => {
                let (Some(Step::Name(name)), above) =
                    (steps.last(), steps.get(..steps.len().saturating_sub(1)))
                else {
                    return Err(malformed);
                };
                let Some(Tree::Object(members)) = tree.find(above.unwrap_or_default()) else {
                    return Err(mismatch);
                };
                let at = members.iter().position(|(own, value)| own == name && value.write() == b"null");
                members.remove(at.ok_or(mismatch)?);
            }
            _ => return Err(malformed),
        }
    }
    Ok(tree.write())
}

fn member(entry: Value<'_>, name: &[u8]) -> Option<Vec<u8>> {
    Some(entry.get(name)?.as_text()?.decode().into_owned())
}

fn compact(value: Value<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    write_value(value, &mut out);
    out
}

enum Step {
    Name(Vec<u8>),
    Item(usize),
}

/// Reads a path (decision B15).
fn steps(path: &[u8]) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    let mut rest = path.strip_prefix(b"$")?;
    while !rest.is_empty() {
        if let Some(name) = rest.strip_prefix(b".") {
            let end = name.iter().position(|byte| matches!(byte, b'.' | b'[')).unwrap_or(name.len());
            steps.push(Step::Name(name.get(..end)?.to_vec()));
            rest = name.get(end..)?;
        } else if rest.starts_with(b"[\"") {
            let mut escaped = false;
            let end = rest.iter().skip(2).position(|byte| {
                let ends = *byte == b'"' && !escaped;
                escaped = *byte == b'\\' && !escaped;
                ends
            })? + 3;
            let name = Document::parse_decoded(rest.get(1..end)?.to_vec()).ok()?;
            steps.push(Step::Name(name.root().as_text()?.decode().into_owned()));
            rest = rest.get(end..)?.strip_prefix(b"]")?;
        } else {
            let end = rest.iter().position(|byte| *byte == b']')?;
            let index = std::str::from_utf8(rest.strip_prefix(b"[")?.get(..end - 1)?).ok()?;
            steps.push(Step::Item(index.parse().ok()?));
            rest = rest.get(end + 1..)?;
        }
    }
    Some(steps)
}

/// A value that can be changed.
enum Tree {
    /// Serialised.
    Scalar(Vec<u8>),
    Array(Vec<Tree>),
    /// Names decoded.
    Object(Vec<(Vec<u8>, Tree)>),
}

impl Tree {
    fn new(value: Value<'_>) -> Tree {
        match value.kind() {
            Kind::Array => Tree::Array(value.items().map(Tree::new).collect()),
            Kind::Object => {
                let member = |member: crate::json::Member<'_>| {
                    (member.name().decode().into_owned(), Tree::new(member.value()))
                };
                Tree::Object(value.members().map(member).collect())
            }
            _ => Tree::Scalar(compact(value)),
        }
    }

    fn find(&mut self, steps: &[Step]) -> Option<&mut Tree> {
        steps.iter().try_fold(self, |tree, step| match (tree, step) {
            (Tree::Array(items), Step::Item(index)) => items.get_mut(*index),
            (Tree::Object(members), Step::Name(name)) => {
                members.iter_mut().find(|(own, _)| own == name).map(|(_, value)| value)
            }
            _ => None,
        })
    }

    fn write(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write_to(&mut out);
        out
    }

    fn write_to(&self, out: &mut Vec<u8>) {
        match self {
            Tree::Scalar(text) => out.extend_from_slice(text),
            Tree::Array(items) => {
                out.push(b'[');
                for (index, item) in items.iter().enumerate() {
                    out.extend_from_slice(if index > 0 { b"," } else { b"" });
                    item.write_to(out);
                }
                out.push(b']');
            }
            Tree::Object(members) => {
                out.push(b'{');
                for (index, (name, value)) in members.iter().enumerate() {
                    out.extend_from_slice(if index > 0 { b"," } else { b"" });
                    write_string(name, out);
                    out.push(b':');
                    value.write_to(out);
                }
                out.push(b'}');
            }
        }
    }
}
