//! HTTP/2, where the endpoint chose it: each piece of a body is a DATA frame.

use bytes::Bytes;
use h2::client::{ResponseFuture, SendRequest};
use h2::{RecvStream, SendStream};
use tokio::io::{AsyncRead, AsyncWrite};

use super::{Answer, Request};
use crate::contract::MAX_RESPONSE_BYTES;
use crate::endpoint::Endpoint;
use crate::finding::Finding;

/// Sends one request and reads its answer.
pub(super) async fn call(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    endpoint: &Endpoint,
    request: &Request,
) -> Result<Answer, Finding> {
    let (sender, connection) = h2::client::handshake(stream).await.map_err(broken)?;
    let (head, body) = start(sender, endpoint, request).await?;
    let sending = async {
        if let Some(body) = body {
            // An endpoint may refuse, and reset the stream, before it has the whole body.
            let _ = send(body, request).await;
        }
        std::future::pending::<()>().await;
    };
    tokio::select! {
        biased;
        answer = receive(head) => answer,
        // The connection makes everything move; its own end comes before the answer only if it broke.
        _ = connection => Err(Finding::ClosedEarly),
        () = sending => Err(Finding::ClosedEarly),
    }
}

async fn start(
    sender: SendRequest<Bytes>,
    endpoint: &Endpoint,
    request: &Request,
) -> Result<(ResponseFuture, Option<SendStream<Bytes>>), Finding> {
    let mut head = http::Request::builder()
        .method(request.method)
        .uri(format!("https://{}{}", endpoint.authority, endpoint.path))
        .header("accept", "application/json");
    if let Some(authorization) = &request.authorization {
        head = head.header("authorization", authorization);
    }
    if request.body.is_some() {
        head = head.header("content-type", "application/json");
    }
    let head = head.body(()).map_err(|_| Finding::NotHttp)?;
    // The first stream of a connection is ready without the connection being driven.
    let mut sender = sender.ready().await.map_err(broken)?;
    let (answer, stream) = sender.send_request(head, request.body.is_none()).map_err(broken)?;
    Ok((answer, request.body.is_some().then_some(stream)))
}

async fn send(mut stream: SendStream<Bytes>, request: &Request) -> Result<(), h2::Error> {
    let Some(body) = &request.body else { return Ok(()) };
    let last = body.pieces.len().saturating_sub(1);
    if body.pieces.is_empty() && body.ends {
        return stream.send_data(Bytes::new(), true);
    }
    for (n, piece) in body.pieces.iter().enumerate() {
        tokio::time::sleep(piece.wait).await;
        stream.send_data(Bytes::copy_from_slice(&piece.bytes), n == last && body.ends)?;
        // Gives the frame a chance to go out alone.
        tokio::task::yield_now().await;
    }
    if !body.ends {
        // Dropping the stream would reset it: it stays open, and the endpoint waits.
        std::future::pending::<()>().await;
    }
    Ok(())
}

async fn receive(head: ResponseFuture) -> Result<Answer, Finding> {
    let (head, body) = head.await.map_err(broken)?.into_parts();
    let fields =
        head.headers.iter().map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec()));
    let fields = fields.collect();
    Ok(Answer { status: head.status.as_u16(), fields, body: read(body).await? })
}

async fn read(mut incoming: RecvStream) -> Result<Vec<u8>, Finding> {
    let mut body = Vec::new();
    while let Some(data) = incoming.data().await {
        let data = data.map_err(broken)?;
        incoming.flow_control().release_capacity(data.len()).map_err(broken)?;
        body.extend_from_slice(&data);
        if body.len() > MAX_RESPONSE_BYTES {
            return Err(Finding::TooLarge);
        }
    }
    Ok(body)
}

fn broken(_: h2::Error) -> Finding {
    Finding::ClosedEarly
}
