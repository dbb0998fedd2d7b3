//! The connection, the clock, and the form of every answer.

use crate::case::Play::{First, Overall, Procedure as P};
use crate::case::{Case, Procedure, Rule};

/// What has to work before anything else makes sense.
pub(super) const TRANSPORT: &[Case] = &[
    Case::required("transport.connection", "transport.address_policy", First)
        .shows("The name resolves to public addresses, a connection is made, and the certificate is right.")
        .todo("See what failed: name, address, port, or certificate. Serve the whole chain, for this very host name."),
    Case::required("transport.no_redirect", "transport.redirects", First)
        .shows("The endpoint answers itself and redirects nowhere.")
        .todo("Register the URL that finally answers, with or without its last slash."),
    Case::required("transport.answers", "response.status", Overall(Rule::Answers))
        .shows("Every call gets a whole HTTP answer.")
        .todo("Look in the dock's log at the cases named: it crashed, reset the connection, or framed the answer wrongly."),
    Case::recommended("http2.probe", "reserved_probe.duty", P(Procedure::Http2Probe))
        .shows("If HTTP/2 is offered, the probe is answered over it.")
        .todo("Mend HTTP/2 or stop offering it in ALPN; Millwork does not need it."),
    Case::recommended("http2.same_verdict", "response.status", P(Procedure::Http2Verdict))
        .shows("If HTTP/2 is offered, a candidate gets the same result over it.")
        .todo("Route both protocols to the same code, or stop offering HTTP/2 in ALPN."),
];

/// Rules for every answer.
pub(super) const CASES: &[Case] = &[
    Case::required("timing.probe_budget", "timing.probe_budget_ms", Overall(Rule::ProbeBudget))
        .shows("Probes and refusals are complete within 3 s, from the start of the call to the last byte.")
        .todo("Answer the probe before anything slow is loaded or called, and keep an instance warm: cold starts count."),
    Case::required("timing.run_budget", "timing.run_budget_ms", Overall(Rule::RunBudget))
        .shows("Evaluations are complete within 10 s, from the start of the call to the last byte.")
        .todo("Give the check a deadline of 8 s and answer 504 at it. Nothing is tried again."),
    Case::required("response.size", "timing.max_response_bytes", Overall(Rule::Size))
        .shows("No answer is over 1,048,576 bytes.")
        .todo("Return the verdict, not the material that led to it."),
    Case::required("response.body", "response.invalid_body", Overall(Rule::Body))
        .shows("The body of a 2xx is a JSON object in UTF-8.")
        .todo("Write the body with a JSON library: NaN, Infinity and single quotes are not JSON."),
    Case::required("response.schema", "response.schema", Overall(Rule::Schema))
        .shows("The body of a 2xx satisfies the contract's schema, and nothing has to be converted for it.")
        .todo("Send `is_correct` as a boolean, `quality_score` as a number from 0 to 1, anchors as booleans, metrics as finite numbers."),
    Case::recommended("response.no_repeated_names", "response.schema", Overall(Rule::RepeatedNames))
        .shows("No verdict names a member twice.")
        .todo("Build the answer as one object; joining texts lets a name slip in twice."),
    Case::required("response.media_type", "response.body_media_type", Overall(Rule::MediaType))
        .shows("Verdicts are application/json.")
        .todo("Set `content-type: application/json`."),
    Case::recommended("response.no_store", "response.status", Overall(Rule::NoStore))
        .shows("No answer may be stored by a cache on the way.")
        .todo("Set `cache-control: no-store` on every answer, errors included."),
    Case::required("errors.no_verdict", "response.status", Overall(Rule::ErrorWithoutVerdict))
        .shows("An answer that is not 2xx carries no `is_correct` and no `quality_score`.")
        .todo("Send {\"error\": code} and nothing that looks like a verdict."),
    Case::recommended("errors.code", "client.error_code_pattern", Overall(Rule::ErrorCode))
        .shows("An answer that is not 2xx is {\"error\": code}.")
        .todo("Replace error pages of framework and gateway by {\"error\": code}; reports show a code and drop other text."),
    Case::recommended("errors.no_echo", "response.status", Overall(Rule::ErrorEcho))
        .shows("No error repeats a part of the request's body.")
        .todo("Use fixed error texts. A parser's message quotes what it read, so keep it out of answers and logs."),
    Case::required("access.no_key_echo", "access.modes.managed", Overall(Rule::KeyEcho))
        .authenticated()
        .shows("No answer holds a key that was sent, in its head or in its body.")
        .todo("Take the key out of the answer, and look where else it is written."),
];
