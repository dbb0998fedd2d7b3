//! The integration tests: one binary, one file per theme.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]
#![allow(
    clippy::format_collect,
    clippy::format_push_string,
    clippy::manual_let_else,
    clippy::maybe_infinite_iter,
    clippy::similar_names,
    clippy::single_match_else,
    clippy::too_many_lines,
    clippy::type_complexity,
    reason = "tables of cases and a reference implementation that reads like the criteria, not like the engine"
)]

mod argument_cases;
mod argument_corners;
mod argument_hostile;
mod argument_oracle;
mod argument_properties;
mod argument_reference;
mod argument_suite;
mod calls;
mod catalogues;
mod command;
mod commands;
mod config;
mod contract;
mod corpus;
mod custody;
mod data;
mod generate;
mod hostile;
mod hostile_drain;
mod json_node;
mod json_schema;
mod json_suite;
mod kit;
mod limits;
mod node;
mod operate;
mod operations;
mod profile;
mod profile_oracle;
mod reference;
mod schema_oracle;
mod served;
mod store;
mod support;
mod tidy;
mod tool_call;
mod wire;
mod wire_reload;
