//! HTTP/1.1 for the bundled dock, by hand, so that the pieces of a body stay visible. One request a connection.

use std::fmt::Write;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;

use super::answer::{Dock, Head, Heard, Reply, Wire};
use super::fault::Fault;

const MAX_HEAD_BYTES: usize = 16 * 1024;

/// How a body is framed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    None,
    Length(usize),
    Chunked,
}

/// Answers one request.
pub(super) async fn serve(mut stream: impl AsyncRead + AsyncWrite + Unpin, dock: &Dock) {
    let mut bytes = Vec::new();
    let Ok(Some((head, framing))) = timeout(Duration::from_secs(5), read_head(&mut stream, &mut bytes)).await
    else {
        return;
    };
    let early = dock.before_body(&head);
    let is_early = early.is_some();
    let reply = if let Some(reply) = early {
        reply
    } else {
        let mut reader = Reader { stream: &mut stream, bytes, pieces: Vec::new(), total: 0 };
        let body = reader.body(framing, dock).await;
        dock.after_body(&head, body)
    };
    tokio::time::sleep(reply.delay).await;
    write(&mut stream, &reply).await;
    if is_early || reply.status == 413 {
        drain(&mut stream).await;
    }
}

async fn read_head(stream: &mut (impl AsyncRead + Unpin), bytes: &mut Vec<u8>) -> Option<(Head, Framing)> {
    loop {
        let mut fields = [httparse::EMPTY_HEADER; 64];
        let mut request = httparse::Request::new(&mut fields);
        match request.parse(bytes).ok()? {
            httparse::Status::Complete(length) => {
                let field = |name: &str| {
                    let found = request.headers.iter().find(|field| field.name.eq_ignore_ascii_case(name))?;
                    std::str::from_utf8(found.value).ok()
                };
                let framing = match (field("transfer-encoding"), field("content-length")) {
                    (Some(_), _) => Framing::Chunked,
                    (None, Some(length)) => Framing::Length(length.parse().ok()?),
                    (None, None) => Framing::None,
                };
                let head = Head {
                    method: request.method?.to_owned(),
                    path: request.path?.to_owned(),
                    authorization: field("authorization").map(str::to_owned),
                    http2: false,
                };
                bytes.drain(..length);
                return Some((head, framing));
            }
            httparse::Status::Partial if bytes.len() > MAX_HEAD_BYTES => return None,
            httparse::Status::Partial => {
                if stream.read_buf(bytes).await.ok()? == 0 {
                    return None;
                }
            }
        }
    }
}

struct Reader<'a, S> {
    stream: &'a mut S,
    bytes: Vec<u8>,
    pieces: Vec<Vec<u8>>,
    total: usize,
}

impl<S: AsyncRead + Unpin> Reader<'_, S> {
    async fn body(&mut self, framing: Framing, dock: &Dock) -> Heard {
        let read = timeout(dock.body_deadline(), self.read(framing, dock)).await;
        let pieces = std::mem::take(&mut self.pieces);
        match read {
            Ok(Some(true)) => Heard::Whole(pieces),
            Ok(Some(false)) => Heard::TooLarge,
            Ok(None) => Heard::Broken,
            Err(_) => Heard::Late,
        }
    }

    /// Reads all pieces; false if there are too many bytes, none if the framing breaks.
    async fn read(&mut self, framing: Framing, dock: &Dock) -> Option<bool> {
        match framing {
            Framing::None => Some(true),
            Framing::Length(length) if length > dock.cap() => Some(false),
            Framing::Length(length) => {
                while self.bytes.len() < length {
                    self.more().await?;
                }
                self.pieces.push(self.bytes.drain(..length).collect());
                Some(true)
            }
            Framing::Chunked => self.chunks(dock).await,
        }
    }

    async fn chunks(&mut self, dock: &Dock) -> Option<bool> {
        loop {
            let (start, length) = match httparse::parse_chunk_size(&self.bytes).ok()? {
                httparse::Status::Complete(found) => found,
                httparse::Status::Partial => {
                    self.more().await?;
                    continue;
                }
            };
            let length = usize::try_from(length).ok()?;
            self.total = self.total.checked_add(length)?;
            if self.total > dock.cap() {
                return Some(false);
            }
            let end = start.checked_add(length)?.checked_add(2)?;
            while self.bytes.len() < end {
                self.more().await?;
            }
            let piece: Vec<u8> = self.bytes.drain(..end).skip(start).take(length).collect();
            if length == 0 {
                return Some(true);
            }
            self.pieces.push(piece);
            if dock.fault == Fault::FirstChunkOnly {
                return Some(true);
            }
        }
    }

    async fn more(&mut self) -> Option<()> {
        (self.stream.read_buf(&mut self.bytes).await.ok()? > 0).then_some(())
    }
}

async fn write(stream: &mut (impl AsyncWrite + Unpin), reply: &Reply) {
    let bytes = match reply.wire {
        Wire::HangUp => return,
        Wire::Garbage => b"220 mail.example ready\r\n\r\n".to_vec(),
        Wire::Cut => encode(reply, reply.body.len() + 10),
        Wire::Normal => encode(reply, reply.body.len()),
    };
    // The client may be gone.
    let _ = stream.write_all(&bytes).await;
    let _ = stream.shutdown().await;
}

fn encode(reply: &Reply, length: usize) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {} -\r\nconnection: close\r\n", reply.status);
    // Writing to a string does not fail.
    if reply.status != 204 {
        let _ = write!(head, "content-length: {length}\r\n");
    }
    for (name, value) in &reply.fields {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    head.push_str("\r\n");
    [head.as_bytes(), &reply.body].concat()
}

/// Reads a little of what still comes, so that the client sees the answer and no reset.
async fn drain(stream: &mut (impl AsyncRead + Unpin)) {
    let rest = async {
        let mut some = vec![0; 16 * 1024];
        while matches!(stream.read(&mut some).await, Ok(1..)) {}
    };
    let _ = timeout(Duration::from_secs(1), rest).await;
}
