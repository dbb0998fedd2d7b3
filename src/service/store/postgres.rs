//! The store of several replicas: a PostgreSQL database.
//!
//! One connection, made again when it is lost. A call runs to its end even if nobody waits for it any more, and has
//! [`CALL`] for everything: waiting for its turn, connecting, and its transaction. A call that fails leaves nothing
//! behind, but whether one whose `COMMIT` got no answer took place is unknown.

use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;

use bytes::BytesMut;
use tokio::spawn;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Client, Config, Statement};

use super::ledger::Cell;
use super::postgres_tls::{Tls, Url};
use super::sql::{Backend, Migrate, Row, Session, Work, failed};
use super::{CALL, StoreError};

/// What every connection sets, whatever role and database say. The server gives up what the client gave up; a role
/// may have switched off that `COMMIT` waits for the disk.
const SETTINGS: &str = "
SET statement_timeout = 5000;
SET idle_in_transaction_session_timeout = 5000;
SET client_min_messages = warning;
SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'";

/// Named, since a role may have another default.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";

/// A [`Store`](super::Store) in a PostgreSQL database.
pub struct Postgres(Arc<Shared>);

struct Shared {
    config: Config,
    tls: Tls,
    /// None while a call uses it, so that a call that is given up leaves no half transaction to the next.
    link: Mutex<Option<Link>>,
}

/// A connection.
pub(super) struct Link {
    client: Client,
    statements: HashMap<String, Statement>,
    driver: JoinHandle<()>,
}

impl Postgres {
    /// Connects to the database that a URL names: `postgres://user:password@host:port/database?sslmode=require`.
    ///
    /// `sslmode` is `disable`, `prefer` (the default), `require`, or `verify-full`. A certificate is verified whenever
    /// there is one, against `sslrootcert` (a PEM file), or else against what the system trusts, which the variable
    /// `SSL_CERT_FILE` replaces.
    ///
    /// # Errors
    /// The URL is wrong, the server cannot be reached or refuses, or the tables are those of a newer program. The
    /// text never holds the URL.
    pub async fn connect(url: &str) -> Result<Self, StoreError> {
        let Url { config, tls } = Url::parse(url)?;
        let store = Postgres(Arc::new(Shared { config, tls, link: Mutex::new(None) }));
        store.work(Migrate).await?;
        Ok(store)
    }
}

impl Backend for Postgres {
    async fn work<W: Work>(&self, work: W) -> Result<W::Output, StoreError> {
        let shared = Arc::clone(&self.0);
        let call = spawn(async move {
            match timeout(CALL, shared.transact(work)).await {
                Ok(outcome) => outcome,
                Err(_) => Err(StoreError(format!("PostgreSQL did not answer within {} s", CALL.as_secs()))),
            }
        });
        call.await.map_err(failed)?
    }
}

impl Shared {
    async fn transact<W: Work>(&self, work: W) -> Result<W::Output, StoreError> {
        let mut slot = self.link.lock().await;
        let mut link = self.begun(slot.take()).await?;
        match work.run(&mut Session::Postgres(&mut link)).await {
            Ok(output) => {
                link.batch("COMMIT").await?;
                *slot = Some(link);
                Ok(output)
            }
            Err(cause) => {
                if link.batch("ROLLBACK").await.is_ok() {
                    *slot = Some(link);
                }
                Err(cause)
            }
        }
    }

    /// A connection with a transaction: the one there is, or a new one.
    async fn begun(&self, link: Option<Link>) -> Result<Link, StoreError> {
        if let Some(mut link) = link
            && !link.client.is_closed()
            && link.batch(BEGIN).await.is_ok()
        {
            return Ok(link);
        }
        let (client, connection) =
            self.config.connect(self.tls.clone()).await.map_err(|cause| told(&cause))?;
        let driver = spawn(async move {
            // Whoever waits for the connection is told of its end.
            let _ = connection.await;
        });
        let mut link = Link { client, statements: HashMap::new(), driver };
        link.batch(SETTINGS).await?;
        link.batch(BEGIN).await?;
        Ok(link)
    }
}

impl Link {
    /// The rows that `sql` answers.
    pub(super) async fn query(&mut self, sql: &str, values: &[Cell]) -> Result<Vec<Row>, StoreError> {
        let statement = self.prepared(sql).await?;
        let rows = self.client.query(&statement, &parameters(values)).await.map_err(|cause| told(&cause))?;
        rows.iter().map(row).collect()
    }

    /// How many rows `sql` changed.
    pub(super) async fn execute(&mut self, sql: &str, values: &[Cell]) -> Result<u64, StoreError> {
        let statement = self.prepared(sql).await?;
        self.client.execute(&statement, &parameters(values)).await.map_err(|cause| told(&cause))
    }

    /// Runs statements that take no values.
    pub(super) async fn batch(&mut self, sql: &str) -> Result<(), StoreError> {
        self.client.batch_execute(sql).await.map_err(|cause| told(&cause))
    }

    /// The statement, prepared once for each connection. There are as many texts as this program has.
    async fn prepared(&mut self, sql: &str) -> Result<Statement, StoreError> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(sql).await.map_err(|cause| told(&cause))?;
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // Else it would wait for answers that nobody reads.
        self.driver.abort();
    }
}

/// An error with its causes. A detail of the database is left out, since it quotes rows.
fn told(cause: &tokio_postgres::Error) -> StoreError {
    if let Some(database) = cause.as_db_error() {
        return StoreError(format!("PostgreSQL: {} ({})", database.message(), database.code().code()));
    }
    let mut text = format!("PostgreSQL: {cause}");
    let mut next = cause.source();
    while let Some(cause) = next {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        next = cause.source();
    }
    StoreError(text)
}

fn parameters(values: &[Cell]) -> Vec<&(dyn ToSql + Sync)> {
    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

impl ToSql for Cell {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Cell::Null => Ok(IsNull::Yes),
            Cell::Number(number) => number.to_sql_checked(ty, out),
            Cell::Flag(flag) => flag.to_sql_checked(ty, out),
            Cell::Text(text) => text.to_sql_checked(ty, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

fn row(row: &tokio_postgres::Row) -> Result<Row, StoreError> {
    let cells = row.columns().iter().enumerate().map(|(index, column)| {
        let read = match *column.type_() {
            Type::BOOL => row.try_get::<_, Option<bool>>(index).map(|flag| flag.map(Cell::Flag)),
            Type::INT8 => row.try_get::<_, Option<i64>>(index).map(|number| number.map(Cell::Number)),
            _ => row.try_get::<_, Option<String>>(index).map(|text| text.map(Cell::Text)),
        };
        read.map(|cell| cell.unwrap_or(Cell::Null)).map_err(|cause| told(&cause))
    });
    Ok(Row(cells.collect::<Result<_, _>>()?))
}
