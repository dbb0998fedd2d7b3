//! What can be wrong: a closed list of fixed texts. A finding never holds a word of the endpoint's.

macro_rules! findings {
    ($($name:ident $code:literal $text:literal)*) => {
        /// What a case found.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Finding { $(#[doc = $text] $name,)* }

        impl Finding {
            /// All of them.
            pub const ALL: &[Finding] = &[$(Finding::$name,)*];

            /// Its stable id.
            #[must_use]
            pub const fn code(self) -> &'static str {
                match self { $(Finding::$name => $code,)* }
            }

            /// What it says.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $(Finding::$name => $text,)* }
            }
        }
    };
}

findings! {
    NameNotResolved "name_not_resolved" "The host's name has no address."
    AddressRefused "address_refused" "The host's address is private or reserved, and Millwork refuses to call it."
    NotConnected "not_connected" "No connection could be made."
    CertificateExpired "certificate_expired" "The certificate is not valid today."
    CertificateWrongName "certificate_wrong_name" "The certificate is not for this host."
    CertificateUntrusted "certificate_untrusted" "No trusted authority stands behind the certificate, or the chain is incomplete."
    TlsFailed "tls_failed" "The TLS handshake failed."
    Http2NotOffered "http2_not_offered" "The run asked for HTTP/2, and the endpoint does not offer it."
    ClosedEarly "closed_early" "The connection ended before the answer was complete."
    NotHttp "not_http" "What came back is no HTTP answer."
    TimedOut "timed_out" "The last byte of the answer had not arrived within the budget."
    TooLarge "too_large" "The answer is over 1,048,576 bytes, so the connection was dropped."
    Redirected "redirected" "The answer is a redirect (3xx), and Millwork follows none."
    NotFound "not_found" "The answer is 404: no dock at this path."
    KeyRefused "key_refused" "The endpoint's key was refused (401 or 403)."
    KeyDemanded "key_demanded" "A call without a key was refused (401 or 403), though the endpoint is said to be public."
    ChunkedRefused "chunked_refused" "The body was refused for having no length (411)."
    NoVerdict "status_not_success" "The status is not 2xx, so there is no verdict."
    StatusUnexpected "status_unexpected" "It was refused, but not with the status that says why."
    NotRefused "not_refused" "It should have been refused and was answered with success."
    NotJson "not_json" "The body is not JSON in UTF-8."
    TooDeep "too_deep" "The body is nested deeper than 512."
    NotAnObject "not_an_object" "The body is JSON, but no object."
    IsCorrectMissing "is_correct_missing" "There is no `is_correct`."
    IsCorrectText "is_correct_is_text" "`is_correct` is a string. Only a boolean is a verdict; \"true\" is not turned into one."
    IsCorrectNumber "is_correct_is_number" "`is_correct` is a number. Only a boolean is a verdict; 1 is not turned into one."
    IsCorrectOther "is_correct_not_boolean" "`is_correct` is neither true nor false."
    ScoreMissing "quality_score_missing" "There is no `quality_score`."
    ScoreNotNumber "quality_score_not_number" "`quality_score` is not a number."
    ScoreNotFinite "quality_score_not_finite" "`quality_score` is too large to be a finite number."
    ScoreOutOfRange "quality_score_out_of_range" "`quality_score` is below 0 or above 1."
    AnchorsNotObject "anchor_results_not_object" "`anchor_results` is not an object."
    AnchorNotBoolean "anchor_not_boolean" "A value in `anchor_results` is not a boolean."
    MetricsNotObject "named_metrics_not_object" "`named_metrics` is not an object."
    MetricNotNumber "metric_not_number" "A value in `named_metrics` is not a number."
    MetricNotFinite "metric_not_finite" "A value in `named_metrics` is too large to be a finite number."
    SchemaRefused "schema_refused" "The contract's response schema refuses the body."
    RepeatedName "repeated_name" "The verdict names a member twice; two readers may see two verdicts."
    MediaType "media_type_wrong" "The verdict's content type is not application/json."
    Cacheable "cacheable" "The answer does not say `cache-control: no-store`."
    ErrorWithVerdict "error_carries_verdict" "An answer that is not 2xx carries `is_correct` or `quality_score`."
    ErrorWithoutCode "error_without_code" "An answer that is not 2xx is not {\"error\": code} with a code of 1 to 64 letters, digits or _.:-."
    CandidateEchoed "candidate_echoed" "An error repeats a part of the request's body."
    KeyEchoed "key_echoed" "An answer holds the key that was sent."
    MarkerPassed "marker_passed" "A candidate with the probe's marker got `is_correct` true."
    MarkerScored "marker_scored" "A candidate with the probe's marker got a `quality_score` other than 0."
    MarkerChecked "marker_checked" "A candidate with the probe's marker was not answered like the probe: the check has run."
    ProbeChanged "probe_answer_changed" "The same probe got different answers."
    WrongVerdict "is_correct_wrong" "`is_correct` is not what the labelled case expects."
    WrongScore "quality_score_wrong" "`quality_score` is outside the labelled case's bounds."
    WrongAnchors "anchors_wrong" "An anchor is missing, or is not what the labelled case expects."
    WrongFailure "technical_failure_expected" "The labelled case expects a technical failure with a certain status."
    TextDiffers "text_differs" "The same output sent as JSON and as its text got different results."
    NotRepeatable "not_repeatable" "The same candidate got two different results."
    ProtocolDiffers "http2_differs" "The same candidate got another result over HTTP/2."
    WaitedForBody "waited_for_body" "No refusal came until the body was there."
    HeldOpen "held_open" "A body that never ends was neither refused nor cut off."
    AnsweredIncomplete "answered_incomplete" "A request whose body had not ended was answered with success."
    NoChallenge "no_challenge" "The 401 has no `WWW-Authenticate: Bearer`."
    NoAllow "no_allow" "The 405 has no `Allow: POST`."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_plain() {
        let mut codes: Vec<&str> = Finding::ALL.iter().map(|finding| finding.code()).collect();
        assert!(codes.iter().all(|code| {
            code.bytes().all(|byte| byte.is_ascii_lowercase() || b"_0123456789".contains(&byte))
        }));
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), Finding::ALL.len());
    }
}
