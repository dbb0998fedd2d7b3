//! The docks as they are served now: configuration plus everything it names, read and compiled.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use hyper::HeaderMap;

use super::access::Keys;
use super::metrics::{DockMetrics, Metrics};
use super::rate::Rate;
use super::watch;
use crate::argument::Schema;
use crate::config::{Access, Check, Config, DockConfig, Limits, Source};
use crate::dock::{self, Dock};
use crate::fault::Fault;
use crate::json::Document;
use crate::profile::tokens::Tokenizer;

/// The longest schema file, in bytes.
pub(super) const MAX_SCHEMA_BYTES: u64 = 1024 * 1024;

/// Everything that a request looks up. Immutable: a reload makes another.
pub(super) struct Site {
    docks: HashMap<Box<str>, Arc<SiteDock>>,
    pub(super) limits: Limits,
}

/// One dock.
pub(super) struct SiteDock {
    pub(super) path: Box<str>,
    pub(super) access: Gate,
    pub(super) rate: Option<Arc<Rate>>,
    pub(super) judge: Arc<Dock>,
    pub(super) metrics: Arc<DockMetrics>,
    config: DockConfig,
}

/// Who may pass.
pub(super) enum Gate {
    Public,
    /// The accepted keys, or why there are none: then nobody passes.
    Managed(Result<Box<Keys>, Fault>),
}

/// Why a dock cannot be made.
#[derive(Debug, thiserror::Error)]
#[error("dock {path}: {what}")]
pub struct DockTrouble {
    path: String,
    what: String,
}

/// A site, and what the operator should know about it.
pub(super) struct Built {
    pub(super) site: Site,
    pub(super) warnings: Vec<DockTrouble>,
}

impl DockTrouble {
    /// What is wrong, without the dock's path.
    #[must_use]
    pub fn what(&self) -> &str {
        &self.what
    }
}

impl Gate {
    /// Lets a request pass, or says why not.
    pub(super) fn admit(&self, headers: &HeaderMap) -> Result<(), Fault> {
        match self {
            Gate::Public => Ok(()),
            Gate::Managed(Ok(keys)) => keys.admit(headers),
            Gate::Managed(Err(fault)) => Err(*fault),
        }
    }
}

impl Site {
    /// Reads and compiles all that `config` names. A dock whose schema has become unusable keeps the one it
    /// had `before`, with a warning; keys never outlive their source.
    ///
    /// # Errors
    /// Every dock that cannot be made.
    pub(super) fn build(
        config: &Config,
        metrics: &Metrics,
        before: Option<&Site>,
    ) -> Result<Built, Vec<DockTrouble>> {
        let (mut docks, mut warnings, mut troubles) = (HashMap::new(), Vec::new(), Vec::new());
        for dock in &config.docks {
            let old = before.and_then(|site| site.dock(&dock.path));
            let judge = match (load_dock(dock), old.filter(|old| old.config.check == dock.check)) {
                (Ok(judge), _) => Arc::new(judge),
                (Err(trouble), Some(old)) => {
                    warnings.push(trouble);
                    Arc::clone(&old.judge)
                }
                (Err(trouble), None) => {
                    troubles.push(trouble);
                    continue;
                }
            };
            let same_rate = old.filter(|old| old.config.rate_limit == dock.rate_limit);
            let rate = match same_rate {
                Some(old) => old.rate.clone(),
                None => dock.rate_limit.map(|limit| Arc::new(Rate::new(limit))),
            };
            let made = SiteDock {
                path: dock.path.as_str().into(),
                access: gate(dock, &mut warnings),
                rate,
                judge,
                metrics: metrics.dock(&dock.path),
                config: dock.clone(),
            };
            docks.insert(made.path.clone(), Arc::new(made));
        }
        if troubles.is_empty() {
            Ok(Built { site: Site { docks, limits: config.limits.clone() }, warnings })
        } else {
            Err(troubles)
        }
    }

    /// The dock at exactly this path.
    pub(super) fn dock(&self, path: &str) -> Option<&Arc<SiteDock>> {
        self.docks.get(path)
    }

    /// The docks that answer every call with 503, with the code.
    pub(super) fn broken(&self) -> impl Iterator<Item = (&str, Fault)> {
        self.docks.values().filter_map(|dock| match &dock.access {
            Gate::Managed(Err(fault)) => Some((&*dock.path, *fault)),
            _ => None,
        })
    }

    /// How many docks there are.
    pub(super) fn len(&self) -> usize {
        self.docks.len()
    }
}

/// Reads and compiles one dock, as `serve` and `evaluate` both do.
///
/// # Errors
/// A schema that cannot be read or is not covered, or an unknown anchor in `require`.
pub fn load_dock(config: &DockConfig) -> Result<Dock, DockTrouble> {
    let trouble = |what: String| DockTrouble { path: config.path.clone(), what };
    let check = match &config.check {
        Check::Argument(Source::CheckRequest) => dock::Check::Argument(dock::Source::CheckRequest),
        Check::Argument(Source::Arguments { schema }) => {
            let compiled = read_schema(schema)
                .map_err(|what| trouble(format!("schema {}, which {what}", schema.display())))?;
            dock::Check::Argument(dock::Source::Arguments(compiled))
        }
        Check::Profile => {
            dock::Check::Profile(Tokenizer::shared().map_err(|wrong| trouble(wrong.to_string()))?)
        }
    };
    Dock::new(check, config.anchors, config.require.as_deref())
        .map_err(|unknown| trouble(unknown.to_string()))
}

fn read_schema(file: &Path) -> Result<Schema<'static>, String> {
    let text =
        watch::read_bounded(file, MAX_SCHEMA_BYTES).map_err(|cause| format!("cannot be read: {cause}"))?;
    let document = Arc::new(Document::parse(text).map_err(|cause| format!("is not JSON: {cause}"))?);
    Schema::owned(Arc::clone(&document)).map_err(|refusal| {
        let keyword = refusal.keyword.map_or(String::new(), |keyword| format!(" (keyword {keyword})"));
        format!("the argument check refuses: {refusal}{keyword} at #{}", refusal.schema_path(document.root()))
    })
}

fn gate(dock: &DockConfig, warnings: &mut Vec<DockTrouble>) -> Gate {
    let Access::Managed(source) = &dock.access else { return Gate::Public };
    Gate::Managed(source.inspect().map(Box::new).map_err(|trouble| {
        let fault = Fault::from(trouble.clone());
        let what = format!("{trouble}; until then every call is answered 503 {fault}");
        warnings.push(DockTrouble { path: dock.path.clone(), what });
        fault
    }))
}
