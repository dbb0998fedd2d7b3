//! Plays Millwork against a verifier dock, any dock, and reports what Millwork would find.
//!
//! It shares no code with `millwork-dock`: what it knows of the contract it reads from the JSON files in `contract/`,
//! and everything else is its own, so that a fault of that server cannot hide here too.
//!
//! ```text
//! main → cli → run ─→ case, client, verdict, report      finding, json, contract, endpoint, address, keys, markup: leaves
//!            ├ replay → client, verdict
//!            └ broken: a dock with one fault at a time
//! ```
//!
//! Nothing that an endpoint sends reaches a report as text: findings are fixed words ([`finding::Finding`]) and
//! numbers. The one exception is `replay`, whose purpose is to show a receipt, anchors' names included; it cleans
//! them first.

pub mod address;
pub mod broken;
pub mod case;
pub mod cli;
pub mod client;
pub mod contract;
pub mod endpoint;
pub mod finding;
pub mod json;
pub mod keys;
pub mod markup;
pub mod replay;
pub mod report;
pub mod run;
pub mod verdict;
