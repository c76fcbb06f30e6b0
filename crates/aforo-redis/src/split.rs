//! Requests whose hits lie in several slots of a cluster: each server decides its part, and what was granted is given back
//! where another refuses.

use std::sync::Arc;
use std::time::Duration;

use aforo_core::{Decision, Hits, MAX_HITS, Moment, Op, Origin, StoreError, StoreErrorKind, Verdict};
use futures_util::future::join_all;
use tokio::time::{Instant, timeout_at};

use crate::naming::slot;
use crate::store::{Shared, Told};

/// A decision has one date, the latest of its servers': that lies in the window that each of them has counted in, if it has
/// only just begun too. The others may have been earlier, by the time of a call and the difference of their clocks.
const SLIP: Duration = Duration::from_secs(1);

/// Whether the hits lie in several slots.
pub(crate) fn is_needed(hits: &Hits) -> bool {
    hits.only().is_none() && {
        let mut slots = hits.iter().map(|hit| slot(&hit.key));
        let first = slots.next();
        slots.any(|slot| Some(slot) != first)
    }
}

/// The hits of one slot, and their places in the request.
struct Part {
    slot: u16,
    hits: Hits,
    places: Vec<usize>,
}

fn parts(hits: &Hits) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for (place, hit) in hits.iter().enumerate() {
        let slot = slot(&hit.key);
        let part = match parts.iter_mut().position(|part| part.slot == slot) {
            Some(known) => parts.get_mut(known),
            None => {
                parts.push(Part { slot, hits: Hits::new(), places: Vec::new() });
                parts.last_mut()
            }
        };
        if let Some(part) = part
            && part.hits.push(*hit).is_ok()
        {
            part.places.push(place);
        }
    }
    parts
}

/// Decides, to the end. A caller who goes away in between could otherwise, refused by the one rule, use up another's units.
pub(crate) async fn decide(shared: Arc<Shared>, op: Op, hits: Hits, deadline: Instant) -> Result<Decision, StoreError> {
    let deciding = tokio::spawn(decide_parts(shared, op, hits, deadline));
    deciding.await.unwrap_or_else(|_| Err(StoreError::new(StoreErrorKind::Other)))
}

/// Puts each part to its server, all at once.
async fn decide_parts(shared: Arc<Shared>, op: Op, hits: Hits, deadline: Instant) -> Result<Decision, StoreError> {
    let parts = parts(&hits);
    let told = join_all(parts.iter().map(|part| shared.ask(op, &part.hits, SLIP, deadline))).await;
    let admitted = told.iter().all(|told| told.as_ref().is_ok_and(|told| told.decision.allowed()));
    if op == Op::Take && !admitted {
        give_back(&shared, parts.iter().zip(&told), deadline).await;
    }
    let told: Vec<Told> = told.into_iter().collect::<Result<_, _>>()?;
    let mut verdicts: [Option<Verdict>; MAX_HITS] = [None; MAX_HITS];
    for (part, told) in parts.iter().zip(&told) {
        for (place, taken) in part.places.iter().zip(told.decision.verdicts()) {
            if let Some(verdict) = verdicts.get_mut(*place) {
                *verdict = Some(*taken);
            }
        }
        if op == Op::Take && !admitted && told.decision.allowed() {
            // What was granted and given back is shown as it stood before.
            let (looked, _) = told.before.decide(Op::Peek, &part.hits);
            for ((place, hit), looked) in part.places.iter().zip(part.hits.iter()).zip(looked.verdicts()) {
                if let Some(verdict) = verdicts.get_mut(*place).filter(|_| !hit.count_denied) {
                    *verdict = Some(*looked);
                }
            }
        }
    }
    let taken_at = told.iter().map(|told| told.before.now).max().unwrap_or(Moment::EPOCH);
    Ok(Decision::new(verdicts.into_iter().flatten(), taken_at, Origin::Store))
}

/// Gives back what was granted. It goes on when the deadline has passed: the client need not wait, the units must come back.
async fn give_back<'a>(
    shared: &Arc<Shared>,
    told: impl Iterator<Item = (&'a Part, &'a Result<Told, StoreError>)>,
    deadline: Instant,
) {
    let granted: Vec<(Hits, Moment)> = told
        .filter_map(|(part, told)| {
            let told = told.as_ref().ok().filter(|told| told.decision.allowed())?;
            let charged = part.hits.iter().zip(told.decision.verdicts());
            let back = charged.filter(|(hit, verdict)| verdict.allowed() && !hit.count_denied).map(|(hit, _)| *hit);
            Some((back.collect::<Hits>(), told.before.now))
        })
        .filter(|(back, _)| !back.is_empty())
        .collect();
    let shared = Arc::clone(shared);
    let returning = tokio::spawn(async move {
        let deadline = shared.deadline();
        let refunds = granted
            .iter()
            .map(|(hits, taken_at)| shared.ask(Op::Refund { taken_at: *taken_at }, hits, Duration::ZERO, deadline));
        // Where it fails, the servers' counts and log say so: a unit comes back later, with its window.
        drop(join_all(refunds).await);
    });
    let _ = timeout_at(deadline, returning).await;
}
