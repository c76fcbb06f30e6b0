//! How the sweep, or the end of the program, reaches the task that drives a connection.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Waker};

/// Something to be told to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum Call {
    /// Nothing.
    Quiet = 0,
    /// Take no further request, end those that are here.
    Drain = 1,
    /// The header of a request took too long: say so, and close.
    Late = 2,
    /// Close at once.
    Close = 3,
}

/// One call for one task, and the way to wake it.
pub(super) struct Alarm {
    call: AtomicU8,
    sleeper: Mutex<Option<Waker>>,
}

/// The task's half: remembers what was registered, so that the lock is taken once a connection and not once a poll.
pub(super) struct Listener {
    registered: Option<Waker>,
}

// === impl Alarm ===

impl Alarm {
    pub(super) fn new() -> Self {
        Self { call: AtomicU8::new(Call::Quiet as u8), sleeper: Mutex::new(None) }
    }

    /// Makes a call and wakes the task. A call never replaces a more urgent one.
    pub(super) fn ring(&self, call: Call) {
        if call <= self.call() {
            return;
        }
        self.call.store(call as u8, Relaxed);
        let sleeper = self.sleeper.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(waker) = &*sleeper {
            waker.wake_by_ref();
        }
    }

    pub(super) fn call(&self) -> Call {
        match self.call.load(Relaxed) {
            0 => Call::Quiet,
            1 => Call::Drain,
            2 => Call::Late,
            _ => Call::Close,
        }
    }
}

// === impl Listener ===

impl Listener {
    pub(super) fn new() -> Self {
        Self { registered: None }
    }

    /// What was called; the task is woken when that changes.
    pub(super) fn listen(&mut self, alarm: &Alarm, cx: &Context<'_>) -> Call {
        if !self.registered.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            let mut sleeper = alarm.sleeper.lock().unwrap_or_else(PoisonError::into_inner);
            *sleeper = Some(cx.waker().clone());
            self.registered = Some(cx.waker().clone());
        }
        alarm.call()
    }
}
