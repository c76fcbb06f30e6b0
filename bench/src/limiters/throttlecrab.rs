//! throttlecrab's library. It is asked through `&mut`, so threads share it behind a lock.

use std::hint::black_box;
use std::sync::Mutex;
use std::time::SystemTime;

use throttlecrab::{PeriodicStore, RateLimiter};

use crate::{KEYS, Limiter, Terms};

pub(crate) struct Throttlecrab {
    limiter: Mutex<RateLimiter<PeriodicStore>>,
    burst: i64,
    seconds: i64,
}

impl Limiter for Throttlecrab {
    type Desk = ();

    fn new(terms: Terms) -> Throttlecrab {
        // Its smallest burst is two requests, as it counts one that is never had.
        let store = PeriodicStore::with_capacity(KEYS);
        let limiter = Mutex::new(RateLimiter::new(store));
        Throttlecrab { limiter, burst: terms.burst.into(), seconds: terms.period.as_secs() as i64 }
    }

    #[inline]
    fn ask(&self, (): &mut (), key: &str) {
        let now = SystemTime::now();
        let mut limiter = self.limiter.lock().expect("nobody panics");
        let answer = limiter.rate_limit(key, self.burst, 1, self.seconds, 1, now);
        drop(limiter);
        if let Ok((allowed, result)) = answer {
            black_box((allowed, result.remaining, result.retry_after, result.reset_after));
        }
    }
}
