//! Killed processes: what clients were told and what the ledger says stay one.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::facilitator::{Facilitator, Mode};
use super::{FEE_PAYER, VALID, paying, services, settlement, write_key, x402};
use crate::command::run;
use crate::store::Place;
use crate::support::{Head, Reply, connect, directory, roots};

const ROUNDS: u32 = 20;

/// The program, serving.
struct Served {
    child: Child,
    port: u16,
}

impl Served {
    fn start(directory: &Path) -> Served {
        let mut child = Command::new(env!("CARGO_BIN_EXE_millwork-dock"))
            .args(["serve", "--config"])
            .arg(directory.join("dock.toml"))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut urls = lines.map_while(Result::ok).filter(|line| line.starts_with("dock https://"));
        let url = urls.next().expect("a dock");
        let port = url.rsplit(':').next().unwrap().split('/').next().unwrap().parse().unwrap();
        Served { child, port }
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// One paid check; nothing if the connection breaks.
async fn buy(directory: std::path::PathBuf, port: u16, number: u32) -> Option<Reply> {
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], port));
    let mut stream = connect(address, roots(&directory.join("ca.pem")), &["http/1.1"]).await.ok()?;
    let request = format!(
        "POST /argument-check/check HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {}\r\n{}\r\n{VALID}",
        VALID.len(),
        paying(number)
    );
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut bytes = Vec::new();
    // A killed process ends the connection without a word.
    let _ = stream.read_to_end(&mut bytes).await;
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = String::from_utf8(bytes[..end].to_vec()).ok()?;
    let mut lines = head.split("\r\n");
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let body = bytes[end + 4..].to_vec();
    let whole =
        headers.iter().any(|(name, value)| name == "content-length" && *value == body.len().to_string());
    whole.then_some(Reply { head: Head { status, headers }, body })
}

fn command(directory: &Path, arguments: &[&str]) -> String {
    let config = directory.join("dock.toml");
    let ran = run(&[arguments, &["--config", config.to_str().unwrap()]].concat(), "");
    assert_eq!(ran.status, 0, "{}", ran.err);
    ran.out
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_process_loses_nothing_that_it_told() {
    for place in Place::every().await {
        println!("{}", place.name);
        kill_again_and_again(&place.url).await;
    }
}

async fn kill_again_and_again(store: &str) {
    let facilitator = Facilitator::start().await;
    let store = format!("[store]\nurl = \"{store}\"\n");
    let docks = format!("{}{}{store}", services("x402"), x402(&facilitator.url, FEE_PAYER));
    let directory = directory("", &docks);
    write_key(directory.path());
    let mut delivered = BTreeSet::new();
    let mut open = Vec::new();
    for round in 0..ROUNDS {
        facilitator.set(Mode { delay: Duration::from_millis(u64::from(round % 4) * 15), ..Mode::default() });
        let served = Served::start(directory.path());
        let (path, port) = (directory.path().to_owned(), served.port);
        let buyers: Vec<_> =
            (0..8).map(|buyer| tokio::spawn(buy(path.clone(), port, round * 100 + buyer))).collect();
        tokio::time::sleep(Duration::from_millis(20 + u64::from(round) * 12)).await;
        served.kill();
        for (buyer, bought) in (0..).zip(buyers) {
            match bought.await.unwrap() {
                Some(reply) if reply.head.status == 200 => {
                    let tx =
                        settlement(&reply, "payment-response")["transaction"].as_str().unwrap().to_owned();
                    assert!(delivered.insert(tx), "delivered twice");
                }
                _ => open.push(round * 100 + buyer),
            }
        }
    }
    facilitator.set(Mode::default());
    let settled = facilitator.settled();
    assert!(settled.values().all(|times| *times == 1), "nothing is settled twice: {settled:?}");
    let export = ["ledger", "export", "--op", "argument-check", "--format", "jsonl"];
    let rows: Vec<String> = command(directory.path(), &export)
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["payment_tx_id"].as_str().unwrap().to_owned()
        })
        .collect();
    let recorded: BTreeSet<String> = rows.iter().cloned().collect();
    assert_eq!(recorded.len(), rows.len());
    assert!(delivered.is_subset(&recorded), "every delivered report has its row");
    assert!(recorded.iter().all(|tx| settled.contains_key(tx)), "every row was settled");
    // What was settled and is not in the ledger waits for the operator, and nothing else does.
    let unresolved = command(directory.path(), &["ledger", "unresolved"]);
    let waiting = unresolved.lines().filter(|line| line.contains("argument-check")).count();
    assert!(
        settled.len() - recorded.len() <= waiting,
        "{} settled, {} recorded\n{unresolved}",
        settled.len(),
        recorded.len()
    );
    println!(
        "{} delivered, {} recorded, {} settled, {waiting} without an outcome, {} without an answer",
        delivered.len(),
        recorded.len(),
        settled.len(),
        open.len()
    );
    assert!(
        delivered.len() > 20 && open.len() > 5,
        "the kills come in between: {} and {}",
        delivered.len(),
        open.len()
    );
    // A payment that is recorded and was never delivered brings its report when it is sent again.
    tokio::time::sleep(Duration::from_secs(5)).await;
    let served = Served::start(directory.path());
    for number in open {
        let reply = buy(directory.path().to_owned(), served.port, number).await.expect("an answer");
        if reply.head.status == 200 {
            let tx = settlement(&reply, "payment-response")["transaction"].as_str().unwrap().to_owned();
            assert!(delivered.insert(tx), "delivered twice");
        } else {
            let (status, code) = reply.refusal();
            assert!(status == 503 && code == "payment_underway", "{status} {code}");
        }
    }
    served.kill();
    assert!(recorded.is_subset(&delivered), "all that is in the ledger was delivered in the end");
    assert!(facilitator.settled().values().all(|times| *times == 1));
}
