//! Counters as the script reported them, and what the engine makes of them.

use aforo_core::algorithm::sliding_log::{self, Log};
use aforo_core::{Algorithm, Anchor, Cost, Decision, Grain, Hit, Hits, Ledger, MAX_HITS, Moment, Op, State, Weighed};
use redis::Value;

use crate::question::asked;

/// The counters of a request's hits as they were when the script decided.
#[derive(Clone, Debug)]
pub(crate) struct Counters {
    /// By the server's clock.
    pub(crate) now: Moment,
    /// Whether the script has admitted the request.
    pub(crate) admitted: bool,
    counters: [Counter; MAX_HITS],
}

/// One counter.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Counter {
    /// What it holds.
    Known(State),
    /// A sliding log, as it was and as it is after what was written, unless that was just the hit's cost.
    Log(Lines, Lines),
    /// A sliding log that has changed since it was reported.
    Unknown,
}

/// As much of a sliding log as matters to one cost: how many units are live, when the newest was taken, and when the last
/// one was that must leave before the cost fits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lines {
    live: u32,
    newest: Moment,
    leaving: Moment,
}

impl Log for Lines {
    fn len(&self) -> u32 {
        self.live
    }

    fn at(&self, index: u32) -> Moment {
        if index + 1 >= self.live { self.newest } else { self.leaving }
    }
}

impl Counters {
    /// Counters that are known from before.
    pub(crate) fn remembered(now: Moment, counters: [Counter; MAX_HITS]) -> Counters {
        Counters { now, admitted: false, counters }
    }

    /// Reads the script's answer to `hits`; `None` if it is none.
    pub(crate) fn read(answer: &Value, hits: &Hits) -> Option<Counters> {
        let Value::Array(parts) = answer else { return None };
        let [seconds, micros, admitted, states @ ..] = parts.as_slice() else { return None };
        let now = number(bytes(seconds)?)?.checked_mul(1_000_000)?.checked_add(number(bytes(micros)?)?)?;
        let admitted = matches!(admitted, Value::Int(1));
        let mut counters = [Counter::Known(State::Fresh); MAX_HITS];
        if states.len() != hits.len() {
            return None;
        }
        for ((counter, state), hit) in counters.iter_mut().zip(states).zip(hits.iter()) {
            *counter = match (state, hit.quota.algorithm()) {
                (Value::Nil, _) => Counter::Known(State::Fresh),
                (told, Algorithm::SlidingLog) => Counter::log(bytes(told)?)?,
                // What no algorithm has written is as good as nothing.
                (stored, _) => Counter::Known(state_of(bytes(stored)?).unwrap_or_default()),
            };
        }
        Some(Counters { now: Moment::from_micros(now), admitted, counters })
    }

    /// What the engine answers to `hits` on these counters, and what it leaves of them.
    pub(crate) fn decide(&self, op: Op, hits: &Hits) -> (Decision, [Counter; MAX_HITS]) {
        let mut asked_of = [Cost::new(0); MAX_HITS];
        asked_of.iter_mut().zip(asked(hits)).for_each(|(slot, cost)| *slot = cost);
        let mut replay = Replay { counters: self.counters, asked: asked_of, written: false };
        let decision = aforo_core::decide(op, hits, self.now, &mut replay);
        (decision, replay.counters)
    }
}

impl Counter {
    /// One report of a log, or two.
    fn log(text: &[u8]) -> Option<Counter> {
        let mut reports = text.split(|&byte| byte == b'l').skip(1).map(|report| {
            let mut numbers = report.split(|&byte| byte == b' ').map(number);
            let live = u32::try_from(numbers.next()??).ok()?;
            let mut moment = || Some(Moment::from_micros(numbers.next()??));
            Some(Lines { live, newest: moment()?, leaving: moment()? })
        });
        let before = reports.next()??;
        Some(Counter::Log(before, reports.next().unwrap_or(Some(before))?))
    }
}

/// Below this a double holds every whole number, and Lua knows no other.
const EXACT: u64 = 1 << 53;

/// A state as `lua/state.lua` describes it, and takes it for one. Of a quota that was counted by, only what [`State::usage`] needs is stored.
pub(crate) fn state_of(text: &[u8]) -> Option<State> {
    let (letter, numbers) = text.split_first()?;
    let mut numbers = numbers.split(|&byte| byte == b' ');
    let mut next = || numbers.next();
    let exact = |digits: &[u8]| number(digits).filter(|number| *number < EXACT);
    let moment = |digits: &[u8]| exact(digits).map(Moment::from_micros);
    let units = |digits: &[u8]| exact(digits).and_then(|number| u32::try_from(number).ok());
    let some = |digits: &[u8]| if digits.starts_with(b"0") { None } else { exact(digits) };
    let state = match letter {
        b't' => {
            let (debt, at, per_unit) = (exact(next()?)?, moment(next()?)?, some(next()?)?);
            State::TokenBucket { debt, at, grain: Grain { per_unit, per_tick: 1, tick: 1 } }
        }
        b'f' => {
            let (used, at) = (units(next()?)?, moment(next()?)?);
            State::FixedWindow { used, at, window: 1, anchor: Anchor::FirstHit }
        }
        b's' => {
            let (previous, current) = (units(next()?)?, units(next()?)?);
            let (at, window) = (moment(next()?)?, some(next()?)?);
            State::SlidingWindow { previous, current, at, window }
        }
        b'l' => {
            let (live, newest, _) = (units(next()?)?, moment(next()?)?, exact(next()?)?);
            State::SlidingLog { live, newest, window: 1 }
        }
        _ => return None,
    };
    numbers.next().is_none().then_some(state)
}

fn bytes(value: &Value) -> Option<&[u8]> {
    match value {
        Value::BulkString(bytes) => Some(bytes),
        _ => None,
    }
}

fn number(digits: &[u8]) -> Option<u64> {
    // A sign can be read, but Lua writes none.
    let digits = str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?;
    digits.parse().ok()
}

/// The script's decision once more, for the words of it.
struct Replay {
    counters: [Counter; MAX_HITS],
    asked: [Cost; MAX_HITS],
    written: bool,
}

impl Replay {
    fn write(&mut self, index: usize, state: State) {
        self.written = true;
        match self.counters.get_mut(index) {
            Some(Counter::Log(before, after)) => *before = *after,
            Some(counter) => *counter = Counter::Known(state),
            None => {}
        }
    }
}

impl Ledger for Replay {
    fn weigh(&mut self, index: usize, hit: &Hit, now: Moment) -> Weighed {
        // What is weighed after something was written is what it has come to, for this hit alone.
        let cost = if self.written { None } else { self.asked.get(index).copied() }.unwrap_or(hit.cost);
        match self.counters.get(index) {
            Some(Counter::Log(log, _)) => sliding_log::weigh(&hit.quota, log, cost, now),
            Some(Counter::Known(state)) => aforo_core::weigh(&hit.quota, state, cost, now),
            _ => aforo_core::weigh(&hit.quota, &State::Fresh, cost, now),
        }
    }

    fn charge(&mut self, index: usize, _: &Hit, weighed: &Weighed) {
        self.written = true;
        match self.counters.get_mut(index) {
            Some(Counter::Known(state)) if !matches!(weighed.after, State::SlidingLog { .. }) => *state = weighed.after,
            Some(counter) => *counter = Counter::Unknown,
            None => {}
        }
    }

    fn overcharge(&mut self, index: usize, hit: &Hit, weighed: &Weighed) {
        self.write(index, aforo_core::overcharge(&hit.quota, weighed, hit.cost));
    }

    fn refund(&mut self, index: usize, hit: &Hit, weighed: &Weighed, taken_at: Moment) {
        self.write(index, aforo_core::refund(&hit.quota, weighed, hit.cost, taken_at));
    }
}
