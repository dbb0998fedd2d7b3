//! The docks as they are served now: configuration plus everything it names, read and compiled.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hyper::HeaderMap;

use super::access::Keys;
use super::metrics::{DockMetrics, Metrics};
use super::operation::Operation;
use super::rate::Rate;
use super::services::{Backing, Services};
use crate::argument::Schema;
use crate::config::{Access, Check, Config, DockConfig, Limits, SchemaSource, Source, Tools};
use crate::dock::tool_call::Grader;
use crate::dock::{self, Dock, Engines, Toolbox};
use crate::fault::Fault;
use crate::json::Document;
use crate::json_schema;
use crate::profile::tokens::Tokenizer;
use crate::service::Service;
use crate::watch;

/// The longest schema file, in bytes.
pub(super) const MAX_SCHEMA_BYTES: u64 = 1024 * 1024;

/// The longest file of tools, in bytes: the largest catalogue known has 3.6 MB.
pub(super) const MAX_TOOLS_BYTES: u64 = 16 * 1024 * 1024;

/// Everything that a request looks up. Immutable: a reload makes another.
pub(super) struct Site {
    docks: HashMap<Box<str>, Arc<SiteDock>>,
    services: Services,
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
    /// The accepted keys with their counters, or why there are none: then nobody passes.
    Managed(Result<Box<Accepted>, Fault>),
}

/// Keys, and how many requests came with each.
pub(super) struct Accepted {
    keys: Keys,
    uses: Vec<Arc<AtomicU64>>,
}

/// Why a dock cannot be made.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {what}")]
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
    fn new(dock: &DockConfig, what: String) -> DockTrouble {
        DockTrouble { path: format!("dock {}", dock.path), what }
    }

    /// About the published operation under `base`.
    pub(super) fn of_service(base: &str, what: String) -> DockTrouble {
        DockTrouble { path: format!("service {base}"), what }
    }

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
            Gate::Managed(Ok(accepted)) => {
                let place = accepted.keys.admit(headers)?;
                if let Some(uses) = accepted.uses.get(place) {
                    uses.fetch_add(1, Ordering::Relaxed);
                }
                Ok(())
            }
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
        backing: &Backing,
        before: Option<&Site>,
    ) -> Result<Built, Vec<DockTrouble>> {
        let (mut docks, mut warnings, mut troubles) = (HashMap::new(), Vec::new(), Vec::new());
        for dock in &config.docks {
            let old = before.and_then(|site| site.dock(&dock.path));
            let judge = match (load_dock(dock), old.filter(|old| old.config.check == dock.check)) {
                (Ok(judge), _) => {
                    warnings.extend(tools_warning(&judge).map(|what| DockTrouble::new(dock, what)));
                    Arc::new(judge)
                }
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
                access: gate(dock, metrics, &mut warnings),
                rate,
                judge,
                metrics: metrics.dock(&dock.path),
                config: dock.clone(),
            };
            docks.insert(made.path.clone(), Arc::new(made));
        }
        match Services::build(config, backing, before.map(|site| &site.services)) {
            Ok(services) if troubles.is_empty() => {
                Ok(Built { site: Site { docks, services, limits: config.limits.clone() }, warnings })
            }
            Ok(_) => Err(troubles),
            Err(trouble) => {
                troubles.push(trouble);
                Err(troubles)
            }
        }
    }

    /// The dock at exactly this path.
    pub(super) fn dock(&self, path: &str) -> Option<&Arc<SiteDock>> {
        self.docks.get(path)
    }

    /// The endpoint of a published operation at exactly this path.
    pub(super) fn operation(&self, path: &str) -> Option<&Operation> {
        self.services.at(path)
    }

    /// The published operations.
    pub(super) fn services(&self) -> &[Arc<Service>] {
        self.services.all()
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
    let trouble = |what: String| DockTrouble::new(config, what);
    let pinned = |schema: &Path, what: String| trouble(format!("schema {}, which {what}", schema.display()));
    let toolbox = |tools: &Tools, engines: Engines| {
        read_tools(tools, engines)
            .map_err(|what| trouble(format!("tools {}, which {what}", tools.file.display())))
    };
    let check = match &config.check {
        Check::Argument(Source::CheckRequest) => dock::Check::Argument(dock::Source::CheckRequest),
        Check::Argument(Source::Arguments { schema }) => {
            let compiled = read_schema(schema).map_err(|what| pinned(schema, what))?;
            dock::Check::Argument(dock::Source::Arguments(compiled))
        }
        Check::Argument(Source::ToolCall { tools, or_json_schema }) => {
            let engines = if *or_json_schema { Engines::CriteriaOrJsonSchema } else { Engines::Criteria };
            dock::Check::Argument(dock::Source::ToolCall(toolbox(tools, engines)?))
        }
        Check::JsonSchema(SchemaSource::Arguments { schema }) => {
            let document = read_json(schema, MAX_SCHEMA_BYTES).map_err(|what| pinned(schema, what))?;
            let compiled = json_schema::Schema::compile(document.root())
                .map_err(|unusable| pinned(schema, format!("JSON Schema cannot use: {unusable}")))?;
            dock::Check::JsonSchema(dock::SchemaSource::Instance(compiled.into()))
        }
        Check::JsonSchema(SchemaSource::ToolCall(tools)) => {
            dock::Check::JsonSchema(dock::SchemaSource::ToolCall(toolbox(tools, Engines::JsonSchema)?))
        }
        Check::Profile => {
            dock::Check::Profile(Tokenizer::shared().map_err(|wrong| trouble(wrong.to_string()))?)
        }
    };
    Dock::new(check, config.anchors, config.require.as_deref())
        .map_err(|unknown| trouble(unknown.to_string()))
}

fn read_schema(file: &Path) -> Result<Schema<'static>, String> {
    let document = read_json(file, MAX_SCHEMA_BYTES)?;
    Schema::owned(Arc::clone(&document))
        .map_err(|refusal| format!("the argument check refuses: {}", refusal.told(document.root())))
}

/// A catalogue of which at least one tool can be graded; all of them if `strict`.
fn read_tools(tools: &Tools, engines: Engines) -> Result<Toolbox, String> {
    let document = read_json(&tools.file, MAX_TOOLS_BYTES)?;
    let toolbox = Toolbox::read(&document, tools.form, engines).map_err(|error| error.to_string())?;
    let (all, broken) = (toolbox.tools().count(), ungradable(&toolbox));
    if broken.len() == all || tools.strict && !broken.is_empty() {
        let why = if tools.strict { "strict = true" } else { "none is left" };
        return Err(format!("holds tools that cannot be graded, and {why}: {}", broken.join("; ")));
    }
    Ok(toolbox)
}

/// What the operator should know about the tools of a dock.
fn tools_warning(dock: &Dock) -> Option<String> {
    let toolbox = dock.check().toolbox()?;
    let broken = ungradable(toolbox);
    (!broken.is_empty()).then(|| {
        format!(
            "calls of {} of {} tools are answered 500 {}: {}",
            broken.len(),
            toolbox.tools().count(),
            Fault::ToolNotGradable,
            broken.join("; ")
        )
    })
}

/// The tools of a catalogue that nothing grades, and why: a call of one is answered 500.
fn ungradable(toolbox: &Toolbox) -> Vec<String> {
    let broken = toolbox.tools().filter_map(|(name, grader)| match grader {
        Grader::Criteria(_) | Grader::JsonSchema(_) => None,
        Grader::Nothing(why) => Some(format!("{}: {why}", String::from_utf8_lossy(name))),
    });
    broken.collect()
}

fn read_json(file: &Path, most: u64) -> Result<Arc<Document>, String> {
    let text = watch::read_bounded(file, most).map_err(|cause| format!("cannot be read: {cause}"))?;
    Ok(Arc::new(Document::parse(text).map_err(|cause| format!("is not JSON: {cause}"))?))
}

fn gate(dock: &DockConfig, metrics: &Metrics, warnings: &mut Vec<DockTrouble>) -> Gate {
    let Access::Managed(source) = &dock.access else { return Gate::Public };
    let accepted = source.inspect().map(|keys| {
        let uses = keys.labels().iter().map(|label| metrics.key(&dock.path, label)).collect();
        Box::new(Accepted { keys, uses })
    });
    Gate::Managed(accepted.map_err(|trouble| {
        let fault = Fault::from(trouble.clone());
        let what = format!("{trouble}; until then every call is answered 503 {fault}");
        warnings.push(DockTrouble::new(dock, what));
        fault
    }))
}
