//! Health: how the servers are, for whoever asks.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use aforo_core::StoreErrorKind;

use crate::trouble::Trouble;

/// How the servers are, at the moment it was asked for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Health {
    /// How they are together: down if none answers, hindered if some do not.
    pub state: State,
    /// Each of them. In a cluster those that own keys; until they are known there are none.
    pub servers: Vec<ServerHealth>,
    /// The calls that have failed since the start, and those that were not even put.
    pub errors: Errors,
}

/// How one server is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerHealth {
    /// Its host and port; under Sentinel the name of the service.
    pub server: String,
    /// How it is.
    pub state: State,
    /// The calls that it has not answered yet.
    pub unanswered: usize,
}

/// Whether there are answers to be had.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum State {
    /// It answers.
    Answering,
    /// It is being connected to. Questions wait for that, within their time.
    Connecting,
    /// It answers, and takes fail: its memory is full, or it lacks replicas, or its disk. Refusals are right all the same,
    /// so the breaker stays closed. Of the servers of a cluster together: some of them are so, or down.
    Hindered {
        /// Since when.
        since: Instant,
        /// The last trouble, in words without secrets.
        trouble: String,
    },
    /// It does not answer: the breaker is open. Questions fail at once, and one probe at a time looks for its return.
    Down {
        /// Since when.
        since: Instant,
        /// The last trouble, in words without secrets.
        trouble: String,
    },
}

/// How many calls have failed, by the kind of their trouble. What was not put is not among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Errors {
    /// No answer in time.
    pub timeout: u64,
    /// Not reached, or lost.
    pub connection: u64,
    /// The script was refused, or failed.
    pub script: u64,
    /// Anything else.
    pub other: u64,
    /// Questions that were not put, because the breaker was open.
    pub not_asked: u64,
}

// === impl State ===

impl State {
    /// Whether there are answers to be had, to every question.
    pub fn is_answering(&self) -> bool {
        matches!(self, State::Answering)
    }

    /// How servers are together that share the keys between them.
    pub(crate) fn together(servers: &[ServerHealth]) -> State {
        let mut troubles = Vec::new();
        let (mut first, mut last) = (None::<Instant>, None::<Instant>);
        for ServerHealth { server, state, .. } in servers {
            let (how, since, trouble) = match state {
                State::Down { since, trouble } => ("is down", since, trouble),
                State::Hindered { since, trouble } => ("is hindered", since, trouble),
                State::Answering | State::Connecting => continue,
            };
            troubles.push(format!("{server} {how}: {trouble}"));
            first = Some(first.map_or(*since, |first| first.min(*since)));
            last = Some(last.map_or(*since, |last| last.max(*since)));
        }
        let any = |wanted: fn(&State) -> bool| servers.iter().any(|server| wanted(&server.state));
        let trouble = troubles.join("; ");
        match (first, last) {
            (Some(since), _) if any(|state| matches!(state, State::Answering | State::Hindered { .. })) => {
                State::Hindered { since, trouble }
            }
            (_, Some(since)) => State::Down { since, trouble },
            _ if any(|state| matches!(state, State::Connecting)) => State::Connecting,
            _ => State::Answering,
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            State::Answering => f.write_str("answering"),
            State::Connecting => f.write_str("connecting"),
            State::Hindered { since, trouble } => {
                write!(f, "hindered for {} s ({trouble})", since.elapsed().as_secs())
            }
            State::Down { since, trouble } => {
                write!(f, "down for {} s ({trouble})", since.elapsed().as_secs())
            }
        }
    }
}

// === counting ===

/// Counts the calls that failed.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    timeout: AtomicU64,
    connection: AtomicU64,
    script: AtomicU64,
    other: AtomicU64,
    not_asked: AtomicU64,
}

impl Tally {
    pub(crate) fn add(&self, trouble: &Trouble) {
        let count = match trouble.kind {
            _ if trouble.known => &self.not_asked,
            StoreErrorKind::Timeout => &self.timeout,
            StoreErrorKind::Connection => &self.connection,
            StoreErrorKind::Script => &self.script,
            _ => &self.other,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn errors(&self) -> Errors {
        Errors {
            timeout: self.timeout.load(Ordering::Relaxed),
            connection: self.connection.load(Ordering::Relaxed),
            script: self.script.load(Ordering::Relaxed),
            other: self.other.load(Ordering::Relaxed),
            not_asked: self.not_asked.load(Ordering::Relaxed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(server: &str, state: State) -> ServerHealth {
        ServerHealth { server: server.to_owned(), state, unanswered: 0 }
    }

    fn down(name: &str) -> ServerHealth {
        server(name, State::Down { since: Instant::now(), trouble: "gone".to_owned() })
    }

    fn hindered(name: &str) -> ServerHealth {
        server(name, State::Hindered { since: Instant::now(), trouble: "full".to_owned() })
    }

    #[test]
    fn servers_together_are_hindered_by_one_that_is_down_and_name_it() {
        let together = State::together(&[server("a", State::Answering), down("b"), hindered("c")]);
        let State::Hindered { trouble, .. } = together else { panic!("{together:?}") };
        assert_eq!(trouble, "b is down: gone; c is hindered: full");
    }

    #[test]
    fn servers_together_are_down_once_none_answers() {
        assert!(matches!(State::together(&[down("a"), down("b")]), State::Down { .. }));
        assert!(matches!(State::together(&[down("a"), server("b", State::Connecting)]), State::Down { .. }));
        assert!(matches!(State::together(&[down("a"), hindered("b")]), State::Hindered { .. }));
    }

    #[test]
    fn servers_together_answer_once_all_do() {
        let (a, b) = (server("a", State::Answering), server("b", State::Connecting));
        assert!(matches!(State::together(&[a.clone(), b]), State::Connecting));
        assert!(State::together(&[a.clone(), a]).is_answering());
    }

    #[test]
    fn a_question_that_was_not_put_is_no_call_that_failed() {
        let (tally, trouble) = (Tally::default(), Trouble::unreachable("gone"));
        tally.add(&trouble);
        tally.add(&trouble.known());
        assert_eq!(tally.errors(), Errors { connection: 1, not_asked: 1, ..Errors::default() });
    }
}
