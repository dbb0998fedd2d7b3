//! The Millwork verifier dock: an HTTPS endpoint that answers whether a model's or agent's output is good.
//!
//! Dependencies point one way: `main → cli → server → {dock, service} → {argument, json_schema, profile} → json`; [`budget`] and [`fault`]
//! are leaves. Everything but [`server`], [`service`] and [`config`] is pure: no async, clock, environment, file, log or HTTP.

pub mod argument;
pub mod budget;
#[cfg(feature = "server")]
pub mod config;
pub mod contract;
pub mod corpus;
pub mod dock;
#[cfg(feature = "server")]
pub mod explain;
pub mod fault;
pub mod json;
pub mod json_schema;
pub mod profile;
#[cfg(feature = "server")]
pub mod server;
#[cfg(feature = "server")]
pub mod service;
pub mod tools;
#[cfg(feature = "server")]
pub mod utc;
#[cfg(feature = "server")]
pub mod watch;
