//! limitador's library with its storage in memory.

use std::collections::HashMap;
use std::hint::black_box;

use limitador::RateLimiter;
use limitador::limit::{Context, Limit, Namespace};

use crate::{KEYS, Limiter, Terms};

pub(crate) struct Limitador {
    limiter: RateLimiter,
    namespace: Namespace,
}

impl Limiter for Limitador {
    type Desk = ();

    fn new(terms: Terms) -> Limitador {
        // Twice the keys: where its cache is full it forgets live counters.
        let limiter = RateLimiter::new(2 * KEYS as u64);
        let variable = "user".to_owned().try_into().expect("an expression");
        let seconds = terms.period.as_secs();
        limiter.add_limit(Limit::new("api", terms.burst.into(), seconds, Vec::new(), vec![variable]));
        Limitador { limiter, namespace: "api".into() }
    }

    #[inline]
    fn ask(&self, (): &mut (), key: &str) {
        let context = Context::from(HashMap::from([("user".to_owned(), key.to_owned())]));
        let answer = self.limiter.check_rate_limited_and_update(&self.namespace, &context, 1);
        if let Ok(result) = answer {
            black_box((result.limited, result.counters.first().and_then(|counter| counter.remaining())));
        }
    }
}
