//! Clients that mean harm, or behave as if: the server stays up, and later calls are right.

use crate::support::{Dock, GOOD, KEY, as_text, body, chunked_head};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

#[tokio::test(flavor = "multi_thread")]
async fn clients_killed_in_the_middle_leave_nothing_behind() {
    let dock = Dock::start().await;
    for n in 0..200 {
        let mut http = dock.http1().await;
        let head = chunked_head("/args", "");
        let sent = format!("{head}400\r\n{}", "x".repeat(200));
        http.send(&sent.as_bytes()[..(n * 7) % sent.len()]).await;
        // Dropped without a farewell, in most cases with a reset.
        drop(http);
    }
    dock.wait_for_metric("millwork_dock_connections 0").await;
    dock.wait_for_metric("millwork_dock_requests_in_flight 0").await;
    dock.is_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_tls_is_dropped() {
    let dock = Dock::start().await;
    let garbage: [&[u8]; 5] = [
        b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        &[0xff; 4096],
        &[0x16, 0x03, 0x01, 0xff, 0xff],
        &[0x16, 0x03, 0x01, 0x00, 0x05, 0x01, 0x00, 0x00, 0x01, 0x00],
    ];
    for _ in 0..20 {
        for bytes in garbage {
            let mut socket = TcpStream::connect(dock.address).await.expect("a socket");
            socket.write_all(bytes).await.expect("sent");
            socket.shutdown().await.expect("ended");
            let mut answer = Vec::new();
            let _ = tokio::time::timeout(Duration::from_secs(5), socket.read_to_end(&mut answer))
                .await
                .expect("an end");
            assert!(!answer.starts_with(b"HTTP"), "nothing is answered outside TLS");
        }
    }
    dock.is_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_wrong_keys_open_nothing_and_cost_nothing() {
    let dock = Dock::start().await;
    let stream = dock.connect(&["h2"]).await;
    let (mut send, connection) = h2::client::handshake(stream).await.expect("HTTP/2");
    tokio::spawn(connection);
    for n in 0..1000 {
        send = send.ready().await.expect("a stream");
        let key = format!("Bearer {}{n:04}", &KEY[..KEY.len() - 4]);
        let request = http::Request::post("https://localhost/managed").header("authorization", key);
        let (answer, _) = send.send_request(request.body(()).expect("a request"), true).expect("sent");
        assert_eq!(answer.await.expect("an answer").status(), 401);
    }
    let headers = format!("authorization: Bearer {KEY}\r\n");
    assert!(dock.post("/managed", &headers, &body(GOOD)).await.is_correct());
}

#[tokio::test(flavor = "multi_thread")]
async fn monstrous_candidates_get_a_verdict_or_a_refusal() {
    let dock = Dock::start().await;
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    let long_number = "1".repeat(500_000);
    for candidate in [
        nested(128),
        nested(129),
        nested(500_000),
        as_text(&nested(500_000)),
        as_text(&"[".repeat(1_000_000)),
        r#"{"city":1e1000000000}"#.to_owned(),
        r#"{"city":"x","days":1e1000000000}"#.to_owned(),
        r#"{"city":"x","days":1e-1000000000}"#.to_owned(),
        format!(r#"{{"days":{long_number}}}"#),
        format!("{{{}\"x\":1}}", r#""k":1,"#.repeat(100_000)),
    ] {
        let begun = std::time::Instant::now();
        let reply = dock.post("/args", "", &body(&candidate)).await;
        assert_eq!(reply.head.status, 200, "{}", &candidate[..20]);
        assert!(begun.elapsed() < Duration::from_secs(5), "{}: {:?}", &candidate[..20], begun.elapsed());
    }
    let letters = "a".repeat(50_000);
    let backtracking = format!(
        r#"{{"arguments":{{"v":"{letters}!"}},"schema":{{"type":"object","properties":
           {{"v":{{"type":"string","pattern":"(a+)+$"}}}}}}}}"#
    );
    assert!(!dock.post("/check", "", &body(&backtracking)).await.is_correct());
    dock.is_well().await;
}

/// A check that is far beyond any budget.
fn endless_check() -> String {
    let letters = "a".repeat(4000);
    body(&format!(
        r#"{{"arguments":{{"v":"{letters}!"}},"schema":{{"type":"object","properties":
           {{"v":{{"type":"string","pattern":"(.*)(.*)(.*)(.*)\\1x"}}}}}}}}"#
    ))
}

#[tokio::test(flavor = "multi_thread")]
async fn long_checks_are_shed_and_keep_no_probe_waiting() {
    let dock = Dock::with("check_timeout_ms = 3000", "").await;
    let mut calls = Vec::new();
    for _ in 0..10 {
        let stream = dock.connect(&["h2"]).await;
        let (mut send, connection) = h2::client::handshake(stream).await.expect("HTTP/2");
        tokio::spawn(connection);
        for _ in 0..60 {
            send = send.ready().await.expect("a stream");
            let request = http::Request::post("https://localhost/check").body(()).expect("a request");
            let (answer, mut out) = send.send_request(request, false).expect("sent");
            out.send_data(endless_check().into(), true).expect("sent");
            calls.push(answer);
        }
        // Its connection lives as long as its sender.
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(30)).await;
            drop(send);
        });
    }
    let probe = body(r#"{"solverapi_probe":"registration_preflight"}"#);
    for _ in 0..10 {
        let begun = std::time::Instant::now();
        assert!(!dock.post("/args", "", &probe).await.is_correct());
        assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    }
    let mut shed = 0;
    for answer in calls {
        let answer = answer.await.expect("an answer");
        match answer.status().as_u16() {
            503 => {
                assert_eq!(answer.headers()["retry-after"], "1");
                shed += 1;
            }
            504 => {}
            other => panic!("{other}"),
        }
    }
    assert!(shed > 0, "the queue has no end");
    dock.is_well().await;
}

/// An HTTP/2 frame.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("a length").to_be_bytes();
    let mut bytes = vec![length[1], length[2], length[3], kind, flags];
    bytes.extend_from_slice(&stream.to_be_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

/// The header block of `POST https://localhost/args`, without a dynamic table.
fn header_block() -> Vec<u8> {
    let mut block = vec![0x83, 0x87, 0x04, 5];
    block.extend_from_slice(b"/args");
    block.extend_from_slice(&[0x01, 9]);
    block.extend_from_slice(b"localhost");
    block
}

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const CONTINUATION: u8 = 9;
const END_HEADERS: u8 = 4;

/// An HTTP/2 connection after the preface, for raw frames.
async fn raw_h2(dock: &Dock) -> TlsStream<TcpStream> {
    let mut stream = dock.connect(&["h2"]).await;
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.expect("sent");
    stream.write_all(&frame(SETTINGS, 0, 0, &[])).await.expect("sent");
    stream
}

/// Sends frames in batches of 100 until the server has had enough; how many it took.
async fn flood(mut stream: TlsStream<TcpStream>, count: usize, next: impl Fn(usize) -> Vec<u8>) -> usize {
    let (mut from_server, mut to_server) = tokio::io::split(&mut stream);
    let read = async {
        let mut some = [0; 4096];
        while !matches!(from_server.read(&mut some).await, Ok(0) | Err(_)) {}
    };
    let write = async {
        for batch in 0..count / 100 {
            let frames: Vec<u8> = (0..100).flat_map(|n| next(batch * 100 + n)).collect();
            if to_server.write_all(&frames).await.is_err() {
                return batch * 100;
            }
            tokio::task::yield_now().await;
        }
        count
    };
    tokio::pin!(read);
    tokio::pin!(write);
    let mut sent = None;
    let both = async {
        tokio::select! {
            taken = &mut write => { sent = Some(taken); read.await; }
            () = &mut read => {}
        }
    };
    let cut = tokio::time::timeout(Duration::from_secs(10), both).await.is_ok();
    assert!(cut, "the connection is still open");
    sent.unwrap_or(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn floods_of_http2_frames_are_cut() {
    let dock = Dock::with("idle_ms = 10000\nheader_ms = 10000", "").await;
    let stream_of = |n: usize| u32::try_from(2 * n + 1).expect("a stream");
    let ping = frame(PING, 0, 0, &[7; 8]);
    let settings = frame(SETTINGS, 0, 0, &[]);
    let unknown = frame(0xfa, 0, 0, &[0; 16]);
    flood(raw_h2(&dock).await, 30_000, |_| ping.clone()).await;
    flood(raw_h2(&dock).await, 30_000, |_| settings.clone()).await;
    flood(raw_h2(&dock).await, 30_000, |_| unknown.clone()).await;
    let flooded = r#"millwork_dock_connections_closed_total{reason="flood"} 3"#;
    dock.wait_for_metric(flooded).await;

    let reset = |n| {
        let mut both = frame(HEADERS, END_HEADERS, stream_of(n), &header_block());
        both.extend(frame(RST_STREAM, 0, stream_of(n), &[0, 0, 0, 8]));
        both
    };
    flood(raw_h2(&dock).await, 30_000, reset).await;

    let mut stream = raw_h2(&dock).await;
    stream.write_all(&frame(HEADERS, 0, 1, &header_block())).await.expect("sent");
    flood(stream, 30_000, |_| frame(CONTINUATION, 0, 1, &[])).await;

    let mut stream = raw_h2(&dock).await;
    stream.write_all(&frame(HEADERS, END_HEADERS, 1, &header_block())).await.expect("sent");
    flood(stream, 30_000, |_| frame(DATA, 0, 1, &[])).await;
    dock.is_well().await;
}
