//! The suite that every store must pass, on this one.

use aforo_core::{ManualClock, Moment};
use aforo_memory::MemoryStore;
use aforo_testkit::conformance::Harness;
use aforo_testkit::store_conformance;

struct InThisProcess(MemoryStore<ManualClock>);

impl Harness for InThisProcess {
    type Store = MemoryStore<ManualClock>;

    fn start() -> InThisProcess {
        InThisProcess(MemoryStore::with_clock(ManualClock::default()))
    }

    fn store(&self) -> &MemoryStore<ManualClock> {
        &self.0
    }

    fn set_clock(&self, now: Moment) {
        self.0.clock().set(now);
    }
}

store_conformance!(InThisProcess);
