//! All connections of a worker, and the look that is taken at them with every tick.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::{Arc, Weak};

use tokio::sync::Notify;

use super::alarm::Call;
use super::clock::{Clock, TICK};
use super::pulse::Pulse;
use super::settings::Timeouts;
use super::upstream::UpstreamPulse;

/// The connections of one worker.
pub(super) struct Roster {
    clock: Arc<Clock>,
    timeouts: Timeouts,
    clients: RefCell<Vec<Weak<Pulse>>>,
    upstreams: RefCell<Vec<Weak<UpstreamPulse>>>,
    draining: Cell<bool>,
    present: Cell<usize>,
    left: Notify,
}

/// Keeps a draining worker alive: held by every connection and tunnel.
pub(super) struct Presence {
    roster: Rc<Roster>,
}

// === impl Roster ===

impl Roster {
    pub(super) fn new(timeouts: Timeouts) -> Rc<Self> {
        Rc::new(Self {
            clock: Arc::new(Clock::new()),
            timeouts: timeouts.bounded(),
            clients: RefCell::default(),
            upstreams: RefCell::default(),
            draining: Cell::new(false),
            present: Cell::new(0),
            left: Notify::new(),
        })
    }

    pub(super) fn clock(&self) -> &Arc<Clock> {
        &self.clock
    }

    pub(super) fn timeouts(&self) -> &Timeouts {
        &self.timeouts
    }

    /// The pulse of a new client connection.
    pub(super) fn enter_client(&self) -> Arc<Pulse> {
        let pulse = Arc::new(Pulse::new(Arc::clone(&self.clock)));
        if self.draining.get() {
            pulse.alarm().ring(Call::Drain);
        }
        self.clients.borrow_mut().push(Arc::downgrade(&pulse));
        pulse
    }

    /// The pulse of a new upstream connection.
    pub(super) fn enter_upstream(&self) -> Arc<UpstreamPulse> {
        let pulse = Arc::new(UpstreamPulse::new(Arc::clone(&self.clock)));
        self.upstreams.borrow_mut().push(Arc::downgrade(&pulse));
        pulse
    }

    pub(super) fn presence(self: &Rc<Self>) -> Presence {
        self.present.set(self.present.get() + 1);
        Presence { roster: Rc::clone(self) }
    }

    /// Moves the clock and calls those who are overdue, for ever.
    pub(super) async fn sweep(self: Rc<Self>) {
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            self.clock.tick();
            let now = self.clock.now();
            examine(&self.clients, |pulse| pulse.examine(now, &self.timeouts));
            examine(&self.upstreams, |pulse| pulse.examine(now, &self.timeouts));
        }
    }

    /// Asks every client connection to end, and waits until all have.
    pub(super) async fn drain(&self) {
        self.draining.set(true);
        examine(&self.clients, |pulse| pulse.alarm().ring(Call::Drain));
        while self.present.get() > 0 {
            self.left.notified().await;
        }
    }
}

/// Looks at those that still live, and forgets the others.
fn examine<P>(pulses: &RefCell<Vec<Weak<P>>>, look: impl Fn(&P)) {
    pulses.borrow_mut().retain(|pulse| match pulse.upgrade() {
        Some(pulse) => {
            look(&pulse);
            true
        }
        None => false,
    });
}

impl Drop for Presence {
    fn drop(&mut self) {
        let present = self.roster.present.get().saturating_sub(1);
        self.roster.present.set(present);
        if present == 0 {
            self.roster.left.notify_one();
        }
    }
}
