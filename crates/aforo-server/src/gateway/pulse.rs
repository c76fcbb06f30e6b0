//! What a client's connection is doing, and since when: written by the connection, read by the sweep.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering::Relaxed};

use http::Version;

use super::alarm::{Alarm, Call};
use super::clock::{Clock, Stamp, StampCell};
use super::settings::Timeouts;

/// The state of one connection from a client.
pub(super) struct Pulse {
    clock: Arc<Clock>,
    alarm: Alarm,
    phase: AtomicU8,
    /// When the phase began.
    since: StampCell,
    /// Requests in flight: at most one in HTTP/1.
    open: AtomicU32,
    /// Since when the client has not taken what we would write.
    blocked: StampCell,
    http2: AtomicBool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Phase {
    /// New: no byte has arrived.
    New = 0,
    /// A header has begun.
    Header = 1,
    /// At least one request is in flight.
    Serving = 2,
    /// Between requests.
    Idle = 3,
    /// No longer HTTP.
    Tunnel = 4,
}

/// The first bytes of an HTTP/2 connection.
const HTTP2: &[u8] = b"PRI ";

impl Pulse {
    pub(super) fn new(clock: Arc<Clock>) -> Self {
        let now = clock.now();
        Self {
            clock,
            alarm: Alarm::new(),
            phase: AtomicU8::new(Phase::New as u8),
            since: StampCell::at(now),
            open: AtomicU32::new(0),
            blocked: StampCell::unset(),
            http2: AtomicBool::new(false),
        }
    }

    pub(super) fn alarm(&self) -> &Alarm {
        &self.alarm
    }

    /// Bytes came from the client.
    pub(super) fn read(&self, bytes: &[u8]) {
        match self.phase() {
            Phase::New => {
                self.http2.store(bytes.starts_with(HTTP2), Relaxed);
                self.phase.store(Phase::Header as u8, Relaxed);
            }
            // In HTTP/2 a byte need not be the beginning of a request: it may be a ping.
            Phase::Idle if !self.is_http2() => self.enter(Phase::Header),
            _ => {}
        }
    }

    /// The client took bytes.
    pub(super) fn wrote(&self) {
        self.blocked.clear();
    }

    /// The client does not take bytes now.
    pub(super) fn write_blocked(&self) {
        self.blocked.set_if_unset(self.clock.now());
    }

    /// A request is complete up to its body.
    pub(super) fn begin(&self, version: Version) {
        // The first bytes may have been too few to tell.
        self.http2.store(version == Version::HTTP_2, Relaxed);
        self.open.store(self.open.load(Relaxed) + 1, Relaxed);
        self.phase.store(Phase::Serving as u8, Relaxed);
    }

    /// A response has ended or was abandoned.
    pub(super) fn end(&self) {
        let open = self.open.load(Relaxed).saturating_sub(1);
        self.open.store(open, Relaxed);
        if open == 0 && self.phase() == Phase::Serving {
            self.enter(Phase::Idle);
        }
    }

    /// The connection leaves HTTP, and the sweep's care.
    pub(super) fn become_tunnel(&self) {
        self.phase.store(Phase::Tunnel as u8, Relaxed);
    }

    /// Rings the alarm if the connection is overdue.
    pub(super) fn examine(&self, now: Stamp, timeouts: &Timeouts) {
        if let Some(call) = self.overdue(now, timeouts) {
            self.alarm.ring(call);
        }
    }

    fn overdue(&self, now: Stamp, timeouts: &Timeouts) -> Option<Call> {
        let phase = self.phase();
        if phase == Phase::Tunnel {
            return None;
        }
        if self.blocked.get().is_some_and(|since| since.is_past(timeouts.body, now)) {
            return Some(Call::Close);
        }
        let since = self.since.get()?;
        match phase {
            Phase::New => since.is_past(timeouts.header, now).then_some(Call::Close),
            Phase::Header if since.is_past(timeouts.header, now) => {
                Some(if self.is_http2() { Call::Close } else { Call::Late })
            }
            // An HTTP/2 client is told to go, and has a while to do so.
            Phase::Idle if since.is_past(timeouts.idle + timeouts.header, now) => Some(Call::Close),
            Phase::Idle if since.is_past(timeouts.idle, now) => Some(Call::Drain),
            _ => None,
        }
    }

    fn enter(&self, phase: Phase) {
        self.phase.store(phase as u8, Relaxed);
        self.since.set(self.clock.now());
    }

    fn is_http2(&self) -> bool {
        self.http2.load(Relaxed)
    }

    fn phase(&self) -> Phase {
        match self.phase.load(Relaxed) {
            0 => Phase::New,
            1 => Phase::Header,
            2 => Phase::Serving,
            3 => Phase::Idle,
            _ => Phase::Tunnel,
        }
    }
}
