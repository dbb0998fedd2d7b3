//! Signed reports: a flattened JWS (RFC 7515) over the report's very bytes, by Ed25519 (RFC 8037).
//!
//! The payload travels whole, since canonicalising JSON would change numbers that a report must keep.

use std::path::{Path, PathBuf};

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::encoding::AsDer;
use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{PrivatePkcs8KeyDer, SubjectPublicKeyInfoDer};

/// The longest key file, in bytes.
pub const MAX_KEY_BYTES: u64 = 16 * 1024;
/// The length of an Ed25519 public key, in bytes.
const PUBLIC_BYTES: usize = 32;
/// What a public key of Ed25519 begins with as `SubjectPublicKeyInfo` (RFC 8410, section 4).
const SPKI_PREFIX: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/// The keys of reports: the one that signs, and the set that verifies.
pub struct Signing {
    pair: Ed25519KeyPair,
    protected: String,
    jwks: String,
}

/// A public key that reports are verified with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey([u8; PUBLIC_BYTES]);

/// Why the keys cannot be used. Never tells a part of one.
#[derive(Debug, thiserror::Error)]
#[error("the signing key {}: {what}", .file.display())]
pub struct SigningError {
    file: PathBuf,
    what: String,
}

/// The parts of a flattened JWS, each base64url.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Jws {
    /// The report's bytes.
    pub payload: String,
    /// The header, `{"alg":"EdDSA","kid":…}`.
    pub protected: String,
    /// The signature over `protected.payload`.
    pub signature: String,
}

impl Signing {
    /// Reads the key that signs, and the retired ones that go on verifying. A retired key may be the old key file,
    /// or its public half alone, both PEM. Blocks on the file system.
    ///
    /// # Errors
    /// The first file that cannot be read, or holds no Ed25519 key.
    pub fn load(key: &Path, retired: &[PathBuf]) -> Result<Signing, SigningError> {
        let trouble = |file: &Path, what: String| SigningError { file: file.to_owned(), what };
        let pair = read(key).and_then(|text| private_key(&text)).map_err(|what| trouble(key, what))?;
        let mut keys = vec![PublicKey::of(&pair).map_err(|what| trouble(key, what))?];
        for file in retired {
            let public = read(file).and_then(|text| any_key(&text)).map_err(|what| trouble(file, what))?;
            if !keys.contains(&public) {
                keys.push(public);
            }
        }
        let kid = keys.first().map(PublicKey::thumbprint).unwrap_or_default();
        let protected = URL_SAFE_NO_PAD.encode(format!(r#"{{"alg":"EdDSA","kid":"{kid}"}}"#));
        let keys: Vec<String> = keys.iter().map(PublicKey::jwk).collect();
        Ok(Signing { pair, protected, jwks: format!(r#"{{"keys":[{}]}}"#, keys.join(",")) })
    }

    /// The key set that verifies, RFC 7517; the signing key first.
    #[must_use]
    pub fn jwks(&self) -> &str {
        &self.jwks
    }

    /// Signs `payload`.
    #[must_use]
    pub fn sign(&self, payload: &[u8]) -> Jws {
        let payload = URL_SAFE_NO_PAD.encode(payload);
        let signature = self.pair.sign(format!("{}.{payload}", self.protected).as_bytes());
        let signature = URL_SAFE_NO_PAD.encode(signature.as_ref());
        Jws { payload, protected: self.protected.clone(), signature }
    }

    /// The answer that carries a signed report: `{"report":…,"jws":{…}}`, where `report` is the payload once more,
    /// for reading.
    #[must_use]
    pub fn envelope(&self, report: &[u8]) -> Vec<u8> {
        let Jws { payload, protected, signature } = self.sign(report);
        let mut out = Vec::with_capacity(report.len() + payload.len() + 256);
        out.extend_from_slice(b"{\"report\":");
        out.extend_from_slice(report);
        let jws = format!(
            r#","jws":{{"payload":"{payload}","protected":"{protected}","signature":"{signature}"}}}}"#
        );
        out.extend_from_slice(jws.as_bytes());
        out
    }
}

impl PublicKey {
    fn of(pair: &Ed25519KeyPair) -> Result<PublicKey, String> {
        let bytes = pair.public_key().as_ref();
        bytes.try_into().map(PublicKey).map_err(|_| "is no Ed25519 key".to_owned())
    }

    /// The key that a JWK's `x` gives.
    #[must_use]
    pub fn from_jwk_x(x: &str) -> Option<PublicKey> {
        URL_SAFE_NO_PAD.decode(x).ok()?.try_into().ok().map(PublicKey)
    }

    /// The key of a Solana address.
    #[must_use]
    pub fn from_bytes(bytes: [u8; PUBLIC_BYTES]) -> PublicKey {
        PublicKey(bytes)
    }

    fn x(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }

    /// The key's name: its thumbprint, RFC 7638.
    #[must_use]
    pub fn thumbprint(&self) -> String {
        let canonical = format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{}"}}"#, self.x());
        URL_SAFE_NO_PAD.encode(digest(&SHA256, canonical.as_bytes()))
    }

    /// The key as a JWK (RFC 8037).
    #[must_use]
    pub fn jwk(&self) -> String {
        let (x, kid) = (self.x(), self.thumbprint());
        format!(r#"{{"kty":"OKP","crv":"Ed25519","x":"{x}","kid":"{kid}","alg":"EdDSA","use":"sig"}}"#)
    }

    /// Whether `signature` is this key's over `message`.
    #[must_use]
    pub fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, &self.0).verify(message, signature).is_ok()
    }
}

/// A new signing key as PEM (PKCS #8), and its public half.
///
/// # Errors
/// The system gives no random bytes.
pub fn new_key() -> Result<(String, PublicKey), String> {
    let random = |_| "the system gives no random bytes".to_owned();
    let pair = Ed25519KeyPair::generate().map_err(random)?;
    let der = AsDer::<aws_lc_rs::encoding::Pkcs8V1Der<'_>>::as_der(&pair).map_err(random)?;
    Ok((pem("PRIVATE KEY", der.as_ref()), PublicKey::of(&pair)?))
}

fn pem(label: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let lines: Vec<&str> =
        text.as_bytes().chunks(64).filter_map(|line| std::str::from_utf8(line).ok()).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}

fn read(file: &Path) -> Result<Vec<u8>, String> {
    crate::watch::read_bounded(file, MAX_KEY_BYTES).map_err(|error| format!("cannot be read: {error}"))
}

fn private_key(text: &[u8]) -> Result<Ed25519KeyPair, String> {
    const FIX: &str = "make one with `millwork-dock key signing new`";
    let der = PrivatePkcs8KeyDer::from_pem_slice(text)
        .map_err(|_| format!("holds no PEM private key (PKCS #8); {FIX}"))?;
    Ed25519KeyPair::from_pkcs8_maybe_unchecked(der.secret_pkcs8_der())
        .map_err(|_| format!("is no Ed25519 key; {FIX}"))
}

/// The public half of a private or public key.
fn any_key(text: &[u8]) -> Result<PublicKey, String> {
    if let Ok(public) = SubjectPublicKeyInfoDer::from_pem_slice(text) {
        let bytes = public.as_ref().strip_prefix(&SPKI_PREFIX);
        let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
        return bytes.map(PublicKey).ok_or_else(|| "is no Ed25519 key".to_owned());
    }
    PublicKey::of(&private_key(text)?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn keys() -> (tempfile::TempDir, Signing, PublicKey) {
        let directory = tempfile::tempdir().unwrap();
        let (pem, public) = new_key().unwrap();
        let file = directory.path().join("signing.pem");
        std::fs::write(&file, pem).unwrap();
        let signing = Signing::load(&file, &[]).unwrap();
        (directory, signing, public)
    }

    #[test]
    fn a_signature_holds_for_its_bytes_alone() {
        let (_directory, signing, public) = keys();
        let jws = signing.sign(b"{\"n\":1.50}");
        let message = format!("{}.{}", jws.protected, jws.payload);
        let signature = URL_SAFE_NO_PAD.decode(&jws.signature).unwrap();
        assert!(public.verifies(message.as_bytes(), &signature));
        assert!(!public.verifies(message.replace('.', "..").as_bytes(), &signature));
        let (_, other) = new_key().unwrap();
        assert!(!other.verifies(message.as_bytes(), &signature));
    }

    /// The key and thumbprint of RFC 8037, appendix A.
    #[test]
    fn the_key_of_the_standard_has_the_thumbprint_of_the_standard() {
        let key = PublicKey::from_jwk_x("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo").unwrap();
        assert_eq!(key.thumbprint(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
    }

    #[test]
    fn retired_keys_stay_listed_whether_whole_or_public() {
        let directory = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = directory.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let ((new, new_public), (old, old_public), (_, older)) =
            (new_key().unwrap(), new_key().unwrap(), new_key().unwrap());
        let public = pem("PUBLIC KEY", &[&SPKI_PREFIX[..], &older.0].concat());
        let retired = [file("old.pem", &old), file("older.pem", &public), file("again.pem", &new)];
        let signing = Signing::load(&file("new.pem", &new), &retired).unwrap();
        let expected = [new_public, old_public, older].map(|key| key.jwk()).join(",");
        assert_eq!(signing.jwks(), format!("{{\"keys\":[{expected}]}}"));
    }

    #[test]
    fn what_is_no_key_is_refused_without_showing_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("key");
        for text in
            ["", "mwdock_secret", "-----BEGIN PRIVATE KEY-----\nbXdkb2Nr\n-----END PRIVATE KEY-----\n"]
        {
            std::fs::write(&path, text).unwrap();
            let told = Signing::load(&path, &[]).err().unwrap().to_string();
            assert!(told.contains("key signing new") && !told.contains("mwdock_"), "{told}");
        }
        assert!(Signing::load(&directory.path().join("none"), &[]).is_err());
    }
}
