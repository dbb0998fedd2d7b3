//! Rows of the ledger: made of an entry, kept as JSON while pending, read, and completed later.

use serde_json::{Map, Value};

use super::{Cell, Row, Session, Work, number, table, text, unexpected};
use crate::service::Op;
use crate::service::store::ledger::{CAD_BASIS, Entry, Outcome, columns};
use crate::service::store::{Figures, Rate, Refunded, StoreError};

/// The column that a row gets last, when it is settled.
const TX: &str = "payment_tx_id";

/// What [`Store::ledger_amend`](crate::service::store::Store::ledger_amend) replaces: what the check said.
const AMENDED: &[&str] = &[
    "criteria_version",
    "verdict_line",
    "status_verdict",
    "status_repairs",
    "status_defects",
    "status_defect_codes",
    "tool_count",
    "schema_identity_group_count",
    "r1_assessability",
    "r2_assessability",
    "r3_assessability",
];

/// The cell of `entry` in `column`; none in that of the transaction.
fn cell(entry: &Entry, column: &str) -> Option<Cell> {
    Some(match column {
        "payer_wallet" => text(&entry.payer),
        "timestamp" => Cell::Text(entry.at.to_string()),
        "day" => Cell::Text(entry.at.day()),
        "price_usdc_units" => number(entry.price_usdc_units),
        "cad_rate" | "cad_rate_date" | "refund" => Cell::Null,
        "cad_basis" => text(CAD_BASIS),
        "cad_pending" => Cell::Flag(true),
        "solana_fee_lamports" => number(entry.solana_fee_lamports),
        "criteria_version" => text(entry.criteria_version),
        "op" => text(entry.outcome.op().name()),
        "verdict_line" => text(&entry.verdict_line),
        "house" => Cell::Flag(entry.house),
        _ => return outcome_cell(&entry.outcome, column),
    })
}

fn outcome_cell(outcome: &Outcome, column: &str) -> Option<Cell> {
    match outcome {
        Outcome::Argument { verdict, repairs, defects, defect_codes } => match column {
            "status_verdict" => Some(text(verdict)),
            "status_repairs" => Some(number(*repairs)),
            "status_defects" => Some(number(*defects)),
            "status_defect_codes" => Some(Cell::Text(defect_codes.join(" "))),
            _ => None,
        },
        Outcome::Profile { tools, groups, blocks: [first, second, third] } => match column {
            "tool_count" => Some(number(*tools)),
            "schema_identity_group_count" => Some(number(*groups)),
            "r1_assessability" => Some(text(first)),
            "r2_assessability" => Some(text(second)),
            "r3_assessability" => Some(text(third)),
            _ => None,
        },
    }
}

/// The row of `entry` without its transaction, as the text that waits in `reservations.pending`.
pub(super) fn pending(entry: &Entry) -> String {
    let cells = columns(entry.outcome.op())
        .iter()
        .filter_map(|column| Some(((*column).to_owned(), cell_to_json(cell(entry, column)?))));
    Value::Object(cells.collect::<Map<_, _>>()).to_string()
}

/// The payer in a pending row.
pub(super) fn pending_payer(pending: &str) -> Result<String, StoreError> {
    match parse(pending)?.remove("payer_wallet") {
        Some(Value::String(payer)) => Ok(payer),
        _ => Err(unexpected()),
    }
}

/// Puts a pending row into the ledger; false if one of the ledgers has the transaction already.
pub(super) async fn insert(
    session: &mut Session<'_>,
    op: Op,
    pending: &str,
    tx: &str,
) -> Result<bool, StoreError> {
    for other in Op::ALL.into_iter().filter(|other| *other != op) {
        let sql = format!("SELECT {TX} FROM {} WHERE {TX} = $1", table(other));
        if session.first(&sql, &[text(tx)]).await?.is_some() {
            return Ok(false);
        }
    }
    let mut members = parse(pending)?;
    let mut values = Vec::new();
    for column in columns(op) {
        values.push(match *column {
            TX => text(tx),
            _ => json_to_cell(members.remove(*column).ok_or_else(unexpected)?)?,
        });
    }
    let places: Vec<String> = (1..=values.len()).map(|place| format!("${place}")).collect();
    let sql = format!(
        "INSERT INTO {} ({}) VALUES ({}) ON CONFLICT ({TX}) DO NOTHING",
        table(op),
        quoted(columns(op)),
        places.join(", ")
    );
    Ok(session.execute(&sql, &values).await? == 1)
}

/// Puts what the check said into the row of `tx`; false if there is none.
pub(super) async fn amend(session: &mut Session<'_>, entry: &Entry, tx: &str) -> Result<bool, StoreError> {
    let op = entry.outcome.op();
    let (mut sets, mut values) = (Vec::new(), Vec::new());
    for column in columns(op).iter().filter(|column| AMENDED.contains(column)) {
        values.push(cell(entry, column).ok_or_else(unexpected)?);
        sets.push(format!("{column} = ${}", values.len()));
    }
    values.push(text(tx));
    let sql = format!("UPDATE {} SET {} WHERE {TX} = ${}", table(op), sets.join(", "), values.len());
    Ok(session.execute(&sql, &values).await? == 1)
}

/// [`Store::ledger_page`](crate::service::store::Store::ledger_page).
pub(super) struct Page {
    pub(super) op: Op,
    /// Timestamp and transaction.
    pub(super) after: (String, String),
    pub(super) most: u32,
}

impl Work for Page {
    type Output = Vec<Vec<Cell>>;
    const WRITES: bool = false;

    async fn run(self, session: &mut Session<'_>) -> Result<Vec<Vec<Cell>>, StoreError> {
        let sql = format!(
            "SELECT {} FROM {} WHERE (\"timestamp\", {TX}) > ($1, $2) ORDER BY \"timestamp\", {TX} \
             LIMIT CAST($3 AS BIGINT)",
            quoted(columns(self.op)),
            table(self.op)
        );
        let (timestamp, tx) = self.after;
        let values = [Cell::Text(timestamp), Cell::Text(tx), number(self.most.into())];
        let rows = session.query(&sql, &values).await?;
        Ok(rows.into_iter().map(|row| with_flags(self.op, row)).collect())
    }
}

/// SQLite has no type for flags and answers 0 and 1.
fn with_flags(op: Op, row: Row) -> Vec<Cell> {
    let flag = |column: &str, cell| match cell {
        Cell::Number(number) if ["cad_pending", "house"].contains(&column) => Cell::Flag(number != 0),
        other => other,
    };
    columns(op).iter().zip(row.0).map(|(column, cell)| flag(column, cell)).collect()
}

/// [`Store::figures`](crate::service::store::Store::figures).
pub(super) struct Sums {
    pub(super) op: Op,
    pub(super) since: String,
}

impl Work for Sums {
    type Output = Figures;
    const WRITES: bool = false;

    async fn run(self, session: &mut Session<'_>) -> Result<Figures, StoreError> {
        // A timestamp begins with its day, so the index of the timestamps serves.
        let sql = format!(
            "SELECT count(*), count(refund) FROM {} WHERE \"timestamp\" >= $1 AND NOT house",
            table(self.op)
        );
        let since = Cell::Text(self.since);
        let ledger = session.first(&sql, std::slice::from_ref(&since)).await?.ok_or_else(unexpected)?;
        let sql = "SELECT CAST(coalesce(sum(free), 0) AS BIGINT) FROM usage WHERE op = $1 AND day >= $2";
        let free = session.first(sql, &[text(self.op.name()), since]).await?.ok_or_else(unexpected)?;
        Ok(Figures { paid: ledger.number(0)?, refunded: ledger.number(1)?, free: free.number(0)? })
    }
}

/// [`Store::ledger_rate`](crate::service::store::Store::ledger_rate).
pub(super) struct FillRates(pub(super) Vec<Rate>);

impl Work for FillRates {
    type Output = u64;

    async fn run(self, session: &mut Session<'_>) -> Result<u64, StoreError> {
        let mut filled: u64 = 0;
        for op in Op::ALL {
            let sql = format!(
                "UPDATE {} SET cad_rate = $1, cad_rate_date = $2, cad_pending = false \
                 WHERE cad_pending AND day BETWEEN $3 AND $4",
                table(op)
            );
            for Rate { from, through, date, rate } in &self.0 {
                let values = [text(rate), text(date), text(from), text(through)];
                filled = filled.saturating_add(session.execute(&sql, &values).await?);
            }
        }
        Ok(filled)
    }
}

/// [`Store::ledger_refund`](crate::service::store::Store::ledger_refund).
pub(super) struct Refund {
    pub(super) tx: String,
    pub(super) refund: String,
}

impl Work for Refund {
    type Output = Refunded;

    async fn run(self, session: &mut Session<'_>) -> Result<Refunded, StoreError> {
        let mut found = Refunded::Unknown;
        for op in Op::ALL {
            let sql = format!("UPDATE {} SET refund = $1 WHERE {TX} = $2 AND refund IS NULL", table(op));
            if session.execute(&sql, &[text(&self.refund), text(&self.tx)]).await? > 0 {
                return Ok(Refunded::Noted);
            }
            let sql = format!("SELECT {TX} FROM {} WHERE {TX} = $1", table(op));
            if session.first(&sql, &[text(&self.tx)]).await?.is_some() {
                found = Refunded::Already;
            }
        }
        Ok(found)
    }
}

/// The names, quoted since `timestamp` is also a type, separated by commas.
fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}

fn parse(pending: &str) -> Result<Map<String, Value>, StoreError> {
    serde_json::from_str(pending).map_err(|_| unexpected())
}

fn cell_to_json(cell: Cell) -> Value {
    match cell {
        Cell::Null => Value::Null,
        Cell::Number(number) => number.into(),
        Cell::Flag(flag) => flag.into(),
        Cell::Text(text) => text.into(),
    }
}

fn json_to_cell(value: Value) -> Result<Cell, StoreError> {
    match value {
        Value::Null => Ok(Cell::Null),
        Value::Bool(flag) => Ok(Cell::Flag(flag)),
        Value::Number(number) => number.as_i64().map(Cell::Number).ok_or_else(unexpected),
        Value::String(text) => Ok(Cell::Text(text)),
        Value::Array(_) | Value::Object(_) => Err(unexpected()),
    }
}
