//! A real server on ports of its own, and clients that show everything: raw HTTP/1.1, HTTP/2, raw frames.
//!
//! Every answer that is read here is held against the contract, whatever the test is about.

use millwork_dock::config::{Config, Mistakes};
use millwork_dock::server::Server;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// The key that the managed dock of every test accepts.
pub(crate) const KEY: &str = "test-key-0123456789abcdef";

/// The schema of the dock at `/args`.
pub(crate) const SCHEMA: &str = r#"{"type":"object","properties":{"city":{"type":"string","maxLength":40},
    "days":{"type":"integer","minimum":1}},"required":["city"],"additionalProperties":false}"#;

/// A candidate that `/args` accepts, one that needs a repair, and one that is beyond it.
pub(crate) const GOOD: &str = r#"{"city":"Bern","days":3}"#;
pub(crate) const REPAIRABLE: &str = r#"{"city":"Bern","days":"3"}"#;
pub(crate) const BAD: &str = r#"{"days":0}"#;

/// `{"candidate": <candidate>}`.
pub(crate) fn body(candidate: &str) -> String {
    format!(r#"{{"candidate":{candidate}}}"#)
}

/// The same candidate as the text that a model would send.
pub(crate) fn as_text(candidate: &str) -> String {
    serde_json::Value::from(candidate).to_string()
}

/// The docks of every test: `/args` and `/check` are public, `/managed` has its key in the file `keys`.
const DOCKS: &str = r#"
[[dock]]
path = "/args"
access = "public"
check = "tool-argument/v1"
source = "arguments"
schema = "schema.json"
rate_limit = "off"
[[dock]]
path = "/check"
access = "public"
check = "tool-argument/v1"
source = "check_request"
rate_limit = "off"
[[dock]]
path = "/managed"
access = "managed"
keys_file = "keys"
check = "tool-argument/v1"
source = "arguments"
schema = "schema.json"
"#;

/// A server of one test, and the directory that its configuration lies in.
pub(crate) struct Dock {
    pub(crate) directory: TempDir,
    pub(crate) address: SocketAddr,
    pub(crate) admin: SocketAddr,
    pub(crate) server: Server,
}

/// Reads a configuration as `serve` does.
pub(crate) fn load(path: &Path) -> Result<Config, Mistakes> {
    Config::load(path)
}

/// A directory with `dock.toml` and all that it names: `limits` inside `[limits]`, `docks` after the usual.
pub(crate) fn directory(limits: &str, docks: &str) -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).expect("written");
    write("keys", KEY);
    write("schema.json", SCHEMA);
    write(
        "dock.toml",
        &format!(
            "[server]\nlisten = \"127.0.0.1:0\"\nadmin_listen = \"127.0.0.1:0\"\n[tls]\n\
             self_signed = [\"localhost\"]\nself_signed_out = \"ca.pem\"\n[limits]\n{limits}\n{DOCKS}{docks}"
        ),
    );
    directory
}

impl Dock {
    /// The usual docks, with the usual limits.
    pub(crate) async fn start() -> Dock {
        Dock::with("", "").await
    }

    /// The usual docks, with these `limits` and more `docks`.
    pub(crate) async fn with(limits: &str, docks: &str) -> Dock {
        Dock::in_directory(directory(limits, docks)).await
    }

    pub(crate) async fn in_directory(directory: TempDir) -> Dock {
        let path = directory.path().join("dock.toml");
        let config = load(&path).expect("a valid configuration");
        let server = Server::start(config, Some(path)).await.expect("a server");
        Dock { address: server.address(), admin: server.admin_address(), server, directory }
    }

    /// What clients trust.
    pub(crate) fn roots(&self) -> RootCertStore {
        roots(&self.directory.path().join("ca.pem"))
    }

    /// A TLS connection that offers these protocols.
    pub(crate) async fn connect(&self, alpn: &[&str]) -> TlsStream<TcpStream> {
        connect(self.address, self.roots(), alpn).await.expect("a connection")
    }

    /// An HTTP/1.1 connection.
    pub(crate) async fn http1(&self) -> Http1 {
        Http1 { stream: self.connect(&["http/1.1"]).await, read: Vec::new() }
    }

    /// Sends raw bytes on a new connection and reads one answer.
    pub(crate) async fn raw(&self, request: &[u8]) -> Reply {
        let mut http = self.http1().await;
        http.send(request).await;
        http.reply().await
    }

    /// One call as Millwork makes it: a new connection, HTTP/1.1, chunked.
    pub(crate) async fn post(&self, path: &str, headers: &str, body: &str) -> Reply {
        let chunk = if body.is_empty() { String::new() } else { format!("{:x}\r\n{body}\r\n", body.len()) };
        self.raw(format!("{}{chunk}0\r\n\r\n", chunked_head(path, headers)).as_bytes()).await
    }

    /// One call over HTTP/2, on a new connection.
    pub(crate) async fn post_h2(&self, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let stream = self.connect(&["h2"]).await;
        let (send, connection) = h2::client::handshake(stream).await.expect("HTTP/2");
        tokio::spawn(connection);
        let mut request = http::Request::post(format!("https://localhost{path}"));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        call_h2(send, request.body(()).expect("a request"), body.as_bytes()).await
    }

    /// One request to the admin listener, and its status and body.
    pub(crate) async fn admin(&self, request: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(self.admin).await.expect("the admin listener");
        stream.write_all(request.as_bytes()).await.expect("sent");
        let mut read = Vec::new();
        let reply = read_head(&mut stream, &mut read).await.expect("an answer");
        let body = read_body(&mut stream, &mut read, reply.content_length()).await;
        (reply.status, String::from_utf8(body).expect("text"))
    }

    pub(crate) async fn get_admin(&self, path: &str) -> (u16, String) {
        self.admin(&format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n")).await
    }

    /// Waits for up to 5 s until `metrics` holds this line.
    pub(crate) async fn wait_for_metric(&self, line: &str) {
        let mut text = String::new();
        for _ in 0..250 {
            text = self.get_admin("/metrics").await.1;
            if text.lines().any(|found| found == line) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("no {line} in\n{text}");
    }

    /// The server still gives right verdicts.
    pub(crate) async fn is_well(&self) {
        assert!(self.post("/args", "", &body(GOOD)).await.is_correct());
        assert!(!self.post("/args", "", &body(BAD)).await.is_correct());
        assert!(self.post_h2("/args", &[], &body(GOOD)).await.is_correct());
    }
}

pub(crate) fn roots(file: &Path) -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(file).expect("the authority")).expect("a root");
    roots
}

pub(crate) async fn connect(
    address: SocketAddr,
    roots: RootCertStore,
    alpn: &[&str],
) -> std::io::Result<TlsStream<TcpStream>> {
    let provider = Arc::new(tokio_rustls::rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    let socket = TcpStream::connect(address).await?;
    socket.set_nodelay(true)?;
    let name = ServerName::try_from("localhost").expect("a name");
    TlsConnector::from(Arc::new(config)).connect(name, socket).await
}

/// Sends one request on an HTTP/2 connection and reads its answer.
pub(crate) async fn call_h2(
    send: h2::client::SendRequest<bytes::Bytes>,
    request: http::Request<()>,
    body: &[u8],
) -> Reply {
    let mut send = send.ready().await.expect("a stream");
    let (answer, mut out) = send.send_request(request, false).expect("sent");
    // The server may answer, and reset the stream, before the body is through.
    let _ = out.send_data(body.to_vec().into(), true);
    let (head, mut incoming) = answer.await.expect("an answer").into_parts();
    let mut bytes = Vec::new();
    while let Some(data) = incoming.data().await {
        let data = data.expect("data");
        incoming.flow_control().release_capacity(data.len()).expect("capacity");
        bytes.extend_from_slice(&data);
    }
    let header = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
        (name.as_str().to_owned(), value.to_str().expect("text").to_owned())
    };
    let head = Head { status: head.status.as_u16(), headers: head.headers.iter().map(header).collect() };
    Reply { head, body: bytes }.checked()
}

/// The head of a chunked POST; `headers` are whole lines.
pub(crate) fn chunked_head(path: &str, headers: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         transfer-encoding: chunked\r\n{headers}\r\n"
    )
}

/// An HTTP/1.1 connection.
pub(crate) struct Http1 {
    pub(crate) stream: TlsStream<TcpStream>,
    read: Vec<u8>,
}

impl Http1 {
    pub(crate) async fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.expect("sent");
        self.stream.flush().await.expect("sent");
    }

    /// The next answer, which is one of ours.
    pub(crate) async fn reply(&mut self) -> Reply {
        let head = self.head().await.expect("an answer");
        let body = read_body(&mut self.stream, &mut self.read, head.content_length()).await;
        Reply { head, body }.checked()
    }

    /// The next answer, whatever it is.
    pub(crate) async fn any_reply(&mut self) -> Reply {
        let head = self.head().await.expect("an answer");
        let body = read_body(&mut self.stream, &mut self.read, head.content_length()).await;
        Reply { head, body }
    }

    /// The next head, if the connection does not end before.
    pub(crate) async fn head(&mut self) -> Option<Head> {
        read_head(&mut self.stream, &mut self.read).await
    }

    /// Waits for the end of the connection, for at most so long; false if it stays open.
    pub(crate) async fn ends_within(&mut self, time: Duration) -> bool {
        ends_within(&mut self.stream, time).await
    }
}

/// Reads until the end of the stream, an error included; false if it stays open.
pub(crate) async fn ends_within(stream: &mut (impl AsyncRead + Unpin), time: Duration) -> bool {
    let mut some = [0; 4096];
    let end = async { while !matches!(stream.read(&mut some).await, Ok(0) | Err(_)) {} };
    tokio::time::timeout(time, end).await.is_ok()
}

/// A status and its headers.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
}

impl Head {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    fn content_length(&self) -> usize {
        self.header("content-length").map_or(0, |length| length.parse().expect("a length"))
    }
}

async fn read_head(stream: &mut (impl AsyncRead + Unpin), read: &mut Vec<u8>) -> Option<Head> {
    let end = loop {
        if let Some(end) = read.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        match tokio::time::timeout(Duration::from_secs(20), stream.read_buf(read)).await.expect("in time") {
            Ok(0) | Err(_) => return None,
            Ok(_) => {}
        }
    };
    let head: Vec<u8> = read.drain(..end + 4).collect();
    let head = String::from_utf8(head).expect("a head of text");
    let mut lines = head.trim_end().split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).expect("a status");
    let header = |line: &str| {
        let (name, value) = line.split_once(": ").expect("a header");
        (name.to_ascii_lowercase(), value.to_owned())
    };
    Some(Head { status: status.parse().expect("a status"), headers: lines.map(header).collect() })
}

async fn read_body(stream: &mut (impl AsyncRead + Unpin), read: &mut Vec<u8>, length: usize) -> Vec<u8> {
    while read.len() < length {
        assert_ne!(stream.read_buf(read).await.expect("the body"), 0, "the body ends early");
    }
    read.drain(..length).collect()
}

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) head: Head,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    /// Holds the answer against the contract: 200 fits the response schema, and anything else is
    /// `{"error": code}` and no verdict.
    pub(crate) fn checked(self) -> Reply {
        assert_eq!(self.head.header("content-type"), Some("application/json"), "{self:?}");
        assert_eq!(self.head.header("cache-control"), Some("no-store"), "{self:?}");
        let body: serde_json::Value = serde_json::from_slice(&self.body).expect("JSON");
        if self.head.status == 200 {
            assert!(RESPONSE.is_valid(&body), "{body}");
            return self;
        }
        let members = body.as_object().expect("an object");
        let code = members.get("error").and_then(serde_json::Value::as_str).expect("an error code");
        assert_eq!(members.len(), 1, "{body}");
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte);
        assert!((1..=64).contains(&code.len()) && code.bytes().all(plain), "{code}");
        self
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }

    /// The verdict of an answer that must carry one.
    pub(crate) fn is_correct(&self) -> bool {
        assert_eq!(self.head.status, 200, "{self:?}");
        self.json()["is_correct"].as_bool().expect("a verdict")
    }

    /// The status and the code of a refusal.
    pub(crate) fn refusal(&self) -> (u16, String) {
        (self.head.status, self.json()["error"].as_str().expect("a code").to_owned())
    }

    /// Asserts this refusal.
    pub(crate) fn refused(&self, status: u16, code: &str) {
        assert_eq!(self.refusal(), (status, code.to_owned()));
    }
}

static RESPONSE: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
    let contract: serde_json::Value =
        serde_json::from_str(include_str!("../../contract/verifier-dock.v1.json")).expect("the contract");
    jsonschema::draft202012::new(&contract["response"]["schema"]).expect("the response schema")
});
