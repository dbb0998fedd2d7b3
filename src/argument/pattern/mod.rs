//! ECMA-262 patterns: what `new RegExp(source, "u")`, or without `u` where only that compiles, finds in a
//! text. Node 20 is the oracle.
//!
//! Two matchers share one syntax tree. The backtracking one (`exec`) knows the whole language and is the
//! faster on ordinary patterns; it gets a share of steps. If that is spent and nothing refers back to a
//! capture, the linear one (`linear`) decides, look-arounds included. Only patterns with back-references,
//! or with bounds too large to write out, go on backtracking until the check's budget is spent.
//!
//! Own limits: a source of more than 1 MiB does not compile (Node takes more, as far as its memory goes);
//! a match may hold some two million choices (32 MiB), and needs a longer one a budget error. Groups may
//! nest as deep as the source allows.

mod ast;
mod bracket;
mod class;
mod counter;
mod escape;
mod exec;
mod linear;
mod meter;
mod nfa;
mod parse;
mod prefilter;
mod program;
mod property;
#[cfg(test)]
mod tests;
mod text;

use std::borrow::Cow;
use std::sync::OnceLock;

use crate::budget::{Budget, Exhausted};

use ast::Ast;
use meter::{Meter, Stop};
use nfa::Nfa;
use prefilter::Prefilter;
use program::Program;

/// The bytes that a source may have.
const MAX_SOURCE: usize = 1 << 20;

/// The steps that the backtracking matcher may take where the linear one can take over: so many, and so
/// many more for each byte of the text.
const SHARE: u64 = 2_000;
const SHARE_PER_BYTE: u64 = 8;

/// Why a source is no pattern. It says where, and quotes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{reason} at byte {offset}")]
pub struct PatternError {
    /// Where reading the source with `u` stopped, in bytes.
    pub offset: usize,
    /// What was wrong there.
    pub reason: &'static str,
}

/// A compiled pattern.
#[derive(Debug)]
pub struct Pattern {
    ast: Ast,
    program: Program,
    unicode: bool,
    /// Made when it is first needed; none where there is none.
    nfa: OnceLock<Option<Nfa>>,
}

impl Pattern {
    /// Compiles `source` (WTF-8) with `u`, or without `u` (Annex B) where only that compiles.
    ///
    /// # Errors
    /// [`PatternError`] where Node refuses the source both ways, or where it is longer than 1 MiB. It tells
    /// what is wrong with `u`.
    pub fn compile(source: &[u8]) -> Result<Pattern, PatternError> {
        if source.len() > MAX_SOURCE {
            return Err(PatternError { offset: MAX_SOURCE, reason: "too long" });
        }
        let (ast, unicode) = match parse::parse(source, true) {
            Ok(ast) => (ast, true),
            Err(error) => (parse::parse(&text::split_pairs(source), false).map_err(|_| error)?, false),
        };
        let program = program::emit(&ast);
        Ok(Pattern { ast, program, unicode, nfa: OnceLock::new() })
    }

    /// Whether the pattern matches anywhere in `text` (WTF-8). Spends steps of the budget: in proportion to
    /// the text for ordinary patterns, to the text times the pattern at most where nothing refers back.
    ///
    /// # Errors
    /// [`Exhausted`] once the budget is spent.
    pub fn is_match(&self, text: &[u8], budget: &mut Budget<'_>) -> Result<bool, Exhausted> {
        let text = self.units(text, budget)?;
        let share = if self.ast.has_back { u64::MAX } else { SHARE + SHARE_PER_BYTE * text.len() as u64 };
        match self.backtrack(&text, budget, share) {
            Ok(found) => return Ok(found),
            Err(Stop::Exhausted) => return Err(Exhausted),
            Err(Stop::Share) => {}
        }
        match self.nfa() {
            Some(nfa) => self.follow(nfa, &text, budget),
            None if share == u64::MAX => Err(Exhausted),
            None => self.backtrack(&text, budget, u64::MAX).map_err(|_| Exhausted),
        }
    }

    /// The text in the units that the pattern matches.
    fn units<'t>(&self, text: &'t [u8], budget: &mut Budget<'_>) -> Result<Cow<'t, [u8]>, Exhausted> {
        // Positions are kept in 32 bits, and splitting makes a text half as long again.
        if text.len() > (u32::MAX / 2) as usize {
            return Err(Exhausted);
        }
        if self.unicode {
            return Ok(Cow::Borrowed(text));
        }
        budget.spend(text.len() as u64 / 16)?;
        Ok(text::split_pairs(text))
    }

    fn backtrack(&self, text: &[u8], budget: &mut Budget<'_>, share: u64) -> Result<bool, Stop> {
        exec::search(&self.program, &self.ast, text, Meter::new(budget, share))
    }

    fn nfa(&self) -> Option<&Nfa> {
        self.nfa.get_or_init(|| nfa::make(&self.ast)).as_ref()
    }

    fn follow(&self, nfa: &Nfa, text: &[u8], budget: &mut Budget<'_>) -> Result<bool, Exhausted> {
        let anchored = self.program.prefilter == Prefilter::Start;
        linear::search(nfa, &self.ast, text, anchored, Meter::new(budget, u64::MAX)).map_err(|_| Exhausted)
    }
}
