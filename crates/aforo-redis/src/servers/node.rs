//! Nodes: one server, with what stands between it and its callers: lines, the breaker, a bound on what is unanswered.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use aforo_core::StoreErrorKind;
use redis::{RedisError, ServerErrorKind, Value};
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout_at};

use super::keeper::Keeper;
use super::line::{Line, Lines, Way};
use super::means::Means;
use super::reports::Changes;
use super::standing::Standings;
use super::streak::Streak;
use super::whereabouts::Whereabouts;
use crate::call::Call;
use crate::health::ServerHealth;
use crate::trouble::{Sign, Trouble};

/// A server that does not answer must not collect callers without end.
const UNANSWERED_PER_LINE: usize = 4096;

/// One server. Its connections are opened in the background, and closed when this is dropped.
pub(super) struct Node {
    desk: Arc<Desk>,
    keeper: AbortHandle,
}

/// What the callers and the keeper of the connections share.
///
/// Its breaker is open while it is down: then no line is open, calls fail at once, and the keeper looks for the
/// server's return.
pub(super) struct Desk {
    name: String,
    timeout: Duration,
    pub(super) lines: Lines,
    pub(super) standings: Standings,
    changes: Changes,
    streak: Streak,
    unanswered: AtomicUsize,
    /// Rung when a line has ended, or the server is hindered.
    pub(super) bell: Arc<Notify>,
    /// Rung when the server is down.
    alarm: Option<Arc<Notify>>,
}

/// What came back.
pub(super) enum Reply {
    Answer(Value),
    /// The slot is owned by another server, or moving there.
    Elsewhere {
        target: String,
        way: Way,
    },
    /// Some of the call's keys are here still, the others where their slot is moving to.
    Torn,
}

// === impl Node ===

impl Node {
    /// Begins to connect. The alarm is rung when the server is down.
    pub(super) fn start(means: &Means, at: Whereabouts, slot: Option<u16>, alarm: Option<Arc<Notify>>) -> Node {
        let desk = Arc::new(Desk {
            name: at.to_string(),
            timeout: means.timeout,
            lines: Lines::new(means.connections),
            standings: Standings::new(),
            changes: Changes::default(),
            streak: Streak::new(means.timeout),
            unanswered: AtomicUsize::new(0),
            bell: Arc::new(Notify::new()),
            alarm,
        });
        let keeper = Arc::new(Keeper::new(Arc::clone(&desk), means.clone(), at, slot));
        let keeper = tokio::spawn(keeper.run()).abort_handle();
        Node { desk, keeper }
    }

    /// Puts a call, once.
    pub(super) async fn put(&self, call: &Call, way: Way, deadline: Instant) -> Result<Reply, Trouble> {
        let desk = &*self.desk;
        desk.put(call, way, deadline).await.map_err(|trouble| trouble.of(&desk.name))
    }

    pub(super) fn is_down(&self) -> bool {
        self.desk.standings.is_down()
    }

    pub(super) fn is_answering(&self) -> bool {
        self.desk.standings.is_answering()
    }

    pub(super) fn health(&self) -> ServerHealth {
        ServerHealth {
            server: self.desk.name.clone(),
            state: self.desk.standings.state(),
            unanswered: self.desk.unanswered.load(Ordering::Relaxed),
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.keeper.abort();
        self.desk.lines.cut();
    }
}

// === impl Desk ===

impl Desk {
    pub(super) async fn put(&self, call: &Call, way: Way, deadline: Instant) -> Result<Reply, Trouble> {
        let _place = self.take_place()?;
        let line = match self.lines.pick() {
            Some(line) => line,
            None => self.wait_for_line(deadline).await?,
        };
        let reply = match timeout_at(deadline, line.put(call, way)).await {
            Ok(answer) => read(answer),
            Err(_) => Err(Trouble::late(format!("no answer within {:?}", self.timeout))),
        };
        match &reply {
            Ok(_) => self.answered(&line),
            Err(trouble) => self.failed(&line, trouble),
        }
        reply
    }

    async fn wait_for_line(&self, deadline: Instant) -> Result<Arc<Line>, Trouble> {
        let line = self.standings.wait_for(|| self.lines.pick(), deadline).await;
        // Packets that are dropped in silence: the attempt to connect lasts long, and nobody should wait for it.
        if let Err(trouble) = &line
            && !trouble.known
            && self.streak.failed(Instant::now(), self.lines.heard())
        {
            self.give_up(trouble);
        }
        line
    }

    fn answered(&self, line: &Line) {
        line.streak.answered();
        self.streak.answered();
    }

    fn failed(&self, line: &Line, trouble: &Trouble) {
        // What was on its way when the line ended says nothing about the server as it is now.
        if line.is_over() {
            return;
        }
        let now = Instant::now();
        match trouble.sign {
            Sign::Well => self.answered(line),
            Sign::Hindered => {
                self.answered(line);
                self.hinder(trouble);
            }
            Sign::Doubtful if self.streak.failed(now, self.lines.heard()) => self.give_up(trouble),
            Sign::Doubtful if line.streak.failed(now, line.heard()) => {
                line.cut();
                self.bell.notify_one();
            }
            Sign::Doubtful => {}
            Sign::Unable => self.give_up(trouble),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Opens the breaker.
    pub(super) fn give_up(&self, trouble: &Trouble) {
        let changed = self.standings.down(trouble);
        self.tell(changed);
        if changed && let Some(alarm) = &self.alarm {
            alarm.notify_one();
        }
        match trouble.sign {
            // It does answer: what is on its way comes back.
            Sign::Unable | Sign::Hindered | Sign::Well => self.lines.retire(),
            Sign::Doubtful => self.lines.cut(),
        }
        self.bell.notify_one();
    }

    /// Closes it.
    pub(super) fn resume(&self) {
        self.streak.answered();
        let changed = self.standings.up();
        self.tell(changed);
    }

    /// Leaves it closed, and says that takes fail. The keeper looks when that is over.
    pub(super) fn hinder(&self, trouble: &Trouble) {
        let changed = self.standings.hindered(trouble);
        self.tell(changed);
        if changed {
            self.bell.notify_one();
        }
    }

    /// Tells the log how the server is.
    pub(super) fn tell(&self, changed: bool) {
        self.changes.tell(&self.name, &self.standings.now(), changed);
    }

    /// Whether the log has not heard yet how the server is.
    pub(super) fn has_to_tell(&self) -> bool {
        self.changes.owes(&self.standings.now())
    }

    fn take_place(&self) -> Result<Place<'_>, Trouble> {
        let place = Place(&self.unanswered);
        let before = self.unanswered.fetch_add(1, Ordering::Relaxed);
        if before >= UNANSWERED_PER_LINE.saturating_mul(self.lines.count()) {
            let text = format!("{before} calls wait for an answer already");
            return Err(Trouble::new(StoreErrorKind::Timeout, Sign::Well, text));
        }
        Ok(place)
    }
}

/// A place among the unanswered calls, given back however the call ends.
struct Place<'a>(&'a AtomicUsize);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Reads what came: an answer, a redirection, or trouble.
pub(super) fn read(answer: Result<Value, RedisError>) -> Result<Reply, Trouble> {
    let error = match answer {
        Ok(Value::ServerError(error)) => error,
        Ok(answer) => return Ok(Reply::Answer(answer)),
        Err(error) => return Err(error.into()),
    };
    let way = match error.kind() {
        Some(ServerErrorKind::Moved) => Way::Direct,
        Some(ServerErrorKind::Ask) => Way::Asking,
        Some(ServerErrorKind::TryAgain) => return Ok(Reply::Torn),
        _ => return Err(RedisError::from(error).into()),
    };
    // MOVED 3999 127.0.0.1:6381
    let target = error.details().and_then(|details| details.split_ascii_whitespace().nth(1));
    Ok(Reply::Elsewhere { target: target.unwrap_or_default().to_owned(), way })
}
