//! Keepers: they open a server's lines, replace those that break, and look for a server that is down.

use std::sync::Arc;
use std::time::Duration;

use aforo_core::StoreErrorKind;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use super::backoff::Backoff;
use super::line::{Line, Way};
use super::means::Means;
use super::node::{Desk, Reply, read};
use super::whereabouts::Whereabouts;
use crate::endpoint::Endpoint;
use crate::trouble::{Sign, Trouble};

/// A line that ends sooner was no good to begin with, and replacing it at once would go on for ever.
const SHORT_LIFE: Duration = Duration::from_secs(1);

/// How often the Sentinels are asked although nothing is wrong.
const ASK_EVERY: Duration = Duration::from_secs(5);

/// The keeper of one server's lines.
///
/// While the server is down it is the only one that speaks to it, one attempt at a time. An attempt succeeds when the
/// probe was answered, so that a server that accepts connections and nothing else is not taken for one that serves.
pub(super) struct Keeper {
    desk: Arc<Desk>,
    means: Means,
    whereabouts: Whereabouts,
    slot: Option<u16>,
}

/// What the keeper had to wait for.
enum News {
    Opened { place: usize, result: Result<(Endpoint, Line), Trouble> },
    Found(Result<Endpoint, Trouble>),
}

impl Keeper {
    pub(super) fn new(desk: Arc<Desk>, means: Means, whereabouts: Whereabouts, slot: Option<u16>) -> Keeper {
        Keeper { desk, means, whereabouts, slot }
    }

    pub(super) async fn run(self: Arc<Keeper>) {
        loop {
            let home = self.seek().await;
            self.attend(home).await;
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
                Ok((endpoint, line)) => {
                    self.desk.lines.install(0, line);
                    self.desk.resume();
                    return endpoint;
                }
                Err(trouble) => self.desk.give_up(&trouble),
            }
            sleep(backoff.next()).await;
        }
    }

    /// Keeps all lines open, until the server is down or has moved.
    async fn attend(self: &Arc<Keeper>, mut home: Endpoint) {
        let lines = &self.desk.lines;
        let mut backoff = Backoff::new();
        let mut under_way = JoinSet::new();
        let mut being_opened = vec![false; lines.count()];
        let mut look = interval(ASK_EVERY);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        look.reset();
        loop {
            let shortest_life = lines.clear();
            if self.desk.standings.is_down() {
                return;
            }
            if !lines.any_open() {
                if shortest_life.is_some_and(|life| life < SHORT_LIFE) {
                    return self.desk.give_up(&Trouble::unreachable("connections break as soon as they are opened"));
                }
                self.desk.standings.connecting();
            }
            for place in lines.vacant() {
                if let Some(being_opened) = being_opened.get_mut(place)
                    && !*being_opened
                {
                    *being_opened = true;
                    let wait = if shortest_life.is_some_and(|life| life < SHORT_LIFE) {
                        backoff.next()
                    } else {
                        Duration::ZERO
                    };
                    self.open(place, wait, &mut under_way);
                }
            }
            let news = tokio::select! {
                () = self.desk.bell.notified() => continue,
                Some(Ok(news)) = under_way.join_next() => news,
                _ = look.tick(), if self.whereabouts.may_change() => {
                    let keeper = Arc::clone(self);
                    under_way.spawn(async move { News::Found(keeper.whereabouts.find().await) });
                    continue;
                }
            };
            match news {
                News::Opened { place, result: Ok((endpoint, line)) } => {
                    if endpoint != home {
                        lines.cut();
                        home = endpoint;
                    }
                    lines.install(place, line);
                    if let Some(being_opened) = being_opened.get_mut(place) {
                        *being_opened = false;
                    }
                    backoff = Backoff::new();
                    self.desk.resume();
                }
                News::Opened { result: Err(trouble), .. } if !lines.any_open() => return self.desk.give_up(&trouble),
                News::Opened { place, result: Err(trouble) } => {
                    tracing::debug!(server = %self.desk, %trouble, "a connection to the store was not replaced");
                    self.open(place, backoff.next(), &mut under_way);
                }
                News::Found(Ok(endpoint)) if endpoint != home => {
                    tracing::info!(service = %self.desk, primary = %endpoint, "the primary is another server now");
                    self.desk.standings.connecting();
                    lines.cut();
                    return;
                }
                News::Found(_) => {}
            }
        }
    }

    fn open(self: &Arc<Keeper>, place: usize, wait: Duration, under_way: &mut JoinSet<News>) {
        let keeper = Arc::clone(self);
        under_way.spawn(async move {
            sleep(wait).await;
            News::Opened { place, result: keeper.reach().await }
        });
    }

    /// Finds the server, connects, and puts the probe.
    async fn reach(&self) -> Result<(Endpoint, Line), Trouble> {
        let endpoint = self.whereabouts.find().await?;
        let dialed = self.means.dialer.dial(&endpoint).await?;
        let line = Line::new(dialed, self.means.timeout, &self.desk.bell);
        let probe = (self.means.probe)(self.slot);
        let answer = timeout(self.means.timeout, line.put(&probe, Way::Direct)).await;
        let reply = answer.map_or_else(
            |_| {
                Err(Trouble::late(format!("connected, but the probe was not answered within {:?}", self.means.timeout)))
            },
            read,
        );
        match reply {
            Ok(Reply::Elsewhere { .. }) if self.slot.is_none() => Err(belongs_to_a_cluster()),
            // A node of a cluster whose slot went elsewhere answers that, and answers for its other slots.
            Ok(_) => Ok((endpoint, line)),
            Err(trouble) if trouble.sign == Sign::Well => Ok((endpoint, line)),
            Err(trouble) => Err(trouble),
        }
    }
}

/// A server that was said to stand alone sends its callers elsewhere.
pub(super) fn belongs_to_a_cluster() -> Trouble {
    let text = "it belongs to a cluster: write redis-cluster:// instead of redis://";
    Trouble::new(StoreErrorKind::Other, Sign::Unable, text)
}
