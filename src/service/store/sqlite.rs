//! The embedded store: one SQLite file, which several processes of one machine may share.
//!
//! Write-ahead log with `synchronous=FULL`: what was committed outlives a crash of the machine. One connection, and
//! each call on tokio's blocking pool, where it runs to its end even if nobody waits for it any more.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OpenFlags, Statement, ToSql};
use tokio::runtime::Handle;
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

use super::ledger::Cell;
use super::sql::{Backend, Migrate, Row, Session, Work, failed};
use super::{CALL, StoreError};

/// How often a process tries again to switch to the write-ahead log, which SQLite does not wait for, and after what.
const SWITCHES: u32 = 50;
const SWITCH: Duration = Duration::from_millis(100);

/// A [`Store`](super::Store) in a SQLite file.
pub struct Sqlite {
    connection: Arc<Mutex<Connection>>,
}

impl Sqlite {
    /// Opens the file, or makes it, readable for its owner only.
    ///
    /// # Errors
    /// The file cannot be used, is no database, or is one of a newer program.
    pub async fn open(path: &Path) -> Result<Self, StoreError> {
        let mut tries = 0;
        let connection = loop {
            let path = path.to_owned();
            match spawn_blocking(move || connect(&path)).await.map_err(failed)? {
                Err(Refusal::Busy(_)) if tries < SWITCHES => tries += 1,
                Err(Refusal::Busy(cause) | Refusal::Final(cause)) => return Err(cause),
                Ok(connection) => break connection,
            }
            sleep(SWITCH).await;
        };
        let store = Sqlite { connection: Arc::new(Mutex::new(connection)) };
        store.work(Migrate).await?;
        Ok(store)
    }
}

impl Backend for Sqlite {
    async fn work<W: Work>(&self, work: W) -> Result<W::Output, StoreError> {
        let waited = timeout(CALL, Arc::clone(&self.connection).lock_owned()).await;
        let mut connection = waited.map_err(|_| StoreError("SQLite is busy".to_owned()))?;
        let handle = Handle::current();
        spawn_blocking(move || transact(&mut connection, &handle, work)).await.map_err(failed)?
    }
}

/// Why a file cannot be opened: in use just now, or for good.
enum Refusal {
    Busy(StoreError),
    Final(StoreError),
}

impl From<rusqlite::Error> for Refusal {
    fn from(cause: rusqlite::Error) -> Self {
        let busy = [rusqlite::ErrorCode::DatabaseBusy, rusqlite::ErrorCode::DatabaseLocked];
        if cause.sqlite_error_code().is_some_and(|code| busy.contains(&code)) {
            Refusal::Busy(failed(cause))
        } else {
            Refusal::Final(failed(cause))
        }
    }
}

fn connect(path: &Path) -> Result<Connection, Refusal> {
    let unusable = |cause| Refusal::Final(StoreError(format!("{}: {cause}", path.display())));
    // SQLite gives its other files the mode of this one.
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    options.open(path).map_err(unusable)?;
    // Absolute, so that no name means memory.
    let path = path.canonicalize().map_err(unusable)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(CALL)?;
    let mode: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    if mode != "wal" {
        return Err(Refusal::Final(StoreError("the file's place allows no write-ahead log".to_owned())));
    }
    connection.execute_batch("PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF;")?;
    Ok(connection)
}

fn transact<W: Work>(connection: &mut Connection, handle: &Handle, work: W) -> Result<W::Output, StoreError> {
    if !connection.is_autocommit() {
        // The call before this one panicked.
        connection.execute_batch("ROLLBACK").map_err(failed)?;
    }
    connection.execute_batch(if W::WRITES { "BEGIN IMMEDIATE" } else { "BEGIN" }).map_err(failed)?;
    let outcome = handle.block_on(work.run(&mut Session::Sqlite(connection)));
    let ended = outcome.and_then(|output| {
        connection.execute_batch("COMMIT").map_err(failed)?;
        Ok(output)
    });
    if ended.is_err() && !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK").map_err(failed)?;
    }
    ended
}

/// The rows that `sql` answers.
pub(super) fn query(connection: &Connection, sql: &str, values: &[Cell]) -> Result<Vec<Row>, StoreError> {
    let mut statement = prepared(connection, sql, values)?;
    let columns = statement.column_count();
    let mut answered = statement.raw_query();
    let mut rows = Vec::new();
    while let Some(row) = answered.next().map_err(failed)? {
        let cells = (0..columns).map(|column| cell(row.get_ref(column).map_err(failed)?));
        rows.push(Row(cells.collect::<Result<_, _>>()?));
    }
    Ok(rows)
}

/// How many rows `sql` changed.
pub(super) fn execute(connection: &Connection, sql: &str, values: &[Cell]) -> Result<u64, StoreError> {
    let changed = prepared(connection, sql, values)?.raw_execute().map_err(failed)?;
    u64::try_from(changed).map_err(failed)
}

fn prepared<'a>(connection: &'a Connection, sql: &str, values: &[Cell]) -> Result<Statement<'a>, StoreError> {
    let mut statement = connection.prepare(sql).map_err(failed)?;
    for (place, value) in (1..).zip(values) {
        // To SQLite, `$1` is a name.
        statement.raw_bind_parameter(format!("${place}").as_str(), value).map_err(failed)?;
    }
    Ok(statement)
}

impl ToSql for Cell {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Cell::Null => ToSqlOutput::Borrowed(ValueRef::Null),
            Cell::Number(number) => ToSqlOutput::Borrowed(ValueRef::Integer(*number)),
            Cell::Flag(flag) => ToSqlOutput::Borrowed(ValueRef::Integer((*flag).into())),
            Cell::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
        })
    }
}

fn cell(value: ValueRef<'_>) -> Result<Cell, StoreError> {
    match value {
        ValueRef::Null => Ok(Cell::Null),
        ValueRef::Integer(number) => Ok(Cell::Number(number)),
        ValueRef::Text(text) => Ok(Cell::Text(str::from_utf8(text).map_err(failed)?.to_owned())),
        ValueRef::Real(_) | ValueRef::Blob(_) => Err(StoreError("a cell has a type of no column".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    /// No test can cut the power: that the settings that outlive it are in force has to do.
    #[test]
    fn what_is_committed_is_on_disk() {
        let directory = tempfile::tempdir().unwrap();
        let connection = connect(&directory.path().join("dock.db")).ok().unwrap();
        let setting = |name: &str| {
            let sql = format!("PRAGMA {name}");
            connection.query_row(&sql, [], |row| row.get::<_, rusqlite::types::Value>(0)).unwrap()
        };
        assert_eq!(setting("synchronous"), 2.into());
        assert_eq!(setting("journal_mode"), "wal".to_owned().into());
    }
}
