//! A key that tokens are verified with, and what it goes with.

use ring::{hmac, signature};

use super::super::invalid::Flaw;
use super::algorithm::{Algorithm, Curve, Scheme};

/// The least bytes of a secret. RFC 7518 section 3.2 asks for as many as the hash has; what keeps a secret from being
/// guessed is the same for all three, and this many do.
const LEAST_SECRET: usize = 32;
/// The bytes of an RSA modulus: 2048 to 8192 bits.
const MODULUS: std::ops::RangeInclusive<usize> = 256..=1024;

/// A key. It alone decides which algorithms a token may be signed by.
pub(super) struct Key {
    /// What tokens call it.
    pub(super) name: Option<String>,
    /// The one algorithm that it is for, if it says so.
    pub(super) only: Option<Algorithm>,
    material: Material,
}

enum Material {
    Secret(Box<[u8]>),
    Rsa(signature::RsaPublicKeyComponents<Box<[u8]>>),
    Point(Curve, Box<[u8]>),
}

impl Key {
    pub(super) fn secret(secret: &[u8]) -> Result<Key, Flaw> {
        if secret.len() < LEAST_SECRET {
            return Err(Flaw::new(
                format!("the secret has {} bytes and could be guessed from a token", secret.len()),
                format!("use {LEAST_SECRET} random bytes or more, for example `openssl rand -hex 32`"),
            ));
        }
        Ok(Key::of(Material::Secret(secret.into())))
    }

    /// An RSA key of that modulus and exponent, big-endian.
    pub(super) fn rsa(modulus: &[u8], exponent: &[u8]) -> Result<Key, Flaw> {
        let (n, e) = (without_zeros(modulus), without_zeros(exponent));
        if !MODULUS.contains(&n.len()) {
            return Err(Flaw::new(
                format!("the RSA key has {} bits", n.len() * 8),
                "use a key of 2048 to 8192 bits (RFC 7518 section 3.3)",
            ));
        }
        let odd = |number: &[u8]| number.last().is_some_and(|last| last % 2 == 1);
        if !odd(n) || !odd(e) || e == [1] || e.len() > 4 {
            return Err(Flaw::new("the numbers of the RSA key are those of no key", "export the public key again"));
        }
        Ok(Key::of(Material::Rsa(signature::RsaPublicKeyComponents { n: n.into(), e: e.into() })))
    }

    /// A point on a curve: for the NIST curves uncompressed (SEC 1 section 2.3.3), for Ed25519 as in RFC 8032.
    pub(super) fn point(curve: Curve, point: &[u8]) -> Result<Key, Flaw> {
        let fits = match curve {
            Curve::P256 => point.len() == 65 && point.starts_with(&[4]),
            Curve::P384 => point.len() == 97 && point.starts_with(&[4]),
            Curve::Ed25519 => point.len() == 32,
        };
        if !fits {
            let message = format!("the {curve:?} key is no point, or a compressed one");
            return Err(Flaw::new(message, "export the public key again, uncompressed"));
        }
        Ok(Key::of(Material::Point(curve, point.into())))
    }

    fn of(material: Material) -> Key {
        Key { name: None, only: None, material }
    }

    /// Whether a token that says it was signed by this algorithm with the key of that name may have been signed with
    /// this one. A key or a token without a name may be any.
    pub(super) fn fits(&self, algorithm: Algorithm, name: Option<&str>) -> bool {
        let named = name.zip(self.name.as_deref()).is_none_or(|(wanted, own)| wanted == own);
        named && self.only.is_none_or(|only| only == algorithm) && self.works_with(algorithm)
    }

    /// Whether it is the kind of key that the algorithm works with.
    pub(super) fn works_with(&self, algorithm: Algorithm) -> bool {
        match (&self.material, algorithm.scheme()) {
            (Material::Secret(_), Scheme::Secret(_)) | (Material::Rsa(_), Scheme::Rsa(_)) => true,
            (Material::Point(own, _), Scheme::Curve(curve, _)) => *own == curve,
            _ => false,
        }
    }

    /// Whether it signed the message.
    pub(super) fn verifies(&self, algorithm: Algorithm, message: &[u8], signed: &[u8]) -> bool {
        match (&self.material, algorithm.scheme()) {
            (Material::Secret(secret), Scheme::Secret(hash)) => {
                hmac::verify(&hmac::Key::new(hash, secret), message, signed).is_ok()
            }
            (Material::Rsa(key), Scheme::Rsa(how)) => key.verify(how, message, signed).is_ok(),
            (Material::Point(own, point), Scheme::Curve(curve, how)) if *own == curve => {
                signature::UnparsedPublicKey::new(how, point).verify(message, signed).is_ok()
            }
            _ => false,
        }
    }
}

fn without_zeros(number: &[u8]) -> &[u8] {
    let first = number.iter().position(|byte| *byte != 0).unwrap_or(number.len());
    number.get(first..).unwrap_or_default()
}
