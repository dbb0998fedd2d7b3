//! Nothing submitted is kept: a canary in every field shows in no file, log, metric or error.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::facilitator::Facilitator;
use super::{FEE_PAYER, paying, services, write_key, x402};
use crate::support::{connect, directory, roots};

/// What no surface may show. It holds no character that any format would escape.
const CANARY: &str = "canary7Q2xZ9";

/// A process that does not outlive its test.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Sends one request and returns head and body.
async fn exchange(directory: &Path, port: u16, request: &str) -> String {
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], port));
    let mut stream = connect(address, roots(&directory.join("ca.pem")), &["http/1.1"]).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes).await;
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Every file under a directory but the configuration.
fn files(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.filter(|path| path.is_file());
    files.map(|path| (path.display().to_string(), std::fs::read(path).unwrap())).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_canary_in_every_field_shows_nowhere() {
    let facilitator = Facilitator::start().await;
    let docks = format!("{}{}", services("x402"), x402(&facilitator.url, FEE_PAYER));
    let directory = directory("", &docks);
    write_key(directory.path());
    let mut child = Command::new(env!("CARGO_BIN_EXE_millwork-dock"))
        .args(["serve", "--log", "trace", "--config"])
        .arg(directory.path().join("dock.toml"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut log = child.stderr.take().unwrap();
    let mut child = Killed(child);
    let logged = std::thread::spawn(move || {
        let mut text = Vec::new();
        log.read_to_end(&mut text).map(|_| String::from_utf8_lossy(&text).into_owned())
    });
    let mut said = [0; 4096];
    let length = child.0.stdout.as_mut().unwrap().read(&mut said).unwrap();
    let said = String::from_utf8_lossy(&said[..length]).into_owned();
    let port: u16 =
        said.split("dock https://localhost:").nth(1).unwrap().split('/').next().unwrap().parse().unwrap();

    let argument = |arguments: serde_json::Value| {
        json!({"caller": CANARY, CANARY: CANARY, "schema": {"type": "object", "title": CANARY,
            "properties": {CANARY: {"type": "number", "description": CANARY}, "e": {"enum": [CANARY]}},
            "additionalProperties": false}, "arguments": arguments})
    };
    let tool =
        json!({"name": CANARY, "description": CANARY, "inputSchema": {CANARY: CANARY}, CANARY: CANARY});
    let bodies = [
        ("/argument-check", argument(json!({CANARY: "1"}))),
        ("/argument-check", argument(json!({CANARY: CANARY, "x": CANARY, "e": CANARY}))),
        ("/argument-check", json!({"caller": CANARY, "schema": {CANARY: 1}, "arguments_text": CANARY})),
        ("/argument-check", json!({"schema": {"$ref": CANARY}, "arguments": {CANARY: CANARY}})),
        ("/argument-check", json!({"schema": {}, "arguments": CANARY})),
        ("/argument-check", json!({"schema": CANARY, "arguments": {}})),
        ("/split-profile", json!({"caller": CANARY, "catalogue": [tool, tool], "calls_per_day": CANARY})),
        (
            "/split-profile",
            json!({"catalogue": {"tools": [{"name": CANARY, "description": [CANARY]}], CANARY: 1}}),
        ),
        ("/split-profile", json!({"catalogue": CANARY})),
        ("/split-profile", json!([CANARY])),
    ];
    let (mut errors, mut reports) = (0, 0);
    for (number, (base, body)) in (1..).zip(bodies) {
        let body = body.to_string();
        for (endpoint, headers) in [
            ("precheck", String::new()),
            ("check", String::new()),
            ("check", paying(number)),
            ("check", format!("PAYMENT-SIGNATURE: {CANARY}\r\nx-{CANARY}: {CANARY}\r\n")),
            (CANARY, String::new()),
        ] {
            for cut in [body.as_str(), &body[..body.len() / 2]] {
                let request = format!(
                    "POST {base}/{endpoint}?{CANARY} HTTP/1.1\r\nhost: localhost\r\nuser-agent: {CANARY}\r\n\
                     connection: close\r\ncontent-length: {}\r\n{headers}\r\n{cut}",
                    cut.len()
                );
                let answer = exchange(directory.path(), port, &request).await;
                if answer.starts_with("HTTP/1.1 200") {
                    // A report is its submitter's own; a pre-check says nothing of what it was given.
                    reports += 1;
                    assert!(endpoint == "check" || !answer.contains(CANARY), "{answer}");
                } else {
                    errors += 1;
                    assert!(!answer.contains(CANARY), "{answer}");
                }
            }
        }
    }
    assert!(errors > 60 && reports > 5, "{errors} errors, {reports} reports");
    for base in ["/argument-check", "/split-profile"] {
        let request = format!("GET {base}/metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        let metrics = exchange(directory.path(), port, &request).await;
        assert!(metrics.contains("millwork_dock_operation_refusals_total") && !metrics.contains(CANARY));
    }
    let check_files = || {
        let files = files(directory.path());
        // What was written last may still be in the log beside the file.
        let store = files.iter().filter(|(name, _)| name.contains("dock.db")).map(|(_, bytes)| bytes.len());
        assert!(store.sum::<usize>() > 16 * 1024, "a store");
        for (name, bytes) in files {
            let found = bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes());
            assert!(!found, "the canary is in {name}");
        }
    };
    check_files();
    drop(child);
    check_files();
    let log = logged.join().unwrap().unwrap();
    assert!(log.contains("millwork_dock::request") && log.contains("hyper"), "a log at trace level");
    assert!(!log.contains(CANARY), "the canary is in the log");
}
