//! Inputs made to cost time or memory: each ends by itself, in bounded time and memory.
//!
//! Each case runs in a process of its own, so that its peak of memory can be read. The bounds are wide: they
//! tell linear from quadratic, not fast from slow, since tests run unoptimised on shared machines.

use std::process::Command;
use std::time::Instant;

use cases::CASES;

mod cases;

const CASE: &str = "DOCK_HOSTILE_CASE";

/// A case: its name, what it does, and the outcome that must come of it.
struct Case(&'static str, fn() -> String, &'static str);

#[test]
fn every_hostile_input_is_bounded() {
    if !std::path::Path::new("/proc/self/clear_refs").exists() {
        println!("skipped: no /proc to read the peak of memory from");
        return;
    }
    let mut failures = Vec::new();
    for Case(name, _, expected) in CASES {
        let exe = std::env::current_exe().unwrap();
        let mut child = Command::new(exe);
        child.args(["--exact", "argument_hostile::one_case", "--ignored", "--nocapture"]).env(CASE, name);
        let out = child.output().unwrap();
        let out = String::from_utf8_lossy(&out.stdout).into_owned();
        let Some(result) = out.lines().find_map(|line| line.split_once("RESULT ")) else {
            failures.push(format!("{name}: no result: {out}"));
            continue;
        };
        let result: Vec<&str> = result.1.split(' ').collect();
        let [outcome, millis, kib] = result[..] else { panic!("{out}") };
        println!("{name}: {outcome}, {millis} ms, {kib} KiB more");
        let bounded = millis.parse::<u64>().unwrap() < 30_000 && kib.parse::<u64>().unwrap() < 300_000;
        if outcome != *expected || !bounded {
            failures.push(format!("{name}: {outcome} (expected {expected}), {millis} ms, {kib} KiB more"));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
#[ignore = "a helper that the test above starts"]
fn one_case() {
    let Ok(wanted) = std::env::var(CASE) else { return };
    let case = CASES.iter().find(|case| case.0 == wanted).unwrap();
    println!("RESULT {}", case.1());
}

/// The outcome, the milliseconds and the peak of memory above what was held before, of `run`.
fn measured(run: impl FnOnce() -> String) -> String {
    let field = |name: &str| {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
    };
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = field("VmRSS");
    let start = Instant::now();
    let outcome = run();
    let millis = start.elapsed().as_millis();
    format!("{outcome} {millis} {}", field("VmHWM").saturating_sub(before))
}
