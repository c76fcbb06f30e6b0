//! Latency: how long calls take, beside the time that the store gives them.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use aforo_core::{Hit, Hits, Key, Op, Quota};
use redis::Value;

use crate::doctor::Finding;
use crate::naming::Naming;
use crate::question;
use crate::servers::visit::Visit;

/// Calls of each kind.
const CALLS: usize = 200;
/// Where calls are so slow that all of them would take longer, fewer must do.
const LONG_ENOUGH: Duration = Duration::from_secs(3);
const AT_LEAST: usize = 20;

/// How long calls took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Latency {
    /// Half of them took no longer.
    pub median: Duration,
    /// All but one in a hundred took no longer.
    pub p99: Duration,
    /// None took longer.
    pub longest: Duration,
}

/// What was measured on one server.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Measured {
    /// Of a call of the least that there is.
    pub(super) round_trip: Option<Latency>,
    /// Of a decision.
    pub(super) decision: Option<Latency>,
    /// By how much the server's clock is ahead of ours.
    pub(super) clock_ahead_micros: Option<i64>,
}

/// Measures both, and the clock by the way. What gets no answer is not measured.
pub(super) async fn measure(visit: &mut Visit, naming: &Naming, subject: &[u8]) -> Measured {
    let mut measured = Measured::default();
    let mut took = Vec::with_capacity(CALLS);
    let mut quickest = Duration::MAX;
    let begun = Instant::now();
    while goes_on(took.len(), begun) {
        let (sent, sent_at) = (Instant::now(), micros_since_the_epoch());
        let Ok(answer) = visit.ask(&redis::cmd("TIME")).await else { break };
        let round_trip = sent.elapsed();
        took.push(round_trip);
        // The server read its clock at some time in between; the shorter that was, the better it is known.
        if round_trip < quickest
            && let Some(server) = moment(&answer)
        {
            quickest = round_trip;
            let halfway = sent_at.saturating_add(i64::try_from(round_trip.as_micros() / 2).unwrap_or(0));
            measured.clock_ahead_micros = Some(server.saturating_sub(halfway));
        }
    }
    measured.round_trip = Latency::of(took);
    measured.decision = decisions(visit, naming, subject).await;
    measured
}

async fn decisions(visit: &mut Visit, naming: &Naming, subject: &[u8]) -> Option<Latency> {
    const PLENTY: Quota = Quota::per_second(1_000_000);
    let key = Key::new(b"latency", subject).ok()?;
    let call = question::call(Op::Take, &Hits::one(Hit::new(key, PLENTY)), naming, None);
    let mut took = Vec::with_capacity(CALLS);
    // The first brings the script along.
    visit.run(&call).await.ok()?;
    let begun = Instant::now();
    while goes_on(took.len(), begun) {
        let sent = Instant::now();
        visit.run(&call).await.ok()?;
        took.push(sent.elapsed());
    }
    // It would end within two seconds by itself.
    let _ = visit.ask(redis::cmd("DEL").arg(naming.counter(&key))).await;
    Latency::of(took)
}

fn goes_on(calls: usize, begun: Instant) -> bool {
    calls < AT_LEAST || (calls < CALLS && begun.elapsed() < LONG_ENOUGH)
}

impl Latency {
    fn of(mut took: Vec<Duration>) -> Option<Latency> {
        took.sort_unstable();
        let below = |hundredths: usize| took.get((took.len() * hundredths).div_ceil(100).saturating_sub(1)).copied();
        Some(Latency { median: below(50)?, p99: below(99)?, longest: below(100)? })
    }
}

impl Measured {
    /// The server's moment now, in microseconds.
    pub(super) fn server_now(&self) -> u64 {
        let here = micros_since_the_epoch();
        here.saturating_add(self.clock_ahead_micros.unwrap_or(0)).try_into().unwrap_or(0)
    }

    /// What that means for a store whose calls have so much time.
    pub(super) fn finding(&self, timeout: Duration) -> Option<Finding> {
        let latency = self.decision.or(self.round_trip)?;
        let of = if self.decision.is_some() { "a decision" } else { "a call" };
        let shown = |time: Duration| format!("{:.2} ms", time.as_secs_f64() * 1_000.0);
        let message = format!(
            "{of} takes {} (median), {} (p99), at most {}; the store waits {timeout:?}",
            shown(latency.median),
            shown(latency.p99),
            shown(latency.longest)
        );
        let help = "put the server nearer, find what keeps it busy (SLOWLOG GET), or set a longer `timeout`";
        Some(if latency.median > timeout {
            Finding::fault("latency", message, help)
        } else if latency.p99 > timeout / 2 {
            Finding::warning("latency", message, help)
        } else {
            Finding::ok("latency", message)
        })
    }
}

/// Reads the answer to TIME.
fn moment(answer: &Value) -> Option<i64> {
    let (seconds, micros) = redis::from_redis_value_ref::<(i64, i64)>(answer).ok()?;
    seconds.checked_mul(1_000_000)?.checked_add(micros)
}

fn micros_since_the_epoch() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_micros().try_into().unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Severity;

    #[test]
    fn one_call_in_a_hundred_may_take_longer() {
        let latency = Latency::of((1..=200).rev().map(Duration::from_millis).collect()).unwrap();
        assert_eq!(latency.median, Duration::from_millis(100));
        assert_eq!(latency.p99, Duration::from_millis(198));
        assert_eq!(latency.longest, Duration::from_millis(200));
        assert_eq!(Latency::of(Vec::new()), None);
    }

    #[test]
    fn calls_that_take_most_of_their_time_are_a_warning_and_beyond_it_a_fault() {
        let took =
            |millis| Measured { decision: Latency::of(vec![Duration::from_millis(millis)]), ..Measured::default() };
        let severity = |millis| took(millis).finding(Duration::from_millis(50)).unwrap().severity;
        assert_eq!(
            [severity(25), severity(26), severity(50), severity(51)].map(|severity| severity as u8),
            [0, 1, 1, 2]
        );
        assert_eq!(severity(51), Severity::Fault);
    }
}
