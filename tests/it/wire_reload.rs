//! Files that change under a serving dock: keys, schemas, the configuration, certificates.

use crate::support::{BAD, Dock, GOOD, KEY, Reply, body, directory};
use std::path::Path;
use std::time::{Duration, Instant};

const NEW_KEY: &str = "new-key-0123456789abcdefgh";

async fn managed(dock: &Dock, key: &str) -> Reply {
    dock.post("/managed", &format!("authorization: Bearer {key}\r\n"), &body(GOOD)).await
}

/// Asks until the answer is as wanted; a change has to hold after 2 s, and one more is for a busy machine.
async fn until<F: AsyncFn() -> bool>(what: &str, holds: F) {
    let begun = Instant::now();
    while !holds().await {
        assert!(begun.elapsed() < Duration::from_secs(3), "{what}: not within 3 s");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn write(dock: &Dock, name: &str, text: &str) {
    std::fs::write(dock.directory.path().join(name), text).expect("written");
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_rotate_without_a_restart() {
    let dock = Dock::start().await;
    assert!(managed(&dock, KEY).await.is_correct());
    managed(&dock, NEW_KEY).await.refused(401, "unauthorized");

    write(&dock, "keys", &format!("{KEY}\n{NEW_KEY}\n"));
    until("overlap", async || managed(&dock, NEW_KEY).await.head.status == 200).await;
    assert!(managed(&dock, KEY).await.is_correct(), "both hold during the overlap");

    write(&dock, "keys", NEW_KEY);
    until("retired", async || managed(&dock, KEY).await.head.status == 401).await;
    assert!(managed(&dock, NEW_KEY).await.is_correct());

    std::fs::remove_file(dock.directory.path().join("keys")).expect("removed");
    until("removed", async || managed(&dock, NEW_KEY).await.head.status == 503).await;
    managed(&dock, NEW_KEY).await.refused(503, "endpoint_keys_unavailable");
    dock.is_well().await;

    write(&dock, "keys", &format!("solverapi_live_x,{KEY}"));
    until("an account key", async || {
        managed(&dock, KEY).await.json()["error"] == "endpoint_keys_misconfigured"
    })
    .await;
    write(&dock, "keys", KEY);
    until("repaired", async || managed(&dock, KEY).await.head.status == 200).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retired_key_is_refused_even_if_the_schema_breaks_with_it() {
    let dock = Dock::start().await;
    write(&dock, "schema.json", "{\"type\":");
    write(&dock, "keys", NEW_KEY);
    until("retired", async || managed(&dock, KEY).await.head.status == 401).await;
    assert!(managed(&dock, NEW_KEY).await.is_correct(), "judged by the schema of before");
    write(&dock, "schema.json", r#"{"type":"object","required":["other"]}"#);
    until("the new schema", async || !managed(&dock, NEW_KEY).await.is_correct()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_configuration_is_taken_over_or_left_as_a_whole() {
    let dock = Dock::start().await;
    let file = dock.directory.path().join("dock.toml");
    let before = std::fs::read_to_string(&file).expect("the configuration");
    let more = "[[dock]]\npath = \"/more\"\naccess = \"public\"\ncheck = \"tool-argument/v1\"\n";
    dock.post("/more", "", &body(GOOD)).await.refused(404, "not_found");

    let broken = format!("{before}{more}source = \"arguments\"\nschema = \"missing.json\"\n");
    std::fs::write(&file, broken.replace("[limits]", "[limits]\nmax_body_bytes = 1024")).expect("written");
    dock.wait_for_metric("millwork_dock_reload_failures_total 1").await;
    std::fs::write(&file, "[server]\nlisten = 1").expect("written");
    dock.wait_for_metric("millwork_dock_reload_failures_total 2").await;
    let long = body(&format!("\"{}\"", "x".repeat(2000)));
    assert!(!dock.post("/args", "", &long).await.is_correct(), "the old limit still holds");

    let sound = format!("{before}{more}source = \"check_request\"\n");
    std::fs::write(&file, sound.replace("[limits]", "[limits]\nmax_body_bytes = 1024")).expect("written");
    until("the new dock", async || dock.post("/more", "", &body(BAD)).await.head.status == 200).await;
    dock.post("/args", "", &long).await.refused(413, "request_too_large");
    assert!(managed(&dock, KEY).await.is_correct());

    std::fs::write(&file, &before).expect("written");
    until("the dock is gone", async || dock.post("/more", "", &body(BAD)).await.head.status == 404).await;
}

/// Writes a pair for localhost that expires in `year`, and the certificate as what clients trust.
fn write_pair(directory: &Path, year: i32) {
    let mut params = rcgen::CertificateParams::new(["localhost".to_owned()]).expect("a name");
    params.not_after = rcgen::date_time_ymd(year, 1, 1);
    let key = rcgen::KeyPair::generate().expect("a key");
    let certificate = params.self_signed(&key).expect("a certificate");
    std::fs::write(directory.join("tls.crt"), certificate.pem()).expect("written");
    std::fs::write(directory.join("tls.key"), key.serialize_pem()).expect("written");
    std::fs::write(directory.join("ca.pem"), certificate.pem()).expect("written");
}

#[tokio::test(flavor = "multi_thread")]
async fn certificates_are_taken_over_only_as_a_pair_that_serves() {
    let directory = directory("", "");
    let file = directory.path().join("dock.toml");
    let text = std::fs::read_to_string(&file).expect("the configuration");
    let own = "self_signed = [\"localhost\"]\nself_signed_out = \"ca.pem\"";
    std::fs::write(&file, text.replace(own, "cert = \"tls.crt\"\nkey = \"tls.key\"")).expect("written");
    write_pair(directory.path(), 2090);
    let dock = Dock::in_directory(directory).await;
    dock.is_well().await;
    let expiry = "millwork_dock_certificate_expiry_timestamp_seconds";
    dock.wait_for_metric(&format!("{expiry} 3786912000")).await;

    let old_key = std::fs::read(dock.directory.path().join("tls.key")).expect("the key");
    let old_authority = std::fs::read(dock.directory.path().join("ca.pem")).expect("the authority");
    write_pair(dock.directory.path(), 2091);
    let new_key = std::fs::read(dock.directory.path().join("tls.key")).expect("the key");
    let new_authority = std::fs::read(dock.directory.path().join("ca.pem")).expect("the authority");
    // The poll sees the mixed pair, and the server goes on with the old.
    std::fs::write(dock.directory.path().join("tls.key"), old_key).expect("written");
    std::fs::write(dock.directory.path().join("ca.pem"), old_authority).expect("written");
    dock.wait_for_metric("millwork_dock_reload_failures_total 1").await;
    dock.is_well().await;

    std::fs::write(dock.directory.path().join("tls.key"), new_key).expect("written");
    dock.wait_for_metric(&format!("{expiry} 3818448000")).await;
    std::fs::write(dock.directory.path().join("ca.pem"), new_authority).expect("written");
    dock.is_well().await;

    write_pair(dock.directory.path(), 2021);
    dock.wait_for_metric("millwork_dock_reload_failures_total 2").await;
    assert_eq!(dock.get_admin("/readyz").await.0, 200, "an expired pair does not replace a good one");
}
