//! Logs: one line per event, on a thread of their own, and never a caller's content.
//!
//! Our own events carry fixed texts, configured names and numbers. Those of hyper, h2 and rustls do not:
//! at trace level they print heads and frames. Of a foreign event only its level, its target and its line in
//! the source pass, which is enough to find the text; messages, fields and spans are dropped unread.

use std::cell::RefCell;
use std::fmt;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::{Context, SubscriberExt};

use crate::json::write_string;
use crate::utc::Utc;

/// The target of the one line per request.
pub(super) const REQUESTS: &str = "millwork_dock::request";
/// How our own targets begin.
const OWN: &str = "millwork_dock";

/// How lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// One JSON object per line.
    Json,
    /// For people.
    Pretty,
}

/// The log, installed for the process; dropping it writes what is left.
pub struct Logs {
    sink: Arc<Sink>,
    writer: Option<JoinHandle<()>>,
}

/// Why the log cannot be installed.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The levels are not written as `info` or `info,hyper=debug`.
    #[error("log levels are written like `info` or `info,hyper=debug`: {0}")]
    Levels(#[from] tracing_subscriber::filter::ParseError),
    /// There is a log already.
    #[error("a log is installed already")]
    Installed,
    /// No thread for the writer.
    #[error("no thread for the log: {0}")]
    Thread(#[from] std::io::Error),
}

/// Lines lost because whoever reads the log is too slow.
pub(super) fn dropped() -> u64 {
    DROPPED.load(Ordering::Relaxed)
}

static DROPPED: AtomicU64 = AtomicU64::new(0);

impl Logs {
    /// Installs the log of this process: lines of `levels` (`info`, or `info,hyper=debug`) to `out`.
    ///
    /// # Errors
    /// See [`LogError`].
    pub fn install(
        format: LogFormat,
        levels: &str,
        out: impl Write + Send + 'static,
    ) -> Result<Logs, LogError> {
        let levels: Targets = levels.parse()?;
        let sink = Arc::new(Sink::default());
        let writer = std::thread::Builder::new().name("log".into()).spawn({
            let sink = Arc::clone(&sink);
            move || sink.write_until_closed(out)
        })?;
        let logs = Logs { sink: Arc::clone(&sink), writer: Some(writer) };
        let lines = Lines { sink, format };
        let foreign = Foreign { lines: lines.clone(), levels: levels.clone() };
        // What no level lets through then costs one comparison at its place.
        let most = levels.iter().map(|(_, level)| level).chain(levels.default_level()).max();
        let most = most.map_or(log::LevelFilter::Off, most_of);
        let subscriber = tracing_subscriber::registry().with(lines.with_filter(levels));
        tracing::subscriber::set_global_default(subscriber).map_err(|_| LogError::Installed)?;
        log::set_boxed_logger(Box::new(foreign)).map_err(|_| LogError::Installed)?;
        log::set_max_level(most);
        std::panic::set_hook(Box::new(|panic| tell_where(panic.location())));
        Ok(logs)
    }
}

/// A panic's message may quote what was being read, so only its place in the source is told.
fn tell_where(place: Option<&std::panic::Location<'_>>) {
    let line = place.map_or(0, std::panic::Location::line);
    let file = place.map_or("", |place| place.file());
    // A path on the machine that built a dependency says nothing here.
    let file = file.rsplit("/src/").next().unwrap_or_default();
    tracing::error!(file, line, "a panic: please report it");
}

impl Drop for Logs {
    fn drop(&mut self) {
        self.sink.lock().closed = true;
        self.sink.filled.notify_one();
        if let Some(writer) = self.writer.take() {
            // The writer has nothing to panic about; if it did, there is no log to say so in.
            let _ = writer.join();
        }
    }
}

/// Lines on their way to the writer's thread, so that a request never waits for a disk or a pipe.
#[derive(Default)]
struct Sink {
    pending: Mutex<Pending>,
    filled: Condvar,
}

#[derive(Default)]
struct Pending {
    bytes: Vec<u8>,
    closed: bool,
}

impl Sink {
    /// More pending bytes than this, and lines are dropped.
    const MOST: usize = 1024 * 1024;
    /// The writer's rest after each write: lines come in batches, not one by one.
    const REST: Duration = Duration::from_millis(5);

    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, line: &[u8]) {
        let mut pending = self.lock();
        if pending.bytes.len() + line.len() > Self::MOST {
            DROPPED.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let was_empty = pending.bytes.is_empty();
        pending.bytes.extend_from_slice(line);
        drop(pending);
        if was_empty {
            self.filled.notify_one();
        }
    }

    fn write_until_closed(&self, mut out: impl Write) {
        let mut batch = Vec::new();
        loop {
            let mut pending = self.lock();
            while pending.bytes.is_empty() && !pending.closed {
                pending = self.filled.wait(pending).unwrap_or_else(PoisonError::into_inner);
            }
            std::mem::swap(&mut batch, &mut pending.bytes);
            let closed = pending.closed;
            drop(pending);
            // Nobody is left to tell about a log that cannot be written.
            let _ = out.write_all(&batch).and_then(|()| out.flush());
            batch.clear();
            if closed {
                return;
            }
            std::thread::sleep(Self::REST);
        }
    }
}

/// Turns events into lines.
#[derive(Clone)]
struct Lines {
    sink: Arc<Sink>,
    format: LogFormat,
}

impl<S: Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let about = event.metadata();
        self.line(*about.level(), about.target(), about.line(), |line| {
            if is_own(about.target()) {
                event.record(&mut Fields { line, format: self.format });
            }
        });
    }
}

impl Lines {
    fn line(&self, level: Level, target: &str, source_line: Option<u32>, fields: impl FnOnce(&mut Vec<u8>)) {
        thread_local! {
            static LINE: RefCell<Vec<u8>> = RefCell::new(Vec::with_capacity(512));
        }
        LINE.with(|line| {
            // Taken out, so that an event inside an event's own formatting finds another.
            let mut line = line.take();
            line.clear();
            let now = Utc::now();
            let _ = match self.format {
                LogFormat::Json => write!(line, r#"{{"time":"{now:#}","level":"{level}","target":""#),
                LogFormat::Pretty => write!(line, "{now:#} {level:>5} "),
            };
            line.extend_from_slice(target.as_bytes());
            if self.format == LogFormat::Json {
                line.push(b'"');
            }
            fields(&mut line);
            if let (false, Some(number)) = (is_own(target), source_line) {
                Fields { line: &mut line, format: self.format }.member("line", |line| {
                    let _ = write!(line, "{number}");
                });
            }
            line.extend_from_slice(if self.format == LogFormat::Json { b"}\n" } else { b"\n" });
            self.sink.push(&line);
            LINE.set(line);
        });
    }
}

/// Targets are written into JSON as they are: every one of ours and of Rust's module paths is plain.
fn is_own(target: &str) -> bool {
    target.strip_prefix(OWN).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// Writes the fields of our own events.
struct Fields<'a> {
    line: &'a mut Vec<u8>,
    format: LogFormat,
}

impl Fields<'_> {
    fn member(&mut self, name: &str, value: impl FnOnce(&mut Vec<u8>)) {
        let _ = match self.format {
            LogFormat::Json => write!(self.line, r#","{name}":"#),
            LogFormat::Pretty => write!(self.line, " {name}="),
        };
        value(self.line);
    }

    fn text(&mut self, name: &str, text: &str) {
        if self.format == LogFormat::Pretty && name == "message" {
            // Control characters of, say, a path must not make a second line.
            let _ = write!(self.line, " {}", text.escape_debug());
        } else {
            self.member(name, |line| write_string(text.as_bytes(), line));
        }
    }
}

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.text(field.name(), &format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.text(field.name(), value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.member(field.name(), |line| {
            let _ = write!(line, "{value}");
        });
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.member(field.name(), |line| {
            let _ = write!(line, "{value}");
        });
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.member(field.name(), |line| {
            let _ = write!(line, "{value}");
        });
    }
}

/// Crates that log through `log`, as rustls does.
struct Foreign {
    lines: Lines,
    levels: Targets,
}

impl log::Log for Foreign {
    fn enabled(&self, about: &log::Metadata<'_>) -> bool {
        self.levels.would_enable(about.target(), &level(about.level()))
    }

    fn log(&self, record: &log::Record<'_>) {
        // A crate may give any text as its target, even a caller's: only the module it is in is certain.
        let target = record.module_path_static().unwrap_or("log");
        if self.enabled(record.metadata()) {
            self.lines.line(level(record.level()), target, record.line(), |_| ());
        }
    }

    fn flush(&self) {}
}

fn most_of(level: LevelFilter) -> log::LevelFilter {
    match level.into_level() {
        None => log::LevelFilter::Off,
        Some(Level::ERROR) => log::LevelFilter::Error,
        Some(Level::WARN) => log::LevelFilter::Warn,
        Some(Level::INFO) => log::LevelFilter::Info,
        Some(Level::DEBUG) => log::LevelFilter::Debug,
        Some(Level::TRACE) => log::LevelFilter::Trace,
    }
}

fn level(level: log::Level) -> Level {
    match level {
        log::Level::Error => Level::ERROR,
        log::Level::Warn => Level::WARN,
        log::Level::Info => Level::INFO,
        log::Level::Debug => Level::DEBUG,
        log::Level::Trace => Level::TRACE,
    }
}
