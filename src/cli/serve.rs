//! `serve`: answers at the configured docks until it is told to stop.

use super::config::require;
use super::{Exit, put, tell};
use clap::{Args, ValueEnum};
use millwork_dock::config::{Access, Config, DockConfig, JWKS_PATH, Tls};
use millwork_dock::server::{Inherited, LogFormat, Logs, Server, Stop};
use std::fmt::Write as _;
use std::path::PathBuf;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// What `serve` is told.
#[derive(Debug, Args)]
pub(crate) struct Command {
    /// The configuration, TOML
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// What is logged: a level, and others for single modules (`info,hyper=debug`)
    #[arg(long, value_name = "LEVELS", default_value = "info")]
    log: String,
    /// How log lines look
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Json)]
    log_format: Format,
}

/// `--log-format`.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// One JSON object per line
    Json,
    /// For people
    Pretty,
}

/// Serves. The log goes to standard error; standard output says once what is served, and how to register it.
pub(crate) fn run(command: &Command) -> Exit {
    let config = match Config::load(&command.config) {
        Ok(config) => config,
        Err(mistakes) => return failed(Exit::Usage, mistakes),
    };
    let format = match command.log_format {
        Format::Json => LogFormat::Json,
        Format::Pretty => LogFormat::Pretty,
    };
    let logs = match Logs::install(format, &command.log, std::io::stderr()) {
        Ok(logs) => logs,
        Err(error) => return failed(Exit::Usage, error),
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return failed(Exit::Environment, error),
    };
    let exit = runtime.block_on(serve(config, command.config.clone()));
    // A check that is still at work holds nothing that matters; it need not be waited for.
    runtime.shutdown_background();
    drop(logs);
    exit
}

async fn serve(config: Config, file: PathBuf) -> Exit {
    let signals =
        (signal(SignalKind::terminate()), signal(SignalKind::interrupt()), signal(SignalKind::hangup()));
    let (Ok(mut terminate), Ok(mut interrupt), Ok(mut hangup)) = signals else {
        return failed(Exit::Environment, "signals cannot be received");
    };
    let inherited = match inherited() {
        Ok(inherited) => inherited,
        Err(error) => return failed(Exit::Environment, format_args!("LISTEN_FDS: {error}")),
    };
    let server = match Server::start_at(config.clone(), Some(file), inherited).await {
        Ok(server) => server,
        Err(error) if error.is_configuration() => return failed(Exit::Usage, error),
        Err(error) => return failed(Exit::Environment, error),
    };
    // A server whose output nobody reads serves all the same.
    put(announcement(&config, &server));
    let manner = loop {
        tokio::select! {
            _ = terminate.recv() => break Stop::AfterNotice,
            _ = interrupt.recv() => break Stop::Now,
            _ = hangup.recv() => server.reload(),
        }
    };
    tracing::info!("stopping; a second signal drops what is left");
    if server.stop(manner, second(&mut terminate, &mut interrupt)).await {
        tracing::info!("stopped; every request was answered");
        Exit::Fine
    } else {
        tracing::warn!("stopped; connections were dropped");
        Exit::Environment
    }
}

/// The sockets of systemd, if it started this process (`sd_listen_fds`): the first for the docks, the second for the
/// operator.
fn inherited() -> std::io::Result<Inherited> {
    let mut sockets = listenfd::ListenFd::from_env();
    Ok(Inherited { docks: sockets.take_tcp_listener(0)?, admin: sockets.take_tcp_listener(1)? })
}

async fn second(terminate: &mut Signal, interrupt: &mut Signal) {
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}

fn failed(exit: Exit, why: impl std::fmt::Display) -> Exit {
    tell(format_args!("millwork-dock: {why}"));
    exit
}

/// What is served, for a person at a terminal.
fn announcement(config: &Config, server: &Server) -> String {
    let host = public_host(config, server);
    let mut out = String::new();
    for dock in &config.docks {
        let url = format!("https://{host}{}", dock.path);
        let (access, require) = (access(dock), require(dock));
        // `--access` is the one option of that command that the contract names, so the URL stands before it.
        // Writing to a string never fails.
        let _ = write!(
            out,
            "dock {url}\n  access    {access}\n  require   {require}\n  \
             register  {url} by: millwork verifier connect --access {access}\n"
        );
    }
    for service in &config.services {
        let payment = if service.is_paid { "x402" } else { "none: free and unmetered" };
        let (url, op) = (format!("https://{host}{}", service.base), service.op.name());
        let _ = write!(
            out,
            "operation {op} {url}\n  payment   {payment}\n  criteria  {url}/criteria\n  keys      https://{host}{JWKS_PATH}\n"
        );
    }
    let _ = writeln!(out, "certificate expires {}", server.certificate_expires());
    if let Tls::SelfSigned { out: Some(file), .. } = &config.tls {
        let _ = writeln!(out, "certificate authority for clients {}", file.display());
    }
    let _ = writeln!(out, "health, readiness and metrics http://{}", server.admin_address());
    out
}

/// The name to reach the docks by: the first of a self-signed certificate, else the address listened at.
fn public_host(config: &Config, server: &Server) -> String {
    let address = server.address();
    match &config.tls {
        Tls::SelfSigned { names, .. } if let Some(name) = names.first() => match name.parse() {
            Ok(ip) => std::net::SocketAddr::new(ip, address.port()).to_string(),
            Err(_) => format!("{name}:{}", address.port()),
        },
        _ if address.ip().is_unspecified() => format!("<this host's name>:{}", address.port()),
        _ => address.to_string(),
    }
}

fn access(dock: &DockConfig) -> &'static str {
    match dock.access {
        Access::Public => "public",
        Access::Managed(_) => "managed",
    }
}
