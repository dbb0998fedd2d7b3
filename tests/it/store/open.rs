//! Opening: URLs, the file's mode, tables of a newer program, locks and lost connections.

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use millwork_dock::service::Op::ArgumentCheck;
use millwork_dock::service::store::{Allowance, Quota, open};

use super::server::{PASSWORD, client};
use super::{Place, at, entry, paid};

const FREELY: Allowance = Allowance { per_day: 100, min_interval_ms: 0 };

/// The error of opening `url`.
async fn refusal(url: &str) -> String {
    match open(url).await {
        Ok(_) => panic!("{url} opens"),
        Err(cause) => cause.to_string(),
    }
}

#[tokio::test]
async fn wrong_urls_are_refused_and_never_repeated() {
    for (url, said) in [
        ("", "begins with sqlite:"),
        ("sqlite:", "begins with sqlite:"),
        ("mysql://u:s3cret@h/d", "begins with sqlite:"),
        ("sqlite:/no/such/folder/dock.db", "/no/such/folder/dock.db: No such file"),
        ("sqlite:.", "directory"),
        ("postgres://u:s3cret@h:port/d", "is not valid"),
        ("postgres://u:s3cret@h/d?s3cret=1", "is not valid"),
        ("postgres://u:s3?cret@h/d?nothing=s3cret", "is not valid"),
        ("postgres://u:s3cret@h/d?sslmode=s3cret", "sslmode is one of"),
        ("postgres://u:s3cret@h/d?sslrootcert=%2", "two digits"),
        ("postgres://u:s3cret@h/d?sslrootcert=%2Fno%2Ffile", "/no/file"),
        ("postgres://u:s3cret@127.0.0.1:1/d?sslmode=disable", "error connecting"),
        ("postgresql://u:s3cret@127.0.0.1:1/d?sslmode=disable", "error connecting"),
    ] {
        let refused = refusal(url).await;
        assert!(refused.contains(said), "{url}: {refused}");
        assert!(!refused.contains("s3cret") && !refused.contains("s3?cret"), "{refused}");
    }
}

#[tokio::test]
async fn a_new_file_is_for_its_owner_only_and_an_old_one_keeps_its_mode() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("dock.db");
    let mode = |path: &std::path::Path| std::fs::metadata(path).expect("a file").permissions().mode() & 0o777;
    let url = format!("sqlite:{}", path.display());
    let store = open(&url).await.expect("a store");
    paid(&*store, 1, &entry(ArgumentCheck, 0), "tx").await;
    let mut files: Vec<_> = std::fs::read_dir(directory.path())
        .expect("files")
        .map(|file| file.expect("a file").path())
        .collect();
    files.sort();
    assert_eq!(files.len(), 3, "{files:?}");
    assert!(files.iter().all(|file| mode(file) == 0o600), "{files:?}");
    drop(store);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).expect("a mode");
    let store = open(&url).await.expect("a store");
    assert_eq!(mode(&path), 0o640);
    assert_eq!(store.ledger_page(ArgumentCheck, None, 9).await.expect("rows").len(), 1);
}

#[tokio::test]
async fn what_is_no_database_is_refused() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(
        file.path(),
        "no database, but text that is long enough to be read as a header of one\n".repeat(9),
    )
    .expect("written");
    let refused = refusal(&format!("sqlite:{}", file.path().display())).await;
    assert!(refused.contains("not a database"), "{refused}");
}

#[tokio::test]
async fn tables_of_a_newer_program_are_refused_and_left_alone() {
    for place in Place::every().await {
        place.open().await;
        place.open().await;
        place.run("INSERT INTO schema_version (version) VALUES (99)").await;
        let refused = refusal(&place.url).await;
        assert!(
            refused.contains("version 99") && refused.contains("newer program"),
            "{}: {refused}",
            place.name
        );
        place.run("DELETE FROM schema_version WHERE version = 99").await;
        place.open().await;
    }
}

#[tokio::test]
async fn a_database_that_holds_other_tables_is_refused_and_left_alone() {
    for place in Place::every().await {
        place.run("CREATE TABLE trips (somebody TEXT)").await;
        let refused = refusal(&place.url).await;
        assert!(refused.contains("exists"), "{}: {refused}", place.name);
        assert!(place.columns("quota").await.is_empty() && place.columns("schema_version").await.is_empty());
        assert_eq!(place.columns("trips").await, ["somebody"]);
    }
}

#[tokio::test]
async fn a_call_that_meets_a_lock_ends_in_time_and_the_next_one_works() {
    let file = Place::file();
    let on_file = async {
        let store = file.open().await;
        let lock = file.sqlite();
        lock.execute_batch("BEGIN IMMEDIATE").expect("a lock");
        let begun = Instant::now();
        let refused = store.quota_take(ArgumentCheck, "a", FREELY, at(0)).await.expect_err("no lock");
        assert!(refused.to_string().contains("locked"), "{refused}");
        assert!(begun.elapsed() < Duration::from_secs(8));
        lock.execute_batch("COMMIT").expect("the end of the lock");
        assert_eq!(
            store.quota_take(ArgumentCheck, "a", FREELY, at(0)).await.expect("granted"),
            Quota::Granted
        );
        assert_eq!(store.figures(ArgumentCheck, "2026-11-30").await.expect("figures").free, 1);
    };
    let on_server = async {
        let Some(place) = Place::server().await else { return };
        let store = place.open().await;
        let lock = client(&place.url).await;
        lock.batch_execute("BEGIN; LOCK TABLE quota").await.expect("a lock");
        let begun = Instant::now();
        let refused = store.quota_take(ArgumentCheck, "a", FREELY, at(0)).await.expect_err("no lock");
        assert!(refused.to_string().contains("PostgreSQL"), "{refused}");
        assert!(begun.elapsed() < Duration::from_secs(8));
        lock.batch_execute("COMMIT").await.expect("the end of the lock");
        assert_eq!(
            store.quota_take(ArgumentCheck, "a", FREELY, at(0)).await.expect("granted"),
            Quota::Granted
        );
        assert_eq!(store.figures(ArgumentCheck, "2026-11-30").await.expect("figures").free, 1);
    };
    tokio::join!(on_file, on_server);
}

#[tokio::test]
async fn a_lost_connection_is_made_again() {
    let Some(place) = Place::server().await else { return };
    let store = place.open().await;
    let admin = client(&place.url).await;
    for round in 1..=5 {
        let sql = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
                   WHERE application_name = 'millwork-dock' AND datname = current_database()";
        let ended: i64 = admin.query_one(sql, &[]).await.expect("ended").get(0);
        assert_eq!(ended, 1, "round {round}");
        assert_eq!(
            store.quota_take(ArgumentCheck, "a", FREELY, at(0)).await.expect("granted"),
            Quota::Granted
        );
    }
    assert_eq!(store.figures(ArgumentCheck, "2026-11-30").await.expect("figures").free, 5);
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_any_more_runs_to_its_end() {
    for place in Place::every().await {
        let store = place.open().await;
        for _ in 0..20 {
            let call = store.quota_take(ArgumentCheck, "a", FREELY, at(0));
            let _ = tokio::time::timeout(Duration::from_micros(300), call).await;
        }
        // Whatever was counted was granted whole: allowance and figures agree, and nothing is left open.
        let mut granted = 0;
        while store.quota_take(ArgumentCheck, "a", FREELY, at(0)).await.expect(place.name) == Quota::Granted {
            granted += 1;
        }
        assert!(granted >= 80, "{}: {granted}", place.name);
        assert_eq!(store.figures(ArgumentCheck, "2026-11-30").await.expect(place.name).free, 100);
    }
}

#[tokio::test]
async fn a_wrong_password_is_not_told() {
    let Some(place) = Place::server().await else { return };
    let url = place.url.replace(PASSWORD, "wrong-password");
    let refused = refusal(&url).await;
    assert!(refused.contains("authentication failed"), "{refused}");
    assert!(!refused.contains("wrong-password"), "{refused}");
}
