//! Lines: open connections to a server, used in turn.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use redis::aio::MultiplexedConnection;
use redis::{Cmd, RedisError, ServerErrorKind, Value};
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::dialer::Dialed;
use super::streak::Streak;
use crate::call::Call;

/// An open connection.
///
/// A call that is given up leaves its place among the answers: the connection reads the late answer and throws it away,
/// so that nobody takes it for his own.
#[derive(Debug)]
pub(super) struct Line {
    connection: MultiplexedConnection,
    driver: AbortHandle,
    over: Arc<AtomicBool>,
    heard: Arc<AtomicU64>,
    pub(super) opened: Instant,
    /// Apart from the server's: a connection can be dead while others to the same server live.
    pub(super) streak: Streak,
}

/// How a call is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// To the server that owns its slot.
    Direct,
    /// To the server that the slot is moving to, with the word that lets it answer already.
    Asking,
}

/// The lines to one server. Some may be missing.
#[derive(Debug)]
pub(super) struct Lines {
    places: Box<[Mutex<Option<Arc<Line>>>]>,
    turn: AtomicUsize,
}

// === impl Line ===

impl Line {
    /// Runs the connection. The bell rings when it has ended.
    pub(super) fn new(dialed: Dialed, timeout: Duration, bell: &Arc<Notify>) -> Line {
        let Dialed { connection, driver, heard } = dialed;
        let over = Arc::new(AtomicBool::new(false));
        let running = tokio::spawn({
            let (over, bell) = (Arc::clone(&over), Arc::clone(bell));
            async move {
                driver.await;
                over.store(true, Ordering::Release);
                bell.notify_one();
            }
        });
        let driver = running.abort_handle();
        Line { connection, driver, over, heard, opened: Instant::now(), streak: Streak::new(timeout) }
    }

    /// Whether it takes no more calls.
    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    /// How often something came, be it too late.
    pub(super) fn heard(&self) -> u64 {
        self.heard.load(Ordering::Relaxed)
    }

    /// Gives it no more calls. It ends when those on their way have been answered or given up.
    pub(super) fn retire(&self) {
        self.over.store(true, Ordering::Release);
    }

    /// Ends it now. The calls that are on their way fail.
    pub(super) fn cut(&self) {
        self.over.store(true, Ordering::Release);
        self.driver.abort();
    }

    /// Puts a call, with the whole script where the server does not know it. An answer may be an error of the server's.
    ///
    /// The second sending is no repetition: a server that does not know a script has not run it.
    pub(super) async fn put(&self, call: &Call, way: Way) -> Result<Value, RedisError> {
        let answer = self.send(call.by_digest(), way).await?;
        match &answer {
            Value::ServerError(error) if error.kind() == Some(ServerErrorKind::NoScript) => {
                self.send(&call.in_full(), way).await
            }
            _ => Ok(answer),
        }
    }

    async fn send(&self, command: &Cmd, way: Way) -> Result<Value, RedisError> {
        let mut connection = self.connection.clone();
        match way {
            Way::Direct => connection.send_packed_command(command).await,
            Way::Asking => {
                // One pipeline, because the word counts for the very next command of the connection.
                let mut pipeline = redis::pipe();
                pipeline.cmd("ASKING").add_command(command.clone());
                let answers = connection.send_packed_commands(&pipeline, 0, 2).await?;
                Ok(answers.into_iter().nth(1).unwrap_or(Value::Nil))
            }
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

// === impl Lines ===

impl Lines {
    pub(super) fn new(count: usize) -> Lines {
        Lines { places: (0..count).map(|_| Mutex::new(None)).collect(), turn: AtomicUsize::new(0) }
    }

    pub(super) fn count(&self) -> usize {
        self.places.len()
    }

    /// The next one in turn that is open.
    pub(super) fn pick(&self) -> Option<Arc<Line>> {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed) % self.places.len().max(1);
        let in_turn = self.places.iter().cycle().skip(turn).take(self.places.len());
        in_turn.filter_map(|place| place.lock().clone()).find(|line| !line.is_over())
    }

    pub(super) fn any_open(&self) -> bool {
        self.places.iter().any(|place| place.lock().as_ref().is_some_and(|line| !line.is_over()))
    }

    /// How often something came on any of them. It differs, too, when one was replaced, which takes a server that lives.
    pub(super) fn heard(&self) -> u64 {
        let heard = self.places.iter().map(|place| place.lock().as_ref().map_or(0, |line| line.heard()));
        heard.fold(0, u64::wrapping_add)
    }

    pub(super) fn install(&self, place: usize, line: Line) {
        if let Some(place) = self.places.get(place) {
            *place.lock() = Some(Arc::new(line));
        }
    }

    /// The places without an open line.
    pub(super) fn vacant(&self) -> Vec<usize> {
        let is_vacant = |place: &Mutex<Option<Arc<Line>>>| place.lock().as_ref().is_none_or(|line| line.is_over());
        self.places.iter().enumerate().filter(|(_, place)| is_vacant(place)).map(|(number, _)| number).collect()
    }

    /// Takes out the lines that have ended, and says how long the shortest of them lived.
    pub(super) fn clear(&self) -> Option<Duration> {
        let ended = self.places.iter().filter_map(|place| place.lock().take_if(|line| line.is_over()));
        ended.map(|line| line.opened.elapsed()).min()
    }

    /// Gives them no more calls.
    pub(super) fn retire(&self) {
        for place in &self.places {
            if let Some(line) = place.lock().take() {
                line.retire();
            }
        }
    }

    /// Ends them all, which frees whatever is queued on them.
    pub(super) fn cut(&self) {
        for place in &self.places {
            if let Some(line) = place.lock().take() {
                line.cut();
            }
        }
    }
}
