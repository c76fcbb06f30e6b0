//! Standing: whether a server, or the map of a cluster, is there to be asked.

use tokio::sync::watch;
use tokio::time::Instant;

use crate::health::State;
use crate::trouble::Trouble;

/// Whether it is there to be asked.
#[derive(Clone, Debug)]
pub(super) enum Standing {
    Connecting,
    Answering,
    /// It answers, and refuses to write.
    Hindered {
        since: Instant,
        trouble: Trouble,
    },
    Down {
        since: Instant,
        trouble: Trouble,
    },
}

impl Standing {
    /// Whether it is the same but for when and why.
    pub(super) fn is_like(&self, other: &Standing) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

/// The standing, for those who wait for it to change.
#[derive(Debug)]
pub(super) struct Standings(watch::Sender<Standing>);

impl Standings {
    pub(super) fn new() -> Standings {
        Standings(watch::Sender::new(Standing::Connecting))
    }

    pub(super) fn is_down(&self) -> bool {
        matches!(*self.0.borrow(), Standing::Down { .. })
    }

    pub(super) fn is_answering(&self) -> bool {
        matches!(*self.0.borrow(), Standing::Answering)
    }

    pub(super) fn is_hindered(&self) -> bool {
        matches!(*self.0.borrow(), Standing::Hindered { .. })
    }

    pub(super) fn now(&self) -> Standing {
        self.0.borrow().clone()
    }

    /// It answers. Whether that is news.
    pub(super) fn up(&self) -> bool {
        !matches!(self.0.send_replace(Standing::Answering), Standing::Answering)
    }

    /// It answers, and refuses to write. Whether that is news; if not, the newer trouble is remembered.
    pub(super) fn hindered(&self, trouble: &Trouble) -> bool {
        self.0.send_if_modified(|standing| match standing {
            Standing::Hindered { trouble: known, .. } => {
                known.clone_from(trouble);
                false
            }
            other => {
                *other = Standing::Hindered { since: Instant::now(), trouble: trouble.clone() };
                true
            }
        })
    }

    /// It is gone. Whether that is news; if not, the newer trouble is remembered.
    pub(super) fn down(&self, trouble: &Trouble) -> bool {
        self.0.send_if_modified(|standing| match standing {
            Standing::Down { trouble: known, .. } => {
                known.clone_from(trouble);
                false
            }
            other => {
                *other = Standing::Down { since: Instant::now(), trouble: trouble.clone() };
                true
            }
        })
    }

    /// It is being connected to anew, which may well succeed.
    pub(super) fn connecting(&self) {
        self.0.send_if_modified(|standing| {
            let news = matches!(standing, Standing::Answering | Standing::Hindered { .. });
            if news {
                *standing = Standing::Connecting;
            }
            news
        });
    }

    /// Waits until `sought` is there: while it is being connected to, and no longer than to the deadline.
    pub(super) async fn wait_for<T>(&self, sought: impl Fn() -> Option<T>, deadline: Instant) -> Result<T, Trouble> {
        if let Standing::Down { trouble, .. } = &*self.0.borrow() {
            return Err(trouble.clone().known());
        }
        let mut changes = self.0.subscribe();
        loop {
            if let Standing::Down { trouble, .. } = &*changes.borrow_and_update() {
                return Err(trouble.clone().known());
            }
            if let Some(found) = sought() {
                return Ok(found);
            }
            match tokio::time::timeout_at(deadline, changes.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return Err(Trouble::unreachable("the store is being closed")),
                Err(_) => return Err(Trouble::late("not connected in time")),
            }
        }
    }

    pub(super) fn state(&self) -> State {
        match &*self.0.borrow() {
            Standing::Connecting => State::Connecting,
            Standing::Answering => State::Answering,
            Standing::Hindered { since, trouble } => {
                State::Hindered { since: since.into_std(), trouble: trouble.to_string() }
            }
            Standing::Down { since, trouble } => State::Down { since: since.into_std(), trouble: trouble.to_string() },
        }
    }
}
