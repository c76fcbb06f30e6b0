use aforo_core::{Algorithm, Anchor, Hit};
use redis::Value;

use super::*;

const HOUR: Duration = Duration::from_secs(3_600);
// An hour begins.
const START: Moment = Moment::from_micros(1_699_999_200_000_000);
const NO_TIME: Duration = Duration::ZERO;

fn hit(subject: &str) -> Hit {
    Hit::new(Key::new(b"rule", subject.as_bytes()).unwrap(), Quota::new(5, HOUR).unwrap().fixed_window())
}

/// A counter of which so much is used.
fn used(units: u32) -> Counter {
    Counter::Known(State::FixedWindow { used: units, at: START, window: 1, anchor: Anchor::FirstHit })
}

/// What the server told of `hits`, so many milliseconds after the start of its clock. By ours it was asked and told so
/// long ago.
fn told(op: Op, hits: &Hits, counter: Counter, millis: u64, asked: Duration, told: Duration) -> Told {
    let now = START.plus_micros(millis * 1_000);
    let before = Counters::remembered(now, [counter; MAX_HITS]);
    let (decision, after) = before.decide(op, hits);
    let ago = |time| Instant::now().checked_sub(time).unwrap();
    Told { decision, before, after, asked_at: ago(asked), told_at: ago(told) }
}

fn refusal(hits: &Hits, millis: u64, asked: Duration) -> Told {
    told(Op::Take, hits, used(5), millis, asked, NO_TIME)
}

#[test]
fn who_was_refused_is_refused_again() {
    let (denials, hits) = (Denials::new(), Hits::one(hit("client")));
    assert!(denials.answer(&hits, None).is_none());
    denials.learn(Op::Take, &hits, &refusal(&hits, 0, NO_TIME));
    assert!(!denials.answer(&hits, None).unwrap().allowed());
    assert!(denials.answer(&Hits::one(hit("stranger")), None).is_none());
    assert_eq!(denials.answered(), 1);
}

#[test]
fn a_denial_that_is_counted_is_told_to_the_server() {
    let (denials, hits) = (Denials::new(), Hits::one(hit("client")));
    denials.learn(Op::Take, &hits, &refusal(&hits, 0, NO_TIME));
    let strict = Hits::one(Hit { count_denied: true, ..hit("client") });
    assert!(denials.answer(&strict, None).is_none());
}

#[test]
fn a_refusal_that_was_on_its_way_while_a_refund_was_made_does_not_undo_it() {
    let hits = Hits::one(hit("client"));
    let op = Op::Refund { taken_at: START };
    let long = Duration::from_millis(100);
    let older = || refusal(&hits, 10, long);
    let refund = || told(op, &hits, used(5), 20, long, NO_TIME);

    let denials = Denials::new();
    denials.learn(op, &hits, &refund());
    denials.learn(Op::Take, &hits, &older());
    assert!(denials.answer(&hits, None).is_none(), "the refund was learned of first");

    let denials = Denials::new();
    denials.learn(Op::Take, &hits, &older());
    denials.learn(op, &hits, &refund());
    assert!(denials.answer(&hits, None).is_none(), "the refusal was learned of first");
}

#[test]
fn a_refund_counts_though_the_clock_of_the_server_has_stepped_back() {
    let (denials, hits) = (Denials::new(), Hits::one(hit("client")));
    denials.learn(Op::Take, &hits, &refusal(&hits, 60_000, NO_TIME));
    let op = Op::Refund { taken_at: START };
    denials.learn(op, &hits, &told(op, &hits, used(5), 0, NO_TIME, NO_TIME));
    assert!(denials.answer(&hits, None).is_none());
}

#[test]
fn a_refusal_is_soon_too_old_to_be_repeated() {
    let (denials, hits) = (Denials::new(), Hits::one(hit("client")));
    denials.learn(Op::Take, &hits, &refusal(&hits, 0, FRESH));
    assert!(denials.answer(&hits, None).is_none());
}

#[test]
fn nobody_is_refused_whom_the_server_would_admit_by_now() {
    let (denials, hits) = (Denials::new(), Hits::one(hit("client")));
    // It was asked 100 ms ago, and the window ends 50 ms after it has decided: by now, perhaps.
    let millis = 3_600_000 - 50;
    let hundred = Duration::from_millis(100);
    denials.learn(Op::Take, &hits, &refusal(&hits, millis, hundred));
    assert!(denials.answer(&hits, None).is_none());
}

#[test]
fn the_wait_is_told_from_the_earliest_moment_that_it_can_be() {
    let (denials, hits) = (Denials::new(), Hits::one(hit("client")));
    let answer = refusal(&hits, 1_800_000, Duration::from_millis(200));
    denials.learn(Op::Take, &hits, &answer);
    let wait = denials.answer(&hits, None).unwrap().wait().as_micros().unwrap();
    let passed = answer.told_at.elapsed().as_micros() as u64;
    assert!(wait <= 1_800_000_000 && wait + passed >= 1_800_000_000, "{wait} after {passed}");
}

#[test]
fn a_log_is_known_only_to_who_asks_the_same() {
    let text = |text: &str| Value::BulkString(text.into());
    let quota = |limit| Quota::counted_by(Algorithm::SlidingLog, limit, HOUR).unwrap();
    let hit = Hit { quota: quota(5), ..hit("client") };
    let hits = Hits::one(hit);
    let answer =
        Value::Array(vec![text("1699999200"), text("0"), Value::Int(0), text("l5 1699999200000000 1699999200000000")]);
    let before = Counters::read(&answer, &hits).unwrap();
    let (decision, after) = before.decide(Op::Take, &hits);
    let denials = Denials::new();
    denials.learn(
        Op::Take,
        &hits,
        &Told { decision, before, after, asked_at: Instant::now(), told_at: Instant::now() },
    );
    assert!(denials.answer(&hits, None).is_some());
    assert!(denials.answer(&Hits::one(Hit { cost: Cost::new(2), ..hit }), None).is_none());
    assert!(denials.answer(&Hits::one(Hit { quota: quota(6), ..hit }), None).is_none());
}

#[test]
fn a_hundred_thousand_clients_take_no_more_room_than_there_is() {
    let denials = Denials::new();
    let learn = |client: u32, asked| {
        let hits = Hits::one(hit(&client.to_string()));
        denials.learn(Op::Take, &hits, &refusal(&hits, 0, asked));
        denials.answer(&hits, None).is_some()
    };
    assert!(!(0..100_000).any(|client| learn(client, FRESH)));
    let held = denials.shards.iter().map(|shard| shard.lock().unwrap().len()).sum::<usize>();
    assert!(held <= SHARDS * ROOM, "{held}");
    assert!((0..100).all(|client| learn(200_000 + client, NO_TIME)), "what is too old makes room");
}
