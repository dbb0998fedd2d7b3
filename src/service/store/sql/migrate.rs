//! The tables, in numbered steps.
//!
//! A step that was published is never changed: what comes after it is a step of its own, at the end of `STEPS`.

use super::{Session, Work, number, unexpected};
use crate::service::store::StoreError;

/// What makes of a database of version `n` one of version `n + 1`, from 0 on.
const STEPS: &[&str] = &[FIRST];

/// `timestamp`, `day` and `cad_rate_date` are texts as [`Utc`](crate::utc::Utc) writes them; `_ms` is milliseconds
/// after 1970; `key` is hexadecimal; `pending` is a row of a ledger without its transaction, as JSON.
const FIRST: &str = r#"
CREATE TABLE quota (
    op TEXT NOT NULL,
    caller TEXT NOT NULL,
    day TEXT NOT NULL,
    used BIGINT NOT NULL,
    last_ms BIGINT NOT NULL,
    PRIMARY KEY (op, caller)
);
CREATE TABLE usage (
    op TEXT NOT NULL,
    day TEXT NOT NULL,
    free BIGINT NOT NULL,
    PRIMARY KEY (op, day)
);
CREATE TABLE reservations (
    key TEXT NOT NULL PRIMARY KEY,
    op TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('taken', 'settling', 'settled', 'owed')),
    until_ms BIGINT NOT NULL,
    began_ms BIGINT,
    tx TEXT,
    pending TEXT
);
CREATE TABLE trips (
    op TEXT NOT NULL,
    name TEXT NOT NULL,
    at_ms BIGINT NOT NULL,
    PRIMARY KEY (op, name, at_ms)
);
CREATE TABLE argument_check_ledger (
    payer_wallet TEXT NOT NULL,
    "timestamp" TEXT NOT NULL,
    day TEXT NOT NULL,
    price_usdc_units BIGINT NOT NULL,
    cad_rate TEXT,
    cad_rate_date TEXT,
    cad_basis TEXT NOT NULL,
    cad_pending BOOLEAN NOT NULL,
    refund TEXT,
    payment_tx_id TEXT NOT NULL PRIMARY KEY,
    solana_fee_lamports BIGINT NOT NULL,
    criteria_version TEXT NOT NULL,
    op TEXT NOT NULL,
    verdict_line TEXT NOT NULL,
    status_verdict TEXT NOT NULL,
    status_repairs BIGINT NOT NULL,
    status_defects BIGINT NOT NULL,
    status_defect_codes TEXT NOT NULL,
    house BOOLEAN NOT NULL
);
CREATE INDEX argument_check_ledger_by_time ON argument_check_ledger ("timestamp", payment_tx_id);
CREATE TABLE split_profile_ledger (
    payer_wallet TEXT NOT NULL,
    "timestamp" TEXT NOT NULL,
    day TEXT NOT NULL,
    price_usdc_units BIGINT NOT NULL,
    cad_rate TEXT,
    cad_rate_date TEXT,
    cad_basis TEXT NOT NULL,
    cad_pending BOOLEAN NOT NULL,
    refund TEXT,
    payment_tx_id TEXT NOT NULL PRIMARY KEY,
    solana_fee_lamports BIGINT NOT NULL,
    criteria_version TEXT NOT NULL,
    verdict_line TEXT NOT NULL,
    tool_count BIGINT NOT NULL,
    schema_identity_group_count BIGINT NOT NULL,
    r1_assessability TEXT NOT NULL,
    r2_assessability TEXT NOT NULL,
    r3_assessability TEXT NOT NULL,
    house BOOLEAN NOT NULL
);
CREATE INDEX split_profile_ledger_by_time ON split_profile_ledger ("timestamp", payment_tx_id);
"#;

/// The advisory lock that processes starting together wait for: `dock` in ASCII.
const POSTGRES_LOCK: &str = "SELECT pg_advisory_xact_lock(1685021547)";
const SQLITE_EXISTS: &str =
    "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'schema_version'";
const POSTGRES_EXISTS: &str =
    "SELECT count(*) FROM pg_catalog.pg_class WHERE oid = to_regclass('schema_version')";
const VERSION: &str = "SELECT coalesce(max(version), 0) FROM schema_version";

/// Brings the tables to the version that this program knows.
pub(in super::super) struct Migrate;

impl Work for Migrate {
    type Output = ();

    async fn run(self, session: &mut Session<'_>) -> Result<(), StoreError> {
        let exists = match session {
            Session::Sqlite(_) => SQLITE_EXISTS,
            Session::Postgres(_) => {
                session.batch(POSTGRES_LOCK).await?;
                POSTGRES_EXISTS
            }
        };
        // Asked first: a role that may not create tables can use a database that has them.
        let version = if one(session, exists).await? == 0 {
            session.batch("CREATE TABLE schema_version (version BIGINT NOT NULL PRIMARY KEY)").await?;
            0
        } else {
            one(session, VERSION).await?
        };
        let known = u64::try_from(STEPS.len()).unwrap_or(u64::MAX);
        if version > known {
            return Err(StoreError(format!(
                "the database has version {version} of the tables and this program knows {known}: a newer program \
                 made it, and only a newer program can use it"
            )));
        }
        for (to, step) in (1..).zip(STEPS).filter(|(to, _)| *to > version) {
            session.batch(&dialect(session, step)).await?;
            session.execute("INSERT INTO schema_version (version) VALUES ($1)", &[number(to)]).await?;
        }
        Ok(())
    }
}

/// The step as the database wants it. PostgreSQL would order texts by the language of its database.
fn dialect(session: &Session<'_>, step: &str) -> String {
    match session {
        Session::Sqlite(_) => step.to_owned(),
        Session::Postgres(_) => step.replace(" TEXT", " TEXT COLLATE \"C\""),
    }
}

async fn one(session: &mut Session<'_>, sql: &str) -> Result<u64, StoreError> {
    session.first(sql, &[]).await?.ok_or_else(unexpected)?.number(0)
}
