//! The files under `contract/`, compiled in: what this dock promises, as text.
//!
//! `tests/it/contract.rs` fails where one of them and the code differ.

/// `contract/verifier-dock.v1.json`: what an endpoint owes Millwork (`millwork.verifier-dock.v1`).
pub const VERIFIER_DOCK: &str = include_str!("../contract/verifier-dock.v1.json");

/// `contract/tool-argument.v1.json`: the criteria of the argument check (`tool-argument/v1`).
pub const TOOL_ARGUMENT: &str = include_str!("../contract/tool-argument.v1.json");

/// `contract/token-efficiency.v1.json`: the criteria of the split profile (`token-efficiency/v1`).
pub const TOKEN_EFFICIENCY: &str = include_str!("../contract/token-efficiency.v1.json");

/// `contract/errors.md`: every fault and refusal, its status and what to do.
pub const ERRORS: &str = include_str!("../contract/errors.md");

/// `contract/anchors.md`: what each anchor on a receipt means, and the score.
pub const ANCHORS: &str = include_str!("../contract/anchors.md");

/// `conformance/corpus/argument-check.v1.json`: the pinned cases of the argument check.
pub const ARGUMENT_CHECK_CORPUS: &str = include_str!("../conformance/corpus/argument-check.v1.json");

/// `conformance/corpus/split-profile.v1.json`: the pinned cases of the split profile.
pub const SPLIT_PROFILE_CORPUS: &str = include_str!("../conformance/corpus/split-profile.v1.json");
