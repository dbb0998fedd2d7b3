//! One request, from its head to its answer, in the order that Millwork's client expects.

use std::sync::Arc;
use std::time::Duration;

use hyper::http::request::Parts;
use hyper::{Method, Request, StatusCode, Version};
use tokio::time::Instant;

use super::body::Incoming;
use super::connection::Peer;
use super::operation::Done;
use super::reply::{self, Answer};
use super::request_id::{self, RequestId};
use super::site::{Site, SiteDock};
use super::{Shared, body, head, log};
use crate::dock::{Verdict, candidate};
use crate::fault::Fault;
use crate::json::Document;

/// Answers one request, counts it and logs one line about it, without content.
pub(super) async fn answer(server: &Shared, peer: &Peer, request: Request<hyper::body::Incoming>) -> Answer {
    let accepted = Instant::now();
    let answering = peer.activity.answer();
    let id = server.ids.next();
    let site = server.site.load_full();
    let (head, body) = request.into_parts();
    let mut body = Incoming::new(body);
    let path = head.uri.path();
    if let Some(operation) = site.operation(path) {
        let Done { answer, code } = operation.answer(server, peer, &head, &mut body, accepted).await;
        log_line(id, Some(path), &head, peer, answer.status(), code, accepted.elapsed());
        return hand_over(id, answer, &head, body);
    }
    let dock = site.dock(path);

    let outcome = decide(server, peer, &site, dock, &head, &mut body, accepted).await;

    let took = accepted.elapsed();
    let counters = dock.map_or(server.metrics.elsewhere(), |dock| &*dock.metrics);
    counters.count(outcome.as_ref().map(Verdict::is_correct).map_err(|fault| *fault), took);
    let (answer, code) = match outcome {
        Ok(verdict) => {
            let code = if verdict.is_correct() { "correct" } else { "not_correct" };
            (reply::verdict(&verdict), code)
        }
        Err(Fault::MethodNotAllowed) => (reply::method_not_allowed("POST"), Fault::MethodNotAllowed.code()),
        Err(fault) => (reply::fault(fault), fault.code()),
    };
    log_line(id, dock.map(|dock| &*dock.path), &head, peer, answer.status(), code, took);
    let answer = hand_over(id, answer, &head, body);
    drop(answering);
    answer
}

/// The order in which an endpoint decides (millwork-wire.md).
async fn decide(
    server: &Shared,
    peer: &Peer,
    site: &Site,
    dock: Option<&Arc<SiteDock>>,
    head: &Parts,
    body: &mut Incoming,
    accepted: Instant,
) -> Result<Verdict, Fault> {
    let limits = &site.limits;
    // 1. Path and method.
    let dock = dock.ok_or(Fault::NotFound)?;
    if head.method != Method::POST {
        return Err(Fault::MethodNotAllowed);
    }
    // 2. The rest of the head, then access: nothing behind it is reachable without a key.
    head::lawful(head)?;
    dock.rate.as_ref().map_or(Ok(()), |rate| rate.admit(peer.client))?;
    dock.access.admit(&head.headers)?;
    let mut admitted = server.load.admit(body.announced())?;
    // 3. The body.
    let until = accepted + limits.body_timeout;
    let bytes = body::read(body, limits.max_body_bytes, until, &mut admitted).await?;
    // 4. JSON, then the candidate; 5. probe and marker; 6. the check.
    let length = bytes.len();
    let document = Document::parse(bytes).map_err(|_| Fault::MalformedRequest)?;
    let dock = Arc::clone(dock);
    let judge = move |budget: &mut crate::budget::Budget<'_>| {
        let _held_until_the_work_ends = &admitted;
        dock.judge.judge(candidate(&document)?, budget)
    };
    server.checks.run(judge, length, limits.check_steps, accepted + limits.check_timeout).await
}

/// Gives an answer out. One that comes before the end of the body closes the connection, after reading a little more.
fn hand_over(id: RequestId, mut answer: Answer, head: &Parts, body: Incoming) -> Answer {
    if let Some(id) = id.header() {
        answer.headers_mut().insert(request_id::HEADER, id);
    }
    if head.version >= Version::HTTP_2 {
        return answer;
    }
    let unread = !body.has_ended();
    if unread && !head::awaits_continue(head) {
        body::drain(body);
    }
    let close = unread || answer.status() == StatusCode::UNAUTHORIZED;
    if close { reply::closing(answer) } else { answer }
}

/// One line, about the dock or operation at `path` if there is one.
fn log_line(
    id: RequestId,
    path: Option<&str>,
    head: &Parts,
    peer: &Peer,
    status: StatusCode,
    code: &str,
    took: Duration,
) {
    tracing::info!(
        target: log::REQUESTS,
        id = id.as_str(),
        dock = path.unwrap_or_default(),
        method = known_method(&head.method),
        status = status.as_u16(),
        code,
        us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
        protocol = protocol(head.version),
        tls = peer.tls,
    );
}

/// The method's name if it is one of the usual; any other name is the caller's own text.
fn known_method(method: &Method) -> &'static str {
    match *method {
        Method::POST => "POST",
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        Method::PATCH => "PATCH",
        Method::CONNECT => "CONNECT",
        Method::TRACE => "TRACE",
        _ => "other",
    }
}

fn protocol(version: Version) -> &'static str {
    match version {
        Version::HTTP_2 => "h2",
        Version::HTTP_11 => "http/1.1",
        _ => "http/1.0",
    }
}
