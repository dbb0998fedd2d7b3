//! Every name that the configuration file may hold, in one table, so that the loader, the JSON Schema and
//! the commented example cannot drift apart unseen.

/// One table of the file and the names in it.
#[derive(Debug)]
pub struct Table {
    /// The table's name; empty for the top level.
    pub name: &'static str,
    /// The keys that it takes.
    pub keys: &'static [&'static str],
}

/// The top level.
pub const ROOT: Table =
    Table { name: "", keys: &["server", "tls", "limits", "dock", "service", "x402", "signing", "store"] };

/// `[server]`.
pub const SERVER: Table = Table { name: "server", keys: &["listen", "admin_listen"] };

/// `[tls]`.
pub const TLS: Table = Table { name: "tls", keys: &["cert", "key", "self_signed", "self_signed_out"] };

/// `[limits]`; each has a row in [`BOUNDS`].
pub const LIMITS: Table = Table {
    name: "limits",
    keys: &[
        "max_body_bytes",
        "handshake_ms",
        "header_ms",
        "idle_ms",
        "body_timeout_ms",
        "check_timeout_ms",
        "check_steps",
        "max_connections",
        "max_connections_per_client",
        "drain_ms",
    ],
};

/// `[[dock]]`.
pub const DOCK: Table = Table {
    name: "dock",
    keys: &[
        "path",
        "access",
        "keys_env",
        "keys_file",
        "check",
        "source",
        "schema",
        "tools",
        "format",
        "uncovered",
        "strict",
        "require",
        "anchors",
        "rate_limit",
    ],
};

/// `rate_limit` of a dock.
pub const RATE_LIMIT: Table = Table { name: "rate_limit", keys: &["per_second", "burst"] };

/// `[[service]]`.
pub const SERVICE: Table =
    Table { name: "service", keys: &["op", "base", "payment", "rate_limit", "acknowledged"] };

/// `[x402]`.
pub const X402: Table = Table {
    name: "x402",
    keys: &[
        "facilitator",
        "pay_to",
        "network",
        "asset",
        "fee_payers",
        "verify_timeout_ms",
        "settle_timeout_ms",
    ],
};

/// `[signing]`.
pub const SIGNING: Table = Table { name: "signing", keys: &["key", "retired"] };

/// `[store]`.
pub const STORE: Table = Table { name: "store", keys: &["url", "url_env", "house_wallets"] };

/// Every table.
pub const TABLES: &[&Table] =
    &[&ROOT, &SERVER, &TLS, &LIMITS, &DOCK, &RATE_LIMIT, &SERVICE, &X402, &SIGNING, &STORE];

/// A number's key, its default and the range that it may be in.
#[derive(Debug)]
pub struct Bound {
    /// The key.
    pub key: &'static str,
    /// What holds where the file says nothing.
    pub default: u64,
    /// The least value.
    pub min: u64,
    /// The greatest value.
    pub max: u64,
    /// Why not more or less, to end a sentence with.
    pub why: &'static str,
}

/// The numbers of `[limits]`. Sources: `network.md` for times and connections, the dock contract for the body
/// and for Millwork's 10 s a call.
pub const BOUNDS: &[Bound] = &[
    Bound {
        key: "max_body_bytes",
        default: 1_048_576,
        min: 1024,
        max: 1_048_576,
        why: "since the probe needs room and Millwork expects a 413 above 1 MiB",
    },
    Bound { key: "handshake_ms", default: 4000, min: 1, max: 10_000, why: WITHIN_A_CALL },
    Bound { key: "header_ms", default: 5000, min: 1, max: 10_000, why: WITHIN_A_CALL },
    Bound {
        key: "idle_ms",
        default: 5000,
        min: 1,
        max: 300_000,
        why: "since an idle connection holds a slot, and Millwork opens a new one for nearly every call",
    },
    Bound { key: "body_timeout_ms", default: 5000, min: 1, max: 9000, why: WITHIN_A_CHECK },
    Bound { key: "check_timeout_ms", default: 8000, min: 1, max: 9000, why: WITHIN_A_CHECK },
    Bound {
        key: "check_steps",
        default: 0,
        min: 0,
        max: 10_000_000_000,
        why: "where 0 stands for the built-in budget, and check_timeout_ms ends a check in any case",
    },
    Bound {
        key: "max_connections",
        default: 10_000,
        min: 1,
        max: 1_000_000,
        why: "and below the limit of open files",
    },
    Bound {
        key: "max_connections_per_client",
        default: 1000,
        min: 1,
        max: 1_000_000,
        why: "and at most max_connections",
    },
    Bound {
        key: "drain_ms",
        default: 10_000,
        min: 0,
        max: 600_000,
        why: "where 0 cuts requests under way off at once",
    },
];

/// How long the facilitator may take.
pub const FACILITATOR_TIMES: [Bound; 2] = [
    Bound {
        key: "verify_timeout_ms",
        default: 10_000,
        min: 100,
        max: 60_000,
        why: "since the caller waits for it before the check is delivered",
    },
    Bound {
        key: "settle_timeout_ms",
        default: 30_000,
        min: 100,
        max: 60_000,
        why: "since an offer holds for 60 s",
    },
];

/// The numbers of a `rate_limit`; neither has a default of its own.
pub const RATES: [Bound; 2] = [rate("per_second"), rate("burst")];

const fn rate(key: &'static str) -> Bound {
    Bound {
        key,
        default: 1,
        min: 1,
        max: 1_000_000,
        why: "since 0 would refuse every call (rate_limit = \"off\" ends the limit)",
    }
}

const WITHIN_A_CALL: &str = "since Millwork gives a whole call 10 s";
const WITHIN_A_CHECK: &str = "since Millwork gives a whole call 10 s, counted at its side of the network";
