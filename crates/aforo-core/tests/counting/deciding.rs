//! A request's several hits: `decide` against the plainest two-pass model.

use aforo_core::{Cost, Decision, Hit, Hits, Key, ManualClock, Mode, Moment, Op, Quota, Store, Verdict, Wait};
use aforo_testkit::{Oracle, PlainStore, block_on};
use proptest::prelude::*;

use crate::histories::{beginnings, cases, quotas, unsteady};

/// One rule of a request.
#[derive(Clone, Copy, Debug)]
struct Rule {
    quota: Quota,
    mode: Mode,
    count_denied: bool,
}

fn rules() -> impl Strategy<Value = Vec<Rule>> {
    let rule =
        (quotas(), prop::bool::weighted(0.3), prop::bool::weighted(0.3)).prop_map(|(quota, shadow, count_denied)| {
            Rule { quota, mode: if shadow { Mode::Shadow } else { Mode::Enforce }, count_denied }
        });
    prop::collection::vec(rule, 1..=8)
}

/// What one rule answers in the model: when it fits, what is left, when it is as new.
type Told = (Option<u64>, u32, u64);

/// First every rule is asked, then all is written or nothing.
fn model(op: Op, rules: &[Rule], oracles: &mut [Oracle], costs: &[Cost], now: Moment) -> (bool, Vec<Told>) {
    let asked: Vec<_> = oracles.iter().zip(costs).map(|(oracle, cost)| oracle.peek(*cost, now)).collect();
    let admitted = rules.iter().zip(&asked).all(|(rule, answer)| rule.mode == Mode::Shadow || answer.allowed());
    let mut told = Vec::new();
    for index in 0..rules.len() {
        let (fits, cost) = (asked[index].allowed(), costs[index]);
        let charged = op == Op::Take && (admitted && fits || rules[index].count_denied);
        if charged {
            oracles[index].write(cost, now);
        }
        let stands = oracles[index].peek(cost, now);
        let wait = if fits { Some(0) } else { stands.wait };
        told.push((wait, stands.remaining, stands.reset_micros));
    }
    (admitted, told)
}

fn told(decision: &Decision) -> (bool, Vec<Told>) {
    let told = |verdict: &Verdict| (verdict.wait.as_micros(), verdict.remaining, verdict.reset_micros);
    (decision.allowed(), decision.verdicts().map(told).collect())
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn several_hits_are_decided_as_the_two_pass_model_does(
        rules in rules(), start in beginnings(), steps in unsteady(25), peeks in any::<u32>(),
    ) {
        let clock: &ManualClock = Box::leak(Box::default());
        let store = PlainStore::new(clock);
        let mut oracles: Vec<_> = rules.iter().map(|rule| Oracle::new(rule.quota)).collect();
        let mut now = start;
        for (number, step) in steps.into_iter().enumerate() {
            now = step.gap.after(&rules[0].quota, now);
            clock.set(now);
            let op = if peeks >> number & 3 == 0 { Op::Peek } else { Op::Take };
            let costs: Vec<_> = rules.iter().map(|rule| step.ask.of(&rule.quota)).collect();
            let hits: Hits = rules.iter().enumerate().map(|(index, rule)| Hit {
                key: Key::new(b"rule", &[index as u8]).unwrap(),
                quota: rule.quota,
                cost: costs[index],
                mode: rule.mode,
                count_denied: rule.count_denied,
            }).collect();
            let decision = block_on(store.decide(op, &hits)).unwrap();
            prop_assert_eq!(told(&decision), model(op, &rules, &mut oracles, &costs, now));
            prop_assert_eq!(decision.taken_at(), now);
            let refusing = decision.verdicts().filter(|verdict| verdict.refuses()).map(|verdict| verdict.wait).max();
            prop_assert_eq!(decision.wait(), refusing.unwrap_or(Wait::NONE));
            prop_assert_eq!(decision.allowed(), refusing.is_none());
        }
    }
}

#[test]
fn a_ninth_hit_is_refused_by_name() {
    let hit = Hit::new(Key::new(b"rule", b"subject").unwrap(), Quota::per_second(1));
    let mut hits: Hits = [hit; 8].into_iter().collect();
    assert_eq!(hits.push(hit).unwrap_err().to_string(), "a request may meet at most 8 rules");
    assert_eq!(hits.len(), 8);
}

#[test]
fn two_keys_are_equal_only_if_both_of_their_parts_are() {
    let key = |rule: &str, subject: &str| Key::new(rule.as_bytes(), subject.as_bytes()).unwrap();
    assert_eq!(key("ab", "c"), key("ab", "c"));
    assert_ne!(key("ab", "c"), key("a", "bc"));
    assert_ne!(key("a", ""), key("", "a"));
    assert_ne!(key("a", "b"), key("a", "b\0"));
    assert_eq!((key("ab", "c").rule(), key("ab", "c").subject()), (&b"ab"[..], &b"c"[..]));
}

#[test]
fn a_key_that_is_too_long_says_by_how_much_and_what_to_do() {
    assert!(Key::new(&[b'r'; 20], &[b's'; 42]).is_ok());
    let long = Key::new(&[b'r'; 20], &[b's'; 43]).unwrap_err();
    assert_eq!(long.to_string(), "a key of 63 bytes: at most 62 fit, hash the subject");
}
