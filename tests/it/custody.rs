//! Nothing submitted shows anywhere: the real command, everything it can log switched on, a canary in
//! every place that a caller can write to.

use crate::support::{KEY, Reply, body, call_h2, chunked_head, connect, directory, roots};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const CANARY: &str = "kanarienvogel-7f3a9c51";

/// `millwork-dock serve`, killed when it is dropped.
pub(crate) struct Served {
    child: Child,
    pub(crate) address: SocketAddr,
    admin: SocketAddr,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts the command in `directory`; its log goes to the file `log`. Also gives what it says at start.
pub(crate) fn serve(directory: &Path, arguments: &[&str]) -> (Served, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_millwork-dock"))
        .args(["serve", "--config", "dock.toml"])
        .args(arguments)
        .current_dir(directory)
        .stdout(Stdio::piped())
        .stderr(File::create(directory.join("log")).expect("a log"))
        .spawn()
        .expect("the command");
    let mut said = String::new();
    let mut out = BufReader::new(child.stdout.take().expect("its output"));
    while !said.contains("metrics http://") {
        assert_ne!(out.read_line(&mut said).expect("text"), 0, "it ended: {said}");
    }
    let after =
        |mark: &str| said.split(mark).nth(1).expect(mark).split(['/', '\n']).next().expect(mark).to_owned();
    let address = after("dock https://localhost").replace(':', "127.0.0.1:").parse().expect("an address");
    let admin = after("metrics http://").parse().expect("an address");
    (Served { child, address, admin }, said)
}

fn terminate(served: &mut Served) -> i32 {
    let pid = rustix::process::Pid::from_child(&served.child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("a signal");
    served.child.wait().expect("an end").code().expect("an exit code")
}

/// Sends raw bytes and reads to the end of the connection.
async fn exchange(served: &Served, directory: &Path, sent: &[u8]) -> Vec<u8> {
    let roots = roots(&directory.join("ca.pem"));
    let mut stream = connect(served.address, roots, &["http/1.1"]).await.expect("a connection");
    stream.write_all(sent).await.expect("sent");
    let mut answer = Vec::new();
    let _ = tokio::time::timeout(Duration::from_secs(3), stream.read_to_end(&mut answer)).await;
    answer
}

/// A dock of each other kind.
const MORE_DOCKS: &str = r#"
[[dock]]
path = "/tools"
access = "public"
check = "token-efficiency/v1"
[[dock]]
path = "/calls"
access = "public"
check = "tool-argument/v1"
source = "tool_call"
tools = "tools.json"
uncovered = "json-schema"
anchors = "per_defect"
[[dock]]
path = "/values"
access = "public"
check = "json-schema"
source = "arguments"
schema = "schema.json"
"#;

/// A tool that the criteria grade, and one that they refuse.
const TOOLS: &str = r#"[{"name":"f","inputSchema":{"type":"object","additionalProperties":false}},
    {"name":"g","inputSchema":{"anyOf":[{"required":["a"]},{"propertyNames":{"maxLength":1}}]}}]"#;

/// The canary in every part of an HTTP/1.1 request, one part at a time.
fn requests() -> Vec<String> {
    let post = |path: &str, headers: &str, sent: &str| {
        let headers = format!("connection: close\r\n{headers}");
        format!("{}{:x}\r\n{sent}\r\n0\r\n\r\n", chunked_head(path, &headers), sent.len())
    };
    let request = |pattern: &str| {
        body(&format!(
            r#"{{"arguments":{{"{CANARY}":"{CANARY}","v":"{CANARY}"}},"schema":{{"type":"object","properties":
               {{"v":{{"type":"string","pattern":"{pattern}"}}}},"title":"{CANARY}"}}}}"#
        ))
    };
    let long = format!("\"{CANARY}{}\"", "x".repeat(1_100_000));
    let candidates = [
        format!(r#"{{"city":"{CANARY}","{CANARY}":1}}"#),
        format!(r#"{{"name":"{CANARY}","arguments":{{"{CANARY}":"{CANARY}"}}}}"#),
        format!(r#""plain text {CANARY}""#),
        format!(r#"{{"solverapi_probe":"{CANARY}"}}"#),
        long,
    ];
    let mut requests: Vec<String> =
        candidates.iter().map(|candidate| post("/args", "", &body(candidate))).collect();
    let tool = format!(
        r#"{{"name":"{CANARY}","description":"{CANARY}","{CANARY}":1,"inputSchema":{{"{CANARY}":"{CANARY}"}}}}"#
    );
    let call = |name: &str| format!(r#"{{"name":"{name}","arguments":{{"{CANARY}":"{CANARY}"}}}}"#);
    requests.extend([
        post("/calls", "", &body(&call(CANARY))),
        post(
            "/calls",
            "",
            &body(&format!("[{},{},{{\"tool\":\"{CANARY}\",\"args\":1}}]", call("f"), call("g"))),
        ),
        post("/calls", "", &body(&format!(r#"{{"name":"f","arguments":"{{\"{CANARY}"}}"#))),
        post("/calls", "", &body(&format!("\"{CANARY}\""))),
        post("/values", "", &body(&format!(r#"{{"{CANARY}":"{CANARY}","city":["{CANARY}"]}}"#))),
        post("/values", "", &body(&format!("\"{CANARY}\""))),
        post("/tools", "", &body(&format!("[{tool},{tool}]"))),
        post("/tools", "", &body(&format!("[{tool},{{\"name\":[\"{CANARY}\"]}}]"))),
        post("/tools", "", &body(&format!("\"{CANARY}\""))),
        post("/check", "", &request(CANARY)),
        post("/check", "", &request(&format!("({CANARY}"))),
        post("/args", "", &format!("{{\"candidate\":{CANARY}")),
        post("/args", "", &format!("{{\"{CANARY}\":1}}")),
        post("/args", &format!("{CANARY}: {CANARY}\r\n"), &body("1")),
        post("/args", &format!("cookie: {CANARY}\r\nuser-agent: {CANARY}\r\n"), &body("1")),
        post("/args", &format!("expect: {CANARY}\r\n"), &body("1")),
        post("/args", &format!("content-encoding: {CANARY}\r\n"), &body("1")),
        post("/args", &format!("host: {CANARY}\r\n"), &body("1")),
        post("/managed", &format!("authorization: Bearer {CANARY}\r\n"), &body("1")),
        post(
            "/managed",
            &format!("authorization: Bearer {KEY}\r\n"),
            &body(&format!("{{\"city\":\"{CANARY}\"}}")),
        ),
        post(&format!("/{CANARY}"), "", &body("1")),
        post(&format!("/args?{CANARY}={CANARY}"), "", &body("1")),
        post("/args", "", &body("1")).replace("POST", &CANARY.to_ascii_uppercase()),
        post("/args", "", &body("1")).replace("HTTP/1.1", CANARY),
        post("/args", "", &body("1")).replace("chunked", CANARY),
        format!("{}{CANARY}\r\n", chunked_head("/args", "")),
        format!("{CANARY}\r\n\r\n"),
    ]);
    requests
}

/// The canary in an HTTP/2 request: path, header, body.
async fn over_http2(served: &Served, directory: &Path) -> Vec<Reply> {
    let stream =
        connect(served.address, roots(&directory.join("ca.pem")), &["h2"]).await.expect("a connection");
    let (send, connection) = h2::client::handshake(stream).await.expect("HTTP/2");
    tokio::spawn(connection);
    let mut replies = Vec::new();
    for path in ["/args".to_owned(), "/managed".to_owned(), format!("/{CANARY}")] {
        let request = http::Request::post(format!("https://localhost{path}"))
            .header(CANARY, CANARY)
            .header("authorization", format!("Bearer {CANARY}"))
            .body(())
            .expect("a request");
        replies.push(call_h2(send.clone(), request, body(&format!("\"{CANARY}\"")).as_bytes()).await);
    }
    replies
}

/// The ways in which a debug format could write the canary.
fn forms() -> Vec<Vec<u8>> {
    let bytes = CANARY.as_bytes();
    let hex = bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
    let decimal: Vec<String> = bytes.iter().map(ToString::to_string).collect();
    let hex_list: Vec<String> = bytes.iter().map(|byte| format!("0x{byte:02x}")).collect();
    let texts = [CANARY.to_owned(), CANARY.to_uppercase(), hex.clone(), hex.to_uppercase()];
    texts.into_iter().chain([decimal.join(", "), hex_list.join(", ")]).map(String::into_bytes).collect()
}

fn assert_clean(what: &str, bytes: &[u8]) {
    for form in forms() {
        let hit = bytes.windows(form.len()).position(|window| window == form);
        let around =
            hit.map(|at| String::from_utf8_lossy(&bytes[at.saturating_sub(200)..at + 40]).into_owned());
        assert!(hit.is_none(), "{what} shows what was submitted: {around:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_canary_shows_nowhere_at_trace_level() {
    for format in ["json", "pretty"] {
        let directory = directory("", MORE_DOCKS);
        let directory = directory.path();
        std::fs::write(directory.join("tools.json"), TOOLS).expect("written");
        let (mut served, said) = serve(directory, &["--log", "trace", "--log-format", format]);
        assert_clean("standard output", said.as_bytes());
        for request in requests() {
            let answer = exchange(&served, directory, request.as_bytes()).await;
            assert!(answer.starts_with(b"HTTP/1.1 "), "{request}");
            assert_clean("an answer", &answer);
        }
        for reply in over_http2(&served, directory).await {
            assert_clean("an answer", &reply.body);
        }
        // In the name that TLS asks for, and in what is no TLS.
        let mut socket = TcpStream::connect(served.address).await.expect("a socket");
        socket.write_all(CANARY.as_bytes()).await.expect("sent");
        drop(socket);
        let mut socket = TcpStream::connect(served.admin).await.expect("a socket");
        let ask = "GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
        socket.write_all(ask.as_bytes()).await.expect("sent");
        let mut metrics = Vec::new();
        socket.read_to_end(&mut metrics).await.expect("metrics");
        assert!(metrics.windows(20).any(|window| window == b"millwork_dock_ready "));
        assert_clean("metrics", &metrics);

        assert_eq!(terminate(&mut served), 0);
        let log = std::fs::read(directory.join("log")).expect("the log");
        assert_clean("the log", &log);
        assert_is_complete(&String::from_utf8(log).expect("text"), format);
    }
}

/// The log holds lines of each crate whose lines could leak, and one line for each kind of request.
fn assert_is_complete(log: &str, format: &str) {
    for target in ["hyper::", "h2::", "rustls::"] {
        let mark = if format == "json" { format!("\"target\":\"{target}") } else { format!(" {target}") };
        assert!(log.contains(&mark), "no line of {target}");
    }
    if format == "pretty" {
        assert!(log.contains("code=\"unauthorized\""), "{log}");
        return;
    }
    let mut codes = std::collections::BTreeSet::new();
    for line in log.lines() {
        let line: serde_json::Value = serde_json::from_str(line).expect("each line is JSON");
        let target = line["target"].as_str().expect("a target");
        let names: Vec<&str> = line.as_object().expect("an object").keys().map(String::as_str).collect();
        if target == "millwork_dock::request" {
            let expected = [
                "code", "dock", "id", "level", "method", "protocol", "status", "target", "time", "tls", "us",
            ];
            assert_eq!(names, expected);
            codes.insert(line["code"].as_str().expect("a code").to_owned());
        } else if !target.starts_with("millwork_dock") {
            assert!(names.iter().all(|name| ["level", "line", "target", "time"].contains(name)), "{line}");
        }
    }
    for code in
        ["not_correct", "unauthorized", "not_found", "bad_host", "malformed_request", "request_too_large"]
    {
        assert!(codes.contains(code), "no request line with {code}: {codes:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn serve_says_what_an_operator_needs_and_stops_when_told() {
    let directory = directory("drain_ms = 1000", "");
    let (mut served, said) = serve(directory.path(), &[]);
    let port = served.address.port();
    for line in [
        format!("dock https://localhost:{port}/managed"),
        "  access    managed".to_owned(),
        "  require   valid_as_submitted (the default)".to_owned(),
        format!(
            "  register  https://localhost:{port}/managed by: millwork verifier connect --access managed"
        ),
        format!("  register  https://localhost:{port}/args by: millwork verifier connect --access public"),
    ] {
        assert!(said.lines().any(|found| found == line), "{line}\n{said}");
    }
    assert!(said.contains("certificate expires 2"), "{said}");
    assert!(!said.contains(KEY));
    let answer = exchange(&served, directory.path(), requests()[0].as_bytes()).await;
    assert!(answer.starts_with(b"HTTP/1.1 200 OK\r\n"));
    assert_eq!(terminate(&mut served), 0);
}

#[test]
fn serve_does_not_start_on_a_configuration_that_cannot_hold() {
    let start = |change: &dyn Fn(&Path)| {
        let directory = directory("", "");
        change(directory.path());
        let output = Command::new(env!("CARGO_BIN_EXE_millwork-dock"))
            .args(["serve", "--config", "dock.toml"])
            .current_dir(directory.path())
            .output()
            .expect("the command");
        (output.status.code(), String::from_utf8(output.stderr).expect("text"))
    };
    let (code, said) =
        start(&|directory| std::fs::write(directory.join("schema.json"), "{").expect("written"));
    assert_eq!(code, Some(2));
    assert!(said.contains("dock /args") && said.contains("dock /managed"), "all of them at once: {said}");
    let (code, said) =
        start(&|directory| std::fs::remove_file(directory.join("dock.toml")).expect("removed"));
    assert_eq!(code, Some(2), "{said}");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port();
    let (code, said) = start(&|directory| {
        let file = directory.join("dock.toml");
        let text = std::fs::read_to_string(&file).expect("the configuration");
        std::fs::write(&file, text.replacen("127.0.0.1:0", &format!("127.0.0.1:{port}"), 1))
            .expect("written");
    });
    assert_eq!(code, Some(5), "{said}");
    assert!(said.contains("server.listen"), "{said}");
}
