//! TLS to PostgreSQL, and what of the URL is about it.
//!
//! libpq verifies a server only if told to. Here a certificate is always verified, name included, so `require` is
//! what libpq calls `verify-full`. With a verified server, channel binding adds nothing, and none is offered.

use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::str::FromStr;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, InvalidDnsNameError, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::Config;
use tokio_postgres::config::SslMode;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;

use super::StoreError;
use super::sql::failed;

/// What a URL says.
pub(super) struct Url {
    pub(super) config: Config,
    pub(super) tls: Tls,
}

/// How to speak TLS to the server.
#[derive(Clone)]
pub(super) struct Tls(Arc<ClientConfig>);

impl Url {
    /// Reads a URL. Errors hold nothing of it, since a slip in it may put its password anywhere.
    pub(super) fn parse(url: &str) -> Result<Self, StoreError> {
        // A question mark in the password is none.
        let authority = url.find('@').unwrap_or(0);
        let question = url.get(authority..).and_then(|rest| rest.find('?')).map(|at| authority + at);
        let (address, query) = match question.and_then(|at| url.split_at_checked(at)) {
            Some((address, query)) => (address, query.get(1..).unwrap_or_default()),
            None => (url, ""),
        };
        let (mut mode, mut root, mut others) = (SslMode::Prefer, None, Vec::new());
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("sslmode", value)) => mode = ssl_mode(value)?,
                Some(("sslrootcert", value)) => root = Some(PathBuf::from(percent_decoded(value)?)),
                _ => others.push(pair),
            }
        }
        let mut config = Config::from_str(&format!("{address}?{}", others.join("&"))).map_err(|_| {
            StoreError(
                "the URL of the PostgreSQL store is not valid; quote what is special as %XX".to_owned(),
            )
        })?;
        config.ssl_mode(mode);
        if config.get_application_name().is_none() {
            config.application_name("millwork-dock");
        }
        let roots = if mode == SslMode::Disable { RootCertStore::empty() } else { roots(root)? };
        Ok(Url { config, tls: Tls::new(roots)? })
    }
}

fn ssl_mode(value: &str) -> Result<SslMode, StoreError> {
    match value {
        "disable" => Ok(SslMode::Disable),
        "prefer" => Ok(SslMode::Prefer),
        "require" | "verify-ca" | "verify-full" => Ok(SslMode::Require),
        _ => Err(StoreError("sslmode is one of disable, prefer, require, verify-ca, verify-full".to_owned())),
    }
}

fn percent_decoded(text: &str) -> Result<String, StoreError> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(rest.next()?).to_digit(16);
        let byte = digit().zip(digit()).and_then(|(high, low)| u8::try_from(16 * high + low).ok());
        bytes.push(byte.ok_or_else(|| StoreError("sslrootcert has a % without two digits".to_owned()))?);
    }
    String::from_utf8(bytes).map_err(|_| StoreError("sslrootcert is not UTF-8".to_owned()))
}

/// The authorities in `file`, or else those of the system.
fn roots(file: Option<PathBuf>) -> Result<RootCertStore, StoreError> {
    let mut roots = RootCertStore::empty();
    if let Some(file) = file {
        let unusable = |cause: String| StoreError(format!("sslrootcert, {}: {cause}", file.display()));
        let certificates =
            CertificateDer::pem_file_iter(&file).map_err(|cause| unusable(cause.to_string()))?;
        for certificate in certificates {
            let certificate = certificate.map_err(|cause| unusable(cause.to_string()))?;
            roots.add(certificate).map_err(|cause| unusable(cause.to_string()))?;
        }
        if roots.is_empty() {
            return Err(unusable("no certificate in it".to_owned()));
        }
    } else {
        // A system may have none, which matters only to a server that has a certificate.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    Ok(roots)
}

impl Tls {
    fn new(roots: RootCertStore) -> Result<Self, StoreError> {
        let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(failed)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Tls(Arc::new(config)))
    }
}

impl<S> MakeTlsConnect<S> for Tls
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Encrypted<S>;
    type TlsConnect = Handshake;
    type Error = InvalidDnsNameError;

    fn make_tls_connect(&mut self, domain: &str) -> Result<Handshake, InvalidDnsNameError> {
        let name = ServerName::try_from(domain)?.to_owned();
        Ok(Handshake { connector: TlsConnector::from(Arc::clone(&self.0)), name })
    }
}

/// A handshake to make.
pub(super) struct Handshake {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl<S> TlsConnect<S> for Handshake
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Encrypted<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move {
            let encrypted = self.connector.connect(self.name, stream).await;
            Ok(Encrypted(encrypted.map_err(explained)?))
        })
    }
}

/// Debian's PostgreSQL has a certificate that nobody trusts, and many will meet it first.
fn explained(cause: io::Error) -> io::Error {
    let certificate = cause.get_ref().and_then(|cause| cause.downcast_ref::<rustls::Error>());
    if !matches!(certificate, Some(rustls::Error::InvalidCertificate(_))) {
        return cause;
    }
    io::Error::other(format!(
        "{cause}; name its authority's PEM file in sslrootcert=…, or set sslmode=disable where nobody can listen"
    ))
}

/// A connection under TLS.
pub(super) struct Encrypted<S>(tokio_rustls::client::TlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Encrypted<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Encrypted<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Encrypted<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
