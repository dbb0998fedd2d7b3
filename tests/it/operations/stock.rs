//! Stock clients pay through the stock facilitator on a stub chain, and foreign libraries verify what they get.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::{CATALOGUE, REPAIRED, VALID, get, post, services, start, x402};
use crate::node;
use crate::support::Dock;

/// The stock facilitator; it ends with its standard input.
struct Stock {
    child: Child,
    url: String,
    rpc: String,
    fee_payer: String,
}

impl Stock {
    /// Nothing, said plainly, where the packages are not installed.
    fn start() -> Option<Stock> {
        if !node::modules().join("@x402/svm/package.json").exists() || python().is_none() {
            println!("skipped: no x402 packages (`.ci/run` installs them)");
            return None;
        }
        let mut child = Command::new("node")
            .arg(script("facilitator.mjs"))
            .env("DOCK_TEST_NODE_MODULES", node::modules())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("node");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).expect("a facilitator");
        let text = |name: &str| said[name].as_str().unwrap_or_else(|| panic!("{name} in {said}")).to_owned();
        Some(Stock { url: text("url"), rpc: text("rpcUrl"), fee_payer: text("feePayer"), child })
    }

    async fn dock(&self) -> Dock {
        start(&format!("{}{}", services("x402"), x402(&self.url, &self.fee_payer))).await
    }

    /// What its log says.
    async fn log(&self) -> Value {
        self.call("GET", "/log", "").await
    }

    async fn control(&self, control: Value) {
        self.call("POST", "/control", &control.to_string()).await;
    }

    async fn call(&self, method: &str, path: &str, body: &str) -> Value {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let address = self.url.strip_prefix("http://").unwrap();
        let mut socket = tokio::net::TcpStream::connect(address).await.unwrap();
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        socket.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).await.unwrap();
        let (start, end) = (answer.find('{').unwrap(), answer.rfind('}').unwrap());
        serde_json::from_str(&answer[start..=end]).unwrap()
    }
}

impl Drop for Stock {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/x402").join(name)
}

/// The Python that has the packages.
fn python() -> Option<PathBuf> {
    let standard = || Path::new(env!("CARGO_MANIFEST_DIR")).join("target/python/bin/python");
    let python = std::env::var_os("DOCK_TEST_PYTHON").map_or_else(standard, PathBuf::from);
    python.exists().then_some(python)
}

/// Runs a script on one JSON value.
async fn ask(name: &'static str, ca: PathBuf, input: Value) -> Value {
    tokio::task::spawn_blocking(move || {
        let mut command = match name.rsplit_once('.') {
            Some((_, "py")) => Command::new(python().unwrap()),
            _ => Command::new("node"),
        };
        command.arg(script(name)).env("DOCK_TEST_NODE_MODULES", node::modules());
        command.env("NODE_EXTRA_CA_CERTS", &ca).env("REQUESTS_CA_BUNDLE", &ca);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
        let mut out = String::new();
        child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        assert!(child.wait().unwrap().success(), "{name}: {out}");
        serde_json::from_str(out.lines().last().unwrap()).unwrap()
    })
    .await
    .unwrap()
}

impl Dock {
    fn ca(&self) -> PathBuf {
        self.directory.path().join("ca.pem")
    }

    fn url(&self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.address.port())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stock_clients_pay_and_foreign_libraries_verify() {
    let Some(stock) = Stock::start() else { return };
    let dock = stock.dock().await;
    let jwks = get(&dock, "/.well-known/jwks.json", "").await.json();
    let mut paid = 0;
    for (client, version, path, body) in [
        ("client.mjs", 2, "/argument-check/check", REPAIRED),
        ("client.py", 2, "/split-profile/check", CATALOGUE),
        ("client.mjs", 1, "/split-profile/check", CATALOGUE),
        ("client.py", 1, "/argument-check/check", VALID),
    ] {
        let ask_client = |body: &str| {
            let input = json!({"url": dock.url(path), "rpcUrl": stock.rpc, "body": body, "version": version});
            ask(client, dock.ca(), input)
        };
        let said = ask_client(body).await;
        assert_eq!(
            (&said["status"], &said["requests"]),
            (&json!(200), &json!(2)),
            "{client} {version}: {said}"
        );
        paid += 1;
        let answer: Value = match &said["body"] {
            Value::String(text) => serde_json::from_str(text).unwrap(),
            value => value.clone(),
        };
        for verifier in ["verify.mjs", "verify.py"] {
            let verified = ask(verifier, dock.ca(), json!({"jws": answer["jws"], "jwks": jwks})).await;
            assert_eq!(verified["verified"], true, "{verifier}");
            let payload: Value = serde_json::from_str(verified["payload"].as_str().unwrap()).unwrap();
            assert_eq!(payload, answer["report"], "{verifier}");
            for part in ["payload", "protected", "signature"] {
                let mut jws = answer["jws"].clone();
                let text = jws[part].as_str().unwrap();
                let at = text.len() / 2;
                let other = if &text[at..=at] == "A" { "B" } else { "A" };
                jws[part] = format!("{}{other}{}", &text[..at], &text[at + 1..]).into();
                let verified = ask(verifier, dock.ca(), json!({"jws": jws, "jwks": jwks})).await;
                assert_eq!(verified["verified"], false, "{verifier}: a changed {part}");
            }
        }
        // Malformed: refused before any payment.
        let said = ask_client("{\"schema\":").await;
        assert_eq!((&said["status"], &said["requests"]), (&json!(400), &json!(1)), "{said}");
        assert_eq!(stock.log().await["settled"].as_array().unwrap().len(), paid);
        // The very same payment again.
        let name = said_header(&ask_client(body).await);
        paid += 1;
        let replayed = post(&dock, path, &name, body).await;
        assert_eq!(replayed.refusal(), (409, "payment_replayed".to_owned()));
        assert_eq!(stock.log().await["settled"].as_array().unwrap().len(), paid);
    }
}

/// The payment that a client sent, as a header line.
fn said_header(said: &Value) -> String {
    let text = |name: &str| said[name].as_str().unwrap_or_else(|| panic!("{name} in {said}"));
    format!("{}: {}\r\n", text("paymentHeaderName"), text("paymentHeader"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_late_settlement_costs_a_stock_client_one_payment() {
    let Some(stock) = Stock::start() else { return };
    let dock = stock.dock().await;
    stock.control(json!({"settleDelayMs": 3000})).await;
    let path = "/argument-check/check";
    let input = json!({"url": dock.url(path), "rpcUrl": stock.rpc, "body": VALID});
    let said = ask("client.mjs", dock.ca(), input).await;
    assert_eq!((&said["status"], &said["requests"]), (&json!(503), &json!(2)), "{said}");
    stock.control(json!({"settleDelayMs": 0})).await;
    let header = said_header(&said);
    let mut reply = post(&dock, path, &header, VALID).await;
    for _ in 0..120 {
        if reply.head.status == 200 {
            break;
        }
        assert!(
            ["payment_underway", "settlement_unknown"].contains(&reply.refusal().1.as_str()),
            "{reply:?}"
        );
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        reply = post(&dock, path, &header, VALID).await;
    }
    assert_eq!(reply.head.status, 200, "{reply:?}");
    let log = stock.log().await;
    assert_eq!((log["settled"].as_array().unwrap().len(), &log["settleCalls"]), (1, &json!(1)), "{log}");
}
