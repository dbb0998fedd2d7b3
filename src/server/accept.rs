//! Accepts connections, as many as there is room for.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

use super::metrics::ConnectionEnd;
use super::peer::{Client, Clients};
use super::{Phase, Shared, connection};

/// The first and the longest pause after an error of `accept`, most of which last a while (no descriptors).
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Accepts until the server drains. Without a free slot nothing is accepted: new callers wait in the
/// system's backlog, which is bounded, and are served as soon as others leave.
pub(super) async fn accept(
    server: Arc<Shared>,
    listener: TcpListener,
    slots: Arc<Semaphore>,
    mut phase: watch::Receiver<Phase>,
) {
    let clients = Arc::new(Clients::default());
    let mut pause = FIRST_PAUSE;
    let connections = phase.clone();
    loop {
        let next = async {
            let slot = Arc::clone(&slots).acquire_owned().await.map_err(io::Error::other)?;
            listener.accept().await.map(|(socket, address)| (slot, socket, address))
        };
        let accepted = tokio::select! {
            accepted = next => accepted,
            _ = phase.wait_for(|phase| *phase >= Phase::Drain) => return,
        };
        let (slot, socket, address) = match accepted {
            Ok(accepted) => accepted,
            Err(error) if of_one_connection(&error) => continue,
            Err(error) => {
                tracing::warn!(%error, ?pause, "cannot accept a connection");
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
                continue;
            }
        };
        pause = FIRST_PAUSE;
        let client = Client::from(address.ip());
        let most = server.site.load().limits.max_connections_per_client;
        let Some(place) = clients.admit(client, most) else {
            server.metrics.connection_ended(ConnectionEnd::TooManyOfClient);
            refuse(&socket);
            continue;
        };
        let open = server.metrics.open();
        let (server, phase) = (Arc::clone(&server), connections.clone());
        // Called inside: a future that is moved in would be stored twice.
        tokio::spawn(async move {
            connection::serve(server, socket, client, phase).await;
            drop((open, place, slot));
        });
    }
}

/// Lets a connection end by a reset when it is dropped: a farewell would keep the socket in our tables for a minute.
fn refuse(socket: &TcpStream) {
    // A failure leaves an ordinary close.
    let _ = socket.set_zero_linger();
}

/// Errors that say something about one connection, which is gone, and nothing about the listener.
fn of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}
