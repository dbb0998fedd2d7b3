//! The program as its users run it: exit status, reports, and no key anywhere.

use std::path::Path;
use std::process::{Command, Output};

use dock_conformance::broken::{Fault, LABELLED, Running, Stage};
use dock_conformance::keys;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{KEY, OVERLAP, RETIRED, TIMING, start};

/// A folder with what a run needs, and the dock that it is about.
struct Bench {
    folder: TempDir,
    dock: Running,
    stage: Stage,
}

impl Bench {
    async fn with(fault: Fault, stage: Stage) -> Bench {
        let bench = Bench {
            folder: tempfile::tempdir().expect("a folder"),
            dock: start(fault, stage, TIMING).await,
            stage,
        };
        std::fs::write(bench.path("cases.json"), LABELLED).expect("written");
        if let Some(authority) = &bench.dock.authority {
            std::fs::write(bench.path("ca.pem"), authority).expect("written");
        }
        bench
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Runs a command against the dock; `more` comes after the arguments that say which.
    async fn play(&self, command: &str, more: &[&str]) -> Output {
        let access = if self.stage == Stage::Keys { "authenticated" } else { "public" };
        let url = self.dock.url();
        let mut args = vec![command, "--url", &url, "--access", access, "--authorize-endpoint-test"];
        let loopback: &[&str] = match self.stage {
            Stage::Tls => &["--ca-file", "ca.pem", "--allow-loopback"],
            _ => &["--allow-http-loopback"],
        };
        args.extend(loopback);
        args.extend(more);
        program(self.folder.path(), &args).await
    }
}

/// Runs the program, keys in its environment. The dock serves on this runtime meanwhile.
async fn program(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dock-conformance"));
    command.args(args).current_dir(folder);
    command.env(keys::ENDPOINT_KEY, KEY).env(keys::OVERLAP_KEYS, OVERLAP).env(keys::RETIRED_KEYS, RETIRED);
    tokio::task::spawn_blocking(move || command.output().expect("the program")).await.expect("its end")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

const ALL_REPORTS: &[&str] = &["--cases", "cases.json", "--junit", "junit.xml", "--html", "report.html"];

#[tokio::test(flavor = "multi_thread")]
async fn a_good_dock_ends_with_0_and_says_what_that_does_not_prove() {
    let bench = Bench::with(Fault::None, Stage::Tls).await;
    let ran = bench.play("run", &[ALL_REPORTS, &["--strict"]].concat()).await;
    let out = text(&ran.stdout);
    assert_eq!(ran.status.code(), Some(0), "{out}{}", text(&ran.stderr));
    assert!(out.starts_with("All cases passed.\n") && out.contains("What a pass does not prove:"), "{out}");
    assert!(!out.contains("NOT REGISTRABLE"));
    let junit = bench.read("junit.xml");
    assert!(junit.contains("failures=\"0\"") && junit.matches("<testcase ").count() > 50, "{junit}");
    assert!(bench.read("report.html").contains("<h2>Findings</h2>\n<p>None.</p>"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_dock_ends_with_1_and_every_report_names_case_finding_and_remedy() {
    let bench = Bench::with(Fault::IsCorrectText, Stage::Public).await;
    let ran = bench.play("run", ALL_REPORTS).await;
    let out = text(&ran.stdout);
    assert_eq!(ran.status.code(), Some(1), "{out}");
    assert!(out.starts_with("NOT REGISTRABLE: "), "{out}");
    let ran = bench.play("run", &["--cases", "cases.json", "--json"]).await;
    let report: Value = serde_json::from_slice(&ran.stdout).expect("JSON");
    assert_eq!((&report["passed"], &report["registrable"]), (&Value::from(false), &Value::from(false)));
    let cases = report["cases"].as_array().expect("cases");
    let case = cases.iter().find(|case| case["id"] == "response.schema").expect("the case");
    assert_eq!(
        (&case["outcome"], &case["findings"][0]["finding"]),
        (&"failed".into(), &"is_correct_is_text".into())
    );
    assert!(case["findings"][0]["at"].as_array().expect("places").contains(&"labelled.in-range".into()));
    let labelled = cases.iter().find(|case| case["id"] == "labelled.in-range").expect("the case");
    assert_eq!(labelled["outcome"], "not_judged");
    assert!(report["does_not_prove"].as_array().is_some_and(|lines| !lines.is_empty()));
    for written in [out, bench.read("junit.xml"), bench.read("report.html")] {
        for part in ["response.schema", "is_correct_is_text", "as a boolean"] {
            assert!(written.contains(part), "{part}: {written}");
        }
    }
    assert_eq!(bench.read("junit.xml").matches("<failure ").count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recommended_case_fails_the_run_only_if_it_is_strict() {
    let bench = Bench::with(Fault::Cacheable, Stage::Public).await;
    let lenient = bench.play("run", ALL_REPORTS);
    let strict = bench.play("run", &["--cases", "cases.json", "--strict"]);
    let (lenient, strict) = tokio::join!(lenient, strict);
    assert_eq!((lenient.status.code(), strict.status.code()), (Some(0), Some(1)));
    assert!(bench.read("junit.xml").contains("<skipped message=\"recommended: cacheable\"/>"));
}

#[tokio::test(flavor = "multi_thread")]
async fn no_report_and_no_message_ever_holds_a_key() {
    let mut everything = String::new();
    for fault in [Fault::KeyEcho, Fault::ErrorEcho, Fault::OpenDoor] {
        let bench = Bench::with(fault, Stage::Keys).await;
        std::fs::write(bench.path("candidates.jsonl"), "{\"amount\":5}\n").expect("written");
        let (table, json, replayed, document) = tokio::join!(
            bench.play("run", ALL_REPORTS),
            bench.play("run", &["--json"]),
            bench.play("replay", &["--candidates", "candidates.jsonl"]),
            bench.play("replay", &["--candidates", "candidates.jsonl", "--json"]),
        );
        let receipts = text(&replayed.stdout);
        assert_eq!(receipts.contains("withheld"), fault == Fault::KeyEcho, "{receipts}");
        for ran in [table, json, replayed, document] {
            assert!(!ran.stdout.is_empty());
            everything.push_str(&text(&ran.stdout));
            everything.push_str(&text(&ran.stderr));
        }
        everything.push_str(&bench.read("junit.xml"));
        everything.push_str(&bench.read("report.html"));
    }
    assert!(everything.contains("key_echoed"));
    for key in [KEY, OVERLAP, RETIRED, "kit-wrong-key"] {
        assert!(!everything.contains(key), "a report holds {key}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_ends_with_2_and_repeats_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(
        folder.path().join("one.json"),
        r#"{"id":"a","label":"b","candidate":1,"expect":{"is_correct":true}}"#,
    )
    .expect("written");
    let good = ["run", "--url", "https://localhost:1/x", "--access", "public"];
    let authorized = [&good[..], &["--authorize-endpoint-test"]].concat();
    let with = |more: &[&'static str]| [&authorized[..], more].concat();
    let url =
        |url: &'static str| vec!["run", "--url", url, "--access", "public", "--authorize-endpoint-test"];
    for (args, says) in [
        (good.to_vec(), "--authorize-endpoint-test"),
        (authorized.clone(), "private or reserved"),
        (with(&["--api-key", KEY]), "no key is taken from an argument"),
        (with(&[KEY]), "unexpected argument"),
        (with(&["--protocol", KEY]), "isn't valid for an argument (--protocol)"),
        (with(&["--cases", "one.json"]), "at least one that passes"),
        (with(&["--cases", "none.json"]), "cannot read a file of --cases"),
        (vec!["run", "--url", "https://localhost:1/x"], "--access"),
        (url("http://localhost:1/"), "registration.https"),
        (url("https://canary-key-of-now-5ac1@localhost:1/?a#b"), "registration.no_user_info"),
        (url("https://localhost:1/token=canary-key-of-now-5ac1"), "registration.no_credential"),
        (url("https://10.0.0.1/"), "private or reserved"),
        (vec!["serve-broken", "--fault", "nothing-like-it"], "no such fault"),
        (vec!["serve-broken", "--fault", "wrong-name", "--plain"], "leave out --plain"),
        (vec!["explain", "nothing.like_it"], "no such case"),
    ] {
        let ran = program(folder.path(), &args).await;
        let said = text(&ran.stderr);
        assert_eq!(ran.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains(says), "{args:?}: {said}");
        assert!(!said.contains(KEY) && ran.stdout.is_empty(), "{args:?}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_authenticated_run_needs_its_key() {
    let folder = tempfile::tempdir().expect("a folder");
    let args =
        ["run", "--url", "https://localhost:1/x", "--access", "authenticated", "--authorize-endpoint-test"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_dock-conformance"));
    let output = command
        .args(args)
        .current_dir(folder.path())
        .env_remove(keys::ENDPOINT_KEY)
        .output()
        .expect("the program");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains(keys::ENDPOINT_KEY));
}

#[tokio::test(flavor = "multi_thread")]
async fn replay_shows_receipts_and_ends_with_1_if_one_has_no_verdict() {
    let bench = Bench::with(Fault::ExtraMembers, Stage::Tls).await;
    let lines = "{\"amount\":5}\n{\"amount\":500}\n\" {\\\"amount\\\": 7}\"\n{\"amount\":\"crash\"}\n";
    std::fs::write(bench.path("all.jsonl"), lines).expect("written");
    let ran = bench.play("replay", &["--candidates", "all.jsonl", "--json"]).await;
    assert_eq!(ran.status.code(), Some(1), "{}", text(&ran.stderr));
    let document: Value = serde_json::from_slice(&ran.stdout).expect("JSON");
    let totals = &document["totals"];
    assert_eq!((&totals["correct"], &totals["not_correct"]), (&2.into(), &1.into()));
    assert_eq!(
        (&totals["no_verdict"]["status 500"], &totals["anchors_not_held"]["amount_in_range"]),
        (&1.into(), &1.into())
    );
    let first = &document["receipts"][0];
    assert_eq!(
        (&first["quality_score"], &first["anchor_results"]["amount_present"]),
        (&1.0.into(), &true.into())
    );
    // Validated and dropped, as Millwork does.
    assert_eq!(first["named_metrics_dropped"], 1);
    assert_eq!(first.get("named_metrics"), None);
    let ran = bench.play("replay", &["--candidates", "all.jsonl", "--protocol", "h2"]).await;
    let out = text(&ran.stdout);
    assert!(out.contains("4 candidates: 2 correct, 1 not correct, 1 without a verdict"), "{out}");
    std::fs::write(bench.path("good.jsonl"), "{\"amount\":500}\n").expect("written");
    assert_eq!(bench.play("replay", &["--candidates", "good.jsonl"]).await.status.code(), Some(0));
    std::fs::write(bench.path("bad.jsonl"), "{\"amount\":500}\n{").expect("written");
    let ran = bench.play("replay", &["--candidates", "bad.jsonl"]).await;
    assert_eq!((ran.status.code(), text(&ran.stderr).contains("line 2 is not JSON")), (Some(2), true));
}

/// `serve-broken`, killed when it is dropped.
struct Broken(std::process::Child);

impl Drop for Broken {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_dock_can_be_served_and_its_fault_found() {
    let folder = tempfile::tempdir().expect("a folder");
    for (more, fault, found) in [
        (&["--plain"][..], "redirect", "redirected"),
        (&[], "untrusted-certificate", "certificate_untrusted"),
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_dock-conformance"))
            .args(["serve-broken", "--fault", fault])
            .args(more)
            .current_dir(folder.path())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("the program");
        let out = child.stdout.take().expect("its output");
        let _served = Broken(child);
        let mut url = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut url).expect("a URL");
        let mut args = vec!["run", "--url", url.trim(), "--access", "public", "--authorize-endpoint-test"];
        args.extend(if more.is_empty() {
            ["--allow-loopback", "--ca-file", "ca.pem"].as_slice()
        } else {
            &["--allow-http-loopback"]
        });
        let ran = program(folder.path(), &args).await;
        let said = text(&ran.stdout);
        assert_eq!(ran.status.code(), Some(1), "{said}{}", text(&ran.stderr));
        assert!(said.contains(found) && said.contains("1 required case failed."), "{said}");
        assert_eq!(said.contains("NOT REGISTRABLE"), !more.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn list_and_explain_tell_every_case() {
    let folder = tempfile::tempdir().expect("a folder");
    let listed = text(&program(folder.path(), &["list"]).await.stdout);
    for case in dock_conformance::case::all() {
        assert!(
            listed.lines().any(|line| line.starts_with(case.id) && line.contains(case.severity.word())),
            "{}",
            case.id
        );
        let told = text(&program(folder.path(), &["explain", case.id]).await.stdout);
        for part in [case.shows, case.todo, case.requirement, "serve-broken --fault "] {
            assert!(told.contains(part), "{}: {told}", case.id);
        }
    }
    let told = text(&program(folder.path(), &["explain", "registration.https"]).await.stdout);
    assert!(told.contains("before anything is sent"), "{told}");
    let faults = text(&program(folder.path(), &["serve-broken", "--list"]).await.stdout);
    assert!(
        faults.contains("is-correct-text: ") && faults.contains("    response.schema: is_correct_is_text")
    );
}

/// Runs as a child of the next test, with the hook of the program and a panic that holds a key.
#[test]
fn panic_of_a_child() {
    if std::env::var_os("PANIC_WITH_A_KEY").is_some() {
        dock_conformance::cli::install_panic_hook();
        panic!("{KEY}");
    }
}

#[test]
fn a_panic_does_not_tell_what_was_at_hand() {
    let output = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "program::panic_of_a_child", "--nocapture"])
        .env("PANIC_WITH_A_KEY", "1")
        .output()
        .expect("this program");
    let said = text(&output.stderr) + &text(&output.stdout);
    assert!(said.contains("a fault of the kit itself, at ") && said.contains("program.rs:"), "{said}");
    assert!(!said.contains(KEY), "{said}");
}
