//! Any bytes are keys, or refused with what is wrong and what would be right.
#![no_main]

use std::time::Duration;

use aforo_http::identity::compile;
use aforo_policy::{Jwt, JwtKey, Proof};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    for key in [JwtKey::Jwks(text.to_vec()), JwtKey::Pem(text.to_vec()), JwtKey::Secret(text.to_vec())] {
        let leeway = Duration::ZERO;
        let jwt = Jwt { key, claim: "sub".to_owned(), plan: None, issuer: None, audience: None, leeway };
        match compile(&[Proof::Jwt(jwt)]) {
            Ok(identify) => {
                let identify = identify.expect("a proof");
                // The token without a signature of RFC 7519 section 6.1, named as another algorithm than none.
                for head in
                    ["eyJhbGciOiJub25lIn0", "eyJhbGciOiJIUzI1NiJ9", "eyJhbGciOiJSUzI1NiJ9", "eyJhbGciOiJFUzI1NiJ9"]
                {
                    let line = format!("Bearer {head}.eyJzdWIiOiJhbmEiLCJleHAiOjk5OTk5OTk5OTl9.");
                    assert_eq!(identify.identify(&|_| Some(line.as_bytes()), None, true), None);
                }
            }
            Err(mistakes) => {
                assert_eq!(mistakes.len(), 1);
                assert!(!mistakes[0].message.is_empty() && !mistakes[0].help.is_empty());
            }
        }
    }
});
