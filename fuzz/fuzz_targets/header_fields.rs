//! Whatever the rules and verdicts, the fields parse as structured fields and say what the verdicts say.
#![no_main]

use std::time::Duration;

use aforo_core::{Algorithm, Anchor, Cost, Mode, Moment, Quota, State, Verdict, standing, weigh};
use aforo_http::fields::{RATELIMIT, RATELIMIT_POLICY, Shown, write};
use aforo_policy::{Headers, Legacy, LegacyReset, Rule, Standard};
use arbitrary::Arbitrary;
use http::HeaderMap;
use libfuzzer_sys::fuzz_target;
use sfv::{Dictionary, List, ListEntry, Parser};

#[derive(Arbitrary, Debug)]
struct Met {
    name: String,
    limit: u32,
    window_millis: u32,
    algorithm: u8,
    burst: u32,
    taken: u32,
    cost: u32,
}

#[derive(Arbitrary, Debug)]
struct Input {
    rules: Vec<Met>,
    standard: u8,
    reset: u8,
    now: u32,
}

fn quota(met: &Met) -> Option<Quota> {
    let quota = Quota::new(met.limit, Duration::from_millis(met.window_millis.into())).ok()?;
    let algorithm = match met.algorithm % 4 {
        0 => Algorithm::TokenBucket { burst: met.burst },
        1 => Algorithm::FixedWindow(Anchor::Epoch),
        2 => Algorithm::SlidingWindow,
        _ => Algorithm::SlidingLog,
    };
    quota.with_algorithm(algorithm).ok()
}

fuzz_target!(|input: Input| {
    let now = Moment::from_micros(1_780_000_000_000_000 + u64::from(input.now));
    let mut met: Vec<(String, Quota, Verdict)> = Vec::new();
    for one in input.rules.iter().take(8) {
        // A name that a rule may have, as the policy holds it.
        let (Some(quota), Ok(rule)) = (quota(one), Rule::new(one.name.clone(), Quota::per_second(1))) else { continue };
        let before = weigh(&quota, &State::Fresh, Cost::new(one.taken), now).after;
        let weighed = weigh(&quota, &before, Cost::new(one.cost), now);
        let stands = standing(&quota, &weighed.after, weighed.from);
        let verdict = Verdict {
            mode: Mode::Enforce,
            limit: quota.at_once(),
            remaining: stands.remaining,
            wait: weighed.wait,
            reset_micros: stands.reset_micros,
        };
        met.push((rule.name().to_owned(), quota, verdict));
    }
    let headers = Headers {
        standard: [Standard::Draft11, Standard::Draft7, Standard::Draft6, Standard::Off]
            [usize::from(input.standard % 4)],
        legacy: Legacy::XRateLimit,
        legacy_reset: [LegacyReset::Epoch, LegacyReset::Delta, LegacyReset::Iso8601][usize::from(input.reset % 3)],
        ..Headers::default()
    };
    let shown = met.iter().map(|(name, quota, verdict)| Shown { name, quota, verdict });
    let mut fields = HeaderMap::new();
    write(shown, now, &headers, &mut fields);
    if met.is_empty() {
        assert!(fields.is_empty());
        return;
    }
    match headers.standard {
        Standard::Draft11 => {
            let told: List = Parser::new(fields[RATELIMIT].as_bytes()).parse().unwrap();
            let policies: List = Parser::new(fields[RATELIMIT_POLICY].as_bytes()).parse().unwrap();
            assert_eq!((told.len(), policies.len()), (met.len(), met.len()));
            for ((entry, policy), (name, quota, verdict)) in told.iter().zip(&policies).zip(&met) {
                let (ListEntry::Item(entry), ListEntry::Item(policy)) = (entry, policy) else {
                    panic!("a list in a list")
                };
                assert_eq!(entry.bare_item.as_string().unwrap().as_str(), name);
                assert_eq!(i64::from(entry.params["r"].as_integer().unwrap()), i64::from(verdict.remaining));
                assert_eq!(entry.params.contains_key("t"), verdict.wait.as_micros().is_some());
                assert_eq!(i64::from(policy.params["q"].as_integer().unwrap()), i64::from(quota.at_once()));
                assert!(i64::from(policy.params["w"].as_integer().unwrap()) >= 1);
            }
        }
        Standard::Draft7 => {
            if let Some(told) = fields.get(RATELIMIT) {
                let told: Dictionary = Parser::new(told.as_bytes()).parse().unwrap();
                assert_eq!(told.len(), 3);
            }
            let _: List = Parser::new(fields[RATELIMIT_POLICY].as_bytes()).parse().unwrap();
        }
        Standard::Draft6 => {
            let _: List = Parser::new(fields[RATELIMIT_POLICY].as_bytes()).parse().unwrap();
        }
        Standard::Off => assert!(!fields.contains_key(RATELIMIT)),
    }
});
