//! The configuration file: TOML text → [`Config`], or every mistake in it at once.
//!
//! Plain typed data with every default filled in, and nothing else: the environment, keys, schemas and
//! certificates that it names are read elsewhere. `contract/dock.schema.json` describes the same file for
//! editors; a test keeps the two, and `deploy/dock.toml`, in step.

mod dock;
pub mod keys;
mod load;
mod mistake;
mod rate;
mod read;
mod service;

pub use load::MAX_FILE_BYTES;
pub use mistake::{Mistake, Mistakes};
pub use service::{ENDPOINTS, JWKS_PATH};

pub use crate::dock::AnchorMode;
pub use crate::service::Op;
pub use crate::service::x402::Requirements;
pub use crate::tools::Form;

use crate::dock::anchors::Table;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How every dock key made by `key access new` begins, so that people and secret scanners know one.
pub const KEY_PREFIX: &str = "mwdock_";

/// A whole configuration, valid in itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// `server.listen`: where the docks answer, over TLS.
    pub listen: SocketAddr,
    /// `server.admin_listen`: health, readiness and metrics, plain HTTP.
    pub admin_listen: SocketAddr,
    /// Where the certificate comes from.
    pub tls: Tls,
    /// Every bound.
    pub limits: Limits,
    /// The docks, in the order of the file; no path twice, and at least one unless there is a service.
    pub docks: Vec<DockConfig>,
    /// The published operations, each at most once.
    pub services: Vec<ServiceConfig>,
    /// The keys of reports; there if a service is.
    pub signing: Option<SigningConfig>,
    /// How checks are paid; there if a service asks for payment.
    pub x402: Option<Requirements>,
    /// Where allowances and the ledger are.
    pub store: StoreConfig,
}

/// The one source of the certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tls {
    /// PEM files: the chain, leaf first, and its private key.
    Files {
        /// `tls.cert`.
        cert: PathBuf,
        /// `tls.key`.
        key: PathBuf,
    },
    /// A certificate made at start, for the quickstart and for tests.
    SelfSigned {
        /// `tls.self_signed`: DNS names and IP addresses; at least one.
        names: Vec<String>,
        /// `tls.self_signed_out`: where to write the certificate for clients to trust.
        out: Option<PathBuf>,
    },
}

/// Every bound of the server (`[limits]`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// `max_body_bytes`: a longer body is 413.
    pub max_body_bytes: usize,
    /// `handshake_ms`: the whole TLS handshake.
    pub handshake: Duration,
    /// `header_ms`: one request's head, from its first byte.
    pub header: Duration,
    /// `idle_ms`: a connection between two requests.
    pub idle: Duration,
    /// `body_timeout_ms`: the whole body, from the acceptance of the request; then 408.
    pub body_timeout: Duration,
    /// `check_timeout_ms`: everything up to the verdict, counted from the acceptance of the request and so
    /// including the body; then 504.
    pub check_timeout: Duration,
    /// `check_steps`: the steps of one check; 0 in the file has become [`crate::budget::DEFAULT_STEPS`].
    pub check_steps: u64,
    /// `max_connections`: open connections in all.
    pub max_connections: usize,
    /// `max_connections_per_client`: open connections of one address (IPv6: one /64).
    pub max_connections_per_client: usize,
    /// `drain_ms`: how long a stopping server waits for requests under way.
    pub drain: Duration,
}

/// One `[[dock]]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DockConfig {
    /// The URL path, matched byte for byte.
    pub path: String,
    /// Who may call.
    pub access: Access,
    /// What is judged, and by what.
    pub check: Check,
    /// The anchors that a correct candidate holds beside the base anchors; `None`: the check's default.
    pub require: Option<Vec<String>>,
    /// How detailed the anchors are.
    pub anchors: AnchorMode,
    /// Requests per client address; `None`: not limited.
    pub rate_limit: Option<RateLimit>,
}

/// Who may call a dock. There is no default: a dock is never public by omission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// Anyone.
    Public,
    /// Whoever sends one of the keys as `Authorization: Bearer <key>`.
    Managed(KeySource),
}

/// Where a managed dock's keys are, never the keys themselves.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum KeySource {
    /// `keys_env`: the name of an environment variable.
    Env(String),
    /// `keys_file`: a file, re-read when it changes.
    File(PathBuf),
}

/// The check of a dock and where its input comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Check {
    /// `tool-argument/v1`.
    Argument(Source),
    /// `json-schema`.
    JsonSchema(SchemaSource),
    /// `token-efficiency/v1`: the candidate is a tool catalogue.
    Profile,
}

impl Check {
    /// The catalogue of tools, if there is one.
    #[must_use]
    pub fn tools(&self) -> Option<&Tools> {
        match self {
            Check::Argument(Source::ToolCall { tools, .. })
            | Check::JsonSchema(SchemaSource::ToolCall(tools)) => Some(tools),
            _ => None,
        }
    }

    /// The file of the pinned schema, if there is one.
    #[must_use]
    pub fn schema(&self) -> Option<&Path> {
        match self {
            Check::Argument(Source::Arguments { schema })
            | Check::JsonSchema(SchemaSource::Arguments { schema }) => Some(schema),
            _ => None,
        }
    }

    /// The anchors that `require` may name.
    #[must_use]
    pub fn anchors(&self) -> &'static Table {
        match self {
            Check::Argument(Source::ToolCall { .. }) => &crate::dock::tool_call::ANCHORS,
            Check::Argument(_) => &crate::dock::argument::ANCHORS,
            Check::JsonSchema(SchemaSource::Arguments { .. }) => &crate::dock::json_schema::ANCHORS,
            Check::JsonSchema(SchemaSource::ToolCall(_)) => &crate::dock::json_schema::CALL_ANCHORS,
            Check::Profile => &crate::dock::profile::ANCHORS,
        }
    }
}

/// What a candidate of the argument check is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// `arguments`: the arguments themselves, judged against one pinned schema.
    Arguments {
        /// `schema`: the file that holds the JSON Schema.
        schema: PathBuf,
    },
    /// `tool_call`: calls of the tools of one pinned catalogue.
    ToolCall {
        /// The catalogue.
        tools: Tools,
        /// `uncovered = "json-schema"`: JSON Schema grades the tools whose schemas the criteria refuse.
        or_json_schema: bool,
    },
    /// `check_request`: a published check body, which brings its own schema.
    CheckRequest,
}

/// What a candidate of the check `json-schema` is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchemaSource {
    /// `arguments`: a value of any type, against one pinned schema.
    Arguments {
        /// `schema`: the file that holds the JSON Schema.
        schema: PathBuf,
    },
    /// `tool_call`: calls of the tools of one pinned catalogue.
    ToolCall(Tools),
}

/// A catalogue of tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tools {
    /// `tools`: the file that holds it.
    pub file: PathBuf,
    /// `format`: its form; `None`: found out.
    pub form: Option<Form>,
    /// `strict`: a tool that cannot be graded keeps the dock from starting.
    pub strict: bool,
}

/// `rate_limit`: a token bucket per client address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimit {
    /// Requests a second, sustained.
    pub per_second: NonZeroU32,
    /// Requests at once.
    pub burst: NonZeroU32,
}

/// One `[[service]]`: a published operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceConfig {
    /// Which one.
    pub op: Op,
    /// `base`: the URL path that its endpoints are under, without a slash at its end.
    pub base: String,
    /// Whether a check is paid by x402; otherwise it is free and unmetered.
    pub is_paid: bool,
    /// Requests per client address; `None`: not limited.
    pub rate_limit: Option<RateLimit>,
    /// `acknowledged`: tripped wires, as `/readyz` names them, that no longer stop the operation.
    pub acknowledged: Vec<String>,
}

/// `[signing]`: the keys of reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SigningConfig {
    /// The key that signs.
    pub key: PathBuf,
    /// Keys that signed before, or their public halves; they stay in the published set.
    pub retired: Vec<PathBuf>,
}

/// `[store]`.
#[derive(Clone, PartialEq, Eq)]
pub struct StoreConfig {
    /// `sqlite:PATH`, with the path made absolute or relative to the process, or `postgres://…`, or the variable
    /// that holds such a text.
    pub url: StoreUrl,
    /// The operator's own wallets, whose payments have the house flag.
    pub house_wallets: Vec<String>,
}

impl StoreConfig {
    /// The URL, wherever it is.
    ///
    /// # Errors
    /// The name of the variable that is not set, or not text.
    pub fn url(&self) -> Result<String, String> {
        match &self.url {
            StoreUrl::Text(url) => Ok(url.clone()),
            StoreUrl::Env(name) => std::env::var(name).map_err(|_| name.clone()),
        }
    }
}

/// Where the store is.
#[derive(Clone, PartialEq, Eq)]
pub enum StoreUrl {
    /// Written out.
    Text(String),
    /// The name of an environment variable: a URL may hold a password.
    Env(String),
}

/// A URL may hold a password.
impl std::fmt::Debug for StoreConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StoreConfig(…)")
    }
}
