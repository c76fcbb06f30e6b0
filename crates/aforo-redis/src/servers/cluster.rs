//! The cluster: many servers, each with its slots, that may move from one to another.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use aforo_core::StoreErrorKind;
use arc_swap::ArcSwapOption;
use parking_lot::Mutex;
use redis::Value;
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep};

use super::line::Way;
use super::means::Means;
use super::node::{Node, Reply};
use super::refresh;
use super::slots::{self, Span};
use super::standing::Standings;
use super::whereabouts::Whereabouts;
use crate::call::Call;
use crate::endpoint::Endpoint;
use crate::health::{ServerHealth, State};
use crate::trouble::{Sign, Trouble};

/// While slots move a call can be sent on twice; more often, and the servers disagree.
const REDIRECTIONS: usize = 4;

/// How long the keys of a slot are given to arrive before they are asked for again.
const UNTIL_TOGETHER: Duration = Duration::from_millis(5);

/// A cluster. Its map is read in the background, until this is dropped.
pub(super) struct Cluster {
    atlas: Arc<Atlas>,
    refresher: AbortHandle,
}

/// What is known of the cluster.
pub(super) struct Atlas {
    pub(super) means: Means,
    pub(super) seeds: Vec<Endpoint>,
    /// Whether there is a map.
    pub(super) standings: Standings,
    /// Rung when the map may be out of date.
    pub(super) alarm: Arc<Notify>,
    map: ArcSwapOption<Map>,
    known: Mutex<HashMap<Endpoint, Known>>,
}

/// Who owns which slots.
pub(super) struct Map {
    spans: Vec<Span<Arc<Member>>>,
}

/// A server of the cluster.
pub(super) struct Member {
    pub(super) endpoint: Endpoint,
    pub(super) node: Node,
}

struct Known {
    member: Arc<Member>,
    /// Whether a call was sent there since the map was read. A server that slots only begin to move to is on no map.
    sent_to: bool,
}

// === impl Cluster ===

impl Cluster {
    /// Begins to read the map, from any of these servers.
    pub(super) fn start(means: Means, seeds: Vec<Endpoint>) -> Cluster {
        let atlas = Arc::new(Atlas {
            means,
            seeds,
            standings: Standings::new(),
            alarm: Arc::new(Notify::new()),
            map: ArcSwapOption::empty(),
            known: Mutex::new(HashMap::new()),
        });
        let refresher = tokio::spawn(refresh::keep_current(Arc::clone(&atlas))).abort_handle();
        Cluster { atlas, refresher }
    }

    /// Puts a call to the server that owns its slot, and where that one sends it on, there.
    ///
    /// That is no repetition: a server that sends a call on has not run it. Nor has one that cannot yet, because the call's
    /// keys are on two servers while their slot moves: it is asked again until they are together.
    pub(super) async fn put(&self, call: &Call, deadline: Instant) -> Result<Value, Trouble> {
        let mut member = self.owner(call.slot(), deadline).await?;
        let mut way = Way::Direct;
        let mut sent_on = 0;
        while sent_on <= REDIRECTIONS {
            let reply = member.node.put(call, way, deadline).await;
            match reply.inspect_err(|trouble| self.suspect(trouble))? {
                Reply::Answer(answer) => return Ok(answer),
                Reply::Elsewhere { target, way: there } => {
                    let Some(endpoint) = Endpoint::redirected(&target, &member.endpoint.host) else {
                        return Err(trouble(format!(
                            "{}: sends calls to {target:?}, which is no address",
                            member.endpoint
                        )));
                    };
                    if there == Way::Direct {
                        self.atlas.alarm.notify_one();
                    }
                    way = there;
                    member = self.atlas.sent_to(endpoint, call.slot());
                    sent_on += 1;
                }
                Reply::Torn if Instant::now() + UNTIL_TOGETHER < deadline => {
                    sleep(UNTIL_TOGETHER).await;
                    (member, way, sent_on) = (self.owner(call.slot(), deadline).await?, Way::Direct, 0);
                }
                Reply::Torn => {
                    let text = format!("{}: the keys of slot {} are moving", member.endpoint, call.slot());
                    return Err(Trouble::new(StoreErrorKind::Timeout, Sign::Well, text));
                }
            }
        }
        Err(trouble(format!("slot {}: its call was sent on {REDIRECTIONS} times, and then again", call.slot())))
    }

    /// A server that is lost, or says that the cluster is, may have been replaced.
    fn suspect(&self, trouble: &Trouble) {
        if !trouble.known && matches!(trouble.kind, StoreErrorKind::Connection | StoreErrorKind::Other) {
            self.atlas.alarm.notify_one();
        }
    }

    /// How they are together, and each of those that own slots.
    pub(super) fn health(&self) -> (State, Vec<ServerHealth>) {
        let Some(map) = self.atlas.map.load_full() else { return (self.atlas.standings.state(), Vec::new()) };
        let servers: Vec<ServerHealth> = map.members().map(|member| member.node.health()).collect();
        (State::together(&servers), servers)
    }

    async fn owner(&self, slot: u16, deadline: Instant) -> Result<Arc<Member>, Trouble> {
        let map = match self.atlas.map.load_full() {
            Some(map) => map,
            None => self.atlas.standings.wait_for(|| self.atlas.map.load_full(), deadline).await?,
        };
        let owner = slots::owner(&map.spans, slot).cloned();
        owner.ok_or_else(|| {
            self.atlas.alarm.notify_one();
            trouble(format!("no server of the cluster owns slot {slot}"))
        })
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.refresher.abort();
    }
}

// === impl Atlas ===

impl Atlas {
    /// Puts a new map in the place of the old one, and lets go of the servers that are on neither.
    pub(super) fn draw(&self, spans: Vec<Span<Endpoint>>) {
        let mut known = self.known.lock();
        let spans: Vec<Span<Arc<Member>>> = spans
            .into_iter()
            .map(|Span { first, last, owner }| {
                let owner = Arc::clone(&self.know(&mut known, owner, first).member);
                Span { first, last, owner }
            })
            .collect();
        known.retain(|_, known| {
            let on_map = spans.iter().any(|span| Arc::ptr_eq(&span.owner, &known.member));
            on_map || std::mem::take(&mut known.sent_to)
        });
        drop(known);
        self.map.store(Some(Arc::new(Map { spans })));
        self.standings.up();
    }

    /// Whom to ask for the map, the likeliest first, and each time another one: a server that was cut off from the
    /// others answers too, with an old map.
    pub(super) fn to_be_asked(&self, turn: usize) -> Vec<Endpoint> {
        let known: Vec<Arc<Member>> = self.known.lock().values().map(|known| Arc::clone(&known.member)).collect();
        let (mut answering, others): (Vec<_>, Vec<_>) =
            known.into_iter().partition(|member| member.node.is_answering());
        answering.sort_unstable_by_key(|member| member.endpoint.to_string());
        let middle = turn.checked_rem(answering.len()).unwrap_or_default();
        answering.rotate_left(middle);
        let endpoint = |member: Arc<Member>| member.endpoint.clone();
        let seeds = self.seeds.iter().cloned();
        answering.into_iter().map(endpoint).chain(seeds).chain(others.into_iter().map(endpoint)).collect()
    }

    pub(super) fn has_map(&self) -> bool {
        self.map.load().is_some()
    }

    /// Whether a server that owns slots is down. Then another one may own them soon.
    pub(super) fn is_torn(&self) -> bool {
        self.map.load().as_ref().is_some_and(|map| map.members().any(|member| member.node.is_down()))
    }

    /// The server that a call is sent on to.
    fn sent_to(&self, endpoint: Endpoint, slot: u16) -> Arc<Member> {
        let mut known = self.known.lock();
        let known = self.know(&mut known, endpoint, slot);
        known.sent_to = true;
        Arc::clone(&known.member)
    }

    fn know<'a>(&self, known: &'a mut HashMap<Endpoint, Known>, endpoint: Endpoint, slot: u16) -> &'a mut Known {
        known.entry(endpoint.clone()).or_insert_with(|| {
            let whereabouts = Whereabouts::Fixed(endpoint.clone());
            let node = Node::start(&self.means, whereabouts, Some(slot), Some(Arc::clone(&self.alarm)));
            Known { member: Arc::new(Member { endpoint, node }), sent_to: false }
        })
    }
}

impl Map {
    /// Each server once.
    fn members(&self) -> impl Iterator<Item = &Arc<Member>> {
        let spans = self.spans.iter().enumerate();
        spans.filter_map(|(place, span)| {
            let before = self.spans.iter().take(place).any(|earlier| Arc::ptr_eq(&earlier.owner, &span.owner));
            (!before).then_some(&span.owner)
        })
    }
}

fn trouble(text: String) -> Trouble {
    Trouble::new(StoreErrorKind::Other, Sign::Doubtful, text)
}
