//! The repaired arguments: the documents with the repairs laid over them.

use std::collections::HashMap;

use super::code::Rule;
use super::held::Documents;
use super::place::At;
use super::walk::Repair;
use crate::json::{Kind, write_text, write_value};

/// What the repairs do to single nodes.
pub(super) struct Edits(HashMap<At, Edit>);

#[derive(Default)]
struct Edit {
    /// How many arrays R7 put around the value. They come before a replacement: what replaces is of the
    /// wanted type already.
    wraps: u32,
    replacement: Option<At>,
    /// R8 dropped the member of this name.
    dropped: bool,
}

impl Edits {
    pub(super) fn new(repairs: &[Repair]) -> Edits {
        let mut edits: HashMap<At, Edit> = HashMap::new();
        for repair in repairs {
            let edit = edits.entry(repair.at).or_default();
            match repair.rule {
                Rule::R7 => edit.wraps += 1,
                Rule::R8 => edit.dropped = true,
                _ => edit.replacement = repair.after,
            }
        }
        Edits(edits)
    }

    /// Appends the repaired value at `at`, compact. Recurses as deep as the arguments, which are capped.
    pub(super) fn write(&self, at: At, documents: &Documents<'_>, out: &mut Vec<u8>) {
        let edit = self.0.get(&at);
        let wraps = edit.map_or(0, |edit| edit.wraps as usize);
        out.extend(std::iter::repeat_n(b'[', wraps));
        match (edit.and_then(|edit| edit.replacement), documents.value(at)) {
            (Some(replacement), _) => self.write(replacement, documents, out),
            (None, Some(value)) if value.kind() == Kind::Array => {
                out.push(b'[');
                for (index, item) in value.items().enumerate() {
                    separate(index > 0, out);
                    self.write(At { node: item.node(), ..at }, documents, out);
                }
                out.push(b']');
            }
            (None, Some(value)) if value.kind() == Kind::Object => {
                out.push(b'{');
                let dropped =
                    |name: u32| self.0.get(&At { node: name, ..at }).is_some_and(|edit| edit.dropped);
                let kept = value.members().filter(|member| !dropped(member.name_node()));
                for (index, member) in kept.enumerate() {
                    separate(index > 0, out);
                    write_text(member.name(), out);
                    out.push(b':');
                    self.write(At { node: member.value().node(), ..at }, documents, out);
                }
                out.push(b'}');
            }
            (None, Some(value)) => write_value(value, out),
            (None, None) => {}
        }
        out.extend(std::iter::repeat_n(b']', wraps));
    }
}

fn separate(needed: bool, out: &mut Vec<u8>) {
    if needed {
        out.push(b',');
    }
}
