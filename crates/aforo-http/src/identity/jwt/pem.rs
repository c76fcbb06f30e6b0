//! A public key in PEM (RFC 7468): alone, or in a certificate.

use rustls_pki_types::pem::{PemObject as _, SectionKind};
use rustls_pki_types::{CertificateDer, alg_id};
use webpki::EndEntityCert;

use super::super::invalid::Flaw;
use super::algorithm::Curve;
use super::der::{BIT_STRING, INTEGER, SEQUENCE, element, only};
use super::key::Key;

/// What is right, whatever is wrong.
const HELP: &str = "give one `PUBLIC KEY` or one `CERTIFICATE`; of a private key, `openssl pkey -pubout` makes one";

/// Reads the one key of a text.
pub(super) fn read(text: &[u8]) -> Result<Key, Flaw> {
    let mut sections = Vec::new();
    for section in <(SectionKind, Vec<u8>)>::pem_slice_iter(text) {
        sections.push(section.map_err(|_| Flaw::new("the PEM text is damaged", HELP))?);
    }
    match sections.as_slice() {
        [] => Err(Flaw::new("there is no key in the PEM text", HELP)),
        [(SectionKind::PublicKey, key)] => public_key(key),
        [(SectionKind::Certificate, certificate)] => of_certificate(certificate),
        [(SectionKind::PrivateKey | SectionKind::RsaPrivateKey | SectionKind::EcPrivateKey, _)] => {
            Err(Flaw::new("this is a private key, which whoever only verifies should not have", HELP))
        }
        [_] => Err(Flaw::new("the PEM text holds something else than a key", HELP)),
        _ => Err(Flaw::new(
            format!("the PEM text holds {} things, and which of them signs is not said", sections.len()),
            "give one alone, without its chain; several keys go into a JWKS file",
        )),
    }
}

/// The key in a certificate. Its dates and its issuer are not looked at: it is trusted because the policy names it.
fn of_certificate(certificate: &[u8]) -> Result<Key, Flaw> {
    let certificate = CertificateDer::from(certificate);
    match EndEntityCert::try_from(&certificate) {
        Ok(certificate) => public_key(&certificate.subject_public_key_info()),
        Err(error) => Err(Flaw::new(format!("the certificate cannot be read ({error})"), HELP)),
    }
}

/// A SubjectPublicKeyInfo (RFC 5280 section 4.1.2.7).
fn public_key(der: &[u8]) -> Result<Key, Flaw> {
    let (algorithm, key) = parts(der).ok_or_else(|| Flaw::new("the public key is damaged", HELP))?;
    if algorithm == alg_id::RSA_ENCRYPTION.as_ref() {
        let (modulus, exponent) = numbers(key).ok_or_else(|| Flaw::new("the RSA key is damaged", HELP))?;
        Key::rsa(modulus, exponent)
    } else if algorithm == alg_id::ECDSA_P256.as_ref() {
        Key::point(Curve::P256, key)
    } else if algorithm == alg_id::ECDSA_P384.as_ref() {
        Key::point(Curve::P384, key)
    } else if algorithm == alg_id::ED25519.as_ref() {
        Key::point(Curve::Ed25519, key)
    } else {
        Err(Flaw::new("the public key is of a kind that is not known here", "use RSA, P-256, P-384 or Ed25519"))
    }
}

/// The algorithm and the bits.
fn parts(der: &[u8]) -> Option<(&[u8], &[u8])> {
    let (algorithm, rest) = element(SEQUENCE, only(SEQUENCE, der)?)?;
    let (unused, key) = only(BIT_STRING, rest)?.split_first()?;
    (*unused == 0).then_some((algorithm, key))
}

/// The modulus and the exponent of an RSAPublicKey (RFC 8017 appendix A.1.1).
fn numbers(der: &[u8]) -> Option<(&[u8], &[u8])> {
    let (modulus, rest) = element(INTEGER, only(SEQUENCE, der)?)?;
    Some((modulus, only(INTEGER, rest)?))
}
