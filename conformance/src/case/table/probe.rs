//! The reserved probe, and its marker wherever it hides.

use crate::case::Play::Procedure as P;
use crate::case::{Case, Procedure};

const MARKER_TODO: &str = "Look for a member named solverapi_probe in the candidate, after parsing, at any depth, before the check runs, \
     and answer {\"is_correct\":false,\"quality_score\":0}.";
const HIDDEN_TODO: &str = "If the check reads JSON out of texts, look for the marker there too, with the same reader, repairs included. A dock \
     that never reads such a text has nothing to fear from it.";

/// Probe and marker.
pub(super) const CASES: &[Case] = &[
    Case::required("probe.reserved", "reserved_probe.duty", data!("probe.reserved"))
        .shows("The registration probe gets 2xx and a valid verdict.")
        .todo("Answer exactly this candidate at once with {\"is_correct\":false,\"quality_score\":0}, without running the check."),
    Case::required("probe.repeated", "reserved_probe.when_sent", P(Procedure::ProbeRepeated))
        .shows("Five probes in a row get the same answer.")
        .todo("Answer the probe from a constant: no state, no cache that expires, no rate limit that five calls reach."),
    Case::required(
        "probe.marker_in_structured_candidate",
        "reserved_probe.fail_closed",
        data!("probe.marker_in_structured_candidate"),
    )
    .shows("The marker inside a structured candidate never leads to a pass.")
    .todo(MARKER_TODO),
    Case::required("probe.marker_after_parsing", "reserved_probe.fail_closed", data!("probe.marker_after_parsing"))
        .shows("The marker inside a text candidate that is JSON never leads to a pass.")
        .todo("Parse a text candidate that begins with { or [ first, then look for the marker."),
    Case::required("probe.marker_escaped", "reserved_probe.fail_closed", data!("probe.marker_escaped"))
        .shows("The marker's name written with \\u escapes is the same name.")
        .todo("Look at parsed names, not at the bytes of the body."),
    Case::recommended("probe.marker_shadowed", "reserved_probe.fail_closed", data!("probe.marker_shadowed"))
        .shows("The marker under a name that a later member of the same name replaces still counts.")
        .todo("Refuse candidates that name a member twice, or look for the marker while parsing."),
    Case::recommended("probe.marker_in_nested_text", "reserved_probe.fail_closed", data!("probe.marker_in_nested_text"))
        .shows("The marker inside a string that holds JSON, as a call's arguments do, never leads to a pass.")
        .todo(HIDDEN_TODO),
    Case::recommended("probe.marker_quoted_twice", "reserved_probe.fail_closed", data!("probe.marker_quoted_twice"))
        .shows("The marker in a text that is a JSON string of JSON never leads to a pass.")
        .todo(HIDDEN_TODO),
    Case::recommended(
        "probe.marker_in_truncated_text",
        "reserved_probe.fail_closed",
        data!("probe.marker_in_truncated_text"),
    )
    .shows("The marker in a text that lacks its closing brackets never leads to a pass.")
    .todo(HIDDEN_TODO),
    Case::recommended(
        "probe.marker_before_comma",
        "reserved_probe.fail_closed",
        data!("probe.marker_before_comma"),
    )
    .shows("The marker in a text with a trailing comma never leads to a pass.")
    .todo(HIDDEN_TODO),
    Case::recommended("probe.marker_after_trim", "reserved_probe.fail_closed", data!("probe.marker_after_trim"))
        .shows("The marker in a text behind white space that JavaScript trims never leads to a pass.")
        .todo(HIDDEN_TODO),
    Case::recommended("probe.marker_alike", "reserved_probe.fail_closed", P(Procedure::MarkerAlike))
        .shows("Every candidate with the marker is answered exactly as the probe is, so no check has run on it.")
        .todo("Give the marker the probe's own constant answer, without anchors that a check made."),
];
