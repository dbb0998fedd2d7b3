//! The hostile figures: what the release build does under clients that mean harm, in numbers.
//!
//! `cargo bench --bench hostile` starts the server on ports of its own, sends traffic to 127.0.0.1 only, and
//! prints one line per attack; it exits with 1 if a figure is over its bound or a later call is wrong.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a bench"
)]

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// Idle connections at once.
const IDLE: usize = 10_000;
/// Bounds: resident memory with all of them, and how long any may stay.
const MOST_KIB: u64 = 265_000;
const LONGEST: Duration = Duration::from_secs(6);

const KEY: &str = "bench-key-0123456789abcdef";

struct Served {
    child: Child,
    address: SocketAddr,
    tls: TlsConnector,
    _directory: tempfile::TempDir,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Served {
    fn start(limits: &str) -> Served {
        let directory = tempfile::tempdir().expect("a directory");
        let config = format!(
            "[server]\nlisten = \"127.0.0.1:0\"\nadmin_listen = \"127.0.0.1:0\"\n[tls]\n\
             self_signed = [\"localhost\"]\nself_signed_out = \"ca.pem\"\n[limits]\nmax_connections = 12000\n\
             max_connections_per_client = 12000\n{limits}\n\
             [[dock]]\npath = \"/check\"\naccess = \"public\"\ncheck = \"tool-argument/v1\"\n\
             source = \"check_request\"\nrate_limit = \"off\"\n\
             [[dock]]\npath = \"/managed\"\naccess = \"managed\"\nkeys_file = \"keys\"\n\
             check = \"tool-argument/v1\"\nsource = \"check_request\"\n"
        );
        std::fs::write(directory.path().join("dock.toml"), config).expect("written");
        std::fs::write(directory.path().join("keys"), KEY).expect("written");
        let mut child = Command::new(env!("CARGO_BIN_EXE_millwork-dock"))
            .args(["serve", "--config", "dock.toml"])
            .current_dir(directory.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the command");
        let mut said = String::new();
        let mut out = BufReader::new(child.stdout.take().expect("its output"));
        while !said.contains("metrics http://") {
            assert_ne!(out.read_line(&mut said).expect("text"), 0, "it ended: {said}");
        }
        let port =
            said.split("https://localhost:").nth(1).expect("an address").split('/').next().expect("a port");
        let address = format!("127.0.0.1:{port}").parse().expect("an address");
        let tls = connector(&directory.path().join("ca.pem"));
        Served { child, address, tls, _directory: directory }
    }

    async fn connect(&self) -> std::io::Result<TlsStream<TcpStream>> {
        let socket = TcpStream::connect(self.address).await?;
        self.tls.connect(ServerName::try_from("localhost").expect("a name"), socket).await
    }

    /// One call; its status and body.
    async fn call(&self, path: &str, headers: &str, body: &str) -> (u16, String) {
        let mut stream = self.connect().await.expect("a connection");
        let head = format!("POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}");
        let sent = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
        stream.write_all(sent.as_bytes()).await.expect("sent");
        read_answer(&mut stream).await
    }

    async fn is_right(&self) -> bool {
        let check = |v: &str| {
            format!(
                r#"{{"candidate":{{"arguments":{{"v":{v}}},"schema":{{"type":"object","properties":
                   {{"v":{{"type":"integer"}}}}}}}}}}"#
            )
        };
        let (good, bad) =
            (self.call("/check", "", &check("1")).await, self.call("/check", "", &check("[]")).await);
        good.1.contains(r#""is_correct":true"#) && bad.1.contains(r#""is_correct":false"#)
    }

    /// Resident memory, in KiB.
    fn resident(&self) -> u64 {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("its status");
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("VmRSS");
        line.split_whitespace().nth(1).expect("a number").parse().expect("a number")
    }
}

fn connector(authority: &Path) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(authority).expect("the authority")).expect("a root");
    let provider = Arc::new(tokio_rustls::rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    TlsConnector::from(Arc::new(config))
}

async fn read_answer(stream: &mut TlsStream<TcpStream>) -> (u16, String) {
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    (status, answer.split("\r\n\r\n").nth(1).unwrap_or("").to_owned())
}

/// Opens all idle connections, some at a time; each task waits for its end and says how long that took.
async fn open_idle(served: &Arc<Served>) -> Vec<tokio::task::JoinHandle<Duration>> {
    let at_once = Arc::new(Semaphore::new(64));
    let mut open = Vec::with_capacity(IDLE);
    for _ in 0..IDLE {
        let permit = Arc::clone(&at_once).acquire_owned().await.expect("open");
        let served = Arc::clone(served);
        open.push(tokio::spawn(async move {
            let mut stream = served.connect().await.expect("a connection");
            let begun = Instant::now();
            drop(permit);
            let _ = stream.read(&mut [0; 16]).await;
            begun.elapsed()
        }));
    }
    let _ = at_once.acquire_many(64).await;
    open
}

struct Report {
    fine: bool,
}

impl Report {
    fn line(&mut self, what: &str, figures: &str, fine: bool) {
        println!("{} {what}: {figures}", if fine { "ok  " } else { "FAIL" });
        self.fine &= fine;
    }
}

#[tokio::main]
async fn main() {
    let mut report = Report { fine: true };
    idle_memory(&mut report).await;
    idle_closed(&mut report).await;
    let served = Served::start("");
    let before = served.resident();
    slow_body(&served, &mut report).await;
    monsters(&served, &mut report).await;
    wrong_keys(&served, &mut report).await;
    let after = served.resident();
    report.line("memory", &format!("{before} KiB before, {after} KiB after"), after < MOST_KIB);
    // `exit` runs no destructor: the server would stay behind.
    drop(served);
    std::process::exit(i32::from(!report.fine));
}

async fn idle_memory(report: &mut Report) {
    let served = Arc::new(Served::start("idle_ms = 300000\nheader_ms = 10000"));
    let before = served.resident();
    let begun = Instant::now();
    let open = open_idle(&served).await;
    let took = begun.elapsed();
    tokio::time::sleep(Duration::from_millis(500)).await;
    let with = served.resident();
    #[allow(clippy::cast_precision_loss, reason = "far below 2^52")]
    let each = (with - before) as f64 * 1.024 / IDLE as f64;
    let figures =
        format!("{before} KiB before, {with} KiB with {IDLE} ({each:.1} kB each), opened in {took:.1?}");
    report.line(
        "idle connections, memory",
        &figures,
        with <= MOST_KIB && open.iter().all(|one| !one.is_finished()),
    );
    report.line("call beside them", "", served.is_right().await);
    open.iter().for_each(tokio::task::JoinHandle::abort);
}

async fn idle_closed(report: &mut Report) {
    let served = Arc::new(Served::start(""));
    let mut longest = Duration::ZERO;
    for one in open_idle(&served).await {
        longest = longest.max(one.await.expect("no panic"));
    }
    let figures = format!("the last of {IDLE} was closed {longest:.2?} after its handshake");
    report.line("idle connections, closed", &figures, longest <= LONGEST);
    report.line("call after them", "", served.is_right().await);
}

async fn slow_body(served: &Served, report: &mut Report) {
    let mut stream = served.connect().await.expect("a connection");
    let head = "POST /check HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1048576\r\n\r\n";
    stream.write_all(head.as_bytes()).await.expect("sent");
    let begun = Instant::now();
    let (mut from, mut to) = tokio::io::split(stream);
    let writer = tokio::spawn(async move {
        while to.write_all(b" ").await.is_ok() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    });
    let mut answer = vec![0; 4096];
    let length = from.read(&mut answer).await.expect("an answer");
    let took = begun.elapsed();
    writer.abort();
    let answer = String::from_utf8_lossy(&answer[..length]).into_owned();
    let fine = answer.contains(" 408 ") && took < Duration::from_secs(6);
    report.line("1 MiB at one byte a second", &format!("408 after {took:.2?}"), fine);
}

async fn monsters(served: &Served, report: &mut Report) {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    let pattern = |pattern: &str, text: &str| {
        format!(
            r#"{{"arguments":{{"v":"{text}"}},"schema":{{"type":"object","properties":
               {{"v":{{"type":"string","pattern":"{pattern}"}}}}}}}}"#
        )
    };
    let many = "a".repeat(100_000) + "!";
    for (what, candidate, statuses) in [
        ("128 deep", nested(128), &[200][..]),
        ("524,000 deep (1 MiB)", nested(524_000), &[200]),
        ("1,000,000 open brackets", "[".repeat(1_000_000), &[400]),
        ("(a+)+$ on 100 KB", pattern("(a+)+$", &many), &[200]),
        ("(?=((a|a?)+)+$)x on 100 KB", pattern("^(?=((a|a?)+)+$)x", &many), &[200, 504]),
        ("(.*)\\\\1! on 100 KB", pattern(r"^(.*)\\1(.*)\\2#$", &many), &[200, 504]),
        ("1e1000000000", r#"{"arguments":{"v":1e1000000000},"schema":{"type":"object"}}"#.to_owned(), &[200]),
    ] {
        let begun = Instant::now();
        let (status, _) = served.call("/check", "", &format!(r#"{{"candidate":{candidate}}}"#)).await;
        let took = begun.elapsed();
        let fine = statuses.contains(&status) && took < Duration::from_secs(10);
        report.line(what, &format!("{status} after {took:.1?}, {} KiB", served.resident()), fine);
    }
    report.line("call after them", "", served.is_right().await);
}

async fn wrong_keys(served: &Served, report: &mut Report) {
    let body = r#"{"candidate":{"solverapi_probe":"registration_preflight"}}"#;
    let begun = Instant::now();
    let mut refused = 0;
    for n in 0..1000 {
        let header = format!("authorization: Bearer {}{n:04}\r\n", &KEY[..KEY.len() - 4]);
        refused += usize::from(served.call("/managed", &header, body).await.0 == 401);
    }
    let figures = format!("{refused} of 1000 refused in {:.1?}", begun.elapsed());
    report.line("wrong keys", &figures, refused == 1000);
    let right = served.call("/managed", &format!("authorization: Bearer {KEY}\r\n"), body).await;
    report.line("the right key after them", &right.0.to_string(), right.0 == 200);
}
