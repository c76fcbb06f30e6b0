//! Policies' proofs, tokens to show, and a clock.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use aforo_core::{ManualClock, Moment};
use aforo_http::identity::{InvalidProof, compile_with};
use aforo_policy::{Identify, Identity, Jwt, JwtKey, Proof};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::{hmac, signature};
use rustls_pki_types::PrivatePkcs8KeyDer;
use rustls_pki_types::pem::PemObject as _;
use serde_json::Value;

/// 2027-01-15, in seconds since the epoch: the expiry of what [`TOKENS`] holds.
pub(crate) const EXPIRY: u64 = 1_800_000_000;
pub(crate) const SECRET: &[u8; 64] = b"an HMAC secret of sixty-four bytes, which is enough for SHA-512!";
pub(crate) const RSA_PEM: &[u8] = include_bytes!("keys/rsa.pem");
pub(crate) const RSA_MODULUS: &str = "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL\
    -yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2\
    R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWy\
    uXpoQ";
const RSA_KEY: &[u8] = include_bytes!("keys/rsa.key");
const TOKENS: &str = include_str!("keys/tokens.txt");

pub(crate) fn seconds(seconds: u64) -> Moment {
    Moment::from_millis(seconds * 1000)
}

/// Tokens by that key, whose `sub` names the user; a minute of leeway.
pub(crate) fn jwt(key: JwtKey) -> Jwt {
    Jwt { key, claim: "sub".to_owned(), plan: None, issuer: None, audience: None, leeway: Duration::from_secs(60) }
}

pub(crate) fn secret() -> JwtKey {
    JwtKey::Secret(SECRET.to_vec())
}

pub(crate) fn key_set(keys: Value) -> JwtKey {
    JwtKey::Jwks(serde_json::json!({ "keys": keys }).to_string().into_bytes())
}

pub(crate) fn rsa_member() -> Value {
    serde_json::json!({ "kty": "RSA", "n": RSA_MODULUS, "e": "AQAB" })
}

/// The token that OpenSSL signed by that algorithm.
pub(crate) fn openssl_token(algorithm: &str) -> &'static str {
    let line = TOKENS.lines().find_map(|line| line.split_once(' ').filter(|(name, _)| *name == algorithm));
    line.unwrap().1
}

/// Proofs, and a clock that starts an hour before [`EXPIRY`].
pub(crate) struct Stand {
    identify: Arc<dyn Identify>,
    pub(crate) clock: Arc<ManualClock>,
}

impl Stand {
    pub(crate) fn of(proofs: &[Proof]) -> Stand {
        let clock = Arc::new(ManualClock::at(seconds(EXPIRY - 3600)));
        Stand { identify: compile_with(proofs, clock.clone()).unwrap().unwrap(), clock }
    }

    pub(crate) fn jwt(jwt: Jwt) -> Stand {
        Stand::of(&[Proof::Jwt(jwt)])
    }

    pub(crate) fn at(self, second: u64) -> Stand {
        self.clock.set(seconds(second));
        self
    }

    /// Who a request with those lines is from.
    pub(crate) fn identity(&self, lines: &[(&str, &str)]) -> Option<Identity> {
        let lines: Vec<(&str, &[u8])> = lines.iter().map(|(name, value)| (*name, value.as_bytes())).collect();
        self.of_bytes(&lines, false)
    }

    pub(crate) fn of_bytes(&self, lines: &[(&str, &[u8])], from_trusted_proxy: bool) -> Option<Identity> {
        self.from(None, lines, from_trusted_proxy)
    }

    fn from(&self, address: Option<IpAddr>, lines: &[(&str, &[u8])], from_trusted_proxy: bool) -> Option<Identity> {
        let line = |wanted: &str| {
            let mut values = lines.iter().filter(|(name, _)| *name == wanted).map(|(_, value)| *value);
            values.next().filter(|_| values.next().is_none())
        };
        self.identify.identify(&line, address, from_trusted_proxy)
    }

    /// Whose token it is, shown from that address.
    pub(crate) fn user_at(&self, address: &str, token: &str) -> Option<String> {
        let line = format!("Bearer {token}");
        let identity = self.from(address.parse().ok(), &[("authorization", line.as_bytes())], false)?;
        Some(identity.user.to_string())
    }

    /// Whose token it is, shown in a second of its own, so that patience does not wear.
    pub(crate) fn user_in_time(&self, token: &str) -> Option<String> {
        self.clock.advance(Duration::from_secs(1));
        self.user(token)
    }

    /// Whose token it is.
    pub(crate) fn user(&self, token: &str) -> Option<String> {
        let identity = self.identity(&[("authorization", &format!("Bearer {token}"))])?;
        Some(identity.user.to_string())
    }
}

/// What is wrong with a proof.
pub(crate) fn mistakes(proofs: &[Proof]) -> Vec<InvalidProof> {
    compile_with(proofs, Arc::new(ManualClock::at(seconds(0)))).unwrap_err()
}

pub(crate) fn part(json: &str) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(json)
}

/// A token by HMAC.
pub(crate) fn by_secret(secret: &[u8], head: &str, claims: &str) -> String {
    let signed = format!("{}.{}", part(head), part(claims));
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), signed.as_bytes());
    format!("{signed}.{}", BASE64_URL_SAFE_NO_PAD.encode(tag))
}

/// A token by [`SECRET`], with the head that is usual.
pub(crate) fn token(claims: &str) -> String {
    by_secret(SECRET, r#"{"alg":"HS256","typ":"JWT"}"#, claims)
}

/// A token by the RSA key and SHA-256.
pub(crate) fn by_rsa(head: &str, claims: &str) -> String {
    let der = PrivatePkcs8KeyDer::from_pem_slice(RSA_KEY).unwrap();
    let key = signature::RsaKeyPair::from_pkcs8(der.secret_pkcs8_der()).unwrap();
    let signed = format!("{}.{}", part(head), part(claims));
    let mut made = vec![0; key.public().modulus_len()];
    key.sign(&signature::RSA_PKCS1_SHA256, &SystemRandom::new(), signed.as_bytes(), &mut made).unwrap();
    format!("{signed}.{}", BASE64_URL_SAFE_NO_PAD.encode(made))
}
