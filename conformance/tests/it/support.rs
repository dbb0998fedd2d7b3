//! Bundled docks and runs against them.

use std::time::Duration;

use dock_conformance::broken::{self, Fault, LABELLED, Options, Running, Stage};
use dock_conformance::case::{Access, Labelled};
use dock_conformance::client::{Client, Trust, Version};
use dock_conformance::contract::Timing;
use dock_conformance::endpoint::Endpoint;
use dock_conformance::finding::Finding;
use dock_conformance::keys::{self, Keys};
use dock_conformance::run::{self, Findings, Outcome, Plan};

/// Shorter than the contract's where tests wait for it, and long enough for a busy machine.
pub(crate) const TIMING: Timing = Timing {
    probe: Duration::from_secs(3),
    run: Duration::from_millis(6_500),
    slow_body: Duration::from_millis(900),
};

pub(crate) const KEY: &str = "canary-key-of-now-5ac1";
pub(crate) const OVERLAP: &str = "canary-key-of-tomorrow-77be";
pub(crate) const RETIRED: &str = "canary-key-of-yesterday-e09d";

/// The variables that hold the keys.
pub(crate) fn variable(name: &str) -> Option<String> {
    let key = match name {
        keys::ENDPOINT_KEY => KEY,
        keys::OVERLAP_KEYS => OVERLAP,
        keys::RETIRED_KEYS => RETIRED,
        _ => return None,
    };
    Some(key.to_owned())
}

/// Starts the bundled dock as the fault needs it.
pub(crate) async fn start(fault: Fault, stage: Stage, timing: Timing) -> Running {
    let with_keys = stage == Stage::Keys;
    let strings = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
    let options = Options {
        keys: if with_keys { strings(&[KEY, OVERLAP]) } else { Vec::new() },
        retired: if with_keys { strings(&[RETIRED]) } else { Vec::new() },
        tls: stage == Stage::Tls,
        timing,
        port: 0,
    };
    broken::start(fault, options).await.expect("a dock")
}

/// The plan of a run against it.
pub(crate) fn plan(dock: &Running, stage: Stage, timing: Timing) -> Plan {
    let authenticated = stage == Stage::Keys;
    let keys = if authenticated { Keys::from_variables(&variable).expect("keys") } else { Keys::none() };
    let endpoint = Endpoint::read(&dock.url(), &keys, true).expect("a URL");
    let trust = match &dock.authority {
        Some(pem) => {
            let file = tempfile::NamedTempFile::new().expect("a file");
            std::fs::write(file.path(), pem).expect("written");
            Trust::from_file(file.path()).expect("an authority")
        }
        None => Trust::public().expect("authorities"),
    };
    Plan {
        client: Client::new(endpoint, trust, true),
        access: if authenticated { Access::Authenticated } else { Access::Public },
        keys,
        labelled: labelled(),
        version: Version::Http1,
        timing,
    }
}

pub(crate) fn labelled() -> Vec<Labelled> {
    Labelled::read_all(&[("bundled.json".to_owned(), LABELLED.as_bytes().to_vec())]).expect("cases")
}

/// Runs the kit against a fault.
pub(crate) async fn run(fault: Fault, stage: Stage) -> Findings {
    let dock = start(fault, stage, TIMING).await;
    run::run(&plan(&dock, stage, TIMING), &|_, _, _| {}).await
}

/// The ids of the failed cases with what they found, sorted, each pair once.
pub(crate) fn failed(findings: &Findings) -> Vec<(String, Finding)> {
    let mut failed = Vec::new();
    for played in &findings.played {
        if let Outcome::Failed(occurrences) = &played.outcome {
            failed.extend(occurrences.iter().map(|found| (played.id.clone(), found.finding)));
        }
    }
    failed.sort();
    failed.dedup();
    failed
}
