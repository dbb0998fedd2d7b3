//! HTTP/2 for the bundled dock.

use bytes::Bytes;
use h2::server::SendResponse;
use h2::{Reason, RecvStream};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;

use super::answer::{Dock, Head, Heard, Reply};
use super::fault::Fault;

/// Answers the requests of one connection, one after the other.
pub(super) async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin, dock: &Dock) {
    let Ok(mut connection) = h2::server::handshake(stream).await else { return };
    while let Some(Ok((request, respond))) = connection.accept().await {
        let answering = answer(request, respond, dock);
        tokio::pin!(answering);
        // The connection has to be driven while the body arrives; when it closes, nobody waits for the answer.
        tokio::select! {
            () = &mut answering => {}
            _ = std::future::poll_fn(|context| connection.poll_closed(context)) => return,
        }
    }
}

async fn answer(request: http::Request<RecvStream>, mut respond: SendResponse<Bytes>, dock: &Dock) {
    if dock.fault == Fault::Http2Broken {
        respond.send_reset(Reason::INTERNAL_ERROR);
        return;
    }
    let (head, body) = request.into_parts();
    let authorization = head.headers.get("authorization").and_then(|value| value.to_str().ok());
    let head = Head {
        method: head.method.as_str().to_owned(),
        path: head.uri.path().to_owned(),
        authorization: authorization.map(str::to_owned),
        http2: true,
    };
    let reply = match dock.before_body(&head) {
        Some(reply) => reply,
        None => dock.after_body(&head, read(body, dock).await),
    };
    tokio::time::sleep(reply.delay).await;
    send(&mut respond, &reply);
}

async fn read(mut body: RecvStream, dock: &Dock) -> Heard {
    let mut pieces: Vec<Vec<u8>> = Vec::new();
    let mut total = 0;
    let reading = async {
        while let Some(data) = body.data().await {
            let Ok(data) = data else { return Some(Heard::Broken) };
            let _ = body.flow_control().release_capacity(data.len());
            total += data.len();
            if total > dock.cap() {
                return Some(Heard::TooLarge);
            }
            pieces.push(data.to_vec());
        }
        None
    };
    match timeout(dock.body_deadline(), reading).await {
        Ok(Some(heard)) => heard,
        Ok(None) => Heard::Whole(pieces),
        Err(_) => Heard::Late,
    }
}

fn send(respond: &mut SendResponse<Bytes>, reply: &Reply) {
    let mut head = http::Response::builder().status(reply.status);
    for (name, value) in &reply.fields {
        head = head.header(*name, value);
    }
    let Ok(head) = head.body(()) else { return };
    // The client may be gone.
    if let Ok(mut stream) = respond.send_response(head, reply.body.is_empty())
        && !reply.body.is_empty()
    {
        let _ = stream.send_data(Bytes::copy_from_slice(&reply.body), true);
    }
}
