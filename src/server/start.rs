//! Starts a server and stops it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::TcpListener;
use tokio::sync::{Notify, Semaphore, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

use super::connection::Protocols;
use super::judge::Checks;
use super::load::Load;
use super::metrics::Metrics;
use super::reload::Reload;
use super::request_id::RequestIds;
use super::services::Backing;
use super::site::{DockTrouble, Site};
use super::tls::{self, Identity, TlsError};
use super::{Phase, Shared, accept, admin};
use crate::config::{Config, Limits};
use crate::corpus;
use crate::json::Document;
use crate::service::store::{self, Store, StoreError};
use crate::utc::Utc;

/// How often the store is asked what happened, at this replica and at others.
const FOLLOW_STORE_EVERY: Duration = Duration::from_secs(10);
/// Descriptors for all that is not a caller's connection: listeners, files, the admin listener.
const SPARE_DESCRIPTORS: u64 = 128;
/// The part of `drain_ms` in which a stopping server still accepts, so that whoever routes callers here
/// has time to see that it is not ready any more.
const LEAVE_PART: u32 = 5;

/// A server that serves.
pub struct Server {
    shared: Arc<Shared>,
    address: SocketAddr,
    admin_address: SocketAddr,
    phase: watch::Sender<Phase>,
    slots: Arc<Semaphore>,
    slot_count: u32,
    accepting: JoinHandle<()>,
    background: Vec<JoinHandle<()>>,
    drain: Duration,
}

/// Sockets that were opened before this process began, which then wait in no gap between two of them.
#[derive(Debug, Default)]
pub struct Inherited {
    /// For the docks and operations, instead of `server.listen`.
    pub docks: Option<std::net::TcpListener>,
    /// For the operator, instead of `server.admin_listen`.
    pub admin: Option<std::net::TcpListener>,
}

/// Why the server does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// An address cannot be listened at.
    #[error("{setting} = \"{address}\": {cause}")]
    Listen {
        /// The setting.
        setting: &'static str,
        /// Its value.
        address: SocketAddr,
        /// Why.
        cause: std::io::Error,
    },
    /// The certificate cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The store cannot be opened.
    #[error("[store]: {0}")]
    Store(#[from] StoreError),
    /// An engine does not pass the corpus of its criteria, which no installation should ever see.
    #[error("{0} does not pass its corpus, so it is not served; `millwork-dock corpus verify` says more")]
    Corpus(&'static str),
    /// The variable that `store.url_env` names is not set.
    #[error("store.url_env: the variable {0} is not set; put the store's URL there")]
    NoStoreUrl(String),
    /// Docks cannot be made.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Docks(Vec<DockTrouble>),
}

impl StartError {
    /// The configuration, or what it names, is at fault, rather than the machine.
    #[must_use]
    pub fn is_configuration(&self) -> bool {
        match self {
            StartError::Listen { .. }
            | StartError::Tls(TlsError::Random)
            | StartError::Store(_)
            | StartError::Corpus(_) => false,
            StartError::Tls(_) | StartError::Docks(_) | StartError::NoStoreUrl(_) => true,
        }
    }
}

/// How a server is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Lets whoever routes callers here notice first (SIGTERM).
    AfterNotice,
    /// Stops accepting at once (SIGINT, from a terminal).
    Now,
}

impl Server {
    /// Reads what `config` names, listens and serves; `file`, if given, is followed while it does.
    ///
    /// # Errors
    /// See [`StartError`]. Missing or bad keys are none: their docks answer 503, and a warning says so.
    pub async fn start(config: Config, file: Option<PathBuf>) -> Result<Server, StartError> {
        Server::start_at(config, file, Inherited::default()).await
    }

    /// The same on sockets that somebody else has opened, as far as there are any.
    ///
    /// # Errors
    /// As for [`Server::start`].
    pub async fn start_at(
        mut config: Config,
        file: Option<PathBuf>,
        inherited: Inherited,
    ) -> Result<Server, StartError> {
        tls::warm_up()?;
        config.limits.max_connections = within_descriptors(&config.limits);
        let reload = Reload::new(config.clone(), file);
        let metrics = Arc::new(Metrics::default());
        passes_corpora(&config)?;
        let backing = Backing::new(open_store(&config).await?);
        let built = Site::build(&config, &metrics, &backing, None).map_err(StartError::Docks)?;
        for warning in &built.warnings {
            tracing::warn!(%warning, "a dock needs attention");
        }
        let identity = Identity::load(&config.tls)?;
        if identity.is_expired() {
            tracing::error!(expired = %identity.expires(), "the certificate is expired: not ready");
        }
        let Inherited { docks, admin } = inherited;
        let listener = listen("server.listen", config.listen, docks).await?;
        let admin_listener = listen("server.admin_listen", config.admin_listen, admin).await?;
        let (address, admin_address) =
            (local(&listener, config.listen), local(&admin_listener, config.admin_listen));

        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let shared = Arc::new(Shared {
            site: ArcSwap::from_pointee(built.site),
            backing,
            tls: ArcSwap::from_pointee(identity),
            protocols: Protocols::new(),
            metrics,
            load: Arc::new(Load::new(config.limits.max_connections)),
            checks: Checks::new(cores),
            ids: RequestIds::default(),
            reload: Notify::new(),
        });
        let slot_count = u32::try_from(config.limits.max_connections).unwrap_or(u32::MAX);
        let slots = Arc::new(Semaphore::new(slot_count as usize));
        let (phase, phases) = watch::channel(Phase::Serve);
        let accepting = accept::accept(Arc::clone(&shared), listener, Arc::clone(&slots), phases.clone());
        let admin = admin::serve(Arc::clone(&shared), admin_listener, admin_address, phases);
        let background = vec![
            tokio::spawn(admin),
            tokio::spawn(reload.run(Arc::clone(&shared))),
            tokio::spawn(follow_store(Arc::clone(&shared))),
        ];
        Ok(Server {
            shared,
            address,
            admin_address,
            phase,
            slots,
            slot_count,
            accepting: tokio::spawn(accepting),
            background,
            drain: config.limits.drain,
        })
    }

    /// Where the docks answer.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where health, readiness and metrics are.
    #[must_use]
    pub fn admin_address(&self) -> SocketAddr {
        self.admin_address
    }

    /// When the certificate in use expires.
    #[must_use]
    pub fn certificate_expires(&self) -> Utc {
        self.shared.tls.load().expires()
    }

    /// Looks at every file at once instead of within two seconds (SIGHUP).
    pub fn reload(&self) {
        self.shared.reload.notify_one();
    }

    /// Stops: readiness falls, then nothing is accepted, then requests under way end, and at `drain_ms` or
    /// when `at_once` completes everything is dropped. True if no request had to be.
    pub async fn stop(self, manner: Stop, at_once: impl Future<Output = ()>) -> bool {
        let deadline = Instant::now() + self.drain;
        // Every task holds a receiver until it ends: a send without one has nobody to tell.
        let _ = self.phase.send(Phase::Leave);
        let drained = async {
            if manner == Stop::AfterNotice {
                tokio::time::sleep(self.drain / LEAVE_PART).await;
            }
            let _ = self.phase.send(Phase::Drain);
            // The accepting task holds a slot until it ends.
            let _ = self.slots.acquire_many(self.slot_count).await;
            // A payment goes on without its caller.
            self.shared.backing.drain().await;
        };
        let drained = tokio::select! {
            () = drained => true,
            () = sleep_until(deadline) => false,
            () = at_once => false,
        };
        let _ = self.phase.send(Phase::Abort);
        let _ = self.accepting.await;
        let _ = self.slots.acquire_many(self.slot_count).await;
        for task in self.background {
            task.abort();
        }
        drained
    }
}

/// An operation serves only while its engine passes its corpus whole (payments.md).
fn passes_corpora(config: &Config) -> Result<(), StartError> {
    for op in config.services.iter().map(|service| service.op) {
        let verified =
            Document::parse(op.corpus().into()).ok().and_then(|corpus| corpus::verify(&corpus).ok());
        if !verified.is_some_and(|verified| verified.holds()) {
            return Err(StartError::Corpus(op.name()));
        }
    }
    Ok(())
}

/// The store, if an operation is paid.
async fn open_store(config: &Config) -> Result<Option<Arc<dyn Store>>, StartError> {
    if !config.services.iter().any(|service| service.is_paid) {
        return Ok(None);
    }
    let url = config.store.url().map_err(StartError::NoStoreUrl)?;
    Ok(Some(store::open(&url).await?))
}

/// Looks after the store, and at what happened there, for ever.
async fn follow_store(server: Arc<Shared>) {
    let Some(store) = &server.backing.store else { return };
    loop {
        let now = Utc::now();
        let services = server.site.load().services().to_vec();
        for service in services.iter().filter(|service| service.payment.is_some()) {
            if let Err(error) = service.state.wires.refresh(&**store, now).await {
                tracing::error!(op = service.op.name(), %error, "the tripwires could not be looked at");
            }
        }
        if let Err(error) = store.purge(now).await {
            tracing::error!(%error, "the store could not be cleared of what is over");
        }
        tokio::time::sleep(FOLLOW_STORE_EVERY).await;
    }
}

async fn listen(
    setting: &'static str,
    address: SocketAddr,
    inherited: Option<std::net::TcpListener>,
) -> Result<TcpListener, StartError> {
    let listener = match inherited {
        Some(listener) => listener.set_nonblocking(true).and_then(|()| TcpListener::from_std(listener)),
        None => TcpListener::bind(address).await,
    };
    listener.map_err(|cause| StartError::Listen { setting, address, cause })
}

/// The address with the port that the system chose for port 0.
fn local(listener: &TcpListener, asked: SocketAddr) -> SocketAddr {
    listener.local_addr().unwrap_or(asked)
}

/// As many connections as are asked for and there are descriptors; the soft limit is raised if need be.
fn within_descriptors(limits: &Limits) -> usize {
    let wanted = u64::try_from(limits.max_connections).unwrap_or(u64::MAX).saturating_add(SPARE_DESCRIPTORS);
    let now = getrlimit(Resource::Nofile);
    let (soft, hard) = (now.current.unwrap_or(u64::MAX), now.maximum.unwrap_or(u64::MAX));
    let mut allowed = soft;
    if soft < wanted {
        let raised = wanted.min(hard);
        if setrlimit(Resource::Nofile, Rlimit { current: Some(raised), maximum: now.maximum }).is_ok() {
            allowed = raised;
        }
    }
    if allowed >= wanted {
        return limits.max_connections;
    }
    let connections = usize::try_from(allowed.saturating_sub(SPARE_DESCRIPTORS)).unwrap_or(usize::MAX).max(1);
    tracing::warn!(descriptors = allowed, connections, "too few file descriptors for limits.max_connections");
    connections
}
