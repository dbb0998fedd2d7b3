//! How a request is framed, and what is refused.

use crate::case::Play::Procedure as P;
use crate::case::{Case, Procedure};

const STRICT_TODO: &str = "Answer 400. The request's schema has the one member `candidate`, and a second reading of the same body could \
     judge another value.";

/// Requests.
pub(super) const CASES: &[Case] = &[
    Case::required("request.chunked_post", "transport.request_body_framing", data!("request.chunked_post"))
        .shows("A chunked body without Content-Length, in three pieces, is read in full.")
        .todo("Read the body to its end instead of trusting Content-Length, and let the gateway in front pass chunked bodies on."),
    Case::required("request.chunked_bytewise", "transport.request_body_framing", data!("request.chunked_bytewise"))
        .shows("A body that arrives one byte at a time is read in full.")
        .todo("Collect all pieces before parsing; do not parse a piece, and do not limit their number."),
    Case::required("request.chunked_in_utf8", "transport.request_body_framing", data!("request.chunked_in_utf8"))
        .shows("A body that is cut inside UTF-8 sequences is read in full.")
        .todo("Collect bytes, and decode UTF-8 once, at the end."),
    Case::required("request.malformed_json", "request.schema", data!("request.malformed_json"))
        .shows("A body that is not JSON gets 400 and no verdict.")
        .todo("Answer 400 {\"error\":\"malformed_request\"}; a verdict would reject a candidate that nobody could read."),
    Case::required("request.missing_candidate", "request.schema.required", data!("request.missing_candidate"))
        .shows("A body without `candidate` gets 400 and no verdict.")
        .todo("Answer 400 {\"error\":\"missing_candidate\"}. Tell absent from null, which is a candidate."),
    Case::required("request.method_not_allowed", "request.method", data!("request.method_not_allowed"))
        .shows("GET gets 405 and no verdict.")
        .todo("Answer 405 with `Allow: POST` to every other method. Health checks belong to another path."),
    Case::recommended("request.allow", "request.method", P(Procedure::AllowHeader))
        .shows("The 405 says `Allow: POST`.")
        .todo("Add the header to the 405; HTTP asks for it."),
    Case::recommended("request.body_not_object", "request.schema", data!("request.body_not_object"))
        .shows("A body that is a JSON array gets 400.")
        .todo("Answer 400 {\"error\":\"missing_candidate\"}."),
    Case::recommended("request.empty_body", "request.schema", data!("request.empty_body"))
        .shows("An empty body gets 400.")
        .todo("Answer 400 {\"error\":\"malformed_request\"}."),
    Case::recommended("request.invalid_utf8", "request.schema", P(Procedure::InvalidUtf8))
        .shows("A body that is not UTF-8 gets 400.")
        .todo("Decode strictly. Replacement characters would judge a candidate that nobody sent."),
    Case::recommended("request.extra_member", "request.schema.additionalProperties", data!("request.extra_member"))
        .shows("A member beside `candidate` gets 400.")
        .todo(STRICT_TODO),
    Case::recommended("request.duplicate_candidate", "request.schema", data!("request.duplicate_candidate"))
        .shows("`candidate` twice gets 400.")
        .todo(STRICT_TODO),
    Case::recommended("request.body_at_cap", "client.max_request_bytes", P(Procedure::BodyAtCap))
        .shows("A body of exactly 1,048,576 bytes gets a verdict.")
        .todo("Raise the limit of the dock and of every proxy in front of it to 1 MiB."),
    Case::recommended("request.body_over_cap", "client.max_request_bytes", P(Procedure::BodyOverCap))
        .shows("A body of one byte more gets 413.")
        .todo("Count the bytes as they come, chunked ones too, and answer 413 {\"error\":\"request_too_large\"}."),
    Case::recommended("request.slow_body", "client.body_timeout_ms", P(Procedure::SlowBody))
        .shows("A body that takes two seconds gets a verdict.")
        .todo("Give bodies five seconds, in the dock and in every proxy in front of it."),
    Case::recommended("request.stalled_body", "client.body_timeout_ms", P(Procedure::StalledBody))
        .shows("A body that never ends is refused or cut off within the budget of a run.")
        .todo("Set a deadline for the whole body (five seconds), answer 408 and close; idle timers alone do not bound it."),
];
