//! The store in SQL, once for both databases.
//!
//! A [`Work`] is what one call does inside one transaction; a [`Backend`] gives it a [`Session`] and commits. Whatever
//! is a [`Backend`] is a [`Store`](super::Store) (`shared`). The texts use only what both databases understand alike:
//! `$1` for a value, `TEXT`, `BIGINT` and `BOOLEAN` as types, `ON CONFLICT`, `RETURNING` and comparisons of rows.

mod migrate;
mod payment;
mod quota;
mod rows;
mod shared;
mod trip;

use std::fmt::Display;

pub(super) use migrate::Migrate;

use super::StoreError;
use super::ledger::Cell;
use super::postgres::Link;
use super::sqlite;
use crate::service::Op;

/// A database that runs a [`Work`] in one transaction, which is durable once it has answered.
pub(super) trait Backend: Send + Sync + 'static {
    /// Runs it and commits; rolls back if it fails.
    fn work<W: Work>(&self, work: W) -> impl Future<Output = Result<W::Output, StoreError>> + Send;
}

/// What one call of the store does inside one transaction.
pub(super) trait Work: Send + 'static {
    /// What it answers.
    type Output: Send + 'static;
    /// Whether it writes: SQLite gives such a transaction its one lock at the beginning, since a transaction that has
    /// read first may be refused the lock later.
    const WRITES: bool = true;

    /// Does it.
    fn run(self, session: &mut Session<'_>) -> impl Future<Output = Result<Self::Output, StoreError>> + Send;
}

/// A transaction that has begun.
pub(super) enum Session<'a> {
    /// SQLite: what is called never waits, so the future of a work is ready when it is first polled.
    Sqlite(&'a mut rusqlite::Connection),
    /// PostgreSQL.
    Postgres(&'a mut Link),
}

/// A row that a statement answered.
pub(super) struct Row(pub(super) Vec<Cell>);

impl Session<'_> {
    /// The rows that `sql` answers.
    async fn query(&mut self, sql: &str, values: &[Cell]) -> Result<Vec<Row>, StoreError> {
        match self {
            Session::Sqlite(connection) => sqlite::query(connection, sql, values),
            Session::Postgres(link) => link.query(sql, values).await,
        }
    }

    /// The first row that `sql` answers.
    async fn first(&mut self, sql: &str, values: &[Cell]) -> Result<Option<Row>, StoreError> {
        Ok(self.query(sql, values).await?.into_iter().next())
    }

    /// How many rows `sql` changed.
    async fn execute(&mut self, sql: &str, values: &[Cell]) -> Result<u64, StoreError> {
        match self {
            Session::Sqlite(connection) => sqlite::execute(connection, sql, values),
            Session::Postgres(link) => link.execute(sql, values).await,
        }
    }

    /// Runs statements that take no values.
    async fn batch(&mut self, sql: &str) -> Result<(), StoreError> {
        match self {
            Session::Sqlite(connection) => connection.execute_batch(sql).map_err(failed),
            Session::Postgres(link) => link.batch(sql).await,
        }
    }
}

impl Row {
    /// The text in column `index`.
    fn text(&self, index: usize) -> Result<String, StoreError> {
        match self.0.get(index) {
            Some(Cell::Text(text)) => Ok(text.clone()),
            _ => Err(unexpected()),
        }
    }

    /// The number in column `index`; none is negative.
    fn number(&self, index: usize) -> Result<u64, StoreError> {
        match self.0.get(index) {
            Some(Cell::Number(number)) => u64::try_from(*number).map_err(|_| unexpected()),
            _ => Err(unexpected()),
        }
    }
}

/// The ledger of an operation.
const fn table(op: Op) -> &'static str {
    match op {
        Op::ArgumentCheck => "argument_check_ledger",
        Op::SplitProfile => "split_profile_ledger",
    }
}

/// The operation of this name, as it stands in a row.
fn op_named(name: &str) -> Result<Op, StoreError> {
    Op::ALL.into_iter().find(|op| op.name() == name).ok_or_else(unexpected)
}

/// A number as databases hold it.
fn number(number: u64) -> Cell {
    Cell::Number(i64::try_from(number).unwrap_or(i64::MAX))
}

fn text(text: &str) -> Cell {
    Cell::Text(text.to_owned())
}

/// What the database says, for the log.
pub(super) fn failed(cause: impl Display) -> StoreError {
    StoreError(cause.to_string())
}

fn unexpected() -> StoreError {
    StoreError("a row holds what this program never writes".to_owned())
}
