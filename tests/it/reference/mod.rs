//! A second, naive reading of the criteria, written from the published documents and decisions A and B alone.
//!
//! It shares no code with the engines: recursive, on trees of owned values, strings as UTF-16 code units
//! as ECMAScript has them, every set a list that is searched. Slow and plain on purpose.

mod assertions;
mod criteria;
mod decimal;
mod repairs;
mod text;
mod tree;

pub(crate) use assertions::PATTERNS;
pub(crate) use criteria::{Outcome, check_body};
pub(crate) use tree::{J, parse, units, write};

/// The value of the text of arguments, after R1 and R2 where it does not parse as it stands.
pub(crate) fn read_text(text: &[u16]) -> Option<J> {
    text::read(text).map(|(value, _)| value)
}
