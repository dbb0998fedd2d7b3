//! Where a repair or defect lies. Places are node numbers while the check runs; a path is written only when
//! somebody reads it, since a 400 KB name above 100,000 bad items must not cost 40 GB (decision B15).

use std::cell::Cell;

use super::held::Documents;
use crate::json::{write_item_step, write_name_step};

/// A node of one of the check's documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct At {
    pub(super) document: u32,
    pub(super) node: u32,
}

/// One step down from a place.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    /// `$`, the arguments' root.
    Root,
    /// `$arguments_text`, the raw text.
    Text,
    /// To the member whose name is the string at a node; whether the schema names it.
    Member { name: At, declared: bool },
    /// To the item at an index.
    Item(u32),
}

#[derive(Debug)]
struct Place {
    parent: u32,
    step: Step,
}

/// All places that repairs and defects name.
#[derive(Debug, Default)]
pub(super) struct Places(Vec<Place>);

/// The way down to the node being visited, on the machine stack; it becomes a place only when it is needed.
pub(super) struct Trail<'t> {
    parent: Option<&'t Trail<'t>>,
    step: Step,
    place: Cell<Option<u32>>,
}

impl<'t> Trail<'t> {
    pub(super) fn start(step: Step) -> Trail<'static> {
        Trail { parent: None, step, place: Cell::new(None) }
    }

    pub(super) fn down(&'t self, step: Step) -> Trail<'t> {
        Trail { parent: Some(self), step, place: Cell::new(None) }
    }
}

impl Places {
    /// The place of a trail. The recursion is as deep as the arguments, which are capped.
    pub(super) fn of(&mut self, trail: &Trail<'_>) -> u32 {
        if let Some(place) = trail.place.get() {
            return place;
        }
        let parent = trail.parent.map_or(0, |parent| self.of(parent));
        let place = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        self.0.push(Place { parent, step: trail.step });
        trail.place.set(Some(place));
        place
    }

    /// Appends the path of a place. Names that the schema does not declare become `[?]` with `redact`, so
    /// that nothing the submission brought can show (decision C4).
    pub(super) fn write_path(&self, place: u32, documents: &Documents<'_>, redact: bool, out: &mut Vec<u8>) {
        let mut steps = Vec::new();
        let mut at = Some(place);
        while let Some(place) = at.and_then(|at| self.0.get(at as usize)) {
            steps.push(place.step);
            at = (!matches!(place.step, Step::Root | Step::Text)).then_some(place.parent);
        }
        for step in steps.into_iter().rev() {
            match step {
                Step::Root => out.push(b'$'),
                Step::Text => out.extend_from_slice(b"$arguments_text"),
                Step::Member { declared: false, .. } if redact => out.extend_from_slice(b"[?]"),
                Step::Member { name, .. } => write_name_step(&documents.text(name).decode(), out),
                Step::Item(index) => write_item_step(index as usize, out),
            }
        }
    }
}
