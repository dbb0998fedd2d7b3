//! The faults of the bundled dock, and for each the cases that must find it, no fewer and no more.

use crate::finding::Finding;

/// A case that finds a fault, and what it says.
pub type Found = (&'static str, Finding);

/// What a fault needs to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// A public dock.
    Public,
    /// A public dock over TLS, with HTTP/2.
    Tls,
    /// A dock with keys.
    Keys,
}

macro_rules! faults {
    ($($name:ident $code:literal $stage:ident $text:literal [$(($case:literal, $finding:ident)),* $(,)?])*) => {
        /// One thing that a dock can do wrong.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Fault { $(#[doc = $text] $name,)* }

        impl Fault {
            /// All of them; the first is none.
            pub const ALL: &[Fault] = &[$(Fault::$name,)*];

            /// Its name on the command line.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Fault::$name => $code,)* }
            }

            /// What the dock does.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $(Fault::$name => $text,)* }
            }

            /// What it needs to show.
            #[must_use]
            pub const fn stage(self) -> Stage {
                match self { $(Fault::$name => Stage::$stage,)* }
            }

            /// The cases that find it, with the bundled labelled cases.
            #[must_use]
            pub const fn found_by(self) -> &'static [Found] {
                match self { $(Fault::$name => &[$(($case, Finding::$finding),)*],)* }
            }
        }
    };
}

faults! {
    None "none" Public "Nothing wrong." []

    UntrustedCertificate "untrusted-certificate" Tls "The certificate is signed by nobody known." [("transport.connection", CertificateUntrusted)]
    WrongName "wrong-name" Tls "The certificate is for another host." [("transport.connection", CertificateWrongName)]
    ExpiredCertificate "expired-certificate" Tls "The certificate ended yesterday." [("transport.connection", CertificateExpired)]
    Redirect "redirect" Public "Every call is redirected to the same path with a slash." [("transport.no_redirect", Redirected)]
    NotFound "not-found" Public "No dock at this path." [("probe.reserved", NotFound)]
    RefuseChunked "refuse-chunked" Public "The gateway wants a Content-Length." [("request.chunked_post", ChunkedRefused)]
    HangUp "hang-up" Public "An array makes the dock crash without an answer." [("transport.answers", ClosedEarly)]
    Garbage "garbage" Public "An array is answered with something that is not HTTP." [("transport.answers", NotHttp)]
    CutAnswer "cut-answer" Public "The answer to an array is shorter than its Content-Length." [("transport.answers", ClosedEarly)]
    Http2Broken "http2-broken" Tls "HTTP/2 is offered, and every stream reset." [("http2.probe", ClosedEarly), ("http2.same_verdict", ClosedEarly)]
    Http2Differs "http2-differs" Tls "HTTP/2 leads to another version of the check." [("http2.same_verdict", ProtocolDiffers)]

    DemandsKey "demands-key" Public "The dock is said to be public and wants a key." [("access.accepted", KeyDemanded)]
    RefusesAllKeys "refuses-all-keys" Keys "The accepted key is refused." [("access.accepted", KeyRefused)]
    OpenDoor "open-door" Keys "Keys are not looked at." [
        ("access.missing_key_before_probe", NotRefused), ("access.wrong_key_before_probe", NotRefused),
        ("access.similar_key_rejected", NotRefused), ("access.retired_key_rejected.1", NotRefused),
        ("access.refused_before_body", WaitedForBody), ("access.refused_before_parsing", StatusUnexpected),
    ]
    AnyKey "any-key" Keys "Any key will do." [
        ("access.wrong_key_before_probe", NotRefused), ("access.similar_key_rejected", NotRefused), ("access.retired_key_rejected.1", NotRefused),
    ]
    KeyPrefix "key-prefix" Keys "Only the beginning of the key is compared." [("access.similar_key_rejected", NotRefused)]
    ProbeBeforeAccess "probe-before-access" Keys "The probe is answered before the key is looked at." [
        ("access.missing_key_before_probe", NotRefused), ("access.wrong_key_before_probe", NotRefused),
        ("access.similar_key_rejected", NotRefused), ("access.retired_key_rejected.1", NotRefused), ("access.refused_before_body", WaitedForBody),
    ]
    KeyAfterBody "key-after-body" Keys "The key is looked at once the body is there." [("access.refused_before_body", WaitedForBody)]
    KeyAfterParsing "key-after-parsing" Keys "The key is looked at once the body is parsed." [
        ("access.refused_before_body", WaitedForBody), ("access.refused_before_parsing", StatusUnexpected),
    ]
    Forbidden "forbidden" Keys "A missing or wrong key gets 403." [
        ("access.missing_key_before_probe", StatusUnexpected), ("access.wrong_key_before_probe", StatusUnexpected),
        ("access.similar_key_rejected", StatusUnexpected), ("access.retired_key_rejected.1", StatusUnexpected),
        ("access.refused_before_body", StatusUnexpected), ("access.refused_before_parsing", StatusUnexpected),
    ]
    OneKey "one-key" Keys "Only one key is accepted at a time." [("access.overlap_key_accepted.1", NoVerdict)]
    RetiredWorks "retired-works" Keys "A key that was taken out still works." [("access.retired_key_rejected.1", NotRefused)]
    NoChallenge "no-challenge" Keys "The 401 has no WWW-Authenticate." [("access.challenge", NoChallenge)]
    SchemeCase "scheme-case" Keys "Only `Bearer` with a capital B is understood." [("access.scheme_in_any_case", NoVerdict)]
    KeyEcho "key-echo" Keys "The verdict repeats the key." [("access.no_key_echo", KeyEchoed)]

    ProbeFails "probe-fails" Public "The probe goes to the check, which fails." [
        ("probe.reserved", NoVerdict), ("probe.repeated", NoVerdict), ("request.chunked_post", NoVerdict),
    ]
    ProbeOnce "probe-once" Public "The fourth probe is refused." [("probe.repeated", NoVerdict)]
    ProbeChanges "probe-changes" Public "The fourth probe gets another answer." [("probe.repeated", ProbeChanged)]
    ProbePasses "probe-passes" Public "The probe gets `is_correct` true: advice, not a finding." []
    ProbeScores "probe-scores" Public "The probe gets a score: advice, not a finding." []
    Created "created" Public "Verdicts come with 201: advice, not a finding." []
    MetricsDiffer "metrics-differ" Public "A metric differs for texts: advice, not a finding." []
    MarkerExactOnly "marker-exact-only" Public "Only the exact probe is known; the marker elsewhere passes." [
        ("probe.marker_in_structured_candidate", MarkerPassed), ("probe.marker_after_parsing", MarkerPassed), ("probe.marker_escaped", MarkerPassed),
        ("probe.marker_shadowed", MarkerPassed), ("probe.marker_in_nested_text", MarkerPassed), ("probe.marker_quoted_twice", MarkerPassed),
        ("probe.marker_in_truncated_text", MarkerPassed), ("probe.marker_before_comma", MarkerPassed), ("probe.marker_after_trim", MarkerPassed),
    ]
    MarkerRawBytes "marker-raw-bytes" Public "The marker is looked for in the body's bytes." [("probe.marker_escaped", MarkerPassed)]
    MarkerNotInText "marker-not-in-text" Public "The marker is not looked for in texts." [
        ("probe.marker_after_parsing", MarkerPassed), ("probe.marker_in_nested_text", MarkerPassed), ("probe.marker_quoted_twice", MarkerPassed),
        ("probe.marker_in_truncated_text", MarkerPassed), ("probe.marker_before_comma", MarkerPassed), ("probe.marker_after_trim", MarkerPassed),
    ]
    MarkerNotNested "marker-not-nested" Public "The marker is not looked for in texts within texts or objects." [
        ("probe.marker_in_nested_text", MarkerPassed), ("probe.marker_quoted_twice", MarkerPassed),
    ]
    MarkerStrictText "marker-strict-text" Public "The marker is looked for in texts that are JSON as they stand." [
        ("probe.marker_in_truncated_text", MarkerPassed), ("probe.marker_before_comma", MarkerPassed), ("probe.marker_after_trim", MarkerPassed),
    ]
    MarkerLastWins "marker-last-wins" Public "Of repeated names only the last is looked at." [("probe.marker_shadowed", MarkerPassed)]
    MarkerScored "marker-scored" Public "The marker gets a score." [
        ("probe.marker_in_structured_candidate", MarkerScored), ("probe.marker_after_parsing", MarkerScored), ("probe.marker_escaped", MarkerScored),
        ("probe.marker_shadowed", MarkerScored), ("probe.marker_in_nested_text", MarkerScored), ("probe.marker_quoted_twice", MarkerScored),
        ("probe.marker_in_truncated_text", MarkerScored), ("probe.marker_before_comma", MarkerScored), ("probe.marker_after_trim", MarkerScored),
    ]
    MarkerChecked "marker-checked" Public "The check runs on candidates with the marker." [("probe.marker_alike", MarkerChecked)]

    FirstChunkOnly "first-chunk-only" Public "The first piece is taken for the whole body." [
        ("request.chunked_post", NoVerdict), ("request.chunked_bytewise", NoVerdict), ("request.chunked_in_utf8", NoVerdict),
        ("request.body_at_cap", NoVerdict), ("request.body_over_cap", StatusUnexpected), ("request.slow_body", NoVerdict),
    ]
    Utf8PerChunk "utf8-per-chunk" Public "Each piece is decoded by itself." [("request.chunked_bytewise", NoVerdict), ("request.chunked_in_utf8", NoVerdict)]
    FewChunks "few-chunks" Public "More than 32 pieces are refused." [("request.chunked_bytewise", NoVerdict)]
    MalformedRejected "malformed-rejected" Public "A body that is not JSON gets a negative verdict." [
        ("request.malformed_json", NotRefused), ("request.empty_body", NotRefused), ("request.invalid_utf8", NotRefused),
    ]
    MissingAsNull "missing-as-null" Public "A missing candidate is taken for null." [("request.missing_candidate", NotRefused), ("request.body_not_object", NotRefused)]
    EmptyAsNull "empty-as-null" Public "An empty body is taken for null." [("request.empty_body", NotRefused)]
    LossyUtf8 "lossy-utf8" Public "Bytes that are not UTF-8 are replaced." [("request.invalid_utf8", NotRefused)]
    ExtraMember "extra-member" Public "Members beside the candidate are ignored." [("request.extra_member", NotRefused)]
    DuplicateCandidate "duplicate-candidate" Public "The last of two candidates is judged." [("request.duplicate_candidate", NotRefused)]
    AnyMethod "any-method" Public "GET gets a verdict." [("request.method_not_allowed", NotRefused)]
    NoAllow "no-allow" Public "The 405 has no Allow." [("request.allow", NoAllow)]
    SmallCap "small-cap" Public "A proxy takes 64 KiB at most." [("request.body_at_cap", NoVerdict)]
    NoCap "no-cap" Public "Bodies of any size are taken." [("request.body_over_cap", NotRefused)]
    Impatient "impatient" Public "A body has to come at once." [("request.slow_body", NoVerdict)]
    Patient "patient" Public "A body may take for ever." [("request.stalled_body", HeldOpen)]
    PartialBody "partial-body" Public "What has come of a body is judged when its time is up." [("request.stalled_body", AnsweredIncomplete)]

    ObjectsOnly "objects-only" Public "A candidate that is no object gets 400." [
        ("request.body_at_cap", NoVerdict), ("candidate.null", NoVerdict), ("candidate.boolean", NoVerdict), ("candidate.number", NoVerdict),
        ("candidate.empty_text", NoVerdict), ("candidate.array", NoVerdict), ("candidate.deep", NoVerdict), ("mapping.plain_model_text", NoVerdict),
        ("labelled.text-in-range", NoVerdict), ("mapping.model_text_matches_agent_json.in-range", TextDiffers),
        ("mapping.model_text_matches_agent_json.out-of-range", TextDiffers), ("mapping.model_text_matches_agent_json.crash", TextDiffers),
    ]
    KnownObjectsOnly "known-objects-only" Public "An object without `amount` gets 400." [
        ("request.chunked_bytewise", NoVerdict), ("request.chunked_in_utf8", NoVerdict), ("request.slow_body", NoVerdict), ("candidate.object", NoVerdict),
        ("candidate.huge_number", NoVerdict), ("candidate.lone_surrogate", NoVerdict), ("candidate.duplicate_names", NoVerdict),
    ]
    HugeNumber "huge-number" Public "A number that is no finite double breaks the check." [("candidate.huge_number", NoVerdict)]
    LoneSurrogate "lone-surrogate" Public "Half a surrogate pair breaks the check." [("candidate.lone_surrogate", NoVerdict)]
    DuplicateNames "duplicate-names" Public "A repeated name breaks the check." [("candidate.duplicate_names", NoVerdict)]
    Shallow "shallow" Public "More than 64 levels break the check." [("candidate.deep", NoVerdict)]
    ApprovesAll "approves-all" Public "Everything is correct." [("labelled.out-of-range", WrongVerdict)]
    FlatScore "flat-score" Public "Every score is 0.25." [("labelled.in-range", WrongScore), ("labelled.text-in-range", WrongScore)]
    NoAnchors "no-anchors" Public "Verdicts name no rule." [("labelled.in-range", WrongAnchors), ("labelled.out-of-range", WrongAnchors)]
    CrashRejected "crash-rejected" Public "A check that breaks down gives a negative verdict." [("labelled.crash", WrongFailure)]
    TextDiffers "text-differs" Public "Texts are judged by other code." [
        ("mapping.model_text_matches_agent_json.in-range", TextDiffers), ("mapping.model_text_matches_agent_json.out-of-range", TextDiffers),
    ]
    Unrepeatable "unrepeatable" Public "The score depends on how often an object came." [("verdict.repeatable", NotRepeatable)]

    SlowProbe "slow-probe" Public "The probe takes longer than 3 s." [("timing.probe_budget", TimedOut)]
    SlowRun "slow-run" Public "An array takes longer than 10 s." [("timing.run_budget", TimedOut)]
    HugeAnswer "huge-answer" Public "The answer to an array is over 1 MiB." [("response.size", TooLarge)]
    NotANumber "not-a-number" Public "The score is NaN." [("response.body", NotJson)]
    NotUtf8 "not-utf8" Public "The verdict is not UTF-8." [("response.body", NotJson)]
    AnswersList "answers-list" Public "The verdict stands in a list." [("response.body", NotAnObject)]
    NoContent "no-content" Public "The answer is 204 without a body." [("response.body", NotJson), ("response.media_type", MediaType)]
    IsCorrectText "is-correct-text" Public "`is_correct` is the string \"true\"." [("response.schema", IsCorrectText)]
    IsCorrectNumber "is-correct-number" Public "`is_correct` is the number 1." [("response.schema", IsCorrectNumber)]
    IsCorrectMissing "is-correct-missing" Public "There is no `is_correct`." [("response.schema", IsCorrectMissing)]
    ScoreText "score-text" Public "`quality_score` is a string." [("response.schema", ScoreNotNumber)]
    ScoreMissing "score-missing" Public "There is no `quality_score`." [("response.schema", ScoreMissing)]
    ScorePercent "score-percent" Public "`quality_score` goes up to 100." [("response.schema", ScoreOutOfRange)]
    ScoreNegative "score-negative" Public "`quality_score` is negative." [("response.schema", ScoreOutOfRange)]
    ScoreInfinite "score-infinite" Public "`quality_score` is 1e400." [("response.schema", ScoreNotFinite)]
    AnchorsList "anchors-list" Public "`anchor_results` is a list." [("response.schema", AnchorsNotObject)]
    AnchorNumber "anchor-number" Public "An anchor is 1." [("response.schema", AnchorNotBoolean)]
    MetricText "metric-text" Public "A metric is a string." [("response.schema", MetricNotNumber)]
    MetricInfinite "metric-infinite" Public "A metric is 1e999." [("response.schema", MetricNotFinite)]
    RepeatedName "repeated-name" Public "The verdict holds `is_correct` twice." [("response.no_repeated_names", RepeatedName)]
    ExtraMembers "extra-members" Public "The verdict has further members: no finding." []
    TextType "text-type" Public "Verdicts are text/plain." [("response.media_type", MediaType)]
    Cacheable "cacheable" Public "Answers may be stored." [("response.no_store", Cacheable)]
    ErrorVerdict "error-verdict" Public "Errors carry a negative verdict." [("errors.no_verdict", ErrorWithVerdict)]
    ErrorPage "error-page" Public "Errors are pages of text." [("errors.code", ErrorWithoutCode)]
    ErrorEcho "error-echo" Public "Errors quote the body." [("errors.no_echo", CandidateEchoed)]
}

impl Fault {
    /// The fault of this name.
    #[must_use]
    pub fn of(name: &str) -> Option<Fault> {
        Fault::ALL.iter().copied().find(|fault| fault.name() == name)
    }
}
