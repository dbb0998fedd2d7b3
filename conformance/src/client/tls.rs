//! TLS: certificates are checked, always; what failed is said in words of ours.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{CertificateError, ClientConfig, Error, ProtocolVersion, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::{Session, Version};
use crate::finding::Finding;

/// Whom the client trusts.
#[derive(Debug, Clone)]
pub struct Trust {
    http1: Arc<ClientConfig>,
    http2: Arc<ClientConfig>,
}

/// Why a file of authorities cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TrustTrouble {
    /// Not to be read, or no PEM.
    #[error("the file of --ca-file cannot be read as PEM: {0}")]
    Unreadable(String),
    /// Nothing in it.
    #[error("the file of --ca-file holds no certificate that can be an authority")]
    Empty,
    /// The TLS library refuses its own settings.
    #[error("TLS cannot be set up")]
    Library,
}

impl Trust {
    /// The authorities that Mozilla trusts.
    ///
    /// # Errors
    /// [`TrustTrouble::Library`].
    pub fn public() -> Result<Trust, TrustTrouble> {
        Trust::of(webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect())
    }

    /// The authorities in a PEM file, and no others.
    ///
    /// # Errors
    /// [`TrustTrouble`].
    pub fn from_file(path: &Path) -> Result<Trust, TrustTrouble> {
        let unreadable = |error: rustls::pki_types::pem::Error| TrustTrouble::Unreadable(error.to_string());
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_file_iter(path).map_err(unreadable)? {
            roots.add(certificate.map_err(unreadable)?).map_err(|_| TrustTrouble::Empty)?;
        }
        if roots.is_empty() { Err(TrustTrouble::Empty) } else { Trust::of(roots) }
    }

    fn of(roots: RootCertStore) -> Result<Trust, TrustTrouble> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let plain = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|_| TrustTrouble::Library)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let offering = |protocols: &[&str]| {
            let mut config = plain.clone();
            config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
            Arc::new(config)
        };
        Ok(Trust { http1: offering(&["http/1.1"]), http2: offering(&["h2", "http/1.1"]) })
    }

    pub(super) async fn handshake(
        &self,
        host: &str,
        socket: TcpStream,
        version: Version,
    ) -> Result<TlsStream<TcpStream>, Finding> {
        let name = ServerName::try_from(host.to_owned()).map_err(|_| Finding::CertificateWrongName)?;
        let config = if version == Version::Http1 { &self.http1 } else { &self.http2 };
        TlsConnector::from(Arc::clone(config)).connect(name, socket).await.map_err(|error| {
            let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<Error>());
            cause.map_or(Finding::TlsFailed, finding)
        })
    }
}

fn finding(error: &Error) -> Finding {
    let Error::InvalidCertificate(problem) = error else { return Finding::TlsFailed };
    match problem {
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => Finding::CertificateExpired,
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            Finding::CertificateWrongName
        }
        _ => Finding::CertificateUntrusted,
    }
}

pub(super) fn session(stream: &TlsStream<TcpStream>) -> Session {
    let (_, connection) = stream.get_ref();
    let tls = match connection.protocol_version() {
        Some(ProtocolVersion::TLSv1_3) => "TLS 1.3",
        Some(ProtocolVersion::TLSv1_2) => "TLS 1.2",
        _ => "TLS",
    };
    let protocol = if connection.alpn_protocol() == Some(b"h2") { "h2" } else { "http/1.1" };
    Session { tls, protocol }
}
