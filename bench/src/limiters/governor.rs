//! governor, keyed, with the middleware that tells what remains.

use std::hint::black_box;
use std::num::NonZeroU32;

use governor::clock::{Clock, DefaultClock};
use governor::middleware::StateInformationMiddleware;
use governor::state::keyed::DefaultKeyedStateStore;
use governor::{Quota, RateLimiter};

use crate::{Limiter, Terms};

pub(crate) struct Governor {
    limiter: RateLimiter<String, DefaultKeyedStateStore<String>, DefaultClock, StateInformationMiddleware>,
    clock: DefaultClock,
}

impl Limiter for Governor {
    /// Its look-up wants a `&String`: a caller that cares keeps one.
    type Desk = String;

    fn new(terms: Terms) -> Governor {
        let burst = NonZeroU32::new(terms.burst).expect("a burst");
        let quota = Quota::with_period(terms.period).expect("a period").allow_burst(burst);
        let limiter = RateLimiter::keyed(quota).with_middleware::<StateInformationMiddleware>();
        Governor { clock: limiter.clock().clone(), limiter }
    }

    #[inline]
    fn ask(&self, desk: &mut String, key: &str) {
        desk.clear();
        desk.push_str(key);
        match self.limiter.check_key(desk) {
            Ok(state) => {
                black_box(state.remaining_burst_capacity());
            }
            Err(refused) => {
                black_box(refused.wait_time_from(self.clock.now()));
            }
        }
    }
}
