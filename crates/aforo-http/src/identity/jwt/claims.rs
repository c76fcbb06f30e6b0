//! What a token must say (RFC 7519 section 4.1), and what is taken from it.

use std::sync::Arc;
use std::time::Duration;

use aforo_core::Moment;
use aforo_policy::{Identity, Jwt};
use serde_json::{Map, Value};

use super::super::name::name;
use super::Verified;
use super::rejection::Rejection;

/// What a policy asks of the claims.
pub(super) struct Claims {
    user: String,
    plan: Option<String>,
    issuer: Option<String>,
    audience: Option<String>,
    /// Microseconds.
    leeway: u64,
}

impl Claims {
    pub(super) fn new(jwt: &Jwt) -> Claims {
        let Jwt { claim, plan, issuer, audience, leeway, .. } = jwt.clone();
        Claims { user: claim, plan, issuer, audience, leeway: micros(leeway) }
    }

    /// Whom the claims name, and until when, if they say what they must.
    ///
    /// A token must expire. One that does not would be good for ever in the hands of whoever finds it; and it would
    /// be remembered for ever.
    pub(super) fn look(&self, claims: &Map<String, Value>, now: Moment) -> Result<Verified, Rejection> {
        let issuer = claims.get("iss").and_then(Value::as_str);
        if self.issuer.as_deref().is_some_and(|wanted| issuer != Some(wanted)) {
            return Err(Rejection::Issuer);
        }
        if self.audience.as_deref().is_some_and(|wanted| !is_for(claims.get("aud"), wanted)) {
            return Err(Rejection::Audience);
        }
        let expiry = claims.get("exp").and_then(date).ok_or(Rejection::NoExpiry)?;
        let until = expiry.plus_micros(self.leeway);
        if now >= until {
            return Err(Rejection::Expired);
        }
        if let Some(begin) = claims.get("nbf") {
            let begin = date(begin).ok_or(Rejection::NotYet)?;
            if now.plus_micros(self.leeway) < begin {
                return Err(Rejection::NotYet);
            }
        }
        let user = claims.get(&self.user).and_then(text).ok_or(Rejection::NoUser)?;
        let plan = self.plan.as_ref().and_then(|plan| claims.get(plan)).and_then(text);
        Ok(Verified { identity: Identity { user, plan, by: "jwt" }, until })
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Whether the audience, one or several, holds the wanted one.
fn is_for(audience: Option<&Value>, wanted: &str) -> bool {
    match audience {
        Some(Value::String(one)) => one == wanted,
        Some(Value::Array(several)) => several.iter().any(|one| one == wanted),
        _ => false,
    }
}

/// A NumericDate: seconds, perhaps with a fraction.
fn date(value: &Value) -> Option<Moment> {
    let number = value.as_number()?;
    match number.as_u64() {
        Some(seconds) => Some(Moment::EPOCH.plus_micros(seconds.saturating_mul(1_000_000))),
        // The cast saturates: what is before the epoch is at the epoch.
        None => number.as_f64().map(|seconds| Moment::from_micros((seconds * 1e6) as u64)),
    }
}

/// A name, or a whole number in decimal.
fn text(value: &Value) -> Option<Arc<str>> {
    match value {
        Value::String(text) => name(text).ok().map(Arc::from),
        Value::Number(number) if !number.is_f64() => Some(Arc::from(number.to_string())),
        _ => None,
    }
}
