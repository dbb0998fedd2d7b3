//! `config`: looks at a configuration without starting anything.

use super::{Exit, put, tell};
use clap::Subcommand;
use millwork_dock::config::{
    Access, AnchorMode, Check, Config, DockConfig, KeySource, Mistake, Mistakes, SchemaSource, Source, Tls,
};
use millwork_dock::dock::tool_call::Grader;
use millwork_dock::server::load_dock;
use millwork_dock::service::signing::Signing;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// What `config` can do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Tell every mistake in a configuration at once, or what it sets up
    Check {
        /// The configuration, TOML
        file: PathBuf,
    },
}

/// Does what `command` says.
pub(crate) fn run(command: &Command) -> Exit {
    let Command::Check { file } = command;
    match load_with_schemas(file) {
        Ok(config) => {
            let printed = put(summary(file, &config));
            for warning in warnings(&config) {
                tell(format_args!("note: {warning}"));
            }
            printed
        }
        Err(mistakes) => {
            tell(mistakes);
            Exit::Usage
        }
    }
}

/// The same, its schemas compiled to see whether they can be.
fn load_with_schemas(file: &Path) -> Result<Config, Mistakes> {
    let config = Config::load(file)?;
    let docks = config.docks.iter().enumerate();
    let mistakes: Vec<Mistake> = docks.filter_map(|(n, dock)| schema_mistake(n, dock)).collect();
    if mistakes.is_empty() { Ok(config) } else { Err(Mistakes::new(file.display().to_string(), mistakes)) }
}

/// The key that names what is pinned.
fn pinned(dock: &DockConfig) -> &'static str {
    if dock.check.tools().is_some() { "tools" } else { "schema" }
}

fn schema_mistake(n: usize, dock: &DockConfig) -> Option<Mistake> {
    let trouble = load_dock(dock).err()?;
    Some(Mistake {
        line: None,
        key: format!("dock[{n}].{}", pinned(dock)),
        what: format!("names {}", trouble.what()),
    })
}

/// What the configuration sets up, a paragraph for each dock.
fn summary(file: &Path, config: &Config) -> String {
    let docks = match config.docks.len() {
        1 => "1 dock".to_owned(),
        n => format!("{n} docks"),
    };
    let services = match config.services.len() {
        0 => String::new(),
        1 => " and 1 operation".to_owned(),
        n => format!(" and {n} operations"),
    };
    let mut out = format!(
        "{} is fine: {docks}{services} at {}, health and metrics at {}\n",
        file.display(),
        config.listen,
        config.admin_listen
    );
    for dock in &config.docks {
        let access = match &dock.access {
            Access::Public => "public: anyone may call".to_owned(),
            Access::Managed(KeySource::Env(name)) => format!("managed, keys from the variable {name}"),
            Access::Managed(KeySource::File(path)) => format!("managed, keys from {}", path.display()),
        };
        let check = match &dock.check {
            Check::Argument(Source::Arguments { schema }) => {
                format!("tool-argument/v1 of arguments against {}", schema.display())
            }
            Check::Argument(Source::ToolCall { tools, or_json_schema }) => {
                let other = if *or_json_schema { ", JSON Schema where it refuses their schemas" } else { "" };
                format!("tool-argument/v1 of calls of the tools in {}{other}", tools.file.display())
            }
            Check::JsonSchema(SchemaSource::Arguments { schema }) => {
                format!("json-schema of values against {}", schema.display())
            }
            Check::JsonSchema(SchemaSource::ToolCall(tools)) => {
                format!("json-schema of calls of the tools in {}", tools.file.display())
            }
            Check::Argument(Source::CheckRequest) => "tool-argument/v1 of check requests".to_owned(),
            Check::Profile => "token-efficiency/v1 of tool catalogues".to_owned(),
        };
        let anchors = match dock.anchors {
            AnchorMode::Codes => "codes",
            AnchorMode::PerDefect => "per defect",
        };
        let rate = dock.rate_limit.map_or("off".to_owned(), |limit| {
            format!("{} a second, {} at once, per client", limit.per_second, limit.burst)
        });
        // Writing to a string never fails.
        let _ = write!(
            out,
            "\n{}\n  access   {access}\n  check    {check}\n  require  {}\n  anchors  {anchors}\n  rate     {rate}\n",
            dock.path,
            require(dock)
        );
        out.push_str(&hygiene(dock));
    }
    for service in &config.services {
        let payment = match &config.x402 {
            Some(x402) if service.is_paid => {
                format!("x402 on {}, to {}, by {}", x402.network.name(), x402.pay_to, x402.facilitator)
            }
            _ => "none: free and unmetered".to_owned(),
        };
        let endpoints = "criteria, precheck, check, metrics";
        let (base, op) = (&service.base, service.op.name());
        let _ = write!(out, "\n{base}\n  serves   {op}: {endpoints}\n  payment  {payment}\n");
    }
    out
}

/// Of each tool whether its calls can be graded, and if not, why.
fn hygiene(dock: &DockConfig) -> String {
    // Its mistakes have been told already.
    let Ok(loaded) = load_dock(dock) else { return String::new() };
    let Some(toolbox) = loaded.check().toolbox() else { return String::new() };
    let mut out = "  tools\n".to_owned();
    for (name, grader) in toolbox.tools() {
        let name = String::from_utf8_lossy(name);
        let graded = match grader {
            Grader::Criteria(_) => "covered, graded by tool-argument/v1".to_owned(),
            Grader::JsonSchema(_) => "graded by json-schema".to_owned(),
            Grader::Nothing(why) => format!("refused, calls are answered 500: {}", why.escape_debug()),
        };
        let _ = writeln!(out, "    {}: {graded}", name.escape_debug());
    }
    out
}

/// What the dock requires beside the base anchors, in words.
pub(super) fn require(dock: &DockConfig) -> String {
    let table = dock.check.anchors();
    let names: Vec<_> = match &dock.require {
        None => table.names_of(table.default_require).collect(),
        Some(names) => names.iter().map(String::as_str).collect(),
    };
    let names = match (names.as_slice(), &dock.check) {
        ([], Check::Argument(_)) => "nothing more: repairs are accepted".to_owned(),
        ([], Check::Profile) => "nothing more than a catalogue in contract".to_owned(),
        ([], Check::JsonSchema(_)) => "nothing more than a valid value".to_owned(),
        (names, _) => names.join(", "),
    };
    if dock.require.is_none() { names + " (the default)" } else { names }
}

/// What would keep the configuration from working on this machine as it is now. No mistakes: the machine that
/// it is checked on need not be the one that serves.
fn warnings(config: &Config) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Tls::Files { cert, key } = &config.tls {
        for (name, path) in [("tls.cert", cert), ("tls.key", key)] {
            if let Err(error) = std::fs::File::open(path) {
                warnings.push(format!("{name}: {} cannot be read here: {error}", path.display()));
            }
        }
    }
    if let Some(signing) = &config.signing
        && let Err(error) = Signing::load(&signing.key, &signing.retired)
    {
        warnings.push(format!("{error}; started here, the dock would not serve"));
    }
    if let Some(x402) = config.x402.as_ref().filter(|_| config.services.iter().any(|service| service.is_paid))
        && config.limits.drain < x402.settle_timeout
    {
        warnings.push(
            "limits.drain_ms is less than x402.settle_timeout_ms: a payment under way at a stop may be left without an \
             outcome"
                .to_owned(),
        );
    }
    if config.services.iter().any(|service| service.is_paid)
        && let Err(name) = config.store.url()
    {
        warnings.push(format!("store.url_env: the variable {name} is not set here"));
    }
    for dock in &config.docks {
        let Access::Managed(source) = &dock.access else { continue };
        if let Err(trouble) = source.inspect() {
            let fault = millwork_dock::fault::Fault::from(trouble.clone());
            warnings.push(format!("{}: {trouble}; started here, it would answer 503 {fault}", dock.path));
        }
    }
    warnings
}
