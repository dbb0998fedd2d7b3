//! What costs nothing: criteria, pre-check, refusals, and operations that are served for one's own use.

use serde_json::{Value, json};

use super::{
    CATALOGUE, PUBLISHED_VERDICTS, REPAIRED, UNREPAIRABLE, VALID, get, post, report, services, start,
    write_key,
};
use crate::command::run;
use crate::support::Dock;

#[tokio::test]
async fn criteria_are_served_and_cached() {
    let dock = start(&services("none")).await;
    for (base, id) in [("/argument-check", "tool-argument/v1"), ("/split-profile", "token-efficiency/v1")] {
        let reply = get(&dock, &format!("{base}/criteria"), "").await;
        assert_eq!(reply.head.status, 200);
        assert_eq!(reply.json()["criteria_id"], id);
        assert_eq!(reply.json()["served"]["check"], format!("{base}/check"));
        assert!(reply.head.header("cache-control").unwrap().contains("public"));
        let etag = reply.head.header("etag").unwrap();
        for known in [etag.to_owned(), format!("\"other\", W/{etag}"), "*".to_owned()] {
            let again = get(&dock, &format!("{base}/criteria"), &format!("if-none-match: {known}\r\n")).await;
            assert_eq!((again.head.status, again.body.len()), (304, 0), "{known}");
        }
        let other = get(&dock, &format!("{base}/criteria"), "if-none-match: \"other\"\r\n").await;
        assert_eq!(other.head.status, 200);
    }
}

#[tokio::test]
async fn everything_else_has_its_code() {
    let dock = start(&services("none")).await;
    for path in ["budget", "catalogue", "audit"] {
        let reply = post(&dock, &format!("/split-profile/{path}"), "", "{}").await;
        assert_eq!(reply.refusal(), (404, "NOT-COVERED".to_owned()), "{path}");
        let reply = post(&dock, &format!("/argument-check/{path}"), "", "{}").await;
        assert_eq!(reply.refusal(), (404, "not_found".to_owned()), "{path}");
    }
    for path in ["", "/", "/checks", "/check/"] {
        let reply = post(&dock, &format!("/split-profile{path}"), "", "{}").await;
        assert_eq!(reply.refusal(), (404, "not_found".to_owned()), "{path}");
    }
    let reply = get(&dock, "/argument-check/check", "").await;
    assert_eq!(reply.refusal(), (405, "method_not_allowed".to_owned()));
    assert_eq!(reply.head.header("allow"), Some("POST"));
    let reply = post(&dock, "/argument-check/criteria", "", "{}").await;
    assert_eq!(reply.head.header("allow"), Some("GET, HEAD"));
    dock.is_well().await;
}

#[tokio::test]
async fn a_check_for_ones_own_use_is_a_signed_report() {
    let dock = start(&services("none")).await;
    for (body, verdict) in [VALID, REPAIRED, UNREPAIRABLE].iter().zip(*PUBLISHED_VERDICTS) {
        let reply = post(&dock, "/argument-check/check", "", body).await;
        assert_eq!(reply.head.status, 200, "{reply:?}");
        let report = report(&reply);
        assert_eq!(report["verdict"], verdict);
        let line = report["verdict_line"].as_str().unwrap();
        assert!(
            line.starts_with(&format!("TOOL-ARGUMENT CHECK — {verdict} — ")) && line.ends_with('Z'),
            "{line}"
        );
        assert_eq!(line.contains("no repair needed"), verdict == "VALID");
        assert_eq!(report.get("arguments").is_some(), verdict == "REPAIRED");
        assert_eq!(report["statements"].as_object().unwrap().len(), 4);
        assert!(report.get("quality_score").is_none() && report.get("score").is_none());
    }
    // To the last digit, which a float would not keep.
    let reply = post(&dock, "/argument-check/check", "", REPAIRED).await;
    let text = String::from_utf8(reply.body).unwrap();
    assert!(text.contains(r#""arguments":{"n":1.50}"#), "{text}");

    let reply = post(&dock, "/split-profile/check", "", CATALOGUE).await;
    let report = report(&reply);
    assert_eq!(report["blocks"]["R-3"]["group_count"], 1);
    assert!(report["verdict_line"].as_str().unwrap().contains("tools: 3 — schema-identity groups: 1 — 20"));
    assert_eq!(report["statements"].as_object().unwrap().len(), 6);
    let metrics = String::from_utf8(get(&dock, "/argument-check/metrics", "").await.body).unwrap();
    for line in [
        r#"millwork_dock_operation_checks_total{op="argument-check",verdict="REPAIRED",payment="none"} 2"#,
        r#"millwork_dock_operation_repairs_total{op="argument-check",rule="R3"} 2"#,
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line}\n{metrics}");
    }
    assert!(!metrics.contains("split-profile"), "{metrics}");
    dock.wait_for_metric(
        r#"millwork_dock_operation_checks_total{op="split-profile",verdict="PROFILED",payment="none"} 1"#,
    )
    .await;
}

#[tokio::test]
async fn a_precheck_tells_assessability_alone() {
    let dock = start(&services("none")).await;
    let members = |report: &Value| {
        let mut names: Vec<String> = report.as_object().unwrap().keys().cloned().collect();
        names.sort();
        names
    };
    let common =
        ["assessability", "criteria_id", "criteria_version", "issued_at", "issued_by", "op", "service"];
    // A text that does not parse is told apart by nothing.
    let texts = [VALID, UNREPAIRABLE, REPAIRED, r#"{"schema":{},"arguments_text":"]["}"#];
    for body in texts {
        let reply = post(&dock, "/argument-check/precheck", "", body).await;
        assert_eq!(reply.head.status, 200, "{reply:?}");
        let report = report(&reply);
        assert_eq!(members(&report), common);
        assert_eq!(report["assessability"], "ASSESSABLE");
    }
    let reply = post(&dock, "/split-profile/precheck", "", CATALOGUE).await;
    let blocks = report(&reply)["blocks"].clone();
    let assessable = json!({"assessability": "ASSESSABLE", "reason": null});
    assert_eq!(blocks, json!({"R-1": assessable, "R-2": assessable, "R-3": assessable}));
    let one = r#"{"catalogue":[{"name":"a","inputSchema":{}},{"name":"b"}]}"#;
    let reply = post(&dock, "/split-profile/precheck", "", one).await;
    let third = report(&reply)["blocks"]["R-3"].clone();
    assert_eq!(
        third,
        json!({"assessability": "NOT-ASSESSABLE", "reason": "fewer than two tools carry a schema"})
    );
}

#[tokio::test]
async fn refusals_are_free_and_named() {
    let dock = start(&services("none")).await;
    let long = format!("{{\"schema\":{{}},\"arguments\":{{\"a\":\"{}\"}}}}", "x".repeat(262_144));
    let cases = [
        ("/argument-check", "[", 400, "invalid_request_body", None),
        ("/argument-check", "{}", 400, "schema_missing", None),
        ("/argument-check", r##"{"schema":{"$ref":"#"},"arguments":{}}"##, 400, "schema_not_covered", None),
        ("/argument-check", r#"{"schema":{},"arguments":3}"#, 400, "arguments_not_object", None),
        ("/argument-check", &long, 413, "CAP-EXCEEDED:body_bytes", None),
        ("/split-profile", "nonsense", 400, "invalid_request_body", None),
        ("/split-profile", r#"{"catalogue":[]}"#, 400, "zero_tools", None),
        (
            "/split-profile",
            r#"{"catalogue":[{"name":1}]}"#,
            400,
            "catalogue_invalid",
            Some("name_not_string"),
        ),
        ("/split-profile", &long, 413, "CAP-EXCEEDED:body_bytes", None),
    ];
    for (base, body, status, code, rule) in cases {
        let reply = post(&dock, &format!("{base}/check"), "", body).await;
        assert_eq!(reply.head.status, status, "{code}");
        let expected = match rule {
            Some(rule) => json!({"error": code, "rule": rule}),
            None => json!({"error": code}),
        };
        assert_eq!(reply.json(), expected);
        let reply = post(&dock, &format!("{base}/precheck"), "", body).await;
        assert_eq!(reply.head.status, status, "{code}");
        let report = report(&reply);
        assert_eq!((&report["refusal"], &report["rule"]), (&json!(code), &json!(rule)));
    }
}

#[tokio::test]
async fn a_report_verifies_and_no_changed_one_does() {
    let dock = start(&services("none")).await;
    let reply = post(&dock, "/argument-check/check", "", REPAIRED).await;
    let answer = String::from_utf8(reply.body.clone()).unwrap();
    let jwks = get(&dock, "/.well-known/jwks.json", "").await;
    let file = dock.directory.path().join("jwks.json");
    std::fs::write(&file, &jwks.body).unwrap();
    let verify = |answer: &str| {
        let ran = run(&["report", "verify", "-", "--jwks", file.to_str().unwrap()], answer);
        (ran.status, ran.out)
    };
    let (status, out) = verify(&answer);
    assert_eq!(status, 0, "{out}");
    assert!(out.contains("TOOL-ARGUMENT CHECK — REPAIRED"), "{out}");
    // White space is no change.
    assert_eq!(verify(&answer.replace("{\"report\":", "{ \"report\" :\n ")).0, 0);
    for changed in [
        answer.replace("\"n\":1.50", "\"n\":1.5"),
        answer.replace("REPAIRED —", "VALID —"),
        answer.replacen("\"payload\":\"e", "\"payload\":\"f", 1),
        answer.replacen("\"signature\":\"", "\"signature\":\"A", 1),
        answer.replacen("\"protected\":\"e", "\"protected\":\"f", 1),
    ] {
        assert_ne!(changed, answer);
        assert_eq!(verify(&changed).0, 1, "{changed}");
    }
    assert_eq!(verify("{}").0, 2);
}

#[tokio::test]
async fn a_changed_key_signs_and_the_old_one_still_verifies() {
    let dock = start(&services("none")).await;
    let kid = |reply: &crate::support::Reply| reply.json()["keys"][0]["kid"].as_str().unwrap().to_owned();
    let before = get(&dock, "/.well-known/jwks.json", "").await;
    let old = dock.directory.path().join("old.pem");
    std::fs::copy(dock.directory.path().join("signing.pem"), &old).unwrap();
    write_key(dock.directory.path());
    let config = dock.directory.path().join("dock.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(
        &config,
        text.replace("key = \"signing.pem\"", "key = \"signing.pem\"\nretired = [\"old.pem\"]"),
    )
    .unwrap();
    for _ in 0..100 {
        let now = get(&dock, "/.well-known/jwks.json", "").await;
        if now.json()["keys"].as_array().unwrap().len() == 2 {
            assert_ne!(kid(&now), kid(&before));
            assert_eq!(now.json()["keys"][1], before.json()["keys"][0]);
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("the changed key is not taken over");
}

#[tokio::test]
async fn a_server_of_operations_alone_is_ready() {
    let directory = tempfile::tempdir().unwrap();
    write_key(directory.path());
    let text = format!(
        "[server]\nlisten = \"127.0.0.1:0\"\nadmin_listen = \"127.0.0.1:0\"\n[tls]\nself_signed = [\"localhost\"]\n\
         self_signed_out = \"ca.pem\"\n{}",
        services("none")
    );
    std::fs::write(directory.path().join("dock.toml"), text).unwrap();
    let dock = Dock::in_directory(directory).await;
    assert_eq!(dock.get_admin("/readyz").await, (200, r#"{"ready":true,"reasons":[]}"#.to_owned()));
}
