//! Who is it? The proofs that a policy names, made ready to be given.
//!
//! What does not verify is nobody, and never becomes a key: whoever makes up tokens is counted by the address, as one
//! client. Nothing secret is printed or handed on; what is known of a request is a user and a plan.

mod api_key;
mod clock;
mod credential;
mod header;
mod invalid;
#[cfg(feature = "jwt")]
mod jwt;
mod name;
mod remembered;
mod verifying;

use std::net::IpAddr;
use std::sync::Arc;

use aforo_core::{Clock, Moment};
pub use aforo_policy::InvalidProof;
use aforo_policy::{Identify, Identity, Jwt, OnlyLine, Proof};

use api_key::KnownKeys;
use clock::WallClock;
use header::NamedHeader;
#[cfg(feature = "jwt")]
use jwt::Tokens;
pub use verifying::Verifying;

/// Makes proofs ready: reads their keys and says what finds out who a request is from; `None` if there is no proof.
///
/// Tokens are verified by the system's clock.
///
/// # Errors
///
/// What is wrong with each proof that cannot be given by anyone.
pub fn compile(proofs: &[Proof]) -> Result<Option<Arc<dyn Identify>>, Vec<InvalidProof>> {
    compile_with(proofs, Arc::new(WallClock))
}

/// [`compile`], with a clock of one's own.
///
/// # Errors
///
/// As [`compile`].
pub fn compile_with(proofs: &[Proof], clock: Arc<dyn Clock>) -> Result<Option<Arc<dyn Identify>>, Vec<InvalidProof>> {
    let mut ways: Vec<Way> = Vec::new();
    let mut invalid = Vec::new();
    for (at, proof) in proofs.iter().enumerate() {
        let made = match proof {
            Proof::Jwt(jwt) => tokens(jwt, &mut ways),
            Proof::ApiKey(keys) => KnownKeys::new(keys).map(|keys| ways.push(Way::Key(keys))),
            Proof::Header(name) => NamedHeader::new(name).map(|header| ways.push(Way::Header(header))),
            _ => Err(invalid::Flaw::new("nothing here knows this proof", "use a jwt, an api_key or a header")),
        };
        invalid.extend(made.err().map(|flaw| flaw.of(at)));
    }
    match (invalid.is_empty(), ways.is_empty()) {
        (false, _) => Err(invalid),
        (true, true) => Ok(None),
        (true, false) => Ok(Some(Arc::new(Proofs { ways: ways.into(), clock: Now(clock) }))),
    }
}

/// Issuers that follow one another share what is remembered, so that a token of the second is found as fast as one of
/// the first.
#[cfg(feature = "jwt")]
fn tokens(jwt: &Jwt, ways: &mut Vec<Way>) -> Result<(), invalid::Flaw> {
    if let Some(Way::Token(tokens)) = ways.last_mut() {
        tokens.add(jwt)
    } else {
        Tokens::new(jwt).map(|tokens| ways.push(Way::Token(tokens)))
    }
}

#[cfg(not(feature = "jwt"))]
fn tokens(_: &Jwt, _: &mut [Way]) -> Result<(), invalid::Flaw> {
    Err(invalid::Flaw::new("this program was built without tokens", "build it with the feature `jwt`"))
}

/// The proofs of a policy, in its order.
#[derive(Debug)]
struct Proofs {
    ways: Box<[Way]>,
    clock: Now,
}

#[derive(Debug)]
enum Way {
    #[cfg(feature = "jwt")]
    Token(Tokens),
    Key(KnownKeys),
    Header(NamedHeader),
}

impl Identify for Proofs {
    #[cfg_attr(not(feature = "jwt"), expect(unused_variables, reason = "only a token is expensive to refuse"))]
    fn identify(&self, line: &OnlyLine<'_>, address: Option<IpAddr>, from_trusted_proxy: bool) -> Option<Identity> {
        self.ways.iter().find_map(|way| match way {
            #[cfg(feature = "jwt")]
            Way::Token(tokens) => tokens.identify(line, address, &self.clock),
            Way::Key(keys) => keys.identify(line),
            Way::Header(header) if from_trusted_proxy => header.identify(line, &self.clock),
            Way::Header(_) => None,
        })
    }

    fn steps(&self, line: &OnlyLine<'_>, from_trusted_proxy: bool) -> Vec<String> {
        let mut steps = Vec::new();
        for way in &self.ways {
            let step = match way {
                #[cfg(feature = "jwt")]
                Way::Token(tokens) => tokens.step(line, &self.clock),
                Way::Key(keys) => keys.step(line),
                Way::Header(header) => header.step(line, from_trusted_proxy),
            };
            match step {
                Ok(verified) => {
                    steps.push(verified);
                    break;
                }
                Err(refused) => steps.push(refused),
            }
        }
        steps
    }
}

/// A clock that is read only by a proof that needs the time.
struct Now(Arc<dyn Clock>);

impl Now {
    fn now(&self) -> Moment {
        self.0.now()
    }
}

impl std::fmt::Debug for Now {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.now())
    }
}
