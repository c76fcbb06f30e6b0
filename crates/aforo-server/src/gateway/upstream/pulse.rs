//! What a connection to an upstream is doing: written by its task, read by the sweep.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed};
use std::time::Duration;

use super::super::alarm::{Alarm, Call};
use super::super::clock::{Clock, Stamp, StampCell};
use super::super::settings::Timeouts;

/// The state of one connection to an upstream.
pub(in crate::gateway) struct UpstreamPulse {
    clock: Arc<Clock>,
    alarm: Alarm,
    busy: AtomicBool,
    /// Since when nothing has come from the upstream although we listened.
    silent: StampCell,
    /// When something came last, or the connection began to work or to rest.
    moved: StampCell,
    /// The request body is what we wait for, so the upstream may be silent.
    client_awaited: AtomicBool,
    fault: AtomicU8,
}

/// Why an exchange with an upstream was given up, where that is known better than by the error of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(in crate::gateway) enum Fault {
    /// Nobody's, or the upstream's.
    None = 0,
    /// The upstream was silent for too long.
    UpstreamSilent = 1,
    /// The client stopped sending.
    ClientSilent = 2,
    /// The client's body broke off or made no sense.
    ClientBroken = 3,
}

// === impl UpstreamPulse ===

impl UpstreamPulse {
    pub(in crate::gateway) fn new(clock: Arc<Clock>) -> Self {
        let now = clock.now();
        Self {
            clock,
            alarm: Alarm::new(),
            busy: AtomicBool::new(false),
            silent: StampCell::unset(),
            moved: StampCell::at(now),
            client_awaited: AtomicBool::new(false),
            fault: AtomicU8::new(Fault::None as u8),
        }
    }

    /// A request is sent: from now on the upstream is expected to speak.
    pub(in crate::gateway) fn begin(&self) {
        self.enter(true);
        self.silent.set(self.clock.now());
    }

    /// The response has ended; the connection waits in the pool.
    pub(in crate::gateway) fn rest(&self) {
        self.enter(false);
    }

    /// Whether the connection rested so long that its server may be about to close it.
    pub(in crate::gateway) fn is_cold(&self) -> bool {
        const FRESH: Duration = Duration::from_millis(500);
        self.moved.get().is_none_or(|since| since.is_past(FRESH, self.clock.now()))
    }

    /// The alarm that closes the connection.
    pub(super) fn alarm(&self) -> &Alarm {
        &self.alarm
    }

    pub(in crate::gateway) fn fault(&self) -> Fault {
        match self.fault.load(Relaxed) {
            0 => Fault::None,
            1 => Fault::UpstreamSilent,
            2 => Fault::ClientSilent,
            _ => Fault::ClientBroken,
        }
    }

    /// Closes the connection if it is overdue. One that became a tunnel has no task any more that would hear of it.
    pub(in crate::gateway) fn examine(&self, now: Stamp, timeouts: &Timeouts) {
        let moved = |limit| self.moved.get().is_some_and(|since| since.is_past(limit, now));
        if !self.busy.load(Relaxed) {
            if moved(timeouts.idle) {
                self.alarm.ring(Call::Close);
            }
        } else if !self.client_awaited.load(Relaxed) {
            match self.silent.get() {
                Some(since) if since.is_past(timeouts.upstream, now) => {
                    self.note(Fault::UpstreamSilent);
                    self.alarm.ring(Call::Close);
                }
                // There is something to read, and nobody reads: the client does not take the response. This is how a
                // stalled stream of HTTP/2 gives back its upstream connection.
                None if moved(timeouts.body) => self.alarm.ring(Call::Close),
                _ => {}
            }
        }
    }

    fn enter(&self, busy: bool) {
        self.busy.store(busy, Relaxed);
        self.moved.set(self.clock.now());
        self.client_awaited.store(false, Relaxed);
    }

    /// Remembers why the exchange cannot end well.
    pub(super) fn note(&self, fault: Fault) {
        self.fault.store(fault as u8, Relaxed);
    }

    /// We listen, and nothing comes.
    pub(super) fn listens(&self) {
        self.silent.set_if_unset(self.clock.now());
    }

    /// Something came, or the end.
    pub(super) fn spoke(&self) {
        self.silent.clear();
        self.moved.set(self.clock.now());
    }

    /// The request goes on when the client does.
    pub(super) fn await_client(&self) {
        self.client_awaited.store(true, Relaxed);
    }

    /// The client sent a part of the request, or its end.
    pub(super) fn client_moved(&self) {
        self.client_awaited.store(false, Relaxed);
        self.silent.set(self.clock.now());
    }
}
