//! A bundled dock with one fault at a time: for the kit's own tests, and for people who want to see findings.
//!
//! It is good but for its fault. It listens on loopback only.

mod answer;
mod certificate;
mod check;
mod fault;
mod http1;
mod http2;

use std::net::SocketAddr;
use std::sync::Arc;

use rustls::ServerConfig;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

use crate::contract::Timing;
use answer::Dock;
pub use fault::{Fault, Found, Stage};

/// The labelled cases of the bundled dock.
pub const LABELLED: &str = include_str!("../../labelled/bundled.json");

/// How the bundled dock is set up.
#[derive(Debug, Clone)]
pub struct Options {
    /// The keys that it accepts; none for a public dock.
    pub keys: Vec<String>,
    /// Keys that it accepted once.
    pub retired: Vec<String>,
    /// Over TLS, with HTTP/1.1 and HTTP/2; else plain HTTP/1.1.
    pub tls: bool,
    /// What its delays are measured by.
    pub timing: Timing,
    /// The port; 0 for any.
    pub port: u16,
}

/// A bundled dock that is serving. It stops when it is dropped.
#[derive(Debug)]
pub struct Running {
    /// Where.
    pub address: SocketAddr,
    /// The certificate of the authority behind it, PEM, to be trusted.
    pub authority: Option<String>,
    task: JoinHandle<()>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Running {
    /// The URL of the dock.
    #[must_use]
    pub fn url(&self) -> String {
        let port = self.address.port();
        if self.authority.is_some() {
            format!("https://localhost:{port}/check")
        } else {
            format!("http://127.0.0.1:{port}/check")
        }
    }
}

/// Why a bundled dock does not start.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// The port.
    #[error("cannot listen on 127.0.0.1: {0}")]
    Listen(#[from] std::io::Error),
    /// The certificate.
    #[error("cannot make a certificate: {0}")]
    Certificate(#[from] rcgen::Error),
    /// The TLS library.
    #[error("cannot set up TLS: {0}")]
    Tls(#[from] rustls::Error),
}

/// Starts a dock with one fault.
///
/// # Errors
/// [`Trouble`].
pub async fn start(fault: Fault, options: Options) -> Result<Running, Trouble> {
    let listener = TcpListener::bind(("127.0.0.1", options.port)).await?;
    let address = listener.local_addr()?;
    let (acceptor, authority) = if options.tls {
        let made = certificate::make(fault)?;
        (Some(acceptor(&made)?), Some(made.authority_pem))
    } else {
        (None, None)
    };
    let task = tokio::spawn(accept(listener, acceptor, Arc::new(Dock::new(fault, options))));
    Ok(Running { address, authority, task })
}

fn acceptor(made: &certificate::Made) -> Result<TlsAcceptor, rustls::Error> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(made.key.clone());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![made.certificate.clone().into()], key.into())?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

async fn accept(listener: TcpListener, acceptor: Option<TlsAcceptor>, dock: Arc<Dock>) {
    loop {
        match listener.accept().await {
            Ok((socket, _)) => {
                tokio::spawn(serve(socket, acceptor.clone(), Arc::clone(&dock)));
            }
            // Out of file descriptors, most likely: others will close.
            Err(_) => tokio::time::sleep(std::time::Duration::from_millis(50)).await,
        }
    }
}

async fn serve(socket: TcpStream, acceptor: Option<TlsAcceptor>, dock: Arc<Dock>) {
    let _ = socket.set_nodelay(true);
    let Some(acceptor) = acceptor else { return http1::serve(socket, &dock).await };
    let Ok(stream) = acceptor.accept(socket).await else { return };
    if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
        http2::serve(stream, &dock).await;
    } else {
        http1::serve(stream, &dock).await;
    }
}
