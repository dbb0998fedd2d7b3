//! `ledger`: what the operator does with the ledger of paid checks.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, Subcommand, ValueEnum};
use millwork_dock::config::{Config, Op};
use millwork_dock::json::{Document, Value, write_string};
use millwork_dock::service::store::ledger::{Cell, columns};
use millwork_dock::service::store::{self, Rate, Refunded, ReplayKey, Settled, Store, Unresolved};
use millwork_dock::utc::Utc;

use super::input::{Input, Trouble};
use super::{Exit, put, tell};

/// Rows that are read at once.
const PAGE: u32 = 1000;

/// What `ledger` can do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write every row of an operation's ledger, oldest first
    Export(ExportArgs),
    /// Fill in the CAD rates of rows that wait for them
    Rate(RateArgs),
    /// Note that a payment was refunded; sends no money
    Refund(RefundArgs),
    /// List payments whose outcome nobody recorded, or record it
    Unresolved(UnresolvedArgs),
}

/// Where the store is.
#[derive(Debug, Args)]
pub(crate) struct StoreArgs {
    /// The configuration whose [store] is meant
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
}

/// `--op`.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum OpName {
    /// tool-argument/v1
    ArgumentCheck,
    /// token-efficiency/v1
    SplitProfile,
}

/// How rows are written.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// With a line of names, RFC 4180
    Csv,
    /// One JSON object a line
    Jsonl,
}

/// What `ledger export` takes.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    store: StoreArgs,
    /// Whose ledger
    #[arg(long, value_enum)]
    op: OpName,
    /// How to write it
    #[arg(long, value_enum, default_value_t = Format::Csv)]
    format: Format,
}

/// What `ledger rate` takes.
#[derive(Debug, Args)]
#[command(after_help = "The file is what the Bank of Canada's Valet service answers to
/valet/observations/FXUSDCAD/json, for days that reach past the rows in question. A day without a rate, such as a Sunday,
takes that of the last business day before it, which is known once a later rate is in the file.")]
pub(crate) struct RateArgs {
    #[command(flatten)]
    store: StoreArgs,
    /// Valet's answer, JSON; - is standard input
    #[arg(long, value_name = "FILE")]
    valet: Input,
}

/// What `ledger refund` takes.
#[derive(Debug, Args)]
pub(crate) struct RefundArgs {
    #[command(flatten)]
    store: StoreArgs,
    /// The payment's transaction id, as the ledger has it
    #[arg(value_name = "TX")]
    tx: String,
    /// The transaction that paid it back; noted beside the time
    #[arg(long, value_name = "TX")]
    by: Option<String>,
}

/// What `ledger unresolved` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "A payment is unresolved if its process was killed, or the facilitator never said what became of it.
Look the payer's wallet up on Solana. If the payment is there, record its transaction: it gets its ledger row, and the
payer may send the same payment again for the report, for a day. If it is not there, it never will be: drop it."
)]
pub(crate) struct UnresolvedArgs {
    #[command(flatten)]
    store: StoreArgs,
    /// The payment to record, as the list names it
    #[arg(long, value_name = "KEY", requires = "outcome")]
    key: Option<String>,
    /// It was settled by this transaction
    #[arg(long, value_name = "TX", group = "outcome", requires = "key")]
    settled: Option<String>,
    /// It was not settled
    #[arg(long, group = "outcome", requires = "key")]
    dropped: bool,
}

/// Does what `command` says.
pub(crate) fn run(command: &Command) -> Exit {
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            tell(format_args!("error: {error}"));
            return Exit::Environment;
        }
    };
    let done = runtime.block_on(async {
        match command {
            Command::Export(args) => export(args).await,
            Command::Rate(args) => rate(args).await,
            Command::Refund(args) => refund(args).await,
            Command::Unresolved(args) => unresolved(args).await,
        }
    });
    done.unwrap_or_else(|trouble| {
        tell(format_args!("error: {trouble}"));
        trouble.exit()
    })
}

impl StoreArgs {
    async fn open(&self) -> Result<Arc<dyn Store>, Trouble> {
        let config = Config::load(&self.config).map_err(|mistakes| Trouble::Usage(mistakes.to_string()))?;
        let unset = |name| Trouble::Usage(format!("store.url_env: the variable {name} is not set"));
        let url = config.store.url().map_err(unset)?;
        store::open(&url).await.map_err(environment)
    }
}

fn environment(error: impl std::fmt::Display) -> Trouble {
    Trouble::Environment(error.to_string())
}

async fn export(args: &ExportArgs) -> Result<Exit, Trouble> {
    let store = args.store.open().await?;
    let op = match args.op {
        OpName::ArgumentCheck => Op::ArgumentCheck,
        OpName::SplitProfile => Op::SplitProfile,
    };
    let names = columns(op);
    let place = |name: &str| names.iter().position(|column| *column == name).unwrap_or_default();
    let (time, tx) = (place("timestamp"), place("payment_tx_id"));
    if matches!(args.format, Format::Csv) && put(format_args!("{}\r\n", names.join(","))) != Exit::Fine {
        return Ok(Exit::Environment);
    }
    let mut after: Option<(String, String)> = None;
    loop {
        let from = after.as_ref().map(|(time, tx)| (time.as_str(), tx.as_str()));
        let rows = store.ledger_page(op, from, PAGE).await.map_err(environment)?;
        let Some(last) = rows.last() else { return Ok(Exit::Fine) };
        let text_at = |index: usize| match last.get(index) {
            Some(Cell::Text(text)) => text.clone(),
            _ => String::new(),
        };
        after = Some((text_at(time), text_at(tx)));
        let mut page = String::new();
        for row in &rows {
            match args.format {
                Format::Csv => write_csv(row, &mut page),
                Format::Jsonl => write_json(names, row, &mut page),
            }
        }
        if put(page) != Exit::Fine {
            return Ok(Exit::Environment);
        }
    }
}

fn write_csv(row: &[Cell], out: &mut String) {
    for (index, cell) in row.iter().enumerate() {
        out.push_str(if index > 0 { "," } else { "" });
        // Writing to a string never fails.
        let _ = match cell {
            Cell::Null => Ok(()),
            Cell::Number(number) => write!(out, "{number}"),
            Cell::Flag(flag) => write!(out, "{flag}"),
            Cell::Text(text) if text.contains([',', '"', '\r', '\n']) => {
                write!(out, "\"{}\"", text.replace('"', "\"\""))
            }
            Cell::Text(text) => write!(out, "{text}"),
        };
    }
    out.push_str("\r\n");
}

fn write_json(names: &[&str], row: &[Cell], out: &mut String) {
    out.push('{');
    for (index, (name, cell)) in names.iter().zip(row).enumerate() {
        out.push_str(if index > 0 { ",\"" } else { "\"" });
        // Writing to a string never fails.
        let _ = match cell {
            Cell::Null => write!(out, "{name}\":null"),
            Cell::Number(number) => write!(out, "{name}\":{number}"),
            Cell::Flag(flag) => write!(out, "{name}\":{flag}"),
            Cell::Text(text) => {
                let mut quoted = Vec::new();
                write_string(text.as_bytes(), &mut quoted);
                write!(out, "{name}\":{}", String::from_utf8_lossy(&quoted))
            }
        };
    }
    out.push_str("}\n");
}

async fn rate(args: &RateArgs) -> Result<Exit, Trouble> {
    let document = args.valet.read_json()?;
    let rates = rates(&document)
        .ok_or_else(|| Trouble::Usage(format!("{} holds no observations of FXUSDCAD", args.valet)))?;
    let store = args.store.open().await?;
    let filled = store.ledger_rate(&rates).await.map_err(environment)?;
    Ok(put(format_args!("{filled} rows have their rate now\n")))
}

/// The rates of Valet's answer, each with the days that it holds for. The last one holds for its own day only: until
/// the next is known, nobody can say that the days after it have none.
fn rates(document: &Document) -> Option<Vec<Rate>> {
    let mut observed = BTreeMap::new();
    for observation in document.root().get(b"observations")?.items() {
        let day = text(observation, "d").filter(|day| is_day(day))?;
        let rate = observation.get(b"FXUSDCAD").and_then(|rate| text(rate, "v"));
        if let Some(rate) = rate.filter(|rate| is_rate(rate)) {
            observed.insert(day, rate);
        }
    }
    let next = observed.keys().skip(1).map(Some).chain([None]);
    let rates = observed.iter().zip(next).map(|((date, rate), next)| Rate {
        from: date.clone(),
        through: next.and_then(|next| day_before(next)).unwrap_or_else(|| date.clone()),
        date: date.clone(),
        rate: rate.clone(),
    });
    let rates: Vec<Rate> = rates.collect();
    (!rates.is_empty()).then_some(rates)
}

fn is_day(text: &str) -> bool {
    text.len() == 10 && midnight(text).is_some()
}

fn midnight(day: &str) -> Option<Utc> {
    let mut parts = day.split('-');
    let (year, month, day) =
        (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Utc::from_civil((year, month, day), (0, 0, 0)).filter(|_| parts.next().is_none())
}

fn day_before(day: &str) -> Option<String> {
    let midnight = midnight(day)?.unix_millis();
    midnight.checked_sub(1).map(|before| Utc::from_unix_millis(before).day())
}

/// Digits with one point: what is written into the ledger as it stands.
fn is_rate(text: &str) -> bool {
    let digits =
        |part: &str| !part.is_empty() && part.len() <= 12 && part.bytes().all(|byte| byte.is_ascii_digit());
    text.split_once('.').is_some_and(|(whole, rest)| digits(whole) && digits(rest))
}

async fn refund(args: &RefundArgs) -> Result<Exit, Trouble> {
    let store = args.store.open().await?;
    let by = args.by.as_ref().map(|tx| format!(" {tx}")).unwrap_or_default();
    let refund = format!("{}{by}", Utc::now());
    Ok(match store.ledger_refund(&args.tx, &refund).await.map_err(environment)? {
        Refunded::Noted => put("noted; the money has to be sent by you\n"),
        Refunded::Already => super::check::worse(put("noted before; nothing was changed\n"), Exit::Negative),
        Refunded::Unknown => {
            super::check::worse(put("no row has this transaction; nothing was changed\n"), Exit::Negative)
        }
    })
}

async fn unresolved(args: &UnresolvedArgs) -> Result<Exit, Trouble> {
    let store = args.store.open().await?;
    let now = Utc::now();
    let payments = store.unresolved(now).await.map_err(environment)?;
    let Some(key) = &args.key else {
        return Ok(put(list(&payments)));
    };
    let payment = payments.iter().find(|payment| name(payment.key) == *key);
    let payment = payment.ok_or_else(|| Trouble::Usage(format!("no unresolved payment is named {key}")))?;
    match &args.settled {
        Some(tx) => {
            let settled = Settled { tx: tx.clone() };
            let new = store.ledger_finish(payment.key, &settled, now).await.map_err(environment)?;
            if !new {
                let told = put("the ledger has this transaction already; the payment is closed\n");
                return Ok(super::check::worse(told, Exit::Negative));
            }
        }
        None => store.ledger_drop(payment.key).await.map_err(environment)?,
    }
    Ok(put("recorded\n"))
}

fn list(payments: &[Unresolved]) -> String {
    if payments.is_empty() {
        return "every payment has its outcome\n".to_owned();
    }
    let lines = payments.iter().map(|Unresolved { key, op, began, payer }| {
        format!("{}  {began}  {}  from {payer}\n", name(*key), op.name())
    });
    lines.collect()
}

/// A payment's name: its key in hexadecimal digits.
fn name(ReplayKey(bytes): ReplayKey) -> String {
    bytes.iter().fold(String::new(), |mut name, byte| {
        // Writing to a string never fails.
        let _ = write!(name, "{byte:02x}");
        name
    })
}

fn text(value: Value<'_>, name: &str) -> Option<String> {
    String::from_utf8(value.get(name.as_bytes())?.as_text()?.decode().into_owned()).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn a_rate_holds_until_the_next_is_known() {
        let valet = br#"{"observations":[{"d":"2026-11-26","FXUSDCAD":{"v":"1.4001"}},{"d":"2026-11-27","FXUSDCAD":{"v":"1.4012"}},
            {"d":"2026-11-30","FXUSDCAD":{"v":"1.4023"}}]}"#;
        let rates = rates(&Document::parse(valet.to_vec()).unwrap()).unwrap();
        let told: Vec<String> =
            rates.iter().map(|rate| format!("{} {}..{}", rate.rate, rate.from, rate.through)).collect();
        assert_eq!(
            told,
            [
                "1.4001 2026-11-26..2026-11-26",
                "1.4012 2026-11-27..2026-11-29",
                "1.4023 2026-11-30..2026-11-30"
            ]
        );
    }

    #[test]
    fn what_is_no_rate_is_not_taken() {
        for valet in [
            "{}",
            r#"{"observations":[]}"#,
            r#"{"observations":[{"d":"2026-13-01","FXUSDCAD":{"v":"1.4"}}]}"#,
            r#"{"observations":[{"d":"2026-11-30","FXUSDCAD":{"v":"one"}}]}"#,
            r#"{"observations":[{"d":"2026-11-30","FXEURCAD":{"v":"1.5"}}]}"#,
        ] {
            assert_eq!(rates(&Document::parse(valet.into()).unwrap()), None, "{valet}");
        }
    }

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        let row = [Cell::Null, Cell::Number(-1), Cell::Flag(true), Cell::Text("a, \"b\"".to_owned())];
        let (mut csv, mut json) = (String::new(), String::new());
        write_csv(&row, &mut csv);
        write_json(&["a", "b", "c", "d"], &row, &mut json);
        assert_eq!(csv, ",-1,true,\"a, \"\"b\"\"\"\r\n");
        assert_eq!(json, "{\"a\":null,\"b\":-1,\"c\":true,\"d\":\"a, \\\"b\\\"\"}\n");
    }
}
