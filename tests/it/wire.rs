//! What Millwork's client and its kit see: every case of the kit, every row of the answers.

use crate::support::{BAD, Dock, GOOD, KEY, REPAIRABLE, as_text, body, chunked_head};
use std::time::Duration;

const PROBE: &str = r#"{"solverapi_probe":"registration_preflight"}"#;
const PROBE_ANSWER: &[u8] = br#"{"is_correct":false,"quality_score":0}"#;

fn bearer(key: &str) -> String {
    format!("authorization: Bearer {key}\r\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_valid_key_neither_probe_nor_check_is_reached() {
    let dock = Dock::start().await;
    let wrong = bearer("wrong-key-0123456789abcdef");
    for headers in ["", &wrong, "authorization: Basic eDp5\r\n", &bearer(KEY).repeat(2)] {
        for sent in [body(PROBE), body(GOOD), "not JSON".to_owned(), String::new()] {
            let reply = dock.post("/managed", headers, &sent).await;
            reply.refused(401, "unauthorized");
            assert_eq!(reply.head.header("www-authenticate"), Some("Bearer"));
            assert_eq!(reply.head.header("connection"), Some("close"));
        }
    }
    let wrong = ("authorization", "Bearer wrong-key-0123456789abcdef");
    for headers in [&[][..], &[wrong]] {
        dock.post_h2("/managed", headers, &body(PROBE)).await.refused(401, "unauthorized");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_valid_key_reaches_the_check_whatever_the_case_of_its_scheme() {
    let dock = Dock::start().await;
    for scheme in ["Bearer", "bearer", "BEARER"] {
        let headers = format!("authorization: {scheme} {KEY}\r\n");
        assert!(dock.post("/managed", &headers, &body(GOOD)).await.is_correct());
        let value = format!("{scheme} {KEY}");
        let reply = dock.post_h2("/managed", &[("authorization", &value)], &body(GOOD)).await;
        assert!(reply.is_correct());
    }
    let unused = dock.post("/args", &bearer("some-other-key-0123456789"), &body(GOOD)).await;
    assert!(unused.is_correct(), "a public dock does not look at keys");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_probe_and_its_marker_get_the_fixed_answer() {
    let dock = Dock::start().await;
    let in_text = as_text(r#"[{"solverapi_probe":"kit"}]"#);
    let candidates = [
        PROBE.to_owned(),
        as_text(PROBE),
        r#"{"labelled_test_input":{"solverapi_probe":"kit"}}"#.to_owned(),
        in_text.clone(),
        format!(r#"{{"city":{in_text}}}"#),
        r#"{"solverapi_pr\u006fbe":1}"#.to_owned(),
    ];
    for path in ["/args", "/check"] {
        for candidate in &candidates {
            assert_eq!(dock.post(path, "", &body(candidate)).await.body, PROBE_ANSWER, "{candidate}");
            assert_eq!(dock.post_h2(path, &[], &body(candidate)).await.body, PROBE_ANSWER, "{candidate}");
        }
    }
    let prose = dock.post("/args", "", &body(r#""the solverapi_probe is a word""#)).await;
    assert_ne!(prose.body, PROBE_ANSWER, "prose is an ordinary candidate");
}

#[tokio::test(flavor = "multi_thread")]
async fn chunks_may_be_cut_anywhere() {
    let dock = Dock::start().await;
    let probe = body(PROBE);
    let (first, rest) = probe.split_at(5);
    let (second, third) = rest.split_at(15);
    let chunk = |part: &str| format!("{:x}\r\n{part}\r\n", part.len());
    let head = chunked_head("/args", "");
    let kit = format!("{head}{}{}{}0\r\n\r\n", chunk(first), chunk(second), chunk(third));
    assert_eq!(dock.raw(kit.as_bytes()).await.body, PROBE_ANSWER);

    let mut http = dock.http1().await;
    http.send(head.as_bytes()).await;
    for part in [first, second, third] {
        http.send(chunk(part).as_bytes()).await;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    http.send(b"0\r\n\r\n").await;
    assert_eq!(http.reply().await.body, PROBE_ANSWER);

    let mut http = dock.http1().await;
    let bytes: String = body(GOOD).chars().map(|byte| chunk(&byte.to_string())).collect();
    for byte in format!("{}{bytes}0\r\n\r\n", chunked_head("/args", "")).as_bytes() {
        http.send(&[*byte]).await;
    }
    assert!(http.reply().await.is_correct());
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_are_no_evaluation_are_400() {
    let dock = Dock::start().await;
    let malformed =
        ["", "{", "not JSON", "{\"candidate\":}", "\u{feff}{\"candidate\":1}", "{\"candidate\":1}x"];
    for sent in malformed {
        dock.post("/args", "", sent).await.refused(400, "malformed_request");
        dock.post_h2("/args", &[], sent).await.refused(400, "malformed_request");
    }
    for sent in ["{}", "[]", "null", r#"{"Candidate":1}"#] {
        dock.post("/args", "", sent).await.refused(400, "missing_candidate");
    }
    for sent in [r#"{"candidate":1,"more":2}"#, r#"{"candidate":1,"candidate":1}"#] {
        dock.post("/args", "", sent).await.refused(400, "malformed_request");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn labelled_cases_get_their_verdicts_structured_and_as_text() {
    let dock = Dock::start().await;
    for (candidate, correct) in [(GOOD, true), (REPAIRABLE, false), (BAD, false), ("[]", false)] {
        let structured = dock.post("/args", "", &body(candidate)).await;
        assert_eq!(structured.is_correct(), correct, "{candidate}");
        let text = as_text(candidate);
        for spaced in [text.clone(), as_text(&format!(" \n{candidate}\t"))] {
            let reply = dock.post("/args", "", &body(&spaced)).await;
            assert_eq!(reply.body, structured.body, "the same output must get the same bytes");
        }
        assert_eq!(dock.post_h2("/args", &[], &body(candidate)).await.body, structured.body);
        let request = format!(r#"{{"arguments":{candidate},"schema":{}}}"#, crate::support::SCHEMA);
        let brought = dock.post("/check", "", &body(&request)).await;
        assert_eq!(brought.is_correct(), correct, "the schema may come with the candidate");
    }
    for other in ["null", "7", "true", r#""plain model text""#, r#""""#] {
        assert!(!dock.post("/args", "", &body(other)).await.is_correct(), "{other}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn path_comes_first_then_method_then_access() {
    let dock = Dock::start().await;
    for path in ["/", "/arg", "/args/", "/ARGS", "/args%2f", "/managed/x"] {
        for method in ["GET", "POST", "BREW"] {
            let request = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
            dock.raw(request.as_bytes()).await.refused(404, "not_found");
        }
    }
    for method in ["GET", "PUT", "DELETE", "OPTIONS", "PATCH", "BREW"] {
        for path in ["/args", "/managed"] {
            let request = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
            let reply = dock.raw(request.as_bytes()).await;
            reply.refused(405, "method_not_allowed");
            assert_eq!(reply.head.header("allow"), Some("POST"));
        }
    }
    let mut http = dock.http1().await;
    http.send(b"HEAD /args HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    assert_eq!(http.head().await.expect("an answer").status, 405);
    let query = "POST /args?a=b HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n";
    dock.raw(query.as_bytes()).await.refused(400, "malformed_request");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kept_connection_answers_again() {
    let dock = Dock::start().await;
    let mut http = dock.http1().await;
    let sent = body(GOOD);
    let chunk = format!("{:x}\r\n{sent}\r\n0\r\n\r\n", sent.len());
    for _ in 0..3 {
        http.send(format!("{}{chunk}", chunked_head("/args", "")).as_bytes()).await;
        assert!(http.reply().await.is_correct());
        http.send(format!("{}2\r\n{{}}\r\n0\r\n\r\n", chunked_head("/args", "")).as_bytes()).await;
        http.reply().await.refused(400, "missing_candidate");
    }
    let pipelined = format!("{}{chunk}", chunked_head("/args", "")).repeat(5);
    http.send(pipelined.as_bytes()).await;
    for _ in 0..5 {
        assert!(http.reply().await.is_correct());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn docks_without_usable_keys_answer_503_alone() {
    let more = |path: &str, keys: &str| {
        format!(
            "[[dock]]\npath = \"{path}\"\naccess = \"managed\"\nkeys_file = \"{keys}\"\n\
             check = \"tool-argument/v1\"\nsource = \"check_request\"\n"
        )
    };
    let docks = more("/none", "none") + &more("/account", "account") + &more("/unread", "missing");
    let directory = crate::support::directory("", &docks);
    std::fs::write(directory.path().join("none"), " \n,\n").expect("written");
    std::fs::write(directory.path().join("account"), "solverapi_live_0123456789abcdef").expect("written");
    let dock = Dock::in_directory(directory).await;
    for (path, code) in [
        ("/none", "endpoint_keys_not_configured"),
        ("/account", "endpoint_keys_misconfigured"),
        ("/unread", "endpoint_keys_unavailable"),
    ] {
        for headers in [String::new(), bearer(KEY), bearer("solverapi_live_0123456789abcdef")] {
            dock.post(path, &headers, &body(PROBE)).await.refused(503, code);
        }
    }
    assert!(dock.post("/managed", &bearer(KEY), &body(GOOD)).await.is_correct(), "its key is fine");
    let (status, ready) = dock.get_admin("/readyz").await;
    assert_eq!(status, 200, "the other docks work");
    assert!(ready.contains("endpoint_keys_misconfigured at /account"), "{ready}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_that_outruns_its_time_is_504() {
    let dock = Dock::with("check_timeout_ms = 300", "").await;
    let letters = "a".repeat(4000);
    let request = format!(
        r#"{{"arguments":{{"v":"{letters}!"}},"schema":{{"type":"object","properties":
           {{"v":{{"type":"string","pattern":"(.*)(.*)(.*)(.*)\\1x"}}}}}}}}"#
    );
    let begun = std::time::Instant::now();
    dock.post("/check", "", &body(&request)).await.refused(504, "check_timeout");
    assert!(begun.elapsed() < Duration::from_secs(3));
    dock.is_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rate_limits_answer_429_per_dock() {
    let limited = "[[dock]]\npath = \"/limited\"\naccess = \"public\"\ncheck = \"tool-argument/v1\"\n\
                   source = \"check_request\"\nrate_limit = { per_second = 1, burst = 3 }\n";
    let dock = Dock::with("", limited).await;
    for _ in 0..3 {
        assert_eq!(dock.post("/limited", "", &body(PROBE)).await.body, PROBE_ANSWER);
    }
    let reply = dock.post("/limited", "", &body(PROBE)).await;
    reply.refused(429, "rate_limited");
    assert_eq!(reply.head.header("retry-after"), Some("1"));
    dock.post_h2("/limited", &[], &body(PROBE)).await.refused(429, "rate_limited");
    dock.is_well().await;
    tokio::time::sleep(Duration::from_millis(1100)).await;
    assert_eq!(dock.post("/limited", "", &body(PROBE)).await.body, PROBE_ANSWER, "as Retry-After said");
}
