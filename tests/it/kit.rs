//! The conformance kit against the real command: public and managed, over HTTP/1.1 and HTTP/2, every case.

use std::path::Path;

use serde_json::Value;

use crate::custody::{Served, serve};
use crate::support::{KEY, directory};

const NEXT_KEY: &str = "test-key-of-tomorrow-9876543210";
const OLD_KEY: &str = "test-key-of-yesterday-1357924680";

/// The quickstart's docks, one with two keys, and one of the other check.
const DOCKS: &str = r#"
[[dock]]
path = "/refunds"
access = "public"
check = "tool-argument/v1"
source = "arguments"
schema = "refund.json"
[[dock]]
path = "/managed-refunds"
access = "managed"
keys_file = "two-keys"
check = "tool-argument/v1"
source = "arguments"
schema = "refund.json"
[[dock]]
path = "/calls"
access = "public"
check = "tool-argument/v1"
source = "tool_call"
tools = "tools.json"
[[dock]]
path = "/catalogues"
access = "public"
check = "token-efficiency/v1"
"#;

/// One run of the kit: its exit status, and its report.
fn kit(served: &Served, folder: &Path, path: &str, access: &str, cases: &str, protocol: &str) -> (u8, Value) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let cases = root.join("conformance/labelled").join(cases).display().to_string();
    let url = format!("https://localhost:{}{path}", served.address.port());
    let authority = folder.join("ca.pem").display().to_string();
    let args = ["dock-conformance", "run", "--url", &url, "--access", access, "--protocol", protocol];
    let more = ["--authorize-endpoint-test", "--allow-loopback", "--strict", "--json"];
    let files = ["--ca-file", &authority, "--cases", &cases];
    let args = args.into_iter().chain(more).chain(files).map(std::ffi::OsString::from);
    let variable = |name: &str| {
        let keys = match name {
            "MILLWORK_KIT_ENDPOINT_KEY" => KEY,
            "MILLWORK_KIT_OVERLAP_KEYS" => NEXT_KEY,
            "MILLWORK_KIT_RETIRED_KEYS" => OLD_KEY,
            _ => return None,
        };
        Some(keys.to_owned())
    };
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let exit = dock_conformance::cli::main(args, &variable, &mut out, &mut err);
    let report = serde_json::from_slice(&out).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&err)));
    (exit, report)
}

/// The ids of the cases with one of these outcomes.
fn ids<'a>(report: &'a Value, outcomes: &[&str]) -> Vec<&'a str> {
    let cases = report["cases"].as_array().expect("cases").iter();
    let cases = cases.filter(|case| outcomes.contains(&case["outcome"].as_str().expect("an outcome")));
    cases.map(|case| case["id"].as_str().expect("an id")).collect()
}

#[test]
fn this_dock_passes_every_case_of_the_kit_in_every_mode() {
    let folder = directory("", DOCKS);
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    write("two-keys", &format!("{KEY},{NEXT_KEY}"));
    write("refund.json", include_str!("../../deploy/schemas/refund.json"));
    write("tools.json", include_str!("../../deploy/schemas/tools.json"));
    let (served, _) = serve(folder.path(), &[]);
    let runs = [
        ("/refunds", "public", "refunds.json", "http/1.1"),
        ("/refunds", "public", "refunds.json", "h2"),
        ("/managed-refunds", "authenticated", "refunds.json", "http/1.1"),
        ("/managed-refunds", "authenticated", "refunds.json", "h2"),
        ("/check", "public", "check.json", "http/1.1"),
        ("/calls", "public", "calls.json", "h2"),
        ("/catalogues", "public", "catalogue.json", "http/1.1"),
    ];
    // At once: each waits five seconds for the dock to end a body that stalls.
    std::thread::scope(|scope| {
        for (path, access, cases, protocol) in runs {
            let (served, folder) = (&served, folder.path());
            scope.spawn(move || {
                let (exit, report) = kit(served, folder, path, access, cases, protocol);
                let name = format!("{path} {access} {protocol}");
                assert_eq!(ids(&report, &["failed", "not_judged"]), [""; 0], "{name}: {report:#}");
                assert_eq!(exit, 0, "{name}");
                assert_eq!(
                    (&report["advice"], &report["registrable"]),
                    (&Value::Array(Vec::new()), &true.into())
                );
                let public = access == "public";
                let left_out = ids(&report, &["not_applicable"]);
                assert!(
                    left_out.iter().all(|id| public && id.starts_with("access.")),
                    "{name}: {left_out:?}"
                );
                assert!(ids(&report, &["passed"]).len() >= 48, "{name}");
            });
        }
    });
}
