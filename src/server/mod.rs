//! The server: listens, serves, and stops without dropping a request.
//!
//! `accept` admits connections, `connection` gives each its deadlines, `route` answers one request; most of
//! the other modules are the steps of that one function.

mod accept;
pub mod access;
mod admin;
mod body;
mod certificate;
mod connection;
mod head;
mod judge;
mod load;
mod log;
mod meter;
mod metrics;
mod operation;
mod peer;
mod rate;
mod reload;
mod reply;
mod request_id;
mod route;
mod self_signed;
mod services;
mod site;
mod start;
mod tls;

use std::sync::Arc;

use arc_swap::ArcSwap;

pub use self::log::{LogError, LogFormat, Logs};
pub use self::site::{DockTrouble, load_dock};
pub use self::start::{Inherited, Server, StartError, Stop};
pub use self::tls::TlsError;
pub use crate::utc::Utc;

/// Where the server is in its life. Each phase follows the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    /// Serves.
    Serve,
    /// Still serves, but says that it is not ready, so that no more callers are sent here.
    Leave,
    /// Accepts no connection; those open end after the requests under way.
    Drain,
    /// Drops everything.
    Abort,
}

/// What all connections share.
struct Shared {
    /// The docks and limits; replaced as a whole by a reload, loaded once by each request.
    site: ArcSwap<site::Site>,
    backing: services::Backing,
    tls: ArcSwap<tls::Identity>,
    protocols: connection::Protocols,
    metrics: Arc<metrics::Metrics>,
    load: Arc<load::Load>,
    checks: judge::Checks,
    ids: request_id::RequestIds,
    /// Asks for a look at the files at once.
    reload: tokio::sync::Notify,
}
