//! The linear matcher: it follows all paths at once, so a text costs at most its length times the
//! automaton's size, whatever the pattern.
//!
//! Whether a pattern matches does not depend on the order in which paths are tried, nor on the rule
//! against empty iterations, as long as nothing refers back to a capture.

use super::ast::Ast;
use super::exec::holds;
use super::meter::{Meter, Stop};
use super::nfa::{LookProgram, Nfa, State};
use super::text;

/// Whether the pattern matches anywhere in `text`. `anchored`: only at the start can a match begin.
pub(super) fn search(nfa: &Nfa, ast: &Ast, text: &[u8], anchored: bool, meter: Meter<'_, '_>) -> Result<bool, Stop> {
    let mut runner = Runner { ast, text, tables: vec![Table::default(); nfa.looks.len()], pending: Vec::new(), meter };
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

impl Runner<'_, '_, '_, '_> {
    fn table(&mut self, look: &LookProgram) -> Result<Table, Stop> {
        let words = self.text.len() / 64 + 1;
        self.meter.tick(words as u64 / 8)?;
        let mut table = Table(vec![0; words]);
        self.walk(&look.states, !look.behind, false, |pos| {
            table.mark(pos);
            false
        })?;
        Ok(table)
    }

    /// Reads the text once, leftwards if `back`, starting anew at each position unless `anchored`, and
    /// tells `matched` each position where the program ends, until it answers true.
    fn walk(
        &mut self,
        states: &[State],
        back: bool,
        anchored: bool,
        mut matched: impl FnMut(usize) -> bool,
    ) -> Result<bool, Stop> {
        self.meter.tick(states.len() as u64 / 16)?;
        let (mut current, mut next) = (Set::new(states.len()), Set::new(states.len()));
        let mut pos = if back { self.text.len() } else { 0 };
        let mut ends = self.enter(states, &mut current, 0, pos);
        loop {
            if ends && matched(pos) {
                return Ok(true);
            }
            if anchored && current.members.is_empty() {
                return Ok(false);
            }
            let read = if back { text::previous(self.text, pos) } else { text::next(self.text, pos) };
            let Some((code, at)) = read else { return Ok(false) };
            let mut steps = 1 + current.members.len() as u64;
            next.members.clear();
            ends = false;
            for state in &current.members {
                let reads = match states.get(*state as usize) {
                    Some(State::Char(wanted)) => *wanted == code,
                    Some(State::Class(class)) => self.ast.classes.get(*class as usize).is_some_and(|class| {
                        steps += class.cost() - 1;
                        class.has(code)
                    }),
                    _ => false,
                };
                if reads {
                    ends |= self.enter(states, &mut next, state + 1, at);
                }
            }
            if !anchored {
                ends |= self.enter(states, &mut next, 0, at);
            }
            self.meter.tick(steps)?;
            std::mem::swap(&mut current, &mut next);
            pos = at;
        }
    }

    /// Enters `state` at `pos` and all that can be reached without reading; whether that ends the program.
    fn enter(&mut self, states: &[State], set: &mut Set, state: u32, pos: usize) -> bool {
        let mut ends = false;
        self.pending.push(state);
        while let Some(state) = self.pending.pop() {
            if !set.add(state) {
                continue;
            }
            match states.get(state as usize).copied() {
                Some(State::Split(first, second)) => self.pending.extend([second, first]),
                Some(State::Jump(target)) => self.pending.push(target),
                Some(State::Anchor(anchor)) => {
                    if holds(anchor, self.text, pos) {
                        self.pending.push(state + 1);
                    }
                }
                Some(State::Look { look, negate }) => {
                    if self.tables.get(look as usize).is_some_and(|table| table.has(pos) != negate) {
                        self.pending.push(state + 1);
                    }
                }
                Some(State::Match) => ends = true,
                Some(State::Char(_) | State::Class(_)) | None => {}
            }
        }
        ends
    }
}
