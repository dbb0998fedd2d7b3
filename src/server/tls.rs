//! TLS: the certificate in use, and how rustls is set up for it.

use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::NoServerSessionStorage;

use super::{certificate, self_signed};
use crate::config::Tls;
use crate::utc::Utc;
use crate::watch;

/// The longest certificate chain or key file, in bytes.
pub(super) const MAX_PEM_BYTES: u64 = 1024 * 1024;

/// The certificate in use.
pub(super) struct Identity {
    config: Arc<ServerConfig>,
    expires: Utc,
}

/// Why a certificate cannot be used. Tells the file, never a part of a key.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("{path}: {cause}")]
    Unreadable {
        /// The file.
        path: String,
        /// Why.
        cause: std::io::Error,
    },
    /// The file holds no certificate that can be read.
    #[error("{0}: no PEM certificate chain (`-----BEGIN CERTIFICATE-----`), or one of it is damaged")]
    NoCertificate(String),
    /// The file holds no private key that can be read.
    #[error("{0}: no PEM private key (`-----BEGIN PRIVATE KEY-----`; an encrypted key cannot be read)")]
    NoKey(String),
    /// The pair does not serve.
    #[error("{0} and its key cannot be used together: {1}")]
    Unusable(String, rustls::Error),
    /// The certificate's end of validity cannot be read.
    #[error("{0}: the end of the certificate's validity cannot be read")]
    NoExpiry(String),
    /// The certificate is expired.
    #[error("{0}: the certificate expired at {1}")]
    Expired(String, Utc),
    /// `tls.self_signed` cannot be made.
    #[error("tls.self_signed: {0}")]
    SelfSigned(rcgen::Error),
    /// No random numbers.
    #[error("the system gives no random numbers")]
    Random,
}

impl Identity {
    /// Reads or makes the certificate that `source` names. An expired one is accepted: a server that serves
    /// is easier to repair than one that does not start, and readiness tells.
    ///
    /// # Errors
    /// See [`TlsError`].
    pub(super) fn load(source: &Tls) -> Result<Identity, TlsError> {
        match source {
            Tls::Files { cert, key } => Identity::from_files(cert, key),
            Tls::SelfSigned { names, out } => {
                let made = self_signed::make(names).map_err(TlsError::SelfSigned)?;
                if let Some(out) = out {
                    let unreadable = |cause| TlsError::Unreadable { path: shown(out), cause };
                    std::fs::write(out, &made.authority_pem).map_err(unreadable)?;
                }
                let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(made.key));
                Identity::new(vec![made.certificate.into()], key, "tls.self_signed")
            }
        }
    }

    /// Loads the pair that replaces the one in use: besides all else, it must not be expired.
    ///
    /// # Errors
    /// See [`TlsError`].
    pub(super) fn replacement(source: &Tls) -> Result<Identity, TlsError> {
        let identity = Identity::load(source)?;
        if identity.is_expired()
            && let Tls::Files { cert, .. } = source
        {
            return Err(TlsError::Expired(shown(cert), identity.expires));
        }
        Ok(identity)
    }

    /// What rustls serves with.
    pub(super) fn rustls(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.config)
    }

    /// When the certificate expires.
    pub(super) fn expires(&self) -> Utc {
        self.expires
    }

    /// The certificate's validity is over.
    pub(super) fn is_expired(&self) -> bool {
        self.expires <= Utc::now()
    }

    fn from_files(cert: &Path, key: &Path) -> Result<Identity, TlsError> {
        let read = |path: &Path| {
            let unreadable = |cause| TlsError::Unreadable { path: shown(path), cause };
            watch::read_bounded(path, MAX_PEM_BYTES).map_err(unreadable)
        };
        let chain: Vec<_> = CertificateDer::pem_slice_iter(&read(cert)?)
            .collect::<Result<_, _>>()
            .map_err(|_| TlsError::NoCertificate(shown(cert)))?;
        if chain.is_empty() {
            return Err(TlsError::NoCertificate(shown(cert)));
        }
        let key_der = PrivateKeyDer::from_pem_slice(&read(key)?).map_err(|_| TlsError::NoKey(shown(key)))?;
        Identity::new(chain, key_der, &shown(cert))
    }

    fn new(
        chain: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
        name: &str,
    ) -> Result<Identity, TlsError> {
        let no_expiry = || TlsError::NoExpiry(name.to_owned());
        let expires = chain.first().and_then(|leaf| certificate::expiry(leaf)).ok_or_else(no_expiry)?;
        let unusable = |cause| TlsError::Unusable(name.to_owned(), cause);
        let mut config = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(unusable)?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(unusable)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        // The order is ours: AES-128 first costs a sixth less than what most clients would pick.
        config.ignore_client_order = true;
        // Sessions live in tickets, not in our memory. One ticket: without any, a client that waits for
        // delayed acknowledgements loses 44 ms; more only cost.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.ticketer = aws_lc_rs::Ticketer::new().map_err(unusable)?;
        config.send_tls13_tickets = 1;
        Ok(Identity { config: Arc::new(config), expires })
    }
}

/// Draws once from the random number generator: its first draw takes some 30 ms, and no caller should wait
/// for it.
///
/// # Errors
/// [`TlsError::Random`].
pub(super) fn warm_up() -> Result<(), TlsError> {
    aws_lc_rs::default_provider().secure_random.fill(&mut [0; 32]).map_err(|_| TlsError::Random)
}

/// aws-lc-rs, with AES-128-GCM before the other suites of each version.
fn provider() -> Arc<CryptoProvider> {
    let mut provider = aws_lc_rs::default_provider();
    provider.cipher_suites.sort_by_key(|suite| {
        use rustls::CipherSuite as Suite;
        !matches!(
            suite.suite(),
            Suite::TLS13_AES_128_GCM_SHA256
                | Suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256
                | Suite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256
        )
    });
    Arc::new(provider)
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, clippy::indexing_slicing, reason = "tests")]
    use super::*;

    fn write(directory: &Path, names: &[String]) -> Tls {
        let key = rcgen::KeyPair::generate().expect("a key");
        let params = rcgen::CertificateParams::new(names).expect("names");
        let certificate = params.self_signed(&key).expect("a certificate");
        let (cert, key_file) = (directory.join("tls.crt"), directory.join("tls.key"));
        std::fs::write(&cert, certificate.pem()).expect("written");
        std::fs::write(&key_file, key.serialize_pem()).expect("written");
        Tls::Files { cert, key: key_file }
    }

    #[test]
    fn a_pair_loads_and_a_mixed_pair_does_not() {
        let (one, other) = (tempfile::tempdir().expect("a"), tempfile::tempdir().expect("b"));
        let pair = write(one.path(), &["localhost".to_owned()]);
        let expires = Identity::load(&pair).expect("a pair").expires();
        assert_eq!(expires.to_string(), "4096-01-01T00:00:00Z");
        write(other.path(), &["localhost".to_owned()]);
        let mixed = Tls::Files { cert: one.path().join("tls.crt"), key: other.path().join("tls.key") };
        assert!(matches!(Identity::load(&mixed), Err(TlsError::Unusable(..))));
    }

    #[test]
    fn each_trouble_names_its_file_and_no_content() {
        let directory = tempfile::tempdir().expect("a directory");
        let pair = write(directory.path(), &["localhost".to_owned()]);
        let (cert, key) = (directory.path().join("tls.crt"), directory.path().join("tls.key"));
        let secret = std::fs::read_to_string(&key).expect("the key");
        std::fs::write(&key, secret.replace('A', "")).expect("written");
        let error = Identity::load(&pair).err().expect("a damaged key");
        assert!(!error.to_string().contains(&secret[40..60]), "{error}");
        std::fs::write(&key, "").expect("written");
        assert!(matches!(Identity::load(&pair), Err(TlsError::NoKey(path)) if path.ends_with("tls.key")));
        std::fs::write(&cert, "no certificate").expect("written");
        assert!(matches!(Identity::load(&pair), Err(TlsError::NoCertificate(_))));
        std::fs::remove_file(&cert).expect("removed");
        assert!(matches!(Identity::load(&pair), Err(TlsError::Unreadable { .. })));
    }

    #[test]
    fn aes_128_comes_first_in_both_versions() {
        let suites = provider().cipher_suites.clone();
        let first =
            |version| suites.iter().find(|suite| suite.version().version == version).expect("a suite");
        let name = |version| format!("{:?}", first(version).suite());
        assert_eq!(name(rustls::ProtocolVersion::TLSv1_3), "TLS13_AES_128_GCM_SHA256");
        assert!(name(rustls::ProtocolVersion::TLSv1_2).contains("AES_128_GCM"));
    }
}
