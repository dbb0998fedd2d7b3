//! The stream under hyper: notes that bytes arrived, and cuts floods of HTTP/2 control frames.
//!
//! h2 answers every PING and SETTINGS frame and never tires of it (30,000 of each went through). Their
//! cost is ours, and no request comes of them, so each connection has an allowance of control frames that
//! time and requests refill.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

use super::connection::Peer;

/// A connection's stream with its meter.
pub(super) struct Meter<S> {
    stream: S,
    peer: Arc<Peer>,
    /// Only for HTTP/2.
    frames: Option<Frames>,
}

impl<S> Meter<S> {
    pub(super) fn new(stream: S, peer: Arc<Peer>, is_h2: bool) -> Self {
        Meter { stream, peer, frames: is_h2.then(Frames::new) }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Meter<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        ready!(Pin::new(&mut this.stream).poll_read(context, buffer))?;
        let fresh = buffer.filled().get(before..).unwrap_or_default();
        if !fresh.is_empty() {
            this.peer.activity.received();
        }
        if let Some(frames) = &mut this.frames
            && frames.flood(fresh)
        {
            this.peer.note_flood();
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, "too many control frames")));
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Meter<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(context, parts)
    }
}

/// The length of the HTTP/2 connection preface, which comes before the first frame.
const PREFACE: usize = 24;
/// The length of a frame's header.
const HEADER: usize = 9;
/// Control frames that a connection may send at once.
const ALLOWANCE: u32 = 400;
/// What one request gives back: its `RST_STREAM` and some `WINDOW_UPDATE` frames.
const PER_REQUEST: u32 = 8;
/// What each second gives back.
const PER_SECOND: u32 = 20;

/// Frame types that carry requests (RFC 9113, section 6); every other type is control.
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const CONTINUATION: u8 = 9;

/// Counts frames as they pass, looking at their nine-byte headers only.
struct Frames {
    /// Bytes until the next frame header.
    skip: usize,
    header: [u8; HEADER],
    /// How much of `header` is there.
    have: usize,
    allowance: u32,
    refilled: Instant,
}

impl Frames {
    fn new() -> Self {
        Frames { skip: PREFACE, header: [0; HEADER], have: 0, allowance: ALLOWANCE, refilled: Instant::now() }
    }

    /// Passes `bytes`; true once the allowance of control frames is overdrawn.
    fn flood(&mut self, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            if self.skip > 0 {
                let skipped = self.skip.min(bytes.len());
                self.skip -= skipped;
                bytes = bytes.get(skipped..).unwrap_or_default();
                continue;
            }
            let taken = (HEADER - self.have).min(bytes.len());
            let (now, rest) = bytes.split_at(taken);
            if let Some(place) = self.header.get_mut(self.have..self.have + taken) {
                place.copy_from_slice(now);
            }
            self.have += taken;
            bytes = rest;
            if self.have == HEADER {
                self.have = 0;
                let [a, b, c, kind, ..] = self.header;
                self.skip = usize::from(a) << 16 | usize::from(b) << 8 | usize::from(c);
                if self.overdrawn_by(kind) {
                    return true;
                }
            }
        }
        false
    }

    fn overdrawn_by(&mut self, kind: u8) -> bool {
        match kind {
            DATA | CONTINUATION => return false,
            HEADERS => {
                self.allowance = (self.allowance + PER_REQUEST).min(ALLOWANCE);
                return false;
            }
            _ => {}
        }
        if self.allowance == 0 {
            let seconds = self.refilled.elapsed().as_secs();
            let refill = u32::try_from(seconds).unwrap_or(u32::MAX).saturating_mul(PER_SECOND);
            if refill == 0 {
                return true;
            }
            self.refilled = Instant::now();
            self.allowance = refill.min(ALLOWANCE);
        }
        self.allowance -= 1;
        false
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]
    use super::*;

    fn frame(kind: u8, payload: usize) -> Vec<u8> {
        let mut bytes = vec![0, 0, u8::try_from(payload).expect("a short payload"), kind, 0, 0, 0, 0, 0];
        bytes.resize(HEADER + payload, 0x55);
        bytes
    }

    fn after_preface() -> Frames {
        let mut frames = Frames::new();
        assert!(!frames.flood(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
        frames
    }

    #[tokio::test(start_paused = true)]
    async fn cuts_a_flood_of_pings_however_the_bytes_are_cut() {
        for piece in [1, 7, 17, 4096] {
            let mut frames = after_preface();
            let pings = frame(6, 8).repeat(1000);
            let passed = pings.chunks(piece).position(|bytes| frames.flood(bytes)).expect("a cut") * piece;
            let allowed = usize::try_from(ALLOWANCE).expect("a number") * 17;
            assert!(
                passed <= allowed + 17 && passed + piece > allowed,
                "{passed} bytes in pieces of {piece}"
            );
        }
    }

    #[tokio::test(start_paused = true)]
    async fn requests_and_time_refill_the_allowance() {
        let mut frames = after_preface();
        for _ in 0..10_000 {
            assert!(!frames.flood(&frame(1, 40)), "a request");
            assert!(!frames.flood(&frame(0, 200)), "its body");
            assert!(!frames.flood(&frame(8, 4).repeat(8)), "window updates");
        }
        let mut quiet = after_preface();
        for _ in 0..10_000 {
            assert!(!quiet.flood(&frame(6, 8)), "a ping a second is a keep-alive");
            tokio::time::advance(std::time::Duration::from_secs(1)).await;
        }
    }
}
