//! Questions: the hits of a request as the arguments of the script.

use std::time::Duration;

use aforo_core::{Algorithm, Anchor, Cost, Hit, Hits, MAX_HITS, Mode, Moment, Op};
use redis::Cmd;

use crate::call::Call;
use crate::naming::{Naming, slot};
use crate::script;

/// A call of the script that decides `hits`. Only tests say what time it is.
pub(crate) fn call(op: Op, hits: &Hits, naming: &Naming, now: Option<Moment>) -> Call {
    call_within(op, hits, naming, now, Duration::ZERO)
}

/// The same, where a take that is refunded was dated by another server: this one's date is no earlier than by the slip.
pub(crate) fn call_within(op: Op, hits: &Hits, naming: &Naming, now: Option<Moment>, slip: Duration) -> Call {
    let script = script::for_hits(op, hits);
    let mut command = redis::cmd("EVALSHA");
    let logs = || hits.iter().filter(|hit| hit.quota.algorithm() == Algorithm::SlidingLog);
    command.arg(&script.digest).arg(hits.len() + logs().count());
    for hit in hits.iter() {
        command.arg(naming.counter(&hit.key));
    }
    for hit in logs() {
        command.arg(naming.log(&hit.key));
    }
    command.arg(match op {
        Op::Take => "take",
        Op::Peek => "peek",
        Op::Refund { .. } => "refund",
    });
    let mut sets = hits.len();
    for (hit, asked) in hits.iter().zip(asked(hits)) {
        push(&mut command, hit, asked, &mut sets);
    }
    match now.map(Moment::as_micros) {
        Some(now) => command.arg(now),
        None if matches!(op, Op::Refund { .. }) => command.arg(""),
        None => &mut command,
    };
    if let Op::Refund { taken_at } = op {
        command.arg(taken_at.as_micros());
        if slip > Duration::ZERO {
            command.arg(u64::try_from(slip.as_micros()).unwrap_or(u64::MAX));
        }
    }
    Call::new(script.text.clone(), command, hits.iter().next().map_or(0, |hit| slot(&hit.key)))
}

/// The algorithm, the mode, what is asked of the counter, and four numbers of the quota; `sets` counts the keys so far.
fn push(command: &mut Cmd, hit: &Hit, asked: Cost, sets: &mut usize) {
    let quota = &hit.quota;
    let (limit, window, grain) = (quota.limit(), quota.window_micros(), quota.grain());
    let mode = match (hit.mode, hit.count_denied) {
        (Mode::Enforce, false) => "enforce",
        (Mode::Enforce, true) => "enforce+",
        (Mode::Shadow, false) => "shadow",
        (Mode::Shadow, true) => "shadow+",
    };
    let letter = match quota.algorithm() {
        Algorithm::TokenBucket { .. } => "t",
        Algorithm::FixedWindow(_) => "f",
        Algorithm::SlidingWindow => "s",
        Algorithm::SlidingLog => "l",
    };
    command.arg(letter).arg(mode).arg(asked.units());
    match quota.algorithm() {
        Algorithm::TokenBucket { burst } => {
            command.arg(burst).arg(grain.per_unit).arg(grain.per_tick).arg(grain.tick);
        }
        Algorithm::FixedWindow(anchor) => {
            let anchor = if anchor == Anchor::Epoch { "epoch" } else { "hit" };
            command.arg(limit).arg(window).arg(anchor).arg("");
        }
        Algorithm::SlidingWindow => {
            command.arg(limit).arg(window).arg(grain.tick).arg("");
        }
        Algorithm::SlidingLog => {
            *sets += 1;
            command.arg(limit).arg(window).arg(*sets).arg(hit.cost.units());
        }
    }
}

/// What each hit asks of its counter: its cost, and those of the earlier hits of its key, so that two hits of one key fit
/// only together.
pub(crate) fn asked(hits: &Hits) -> impl Iterator<Item = Cost> {
    let mut costs = [Cost::new(0); MAX_HITS];
    for (index, hit) in hits.iter().enumerate() {
        let earlier = hits.iter().take(index).filter(|earlier| earlier.key == hit.key);
        let units = earlier.fold(hit.cost.units(), |units, earlier| units.saturating_add(earlier.cost.units()));
        if let Some(cost) = costs.get_mut(index) {
            *cost = Cost::new(units);
        }
    }
    costs.into_iter()
}
