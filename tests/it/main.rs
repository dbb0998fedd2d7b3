//! The integration tests: one binary, one file per theme.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod argument_cases;
mod config;
mod contract;
mod data;
mod tidy;
