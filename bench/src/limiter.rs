//! What is measured.

use std::time::Duration;

use crate::limiters::{Aforo, AforoHits, Floor, Formatting, Governor, Limitador, MutexMap, Throttlecrab};

/// A quota in terms that every limiter has: one unit each `period`, `burst` of them at once.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// How often a unit comes back, in whole seconds.
    pub period: Duration,
    /// The most units that can be had at once.
    pub burst: u32,
}

impl Terms {
    /// Never exhausted while it is measured, and never as new.
    pub const ALLOWED: Terms = Terms { period: Duration::from_secs(60), burst: 70_000_000 };
    /// Exhausted by the first request.
    pub const REFUSED: Terms = Terms { period: Duration::from_secs(3600), burst: 1 };
    /// As new three seconds after a request.
    pub const IDLING: Terms = Terms { period: Duration::from_secs(3), burst: 10 };
}

/// A rate limiter with a quota for each key.
pub trait Limiter: Sync {
    /// What a caller keeps from request to request, so that asking allocates no more than it must.
    type Desk: Default;

    /// A limiter with no keys.
    fn new(terms: Terms) -> Self;

    /// Takes a unit of `key`, and reads everything that the answer says.
    fn ask(&self, desk: &mut Self::Desk, key: &str);
}

/// Something that can be found out about any limiter.
pub trait Measure {
    /// What is found out.
    type Found;

    /// Finds it out.
    fn of<L: Limiter>(&self) -> Self::Found;
}

/// The limiters, in the order of the report.
pub const NAMES: [&str; 8] =
    ["key formatting", "floor", "aforo", "aforo, hits", "governor", "throttlecrab", "limitador", "mutex map"];

/// Measures the limiter of that name.
pub fn of_limiter<M: Measure>(name: &str, measure: &M) -> Option<M::Found> {
    Some(match name {
        "key formatting" => measure.of::<Formatting>(),
        "floor" => measure.of::<Floor>(),
        "aforo" => measure.of::<Aforo>(),
        "aforo, hits" => measure.of::<AforoHits>(),
        "governor" => measure.of::<Governor>(),
        "throttlecrab" => measure.of::<Throttlecrab>(),
        "limitador" => measure.of::<Limitador>(),
        "mutex map" => measure.of::<MutexMap>(),
        _ => return None,
    })
}
