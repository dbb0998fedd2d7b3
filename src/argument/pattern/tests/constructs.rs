//! One construct at a time; what is expected was checked with Node 20.20.
use super::*;
