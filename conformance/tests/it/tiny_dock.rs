//! The kit against a dock in another language, whose faults were written down before it was run.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use dock_conformance::case::Access;
use dock_conformance::client::{Client, Trust, Version};
use dock_conformance::endpoint::Endpoint;
use dock_conformance::keys::Keys;
use dock_conformance::run::{self, Plan};

use crate::support::{TIMING, failed, labelled};

/// What is wrong with `tiny_dock.mjs`, read off its text.
const WRITTEN_BEFOREHAND: &[(&str, &str)] = &[
    // Only the exact probe is known, and the check gives everything else a score.
    ("probe.marker_in_structured_candidate", "marker_scored"),
    ("probe.marker_after_parsing", "marker_scored"),
    ("probe.marker_escaped", "marker_scored"),
    ("probe.marker_shadowed", "marker_scored"),
    ("probe.marker_in_nested_text", "marker_scored"),
    ("probe.marker_quoted_twice", "marker_scored"),
    ("probe.marker_in_truncated_text", "marker_scored"),
    ("probe.marker_before_comma", "marker_scored"),
    ("probe.marker_after_trim", "marker_scored"),
    // The method is not looked at, so GET fails for its empty body.
    ("request.method_not_allowed", "status_unexpected"),
    // Decoded with replacement, and members beside the candidate or before it do not matter.
    ("request.invalid_utf8", "not_refused"),
    ("request.extra_member", "not_refused"),
    ("request.duplicate_candidate", "not_refused"),
    // Neither bytes nor time are bounded.
    ("request.body_over_cap", "not_refused"),
    ("request.stalled_body", "held_open"),
    // null has no members.
    ("candidate.null", "status_not_success"),
    // One anchor is never given, and "crash" is no number.
    ("labelled.in-range", "anchors_wrong"),
    ("labelled.crash", "technical_failure_expected"),
    ("response.no_store", "cacheable"),
    // The parser's refusal is free text and quotes the body.
    ("errors.code", "error_without_code"),
    ("errors.no_echo", "candidate_echoed"),
];

struct Node(Child);

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_small_dock_in_node_has_exactly_the_findings_that_were_written_down() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let child = Command::new("node").arg("tiny_dock.mjs").current_dir(folder).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = child else {
        eprintln!("skipped: Node is not installed");
        return;
    };
    let out = child.stdout.take().expect("its output");
    let _node = Node(child);
    let mut port = String::new();
    BufReader::new(out).read_line(&mut port).expect("a port");
    let url = format!("http://127.0.0.1:{}/", port.trim());
    let endpoint = Endpoint::read(&url, &Keys::none(), true).expect("a URL");
    let plan = Plan {
        client: Client::new(endpoint, Trust::public().expect("authorities"), true),
        access: Access::Public,
        keys: Keys::none(),
        labelled: labelled(),
        version: Version::Http1,
        timing: TIMING,
    };
    let findings = run::run(&plan, &|_, _, _| {}).await;
    let found: Vec<(String, &str)> =
        failed(&findings).into_iter().map(|(id, finding)| (id, finding.code())).collect();
    let mut expected: Vec<(String, &str)> =
        WRITTEN_BEFOREHAND.iter().map(|(id, code)| ((*id).to_owned(), *code)).collect();
    expected.sort();
    let mut found = found;
    found.sort();
    assert_eq!(found, expected);
}

#[test]
fn millworks_kit_can_import_the_labelled_cases() {
    let script = "for (const name of ['refunds', 'check']) { process.env.LABELLED_CASES = name; \
        const { labelledCases } = await import('./labelled-cases.mjs?' + name); \
        console.log(labelledCases.map((labelled) => `${labelled.id}=${labelled.expect.is_correct}`).join(' ')); }";
    let node = Command::new("node")
        .args(["--input-type=module", "--eval", script])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output();
    let Ok(node) = node else {
        eprintln!("skipped: Node is not installed");
        return;
    };
    let said = String::from_utf8(node.stdout).expect("text");
    let mut lines = said.lines();
    // Millwork's kit wants a boolean in each case, and both verdicts to be there.
    for (name, count) in [("refunds", 11), ("check", 3)] {
        let line =
            lines.next().unwrap_or_else(|| panic!("{name}: {}", String::from_utf8_lossy(&node.stderr)));
        assert_eq!(line.split(' ').count(), count, "{line}");
        assert!(line.contains("=true") && line.contains("=false") && !line.contains("undefined"), "{line}");
    }
}
