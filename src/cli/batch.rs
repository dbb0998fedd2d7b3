//! `check --jsonl`: many submissions against one schema.

use std::fmt::{Display, Write as _};
use std::io::{BufWriter, Write as _};
use std::time::{Duration, Instant};

use millwork_dock::argument::{Check, Stop, Submission, Verdict};
use millwork_dock::json::{Document, Text};

use super::check::{Format, Printer, exit_of, is_watched, worse};
use super::input::Trouble;
use super::{Exit, render};

/// How often the progress line changes.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// Checks every line of `text`.
pub(super) fn run(printer: &Printer<'_>, text: &[u8]) -> Result<Exit, Trouble> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut progress = Progress::new(text.len());
    let mut summary = Summary::default();
    let mut exit = Exit::Fine;
    let mut done = 0;
    for (number, line) in (1..).zip(text.split(|byte| *byte == b'\n')) {
        done += line.len() + 1;
        if line.trim_ascii().is_empty() {
            continue;
        }
        let outcome = line_outcome(printer, number, line)?;
        summary.add(&outcome);
        exit = worse(exit, outcome.exit);
        writeln!(out, "{}", outcome.text).map_err(cannot_write)?;
        progress.show(done, &summary);
    }
    progress.clear();
    match printer.format {
        Format::Text => write!(out, "{summary}").map_err(cannot_write)?,
        Format::Json => super::tell(format_args!("{summary}")),
    }
    out.flush().map_err(cannot_write)?;
    Ok(exit)
}

fn cannot_write(error: impl Display) -> Trouble {
    Trouble::Environment(format!("cannot write the result: {error}"))
}

/// The result of one line.
struct Outcome {
    exit: Exit,
    text: String,
    repairs: usize,
    defects: usize,
}

/// A JSON string is the raw text of arguments, as for a dock; what is not JSON is raw text as it stands.
fn line_outcome(printer: &Printer<'_>, number: usize, line: &[u8]) -> Result<Outcome, Trouble> {
    if std::str::from_utf8(line).is_err() {
        return Err(Trouble::Usage(format!("line {number} is not UTF-8")));
    }
    let document = Document::parse(line.to_vec()).ok();
    let submission = match &document {
        Some(document) => match document.root().as_text() {
            Some(text) => Submission::Text(text),
            None => Submission::Arguments(document.root()),
        },
        None => Submission::Text(Text::plain(line)),
    };
    outcome(printer, number, &printer.check(submission))
}

fn outcome(
    printer: &Printer<'_>,
    number: usize,
    result: &Result<Check<'_>, Stop>,
) -> Result<Outcome, Trouble> {
    let too_large = |error| Trouble::Environment(format!("line {number}: {error}"));
    let text = match printer.format {
        Format::Json => render::json(result, printer.stamp).map_err(too_large)?.trim_end().to_owned(),
        Format::Text => render::line(number, result),
    };
    let (repairs, defects) =
        result.as_ref().map_or((0, 0), |check| (check.count_repairs(), check.count_defects()));
    Ok(Outcome { exit: exit_of(result), text, repairs, defects })
}

/// How many lines ended how.
#[derive(Default)]
struct Summary {
    lines: usize,
    by_exit: [usize; 6],
    repairs: usize,
    defects: usize,
}

impl Summary {
    fn add(&mut self, outcome: &Outcome) {
        self.lines += 1;
        self.repairs += outcome.repairs;
        self.defects += outcome.defects;
        if let Some(count) = self.by_exit.get_mut(outcome.exit as usize) {
            *count += 1;
        }
    }

    fn count(&self, exit: Exit) -> usize {
        self.by_exit.get(exit as usize).copied().unwrap_or(0)
    }
}

impl Display for Summary {
    #[allow(clippy::cast_precision_loss, reason = "a share for people to read")]
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "\n{:<14} {:>8} {:>7}", "verdict", "lines", "share")?;
        let rows = [
            (Verdict::Valid.code(), Exit::Fine),
            (Verdict::Repaired.code(), Exit::Repaired),
            (Verdict::Unrepairable.code(), Exit::Negative),
            ("refused", Exit::Refused),
            ("failed", Exit::Environment),
        ];
        for (name, exit) in rows {
            let count = self.count(exit);
            let share = 100.0 * count as f64 / self.lines.max(1) as f64;
            writeln!(f, "{name:<14} {count:>8} {share:>6.1}%")?;
        }
        writeln!(
            f,
            "{:<14} {:>8}   repairs: {}, defects: {}",
            "total", self.lines, self.repairs, self.defects
        )
    }
}

/// A line on standard error that says how far the work is, for a person who watches.
struct Progress {
    total: usize,
    watched: bool,
    shown: Option<Instant>,
}

impl Progress {
    fn new(total: usize) -> Progress {
        Progress { total, watched: is_watched(), shown: None }
    }

    fn show(&mut self, done: usize, summary: &Summary) {
        let due = self.shown.is_none_or(|shown| shown.elapsed() >= PROGRESS_EVERY);
        if !self.watched || !due {
            return;
        }
        self.shown = Some(Instant::now());
        let percent = done * 100 / self.total.max(1);
        let mut bar = String::new();
        let _ = write!(bar, "\r{percent:>3}%  {} lines", summary.lines);
        let _ = write!(std::io::stderr().lock(), "{bar}");
    }

    fn clear(&self) {
        if self.shown.is_some() {
            let _ = write!(std::io::stderr().lock(), "\r{:40}\r", "");
        }
    }
}
