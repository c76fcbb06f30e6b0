//! The suite that every store must pass, on a real Redis. The scripts are told the time, all else is as in production.
// A panic is how a test fails.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::time::Duration;

use aforo_core::{Clock, ManualClock, Moment};
use aforo_redis::{RedisStore, Settings};
use aforo_testkit::conformance::Harness;
use aforo_testkit::servers::RedisServer;
use aforo_testkit::store_conformance;
use tokio::runtime::Runtime;

struct OnRedis {
    store: RedisStore,
    clock: Arc<Hands>,
    runtime: Runtime,
    _server: RedisServer,
}

/// A clock that the store and the test share.
#[derive(Default)]
struct Hands(ManualClock);

struct Shown(Arc<Hands>);

impl Clock for Shown {
    fn now(&self) -> Moment {
        self.0.0.now()
    }
}

impl Harness for OnRedis {
    type Store = RedisStore;

    fn start() -> OnRedis {
        let runtime = Runtime::new().unwrap();
        let server = RedisServer::start();
        let clock = Arc::<Hands>::default();
        let settings = Settings::new(server.url().parse().unwrap()).timeout(Duration::from_secs(5));
        let store = runtime.block_on(async { RedisStore::with_clock(settings, Shown(Arc::clone(&clock))) });
        OnRedis { store, clock, runtime, _server: server }
    }

    fn store(&self) -> &RedisStore {
        &self.store
    }

    fn set_clock(&self, now: Moment) {
        self.clock.0.set(now);
    }

    fn wait<F: Future>(&self, deciding: F) -> F::Output {
        self.runtime.block_on(deciding)
    }
}

store_conformance!(OnRedis);
