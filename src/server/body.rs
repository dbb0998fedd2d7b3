//! The body: bounded in bytes and time.

use std::time::Duration;

use bytes::Buf;
use http_body_util::BodyExt;
use hyper::body::Body;
use tokio::time::{Instant, timeout, timeout_at};

use super::load::Admitted;
use crate::fault::Fault;

/// What is reserved before the first byte, whatever length is announced.
const FIRST: usize = 16 * 1024;
/// How much of a refused body is read, and for how long, so that a client which is still writing sees the
/// answer and not a reset connection.
const DRAIN_BYTES: usize = 256 * 1024;
const DRAIN_TIME: Duration = Duration::from_secs(1);

/// A request's body, and whether its end has been seen.
pub(super) struct Incoming {
    body: hyper::body::Incoming,
    ended: bool,
}

impl Incoming {
    pub(super) fn new(body: hyper::body::Incoming) -> Self {
        let ended = body.is_end_stream();
        Incoming { body, ended }
    }

    /// The length that the head announces, if it does.
    pub(super) fn announced(&self) -> Option<usize> {
        self.body.size_hint().exact().map(|length| usize::try_from(length).unwrap_or(usize::MAX))
    }

    /// Nothing more will come. hyper itself never says so of a chunked body.
    pub(super) fn has_ended(&self) -> bool {
        self.ended || self.body.is_end_stream()
    }
}

/// Reads the whole body.
///
/// # Errors
/// [`Fault::RequestTooLarge`] over `most` bytes, at once if the announced length says so;
/// [`Fault::RequestTimeout`] at `deadline`; [`Fault::Overloaded`] when the memory for bodies is used up;
/// [`Fault::MalformedRequest`] if the body breaks off or its framing is wrong.
pub(super) async fn read(
    incoming: &mut Incoming,
    most: usize,
    deadline: Instant,
    admitted: &mut Admitted,
) -> Result<Vec<u8>, Fault> {
    let announced = incoming.announced();
    if announced.is_some_and(|length| length > most) {
        return Err(Fault::RequestTooLarge);
    }
    let mut bytes = Vec::with_capacity(announced.unwrap_or(FIRST).min(FIRST));
    while !incoming.has_ended() {
        let frame = match timeout_at(deadline, incoming.body.frame()).await {
            Ok(Some(Ok(frame))) => frame,
            Ok(Some(Err(_))) => return Err(Fault::MalformedRequest),
            Ok(None) => {
                incoming.ended = true;
                break;
            }
            Err(_) => return Err(Fault::RequestTimeout),
        };
        // Trailers say nothing here.
        let Ok(data) = frame.into_data() else { continue };
        let length = bytes.len().saturating_add(data.remaining());
        if length > most {
            return Err(Fault::RequestTooLarge);
        }
        admitted.hold(length)?;
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}

/// Reads and forgets what still comes of a refused body, in the background: the answer does not wait.
///
/// HTTP/1.1 only: the connection closes once this is done. An HTTP/2 stream is reset by dropping the body.
pub(super) fn drain(Incoming { mut body, .. }: Incoming) {
    tokio::spawn(timeout(DRAIN_TIME, async move {
        let mut left = DRAIN_BYTES;
        while let Some(Ok(frame)) = body.frame().await {
            let length = frame.data_ref().map_or(0, Buf::remaining);
            let Some(rest) = left.checked_sub(length) else { return };
            left = rest;
        }
    }));
}
