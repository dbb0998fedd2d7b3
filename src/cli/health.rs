//! `health`: asks a running dock whether it is ready, for probes of containers that have no shell.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use clap::Args;

use super::{Exit, put, tell};

/// How long each part of the answer may take.
const PATIENCE: Duration = Duration::from_secs(3);
/// The most of an answer that is read, in bytes.
const MAX_ANSWER: u64 = 64 * 1024;

/// What `health` takes.
#[derive(Debug, Args)]
#[command(after_help = "Exit status: 0 ready (or alive), 1 not, 5 no answer.")]
pub(crate) struct HealthArgs {
    /// `server.admin_listen` of the dock
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9443")]
    admin: SocketAddr,
    /// Ask only whether it is alive, not whether it is ready
    #[arg(long)]
    alive: bool,
}

/// Does what `args` say.
pub(crate) fn run(args: &HealthArgs) -> Exit {
    let page = if args.alive { "/healthz" } else { "/readyz" };
    match ask(args.admin, page) {
        Ok(answer) => {
            let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
            let told = put(format_args!("{body}\n"));
            if head.starts_with("HTTP/1.1 200 ") { told } else { super::check::worse(told, Exit::Negative) }
        }
        Err(error) => {
            tell(format_args!("error: no answer from {}: {error}", args.admin));
            Exit::Environment
        }
    }
}

fn ask(admin: SocketAddr, page: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&admin, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    // The listener answers to names of the loopback, and off it to any.
    let request = format!("GET {page} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.take(MAX_ANSWER).read_to_string(&mut answer)?;
    Ok(answer)
}
