//! HTTP/1.1 by hand: each piece of a body is a chunk and a write of its own, and the answer is read while the body
//! is still going out, since an endpoint may refuse early.

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::{Answer, Body, Request, broken};
use crate::contract::MAX_RESPONSE_BYTES;
use crate::endpoint::Endpoint;
use crate::finding::Finding;

/// The longest head of an answer.
const MAX_HEAD_BYTES: usize = 64 * 1024;
const MAX_FIELDS: usize = 128;

/// Sends one request and reads its answer.
pub(super) async fn call(
    stream: impl AsyncRead + AsyncWrite,
    endpoint: &Endpoint,
    request: &Request,
) -> Result<Answer, Finding> {
    let (read, mut write) = tokio::io::split(stream);
    let sending = async {
        let sent = send(&mut write, endpoint, request).await;
        // The connection stays open for the answer, whether or not the endpoint took everything.
        drop(sent);
        std::future::pending::<()>().await;
    };
    let mut reader = Reader { stream: read, bytes: Vec::new() };
    tokio::select! {
        answer = reader.answer() => answer,
        () = sending => Err(Finding::ClosedEarly),
    }
}

async fn send(
    stream: &mut (impl AsyncWrite + Unpin),
    endpoint: &Endpoint,
    request: &Request,
) -> std::io::Result<()> {
    let mut head = format!(
        "{} {} HTTP/1.1\r\nhost: {}\r\naccept: application/json\r\nconnection: close\r\n",
        request.method, endpoint.path, endpoint.authority
    );
    if let Some(authorization) = &request.authorization {
        head.extend(["authorization: ", authorization, "\r\n"]);
    }
    if request.body.is_some() {
        head.push_str("content-type: application/json\r\ntransfer-encoding: chunked\r\n");
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).await?;
    stream.flush().await?;
    match &request.body {
        Some(body) => send_body(stream, body).await,
        None => Ok(()),
    }
}

async fn send_body(stream: &mut (impl AsyncWrite + Unpin), body: &Body) -> std::io::Result<()> {
    for piece in &body.pieces {
        tokio::time::sleep(piece.wait).await;
        let mut chunk = format!("{:x}\r\n", piece.bytes.len()).into_bytes();
        chunk.extend_from_slice(&piece.bytes);
        chunk.extend_from_slice(b"\r\n");
        stream.write_all(&chunk).await?;
        stream.flush().await?;
    }
    if body.ends {
        stream.write_all(b"0\r\n\r\n").await?;
        stream.flush().await?;
    }
    Ok(())
}

struct Reader<R> {
    stream: R,
    /// Read and not yet used.
    bytes: Vec<u8>,
}

/// How an answer's body ends.
enum Framing {
    Length(usize),
    Chunked,
    End,
}

impl<R: AsyncRead + Unpin> Reader<R> {
    async fn answer(&mut self) -> Result<Answer, Finding> {
        loop {
            let (status, fields) = self.head().await?;
            // 1xx: the answer is still to come.
            if !(100..200).contains(&status) {
                let mut answer = Answer { status, fields, body: Vec::new() };
                answer.body = match framing(&answer)? {
                    Framing::Length(length) => self.sized(length).await?,
                    Framing::Chunked => self.chunked().await?,
                    Framing::End => self.until_the_end().await?,
                };
                return Ok(answer);
            }
        }
    }

    async fn head(&mut self) -> Result<(u16, Vec<(String, Vec<u8>)>), Finding> {
        loop {
            let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
            let mut response = httparse::Response::new(&mut fields);
            match response.parse(&self.bytes) {
                Ok(httparse::Status::Complete(length)) => {
                    let status = response.code.ok_or(Finding::NotHttp)?;
                    let fields = response.headers.iter();
                    let fields = fields.map(|field| (field.name.to_ascii_lowercase(), field.value.to_vec()));
                    let fields = fields.collect();
                    self.bytes.drain(..length);
                    return Ok((status, fields));
                }
                Ok(httparse::Status::Partial) if self.bytes.len() <= MAX_HEAD_BYTES => self.more().await?,
                _ => return Err(Finding::NotHttp),
            }
        }
    }

    async fn sized(&mut self, length: usize) -> Result<Vec<u8>, Finding> {
        // What is announced too long is still read up to the cap, as Millwork does.
        while self.bytes.len() < length {
            self.more().await?;
            self.capped(0)?;
        }
        if length > MAX_RESPONSE_BYTES {
            return Err(Finding::TooLarge);
        }
        Ok(self.bytes.drain(..length).collect())
    }

    async fn chunked(&mut self) -> Result<Vec<u8>, Finding> {
        let mut body = Vec::new();
        loop {
            let (start, length) = match httparse::parse_chunk_size(&self.bytes) {
                Ok(httparse::Status::Complete((start, length))) => (start, length),
                Ok(httparse::Status::Partial) if self.bytes.len() <= MAX_HEAD_BYTES => {
                    self.more().await?;
                    continue;
                }
                _ => return Err(Finding::NotHttp),
            };
            self.bytes.drain(..start);
            if length == 0 {
                return self.trailers().await.map(|()| body);
            }
            let length = usize::try_from(length).map_err(|_| Finding::TooLarge)?;
            while self.bytes.len() < length {
                self.more().await?;
                self.capped(body.len())?;
            }
            body.extend(self.bytes.drain(..length));
            if body.len() > MAX_RESPONSE_BYTES {
                return Err(Finding::TooLarge);
            }
            self.line_end().await?;
        }
    }

    /// The lines after the last chunk, up to the empty one.
    async fn trailers(&mut self) -> Result<(), Finding> {
        loop {
            match self.bytes.windows(2).position(|two| two == b"\r\n") {
                Some(0) => return Ok(()),
                Some(end) => drop(self.bytes.drain(..end + 2)),
                None if self.bytes.len() <= MAX_HEAD_BYTES => self.more().await?,
                None => return Err(Finding::NotHttp),
            }
        }
    }

    async fn line_end(&mut self) -> Result<(), Finding> {
        while self.bytes.len() < 2 {
            self.more().await?;
        }
        if self.bytes.drain(..2).eq(*b"\r\n") { Ok(()) } else { Err(Finding::NotHttp) }
    }

    async fn until_the_end(&mut self) -> Result<Vec<u8>, Finding> {
        while self.stream.read_buf(&mut self.bytes).await.map_err(broken)? > 0 {
            self.capped(0)?;
        }
        Ok(std::mem::take(&mut self.bytes))
    }

    async fn more(&mut self) -> Result<(), Finding> {
        match self.stream.read_buf(&mut self.bytes).await.map_err(broken)? {
            0 => Err(Finding::ClosedEarly),
            _ => Ok(()),
        }
    }

    fn capped(&self, before: usize) -> Result<(), Finding> {
        if before + self.bytes.len() > MAX_RESPONSE_BYTES + MAX_HEAD_BYTES {
            Err(Finding::TooLarge)
        } else {
            Ok(())
        }
    }
}

fn framing(answer: &Answer) -> Result<Framing, Finding> {
    if matches!(answer.status, 204 | 304) {
        return Ok(Framing::Length(0));
    }
    let has = |name: &str| answer.fields.iter().any(|(found, _)| found == name);
    if has("transfer-encoding") {
        let chunked = answer.lists("transfer-encoding", "chunked");
        return if chunked && !has("content-length") { Ok(Framing::Chunked) } else { Err(Finding::NotHttp) };
    }
    if !has("content-length") {
        return Ok(Framing::End);
    }
    let length = answer.field("content-length").and_then(|value| std::str::from_utf8(value).ok());
    let digits = length.filter(|length| length.bytes().all(|byte| byte.is_ascii_digit()));
    digits.and_then(|length| length.parse().ok()).map(Framing::Length).ok_or(Finding::NotHttp)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(bytes: &[u8]) -> Result<(u16, Vec<u8>), Finding> {
        let mut reader = Reader { stream: bytes, bytes: Vec::new() };
        reader.answer().await.map(|answer| (answer.status, answer.body))
    }

    #[tokio::test]
    async fn answers_are_read_whatever_their_framing() {
        let ok = |body: &[u8]| Ok((200, body.to_vec()));
        assert_eq!(read(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}more").await, ok(b"{}"));
        assert_eq!(read(b"HTTP/1.1 200 OK\r\n\r\nto the end").await, ok(b"to the end"));
        let chunked = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
            3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nt: v\r\n\r\n";
        assert_eq!(read(chunked).await, ok(b"abcde"));
        assert_eq!(read(b"HTTP/1.1 204 No Content\r\n\r\n").await, Ok((204, Vec::new())));
    }

    #[tokio::test]
    async fn broken_answers_say_how() {
        for (bytes, finding) in [
            (&b""[..], Finding::ClosedEarly),
            (b"HTTP/1.1 200 OK\r\n", Finding::ClosedEarly),
            (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nshort", Finding::ClosedEarly),
            (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nab", Finding::ClosedEarly),
            (b"SSH-2.0-nothing\r\n\r\n", Finding::NotHttp),
            (b"HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n", Finding::NotHttp),
            (b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab", Finding::NotHttp),
            (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", Finding::NotHttp),
            (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nabc", Finding::NotHttp),
        ] {
            assert_eq!(read(bytes).await, Err(finding), "{}", String::from_utf8_lossy(bytes));
        }
    }

    #[tokio::test]
    async fn an_answer_is_dropped_at_the_cap() {
        let body = vec![b'a'; MAX_RESPONSE_BYTES + 1];
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
        assert_eq!(read(&[head.as_bytes(), &body].concat()).await, Err(Finding::TooLarge));
        let exactly = body.get(1..).unwrap_or_default();
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", exactly.len());
        assert_eq!(
            read(&[head.as_bytes(), exactly].concat()).await.map(|(_, body)| body.len()),
            Ok(MAX_RESPONSE_BYTES)
        );
        let head = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n", body.len());
        assert_eq!(read(&[head.as_bytes(), &body, b"\r\n0\r\n\r\n"].concat()).await, Err(Finding::TooLarge));
    }
}
