//! The transport, as Millwork has it: a connection per call, the name resolved each time, chunked bodies without a
//! length, no redirect followed, an answer of at most 1 MiB, and one clock from the start of the call to the last
//! byte of the answer.

mod body;
mod http1;
mod http2;
mod tls;

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::net::TcpStream;
use tokio::time::timeout;

pub use body::{Body, Piece};
pub use tls::{Trust, TrustTrouble};

use crate::address;
use crate::endpoint::Endpoint;
use crate::finding::Finding;

/// The version of HTTP that a call is made with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// HTTP/1.1, as Millwork's own client.
    Http1,
    /// HTTP/2, where the endpoint offers it.
    Http2,
}

/// One call.
#[derive(Debug)]
pub struct Request {
    /// The method.
    pub method: &'static str,
    /// The value of `Authorization`.
    pub authorization: Option<String>,
    /// The body and how it is cut; none for a method without.
    pub body: Option<Body>,
    /// The time from the start of the call to the last byte of the answer.
    pub budget: Duration,
    /// The version of HTTP.
    pub version: Version,
}

/// What came of a call.
#[derive(Debug)]
pub struct Reply {
    /// The whole answer, or why there is none.
    pub answer: Result<Answer, Finding>,
    /// From the start of the call to the last byte, or to the end of the budget.
    pub took: Duration,
    /// What was agreed on in the TLS handshake.
    pub session: Option<Session>,
}

/// A whole answer.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The header fields, names in lower case.
    pub fields: Vec<(String, Vec<u8>)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Answer {
    /// The only field of this name; none if there are several.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&[u8]> {
        let mut fields = self.fields.iter().filter(|(found, _)| found == name);
        match (fields.next(), fields.next()) {
            (Some((_, value)), None) => Some(value),
            _ => None,
        }
    }

    /// A field of this name lists `token`, whatever its case; what follows a `;` or a blank does not count.
    #[must_use]
    pub fn lists(&self, name: &str, token: &str) -> bool {
        let values = self.fields.iter().filter(|(found, _)| found == name);
        let mut items = values.flat_map(|(_, value)| value.split(|byte| *byte == b','));
        items.any(|item| {
            let item = item.trim_ascii().split(|byte| b"; \t".contains(byte)).next().unwrap_or_default();
            item.eq_ignore_ascii_case(token.as_bytes())
        })
    }
}

/// What client and endpoint agreed on. Words of ours, not of the endpoint's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Session {
    /// The version of TLS.
    pub tls: &'static str,
    /// The protocol chosen.
    pub protocol: &'static str,
}

/// Calls one endpoint.
#[derive(Debug, Clone)]
pub struct Client {
    endpoint: Endpoint,
    trust: Trust,
    allow_loopback: bool,
}

impl Client {
    /// A client for one endpoint.
    #[must_use]
    pub fn new(endpoint: Endpoint, trust: Trust, allow_loopback: bool) -> Client {
        Client { endpoint, trust, allow_loopback }
    }

    /// The endpoint.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Makes one call on a connection of its own.
    pub async fn send(&self, request: Request) -> Reply {
        let start = Instant::now();
        let mut session = None;
        // Boxed: what reads an answer is large, and every future that calls would hold it.
        let calling = Box::pin(self.call(&request, &mut session));
        let answer = timeout(request.budget, calling).await.unwrap_or(Err(Finding::TimedOut));
        Reply { answer, took: start.elapsed(), session }
    }

    async fn call(&self, request: &Request, session: &mut Option<Session>) -> Result<Answer, Finding> {
        let socket = self.connect().await?;
        if !self.endpoint.tls {
            return match request.version {
                Version::Http1 => http1::call(socket, &self.endpoint, request).await,
                Version::Http2 => Err(Finding::Http2NotOffered),
            };
        }
        let stream = self.trust.handshake(&self.endpoint.host, socket, request.version).await?;
        let agreed = tls::session(&stream);
        *session = Some(agreed);
        match request.version {
            Version::Http1 => http1::call(stream, &self.endpoint, request).await,
            Version::Http2 if agreed.protocol == "h2" => http2::call(stream, &self.endpoint, request).await,
            Version::Http2 => Err(Finding::Http2NotOffered),
        }
    }

    /// Resolves the name anew and connects to the first address that answers; one reserved address spoils them all.
    async fn connect(&self) -> Result<TcpStream, Finding> {
        let target = (self.endpoint.host.as_str(), self.endpoint.port);
        let found = tokio::net::lookup_host(target).await.map_err(|_| Finding::NameNotResolved)?;
        let addresses: Vec<SocketAddr> = found.collect();
        if addresses.is_empty() {
            return Err(Finding::NameNotResolved);
        }
        if !addresses.iter().all(|found| address::may_call(found.ip(), self.allow_loopback)) {
            return Err(Finding::AddressRefused);
        }
        for address in addresses {
            if let Ok(socket) = TcpStream::connect(address).await {
                // Every piece of a body goes out as it is cut.
                let _ = socket.set_nodelay(true);
                return Ok(socket);
            }
        }
        Err(Finding::NotConnected)
    }
}

/// What an error in the middle of an exchange means.
fn broken(_: io::Error) -> Finding {
    Finding::ClosedEarly
}
