//! Processes that share one database: eight that start at once, and one that is killed.
//!
//! Each is this test binary again, as `one_process`, with its work in the environment.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use millwork_dock::service::Op::ArgumentCheck;
use millwork_dock::service::store::ledger::{Cell, columns};
use millwork_dock::service::store::{Allowance, Quota, ReplayKey, Reserved, Store, open};
use millwork_dock::utc::Utc;

use super::{NOON, Place, at, entry, settled};

const WORK: &str = "DOCK_STORE_WORK";
const URL: &str = "DOCK_STORE_URL";
const NUMBER: &str = "DOCK_STORE_NUMBER";
/// When the test began, in milliseconds after 1970: the processes' common zero.
const ZERO: &str = "DOCK_STORE_ZERO";

const PROCESSES: u64 = 8;
const INTERVAL_MS: u64 = 40;
const KEYS: u8 = 40;

/// A process at work, killed when it is dropped.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Process {
    fn start(place: &Place, work: &str, number: u64, zero: u64) -> Process {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args(["--exact", "store::processes::one_process", "--ignored", "--nocapture"]);
        command.env(WORK, work).env(URL, &place.url).env(NUMBER, number.to_string());
        command.env(ZERO, zero.to_string());
        Process(command.stdout(Stdio::piped()).spawn().expect("a process"))
    }

    /// What it says, line by line, until its output ends.
    fn lines(&mut self) -> impl Iterator<Item = String> + use<> {
        let out = BufReader::new(self.0.stdout.take().expect("its output"));
        let lines = out.lines().map_while(Result::ok);
        lines.filter_map(|line| line.split_once("SAID ").map(|(_, said)| said.to_owned()))
    }
}

/// Starts all at once; what each of them said, of those that ended well.
fn together(place: &Place, work: &str) -> Vec<String> {
    let zero = Utc::now().unix_millis();
    let mut all: Vec<Process> =
        (0..PROCESSES).map(|number| Process::start(place, work, number, zero)).collect();
    let said = all.iter_mut().flat_map(Process::lines).collect();
    for process in &mut all {
        assert!(process.0.wait().expect("an end").success(), "{}: a process failed", place.name);
    }
    said
}

#[tokio::test]
#[ignore = "a helper that the other tests start"]
async fn one_process() {
    let Ok(work) = std::env::var(WORK) else { return };
    let number: u64 = std::env::var(NUMBER).expect("a number").parse().expect("a number");
    let zero: u64 = std::env::var(ZERO).expect("a time").parse().expect("a time");
    let store = open(&std::env::var(URL).expect("a URL")).await.expect("a store");
    // No test may depend on the hour that it runs at.
    let now = || Utc::from_unix_millis(NOON + Utc::now().unix_millis() - zero);
    match work.as_str() {
        "open" => println!("SAID open"),
        "allowance" => {
            let allowance = Allowance { per_day: 100, min_interval_ms: 0 };
            for _ in 0..60 {
                println!(
                    "SAID {:?}",
                    store.quota_take(ArgumentCheck, "a", allowance, now()).await.expect("an answer")
                );
            }
        }
        "interval" => {
            let allowance = Allowance { per_day: 100_000, min_interval_ms: INTERVAL_MS };
            while now() < at(2_500) {
                let asked = now();
                let answer = store.quota_take(ArgumentCheck, "a", allowance, asked).await.expect("an answer");
                if answer == Quota::Granted {
                    println!("SAID {}", asked.unix_millis());
                }
            }
        }
        "reserve" => {
            for byte in 0..KEYS {
                let answer =
                    store.reserve(ArgumentCheck, ReplayKey([byte; 32]), now()).await.expect("an answer");
                println!("SAID {byte} {answer:?}");
            }
        }
        "pay" => pay(&*store, number).await,
        other => panic!("no such work: {other}"),
    }
}

/// Settles one payment after the other, and says so each time, until it is killed.
async fn pay(store: &dyn Store, process: u64) {
    for number in 0_u64.. {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&process.to_be_bytes());
        key[8..16].copy_from_slice(&number.to_be_bytes());
        let (key, tx) = (ReplayKey(key), format!("{process}-{number}"));
        assert_eq!(store.reserve(ArgumentCheck, key, at(0)).await.expect("an answer"), Reserved::Fresh);
        store.ledger_begin(key, &entry(ArgumentCheck, 0), at(0)).await.expect("begun");
        println!("SAID begun {tx}");
        assert!(store.ledger_finish(key, &settled(&tx), at(0)).await.expect("finished"));
        println!("SAID finished {tx}");
    }
}

#[tokio::test]
async fn eight_processes_share_one_allowance_exactly() {
    for place in Place::every().await {
        let said = together(&place, "allowance");
        let count = |answer: &str| said.iter().filter(|said| *said == answer).count();
        assert_eq!((said.len(), count("Granted"), count("Exhausted")), (480, 100, 380), "{}", place.name);
        let free = place.open().await.figures(ArgumentCheck, "2026-11-30").await.expect("figures").free;
        assert_eq!(free, 100, "{}", place.name);
    }
}

#[tokio::test]
async fn eight_processes_never_grant_nearer_than_the_interval() {
    for place in Place::every().await {
        place.open().await;
        let mut granted: Vec<u64> =
            together(&place, "interval").iter().map(|said| said.parse().expect("a time")).collect();
        granted.sort_unstable();
        assert!(granted.len() > 5, "{}: only {granted:?}", place.name);
        let near = granted.windows(2).find(|pair| pair[1] - pair[0] < INTERVAL_MS);
        assert_eq!(near, None, "{}: {granted:?}", place.name);
    }
}

#[tokio::test]
async fn of_eight_processes_one_takes_a_payment() {
    for place in Place::every().await {
        let mut answers: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for said in together(&place, "reserve") {
            let (key, answer) = said.split_once(' ').expect("a key");
            answers.entry(key.to_owned()).or_default().push(answer.to_owned());
        }
        assert_eq!(answers.len(), usize::from(KEYS), "{}", place.name);
        for (key, mut of) in answers {
            of.sort();
            let others = ["Underway"; 7];
            assert_eq!(
                (of[0].as_str(), &of[1..]),
                ("Fresh", &others.map(str::to_owned)[..]),
                "{}: {key}",
                place.name
            );
        }
    }
}

#[tokio::test]
async fn what_was_acknowledged_outlives_a_kill() {
    const ROUNDS: u64 = 6;
    for place in Place::every().await {
        let (mut finished, mut begun) = (BTreeSet::new(), BTreeSet::new());
        for round in 0..ROUNDS {
            let mut process = Process::start(&place, "pay", round, 0);
            let mut lines = process.lines();
            let mut keep = |said: &str| {
                let (what, tx) = said.split_once(' ').expect("a transaction");
                if what == "finished" { &mut finished } else { &mut begun }.insert(tx.to_owned());
            };
            // An odd number of lines ends after a beginning, an even one after an end.
            for said in lines.by_ref().take(20 + usize::try_from(round).expect("a number")) {
                keep(&said);
            }
            process.0.kill().expect("a signal");
            // What it said before it was killed counts too.
            lines.for_each(|said| keep(&said));
        }
        let store = place.open().await;
        let rows = store.ledger_page(ArgumentCheck, None, 100_000).await.expect("rows");
        let tx = columns(ArgumentCheck).iter().position(|name| *name == "payment_tx_id").expect("a column");
        let kept: BTreeSet<String> = rows
            .iter()
            .map(|row| if let Cell::Text(tx) = &row[tx] { tx.clone() } else { panic!("{row:?}") })
            .collect();
        let lost: Vec<&String> = finished.difference(&kept).collect();
        assert!(lost.is_empty(), "{}: lost {lost:?}", place.name);
        assert!(finished.len() >= 60, "{}: {}", place.name, finished.len());
        // Whatever began is in the ledger, or is listed as without an outcome; at most one of each process.
        let unresolved = store.unresolved(at(1)).await.expect("a list").len();
        let open = begun.difference(&kept).count();
        assert!(open <= unresolved, "{}: {open} have no outcome, {unresolved} are listed", place.name);
        assert!(unresolved <= usize::try_from(ROUNDS).expect("a number"), "{}: {unresolved}", place.name);
    }
}

/// The system's authorities are what `SSL_CERT_FILE` names.
#[tokio::test]
async fn the_variable_for_authorities_is_honoured() {
    let Some(place) = Place::server().await else { return };
    let certificate = place.server.as_ref().expect("a server").certificate();
    let url = format!("{}?sslmode=verify-full", place.url.split('?').next().expect("a URL"));
    for (variable, opens) in [("SSL_CERT_FILE", true), ("DOCK_NO_SUCH_VARIABLE", false)] {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args(["--exact", "store::processes::one_process", "--ignored", "--nocapture"]);
        command.env(WORK, "open").env(URL, &url).env(NUMBER, "0").env(ZERO, "0").env(variable, &certificate);
        let out = command.output().expect("a process");
        let said = String::from_utf8_lossy(&out.stdout).contains("SAID open");
        assert_eq!((out.status.success(), said), (opens, opens), "{variable}: {out:?}");
    }
}
