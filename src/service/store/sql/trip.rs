//! Tripped wires.

use super::{Cell, Session, Work, number, text};
use crate::service::Op;
use crate::service::store::{StoreError, Trip};
use crate::utc::Utc;

/// A wire may trip again after it was looked at, so each time is kept.
const PUT: &str = "INSERT INTO trips (op, name, at_ms) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
const LIST: &str = "SELECT name, at_ms FROM trips WHERE op = $1 ORDER BY at_ms, name";

/// [`Store::trip`](crate::service::store::Store::trip).
pub(super) struct Put {
    pub(super) op: Op,
    pub(super) trip: Trip,
}

impl Work for Put {
    type Output = ();

    async fn run(self, session: &mut Session<'_>) -> Result<(), StoreError> {
        let values = [text(self.op.name()), Cell::Text(self.trip.name), number(self.trip.at.unix_millis())];
        session.execute(PUT, &values).await.map(|_| ())
    }
}

/// [`Store::trips`](crate::service::store::Store::trips).
pub(super) struct List(pub(super) Op);

impl Work for List {
    type Output = Vec<Trip>;
    const WRITES: bool = false;

    async fn run(self, session: &mut Session<'_>) -> Result<Vec<Trip>, StoreError> {
        let rows = session.query(LIST, &[text(self.0.name())]).await?;
        rows.iter()
            .map(|row| Ok(Trip { name: row.text(0)?, at: Utc::from_unix_millis(row.number(1)?) }))
            .collect()
    }
}
