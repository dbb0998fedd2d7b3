//! The kit, tested against the docks that are wrong on purpose, against one in another language, and as a program.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod matrix;
mod page;
mod program;
mod support;
mod tiny_dock;
