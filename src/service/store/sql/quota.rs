//! Free allowances.

use super::{Cell, Session, Work, number, text};
use crate::service::Op;
use crate::service::store::{Allowance, Quota, StoreError};
use crate::utc::Utc;

/// Grants and counts in one statement, so that neither processes nor replicas can grant between reading and writing.
/// Neither day nor time of a caller ever goes back. Without an interval the time does not matter.
const TAKE: &str = "
INSERT INTO quota (op, caller, day, used, last_ms) VALUES ($1, $2, $3, 1, $4)
ON CONFLICT (op, caller) DO UPDATE SET
    used = CASE WHEN quota.day < excluded.day THEN 1 ELSE quota.used + 1 END,
    day = CASE WHEN quota.day < excluded.day THEN excluded.day ELSE quota.day END,
    last_ms = CASE WHEN quota.last_ms < excluded.last_ms THEN excluded.last_ms ELSE quota.last_ms END
WHERE (quota.day < excluded.day OR quota.used < CAST($5 AS BIGINT))
    AND (CAST($6 AS BIGINT) = 0 OR quota.last_ms <= excluded.last_ms - CAST($6 AS BIGINT))
RETURNING day";

const COUNT: &str = "
INSERT INTO usage (op, day, free) VALUES ($1, $2, 1)
ON CONFLICT (op, day) DO UPDATE SET free = usage.free + 1";

const LOOK: &str = "SELECT day, used, last_ms FROM quota WHERE op = $1 AND caller = $2";

/// [`Store::quota_take`](super::super::Store::quota_take).
pub(super) struct Take {
    pub(super) op: Op,
    pub(super) caller: String,
    pub(super) allowance: Allowance,
    pub(super) now: Utc,
}

impl Work for Take {
    type Output = Quota;

    async fn run(self, session: &mut Session<'_>) -> Result<Quota, StoreError> {
        let Allowance { per_day, min_interval_ms } = self.allowance;
        if per_day == 0 {
            return Ok(Quota::Exhausted);
        }
        let (today, now) = (self.now.day(), self.now.unix_millis());
        let (op, caller) = (text(self.op.name()), Cell::Text(self.caller));
        let values = [
            op.clone(),
            caller.clone(),
            text(&today),
            number(now),
            number(per_day.into()),
            number(min_interval_ms),
        ];
        if let Some(granted) = session.first(TAKE, &values).await? {
            session.execute(COUNT, &[op, text(&granted.text(0)?)]).await?;
            return Ok(Quota::Granted);
        }
        // The refused statement locked the row, so this is the row that refused.
        let row = session.first(LOOK, &[op, caller]).await?;
        let row = row.ok_or_else(|| StoreError("a row of quota is gone".to_owned()))?;
        if row.text(0)? >= today && row.number(1)? >= u64::from(per_day) {
            return Ok(Quota::Exhausted);
        }
        Ok(Quota::TooSoon(row.number(2)?.saturating_add(min_interval_ms).saturating_sub(now)))
    }
}
