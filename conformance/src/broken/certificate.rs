//! A certificate made at start, wrong where the fault says so.

use std::time::{Duration, SystemTime};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, IsCa, KeyPair,
    KeyUsagePurpose,
};

use super::fault::Fault;

const DAY: Duration = Duration::from_hours(24);

/// A certificate, its key, and the authority that a client is given to trust.
pub(super) struct Made {
    pub(super) certificate: Vec<u8>,
    /// PKCS #8.
    pub(super) key: Vec<u8>,
    pub(super) authority_pem: String,
}

/// Makes a certificate for `localhost`.
pub(super) fn make(fault: Fault) -> Result<Made, rcgen::Error> {
    let authority = authority()?;
    let stranger = if fault == Fault::UntrustedCertificate { Some(self::authority()?) } else { None };
    let host = if fault == Fault::WrongName { "elsewhere.example" } else { "localhost" };
    let mut leaf = CertificateParams::new([host.to_owned(), "127.0.0.1".to_owned()])?;
    if fault == Fault::WrongName {
        leaf = CertificateParams::new([host.to_owned()])?;
    }
    let now = SystemTime::now();
    leaf.not_before = (now - 30 * DAY).into();
    leaf.not_after = if fault == Fault::ExpiredCertificate { now - DAY } else { now + 30 * DAY }.into();
    let key = KeyPair::generate()?;
    let certificate = leaf.signed_by(&key, stranger.as_ref().unwrap_or(&authority))?;
    Ok(Made {
        certificate: certificate.der().to_vec(),
        key: key.serialize_der(),
        authority_pem: authority.pem(),
    })
}

fn authority() -> Result<CertifiedIssuer<'static, KeyPair>, rcgen::Error> {
    let mut params = CertificateParams::default();
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, "dock-conformance, made at start");
    params.distinguished_name = name;
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    CertifiedIssuer::self_signed(params, KeyPair::generate()?)
}
