//! Bounds of time and memory.
use super::*;
