//! The store that a policy names: in this process, or in Redis, with one in this process that stands in.

use std::future::{Future, Ready, ready};
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use aforo_core::{Decision, Hits, Op, Store, StoreError};
use aforo_memory::MemoryStore;
use aforo_policy::{InvalidStore, Limiter, Policy, StoreSettings};
use aforo_redis::{Address, RedisStore, Settings};

/// Where counters are kept, as a policy file says.
///
/// ```no_run
/// use std::path::Path;
///
/// use aforo::{Counters, File, Process};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let text = std::fs::read_to_string("aforo.yaml")?;
/// let file = File::read("aforo.yaml", &text, &Process::beside(Path::new("aforo.yaml")))?;
/// let limiter = Counters::open(&file.store)?.limiter(file.policy);
/// # let _ = limiter;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a process has one")]
pub enum Counters {
    /// In this process.
    Memory(MemoryStore),
    /// In Redis, for many processes.
    Redis {
        /// There.
        store: RedisStore,
        /// In this process, while Redis does not answer.
        stand_in: StandIn,
    },
}

/// A store in memory that is asked when the first one does not answer. Clones are the same store.
#[derive(Clone, Debug)]
pub struct StandIn(Arc<MemoryStore>);

impl Counters {
    /// A store as the settings say. One in Redis connects in the background, on the runtime that this is called in.
    ///
    /// # Errors
    ///
    /// What is wrong with the settings, and what would be right.
    pub fn open(settings: &StoreSettings) -> Result<Counters, InvalidStore> {
        let memory = MemoryStore::new().max_keys(max_keys(settings)?);
        Ok(match redis_settings(settings)? {
            None => Counters::Memory(memory),
            Some(settings) => Counters::Redis { store: RedisStore::new(settings), stand_in: StandIn(Arc::new(memory)) },
        })
    }

    /// Whether a store could be opened by those settings, as far as that can be known without a connection.
    ///
    /// # Errors
    ///
    /// What is wrong with them, and what would be right.
    pub fn examine(settings: &StoreSettings) -> Result<(), InvalidStore> {
        max_keys(settings)?;
        match redis_settings(settings)? {
            Some(settings) => {
                settings.examine().map_err(|invalid| because("url", invalid.reason().to_owned(), ONE_CA_FILE))
            }
            None => Ok(()),
        }
    }

    /// The settings of a store that is named in place of the file's, on the file's terms where that is of the same kind.
    ///
    /// # Errors
    ///
    /// What is wrong with the name, and what would be right.
    pub fn named(name: &str, file: &StoreSettings) -> Result<StoreSettings, InvalidStore> {
        let named = StoreSettings::named(name)
            .map_err(|invalid| because("url", invalid.message().to_owned(), invalid.help()))?;
        let settings = match (named, file.clone()) {
            (StoreSettings::Redis { url, .. }, StoreSettings::Redis { timeout, prefix, connections, max_keys, .. }) => {
                StoreSettings::Redis { url, timeout, prefix, connections, max_keys }
            }
            (StoreSettings::Memory { .. }, memory @ StoreSettings::Memory { .. }) => memory,
            (named, _) => named,
        };
        Counters::examine(&settings).map(|()| settings)
    }

    /// A limiter that counts here.
    pub fn limiter(self, policy: Policy) -> Limiter<Counters> {
        let stand_in = match &self {
            Counters::Memory(_) => None,
            Counters::Redis { stand_in, .. } => Some(stand_in.clone()),
        };
        let limiter = Limiter::new(policy, self);
        match stand_in {
            Some(stand_in) => limiter.with_fallback(stand_in),
            None => limiter,
        }
    }

    /// The counters in this process: all there are, or those that stand in.
    pub fn memory(&self) -> &MemoryStore {
        match self {
            Counters::Memory(store) => store,
            Counters::Redis { stand_in: StandIn(store), .. } => store,
        }
    }

    /// The store in Redis, if that is where counters are kept.
    pub fn redis(&self) -> Option<&RedisStore> {
        match self {
            Counters::Memory(_) => None,
            Counters::Redis { store, .. } => Some(store),
        }
    }
}

/// The most counters that are kept in this process.
fn max_keys(settings: &StoreSettings) -> Result<NonZeroUsize, InvalidStore> {
    let (StoreSettings::Memory { max_keys } | StoreSettings::Redis { max_keys, .. }) = settings else {
        let message = "this version does not know such a store".to_owned();
        return Err(because("url", message, "take `memory`, or Redis"));
    };
    let none = || because("max_keys", "no counter could be kept, for max_keys is 0".to_owned(), "take at least 1");
    NonZeroUsize::new(*max_keys).ok_or_else(none)
}

const ONE_CA_FILE: &str =
    "name a PEM file that this process may read, or leave ca_file out to trust the system's authorities";

fn because(key: &'static str, message: String, help: &str) -> InvalidStore {
    InvalidStore { key, message, help: help.to_owned() }
}

/// The settings of a store in Redis; `None` if it is in memory.
///
/// # Errors
///
/// What is wrong with the address or the prefix.
pub fn redis_settings(settings: &StoreSettings) -> Result<Option<Settings>, InvalidStore> {
    let StoreSettings::Redis { url, timeout, prefix, connections, .. } = settings else { return Ok(None) };
    let address = url.expose().parse::<Address>();
    let address = address.map_err(|invalid| because("url", format!("`{url}` cannot be used"), invalid.reason()))?;
    let settings = Settings::new(address).timeout(*timeout).connections(*connections).prefix(prefix.clone());
    settings.map(Some).map_err(|invalid| because("prefix", invalid.to_string(), "take for example `aforo`"))
}

impl Store for Counters {
    type Deciding = Deciding;

    #[inline]
    fn decide(&self, op: Op, hits: &Hits) -> Deciding {
        match self {
            Counters::Memory(store) => Deciding::Memory(store.decide(op, hits)),
            Counters::Redis { store, .. } => Deciding::Redis(store.decide(op, hits)),
        }
    }

    #[inline]
    fn always_answers(&self) -> bool {
        matches!(self, Counters::Memory(_))
    }
}

/// A decision of either store.
pub enum Deciding {
    /// It is there.
    Memory(Ready<Result<Decision, StoreError>>),
    /// It is on its way.
    Redis(aforo_redis::Deciding),
}

impl Future for Deciding {
    type Output = Result<Decision, StoreError>;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match self.get_mut() {
            Deciding::Memory(deciding) => Pin::new(deciding).poll(context),
            Deciding::Redis(deciding) => Pin::new(deciding).poll(context),
        }
    }
}

impl Store for StandIn {
    type Deciding = Ready<Result<Decision, StoreError>>;

    fn decide(&self, op: Op, hits: &Hits) -> Self::Deciding {
        let StandIn(store) = self;
        ready(Ok(store.decide_now(op, hits)))
    }

    fn always_answers(&self) -> bool {
        true
    }
}
