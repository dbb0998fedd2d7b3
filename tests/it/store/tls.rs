//! TLS to PostgreSQL.

use millwork_dock::service::store::open;

use super::Place;
use super::server::{PASSWORD, client};

#[tokio::test]
async fn a_server_is_verified_and_the_connection_is_encrypted() {
    let Some(place) = Place::server().await else { return };
    let plain = place.url.split('?').next().expect("a URL").to_owned();
    let root = place.server.as_ref().expect("a server").certificate().display().to_string();
    let stranger = tempfile::NamedTempFile::new().expect("a file");
    let itself = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
    std::fs::write(stranger.path(), itself.cert.pem()).expect("written");
    let stranger = stranger.path().display().to_string();
    let elsewhere = plain.replace("@127.0.0.1:", "@elsewhere.example:");
    for (url, expected) in [
        (format!("{plain}?sslmode=require&sslrootcert={root}"), Ok(true)),
        (format!("{plain}?sslrootcert={root}"), Ok(true)),
        (format!("{plain}?sslmode=verify-full&sslrootcert={}", root.replace('/', "%2F")), Ok(true)),
        (format!("{plain}?application_name=millwork-dock&sslmode=disable"), Ok(false)),
        (format!("{elsewhere}?hostaddr=127.0.0.1&sslmode=disable"), Ok(false)),
        // Encrypted or not at all: no certificate that cannot be verified is put up with.
        (format!("{plain}?sslmode=require&sslrootcert={stranger}"), Err("name its authority")),
        (format!("{plain}?sslmode=prefer&sslrootcert={stranger}"), Err("name its authority")),
        (
            format!("{elsewhere}?hostaddr=127.0.0.1&sslmode=require&sslrootcert={root}"),
            Err("not valid for name"),
        ),
    ] {
        match (open(&url).await, expected) {
            (Ok(_store), Ok(encrypted)) => assert_eq!(is_encrypted(&place).await, encrypted, "{url}"),
            (Err(cause), Err(said)) => {
                assert!(cause.to_string().contains(said), "{url}: {cause}");
                assert!(!cause.to_string().contains(PASSWORD), "{cause}");
            }
            (Ok(_), Err(_)) => panic!("{url} opens"),
            (Err(cause), Ok(_)) => panic!("{url}: {cause}"),
        }
    }
}

/// Whether the newest connection of a store to this database is encrypted, as the server sees it.
async fn is_encrypted(place: &Place) -> bool {
    let sql = "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
               WHERE application_name = 'millwork-dock' AND datname = current_database() \
               ORDER BY backend_start DESC LIMIT 1";
    client(&place.url).await.query_one(sql, &[]).await.expect("a connection").get(0)
}
