//! The slow, exact model of counting.
//!
//! It shares no arithmetic with the engine. It keeps the plain list of everything that was ever taken, computes each
//! answer from that list in 128-bit integers over the common denominator (the window), and finds waits by trying
//! moments until one admits. The engine must say the same, to the microsecond.

use aforo_core::{Algorithm, Anchor, Cost, Moment, Quota, Wait};

/// What the model answers to a cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Microseconds until the cost fits; `None` if it never does.
    pub wait: Option<u64>,
    /// Whole units that are left.
    pub remaining: u32,
    /// Microseconds until the counter is as new (of a fixed window: until it ends).
    pub reset_micros: u64,
}

/// One counter of one quota, as the list of what was taken.
#[derive(Clone, Debug)]
pub struct Oracle {
    quota: Quota,
    takes: Vec<Taken>,
}

#[derive(Clone, Copy, Debug)]
struct Taken {
    /// The effective moment in microseconds: of a bucket, on a whole tick.
    at: u64,
    units: u32,
}

/// What must be known of the list to answer for a moment.
struct Counted {
    /// Units in use, times the window, times nothing else: the common denominator keeps fractions whole.
    weight: u128,
    /// Whether the key is as new.
    clear: bool,
}

impl Answer {
    /// Whether the cost fits.
    pub fn allowed(&self) -> bool {
        self.wait == Some(0)
    }

    /// The engine's word for the wait.
    pub fn says(&self, wait: Wait) -> bool {
        self.wait == wait.as_micros()
    }
}

impl Oracle {
    /// A fresh counter.
    pub fn new(quota: Quota) -> Oracle {
        Oracle { quota, takes: Vec::new() }
    }

    /// Takes a cost if it fits; the answer says what is left afterwards.
    pub fn take(&mut self, cost: Cost, now: Moment) -> Answer {
        let asked = self.peek(cost, now);
        if !asked.allowed() {
            return asked;
        }
        self.write(cost, now);
        Answer { wait: Some(0), ..self.peek(Cost::new(0), now) }
    }

    /// Writes a cost down whether it fits or not. What is beyond the quota is forgotten.
    pub fn write(&mut self, cost: Cost, now: Moment) {
        if cost.units() > 0 {
            self.takes.push(Taken { at: self.effective(now), units: cost.units() });
        }
    }

    /// Answers as `take` would, and takes nothing.
    pub fn peek(&self, cost: Cost, now: Moment) -> Answer {
        let from = self.effective(now);
        // A bucket's promises count from what the clock shows, the others' from the moment they count by.
        let seen = if self.is_bucket() { now.as_micros() } else { from };
        let window = u128::from(self.quota.window_micros());
        let free = self.full().saturating_sub(self.counted(from).weight);
        let fits = |after: u64| {
            let at = self.effective(Moment::from_micros(seen + after));
            cost.units() == 0 || self.counted(at).weight + u128::from(cost.units()) * window <= self.full()
        };
        let clear = |after: u64| self.counted(self.effective(Moment::from_micros(seen + after))).clear;
        Answer {
            wait: (cost.units() <= self.quota.at_once() || cost.units() == 0).then(|| first(fits)),
            remaining: (free / window) as u32,
            reset_micros: match self.quota.algorithm() {
                Algorithm::FixedWindow(anchor) => self.window_end(anchor, from) - from,
                _ => first(clear),
            },
        }
    }

    fn is_bucket(&self) -> bool {
        matches!(self.quota.algorithm(), Algorithm::TokenBucket { .. })
    }

    fn full(&self) -> u128 {
        u128::from(self.quota.at_once()) * u128::from(self.quota.window_micros())
    }

    /// The moment that is counted by, in microseconds: never before what is written down already.
    fn effective(&self, now: Moment) -> u64 {
        let (now, window) = (now.as_micros(), self.quota.window_micros());
        let Some(last) = self.takes.last() else {
            return if self.is_bucket() { self.on_tick(now) } else { now };
        };
        match self.quota.algorithm() {
            Algorithm::TokenBucket { .. } => self.on_tick(now).max(last.at),
            Algorithm::SlidingLog => now.max(last.at),
            Algorithm::SlidingWindow | Algorithm::FixedWindow(Anchor::Epoch) => now.max(last.at / window * window),
            Algorithm::FixedWindow(Anchor::FirstHit) => now.max(self.first_hit_window().0),
        }
    }

    fn on_tick(&self, micros: u64) -> u64 {
        let tick = u64::from(self.quota.grain().tick);
        micros / tick * tick
    }

    fn counted(&self, at: u64) -> Counted {
        let window = u128::from(self.quota.window_micros());
        match self.quota.algorithm() {
            Algorithm::TokenBucket { .. } => {
                let weight = self.full() - self.level(at);
                Counted { weight, clear: weight == 0 }
            }
            Algorithm::FixedWindow(anchor) => {
                let used = self.in_fixed_window(anchor, at);
                Counted { weight: used * window, clear: used == 0 }
            }
            Algorithm::SlidingWindow => self.in_two_windows(at),
            Algorithm::SlidingLog => {
                let live = self.takes.iter().filter(|taken| at - taken.at < self.quota.window_micros());
                let units = self.at_most_full(live);
                Counted { weight: units * window, clear: units == 0 }
            }
        }
    }

    /// The bucket's content at a moment, in units times the window, followed from the first take on.
    fn level(&self, at: u64) -> u128 {
        let (mut level, mut then) = (self.full(), 0);
        let pours_in = |micros: u64| u128::from(micros) * u128::from(self.quota.limit());
        for taken in &self.takes {
            level = (level + pours_in(taken.at - then)).min(self.full());
            level = level.saturating_sub(u128::from(taken.units) * u128::from(self.quota.window_micros()));
            then = taken.at;
        }
        (level + pours_in(at.saturating_sub(then))).min(self.full())
    }

    fn at_most_full<'a>(&self, takes: impl Iterator<Item = &'a Taken>) -> u128 {
        takes.map(|taken| u128::from(taken.units)).sum::<u128>().min(self.quota.limit().into())
    }

    fn in_fixed_window(&self, anchor: Anchor, at: u64) -> u128 {
        let window = self.quota.window_micros();
        match anchor {
            Anchor::Epoch => self.at_most_full(self.takes.iter().filter(|taken| taken.at / window == at / window)),
            Anchor::FirstHit => match self.first_hit_window() {
                (start, used) if at < start + window => used,
                _ => 0,
            },
        }
    }

    /// The beginning of the last window that began with a take, and what was taken in it.
    fn first_hit_window(&self) -> (u64, u128) {
        let (mut start, mut used) = (None, 0);
        for taken in &self.takes {
            if start.is_none_or(|start| taken.at >= start + self.quota.window_micros()) {
                (start, used) = (Some(taken.at), 0);
            }
            used = (used + u128::from(taken.units)).min(self.quota.limit().into());
        }
        (start.unwrap_or(0), used)
    }

    fn window_end(&self, anchor: Anchor, from: u64) -> u64 {
        let window = self.quota.window_micros();
        match anchor {
            Anchor::Epoch => (from / window + 1) * window,
            Anchor::FirstHit if self.in_fixed_window(anchor, from) > 0 => self.first_hit_window().0 + window,
            Anchor::FirstHit => from,
        }
    }

    fn in_two_windows(&self, at: u64) -> Counted {
        let window = self.quota.window_micros();
        let number = at / window;
        let taken_in = |number: u64| self.at_most_full(self.takes.iter().filter(|taken| taken.at / window == number));
        let current = taken_in(number);
        let previous = number.checked_sub(1).map_or(0, taken_in);
        let left = window - self.on_tick(at % window);
        Counted {
            weight: previous * u128::from(left) + current * u128::from(window),
            clear: previous == 0 && current == 0,
        }
    }
}

/// The first microsecond at which `holds`, which goes on holding from there.
fn first(holds: impl Fn(u64) -> bool) -> u64 {
    let mut beyond = 1_u64;
    if holds(0) {
        return 0;
    }
    while !holds(beyond) {
        beyond *= 2;
    }
    let mut before = beyond / 2;
    while before + 1 < beyond {
        let middle = before + (beyond - before) / 2;
        if holds(middle) {
            beyond = middle;
        } else {
            before = middle;
        }
    }
    beyond
}
