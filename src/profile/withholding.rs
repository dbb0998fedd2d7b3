//! The derivability self-check (`serialisation_rule` of the criteria, decisions D3 and D4).
//!
//! Whoever submitted a whole knows how many bytes its parts have, and so a box of counts it can have. Shares that
//! would leave one triple of the box, or make out a small set of them, are withheld.

use std::ops::RangeInclusive;

use super::shares::{Counts, PartBytes, Share, Shares};

/// The withheld triples form whole share classes, and those are the same when every interval of the box ends at 3
/// or before. Tests compare with brute force over boxes that are not clipped.
const CLIP: u64 = 3;

/// Share classes: three shares, three values each.
const CLASSES: usize = 27;

/// Whether the shares of a whole with parts of so many bytes are withheld.
pub(super) fn is_withheld(shares: Shares, bytes: PartBytes) -> bool {
    withheld_classes(bytes, CLIP) >> class(shares) & 1 == 1
}

/// The share classes that are withheld in the box of `bytes`, as a set of bits.
fn withheld_classes(bytes: PartBytes, clip: u64) -> u32 {
    let mut members = [0_u32; CLASSES];
    for counts in candidates(bytes, clip) {
        if let Some(members) = class_of(counts).and_then(|class| members.get_mut(class)) {
            *members += 1;
        }
    }
    let lone = (0..CLASSES).filter(|class| members.get(*class) == Some(&1));
    let withheld = lone.fold(0_u32, |set, class| set | 1 << class);
    if withheld.count_ones() != 1 {
        return withheld;
    }
    // One lone triple would stand alone among the withheld: the first other triple's class joins it.
    let mut others = candidates(bytes, clip).filter_map(class_of).filter(|class| withheld >> class & 1 == 0);
    others.next().map_or(withheld, |class| withheld | 1 << class)
}

/// The triples of the box in lexicographic order.
fn candidates(bytes: PartBytes, clip: u64) -> impl Iterator<Item = Counts> {
    let names = counts_of(most_of_string(bytes.name), bytes.name, clip);
    names.flat_map(move |name| {
        let descriptions = counts_of(most_of_string(bytes.description), bytes.description, clip);
        descriptions.flat_map(move |description| {
            counts_of(bytes.schema, bytes.schema, clip).map(move |schema| Counts {
                name,
                description,
                schema,
            })
        })
    })
}

/// The counts that a part of so many bytes can have: 0 alone if it is absent.
fn counts_of(most: u64, bytes: u64, clip: u64) -> RangeInclusive<u64> {
    if bytes == 0 { 0..=0 } else { 1..=most.min(clip) }
}

/// The most tokens of a string of so many bytes, quotes included: one token takes two bytes, two take three, and
/// more take as many bytes as they are. A schema of `n` bytes has up to `n`.
fn most_of_string(bytes: u64) -> u64 {
    if bytes < 3 { bytes.min(1) } else { bytes }
}

fn class_of(counts: Counts) -> Option<usize> {
    // A box that holds (0, 0, 0) holds nothing else, and no shares come from it.
    counts.shares().map(class)
}

fn class(shares: Shares) -> usize {
    let digit = |share: Share| share as usize;
    digit(shares.name) * 9 + digit(shares.description) * 3 + digit(shares.schema)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The withheld triples of a box, straight from the words of the criteria.
    fn withheld_by_the_book(candidates: &[Counts]) -> Vec<Counts> {
        let unique =
            |one: &&Counts| candidates.iter().filter(|other| other.shares() == one.shares()).count() == 1;
        let mut withheld: Vec<Counts> = candidates.iter().filter(unique).copied().collect();
        if let [only] = *withheld
            && let Some(smallest) = candidates.iter().filter(|other| **other != only).min()
        {
            withheld.extend(candidates.iter().filter(|other| other.shares() == smallest.shares()));
        }
        withheld
    }

    fn boxes(longest: u64) -> impl Iterator<Item = PartBytes> {
        // No string has one byte: its quotes alone are two.
        let lengths = move || (0..=longest).filter(|bytes| *bytes != 1);
        lengths().flat_map(move |name| {
            lengths().flat_map(move |description| {
                (0..=longest).map(move |schema| PartBytes { name, description, schema })
            })
        })
    }

    #[test]
    fn clipping_changes_no_answer() {
        let mut looked_at = 0;
        for bytes in boxes(12) {
            let all: Vec<Counts> = candidates(bytes, u64::MAX).collect();
            let withheld: BTreeSet<Counts> = withheld_by_the_book(&all).into_iter().collect();
            for counts in all {
                let Some(shares) = counts.shares() else { continue };
                let Counts { name, description, schema } = counts;
                assert_eq!(
                    is_withheld(shares, bytes),
                    withheld.contains(&counts),
                    "({name}, {description}, {schema}) in {}, {}, {}",
                    bytes.name,
                    bytes.description,
                    bytes.schema
                );
                looked_at += 1;
            }
        }
        assert!(looked_at > 400_000, "{looked_at}");
    }

    #[test]
    fn seven_triples_can_be_unique_in_a_box() {
        let mut found = BTreeSet::new();
        for bytes in boxes(12) {
            let all: Vec<Counts> = candidates(bytes, u64::MAX).collect();
            let shares: Vec<_> = all.iter().map(|counts| counts.shares()).collect();
            for (counts, own) in all.iter().zip(&shares).filter(|_| all.len() > 1) {
                if shares.iter().filter(|other| *other == own).count() == 1 {
                    found.insert([counts.name, counts.description, counts.schema]);
                }
            }
        }
        let published = [[0, 1, 1], [0, 1, 2], [1, 0, 1], [1, 0, 2], [1, 1, 0], [1, 1, 1], [1, 1, 2]];
        assert_eq!(found.into_iter().collect::<Vec<_>>(), published);
    }

    /// What the shares of a triple leave to whoever knows the parts' bytes.
    fn survivors(counts: [u64; 3], bytes: PartBytes) -> usize {
        let [name, description, schema] = counts;
        let own = Counts { name, description, schema }.shares();
        let hidden = own.is_none_or(|own| is_withheld(own, bytes));
        candidates(bytes, 200)
            .filter(|other| {
                let shares = other.shares();
                if hidden { shares.is_some_and(|s| is_withheld(s, bytes)) } else { shares == own }
            })
            .count()
    }

    #[test]
    fn the_counterexamples_of_earlier_revisions_leave_many_triples() {
        // Exact with three decimals (revision 1.0.0).
        for counts in [[94, 40, 13], [60, 39, 28]] {
            let [name, description, schema] = counts;
            let bytes = PartBytes { name, description, schema };
            assert!(survivors(counts, bytes) > 1000, "{counts:?}");
        }
        // Exact on the grid alone (revision 1.1.0), in the smallest boxes that hold them.
        for counts in [[0, 1, 2], [1, 0, 2], [1, 1, 2]] {
            let string = |count: u64| if count == 0 { 0 } else { count + 1 };
            let [name, description, schema] = counts;
            let bytes = PartBytes { name: string(name), description: string(description), schema };
            assert!(survivors(counts, bytes) > 1, "{counts:?}");
        }
    }

    #[test]
    fn nothing_leaves_a_single_triple() {
        for bytes in boxes(8) {
            let all: Vec<Counts> = candidates(bytes, u64::MAX).collect();
            for counts in all.iter().filter(|_| all.len() > 1) {
                let triple = [counts.name, counts.description, counts.schema];
                assert!(survivors(triple, bytes) > 1, "{triple:?}");
            }
        }
    }
}
