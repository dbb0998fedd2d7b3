//! Counting for the linear matcher: the runs of one class that are under way at a position.
//!
//! All runs of one state read the same characters, so they end together, and only where each began tells
//! them apart. Beginnings that follow each other are kept as one interval.

use std::collections::VecDeque;

use super::ast::UNBOUNDED;
use super::nfa::Run;

/// The beginnings under way, oldest first, in characters read before.
#[derive(Debug, Default)]
pub(super) struct Counter(VecDeque<(u32, u32)>);

impl Counter {
    /// A run begins where `read` characters are read; false if that makes no difference, because one began
    /// there already, or because an older one may end wherever this one may.
    pub(super) fn begin(&mut self, read: u32, run: &Run) -> bool {
        match self.0.back_mut() {
            Some(last) if last.1 == read || run.max == UNBOUNDED => return false,
            Some(last) if last.1 + 1 == read => last.1 = read,
            _ => self.0.push_back((read, read)),
        }
        true
    }

    /// A member was read, the `read`th character: no run is longer than it may be.
    pub(super) fn advance(&mut self, read: u32, run: &Run) {
        if run.max == UNBOUNDED {
            return;
        }
        let oldest = read.saturating_sub(run.max);
        while let Some(first) = self.0.front_mut() {
            if first.1 >= oldest {
                first.0 = first.0.max(oldest);
                break;
            }
            self.0.pop_front();
        }
    }

    /// All runs end: what was read is no member.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Whether some run has read at least one member, and whether the longest has read enough.
    pub(super) fn standing(&self, read: u32, run: &Run) -> (bool, bool) {
        match self.0.front() {
            Some((oldest, _)) if *oldest < read => (true, read - oldest >= run.min),
            _ => (false, false),
        }
    }

    /// The intervals kept.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_as_many_runs_side_by_side_do() {
        // Beginnings at every third character; members are all characters but each tenth.
        let bounds = [(0, 1), (1, 3), (2, 7), (4, 4), (3, UNBOUNDED), (0, UNBOUNDED), (5, 100)];
        for (min, max) in bounds {
            let run = Run { class: 0, min, max };
            let (mut counter, mut lengths) = (Counter::default(), Vec::new());
            for read in 0..200u32 {
                if read % 3 == 0 || read % 7 < 2 {
                    counter.begin(read, &run);
                    lengths.push(0);
                }
                if read % 10 == 9 {
                    counter.clear();
                    lengths.clear();
                } else {
                    counter.advance(read + 1, &run);
                    lengths = lengths.iter().map(|l| l + 1).filter(|l| *l <= max).collect();
                }
                let expected = (!lengths.is_empty(), lengths.iter().any(|l| *l >= min));
                assert_eq!(counter.standing(read + 1, &run), expected, "{min}..{max} at {read}");
            }
            assert!(counter.len() < 40);
        }
    }
}
