//! The matrix: every fault is found by exactly the cases that its row names, and every case finds some fault.

use std::collections::BTreeSet;
use std::fmt::Write;

use dock_conformance::broken::{Fault, Stage};
use dock_conformance::case::{self, Severity};
use dock_conformance::client::{Client, Trust};
use dock_conformance::finding::Finding;
use dock_conformance::run::{self, Advice, Findings, Outcome};

use crate::support::{self, TIMING, failed, plan, start};

/// How many docks are played against at once. Most of a run is waiting for the slow cases.
const AT_ONCE: usize = 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_fault_is_found_by_exactly_the_cases_of_its_row() {
    let gate = std::sync::Arc::new(tokio::sync::Semaphore::new(AT_ONCE));
    let mut runs = tokio::task::JoinSet::new();
    for fault in Fault::ALL {
        let gate = std::sync::Arc::clone(&gate);
        runs.spawn(async move {
            let _place = gate.acquire().await.expect("the gate stays open");
            (*fault, support::run(*fault, fault.stage()).await)
        });
    }
    let mut report = String::new();
    while let Some(run) = runs.join_next().await {
        let (fault, findings) = run.expect("a run");
        let mut expected: Vec<(String, Finding)> =
            fault.found_by().iter().map(|(id, finding)| ((*id).to_owned(), *finding)).collect();
        expected.sort();
        let found = failed(&findings);
        if found != expected {
            writeln!(report, "{}: expected {expected:?}\n    found {found:?}", fault.name())
                .expect("written");
        }
        if let Some(why) = unexplained(&findings) {
            writeln!(report, "{}: {why}", fault.name()).expect("written");
        }
        let advice: &[Advice] = match fault {
            Fault::ProbePasses => &[Advice::ProbePasses],
            Fault::ProbeScores => &[Advice::ProbeScores],
            Fault::Created => &[Advice::StatusNot200],
            Fault::MetricsDiffer => &[Advice::MetricsDiffer],
            _ => &[],
        };
        assert_eq!(findings.advice, advice, "{}", fault.name());
    }
    assert!(report.is_empty(), "{report}");
}

/// A case that was not judged must be explained by a required one that failed, or the run would pass by silence.
fn unexplained(findings: &Findings) -> Option<String> {
    let failed = findings.played.iter().any(|played| matches!(played.outcome, Outcome::Failed(_)));
    let silent = findings.played.iter().find(|played| played.outcome == Outcome::NotJudged)?;
    (!failed).then(|| format!("{} was not judged and nothing failed", silent.id))
}

/// The name is resolved for each call, so the rule for addresses holds for each call, whatever was found at start.
#[tokio::test]
async fn a_reserved_address_is_refused_at_every_call() {
    let dock = start(Fault::None, Stage::Public, TIMING).await;
    let mut plan = plan(&dock, Stage::Public, TIMING);
    plan.client = Client::new(plan.client.endpoint().clone(), Trust::public().expect("authorities"), false);
    let findings = run::run(&plan, &|_, _, _| {}).await;
    assert_eq!(failed(&findings), [("transport.connection".to_owned(), Finding::AddressRefused)]);
    assert!(findings.times.is_empty());
}

#[test]
fn every_case_is_shown_to_fail() {
    let shown: BTreeSet<&str> = Fault::ALL
        .iter()
        .flat_map(|fault| fault.found_by())
        .filter_map(|(id, _)| case::find(id))
        .map(|case| case.id)
        .collect();
    let silent: Vec<&str> = case::all().map(|case| case.id).filter(|id| !shown.contains(id)).collect();
    assert_eq!(silent, [""; 0], "cases that no fault makes fail");
}

#[test]
fn every_row_names_real_cases_and_ends_the_run_as_it_should() {
    for fault in Fault::ALL {
        assert_eq!(Fault::of(fault.name()), Some(*fault));
        for (id, _) in fault.found_by() {
            let case = case::find(id).unwrap_or_else(|| panic!("{}: {id}", fault.name()));
            let needs_keys = case.authenticated_only;
            assert!(!needs_keys || fault.stage() == Stage::Keys, "{}: {id}", fault.name());
        }
    }
    let required = |fault: Fault| {
        fault
            .found_by()
            .iter()
            .filter_map(|(id, _)| case::find(id))
            .any(|case| case.severity == Severity::Required)
    };
    assert!(required(Fault::IsCorrectText) && !required(Fault::Cacheable));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_good_dock_passes_every_case_in_every_mode() {
    for stage in [Stage::Public, Stage::Tls, Stage::Keys] {
        let findings = support::run(Fault::None, stage).await;
        assert_eq!(failed(&findings), [], "{stage:?}");
        let unplayed: Vec<&str> = findings
            .played
            .iter()
            .filter(|played| played.outcome != Outcome::Passed)
            .map(|played| played.id.as_str())
            .collect();
        let not_applicable = |id: &&str| {
            let keys = case::find(id).is_some_and(|case| case.authenticated_only);
            (keys && stage != Stage::Keys) || (id.starts_with("http2.") && stage != Stage::Tls)
        };
        assert!(unplayed.iter().all(not_applicable), "{stage:?}: {unplayed:?}");
        let over_http2 = findings.played.iter().find(|played| played.id == "http2.same_verdict").unwrap();
        assert_eq!(over_http2.outcome == Outcome::Passed, stage == Stage::Tls);
    }
}
