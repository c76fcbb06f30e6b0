//! The store.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use aforo_core::{
    Clock, Decision, Hit, Hits, Key, MAX_HITS, Moment, Op, Origin, Quota, Store, StoreError, StoreErrorKind,
};

use crate::call::Call;
use crate::counters::{Counter, Counters};
use crate::denials::Denials;
use crate::naming::{Naming, slot};
use crate::question;
use crate::script::Script;
use crate::servers::Servers;
use crate::split;
use crate::trouble::{Sign, Trouble};
use crate::{Health, Settings};

/// Counters in Redis, shared by all processes that use the same servers and the same prefix.
///
/// A request costs one call of a script, whatever it meets, on the server's own clock. In a Cluster, rules that divide
/// their quotas by different facts (one by address, one by user) lie on different servers: then each is asked at once, and
/// where one refuses, what the others granted is given back. So never too much is admitted, and for an instant perhaps too
/// little.
///
/// Clones share everything.
#[derive(Clone)]
pub struct RedisStore {
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    servers: Servers,
    naming: Naming,
    timeout: Duration,
    denials: Denials,
    clock: Option<Arc<dyn Clock>>,
}

impl RedisStore {
    /// A store; it connects in the background, and answers as soon as it can.
    ///
    /// # Panics
    ///
    /// Outside of a Tokio runtime, which its connections live on.
    pub fn new(settings: Settings) -> RedisStore {
        RedisStore::start(settings, None)
    }

    /// A store that tells its servers what time it is: for tests, where time shall stand still. Counters live an hour
    /// longer there.
    ///
    /// # Panics
    ///
    /// Outside of a Tokio runtime.
    pub fn with_clock(settings: Settings, clock: impl Clock + 'static) -> RedisStore {
        RedisStore::start(settings, Some(Arc::new(clock)))
    }

    fn start(settings: Settings, clock: Option<Arc<dyn Clock>>) -> RedisStore {
        let naming = Naming::new(settings.prefix.clone());
        let probing = naming.clone();
        let servers = Servers::start(&settings, move |slot| probe(&probing, slot));
        let shared = Shared { servers, naming, timeout: settings.timeout, denials: Denials::new(), clock };
        RedisStore { shared: Arc::new(shared) }
    }

    /// Forgets all that a key has used. Says whether anything was known.
    ///
    /// # Errors
    ///
    /// If the server does not answer in time.
    pub async fn forget(&self, key: &Key) -> Result<bool, StoreError> {
        let Shared { servers, naming, denials, .. } = &*self.shared;
        let script = Script::new("return redis.call('DEL', unpack(KEYS))");
        let mut command = redis::cmd("EVALSHA");
        command.arg(&script.digest).arg(2).arg(naming.counter(key)).arg(naming.log(key));
        denials.forget([key]);
        let answer = servers.call(&Call::new(script.text, command, slot(key)), self.shared.deadline()).await;
        denials.forget([key]);
        Ok(!matches!(answer?, redis::Value::Int(0)))
    }

    /// How the servers are.
    pub fn health(&self) -> Health {
        self.shared.servers.health()
    }

    /// Refusals so far that were answered in this process, because nothing can have changed since the last one.
    pub fn remembered(&self) -> u64 {
        self.shared.denials.answered()
    }
}

impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shared { naming, timeout, clock, .. } = &*self.shared;
        f.debug_struct("RedisStore")
            .field("naming", naming)
            .field("timeout", timeout)
            .field("on_a_clock_of_its_own", &clock.is_some())
            .finish_non_exhaustive()
    }
}

impl Store for RedisStore {
    type Deciding = Deciding;

    fn decide(&self, op: Op, hits: &Hits) -> Deciding {
        if op == Op::Take
            && let Some(refusal) = self.shared.denials.answer(hits, self.shared.now())
        {
            return Deciding(Inner::Known(Some(refusal)));
        }
        Deciding(Inner::Asked(Box::pin(Arc::clone(&self.shared).decide(op, *hits))))
    }
}

/// A decision that is on its way.
#[must_use = "nothing is known until it is awaited"]
pub struct Deciding(Inner);

#[expect(clippy::large_enum_variant, reason = "a refusal that is remembered allocates nothing")]
enum Inner {
    Known(Option<Decision>),
    Asked(Pin<Box<dyn Future<Output = Result<Decision, StoreError>> + Send>>),
}

impl Future for Deciding {
    type Output = Result<Decision, StoreError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            Inner::Known(decision) => match decision.take() {
                Some(decision) => Poll::Ready(Ok(decision)),
                // It was polled after it was done, which promises nothing.
                None => Poll::Pending,
            },
            Inner::Asked(asked) => asked.as_mut().poll(context),
        }
    }
}

impl Shared {
    pub(crate) fn deadline(&self) -> tokio::time::Instant {
        tokio::time::Instant::now() + self.timeout
    }

    fn now(&self) -> Option<Moment> {
        self.clock.as_ref().map(|clock| clock.now())
    }

    async fn decide(self: Arc<Shared>, op: Op, hits: Hits) -> Result<Decision, StoreError> {
        let deadline = self.deadline();
        if hits.is_empty() {
            return Ok(Decision::new([], self.now().unwrap_or(Moment::EPOCH), Origin::Store));
        }
        if self.servers.spread() && split::is_needed(&hits) {
            return split::decide(self, op, hits, deadline).await;
        }
        Ok(self.ask(op, &hits, Duration::ZERO, deadline).await?.decision)
    }

    /// One call, for hits that one server decides. A take that is refunded may have been dated by another one; the slip is
    /// by how much this one's date may be earlier.
    pub(crate) async fn ask(
        &self,
        op: Op,
        hits: &Hits,
        slip: Duration,
        deadline: tokio::time::Instant,
    ) -> Result<Told, StoreError> {
        let told = self.put(op, hits, slip, deadline).await;
        match &told {
            Ok(told) => self.denials.learn(op, hits, told),
            // Perhaps it was given back, perhaps not.
            Err(_) if matches!(op, Op::Refund { .. }) => self.denials.forget(hits.iter().map(|hit| &hit.key)),
            Err(_) => {}
        }
        told
    }

    async fn put(
        &self,
        op: Op,
        hits: &Hits,
        slip: Duration,
        deadline: tokio::time::Instant,
    ) -> Result<Told, StoreError> {
        let asked_at = Instant::now();
        let call = question::call_within(op, hits, &self.naming, self.now(), slip);
        let answer = self.servers.call(&call, deadline).await?;
        let told_at = Instant::now();
        let told = Counters::read(&answer, hits).map(|before| {
            let (decision, after) = before.decide(op, hits);
            Told { decision, before, after, asked_at, told_at }
        });
        let Some(told) = told else {
            return Err(self.odd("the script's answer cannot be read"));
        };
        // A refund's answer looks at what it leaves, the script at what it found.
        if !matches!(op, Op::Refund { .. }) && told.decision.allowed() != told.before.admitted {
            return Err(self.odd("the script has decided otherwise than the engine: is a counter not aforo's?"));
        }
        Ok(told)
    }

    fn odd(&self, what: &'static str) -> StoreError {
        let trouble = Trouble::new(StoreErrorKind::Script, Sign::Well, what);
        self.servers.note(&trouble);
        trouble.into()
    }
}

/// What a server told of a request.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) decision: Decision,
    /// The counters as it found them.
    pub(crate) before: Counters,
    /// The counters as it left them.
    pub(crate) after: [Counter; MAX_HITS],
    /// When it was asked, by our clock.
    pub(crate) asked_at: Instant,
    /// When the answer came.
    pub(crate) told_at: Instant,
}

/// A take of a counter of our own: it needs all that a real one needs. Where a slot matters, its subject is sought until it
/// lies there; that takes some 16,000 tries of a few nanoseconds.
fn probe(naming: &Naming, wanted: Option<u16>) -> Call {
    const PLENTY: Quota = Quota::per_second(1_000_000);
    let key = |number: u32| Key::new(b"", format!("probe.{number}").as_bytes()).ok();
    let fits = |key: &Key| wanted.is_none_or(|wanted| slot(key) == wanted);
    let hit = (0..u32::MAX).find_map(|number| key(number).filter(fits)).map(|key| Hit::new(key, PLENTY));
    question::call(Op::Take, &hit.into_iter().collect(), naming, None)
}
