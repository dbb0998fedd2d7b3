//! Takes changed files over while serving: certificates, keys, schemas and the configuration.
//!
//! One poll reads every file and compares. What is valid replaces the old as a whole, behind one pointer;
//! what is not leaves the old in place and says so, except keys: a key that is gone is refused.

use std::path::PathBuf;
use std::sync::Arc;

use super::site::{MAX_SCHEMA_BYTES, MAX_TOOLS_BYTES, Site};
use super::tls::{Identity, MAX_PEM_BYTES};
use super::{Shared, access};
use crate::config::{Access, Config, KeySource, MAX_FILE_BYTES, Tls};
use crate::service::signing::MAX_KEY_BYTES;
use crate::utc::Utc;
use crate::watch::{EVERY, Watched};

/// The files under watch.
pub(super) struct Reload {
    file: Option<(PathBuf, Watched)>,
    config: Config,
    tls: Vec<Watched>,
    site: Vec<Watched>,
    /// The day that the certificate's end was warned of last.
    warned: String,
}

/// How long before its end a certificate is warned of.
const WARN_BEFORE: u64 = 30 * 24 * 3600;

impl Reload {
    /// Watches from now on: a change after this call is noticed, even if it comes before the files are
    /// read for use.
    pub(super) fn new(config: Config, file: Option<PathBuf>) -> Self {
        let file = file.map(|file| {
            let watched = Watched::new(&file, MAX_FILE_BYTES);
            (file, watched)
        });
        let mut reload = Reload {
            file,
            tls: tls_files(&config.tls),
            site: site_files(&config),
            config,
            warned: String::new(),
        };
        if let Some((_, watched)) = &mut reload.file {
            is_new(watched);
        }
        any_is_new(&mut reload.tls);
        any_is_new(&mut reload.site);
        reload
    }

    /// Polls for ever.
    pub(super) async fn run(mut self, server: Arc<Shared>) {
        loop {
            tokio::select! {
                () = tokio::time::sleep(EVERY) => {}
                () = server.reload.notified() => {}
            }
            let server = Arc::clone(&server);
            let polled = tokio::task::spawn_blocking(move || {
                self.poll(&server);
                self
            });
            match polled.await {
                Ok(reload) => self = reload,
                // The runtime is going down, or a poll panicked: the hook has said where.
                Err(_) => return,
            }
        }
    }

    fn poll(&mut self, server: &Shared) {
        self.take_configuration(server);
        if any_is_new(&mut self.tls) {
            self.take_certificate(server);
        }
        if any_is_new(&mut self.site) {
            take_site(&self.config, server);
        }
        self.warn_of_expiry(server);
    }

    /// Once a day.
    fn warn_of_expiry(&mut self, server: &Shared) {
        let (now, expires) = (Utc::now(), server.tls.load().expires());
        if expires.unix().saturating_sub(now.unix()) < WARN_BEFORE && self.warned != now.day() {
            self.warned = now.day();
            tracing::warn!(%expires, "the certificate expires soon; put the new files where the old ones are");
        }
    }

    fn take_configuration(&mut self, server: &Shared) {
        let Some((file, watched)) = &mut self.file else { return };
        if !is_new(watched) {
            return;
        }
        match Config::load(file) {
            Ok(new) => {
                for what in needs_restart(&self.config, &new) {
                    tracing::warn!(what, "changed in the configuration; it takes a restart to hold");
                }
                // Watched before they are read, so that no change in between is missed.
                let mut files = site_files(&new);
                any_is_new(&mut files);
                // A configuration with a broken dock changes nothing.
                if take_site(&new, server) {
                    let kept = self.config.clone();
                    let Config { listen, admin_listen, tls, store, .. } = kept;
                    self.config = Config { listen, admin_listen, tls, store, ..new };
                    self.site = files;
                }
            }
            Err(mistakes) => {
                tracing::error!(%mistakes, "the changed configuration is not taken over");
                server.metrics.reload_failed();
            }
        }
    }

    fn take_certificate(&self, server: &Shared) {
        match Identity::replacement(&self.config.tls) {
            Ok(identity) => {
                tracing::info!(expires = %identity.expires(), "took the changed certificate over");
                server.tls.store(Arc::new(identity));
            }
            Err(error) => {
                tracing::error!(%error, "the changed certificate is not taken over; the old one stays");
                server.metrics.reload_failed();
            }
        }
    }
}

/// Makes the docks of `config` those that are served; whether they could be made.
fn take_site(config: &Config, server: &Shared) -> bool {
    match Site::build(config, &server.metrics, &server.backing, Some(&server.site.load())) {
        Ok(built) => {
            for warning in &built.warnings {
                tracing::warn!(%warning, "a dock needs attention");
            }
            server.site.store(Arc::new(built.site));
            tracing::info!("took changed docks over");
            true
        }
        Err(troubles) => {
            for trouble in troubles {
                tracing::error!(%trouble, "changed docks are not taken over");
            }
            server.metrics.reload_failed();
            false
        }
    }
}

fn tls_files(tls: &Tls) -> Vec<Watched> {
    match tls {
        Tls::Files { cert, key } => [cert, key].map(|path| Watched::new(path, MAX_PEM_BYTES)).into(),
        Tls::SelfSigned { .. } => Vec::new(),
    }
}

fn site_files(config: &Config) -> Vec<Watched> {
    let keys = config.docks.iter().filter_map(|dock| match &dock.access {
        Access::Managed(KeySource::File(path)) => Some(Watched::new(path, access::MAX_SOURCE_BYTES)),
        _ => None,
    });
    let schemas = config.docks.iter().filter_map(|dock| dock.check.schema());
    let schemas = schemas.map(|schema| Watched::new(schema, MAX_SCHEMA_BYTES));
    let tools = config.docks.iter().filter_map(|dock| dock.check.tools());
    let tools = tools.map(|tools| Watched::new(&tools.file, MAX_TOOLS_BYTES));
    let signing = config.signing.iter().flat_map(|signing| signing.retired.iter().chain([&signing.key]));
    let signing = signing.map(|file| Watched::new(file, MAX_KEY_BYTES));
    keys.chain(schemas).chain(tools).chain(signing).collect()
}

/// The file has news: other bytes, or it has begun or ceased to be readable.
fn is_new(watched: &mut Watched) -> bool {
    !matches!(watched.changed(), Ok(None))
}

/// Asks every file: one that is not asked would have its news later.
fn any_is_new(watched: &mut [Watched]) -> bool {
    watched.iter_mut().fold(false, |any, watched| is_new(watched) | any)
}

/// The settings whose change a running server cannot follow.
fn needs_restart(old: &Config, new: &Config) -> Vec<&'static str> {
    let changed = [
        ("server.listen", old.listen != new.listen),
        ("server.admin_listen", old.admin_listen != new.admin_listen),
        ("tls", old.tls != new.tls),
        ("store", old.store != new.store),
        ("limits.max_connections", old.limits.max_connections != new.limits.max_connections),
    ];
    changed.into_iter().filter_map(|(what, changed)| changed.then_some(what)).collect()
}
