//! Anchors: named rules, and whether each held. `contract/anchors.md` says what each means on a receipt.
//!
//! A check has a [`Table`] of fixed names, and sets of them are bits, so that a verdict is correct if
//! `held & required == required`.

use crate::argument::Met;

/// The guards, which stand last in every table (decision C6).
pub(super) const GUARDS: [&str; 2] = ["no_duplicate_names", "no_lone_surrogates"];

/// The anchors of a check.
#[derive(Debug)]
pub struct Table {
    /// Their names in the order in which they are sent; the guards are the last two.
    pub names: &'static [&'static str],
    /// Those that every correct verdict needs and no configuration can drop (decision C5).
    pub base: Set,
    /// What a dock requires that does not say.
    pub default_require: Set,
}

/// A set of the anchors of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Set(u64);

/// A name in `require` that is no anchor of the check.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{name}\" is no anchor of this check; the anchors are: {}", known.join(", "))]
pub struct UnknownAnchor {
    /// The name.
    pub name: String,
    /// Those there are.
    pub known: &'static [&'static str],
}

/// What `anchor_results` lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AnchorMode {
    /// `codes`: the fixed anchors.
    #[default]
    Codes,
    /// `per_defect`: the fixed anchors, and `<code> at <path>` for each defect.
    PerDefect,
}

impl Set {
    /// No anchor.
    pub(super) const NONE: Set = Set(0);

    /// The one anchor at `index`.
    pub(super) const fn one(index: usize) -> Set {
        Set(1 << index)
    }

    /// The anchors from one index up to another, which is left out.
    pub(super) const fn range(from: usize, to: usize) -> Set {
        Set((1 << to) - (1 << from))
    }

    /// Both sets together.
    #[must_use]
    pub const fn and(self, other: Set) -> Set {
        Set(self.0 | other.0)
    }

    /// This set without the anchors of `other`.
    #[must_use]
    pub(super) const fn without(self, other: Set) -> Set {
        Set(self.0 & !other.0)
    }

    /// This set if `so`, else none.
    pub(super) const fn only_if(self, so: bool) -> Set {
        if so { self } else { Set::NONE }
    }

    /// Whether every anchor of `other` is in this set.
    #[must_use]
    pub const fn has_all(self, other: Set) -> bool {
        self.0 & other.0 == other.0
    }
}

impl Table {
    /// The set of these names.
    ///
    /// # Errors
    /// [`UnknownAnchor`] for the first that is none.
    pub fn named(&self, names: &[String]) -> Result<Set, UnknownAnchor> {
        names.iter().try_fold(Set::NONE, |set, name| {
            let unknown = || UnknownAnchor { name: name.clone(), known: self.names };
            let index = self.names.iter().position(|known| known == name).ok_or_else(unknown)?;
            Ok(set.and(Set::one(index)))
        })
    }

    /// The names of a set, in their order.
    pub fn names_of(&self, set: Set) -> impl Iterator<Item = &'static str> + use<> {
        self.names
            .iter()
            .enumerate()
            .filter(move |(index, _)| set.has_all(Set::one(*index)))
            .map(|(_, name)| *name)
    }

    /// The guards.
    pub(super) const fn guards(&self) -> Set {
        Set::range(self.names.len() - GUARDS.len(), self.names.len())
    }

    /// The guards that hold.
    pub(super) fn guards_held(&self, met: Met) -> Set {
        let [names, surrogates] = [self.names.len() - 2, self.names.len() - 1];
        Set::one(names).only_if(!met.repeated_names).and(Set::one(surrogates).only_if(!met.lone_surrogates))
    }
}

/// The anchors of one verdict.
#[derive(Debug, Clone)]
pub struct Anchors {
    /// Where the names are.
    pub(super) table: &'static Table,
    /// The anchors that the outcome lists; the rest did not hold.
    pub(super) listed: Set,
    /// Those that held.
    pub(super) held: Set,
    /// Further names as JSON strings, none of which held.
    pub(super) more: Vec<Vec<u8>>,
}

impl Anchors {
    /// Whether every anchor of `set` is listed and held.
    #[must_use]
    pub fn have_all(&self, set: Set) -> bool {
        self.listed.has_all(set) && self.held.has_all(set)
    }

    /// The fixed anchors that are listed, with whether they held.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, bool)> {
        let names = self.table.names.iter().enumerate();
        let listed = names.filter(|(index, _)| self.listed.has_all(Set::one(*index)));
        listed.map(|(index, name)| (*name, self.held.has_all(Set::one(index))))
    }

    /// Appends the object `anchor_results`.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        let mut separator: &[u8] = b"\"";
        for (name, held) in self.all() {
            out.extend_from_slice(separator);
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(if held { b"\":true" } else { b"\":false" });
            separator = b",\"";
        }
        for name in &self.more {
            out.push(b',');
            out.extend_from_slice(name);
            out.extend_from_slice(b":false");
        }
        out.push(b'}');
    }
}
