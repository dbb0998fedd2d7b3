//! Stopping: nothing under way is lost, and nobody can hold the server up.

use crate::support::{Dock, GOOD, body, chunked_head, connect};
use millwork_dock::server::Stop;
use std::future::{pending, ready};
use std::time::{Duration, Instant};

/// A request whose body is half there, and the rest of it.
async fn half_a_request(dock: &Dock) -> (crate::support::Http1, String) {
    let mut http = dock.http1().await;
    let sent = body(GOOD);
    let (begin, end) = sent.split_at(10);
    http.send(format!("{}{:x}\r\n{begin}\r\n", chunked_head("/args", ""), begin.len()).as_bytes()).await;
    dock.wait_for_metric("millwork_dock_requests_in_flight 1").await;
    (http, format!("{:x}\r\n{end}\r\n0\r\n\r\n", end.len()))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_under_way_is_answered_and_nothing_new_is_taken() {
    let dock = Dock::with("drain_ms = 5000", "").await;
    let (mut http, rest) = half_a_request(&dock).await;
    let (address, roots) = (dock.address, dock.roots());
    let mut idle = dock.http1().await;
    let stopping = tokio::spawn(dock.server.stop(Stop::Now, pending()));
    assert!(idle.ends_within(Duration::from_secs(2)).await, "an idle connection ends at once");
    let begun = Instant::now();
    while connect(address, roots.clone(), &["http/1.1"]).await.is_ok() {
        assert!(begun.elapsed() < Duration::from_secs(1), "it goes on accepting");
    }
    http.send(rest.as_bytes()).await;
    assert!(http.reply().await.is_correct());
    assert!(stopping.await.expect("no panic"), "nothing was dropped");
}

#[tokio::test(flavor = "multi_thread")]
async fn readiness_falls_before_connections_are_turned_away() {
    let dock = Dock::with("drain_ms = 5000", "").await;
    let (admin, address, roots) = (dock.admin, dock.address, dock.roots());
    assert_eq!(dock.get_admin("/readyz").await.0, 200);
    let Dock { server, directory: _directory, .. } = dock;
    let stopping = tokio::spawn(server.stop(Stop::AfterNotice, pending()));
    let ready = async || {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let mut stream = tokio::net::TcpStream::connect(admin).await.ok()?;
        stream
            .write_all(b"GET /readyz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
            .await
            .ok()?;
        let mut text = String::new();
        stream.read_to_string(&mut text).await.ok()?;
        Some(text)
    };
    tokio::time::sleep(Duration::from_millis(100)).await;
    let answer = ready().await.expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 503") && answer.contains(r#"["stopping"]"#), "{answer}");
    assert!(connect(address, roots.clone(), &["http/1.1"]).await.is_ok(), "still served meanwhile");
    assert!(stopping.await.expect("no panic"));
    assert!(connect(address, roots, &["http/1.1"]).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_holds_the_server_up_is_dropped_at_the_deadline() {
    let dock = Dock::with("drain_ms = 500", "").await;
    let (_held, _) = half_a_request(&dock).await;
    let mut head = dock.http1().await;
    head.send(b"POST /args HTTP/1.1\r\nho").await;
    let begun = Instant::now();
    assert!(!dock.server.stop(Stop::Now, pending()).await);
    assert!((450..1500).contains(&begun.elapsed().as_millis()), "{:?}", begun.elapsed());
    assert!(head.ends_within(Duration::from_secs(1)).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_signal_drops_everything_at_once() {
    let dock = Dock::with("drain_ms = 60000", "").await;
    let (mut held, _) = half_a_request(&dock).await;
    let begun = Instant::now();
    assert!(!dock.server.stop(Stop::AfterNotice, ready(())).await);
    assert!(begun.elapsed() < Duration::from_secs(1));
    assert!(held.ends_within(Duration::from_secs(1)).await);
}
