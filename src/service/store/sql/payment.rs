//! Payments under way.
//!
//! A row of `reservations` is in one of four states. `taken`: in use, or used up without being settled; over when
//! `until_ms` has passed. `settling`: the facilitator may settle it any moment; never over; `began_ms` says when that
//! began. `owed`: in the ledger, its report not handed over yet, until `until_ms`; `began_ms` says when its delivery was
//! begun last. `settled`: in the ledger and delivered, remembered until `until_ms`.

use std::fmt::Write;

use super::{Cell, Row, Session, Work, number, op_named, rows, text};
use crate::service::Op;
use crate::service::store::ledger::Entry;
use crate::service::store::{
    CLAIM_MS, OWED_MS, REPLAY_MS, ReplayKey, Reserved, Settled, StoreError, Unresolved,
};
use crate::utc::Utc;

/// Answers a row if the payment is new, or what was known of it is over.
const RESERVE: &str = "
INSERT INTO reservations (key, op, state, until_ms) VALUES ($1, $2, 'taken', $3)
ON CONFLICT (key) DO UPDATE SET
    op = excluded.op, state = excluded.state, until_ms = excluded.until_ms,
    began_ms = NULL, tx = NULL, pending = NULL
WHERE reservations.state <> 'settling' AND reservations.until_ms <= $4
RETURNING key";

/// Begins to deliver what is owed, unless somebody is at it.
const DELIVER: &str = "
UPDATE reservations SET began_ms = $1
WHERE key = $2 AND op = $3 AND state = 'owed' AND until_ms > $1 AND began_ms <= $4
RETURNING tx";

const RELEASE: &str = "DELETE FROM reservations WHERE key = $1 AND state = 'taken'";
const STATE: &str = "SELECT state FROM reservations WHERE key = $1";

const BEGIN: &str = "
UPDATE reservations SET state = 'settling', began_ms = $1, pending = $2
WHERE key = $3 AND op = $4 AND state = 'taken' AND until_ms > $1";

/// Takes the row for this transaction; what it answers decides the rest.
const FINISH: &str = "
UPDATE reservations SET state = 'owed', until_ms = $1, began_ms = $2, tx = $3
WHERE key = $4 AND state = 'settling'
RETURNING op, pending";
const FINISHED: &str = "UPDATE reservations SET pending = NULL WHERE key = $1";
const NOT_FINISHED: &str = "UPDATE reservations SET pending = NULL, state = 'settled' WHERE key = $1";
const FINISHED_BEFORE: &str =
    "SELECT key FROM reservations WHERE key = $1 AND tx = $2 AND state IN ('settled', 'owed')";

const DROP: &str = "
UPDATE reservations SET state = 'taken', began_ms = NULL, pending = NULL WHERE key = $1 AND state = 'settling'";

const DELIVERED: &str = "
UPDATE reservations SET state = 'settled', began_ms = NULL WHERE key = $1 AND state = 'owed'";

const OWED: &str = "SELECT tx FROM reservations WHERE key = $1 AND op = $2 AND state = 'owed'";

const UNRESOLVED: &str = "
SELECT key, op, began_ms, pending FROM reservations
WHERE state = 'settling' AND began_ms < $1 ORDER BY began_ms, key";

const PURGE: &str = "DELETE FROM reservations WHERE state <> 'settling' AND until_ms <= $1";
/// A day is remembered until the day after tomorrow begins, for clocks that differ.
const PURGE_QUOTA: &str = "DELETE FROM quota WHERE day < $1";
const DAY_MS: u64 = 24 * 3_600_000;

/// [`Store::reserve`](crate::service::store::Store::reserve).
pub(super) struct Reserve {
    pub(super) op: Op,
    pub(super) key: ReplayKey,
    pub(super) now: Utc,
}

impl Work for Reserve {
    type Output = Reserved;

    async fn run(self, session: &mut Session<'_>) -> Result<Reserved, StoreError> {
        let (key, op, now) = (hex(self.key), text(self.op.name()), self.now.unix_millis());
        let values = [key.clone(), op.clone(), number(now.saturating_add(REPLAY_MS)), number(now)];
        if session.first(RESERVE, &values).await?.is_some() {
            return Ok(Reserved::Fresh);
        }
        let values = [number(now), key.clone(), op, number(now.saturating_sub(CLAIM_MS))];
        if let Some(owed) = session.first(DELIVER, &values).await? {
            return Ok(Reserved::Owed(owed.text(0)?));
        }
        let state = session.first(STATE, &[key]).await?.ok_or_else(super::unexpected)?.text(0)?;
        Ok(if state == "settled" { Reserved::Replayed } else { Reserved::Underway })
    }
}

/// [`Store::release`](crate::service::store::Store::release).
pub(super) struct Release(pub(super) ReplayKey);

impl Work for Release {
    type Output = ();

    async fn run(self, session: &mut Session<'_>) -> Result<(), StoreError> {
        session.execute(RELEASE, &[hex(self.0)]).await.map(|_| ())
    }
}

/// [`Store::ledger_begin`](crate::service::store::Store::ledger_begin).
pub(super) struct Begin {
    pub(super) key: ReplayKey,
    pub(super) entry: Entry,
    pub(super) now: Utc,
}

impl Work for Begin {
    type Output = ();

    async fn run(self, session: &mut Session<'_>) -> Result<(), StoreError> {
        let pending = Cell::Text(rows::pending(&self.entry));
        let op = text(self.entry.outcome.op().name());
        let values = [number(self.now.unix_millis()), pending, hex(self.key), op];
        match session.execute(BEGIN, &values).await? {
            0 => Err(StoreError("the payment is not reserved".to_owned())),
            _ => Ok(()),
        }
    }
}

/// [`Store::ledger_finish`](crate::service::store::Store::ledger_finish).
pub(super) struct Finish {
    pub(super) key: ReplayKey,
    pub(super) settled: Settled,
    pub(super) now: Utc,
}

impl Work for Finish {
    type Output = bool;

    async fn run(self, session: &mut Session<'_>) -> Result<bool, StoreError> {
        let Settled { tx } = self.settled;
        let now = self.now.unix_millis();
        let values = [number(now.saturating_add(OWED_MS)), number(now), text(&tx), hex(self.key)];
        let Some(row) = session.first(FINISH, &values).await? else {
            // A call whose answer was lost is made again: it did what it says.
            return match session.first(FINISHED_BEFORE, &[hex(self.key), text(&tx)]).await? {
                Some(_) => Ok(true),
                None => Err(StoreError("the payment has no row to finish".to_owned())),
            };
        };
        let (op, pending) = (op_named(&row.text(0)?)?, row.text(1)?);
        let new = rows::insert(session, op, &pending, &tx).await?;
        session.execute(if new { FINISHED } else { NOT_FINISHED }, &[hex(self.key)]).await?;
        Ok(new)
    }
}

/// [`Store::ledger_drop`](crate::service::store::Store::ledger_drop).
pub(super) struct Forget(pub(super) ReplayKey);

impl Work for Forget {
    type Output = ();

    async fn run(self, session: &mut Session<'_>) -> Result<(), StoreError> {
        session.execute(DROP, &[hex(self.0)]).await.map(|_| ())
    }
}

/// [`Store::delivered`](crate::service::store::Store::delivered).
pub(super) struct Delivered(pub(super) ReplayKey);

impl Work for Delivered {
    type Output = ();

    async fn run(self, session: &mut Session<'_>) -> Result<(), StoreError> {
        session.execute(DELIVERED, &[hex(self.0)]).await.map(|_| ())
    }
}

/// [`Store::ledger_amend`](crate::service::store::Store::ledger_amend).
pub(super) struct Amend {
    pub(super) key: ReplayKey,
    pub(super) entry: Entry,
}

impl Work for Amend {
    type Output = ();

    async fn run(self, session: &mut Session<'_>) -> Result<(), StoreError> {
        let op = text(self.entry.outcome.op().name());
        let owed = session.first(OWED, &[hex(self.key), op]).await?;
        let tx = owed.ok_or_else(|| StoreError("nothing is owed for the payment".to_owned()))?.text(0)?;
        if rows::amend(session, &self.entry, &tx).await? {
            Ok(())
        } else {
            Err(StoreError("the ledger has no row of what is owed".to_owned()))
        }
    }
}

/// [`Store::unresolved`](crate::service::store::Store::unresolved).
pub(super) struct ListUnresolved(pub(super) Utc);

impl Work for ListUnresolved {
    type Output = Vec<Unresolved>;
    const WRITES: bool = false;

    async fn run(self, session: &mut Session<'_>) -> Result<Vec<Unresolved>, StoreError> {
        let rows = session.query(UNRESOLVED, &[number(self.0.unix_millis())]).await?;
        rows.iter().map(unresolved).collect()
    }
}

fn unresolved(row: &Row) -> Result<Unresolved, StoreError> {
    Ok(Unresolved {
        key: unhex(&row.text(0)?).ok_or_else(super::unexpected)?,
        op: op_named(&row.text(1)?)?,
        began: Utc::from_unix_millis(row.number(2)?),
        payer: rows::pending_payer(&row.text(3)?)?,
    })
}

/// [`Store::purge`](crate::service::store::Store::purge).
pub(super) struct Purge(pub(super) Utc);

impl Work for Purge {
    type Output = ();

    async fn run(self, session: &mut Session<'_>) -> Result<(), StoreError> {
        let now = self.0.unix_millis();
        session.execute(PURGE, &[number(now)]).await?;
        let yesterday = Utc::from_unix_millis(now.saturating_sub(DAY_MS)).day();
        session.execute(PURGE_QUOTA, &[text(&yesterday)]).await?;
        Ok(())
    }
}

/// A key as its row has it: 64 hexadecimal digits.
fn hex(ReplayKey(bytes): ReplayKey) -> Cell {
    let mut digits = String::with_capacity(64);
    for byte in bytes {
        let _ = write!(digits, "{byte:02x}");
    }
    Cell::Text(digits)
}

fn unhex(digits: &str) -> Option<ReplayKey> {
    let mut bytes = [0; 32];
    if digits.len() != 2 * bytes.len() {
        return None;
    }
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(digits.get(2 * index..2 * index + 2)?, 16).ok()?;
    }
    Some(ReplayKey(bytes))
}
