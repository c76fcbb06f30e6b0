//! aforo's memory store: allowed, remaining, wait and reset.

use std::hint::black_box;

use aforo_core::{Algorithm, Hit, Hits, Key, Op, Quota};
use aforo_memory::MemoryStore;

use crate::{Limiter, Terms};

pub(crate) struct Aforo {
    store: MemoryStore,
    quota: Quota,
}

impl Limiter for Aforo {
    type Desk = ();

    fn new(terms: Terms) -> Aforo {
        let quota = Quota::new(1, terms.period).expect("whole seconds");
        let quota = quota.with_algorithm(Algorithm::TokenBucket { burst: terms.burst }).expect("an exact quota");
        // Room for all keys, and for those that keep the store awake while it idles.
        let most = std::num::NonZeroUsize::new(crate::KEYS + 1_000).expect("not zero");
        Aforo { store: MemoryStore::new().max_keys(most), quota }
    }

    #[inline]
    fn ask(&self, (): &mut (), key: &str) {
        let Ok(key) = Key::new(b"api", key.as_bytes()) else { return };
        let hits = Hits::one(Hit::new(key, self.quota));
        let decision = self.store.decide_now(Op::Take, &hits);
        black_box(decision.allowed());
        for verdict in decision.verdicts() {
            black_box((verdict.remaining, verdict.wait, verdict.reset_micros));
        }
    }
}
