//! The table, a file a theme.

/// A case that is one file.
macro_rules! data {
    ($name:literal) => {
        $crate::case::Play::File(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/cases/", $name, ".json")))
    };
}

mod access;
mod candidate;
mod probe;
mod request;
mod response;

use super::Case;

/// All cases, in the order of the reports.
pub(super) const TABLE: &[&[Case]] =
    &[response::TRANSPORT, access::CASES, probe::CASES, request::CASES, candidate::CASES, response::CASES];
