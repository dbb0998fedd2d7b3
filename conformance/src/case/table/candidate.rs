//! What a candidate can be, and what its verdict must be.

use crate::case::Play::{Family, Procedure as P};
use crate::case::{Case, Family as F, Procedure};

const ANY_TODO: &str = "Give every JSON value a verdict: what the check cannot use is not correct, and that is 200 with `is_correct` false.";

/// Candidates.
pub(super) const CASES: &[Case] = &[
    Case::required("candidate.null", "request.schema.properties.candidate", data!("candidate.null"))
        .shows("Null gets a verdict.")
        .todo(ANY_TODO),
    Case::required("candidate.boolean", "request.schema.properties.candidate", data!("candidate.boolean"))
        .shows("A boolean gets a verdict.")
        .todo(ANY_TODO),
    Case::required("candidate.number", "request.schema.properties.candidate", data!("candidate.number"))
        .shows("A bare number gets a verdict.")
        .todo(ANY_TODO),
    Case::required("candidate.empty_text", "request.schema.properties.candidate", data!("candidate.empty_text"))
        .shows("An empty text gets a verdict.")
        .todo(ANY_TODO),
    Case::required("candidate.array", "request.schema.properties.candidate", data!("candidate.array"))
        .shows("An array gets a verdict.")
        .todo(ANY_TODO),
    Case::required("candidate.object", "request.schema.properties.candidate", data!("candidate.object"))
        .shows("An object that the check has never seen gets a verdict.")
        .todo(ANY_TODO),
    Case::recommended("candidate.huge_number", "request.schema.properties.candidate", data!("candidate.huge_number"))
        .shows("Numbers beyond a double's range and digits get a verdict.")
        .todo(ANY_TODO),
    Case::recommended("candidate.lone_surrogate", "request.schema.properties.candidate", data!("candidate.lone_surrogate"))
        .shows("Half a surrogate pair and an escaped NUL get a verdict.")
        .todo(ANY_TODO),
    Case::recommended("candidate.duplicate_names", "request.schema.properties.candidate", data!("candidate.duplicate_names"))
        .shows("An object that names a member twice gets a verdict.")
        .todo(ANY_TODO),
    Case::recommended("candidate.deep", "request.schema.properties.candidate", P(Procedure::DeepCandidate))
        .shows("A candidate nested 100 deep gets a verdict.")
        .todo("Parse and walk without overflowing the stack, and make what is too deep for the check not correct."),
    Case::required("mapping.plain_model_text", "request.schema.properties.candidate", data!("mapping.plain_model_text"))
        .shows("Plain text of a model gets a verdict, not an error.")
        .todo("A text that is no JSON is a candidate too: judge it, or say that it is not correct."),
    Case::required("labelled.<id>", "conformance.does_not_prove", Family(F::Labelled))
        .shows("A labelled case gets the verdict that its author expects.")
        .todo("Correct the check, or the case. The findings say whether verdict, score or anchors differ."),
    Case::required(
        "mapping.model_text_matches_agent_json.<id>",
        "request.schema.properties.candidate",
        Family(F::TextMatches),
    )
    .shows("The same output as JSON and as its text gets the same verdict, score and anchors.")
    .todo("Parse a text that begins with { or [, after trimming, and judge the value by the same code."),
    Case::recommended("verdict.repeatable", "conformance.does_not_prove", P(Procedure::Repeatable))
        .shows("The same candidate, sent twice, gets the same verdict, score and anchors.")
        .todo("Take clock, chance and state out of the check. Where a model judges, do not declare the dock deterministic."),
];
