//! What an operator does with a running dock: asks for its health, sends it signals, hands it sockets, labels keys.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::command::run;
use crate::support::{Dock, GOOD, KEY, body, directory};

/// The program, started by `command` in some way, and what it has said so far.
struct Program {
    child: Child,
    said: BufReader<std::process::ChildStdout>,
}

impl Program {
    fn start(command: &mut Command) -> Program {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let said = BufReader::new(child.stdout.take().unwrap());
        Program { child, said }
    }

    /// What stands behind `start` in the line that begins so.
    fn line(&mut self, start: &str) -> String {
        loop {
            let mut line = String::new();
            assert_ne!(self.said.read_line(&mut line).unwrap(), 0, "no line {start}");
            if let Some(rest) = line.strip_prefix(start) {
                return rest.trim().to_owned();
            }
        }
    }

    fn signal(&self, name: &str) {
        let kill = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(kill.success());
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn serve(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_millwork-dock"));
    command.args(["serve", "--config"]).arg(directory.join("dock.toml"));
    command
}

#[tokio::test]
async fn every_answer_has_an_id_of_its_own() {
    let dock = Dock::start().await;
    let mut ids = std::collections::BTreeSet::new();
    for path in ["/args", "/managed", "/nothing"] {
        for _ in 0..3 {
            let reply = dock.post(path, "", &body(GOOD)).await;
            let id = reply.head.header("x-request-id").expect("an id").to_owned();
            assert!(id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
            assert!(ids.insert(id), "an id twice");
        }
    }
}

#[tokio::test]
async fn requests_are_counted_by_the_label_of_their_key() {
    let directory = directory("", "");
    std::fs::write(directory.path().join("keys"), format!("another-key-0123456789\nautumn {KEY}\n")).unwrap();
    let dock = Dock::in_directory(directory).await;
    for _ in 0..2 {
        let authorization = format!("authorization: Bearer {KEY}\r\n");
        assert!(dock.post("/managed", &authorization, &body(GOOD)).await.is_correct());
    }
    dock.post("/managed", "authorization: Bearer autumn\r\n", &body(GOOD)).await.refused(401, "unauthorized");
    let metrics = dock.get_admin("/metrics").await.1;
    for line in [
        r#"millwork_dock_key_requests_total{dock="/managed",key="1"} 0"#,
        r#"millwork_dock_key_requests_total{dock="/managed",key="autumn"} 2"#,
        concat!("millwork_dock_build_info{version=\"", env!("CARGO_PKG_VERSION"), "\"} 1"),
        r#"millwork_dock_tls_handshakes_total{version="1.3"} 3"#,
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line}\n{metrics}");
    }
    assert!(!metrics.contains(KEY));
}

#[tokio::test]
async fn health_is_asked_for_without_a_shell() {
    let dock = Dock::start().await;
    let admin = dock.admin.to_string();
    let ask = |more: &'static str| {
        let admin = admin.clone();
        tokio::task::spawn_blocking(move || {
            let arguments = ["health", "--admin", &admin, more];
            let arguments: Vec<&str> =
                arguments.into_iter().filter(|argument| !argument.is_empty()).collect();
            let ran = run(&arguments, "");
            (ran.status, ran.out)
        })
    };
    assert_eq!(ask("").await.unwrap(), (0, "{\"ready\":true,\"reasons\":[]}\n".to_owned()));
    assert_eq!(ask("--alive").await.unwrap().0, 0);
    assert_eq!(run(&["health", "--admin", "127.0.0.1:1"], "").status, 5);
}

#[test]
fn a_hangup_takes_a_changed_configuration_over_and_keeps_the_old_one_before_a_bad_one() {
    let directory = directory("", "");
    let mut program = Program::start(&mut serve(directory.path()));
    let admin = program.line("health, readiness and metrics http://");
    let file = directory.path().join("dock.toml");
    let good = std::fs::read_to_string(&file).unwrap();
    let failures = |wanted: &str| {
        for _ in 0..100 {
            if metrics(&admin).contains(&format!("millwork_dock_reload_failures_total {wanted}\n")) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("no {wanted} failures: {}", metrics(&admin));
    };
    std::fs::write(&file, good.replace("/check", "check")).unwrap();
    program.signal("-HUP");
    failures("1");
    std::fs::write(&file, good.replace("/check", "/renamed")).unwrap();
    program.signal("-HUP");
    for _ in 0..100 {
        if metrics(&admin).contains("dock=\"/renamed\"") {
            program.signal("-TERM");
            assert!(program.child.wait().unwrap().success());
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("not taken over: {}", metrics(&admin));
}

fn metrics(admin: &str) -> String {
    use std::io::Write;
    let mut socket = std::net::TcpStream::connect(admin).unwrap();
    socket.write_all(b"GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    socket.read_to_string(&mut text).unwrap();
    text
}

/// As systemd does it: sockets from descriptor 3 on, and their number in the environment.
#[test]
fn sockets_that_are_handed_over_are_listened_at() {
    const HAND_OVER: &str = "
import os, socket, sys
sockets = [socket.create_server(('127.0.0.1', 0)) for _ in range(2)]
print('ports', *[s.getsockname()[1] for s in sockets], flush=True)
for target, s in zip((3, 4), [os.dup(s.fileno()) + 0 for s in sockets]):
    os.dup2(s, target + 20)
for target in (3, 4):
    os.dup2(target + 20, target)
    os.set_inheritable(target, True)
os.environ.update(LISTEN_FDS='2', LISTEN_PID=str(os.getpid()))
os.execv(sys.argv[1], sys.argv[1:])
";
    if Command::new("python3").arg("--version").output().is_err() {
        println!("skipped: no python3");
        return;
    }
    let directory = directory("", "");
    let mut command = Command::new("python3");
    command.args(["-c", HAND_OVER, env!("CARGO_BIN_EXE_millwork-dock"), "serve", "--config"]);
    let mut program = Program::start(command.arg(directory.path().join("dock.toml")));
    let ports = program.line("ports ");
    let (docks, admin) = ports.split_once(' ').unwrap();
    assert!(program.line("dock https://").starts_with(&format!("localhost:{docks}/")));
    assert_eq!(program.line("health, readiness and metrics http://"), format!("127.0.0.1:{admin}"));
    let ran = run(&["health", "--admin", &format!("127.0.0.1:{admin}")], "");
    assert_eq!(ran.status, 0, "{}", ran.err);
}
