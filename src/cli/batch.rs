//! Many submissions, one a line.

use std::fmt::Display;
use std::io::{BufWriter, Write as _};
use std::time::{Duration, Instant};

use super::Exit;
use super::check::{Format, is_watched, worse};
use super::input::Trouble;

/// How often the progress line changes.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// What the lines of a batch came to, in the order of [`ORDER`].
pub(super) type Labels = [&'static str; 5];
const ORDER: [Exit; 5] = [Exit::Fine, Exit::Repaired, Exit::Negative, Exit::Refused, Exit::Environment];

/// The result of one line.
pub(super) struct Line {
    pub(super) exit: Exit,
    pub(super) text: String,
    pub(super) repairs: usize,
    pub(super) defects: usize,
}

/// Does `each` line of `text`, which is given with its number from 1, and sums up. Empty lines are skipped.
pub(super) fn run(
    format: Format,
    labels: &Labels,
    text: &[u8],
    each: impl Fn(usize, &[u8]) -> Result<Line, Trouble>,
) -> Result<Exit, Trouble> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut progress = Progress::new(text.len());
    let mut summary = Summary { labels, lines: 0, by_exit: [0; 6], repairs: 0, defects: 0 };
    let mut exit = Exit::Fine;
    let mut done = 0;
    for (number, line) in (1..).zip(text.split(|byte| *byte == b'\n')) {
        done += line.len() + 1;
        if line.trim_ascii().is_empty() {
            continue;
        }
        if std::str::from_utf8(line).is_err() {
            return Err(Trouble::Usage(format!("line {number} is not UTF-8")));
        }
        let outcome = each(number, line)?;
        summary.add(&outcome);
        exit = worse(exit, outcome.exit);
        writeln!(out, "{}", outcome.text).map_err(cannot_write)?;
        progress.show(done, &summary);
    }
    progress.clear();
    match format {
        Format::Text => write!(out, "{summary}").map_err(cannot_write)?,
        Format::Json => super::tell(format_args!("{summary}")),
    }
    out.flush().map_err(cannot_write)?;
    Ok(exit)
}

fn cannot_write(error: impl Display) -> Trouble {
    Trouble::Environment(format!("cannot write the result: {error}"))
}

/// How many lines ended how.
struct Summary<'l> {
    labels: &'l Labels,
    lines: usize,
    by_exit: [usize; 6],
    repairs: usize,
    defects: usize,
}

impl Summary<'_> {
    fn add(&mut self, outcome: &Line) {
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

impl Display for Summary<'_> {
    #[allow(clippy::cast_precision_loss, reason = "a share for people to read")]
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "\n{:<14} {:>8} {:>7}", "verdict", "lines", "share")?;
        for (name, exit) in self.labels.iter().zip(ORDER) {
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

    fn show(&mut self, done: usize, summary: &Summary<'_>) {
        let due = self.shown.is_none_or(|shown| shown.elapsed() >= PROGRESS_EVERY);
        if !self.watched || !due {
            return;
        }
        self.shown = Some(Instant::now());
        let percent = done * 100 / self.total.max(1);
        let _ = write!(std::io::stderr().lock(), "\r{percent:>3}%  {} lines", summary.lines);
    }

    fn clear(&self) {
        if self.shown.is_some() {
            let _ = write!(std::io::stderr().lock(), "\r{:40}\r", "");
        }
    }
}
