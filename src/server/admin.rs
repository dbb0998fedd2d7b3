//! The operator's listener: health, readiness and metrics over plain HTTP.
//!
//! It says nothing that a stranger could use, and no page of a browser can read it: `Host` must name the
//! loopback when the listener is there (DNS rebinding). Off the loopback any valid `Host` will do, since
//! probes come by address.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HOST, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;

use super::metrics::Gauges;
use super::{Phase, Shared, head, log};
use crate::json::write_string;
use crate::service::Service;

/// Connections at once.
const CONNECTIONS: usize = 32;
/// How long a connection may live; a scrape takes milliseconds.
const LIFE: Duration = Duration::from_secs(30);
/// The head of a request.
const HEAD_TIME: Duration = Duration::from_secs(5);

/// What the answers need to know.
struct Admin {
    server: Arc<Shared>,
    phase: watch::Receiver<Phase>,
    on_loopback: bool,
}

/// Serves until it is dropped.
pub(super) async fn serve(
    server: Arc<Shared>,
    listener: TcpListener,
    address: SocketAddr,
    phase: watch::Receiver<Phase>,
) {
    let admin = Arc::new(Admin { server, phase, on_loopback: address.ip().is_loopback() });
    let slots = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else { return };
        let Ok((socket, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let admin = Arc::clone(&admin);
        let service = service_fn(move |request: Request<Incoming>| {
            let answer = admin.answer(&request);
            async move { Ok::<_, std::convert::Infallible>(answer) }
        });
        let mut http = hyper::server::conn::http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME).max_headers(64).max_buf_size(16 * 1024);
        tokio::spawn(async move {
            // Whatever goes wrong with a probe, the next one tells.
            let _ = timeout(LIFE, http.serve_connection(TokioIo::new(socket), service)).await;
            drop(slot);
        });
    }
}

impl Admin {
    fn answer<B>(&self, request: &Request<B>) -> Response<Full<Bytes>> {
        if !self.may_ask(request) {
            return json(StatusCode::BAD_REQUEST, r#"{"error":"bad_host"}"#);
        }
        let page: fn(&Admin) -> Response<Full<Bytes>> = match request.uri().path() {
            "/healthz" => |_| json(StatusCode::OK, r#"{"status":"alive"}"#),
            "/readyz" => Admin::readiness,
            "/metrics" => Admin::metrics,
            _ => return json(StatusCode::NOT_FOUND, r#"{"error":"not_found"}"#),
        };
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            let mut answer = json(StatusCode::METHOD_NOT_ALLOWED, r#"{"error":"method_not_allowed"}"#);
            answer.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return answer;
        }
        page(self)
    }

    fn may_ask<B>(&self, request: &Request<B>) -> bool {
        let mut hosts = request.headers().get_all(HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
        let host = host.as_bytes();
        let is_loopback = || {
            let name = host.iter().rposition(|byte| *byte == b':').filter(|_| !host.ends_with(b"]"));
            let name = name.map_or(host, |colon| host.get(..colon).unwrap_or_default());
            [&b"localhost"[..], b"127.0.0.1", b"[::1]"].contains(&name.to_ascii_lowercase().as_slice())
        };
        head::is_host(host) && (!self.on_loopback || is_loopback())
    }

    /// Ready means: a call would get a verdict. Not while stopping, not with an expired certificate, and not
    /// when no dock has usable keys and no operation is served; a single dock without keys is named, and disables
    /// only itself, and so does a stopped operation. Tripped wires are named, whether they stop anything or not.
    fn readiness(&self) -> Response<Full<Bytes>> {
        let mut body = format!(r#"{{"ready":{},"reasons":["#, self.is_ready()).into_bytes();
        let mut reasons: Vec<Vec<u8>> = Vec::new();
        if self.is_stopping() {
            reasons.push(br#""stopping""#.to_vec());
        }
        if self.server.tls.load().is_expired() {
            reasons.push(br#""certificate_expired""#.to_vec());
        }
        for (path, fault) in self.server.site.load().broken() {
            let mut reason = Vec::new();
            write_string(format!("{fault} at {path}").as_bytes(), &mut reason);
            reasons.push(reason);
        }
        for service in self.server.site.load().services() {
            for state in service.conditions() {
                let mut reason = Vec::new();
                write_string(state.as_bytes(), &mut reason);
                reasons.push(reason);
            }
        }
        body.extend_from_slice(&reasons.join(&b","[..]));
        body.extend_from_slice(b"]}");
        let status = if self.is_ready() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        json(status, body)
    }

    fn is_ready(&self) -> bool {
        let site = self.server.site.load();
        let serves =
            site.broken().count() < site.len() || site.services().iter().any(|one| one.admit().is_ok());
        !self.is_stopping() && !self.server.tls.load().is_expired() && serves
    }

    fn is_stopping(&self) -> bool {
        *self.phase.borrow() >= Phase::Leave
    }

    fn metrics(&self) -> Response<Full<Bytes>> {
        let server = &self.server;
        let mut text = server.metrics.text(&Gauges {
            requests: server.load.requests(),
            body_bytes: server.load.body_bytes(),
            checks_running: server.checks.running(),
            checks_waiting: server.checks.waiting(),
            certificate_expires: server.tls.load().expires().unix(),
            log_lines_dropped: log::dropped(),
            ready: self.is_ready(),
        });
        Service::write_metrics(server.site.load().services(), &mut text);
        page(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", text)
    }
}

fn json(status: StatusCode, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    page(status, "application/json", body)
}

fn page(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut answer = Response::new(Full::new(body.into()));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}
