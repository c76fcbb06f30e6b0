//! The plainest store keeps every promise: so the suite can be kept.

use aforo_core::{ManualClock, Moment};
use aforo_testkit::PlainStore;
use aforo_testkit::conformance::Harness;

struct Plain {
    clock: &'static ManualClock,
    store: PlainStore<&'static ManualClock>,
}

impl Harness for Plain {
    type Store = PlainStore<&'static ManualClock>;

    fn start() -> Plain {
        let clock: &ManualClock = Box::leak(Box::default());
        Plain { clock, store: PlainStore::new(clock) }
    }

    fn store(&self) -> &Self::Store {
        &self.store
    }

    fn set_clock(&self, now: Moment) {
        self.clock.set(now);
    }
}

aforo_testkit::store_conformance!(Plain);
