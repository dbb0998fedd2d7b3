//! One connection: the TLS handshake, then HTTP/1.1 or HTTP/2 as ALPN says, under deadlines.
//!
//! hyper has a clock for heads only, and none for HTTP/2 at all; so one watch per connection closes it when
//! it is idle, slow with a head, too old, or when the server stops.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulConnection;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::meter::Meter;
use super::metrics::ConnectionEnd;
use super::peer::{Activity, Client};
use super::{Phase, Shared, route};
use crate::config::Limits;

/// A connection is asked to end at this age, so that none lives on an old certificate for ever.
const MAX_AGE: Duration = Duration::from_mins(10);
/// How long requests under way may take to end once a connection is asked to because of its age.
const AGE_GRACE: Duration = Duration::from_secs(15);
/// How long the farewell to an idle connection may take.
const IDLE_GRACE: Duration = Duration::from_millis(200);

/// Headers of one request.
const MAX_HEADERS: usize = 64;
/// The head of one request, in bytes (HTTP/2: its header list, RFC 9113 section 6.5.2).
const MAX_HEAD: u32 = 16 * 1024;
/// What hyper may hold of an HTTP/1.1 connection's input, in bytes.
const READ_BUFFER: usize = 64 * 1024;

/// One connection, as its requests know it.
pub(super) struct Peer {
    pub(super) client: Client,
    /// The TLS version, for the log: `"1.2"` or `"1.3"`.
    pub(super) tls: &'static str,
    pub(super) activity: Activity,
    flooded: AtomicBool,
}

impl Peer {
    /// The connection is cut because of too many control frames.
    pub(super) fn note_flood(&self) {
        self.flooded.store(true, Ordering::Relaxed);
    }
}

/// hyper's connection settings, made once.
pub(super) struct Protocols {
    h1: hyper::server::conn::http1::Builder,
    h2: hyper::server::conn::http2::Builder<TokioExecutor>,
}

impl Protocols {
    pub(super) fn new() -> Self {
        let mut h1 = hyper::server::conn::http1::Builder::new();
        h1.max_headers(MAX_HEADERS)
            .max_header_size(MAX_HEAD as usize)
            .max_buf_size(READ_BUFFER)
            .header_read_timeout(None);
        let mut h2 = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
        h2.timer(TokioTimer::new())
            .max_concurrent_streams(64)
            .max_header_list_size(MAX_HEAD)
            .max_pending_accept_reset_streams(20)
            .max_local_error_reset_streams(1024)
            .initial_stream_window_size(256 * 1024)
            .initial_connection_window_size(1024 * 1024)
            .keep_alive_interval(Duration::from_secs(20))
            .keep_alive_timeout(Duration::from_secs(10));
        Protocols { h1, h2 }
    }
}

/// Serves `socket` until either side is done with it.
pub(super) async fn serve(
    server: Arc<Shared>,
    socket: TcpStream,
    client: Client,
    mut phase: watch::Receiver<Phase>,
) {
    let limits = server.site.load().limits.clone();
    // Without it an answer in two writes waits for the client's delayed ACK. A failure costs only time.
    let _ = socket.set_nodelay(true);
    let Some(stream) = handshake(&server, socket, &limits, &mut phase).await else { return };

    let session = stream.get_ref().1;
    let is_h2 = session.alpn_protocol() == Some(b"h2");
    let tls = match session.protocol_version() {
        Some(rustls::ProtocolVersion::TLSv1_3) => "1.3",
        _ => "1.2",
    };
    server.metrics.shook_hands(tls);
    let peer = Arc::new(Peer { client, tls, activity: Activity::new(), flooded: AtomicBool::new(false) });
    let io = TokioIo::new(Meter::new(stream, Arc::clone(&peer), is_h2));
    let service = service_fn({
        let (server, peer) = (Arc::clone(&server), Arc::clone(&peer));
        move |request| {
            let (server, peer) = (Arc::clone(&server), Arc::clone(&peer));
            async move { Ok::<_, std::convert::Infallible>(route::answer(&server, &peer, request).await) }
        }
    });
    // Boxed, or an idle HTTP/1.1 connection would be as large as an HTTP/2 one, and each as large as two.
    let end = if is_h2 {
        watched(Box::pin(server.protocols.h2.serve_connection(io, service)), &peer, &limits, phase).await
    } else {
        watched(Box::pin(server.protocols.h1.serve_connection(io, service)), &peer, &limits, phase).await
    };
    let end = if peer.flooded.load(Ordering::Relaxed) { ConnectionEnd::Flood } else { end };
    server.metrics.connection_ended(end);
}

async fn handshake(
    server: &Shared,
    socket: TcpStream,
    limits: &Limits,
    phase: &mut watch::Receiver<Phase>,
) -> Option<TlsStream<TcpStream>> {
    let acceptor = TlsAcceptor::from(server.tls.load().rustls());
    let shaken = tokio::select! {
        biased;
        shaken = timeout(limits.handshake, acceptor.accept(socket)) => shaken,
        _ = phase.wait_for(|phase| *phase == Phase::Abort) => return None,
    };
    match shaken {
        Ok(Ok(stream)) => Some(stream),
        Ok(Err(_)) => {
            server.metrics.connection_ended(ConnectionEnd::HandshakeFailed);
            None
        }
        Err(_) => {
            server.metrics.connection_ended(ConnectionEnd::HandshakeTimeout);
            None
        }
    }
}

/// Drives `connection` to its end, or ends it.
async fn watched<C: GracefulConnection>(
    mut connection: Pin<Box<C>>,
    peer: &Peer,
    limits: &Limits,
    mut phase: watch::Receiver<Phase>,
) -> ConnectionEnd {
    let old = peer.activity.opened() + MAX_AGE;
    let mut alarm = pin!(sleep_until(peer.activity.overdue(limits).unwrap_or(old)));
    let mut closing = Closing::default();
    // The handshake waited on the same receiver: a change during it counts as seen.
    if *phase.borrow_and_update() >= Phase::Drain {
        closing.begin(connection.as_mut(), None, ConnectionEnd::Drained);
    }
    loop {
        tokio::select! {
            biased;
            done = connection.as_mut() => {
                return if done.is_ok() { closing.end } else { ConnectionEnd::Broken };
            }
            () = alarm.as_mut() => {
                let now = Instant::now();
                let overdue = peer.activity.overdue(limits);
                if closing.forced(now) {
                    if overdue.is_some() || closing.end != ConnectionEnd::Idle {
                        return closing.end;
                    }
                    // A request came before the farewell reached its client: it is answered.
                    closing = Closing { end: ConnectionEnd::Old, force_at: Some(now + AGE_GRACE) };
                }
                if overdue.is_some_and(|at| at <= now) {
                    closing.begin(connection.as_mut(), now + IDLE_GRACE, ConnectionEnd::Idle);
                } else if old <= now {
                    closing.begin(connection.as_mut(), now + AGE_GRACE, ConnectionEnd::Old);
                }
                let next = overdue.filter(|at| *at > now).unwrap_or(now + limits.idle.min(limits.header));
                alarm.as_mut().reset(closing.force_at.map_or(next, |force| force.min(next)));
            }
            change = phase.changed() => {
                let stopping = change.map_or(Phase::Abort, |()| *phase.borrow_and_update());
                match stopping {
                    Phase::Serve | Phase::Leave => {}
                    Phase::Drain => closing.begin(connection.as_mut(), None, ConnectionEnd::Drained),
                    Phase::Abort => return ConnectionEnd::Aborted,
                }
            }
        }
    }
}

/// The end of a connection that the server asked for.
struct Closing {
    end: ConnectionEnd,
    force_at: Option<Instant>,
}

impl Default for Closing {
    fn default() -> Self {
        Closing { end: ConnectionEnd::Finished, force_at: None }
    }
}

impl Closing {
    /// Asks the connection to end after the requests under way; at `force_at`, if given, it is cut.
    fn begin<C: GracefulConnection>(
        &mut self,
        connection: Pin<&mut C>,
        force_at: impl Into<Option<Instant>>,
        end: ConnectionEnd,
    ) {
        if self.end == ConnectionEnd::Finished {
            connection.graceful_shutdown();
            self.end = end;
        }
        let force_at = force_at.into();
        self.force_at = match (self.force_at, force_at) {
            (Some(before), Some(now)) => Some(before.min(now)),
            (before, now) => before.or(now),
        };
    }

    fn forced(&self, now: Instant) -> bool {
        self.force_at.is_some_and(|at| at <= now)
    }
}
