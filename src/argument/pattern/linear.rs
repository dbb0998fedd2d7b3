//! The linear matcher: it follows all paths at once, so a text costs at most its length times the
//! automaton's size, whatever the pattern.
//!
//! Whether a pattern matches does not depend on the order in which paths are tried, nor on the rule
//! against empty iterations, as long as nothing refers back to a capture.

use super::ast::Ast;
use super::counter::Counter;
use super::exec::holds;
use super::meter::{Meter, Stop};
use super::nfa::{Automaton, LookProgram, Nfa, Run, State};
use super::text;

/// The intervals that the counters of one automaton may hold together, of 8 bytes each.
const MAX_INTERVALS: usize = 1 << 21;

/// Whether the pattern matches anywhere in `text`. `anchored`: only at the start can a match begin.
pub(super) fn search(
    nfa: &Nfa,
    ast: &Ast,
    text: &[u8],
    anchored: bool,
    meter: Meter<'_, '_>,
) -> Result<bool, Stop> {
    let mut runner =
        Runner { ast, text, tables: vec![Table::default(); nfa.looks.len()], pending: Vec::new(), meter };
    runner.meter.tick(nfa.cost)?;
    // A look-around asks only those of higher numbers.
    for (number, look) in nfa.looks.iter().enumerate().rev() {
        let table = runner.table(look)?;
        if let Some(place) = runner.tables.get_mut(number) {
            *place = table;
        }
    }
    let found = runner.walk(&nfa.main, false, anchored, |_| true)?;
    runner.meter.settle()?;
    Ok(found)
}

/// The positions where a look-around holds, one bit each.
#[derive(Debug, Clone, Default)]
struct Table(Vec<u64>);

impl Table {
    fn mark(&mut self, pos: usize) {
        if let Some(word) = self.0.get_mut(pos / 64) {
            *word |= 1 << (pos % 64);
        }
    }

    fn has(&self, pos: usize) -> bool {
        self.0.get(pos / 64).is_some_and(|word| word >> (pos % 64) & 1 == 1)
    }
}

/// A set of states that can be emptied at no cost.
struct Set {
    members: Vec<u32>,
    places: Vec<u32>,
}

impl Set {
    fn new(size: usize) -> Set {
        Set { members: Vec::with_capacity(size.min(64)), places: vec![0; size] }
    }

    /// Adds a state; false if it is there already.
    #[inline]
    fn add(&mut self, state: u32) -> bool {
        let Some(place) = self.places.get_mut(state as usize) else { return false };
        if self.members.get(*place as usize) == Some(&state) {
            return false;
        }
        *place = super::ast::index(self.members.len());
        self.members.push(state);
        true
    }
}

struct Runner<'p, 't, 'm, 'b> {
    ast: &'p Ast,
    text: &'t [u8],
    tables: Vec<Table>,
    /// States still to be entered.
    pending: Vec<u32>,
    meter: Meter<'m, 'b>,
}

/// One automaton on its way through the text.
struct Walk<'p> {
    automaton: &'p Automaton,
    current: Set,
    next: Set,
    counters: Vec<Counter>,
    /// Characters read, and the position they lead to.
    read: u32,
    pos: usize,
}

impl Runner<'_, '_, '_, '_> {
    fn table(&mut self, look: &LookProgram) -> Result<Table, Stop> {
        let words = self.text.len() / 64 + 1;
        self.meter.tick(words as u64 / 8)?;
        let mut table = Table(vec![0; words]);
        self.walk(&look.automaton, !look.behind, false, |pos| {
            table.mark(pos);
            false
        })?;
        Ok(table)
    }

    /// Reads the text once, leftwards if `back`, starting anew at each position unless `anchored`, and
    /// tells `matched` each position where the automaton ends, until it answers true.
    fn walk(
        &mut self,
        automaton: &Automaton,
        back: bool,
        anchored: bool,
        mut matched: impl FnMut(usize) -> bool,
    ) -> Result<bool, Stop> {
        let size = automaton.states.len();
        self.meter.tick((size + automaton.runs.len()) as u64 / 4)?;
        let mut walk = Walk {
            automaton,
            current: Set::new(size),
            next: Set::new(size),
            counters: automaton.runs.iter().map(|_| Counter::default()).collect(),
            read: 0,
            pos: if back { self.text.len() } else { 0 },
        };
        let mut ends = self.enter(&mut walk, 0);
        std::mem::swap(&mut walk.current, &mut walk.next);
        loop {
            if ends && matched(walk.pos) {
                return Ok(true);
            }
            if anchored && walk.current.members.is_empty() {
                return Ok(false);
            }
            let pos = walk.pos;
            let read = if back { text::previous(self.text, pos) } else { text::next(self.text, pos) };
            let Some((code, at)) = read else { return Ok(false) };
            walk.pos = at;
            walk.read += 1;
            ends = self.advance(&mut walk, code)?;
            if !anchored {
                ends |= self.enter(&mut walk, 0);
            }
            std::mem::swap(&mut walk.current, &mut walk.next);
        }
    }

    /// Makes the next set from the current one, `code` being read.
    fn advance(&mut self, walk: &mut Walk<'_>, code: u32) -> Result<bool, Stop> {
        let Walk { automaton, read, .. } = *walk;
        walk.next.members.clear();
        let current = std::mem::take(&mut walk.current.members);
        let mut steps = 1 + current.len() as u64;
        let has = |class: u32, steps: &mut u64| {
            self.ast.classes.get(class as usize).is_some_and(|class| {
                *steps += class.cost() - 1;
                class.has(code)
            })
        };
        // Runs that are under way go on or end before any begins here.
        let mut intervals = 0;
        for state in &current {
            if let Some((run, counter)) = run_of(automaton, &mut walk.counters, *state) {
                if has(run.class, &mut steps) {
                    counter.advance(read, run);
                } else {
                    counter.clear();
                }
                intervals += counter.len();
                steps += 2;
            }
        }
        if intervals > MAX_INTERVALS {
            return Err(Stop::Share);
        }
        let mut ends = false;
        for state in &current {
            let leaves = match automaton.states.get(*state as usize) {
                Some(State::Char(wanted)) => *wanted == code,
                Some(State::Class(class)) => has(*class, &mut steps),
                Some(State::Run(_)) => match run_of(automaton, &mut walk.counters, *state) {
                    Some((run, counter)) => {
                        let (stands, enough) = counter.standing(read, run);
                        if stands {
                            walk.next.add(*state);
                        }
                        enough
                    }
                    None => false,
                },
                _ => false,
            };
            if leaves {
                ends |= enter(&self.tables, self.text, &mut self.pending, walk, state + 1);
            }
        }
        walk.current.members = current;
        self.meter.tick(steps)?;
        Ok(ends)
    }

    fn enter(&mut self, walk: &mut Walk<'_>, state: u32) -> bool {
        enter(&self.tables, self.text, &mut self.pending, walk, state)
    }
}

/// Enters `state` where the walk is, and all that can be reached without reading; whether that ends the
/// automaton.
fn enter(tables: &[Table], text: &[u8], pending: &mut Vec<u32>, walk: &mut Walk<'_>, state: u32) -> bool {
    let mut ends = false;
    pending.push(state);
    while let Some(state) = pending.pop() {
        let found = walk.automaton.states.get(state as usize).copied();
        if let Some(State::Run(_)) = found {
            // A run may begin though others are under way, and may end at once if it may be empty.
            if let Some((run, counter)) = run_of(walk.automaton, &mut walk.counters, state)
                && counter.begin(walk.read, run)
            {
                walk.next.add(state);
                if run.min == 0 {
                    pending.push(state + 1);
                }
            }
            continue;
        }
        if !walk.next.add(state) {
            continue;
        }
        match found {
            Some(State::Split(first, second)) => pending.extend([second, first]),
            Some(State::Jump(target)) => pending.push(target),
            Some(State::Anchor(anchor)) => {
                if holds(anchor, text, walk.pos) {
                    pending.push(state + 1);
                }
            }
            Some(State::Look { look, negate }) => {
                if tables.get(look as usize).is_some_and(|table| table.has(walk.pos) != negate) {
                    pending.push(state + 1);
                }
            }
            Some(State::Match) => ends = true,
            Some(State::Char(_) | State::Class(_) | State::Run(_)) | None => {}
        }
    }
    ends
}

/// The run that a state stands for, and its counter.
fn run_of<'a>(
    automaton: &'a Automaton,
    counters: &'a mut [Counter],
    state: u32,
) -> Option<(&'a Run, &'a mut Counter)> {
    let Some(State::Run(run)) = automaton.states.get(state as usize) else { return None };
    Some((automaton.runs.get(*run as usize)?, counters.get_mut(*run as usize)?))
}
