//! Lossless JSON: number lexemes, member order, repeated names and lone surrogates all survive.
//!
//! A [`Document`] owns one text and a tape of 16-byte nodes in document order; a [`Value`] is a `Copy`
//! reference into it. Nothing is copied out of the text, and nothing recurses on the input's depth while
//! parsing. Texts and names are WTF-8: UTF-8 in which a lone surrogate is its own three bytes.

mod document;
mod ecma;
mod equal;
mod number;
mod parse;
mod path;
mod text;
mod write;

pub use document::{Document, Items, Kind, Member, Members, Value};
pub(crate) use equal::{equal, hash};
pub use number::{Decimal, Number};
pub(crate) use parse::name_hash;
pub use parse::{ParseError, ParseErrorKind};
pub use path::{write_item_step, write_name_step};
pub use text::Text;
pub(crate) use text::{code_points, contains, is_white_space, to_lowercase, trim};
pub(crate) use write::{compact_len_over, write_text};
pub use write::{write_ecma, write_string, write_value};
