//! `serve-broken`: a dock with one fault.

use std::fmt::Write;
use std::path::PathBuf;

use super::{Exit, World, runtime};
use crate::broken::{self, Fault, Options, Stage};
use crate::contract::Timing;
use crate::keys::{ENDPOINT_KEY, OVERLAP_KEYS, RETIRED_KEYS};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The fault; `none` for a good dock
    #[arg(long, value_name = "NAME", required_unless_present = "list")]
    fault: Option<String>,
    /// List all faults and the cases that find them
    #[arg(long)]
    list: bool,
    /// The port on 127.0.0.1; 0 for any
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Serve plain http, without a certificate
    #[arg(long)]
    plain: bool,
    /// Where to write the certificate of the authority to trust
    #[arg(long, value_name = "FILE", default_value = "ca.pem")]
    ca_out: PathBuf,
}

pub(super) fn run(args: &Args, world: &mut World<'_>) -> Result<Exit, String> {
    if args.list {
        return world.put(&list()).map(|()| Exit::Fine);
    }
    let fault =
        args.fault.as_deref().and_then(Fault::of).ok_or("there is no such fault; see serve-broken --list")?;
    if args.plain && fault.stage() == Stage::Tls {
        return Err("this fault is one of TLS or HTTP/2; leave out --plain".to_owned());
    }
    let options = options(args, fault, world.variable)?;
    runtime()?.block_on(async {
        let dock = broken::start(fault, options).await.map_err(|trouble| trouble.to_string())?;
        if let Some(authority) = &dock.authority {
            std::fs::write(&args.ca_out, authority)
                .map_err(|error| format!("cannot write the file of --ca-out: {error}"))?;
        }
        world.put(&format!("{}\n{}\n", dock.url(), fault.text()))?;
        let _ = tokio::signal::ctrl_c().await;
        Ok(Exit::Fine)
    })
}

/// The keys come from the variables that `run` reads, so that both can be started from one environment.
fn options(args: &Args, fault: Fault, variable: &dyn Fn(&str) -> Option<String>) -> Result<Options, String> {
    let keys_of = |name: &str| {
        let text = variable(name).unwrap_or_default();
        let parts = text.split([',', '\n', '\r']).map(|part| part.trim().to_owned());
        parts.filter(|part| !part.is_empty()).collect::<Vec<String>>()
    };
    let with_keys = fault.stage() == Stage::Keys;
    let keys = if with_keys { [keys_of(ENDPOINT_KEY), keys_of(OVERLAP_KEYS)].concat() } else { Vec::new() };
    if with_keys && keys.is_empty() {
        return Err(format!(
            "this fault is one of keys; set {ENDPOINT_KEY} to any text of 8 characters or more"
        ));
    }
    let retired = if with_keys { keys_of(RETIRED_KEYS) } else { Vec::new() };
    Ok(Options { keys, retired, tls: !args.plain, timing: Timing::CONTRACT, port: args.port })
}

fn list() -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    for fault in Fault::ALL {
        let _ = writeln!(text, "{}: {}", fault.name(), fault.text());
        for (case, finding) in fault.found_by() {
            let _ = writeln!(text, "    {case}: {}", finding.code());
        }
    }
    text
}
