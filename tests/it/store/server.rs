//! A PostgreSQL server of the tests' own: in a temporary folder, on a free port of loopback, with a certificate.
//!
//! Tests that run at the same time share it. It ends with the last of them, and also when they are killed: a shell
//! stops it as soon as its own standard input ends.

use std::fs::{self, File, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio_postgres::NoTls;

const USER: &str = "dock";
pub(super) const PASSWORD: &str = "correct-horse-battery";

/// Runs a server until standard input ends.
const GUARD: &str = r#""$@" & server=$!; cat >/dev/null; kill -INT "$server" 2>/dev/null; wait "$server""#;

static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());

/// A running server.
pub(super) struct Server {
    // Ends before its folder is removed.
    _running: Running,
    directory: TempDir,
    port: u16,
    databases: AtomicU32,
}

/// The shell around a server. Stops it when dropped, also on panic.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// Whom the server runs as: PostgreSQL refuses root.
#[derive(Clone, Copy)]
struct User {
    uid: u32,
    gid: u32,
}

impl Server {
    /// The one of this process; none, said plainly, where PostgreSQL is not installed.
    pub(super) fn shared() -> Option<Arc<Server>> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(server) = shared.upgrade() {
            return Some(server);
        }
        let Some(programs) = programs() else {
            let ci = std::env::var("CI");
            assert_ne!(ci.as_deref(), Ok("true"), "no PostgreSQL, and with CI=true nothing is skipped");
            println!("skipped on PostgreSQL: neither PATH nor /usr/lib/postgresql has initdb and postgres");
            return None;
        };
        let server = Arc::new(Server::start(&programs));
        *shared = Arc::downgrade(&server);
        Some(server)
    }

    fn start(programs: &Path) -> Server {
        let user = unprivileged();
        let directory = tempfile::tempdir().expect("a directory");
        let path = |name: &str| directory.path().join(name);
        give(directory.path(), user);
        fs::write(path("password"), PASSWORD).expect("written");
        let mut initdb = as_user(user, &programs.join("initdb"));
        initdb.arg("-D").arg(path("data")).arg("--pwfile").arg(path("password"));
        initdb.args(["-U", USER, "-A", "scram-sha-256", "-E", "UTF8", "--locale", "C", "--no-sync"]);
        let made = initdb.output().expect("initdb");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let itself = rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()]);
        let itself = itself.expect("a certificate");
        fs::write(path("server.crt"), itself.cert.pem()).expect("written");
        fs::write(path("server.key"), itself.signing_key.serialize_pem()).expect("written");
        fs::set_permissions(path("server.key"), Permissions::from_mode(0o600)).expect("a mode");
        give(&path("server.key"), user);
        // Somebody may take the port between the look for it and its use.
        let started = (0..5).find_map(|_| run(programs, user, directory.path()));
        let (running, port) = started.expect("a server that starts");
        Server { _running: running, directory, port, databases: AtomicU32::new(0) }
    }

    /// The URL of a new database, without `?…`.
    pub(super) async fn database(&self) -> String {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        let admin = client(&self.url("postgres")).await;
        admin.batch_execute(&format!("CREATE DATABASE {name}")).await.expect("a database");
        self.url(&name)
    }

    fn url(&self, database: &str) -> String {
        format!("postgres://{USER}:{PASSWORD}@127.0.0.1:{}/{database}", self.port)
    }

    /// The file with the certificate that signed itself.
    pub(super) fn certificate(&self) -> PathBuf {
        self.directory.path().join("server.crt")
    }
}

/// A plain connection, for looking past the store.
pub(super) async fn client(url: &str) -> tokio_postgres::Client {
    let url = format!("{}?sslmode=disable", url.split('?').next().expect("a URL"));
    let (client, connection) = tokio_postgres::connect(&url, NoTls).await.expect("a connection");
    tokio::spawn(connection);
    client
}

fn run(programs: &Path, user: Option<User>, directory: &Path) -> Option<(Running, u16)> {
    let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("its address").port();
    let set = |name: &str, value: &str| format!("--{name}={value}");
    let place = |name: &str| directory.join(name).display().to_string();
    let server = as_user(user, &programs.join("postgres"));
    let mut guard = Command::new("sh");
    guard.args(["-c", GUARD, "guard"]).arg(server.get_program()).args(server.get_args());
    guard.args(["-D", &place("data")]);
    guard.args([set("port", &port.to_string()), set("listen_addresses", "127.0.0.1")]);
    guard.args([set("unix_socket_directories", ""), set("max_connections", "200"), set("fsync", "off")]);
    guard.args([set("ssl", "on"), set("ssl_cert_file", &place("server.crt"))]);
    guard.arg(set("ssl_key_file", &place("server.key")));
    let log = File::create(directory.join("log")).expect("a log");
    guard.stdin(Stdio::piped()).stdout(log.try_clone().expect("a log")).stderr(log);
    guard.current_dir(directory);
    let running = Running(guard.spawn().expect("a shell"));
    let until = Instant::now() + Duration::from_secs(30);
    while Instant::now() < until {
        let state = fs::read_to_string(directory.join("data/postmaster.pid")).unwrap_or_default();
        if state.lines().any(|line| line.trim() == "ready") {
            return Some((running, port));
        }
        if fs::read_to_string(directory.join("log")).unwrap_or_default().contains("FATAL") {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    println!("{}", fs::read_to_string(directory.join("log")).unwrap_or_default());
    None
}

/// The folder of `initdb` and `postgres`: the newest that Debian's packages installed, or one of PATH.
fn programs() -> Option<PathBuf> {
    let mut folders: Vec<PathBuf> = fs::read_dir("/usr/lib/postgresql")
        .map(|versions| versions.filter_map(Result::ok).map(|version| version.path().join("bin")).collect())
        .unwrap_or_default();
    folders.sort();
    folders.reverse();
    folders.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    folders.into_iter().find(|folder| folder.join("initdb").exists() && folder.join("postgres").exists())
}

/// `postgres` or `nobody` for root; nobody else needs another user.
fn unprivileged() -> Option<User> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").expect("the users");
    let found = ["postgres", "nobody"].iter().find_map(|name| {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut ids = line.split(':').skip(2).map(|id| id.parse().expect("an id"));
        Some(User { uid: ids.next()?, gid: ids.next()? })
    });
    Some(found.expect("a user that is not root"))
}

fn as_user(user: Option<User>, program: &Path) -> Command {
    let Some(User { uid, gid }) = user else { return Command::new(program) };
    let mut command = Command::new("setpriv");
    command.args([format!("--reuid={uid}"), format!("--regid={gid}"), "--clear-groups".to_owned()]);
    command.arg(program);
    command
}

fn give(path: &Path, user: Option<User>) {
    if let Some(User { uid, gid }) = user {
        chown(path, Some(uid), Some(gid)).expect("given away");
    }
}
