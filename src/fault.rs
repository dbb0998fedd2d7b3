//! Why a request has no verdict: HTTP-agnostic faults with stable codes.
//!
//! A fault is a technical failure, never a rejection of the candidate. `server::reply` is the only place
//! that maps one to a status; `contract/errors.md` says what to do about each.

macro_rules! faults {
    ($($(#[$doc:meta])* $name:ident = $code:literal,)*) => {
        /// A technical failure, named by a stable code.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
        pub enum Fault { $($(#[$doc])* #[error($code)] $name,)* }

        impl Fault {
            /// Every fault there is, in the order of `contract/errors.md`.
            pub const ALL: &[Fault] = &[$(Fault::$name,)*];

            /// The stable code, as sent in `{"error": code}`.
            #[must_use]
            pub const fn code(self) -> &'static str {
                match self { $(Fault::$name => $code,)* }
            }
        }
    };
}

faults! {
    /// Managed access: the key is missing or wrong.
    Unauthorized = "unauthorized",
    /// Managed access and no key configured.
    EndpointKeysNotConfigured = "endpoint_keys_not_configured",
    /// A configured key is a Millwork account key (`solverapi_live_…`), or no usable key at all.
    EndpointKeysMisconfigured = "endpoint_keys_misconfigured",
    /// The key source cannot be read.
    EndpointKeysUnavailable = "endpoint_keys_unavailable",
    /// Not POST.
    MethodNotAllowed = "method_not_allowed",
    /// No dock at this path.
    NotFound = "not_found",
    /// `Host` is missing, repeated or invalid.
    BadHost = "bad_host",
    /// An `Expect` other than `100-continue`.
    ExpectationFailed = "expectation_failed",
    /// A `Transfer-Encoding` other than exactly `chunked`.
    TransferEncodingUnsupported = "transfer_encoding_unsupported",
    /// A `Content-Encoding` other than `identity`.
    ContentEncodingUnsupported = "content_encoding_unsupported",
    /// The body is not JSON, or its object has more than the one member `candidate`.
    MalformedRequest = "malformed_request",
    /// The body is no object, or has no `candidate`.
    MissingCandidate = "missing_candidate",
    /// The body is over `limits.max_body_bytes`.
    RequestTooLarge = "request_too_large",
    /// The body was not received within `limits.body_timeout_ms`.
    RequestTimeout = "request_timeout",
    /// More requests than `rate_limit` allows this client.
    RateLimited = "rate_limited",
    /// No capacity is left; nothing of the body was read.
    Overloaded = "overloaded",
    /// The check itself failed.
    CheckFailed = "check_failed",
    /// The check produced no valid verdict.
    CheckResultInvalid = "check_result_invalid",
    /// The check outran its deadline or its step budget.
    CheckTimeout = "check_timeout",
    /// The operator's pinned schema or tool cannot be graded; not the candidate's fault.
    ToolNotGradable = "tool_not_gradable",
    /// An operation that the criteria name and do not offer.
    NotCovered = "NOT-COVERED",
    /// The pre-check's least interval has not passed.
    TooSoon = "too_soon",
    /// The pre-check's allowance of the day is used up.
    AllowanceExhausted = "allowance_exhausted",
    /// A check has its price, and no payment came with it.
    PaymentRequired = "payment_required",
    /// The payment cannot be decoded, or there are two.
    PaymentMalformed = "payment_malformed",
    /// The payment is for something else than what is offered.
    PaymentMismatch = "payment_mismatch",
    /// The facilitator calls the payment invalid.
    PaymentInvalid = "payment_invalid",
    /// The payment was used before.
    PaymentReplayed = "payment_replayed",
    /// The payment is being used, or what became of it is not known yet.
    PaymentUnderway = "payment_underway",
    /// The facilitator refused to settle; nothing was paid.
    SettlementRefused = "settlement_refused",
    /// Whether the payment was settled is not known yet; the same one may be sent again.
    SettlementUnknown = "settlement_unknown",
    /// The facilitator cannot be reached; nothing was paid.
    FacilitatorUnavailable = "facilitator_unavailable",
    /// Allowances and the ledger cannot be reached.
    StoreUnavailable = "store_unavailable",
    /// A tripwire stopped the operation until the operator acknowledges it.
    OperationStopped = "operation_stopped",
    /// The report would be over 8 MiB; nothing was paid.
    ReportTooLarge = "report_too_large",
}
