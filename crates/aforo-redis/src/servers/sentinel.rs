//! Sentinels: they know which server is the primary now.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use aforo_core::StoreErrorKind;
use redis::Value;

use super::dialer::Dialer;
use crate::address::{Address, Login};
use crate::endpoint::Endpoint;
use crate::trouble::{Sign, Trouble};

/// The patience with one of them. There are others.
const LIMIT: Duration = Duration::from_millis(500);

/// Some servers that watch over a service, and name its primary.
///
/// Whether the server that they name takes writes is not asked of it: the probe writes.
pub(super) struct Sentinels {
    endpoints: Vec<Endpoint>,
    service: String,
    dialer: Dialer,
    /// The one that answered last, which is asked first.
    first: AtomicUsize,
}

impl Sentinels {
    pub(super) fn new(address: &Address, service: &str, login: Option<&Login>) -> Sentinels {
        Sentinels {
            endpoints: address.endpoints.clone(),
            service: service.to_owned(),
            dialer: Dialer::to_sentinels(address, login, LIMIT),
            first: AtomicUsize::new(0),
        }
    }

    pub(super) fn service(&self) -> &str {
        &self.service
    }

    /// Asks one after the other.
    pub(super) async fn primary(&self) -> Result<Endpoint, Trouble> {
        let first = self.first.load(Ordering::Relaxed);
        let mut last = Trouble::unreachable("no Sentinel is known");
        for (place, sentinel) in self.endpoints.iter().enumerate().cycle().skip(first).take(self.endpoints.len()) {
            match self.ask(sentinel).await {
                Ok(primary) => {
                    self.first.store(place, Ordering::Relaxed);
                    return Ok(primary);
                }
                Err(trouble) => last = trouble.of(format_args!("Sentinel {sentinel}")),
            }
        }
        Err(last)
    }

    async fn ask(&self, sentinel: &Endpoint) -> Result<Endpoint, Trouble> {
        let mut command = redis::cmd("SENTINEL");
        command.arg("GET-MASTER-ADDR-BY-NAME").arg(&self.service);
        let answer = self.dialer.ask(sentinel, &command).await.map_err(its_own_login)?;
        if answer == Value::Nil {
            let text = format!("it watches over no service named {:?}", self.service);
            return Err(Trouble::new(StoreErrorKind::Other, Sign::Unable, text));
        }
        let named = redis::from_redis_value::<(String, u16)>(answer);
        let (host, port) = named.map_err(|error| {
            Trouble::new(StoreErrorKind::Other, Sign::Unable, format!("its answer is not understood: {error}"))
        })?;
        Ok(Endpoint::new(host, port))
    }
}

/// A Sentinel's login is not the servers', and is written elsewhere.
fn its_own_login(trouble: Trouble) -> Trouble {
    if !trouble.asks_for_password() {
        return trouble;
    }
    let text = "it asks for a password: add ?sentinel_password=PASSWORD to the address (NOAUTH)";
    Trouble::new(StoreErrorKind::Other, Sign::Unable, text)
}
