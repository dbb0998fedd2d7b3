//! Server CPU per call: the dock against the bare server, in the same run (performance.md, section 4).
//!
//! `cargo bench --bench network` starts both as processes of their own, sends the same calls to each in turn,
//! and prints the CPU time that each spent per call and the ratios. The bare server is hyper over rustls
//! with a fixed answer and nothing else: no limits, no check, no metrics, no log.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a bench"
)]

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::client::Resumption;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector};

/// Rounds; each takes both servers in turn, and the median counts.
const ROUNDS: usize = 5;
const NEW_CONNECTIONS: usize = 2_000;
const KEPT: usize = 20_000;
/// Callers at once.
const CALLERS: usize = 8;

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.get(1).is_some_and(|argument| argument == "bare") {
        bare(&arguments[2]).await;
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    prepare(path);
    let dock = Peer::start(
        "dock",
        Command::new(env!("CARGO_BIN_EXE_millwork-dock")).args(["serve", "--config", "dock.toml"]),
        path,
    );
    let itself = std::env::current_exe().expect("this program");
    let bare = Peer::start("bare", Command::new(itself).args(["bare", "."]), path);
    let client = connector(path);
    let body = candidate();
    for (what, calls, kept) in
        [("new connection each call", NEW_CONNECTIONS, false), ("kept connection", KEPT, true)]
    {
        let mut figures = [Vec::new(), Vec::new()];
        let mut latencies = [Vec::new(), Vec::new()];
        for _ in 0..ROUNDS {
            for (place, peer) in [&bare, &dock].into_iter().enumerate() {
                let before = peer.cpu();
                latencies[place].extend(run(peer.address, &client, &body, calls, kept).await);
                figures[place].push(
                    peer.cpu().saturating_sub(before).as_secs_f64() * 1e6
                        / f64::from(u32::try_from(calls).expect("calls")),
                );
            }
        }
        let [bare, dock] = figures.map(median);
        println!(
            "{what}: bare {bare:.1} µs, dock {dock:.1} µs of server CPU per call, ratio {:.2}",
            dock / bare
        );
        for (name, mut times) in ["bare", "dock"].into_iter().zip(latencies) {
            times.sort();
            let at = |part: usize| times[(times.len() - 1) * part / 1000];
            println!("  {name}: p50 {:.2?}, p99 {:.2?}, {CALLERS} callers", at(500), at(990));
        }
    }
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// One certificate for both servers, a schema and a configuration.
fn prepare(directory: &std::path::Path) {
    let params = rcgen::CertificateParams::new(["localhost".to_owned()]).expect("a name");
    let key = rcgen::KeyPair::generate().expect("a key");
    let certificate = params.self_signed(&key).expect("a certificate");
    let write = |name: &str, text: &str| std::fs::write(directory.join(name), text).expect("written");
    write("tls.crt", &certificate.pem());
    write("tls.key", &key.serialize_pem());
    write("schema.json", &schema());
    write(
        "dock.toml",
        "[server]\nlisten = \"127.0.0.1:0\"\nadmin_listen = \"127.0.0.1:0\"\n\
         [tls]\ncert = \"tls.crt\"\nkey = \"tls.key\"\n\
         [[dock]]\npath = \"/dock\"\naccess = \"public\"\ncheck = \"tool-argument/v1\"\nsource = \"arguments\"\n\
         schema = \"schema.json\"\nrate_limit = { per_second = 1000000, burst = 1000000 }\n",
    );
}

fn schema() -> String {
    let names: Vec<String> = (0..12).map(|n| format!(r#""field_{n}":{{"type":"string","maxLength":60,"description":"Field number {n} of the call."}}"#)).collect();
    format!(r#"{{"type":"object","properties":{{{}}},"additionalProperties":false}}"#, names.join(","))
}

/// A body of some 600 bytes.
fn candidate() -> String {
    let fields: Vec<String> =
        (0..12).map(|n| format!(r#""field_{n}":"a value of the usual length, {n}""#)).collect();
    format!(r#"{{"candidate":{{{}}}}}"#, fields.join(","))
}

struct Peer {
    child: Child,
    address: SocketAddr,
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Peer {
    fn start(name: &str, command: &mut Command, directory: &std::path::Path) -> Peer {
        let log = std::fs::File::create(directory.join(format!("{name}.log"))).expect("a log");
        let begun = Instant::now();
        let mut child =
            command.current_dir(directory).stdout(Stdio::piped()).stderr(log).spawn().expect("the command");
        let mut out = BufReader::new(child.stdout.take().expect("its output"));
        let mut said = String::new();
        let address = loop {
            assert_ne!(out.read_line(&mut said).expect("text"), 0, "it ended: {said}");
            if let Some(rest) = said.split("https://127.0.0.1:").nth(1) {
                let port = rest.split('/').next().expect("a port");
                break format!("127.0.0.1:{port}").parse().expect("an address");
            }
        };
        println!("{name}: serves {:.0?} after its start", begun.elapsed());
        // Whatever else it says must not fill the pipe.
        std::thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()));
        Peer { child, address }
    }

    /// The CPU time of all its threads.
    fn cpu(&self) -> Duration {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).expect("its threads");
        let nanos = tasks.filter_map(|task| {
            let text = std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
            text.split(' ').next()?.parse::<u64>().ok()
        });
        Duration::from_nanos(nanos.sum())
    }
}

fn connector(directory: &std::path::Path) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_file(directory.join("tls.crt")).expect("the certificate"))
        .expect("a root");
    let mut config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    // Millwork's calls are new connections in full.
    config.resumption = Resumption::disabled();
    TlsConnector::from(Arc::new(config))
}

/// Makes so many calls and gives how long each took, its connection included.
async fn run(address: SocketAddr, tls: &TlsConnector, body: &str, calls: usize, kept: bool) -> Vec<Duration> {
    let sent = format!(
        "POST /dock HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         transfer-encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n",
        body.len()
    );
    let callers: Vec<_> = (0..CALLERS)
        .map(|_| {
            let (tls, sent) = (tls.clone(), sent.clone());
            tokio::spawn(async move {
                let mut times = Vec::with_capacity(calls / CALLERS);
                let mut connection = None;
                for _ in 0..calls / CALLERS {
                    let begun = Instant::now();
                    let mut stream = match connection.take() {
                        Some(stream) => stream,
                        None => connect(address, &tls).await,
                    };
                    stream.write_all(sent.as_bytes()).await.expect("sent");
                    read_answer(&mut stream).await;
                    times.push(begun.elapsed());
                    if kept {
                        connection = Some(stream);
                    }
                }
                times
            })
        })
        .collect();
    let mut times = Vec::with_capacity(calls);
    for caller in callers {
        times.extend(caller.await.expect("no panic"));
    }
    times
}

async fn connect(address: SocketAddr, tls: &TlsConnector) -> TlsStream<TcpStream> {
    let socket = TcpStream::connect(address).await.expect("a socket");
    socket.set_nodelay(true).expect("no delay");
    tls.connect(ServerName::try_from("localhost").expect("a name"), socket).await.expect("a connection")
}

async fn read_answer(stream: &mut TlsStream<TcpStream>) {
    let mut read = Vec::with_capacity(2048);
    loop {
        assert_ne!(stream.read_buf(&mut read).await.expect("an answer"), 0, "it ends early");
        let text = std::str::from_utf8(&read).expect("text");
        let Some((head, rest)) = text.split_once("\r\n\r\n") else { continue };
        assert!(head.starts_with("HTTP/1.1 200"), "{text}");
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("a length");
        if rest.len() >= length.parse::<usize>().expect("a number") {
            assert!(rest.contains(r#""is_correct":true"#), "{text}");
            return;
        }
    }
}

/// The bare server: reads the body, answers a fixed text.
async fn bare(directory: &str) {
    let directory = std::path::Path::new(directory);
    let chain = vec![CertificateDer::from_pem_file(directory.join("tls.crt")).expect("the certificate")];
    let key = PrivateKeyDer::from_pem_file(directory.join("tls.key")).expect("the key");
    let mut provider = aws_lc_rs::default_provider();
    provider.cipher_suites.sort_by_key(|suite| !format!("{:?}", suite.suite()).contains("AES_128_GCM"));
    let mut config = ServerConfig::builder_with_provider(Arc::new(provider))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .expect("a pair");
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    config.ignore_client_order = true;
    config.ticketer = aws_lc_rs::Ticketer::new().expect("tickets");
    config.send_tls13_tickets = 1;
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    println!("https://{}/", listener.local_addr().expect("an address"));
    std::io::stdout().flush().expect("said");
    loop {
        let Ok((socket, _)) = listener.accept().await else { continue };
        let acceptor = acceptor.clone();
        tokio::spawn(async move {
            let _ = socket.set_nodelay(true);
            let Ok(stream) = acceptor.accept(socket).await else { return };
            let service = service_fn(|request: Request<hyper::body::Incoming>| async move {
                let _ = request.into_body().collect().await;
                let text = br#"{"is_correct":true,"quality_score":1}"#;
                Ok::<_, std::convert::Infallible>(Response::new(Full::new(Bytes::from_static(text))))
            });
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}
