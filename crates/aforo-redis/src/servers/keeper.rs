//! Keepers: they open a server's lines, replace those that break, and look for a server that is down.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use aforo_core::StoreErrorKind;
use tokio::task::JoinSet;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval, sleep, timeout};

use super::backoff::Backoff;
use super::line::{Line, Way};
use super::means::Means;
use super::node::{Desk, Reply, read};
use super::whereabouts::Whereabouts;
use crate::call::Call;
use crate::endpoint::Endpoint;
use crate::trouble::{Sign, Trouble};

/// A line that ends sooner was no good to begin with, and replacing it at once would go on for ever.
const SHORT_LIFE: Duration = Duration::from_secs(1);

/// How often the Sentinels are asked although nothing is wrong.
const ASK_EVERY: Duration = Duration::from_secs(5);

/// How often a server that refuses to write is tried, and the log is told what it has not heard.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The keeper of one server's lines.
///
/// While the server is down it is the only one that speaks to it, one attempt at a time. An attempt succeeds when the
/// probe was answered, so that a server that accepts connections and nothing else is not taken for one that serves.
pub(super) struct Keeper {
    desk: Arc<Desk>,
    means: Means,
    whereabouts: Whereabouts,
    slot: Option<u16>,
    probe: OnceLock<Call>,
}

/// The time from when a server answers to when it is down, or is to be found elsewhere.
struct Watch {
    keeper: Arc<Keeper>,
    /// Where the open lines lead.
    home: Endpoint,
    backoff: Backoff,
    under_way: JoinSet<News>,
    /// The lines that are being opened, by their place.
    missing: Vec<bool>,
}

/// A line to a server that has answered the probe.
struct Reached {
    endpoint: Endpoint,
    line: Line,
    /// Why it was answered, and not written.
    hindrance: Option<Trouble>,
}

/// What the keeper had to wait for.
enum News {
    Opened { place: usize, result: Result<Box<Reached>, Trouble> },
    Found(Result<Endpoint, Trouble>),
    Looked,
}

// === impl Keeper ===

impl Keeper {
    pub(super) fn new(desk: Arc<Desk>, means: Means, whereabouts: Whereabouts, slot: Option<u16>) -> Keeper {
        Keeper { desk, means, whereabouts, slot, probe: OnceLock::new() }
    }

    pub(super) async fn run(self: Arc<Keeper>) {
        loop {
            let home = self.seek().await;
            Watch::new(Arc::clone(&self), home).keep().await;
        }
    }

    /// Tries until the server answers.
    async fn seek(&self) -> Endpoint {
        let mut backoff = Backoff::new();
        if self.desk.standings.is_down() {
            sleep(backoff.next()).await;
        }
        loop {
            match self.reach().await {
                Ok(reached) => return self.install(0, reached),
                Err(trouble) => self.desk.give_up(&trouble),
            }
            sleep(backoff.next()).await;
        }
    }

    /// Gives a line to the callers. Where it leads.
    fn install(&self, place: usize, Reached { endpoint, line, hindrance }: Reached) -> Endpoint {
        self.desk.lines.install(place, line);
        match hindrance {
            None => self.desk.resume(),
            Some(hindrance) => self.desk.hinder(&hindrance),
        }
        endpoint
    }

    fn probe(&self) -> &Call {
        self.probe.get_or_init(|| (self.means.probe)(self.slot))
    }

    /// Tries whether a server that refused to write still does. If so, or if it does not answer, that is noted as for
    /// every call.
    async fn look(&self) {
        let deadline = Instant::now() + self.means.timeout;
        if self.desk.put(self.probe(), Way::Direct, deadline).await.is_ok() {
            self.desk.resume();
        }
    }

    /// Finds the server, connects, and puts the probe.
    async fn reach(&self) -> Result<Reached, Trouble> {
        let endpoint = self.whereabouts.find().await?;
        let dialed = self.means.dialer.dial(&endpoint).await?;
        let line = Line::new(dialed, self.means.timeout, &self.desk.bell);
        let answer = timeout(self.means.timeout, line.put(self.probe(), Way::Direct)).await;
        let reply = answer.map_or_else(
            |_| Err(Trouble::late(format!("connected, but no answer within {:?}", self.means.timeout))),
            read,
        );
        match reply {
            Ok(Reply::Elsewhere { .. } | Reply::Torn) if self.slot.is_none() => Err(belongs_to_a_cluster()),
            // A node of a cluster whose slot went elsewhere answers that, and answers for its other slots.
            Ok(_) => Ok(Reached { endpoint, line, hindrance: None }),
            Err(trouble) if trouble.sign == Sign::Hindered => Ok(Reached { endpoint, line, hindrance: Some(trouble) }),
            Err(trouble) => Err(trouble),
        }
    }
}

// === impl Watch ===

impl Watch {
    fn new(keeper: Arc<Keeper>, home: Endpoint) -> Watch {
        let missing = vec![false; keeper.desk.lines.count()];
        Watch { keeper, home, backoff: Backoff::new(), under_way: JoinSet::new(), missing }
    }

    async fn keep(mut self) {
        let keeper = Arc::clone(&self.keeper);
        let (mut rounds, mut looks) = (every(ASK_EVERY), every(LOOK_EVERY));
        while self.replace_missing() {
            let hindered = keeper.desk.standings.is_hindered();
            let is_over = tokio::select! {
                () = keeper.desk.bell.notified() => false,
                Some(Ok(news)) = self.under_way.join_next() => self.hear(news),
                _ = rounds.tick(), if keeper.whereabouts.may_change() => {
                    let keeper = Arc::clone(&keeper);
                    self.under_way.spawn(async move { News::Found(keeper.whereabouts.find().await) });
                    false
                }
                _ = looks.tick(), if hindered || keeper.desk.has_to_tell() => {
                    keeper.desk.tell(false);
                    let keeper = Arc::clone(&keeper);
                    if hindered {
                        self.under_way.spawn(async move {
                            keeper.look().await;
                            News::Looked
                        });
                    }
                    false
                }
            };
            if is_over {
                return;
            }
        }
    }

    /// Sees to it that each missing line is being opened. Whether there is a server to do it for.
    fn replace_missing(&mut self) -> bool {
        let desk = &self.keeper.desk;
        let broke_at_once = desk.lines.clear().filter(|shortest_life| *shortest_life < SHORT_LIFE);
        if desk.standings.is_down() {
            return false;
        }
        if !desk.lines.any_open() {
            if let Some(life) = broke_at_once {
                let text = format!("connections break soon after they are opened: one was lost after {life:.0?}");
                desk.give_up(&Trouble::unreachable(text));
                return false;
            }
            desk.standings.connecting();
        }
        for place in desk.lines.vacant() {
            if self.missing.get_mut(place).is_some_and(|missing| !std::mem::replace(missing, true)) {
                let wait = if broke_at_once.is_some() { self.backoff.next() } else { Duration::ZERO };
                self.open(place, wait);
            }
        }
        true
    }

    fn open(&mut self, place: usize, wait: Duration) {
        let keeper = Arc::clone(&self.keeper);
        self.under_way.spawn(async move {
            sleep(wait).await;
            News::Opened { place, result: keeper.reach().await.map(Box::new) }
        });
    }

    /// Takes note of news. Whether the watch is over.
    fn hear(&mut self, news: News) -> bool {
        let desk = Arc::clone(&self.keeper.desk);
        match news {
            News::Opened { place, result: Ok(reached) } => {
                if reached.endpoint != self.home {
                    desk.lines.retire();
                }
                self.home = self.keeper.install(place, *reached);
                if let Some(missing) = self.missing.get_mut(place) {
                    *missing = false;
                }
                self.backoff = Backoff::new();
                false
            }
            News::Opened { result: Err(trouble), .. } if !desk.lines.any_open() => {
                desk.give_up(&trouble);
                true
            }
            News::Opened { place, result: Err(trouble) } => {
                tracing::debug!(server = desk.name(), %trouble, "a connection to the store was not replaced");
                let wait = self.backoff.next();
                self.open(place, wait);
                false
            }
            News::Found(Ok(primary)) if primary != self.home => {
                tracing::info!(service = desk.name(), %primary, "the primary is another server now");
                desk.standings.connecting();
                desk.lines.retire();
                true
            }
            News::Found(_) | News::Looked => false,
        }
    }
}

fn every(period: Duration) -> Interval {
    let mut rounds = interval(period);
    rounds.set_missed_tick_behavior(MissedTickBehavior::Delay);
    rounds.reset();
    rounds
}

/// A server that was said to stand alone sends its callers elsewhere.
pub(super) fn belongs_to_a_cluster() -> Trouble {
    let text = "it belongs to a cluster: write redis-cluster:// instead of redis://";
    Trouble::new(StoreErrorKind::Other, Sign::Unable, text)
}
