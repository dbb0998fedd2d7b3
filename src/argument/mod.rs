//! The argument check.
pub mod pattern;
