//! The servers are real ones. Each test starts its own.

mod alone;
mod cluster;
mod sentinel;

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use crc::{CRC_16_XMODEM, Crc, Table};
use redis::{Script, Value};
use tokio::time::Instant;

use crate::Settings;
use crate::call::Call;
use crate::health::State;
use crate::servers::Servers;
use crate::trouble::Trouble;

const TIMEOUT: Duration = Duration::from_millis(50);

/// What a call may take beyond its deadline, on a machine that does other work too.
const SLACK: Duration = Duration::from_millis(250);

/// A script that counts, so that a call that was run twice is seen.
static SCRIPT: LazyLock<(Arc<str>, String)> = LazyLock::new(|| {
    let text = "local n = redis.call('INCR', KEYS[1]) redis.call('PEXPIRE', KEYS[1], 60000) return n";
    (text.into(), Script::new(text).get_hash().to_owned())
});

fn start(url: &str) -> Servers {
    start_within(url, TIMEOUT)
}

fn start_within(url: &str, timeout: Duration) -> Servers {
    let settings = Settings::new(url.parse().unwrap()).timeout(timeout);
    Servers::start(&settings, |slot| counting(&slot.map_or_else(|| "probe".to_owned(), |slot| key_in(slot, "probe"))))
}

fn counting(key: &str) -> Call {
    let (text, digest) = &*SCRIPT;
    let mut command = redis::cmd("EVALSHA");
    command.arg(digest).arg(1).arg(key);
    Call::new(Arc::clone(text), command, slot_of(key))
}

fn slot_of(key: &str) -> u16 {
    const CHECKSUM: Crc<u16, Table<1>> = Crc::<u16, Table<1>>::new(&CRC_16_XMODEM);
    CHECKSUM.checksum(key.as_bytes()) % 16_384
}

fn key_in(slot: u16, prefix: &str) -> String {
    (0..).map(|n| format!("{prefix}{n}")).find(|key| slot_of(key) == slot).unwrap()
}

/// Counts up once, and fails if that took longer than it may.
async fn count(servers: &Servers, key: &str) -> Result<i64, Trouble> {
    let call = counting(key);
    let asked = Instant::now();
    let answer = servers.call(&call, asked + TIMEOUT).await;
    assert!(asked.elapsed() <= TIMEOUT + SLACK, "took {:?}: {answer:?}", asked.elapsed());
    answer.map(|answer| match answer {
        Value::Int(count) => count,
        other => panic!("{other:?}"),
    })
}

/// Looks every few milliseconds until there is something, and returns it.
async fn eventually<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(Instant::now() < deadline, "not within 20 s: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Asks until there is an answer.
async fn answered(servers: &Servers, key: &str) -> i64 {
    eventually("an answer", async || count(servers, key).await.ok()).await
}

/// Asks until the breaker is open, and returns what it says.
async fn given_up(servers: &Servers, key: &str) -> String {
    eventually("the server is given up", async || {
        let _ = count(servers, key).await;
        match servers.health().state {
            State::Down { trouble, .. } => Some(trouble),
            _ => None,
        }
    })
    .await
}

/// The longest of some calls while the breaker is open.
async fn refused_within(servers: &Servers, key: &str) -> Duration {
    let mut longest = Duration::ZERO;
    for _ in 0..20 {
        let asked = Instant::now();
        assert!(count(servers, key).await.is_err());
        longest = longest.max(asked.elapsed());
    }
    longest
}
