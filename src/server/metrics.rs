//! Counters, and their text for Prometheus. Labels are configured paths and fixed codes, nothing else.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::reply;
use crate::fault::Fault;

/// Upper bounds of the duration buckets, in microseconds.
const BUCKETS_US: [u64; 14] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 100_000, 250_000, 1_000_000, 3_000_000, 8_000_000,
    10_000_000,
];

/// The path of a dock, and the label of one of its keys.
type KeyName = (Box<str>, Box<str>);

/// What a handshake may settle on.
const TLS_VERSIONS: [&str; 2] = ["1.2", "1.3"];

/// How a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConnectionEnd {
    Finished,
    Broken,
    Idle,
    Old,
    Flood,
    Drained,
    Aborted,
    HandshakeFailed,
    HandshakeTimeout,
    TooManyOfClient,
}

impl ConnectionEnd {
    const ALL: [(ConnectionEnd, &'static str); 10] = [
        (ConnectionEnd::Finished, "finished"),
        (ConnectionEnd::Broken, "broken"),
        (ConnectionEnd::Idle, "idle"),
        (ConnectionEnd::Old, "old"),
        (ConnectionEnd::Flood, "flood"),
        (ConnectionEnd::Drained, "drained"),
        (ConnectionEnd::Aborted, "aborted"),
        (ConnectionEnd::HandshakeFailed, "handshake_failed"),
        (ConnectionEnd::HandshakeTimeout, "handshake_timeout"),
        (ConnectionEnd::TooManyOfClient, "too_many_of_client"),
    ];
}

/// The counters of the whole process; they survive reloads.
#[derive(Default)]
pub(super) struct Metrics {
    docks: Mutex<BTreeMap<Box<str>, Arc<DockMetrics>>>,
    elsewhere: DockMetrics,
    connections: AtomicUsize,
    ends: [AtomicU64; ConnectionEnd::ALL.len()],
    handshakes: [AtomicU64; TLS_VERSIONS.len()],
    /// Requests by dock and label of their key.
    keys: Mutex<BTreeMap<KeyName, Arc<AtomicU64>>>,
    reload_failures: AtomicU64,
}

/// The counters of one dock.
pub(super) struct DockMetrics {
    correct: AtomicU64,
    not_correct: AtomicU64,
    faults: Vec<AtomicU64>,
    /// Not cumulative here; the last one counts what is slower than every bound.
    buckets: [AtomicU64; BUCKETS_US.len() + 1],
    sum_us: AtomicU64,
}

/// Numbers that others keep, read when the text is written.
pub(super) struct Gauges {
    pub(super) requests: usize,
    pub(super) body_bytes: usize,
    pub(super) checks_running: usize,
    pub(super) checks_waiting: usize,
    pub(super) certificate_expires: u64,
    pub(super) log_lines_dropped: u64,
    pub(super) ready: bool,
}

/// An open connection, counted until it is dropped.
pub(super) struct Open(Arc<Metrics>);

impl Metrics {
    /// The counters of the dock at `path`, the same ones after a reload.
    pub(super) fn dock(&self, path: &str) -> Arc<DockMetrics> {
        let mut docks = self.docks.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(docks.entry(path.into()).or_default())
    }

    /// The counters of requests to no dock.
    pub(super) fn elsewhere(&self) -> &DockMetrics {
        &self.elsewhere
    }

    pub(super) fn open(self: &Arc<Self>) -> Open {
        self.connections.fetch_add(1, Ordering::Relaxed);
        Open(Arc::clone(self))
    }

    pub(super) fn connection_ended(&self, end: ConnectionEnd) {
        if let Some(counter) = self.ends.get(end as usize) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A handshake that settled on this version of TLS.
    pub(super) fn shook_hands(&self, version: &str) {
        let place = TLS_VERSIONS.iter().position(|known| *known == version);
        if let Some(counter) = place.and_then(|place| self.handshakes.get(place)) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The counter of the key with this label at the dock at `path`, the same one after a reload.
    pub(super) fn key(&self, path: &str, label: &str) -> Arc<AtomicU64> {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(keys.entry((path.into(), label.into())).or_default())
    }

    pub(super) fn reload_failed(&self) {
        self.reload_failures.fetch_add(1, Ordering::Relaxed);
    }

    /// The text of `/metrics`, Prometheus exposition format 0.0.4.
    pub(super) fn text(&self, gauges: &Gauges) -> String {
        let mut out = String::with_capacity(8 * 1024);
        let docks: Vec<(Box<str>, Arc<DockMetrics>)> = {
            let docks = self.docks.lock().unwrap_or_else(PoisonError::into_inner);
            docks.iter().map(|(path, dock)| (path.clone(), Arc::clone(dock))).collect()
        };
        family(
            &mut out,
            "requests_total",
            "counter",
            "Answered requests; dock is empty where there is none.",
        );
        self.elsewhere.write_requests("", &mut out);
        for (path, dock) in &docks {
            dock.write_requests(path, &mut out);
        }
        family(&mut out, "request_duration_seconds", "histogram", "From a request's head to its answer.");
        for (path, dock) in &docks {
            dock.write_durations(path, &mut out);
        }
        family(&mut out, "connections_closed_total", "counter", "Connections by how they ended.");
        for ((_, reason), counter) in ConnectionEnd::ALL.iter().zip(&self.ends) {
            let count = counter.load(Ordering::Relaxed);
            line(&mut out, format_args!("connections_closed_total{{reason=\"{reason}\"}} {count}"));
        }
        family(&mut out, "tls_handshakes_total", "counter", "Completed handshakes by version of TLS.");
        for (version, counter) in TLS_VERSIONS.iter().zip(&self.handshakes) {
            let count = counter.load(Ordering::Relaxed);
            line(&mut out, format_args!("tls_handshakes_total{{version=\"{version}\"}} {count}"));
        }
        family(
            &mut out,
            "key_requests_total",
            "counter",
            "Requests by the label of the key that they came with.",
        );
        for ((path, label), counter) in self.keys.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let (path, label, count) = (Label(path), Label(label), counter.load(Ordering::Relaxed));
            line(&mut out, format_args!("key_requests_total{{dock=\"{path}\",key=\"{label}\"}} {count}"));
        }
        family(&mut out, "build_info", "gauge", "1, with the version of the program.");
        line(&mut out, format_args!("build_info{{version=\"{}\"}} 1", env!("CARGO_PKG_VERSION")));
        let gauge = |out: &mut String, name: &str, help: &str, value: u64| {
            family(out, name, "gauge", help);
            line(out, format_args!("{name} {value}"));
        };
        gauge(&mut out, "connections", "Open connections.", wide(self.connections.load(Ordering::Relaxed)));
        gauge(&mut out, "requests_in_flight", "Admitted requests under way.", wide(gauges.requests));
        gauge(&mut out, "body_memory_bytes", "Common memory in use for bodies.", wide(gauges.body_bytes));
        gauge(&mut out, "checks_running", "Long checks at work.", wide(gauges.checks_running));
        gauge(&mut out, "checks_waiting", "Long checks that wait.", wide(gauges.checks_waiting));
        gauge(&mut out, "ready", "1 if ready, as /readyz says.", u64::from(gauges.ready));
        let expiry = "When the certificate expires, in Unix time.";
        gauge(&mut out, "certificate_expiry_timestamp_seconds", expiry, gauges.certificate_expires);
        family(&mut out, "log_lines_dropped_total", "counter", "Log lines lost to a slow reader.");
        line(&mut out, format_args!("log_lines_dropped_total {}", gauges.log_lines_dropped));
        family(&mut out, "reload_failures_total", "counter", "Changes that were not taken over.");
        let failures = self.reload_failures.load(Ordering::Relaxed);
        line(&mut out, format_args!("reload_failures_total {failures}"));
        out
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Default for DockMetrics {
    fn default() -> Self {
        DockMetrics {
            correct: AtomicU64::new(0),
            not_correct: AtomicU64::new(0),
            faults: Fault::ALL.iter().map(|_| AtomicU64::new(0)).collect(),
            buckets: Default::default(),
            sum_us: AtomicU64::new(0),
        }
    }
}

impl DockMetrics {
    /// Counts one answered request: whether its verdict is positive, or its fault.
    pub(super) fn count(&self, outcome: Result<bool, Fault>, took: Duration) {
        let counter = match outcome {
            Ok(true) => Some(&self.correct),
            Ok(false) => Some(&self.not_correct),
            Err(fault) => self.faults.get(fault as usize),
        };
        let took = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let bucket = BUCKETS_US.iter().position(|bound| took <= *bound).unwrap_or(BUCKETS_US.len());
        for counter in counter.into_iter().chain(self.buckets.get(bucket)) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        self.sum_us.fetch_add(took, Ordering::Relaxed);
    }

    fn write_requests(&self, path: &str, out: &mut String) {
        let verdicts = [("200", "correct", &self.correct), ("200", "not_correct", &self.not_correct)];
        for (status, code, counter) in verdicts {
            write_request(out, path, status, code, counter);
        }
        for (fault, counter) in Fault::ALL.iter().zip(&self.faults) {
            write_request(out, path, reply::status(*fault).as_str(), fault.code(), counter);
        }
    }

    fn write_durations(&self, path: &str, out: &mut String) {
        let path = Label(path);
        let mut so_far = 0;
        for (bound, counter) in BUCKETS_US.iter().zip(&self.buckets) {
            so_far += counter.load(Ordering::Relaxed);
            let le = Seconds(*bound);
            let name = "request_duration_seconds_bucket";
            line(out, format_args!("{name}{{dock=\"{path}\",le=\"{le}\"}} {so_far}"));
        }
        let all = so_far + self.buckets.last().map_or(0, |counter| counter.load(Ordering::Relaxed));
        let sum = Seconds(self.sum_us.load(Ordering::Relaxed));
        line(out, format_args!("request_duration_seconds_bucket{{dock=\"{path}\",le=\"+Inf\"}} {all}"));
        line(out, format_args!("request_duration_seconds_sum{{dock=\"{path}\"}} {sum}"));
        line(out, format_args!("request_duration_seconds_count{{dock=\"{path}\"}} {all}"));
    }
}

/// One series; a code that never occurred has none.
fn write_request(out: &mut String, path: &str, status: &str, code: &str, counter: &AtomicU64) {
    let count = counter.load(Ordering::Relaxed);
    if count > 0 {
        let path = Label(path);
        let labels = format_args!("{{dock=\"{path}\",status=\"{status}\",code=\"{code}\"}}");
        line(out, format_args!("requests_total{labels} {count}"));
    }
}

fn family(out: &mut String, name: &str, kind: &str, help: &str) {
    // Writing to a String cannot fail.
    let _ = writeln!(out, "# HELP millwork_dock_{name} {help}\n# TYPE millwork_dock_{name} {kind}");
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = writeln!(out, "millwork_dock_{text}");
}

fn wide(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// Microseconds, written as seconds without rounding.
struct Seconds(u64);

impl std::fmt::Display for Seconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}

/// A label's value: `\`, `"` and line ends are escaped.
struct Label<'a>(&'a str);

impl std::fmt::Display for Label<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.chars().try_for_each(|character| match character {
            '\\' => f.write_str("\\\\"),
            '"' => f.write_str("\\\""),
            '\n' => f.write_str("\\n"),
            other => f.write_char(other),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_has_its_own_place() {
        for (place, (end, _)) in ConnectionEnd::ALL.iter().enumerate() {
            assert_eq!(*end as usize, place);
        }
    }

    #[test]
    fn counts_stay_with_their_dock_and_bucket() {
        let metrics = Metrics::default();
        metrics.dock("/a\"b").count(Ok(true), Duration::from_micros(100));
        metrics.dock("/a\"b").count(Err(Fault::CheckTimeout), Duration::from_secs(11));
        metrics.elsewhere().count(Err(Fault::NotFound), Duration::ZERO);
        let gauges = Gauges {
            requests: 0,
            body_bytes: 0,
            checks_running: 0,
            checks_waiting: 0,
            certificate_expires: 7,
            log_lines_dropped: 0,
            ready: true,
        };
        let text = metrics.text(&gauges);
        for expected in [
            r#"millwork_dock_requests_total{dock="/a\"b",status="200",code="correct"} 1"#,
            r#"millwork_dock_requests_total{dock="/a\"b",status="504",code="check_timeout"} 1"#,
            r#"millwork_dock_requests_total{dock="",status="404",code="not_found"} 1"#,
            r#"millwork_dock_request_duration_seconds_bucket{dock="/a\"b",le="0.000100"} 1"#,
            r#"millwork_dock_request_duration_seconds_bucket{dock="/a\"b",le="10.000000"} 1"#,
            r#"millwork_dock_request_duration_seconds_bucket{dock="/a\"b",le="+Inf"} 2"#,
            r#"millwork_dock_request_duration_seconds_sum{dock="/a\"b"} 11.000100"#,
            "millwork_dock_certificate_expiry_timestamp_seconds 7",
        ] {
            assert!(text.lines().any(|line| line == expected), "{expected}\n{text}");
        }
        assert!(!text.contains("check_failed"), "a code that never occurred has no series");
    }
}
