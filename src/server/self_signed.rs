//! A certificate made at start, for the quickstart and for tests.
//!
//! It is signed by an authority that exists only while this function runs: clients are given the authority's
//! certificate to trust, and nobody, not even the server, can sign a second one with it.

use std::time::{Duration, SystemTime};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, ExtendedKeyUsagePurpose,
    IsCa, KeyPair, KeyUsagePurpose,
};

const DAY: Duration = Duration::from_hours(24);
/// Short of what clients refuse as too long (825 and 398 days).
const VALID: Duration = Duration::from_hours(24 * 365);

/// A certificate with its key, and the authority that signed it.
pub(super) struct SelfSigned {
    pub(super) certificate: Vec<u8>,
    /// PKCS #8.
    pub(super) key: Vec<u8>,
    pub(super) authority_pem: String,
}

/// Makes a certificate for `names`: DNS names and IP addresses.
///
/// # Errors
/// A name that cannot be in a certificate.
pub(super) fn make(names: &[String]) -> Result<SelfSigned, rcgen::Error> {
    let mut authority = CertificateParams::default();
    authority.distinguished_name = name("Millwork dock, made at start");
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    let authority = CertifiedIssuer::self_signed(valid_now(authority), KeyPair::generate()?)?;

    let mut leaf = CertificateParams::new(names)?;
    leaf.distinguished_name = name("Millwork dock");
    leaf.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    leaf.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    leaf.use_authority_key_identifier_extension = true;
    let key = KeyPair::generate()?;
    let certificate = valid_now(leaf).signed_by(&key, &authority)?;
    Ok(SelfSigned {
        certificate: certificate.der().to_vec(),
        key: key.serialize_der(),
        authority_pem: authority.pem(),
    })
}

fn name(common: &str) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, common);
    name
}

/// From yesterday, for clients whose clock is behind.
fn valid_now(mut params: CertificateParams) -> CertificateParams {
    let now = SystemTime::now();
    params.not_before = (now - DAY).into();
    params.not_after = (now + VALID).into();
    params
}
