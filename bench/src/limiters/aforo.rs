//! aforo's memory store: allowed, remaining, wait and reset.

use std::hint::black_box;

use aforo_core::{Algorithm, Hit, Hits, Key, Op, Quota, Verdict};
use aforo_memory::MemoryStore;

use crate::{Limiter, Terms};

/// Asked about one rule, as the others are.
pub(crate) struct Aforo {
    store: MemoryStore,
    quota: Quota,
}

/// Asked as by the gateway, where a request may meet several rules; it meets one.
pub(crate) struct AforoHits(Aforo);

impl Aforo {
    #[inline]
    fn hit(&self, key: &str) -> Option<Hit> {
        Some(Hit::new(Key::new(b"api", key.as_bytes()).ok()?, self.quota))
    }
}

#[inline]
fn read(verdict: &Verdict) {
    black_box((verdict.remaining, verdict.wait, verdict.reset_micros));
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
        let Some(hit) = self.hit(key) else { return };
        let (verdict, _) = self.store.decide_one(Op::Take, &hit);
        black_box(verdict.allowed());
        read(&verdict);
    }
}

impl Limiter for AforoHits {
    type Desk = ();

    fn new(terms: Terms) -> AforoHits {
        AforoHits(Aforo::new(terms))
    }

    #[inline]
    fn ask(&self, (): &mut (), key: &str) {
        let Some(hit) = self.0.hit(key) else { return };
        let decision = self.0.store.decide_now(Op::Take, &Hits::one(hit));
        black_box(decision.allowed());
        decision.verdicts().for_each(read);
    }
}
