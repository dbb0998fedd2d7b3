//! Every bound of network.md, and the rules for heads that hyper leaves to us: seen through raw sockets.

use crate::support::{BAD, Dock, GOOD, KEY, body, chunked_head, connect};
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

/// A whole request for `/args`, with these header lines instead of `host` and framing.
fn request(headers: &str, body: &str) -> Vec<u8> {
    format!("POST /args HTTP/1.1\r\n{headers}\r\n{body}").into_bytes()
}

fn with_length(headers: &str, body: &str) -> Vec<u8> {
    request(&format!("{headers}content-length: {}\r\n", body.len()), body)
}

#[tokio::test(flavor = "multi_thread")]
async fn exactly_one_valid_host() {
    let dock = Dock::start().await;
    for hosts in [
        "",
        "host: localhost\r\nhost: localhost\r\n",
        "host:\r\n",
        "host: a b\r\n",
        "host: user@localhost\r\n",
        "host: localhost:port\r\n",
        "host: localhost/\r\n",
        "host: [::1\r\n",
    ] {
        dock.raw(&with_length(hosts, &body(GOOD))).await.refused(400, "bad_host");
    }
    for hosts in ["host: localhost\r\n", "Host: dock.example:8443\r\n", "host: [::1]:1\r\n"] {
        assert!(dock.raw(&with_length(hosts, &body(GOOD))).await.is_correct(), "{hosts}");
    }
    let length = body(GOOD).len();
    for (line, host, status) in
        [("HTTP/1.1", "", 400), ("HTTP/1.1", "host: localhost\r\n", 200), ("HTTP/1.0", "", 400)]
    {
        let absolute = format!(
            "POST https://localhost/args {line}\r\n{host}content-length: {length}\r\n\r\n{}",
            body(GOOD)
        );
        assert_eq!(dock.raw(absolute.as_bytes()).await.head.status, status, "{absolute}");
    }
    dock.post_h2("/args", &[("host", "other.example")], &body(GOOD)).await.refused(400, "bad_host");
    assert!(dock.post_h2("/args", &[("host", "localhost")], &body(GOOD)).await.is_correct());
}

#[tokio::test(flavor = "multi_thread")]
async fn expectations_and_codings_are_refused_unless_known() {
    let dock = Dock::start().await;
    let host = "host: localhost\r\n";
    let chunked = format!("{:x}\r\n{}\r\n0\r\n\r\n", body(GOOD).len(), body(GOOD));
    for (headers, status, code) in [
        ("expect: something\r\n", 417, "expectation_failed"),
        ("expect: 100-continue\r\nexpect: 100-continue\r\n", 417, "expectation_failed"),
        ("content-encoding: gzip\r\n", 415, "content_encoding_unsupported"),
        ("content-encoding: identity, gzip\r\n", 415, "content_encoding_unsupported"),
    ] {
        let sent = with_length(&format!("{host}{headers}"), &body(GOOD));
        dock.raw(&sent).await.refused(status, code);
    }
    for coding in ["gzip, chunked", "chunked, chunked", "gzip\r\ntransfer-encoding: chunked"] {
        let sent = request(&format!("{host}transfer-encoding: {coding}\r\n"), &chunked);
        dock.raw(&sent).await.refused(501, "transfer_encoding_unsupported");
    }
    for headers in ["content-encoding: identity\r\n", "transfer-encoding: Chunked\r\n"] {
        let headers = format!("{host}{headers}");
        let is_chunked = headers.contains("transfer");
        let sent = if is_chunked { request(&headers, &chunked) } else { with_length(&headers, &body(GOOD)) };
        assert!(dock.raw(&sent).await.is_correct(), "{headers}");
    }
    let coding = &[("content-encoding", "br")];
    dock.post_h2("/args", coding, &body(GOOD)).await.refused(415, "content_encoding_unsupported");
}

#[tokio::test(flavor = "multi_thread")]
async fn continue_is_said_only_to_those_whose_body_is_wanted() {
    let dock = Dock::start().await;
    let head = |path: &str, length: usize| {
        format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-length: {length}\r\n\r\n"
        )
    };
    let mut http = dock.http1().await;
    http.send(head("/args", body(GOOD).len()).as_bytes()).await;
    assert_eq!(http.head().await.expect("a head").status, 100);
    http.send(body(GOOD).as_bytes()).await;
    assert!(http.reply().await.is_correct());

    for (path, length, status) in [("/managed", 10, 401), ("/args", 2_000_000, 413), ("/none", 10, 404)] {
        let mut http = dock.http1().await;
        http.send(head(path, length).as_bytes()).await;
        assert_eq!(http.reply().await.head.status, status, "no 100 before it");
        assert!(http.ends_within(Duration::from_millis(500)).await, "nothing to drain");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ambiguous_framing_is_400_and_closed() {
    let dock = Dock::start().await;
    let chunk = "5\r\nhello\r\n0\r\n\r\n";
    let with =
        |headers: &str, body: &str| format!("POST /args HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n{body}");
    let malformed = [
        with("content-length: 5\r\ncontent-length: 6\r\n", "hello!"),
        with("content-length: +5\r\n", "hello"),
        with("content-length: 5, 6\r\n", "hello!"),
        with("transfer-encoding: identity\r\n", "hello"),
        with("transfer-encoding: xchunked\r\n", chunk),
        with("transfer-encoding: chunked, gzip\r\n", chunk),
        with("transfer-encoding : chunked\r\n", chunk),
        with("x: a\r\n b\r\n", ""),
        with("x: a\0b\r\n", ""),
        with("x: a\rb\r\n", ""),
        with("", "").replace("HTTP/1.1", "HTTP/2.0"),
        with("transfer-encoding: chunked\r\n", chunk).replace("HTTP/1.1", "HTTP/1.0"),
        "GARBAGE\r\n\r\n".to_owned(),
    ];
    for sent in malformed {
        let mut http = dock.http1().await;
        http.send(sent.as_bytes()).await;
        let head = http.head().await.expect("an answer");
        assert_eq!(head.status, 400, "{sent:?}");
        assert_eq!(head.header("content-length").unwrap_or("0"), "0", "hyper's own 400 has no body");
        assert!(http.ends_within(Duration::from_secs(2)).await, "{sent:?}");
    }
    let chunks = [
        "xyz\r\nhello\r\n0\r\n\r\n",
        "fffffffffffffffff\r\nhello",
        "5\nhello\n0\n\n",
        "3\r\nhello\r\n0\r\n\r\n",
    ];
    for chunks in chunks {
        let mut http = dock.http1().await;
        http.send(format!("{}{chunks}", chunked_head("/args", "")).as_bytes()).await;
        http.reply().await.refused(400, "malformed_request");
        assert!(http.ends_within(Duration::from_secs(2)).await, "{chunks:?}");
    }
    dock.is_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_length_beside_chunks_does_not_count_and_ends_the_connection() {
    let dock = Dock::start().await;
    let sent = format!(
        "{}{:x}\r\n{}\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nhost: localhost\r\n\r\n",
        chunked_head("/args", "content-length: 4\r\n"),
        body(GOOD).len(),
        body(GOOD)
    );
    let mut http = dock.http1().await;
    http.send(sent.as_bytes()).await;
    assert!(http.reply().await.is_correct());
    assert!(http.head().await.is_none(), "what follows is not read as a request");
}

#[tokio::test(flavor = "multi_thread")]
async fn heads_are_bounded() {
    let dock = Dock::start().await;
    let lines = |count: usize| "x: y\r\n".repeat(count);
    let long = |length: usize| format!("x: {}\r\n", "y".repeat(length));
    for headers in [lines(64), long(16 * 1024), long(9 * 1024).repeat(2)] {
        let mut http = dock.http1().await;
        http.send(&with_length(&format!("host: localhost\r\n{headers}"), "")).await;
        assert_eq!(http.head().await.expect("an answer").status, 431);
        assert!(http.ends_within(Duration::from_secs(2)).await);
    }
    for headers in [lines(62), long(15 * 1024)] {
        let sent = with_length(&format!("host: localhost\r\n{headers}"), &body(GOOD));
        assert!(dock.raw(&sent).await.is_correct());
    }
    for endless in [format!("POST /{}", "a".repeat(100_000)), format!("POST / HTTP/1.1\r\n{}", long(100_000))]
    {
        let mut http = dock.http1().await;
        // It is cut while it is being sent, so the answer may be lost.
        let _ = http.stream.write_all(endless.as_bytes()).await;
        let status = http.head().await.map(|head| head.status);
        assert!(matches!(status, None | Some(414 | 431)), "{status:?}");
        assert!(http.ends_within(Duration::from_secs(2)).await);
    }

    let stream = dock.connect(&["h2"]).await;
    let (send, connection) = h2::client::handshake(stream).await.expect("HTTP/2");
    tokio::spawn(connection);
    let mut send = send.ready().await.expect("a stream");
    let request = http::Request::post("https://localhost/args").header("x", "y".repeat(17 * 1024));
    let (answer, _) = send.send_request(request.body(()).expect("a request"), true).expect("sent");
    assert!(answer.await.map_or(true, |answer| answer.status() == 431), "a header list over 16 KiB");
    dock.is_well().await;
}

/// A body of exactly this many bytes.
fn body_of(length: usize) -> String {
    body(&format!("\"{}\"", "x".repeat(length - body("\"\"").len())))
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_are_bounded_to_the_byte() {
    const MOST: usize = 1_048_576;
    let dock = Dock::start().await;
    assert_eq!(body_of(MOST).len(), MOST);
    assert_eq!(dock.post("/args", "", &body_of(MOST)).await.head.status, 200);
    assert_eq!(dock.post_h2("/args", &[], &body_of(MOST)).await.head.status, 200);
    let reply = dock.post("/args", "", &body_of(MOST + 1)).await;
    reply.refused(413, "request_too_large");
    assert_eq!(reply.head.header("connection"), Some("close"));
    dock.post_h2("/args", &[], &body_of(MOST + 1)).await.refused(413, "request_too_large");
    let announced = "POST /args HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1048577\r\n\r\n";
    dock.raw(announced.as_bytes()).await.refused(413, "request_too_large");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_still_writes_sees_the_refusal() {
    let dock = Dock::start().await;
    let more = body_of(1_048_576 + 200_000);
    for (path, status, sent) in
        [("/args", 413, &more), ("/managed", 401, &body_of(200_000)), ("/none", 404, &body(GOOD))]
    {
        for _ in 0..20 {
            assert_eq!(dock.post(path, "", sent).await.head.status, status);
        }
    }
    // Whoever never stops writing is cut after a second.
    let mut http = dock.http1().await;
    http.send(format!("{}5\r\nhello\r\n", chunked_head("/managed", "")).as_bytes()).await;
    http.reply().await.refused(401, "unauthorized");
    let begun = Instant::now();
    assert!(http.ends_within(Duration::from_secs(3)).await);
    assert!(begun.elapsed() > Duration::from_millis(500), "it had its chance");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_body_is_408_at_its_deadline() {
    let dock = Dock::with("body_timeout_ms = 600", "").await;
    let mut http = dock.http1().await;
    let begun = Instant::now();
    http.send(format!("{}1\r\n{{\r\n", chunked_head("/args", "")).as_bytes()).await;
    let slow = async {
        loop {
            tokio::time::sleep(Duration::from_millis(50)).await;
            // One byte after the other keeps no deadline away.
            let _ = http.stream.write_all(b"1\r\n \r\n").await;
        }
    };
    let _ = tokio::time::timeout(Duration::from_millis(500), slow).await;
    let reply = http.reply().await;
    reply.refused(408, "request_timeout");
    assert_eq!(reply.head.header("connection"), Some("close"));
    assert!((550..1500).contains(&begun.elapsed().as_millis()), "{:?}", begun.elapsed());
    assert!(http.ends_within(Duration::from_secs(2)).await);

    let stream = dock.connect(&["h2"]).await;
    let (send, connection) = h2::client::handshake(stream).await.expect("HTTP/2");
    tokio::spawn(connection);
    let mut send = send.ready().await.expect("a stream");
    let request = http::Request::post("https://localhost/args").body(()).expect("a request");
    let (answer, mut out) = send.send_request(request, false).expect("sent");
    out.send_data("{".into(), false).expect("sent");
    assert_eq!(answer.await.expect("an answer").status(), 408);
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_without_a_request_are_closed() {
    let limits = "handshake_ms = 300\nheader_ms = 600\nidle_ms = 300";
    let dock = Dock::with(limits, "").await;
    let closes = async |what: &str, ends: bool, begun: Instant, from: u128, to: u128| {
        let took = begun.elapsed().as_millis();
        assert!(ends && (from..to).contains(&took), "{what}: {ends} after {took} ms");
    };
    // No handshake.
    let begun = Instant::now();
    let mut socket = TcpStream::connect(dock.address).await.expect("a socket");
    let ends = crate::support::ends_within(&mut socket, Duration::from_secs(3)).await;
    closes("no handshake", ends, begun, 250, 1500).await;
    // No request.
    for alpn in ["http/1.1", "h2"] {
        let begun = Instant::now();
        let mut stream = dock.connect(&[alpn]).await;
        let ends = crate::support::ends_within(&mut stream, Duration::from_secs(3)).await;
        closes(alpn, ends, begun, 250, 1500).await;
    }
    // Half a head, and then a byte now and then.
    let mut http = dock.http1().await;
    let begun = Instant::now();
    http.send(b"POST /args HTTP/1.1\r\nhost: loc").await;
    let trickle = async {
        while http.stream.write_all(b"a").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let _ = tokio::time::timeout(Duration::from_millis(1500), trickle).await;
    let ends = http.ends_within(Duration::from_millis(100)).await;
    closes("half a head", ends, begun, 550, 1800).await;
    // After a request, both protocols.
    let mut http = dock.http1().await;
    let chunk = format!("{:x}\r\n{}\r\n0\r\n\r\n", body(GOOD).len(), body(GOOD));
    http.send(format!("{}{chunk}", chunked_head("/args", "")).as_bytes()).await;
    assert!(http.reply().await.is_correct());
    let begun = Instant::now();
    let ends = http.ends_within(Duration::from_secs(3)).await;
    closes("after a request", ends, begun, 250, 1500).await;
    dock.is_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_has_only_so_many_connections() {
    let dock = Dock::with("max_connections_per_client = 3", "").await;
    let mut open = Vec::new();
    for _ in 0..3 {
        open.push(dock.connect(&["http/1.1"]).await);
    }
    assert!(connect(dock.address, dock.roots(), &["http/1.1"]).await.is_err(), "the fourth");
    open.pop();
    for _ in 0..50 {
        if connect(dock.address, dock.roots(), &["http/1.1"]).await.is_ok() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the place does not come back");
}

#[tokio::test(flavor = "multi_thread")]
async fn callers_beyond_the_last_slot_wait_and_are_served() {
    let dock = Dock::with("max_connections = 2\nmax_connections_per_client = 2\nidle_ms = 500", "").await;
    let first = dock.connect(&["http/1.1"]).await;
    let _second = dock.connect(&["http/1.1"]).await;
    let waits =
        tokio::time::timeout(Duration::from_millis(200), connect(dock.address, dock.roots(), &[])).await;
    assert!(waits.is_err(), "no slot, no handshake");
    drop(first);
    assert!(dock.post("/args", "", &body(GOOD)).await.is_correct());
}

#[tokio::test(flavor = "multi_thread")]
async fn http2_has_64_streams_and_its_streams_fail_alone() {
    let dock = Dock::start().await;
    let stream = dock.connect(&["h2"]).await;
    let (send, mut connection) = h2::client::handshake(stream).await.expect("HTTP/2");
    let ping = connection.ping_pong().expect("pings");
    tokio::spawn(connection);
    // Its settings are there before its first answer.
    let mut ping = ping;
    ping.ping(h2::Ping::opaque()).await.expect("a pong");
    let mut send = send.ready().await.expect("a stream");
    assert_eq!(send.current_max_send_streams(), 64);
    let mut calls = Vec::new();
    for n in 0..40 {
        send = send.ready().await.expect("a stream");
        let path = ["/args", "/managed", "/none", "/args"][n % 4];
        let request = http::Request::post(format!("https://localhost{path}")).body(()).expect("a request");
        let (answer, mut out) = send.send_request(request, false).expect("sent");
        let payload = if n % 4 == 3 { "{".to_owned() } else { body(if n % 8 < 4 { GOOD } else { BAD }) };
        let _ = out.send_data(payload.into(), true);
        calls.push((n, answer));
    }
    for (n, answer) in calls {
        let status = answer.await.expect("an answer").status().as_u16();
        assert_eq!(status, [200, 401, 404, 400][n % 4], "call {n}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_admin_listener_answers_only_what_it_has_and_only_to_its_host() {
    let dock = Dock::start().await;
    let (status, text) = dock.get_admin("/healthz").await;
    assert_eq!((status, text.as_str()), (200, r#"{"status":"alive"}"#));
    let (status, text) = dock.get_admin("/readyz").await;
    assert_eq!((status, text.as_str()), (200, r#"{"ready":true,"reasons":[]}"#));
    for path in ["/", "/args", "/metrics/", "/healthz/x"] {
        assert_eq!(dock.get_admin(path).await.0, 404, "{path}");
    }
    assert_eq!(dock.admin("POST /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await.0, 405);
    for host in ["host: evil.example", "host: localhost.evil.example", "host: 127.0.0.1.evil", "x: y"] {
        let request = format!("GET /metrics HTTP/1.1\r\n{host}\r\n\r\n");
        assert_eq!(dock.admin(&request).await.0, 400, "{host}");
    }
    for host in ["127.0.0.1:9443", "LOCALHOST", "[::1]:9443", "localhost:1"] {
        let request = format!("GET /healthz HTTP/1.1\r\nhost: {host}\r\n\r\n");
        assert_eq!(dock.admin(&request).await.0, 200, "{host}");
    }
    let headers = format!("authorization: Bearer {KEY}\r\n");
    assert!(dock.post("/managed", &headers, &body(GOOD)).await.is_correct());
    let correct = r#"millwork_dock_requests_total{dock="/managed",status="200",code="correct"} 1"#;
    dock.wait_for_metric(correct).await;
}
