//! The store, each test on every database: SQLite in a temporary file, PostgreSQL on a server of the tests' own.

mod ledger;
mod open;
mod payment;
mod processes;
mod quota;
mod server;
mod tls;

use std::sync::Arc;

use millwork_dock::service::Op;
use millwork_dock::service::store::ledger::{Entry, Outcome};
use millwork_dock::service::store::{ReplayKey, Settled, Store, open};
use millwork_dock::utc::Utc;
use server::Server;
use tempfile::TempDir;

/// 2026-11-30T12:00:00Z.
const NOON: u64 = 1_796_040_000_000;
const DAY: u64 = 24 * 3_600_000;

/// An empty database.
pub(crate) struct Place {
    pub(crate) name: &'static str,
    pub(crate) url: String,
    /// What lives as long as the database.
    _file: Option<TempDir>,
    server: Option<Arc<Server>>,
}

impl Place {
    fn file() -> Place {
        let directory = tempfile::tempdir().expect("a directory");
        let url = format!("sqlite:{}", directory.path().join("dock.db").display());
        Place { name: "SQLite", url, _file: Some(directory), server: None }
    }

    /// On the server, under TLS; none where it is not installed.
    async fn server() -> Option<Place> {
        let server = Server::shared()?;
        let root = server.certificate();
        let url = format!("{}?sslmode=require&sslrootcert={}", server.database().await, root.display());
        Some(Place { name: "PostgreSQL", url, _file: None, server: Some(server) })
    }

    pub(crate) async fn every() -> Vec<Place> {
        [Some(Place::file()), Place::server().await].into_iter().flatten().collect()
    }

    async fn open(&self) -> Arc<dyn Store> {
        open(&self.url).await.expect(self.name)
    }

    /// Statements past the store.
    async fn run(&self, sql: &str) {
        if self.server.is_some() {
            server::client(&self.url).await.batch_execute(sql).await.expect(sql);
        } else {
            self.sqlite().execute_batch(sql).expect(sql);
        }
    }

    /// The columns of a table, in order.
    async fn columns(&self, table: &str) -> Vec<String> {
        if self.server.is_some() {
            let sql = "SELECT column_name::text FROM information_schema.columns WHERE table_name = $1 \
                       ORDER BY ordinal_position";
            let rows = server::client(&self.url).await.query(sql, &[&table]).await.expect(sql);
            return rows.iter().map(|row| row.get(0)).collect();
        }
        let connection = self.sqlite();
        let mut statement =
            connection.prepare("SELECT name FROM pragma_table_info(?1) ORDER BY cid").expect("SQL");
        let rows = statement.query_map([table], |row| row.get(0)).expect("rows");
        rows.map(|row| row.expect("a name")).collect()
    }

    fn sqlite(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.url.strip_prefix("sqlite:").expect("a file")).expect("a database")
    }
}

/// Runs a test on each database, with its name.
async fn on_each(test: impl AsyncFn(&'static str, Arc<dyn Store>)) {
    for place in Place::every().await {
        test(place.name, place.open().await).await;
    }
}

/// So many milliseconds after noon.
fn at(millis: u64) -> Utc {
    Utc::from_unix_millis(NOON + millis)
}

fn key(byte: u8) -> ReplayKey {
    ReplayKey([byte; 32])
}

fn settled(tx: &str) -> Settled {
    Settled { tx: tx.to_owned() }
}

/// An entry of a check that ended so many milliseconds after noon.
fn entry(op: Op, millis: u64) -> Entry {
    let outcome = match op {
        Op::ArgumentCheck => Outcome::Argument {
            verdict: "REPAIRED",
            repairs: 2,
            defects: 3,
            defect_codes: vec!["type_mismatch", "required_missing"],
        },
        Op::SplitProfile => {
            Outcome::Profile { tools: 7, groups: 2, blocks: ["ASSESSABLE", "ASSESSABLE", "NOT-ASSESSABLE"] }
        }
    };
    Entry {
        payer: "Payer1111".to_owned(),
        at: at(millis),
        price_usdc_units: 20_000,
        solana_fee_lamports: 10_000,
        criteria_version: "1.2.0",
        verdict_line: format!("LINE {millis}"),
        house: false,
        outcome,
    }
}

/// Reserves, begins, finishes and delivers a payment.
async fn paid(store: &dyn Store, number: u8, entry: &Entry, tx: &str) -> bool {
    let op = entry.outcome.op();
    store.reserve(op, key(number), entry.at).await.expect("reserved");
    store.ledger_begin(key(number), entry, entry.at).await.expect("begun");
    let new = store.ledger_finish(key(number), &settled(tx), entry.at).await.expect("finished");
    store.delivered(key(number)).await.expect("delivered");
    new
}
