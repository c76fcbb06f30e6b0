//! The algorithms of signatures (RFC 7518 section 3.1, RFC 8037).

use ring::{hmac, signature};

/// An algorithm that a token may be signed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Algorithm {
    Hs256,
    Hs384,
    Hs512,
    Rs256,
    Rs384,
    Rs512,
    Ps256,
    Ps384,
    Ps512,
    Es256,
    Es384,
    EdDsa,
}

/// What kind of key an algorithm works with, and how it verifies.
pub(super) enum Scheme {
    Secret(hmac::Algorithm),
    Rsa(&'static signature::RsaParameters),
    Curve(Curve, &'static dyn signature::VerificationAlgorithm),
}

/// The curve of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Curve {
    P256,
    P384,
    Ed25519,
}

impl Algorithm {
    /// The algorithm of that name. `none` is not one.
    pub(super) fn named(name: &str) -> Option<Algorithm> {
        Some(match name {
            "HS256" => Algorithm::Hs256,
            "HS384" => Algorithm::Hs384,
            "HS512" => Algorithm::Hs512,
            "RS256" => Algorithm::Rs256,
            "RS384" => Algorithm::Rs384,
            "RS512" => Algorithm::Rs512,
            "PS256" => Algorithm::Ps256,
            "PS384" => Algorithm::Ps384,
            "PS512" => Algorithm::Ps512,
            "ES256" => Algorithm::Es256,
            "ES384" => Algorithm::Es384,
            // The second is its name since RFC 9864.
            "EdDSA" | "Ed25519" => Algorithm::EdDsa,
            _ => return None,
        })
    }

    pub(super) fn scheme(self) -> Scheme {
        match self {
            Algorithm::Hs256 => Scheme::Secret(hmac::HMAC_SHA256),
            Algorithm::Hs384 => Scheme::Secret(hmac::HMAC_SHA384),
            Algorithm::Hs512 => Scheme::Secret(hmac::HMAC_SHA512),
            Algorithm::Rs256 => Scheme::Rsa(&signature::RSA_PKCS1_2048_8192_SHA256),
            Algorithm::Rs384 => Scheme::Rsa(&signature::RSA_PKCS1_2048_8192_SHA384),
            Algorithm::Rs512 => Scheme::Rsa(&signature::RSA_PKCS1_2048_8192_SHA512),
            Algorithm::Ps256 => Scheme::Rsa(&signature::RSA_PSS_2048_8192_SHA256),
            Algorithm::Ps384 => Scheme::Rsa(&signature::RSA_PSS_2048_8192_SHA384),
            Algorithm::Ps512 => Scheme::Rsa(&signature::RSA_PSS_2048_8192_SHA512),
            Algorithm::Es256 => Scheme::Curve(Curve::P256, &signature::ECDSA_P256_SHA256_FIXED),
            Algorithm::Es384 => Scheme::Curve(Curve::P384, &signature::ECDSA_P384_SHA384_FIXED),
            Algorithm::EdDsa => Scheme::Curve(Curve::Ed25519, &signature::ED25519),
        }
    }
}
