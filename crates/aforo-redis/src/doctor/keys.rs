//! Keys: those of ours that would stay for ever.
//!
//! A counter is written together with its TTL, and one that has lost it is given it again by the next request. What
//! remains are counters that nobody asks for: restored from elsewhere, or made immortal by hand.

use std::collections::HashSet;
use std::time::Duration;

use aforo_core::{Moment, State};
use redis::Value;

use crate::counters::state_of;
use crate::doctor::permissions::literally;
use crate::doctor::{Finding, is_forbidden, is_lost};
use crate::servers::visit::Visit;
use crate::trouble::Trouble;

/// Names of one step of the search.
const PAGE: usize = 500;
/// Names that are shown.
const SHOWN: usize = 20;
/// Names that are remembered, so that one which the search meets twice counts once.
const REMEMBERED: usize = 100_000;
/// Entries at either end of a log that are looked at.
const SAMPLED: isize = 32;
/// Where a double ceases to hold every whole number.
const EXACT: f64 = 9_007_199_254_740_992.0;
/// Milliseconds that a counter is kept beyond the time when it is as new.
const SLACK: u64 = 1_000;
/// The longest TTL: servers add the present to it, and must not overflow.
const LONGEST: u64 = 1_000_000_000_000_000;

/// The keys of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Keys {
    /// How many there are, or `None` if that was not to be learned.
    pub count: Option<u64>,
    /// Those without a TTL, which would stay for ever.
    pub without_ttl: Listed,
    /// Those of them that were given one.
    pub repaired: u64,
    /// Those that are under the names of counters, and are something else. They are left alone.
    pub odd: Listed,
}

/// Some keys, of which the first few are named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listed {
    /// How many they are.
    pub count: u64,
    /// The names of at most twenty of them. What is not printable is shown as in a string of Rust.
    pub names: Vec<String>,
}

/// What a key is to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Counter,
    /// The entries of a sliding log.
    Entries,
    Odd,
}

/// Looks at every key of the store on this server, and repairs where it is told how long a counter can last.
pub(super) async fn examine(
    visit: &mut Visit,
    prefix: &str,
    repair: Option<Duration>,
    now: Moment,
    keys: &mut Keys,
    progress: &mut impl FnMut(u64),
) -> Result<Finding, Trouble> {
    let before = keys.clone();
    let pattern = format!("{}:{{*", literally(prefix));
    let mut remembered = HashSet::new();
    let mut cursor = "0".to_owned();
    loop {
        let mut scan = redis::cmd("SCAN");
        scan.arg(&cursor).arg("MATCH").arg(&pattern).arg("COUNT").arg(PAGE);
        let page = match visit.ask(&scan).await {
            Ok(page) => page,
            Err(trouble) if is_lost(&trouble) => return Err(trouble),
            Err(trouble) => {
                return Ok(Finding::warning("keys", format!("not looked at: {trouble}"), "allow +scan +type"));
            }
        };
        let Ok((next, names)) = redis::from_redis_value::<(String, Vec<Vec<u8>>)>(page) else {
            let help = "please report it, with the kind and version of the server";
            return Ok(Finding::warning("keys", "not looked at: its answer to SCAN is not understood", help));
        };
        let found = match look(visit, prefix, &names).await {
            Ok(found) => found,
            Err(trouble) if is_lost(&trouble) => return Err(trouble),
            Err(trouble) => {
                return Ok(Finding::warning(
                    "keys",
                    format!("not looked at: {trouble}"),
                    "allow +pttl +type +mget +zrange",
                ));
            }
        };
        let count = keys.count.get_or_insert(0);
        *count = count.saturating_add(found.len() as u64);
        progress(*count);
        for (name, kind, immortal) in found {
            if kind == Kind::Odd {
                keys.odd.add(name, &mut remembered);
            } else if immortal
                && keys.without_ttl.add(name, &mut remembered)
                && let Some(longest) = repair
            {
                match mend(visit, name, kind, longest, now).await {
                    Ok(mended) => keys.repaired += u64::from(mended),
                    Err(trouble) if is_lost(&trouble) => return Err(trouble),
                    // It has changed meanwhile, or may not be touched. It is told as not repaired.
                    Err(_) => {}
                }
            }
        }
        cursor = next;
        if cursor == "0" {
            keys.count.get_or_insert(0);
            return Ok(finding(keys, &before, prefix, repair.is_some()));
        }
    }
}

/// What each of these keys is, and whether it would stay for ever. Those that are gone meanwhile are left out.
async fn look<'a>(
    visit: &mut Visit,
    prefix: &str,
    names: &'a [Vec<u8>],
) -> Result<Vec<(&'a [u8], Kind, bool)>, Trouble> {
    let mut commands = redis::pipe();
    for name in names {
        commands.cmd("PTTL").arg(name).cmd("TYPE").arg(name);
    }
    let mut answers = visit.ask_all(&commands).await?.into_iter();
    let mut found = Vec::with_capacity(names.len());
    for name in names {
        let (Some(ttl), Some(kind)) = (answers.next(), answers.next()) else { break };
        let immortal = match ttl? {
            Value::Int(-2) => continue,
            ttl => ttl == Value::Int(-1),
        };
        let kind = match kind? {
            Value::SimpleString(kind) => kind_of(prefix, name, &kind),
            _ => Kind::Odd,
        };
        found.push((name.as_slice(), kind, immortal));
    }
    judge(visit, &mut found).await?;
    Ok(found)
}

/// Looks at what the keys hold, for others may use names like ours: what no algorithm has written is odd.
async fn judge(visit: &mut Visit, found: &mut [(&[u8], Kind, bool)]) -> Result<(), Trouble> {
    // With what the store's user may do already.
    let mut commands = redis::pipe();
    for (name, kind, _) in found.iter() {
        match kind {
            Kind::Counter => {
                commands.cmd("MGET").arg(name);
            }
            Kind::Entries => {
                commands.cmd("MGET").arg(counter_of(name));
                commands.cmd("ZRANGE").arg(name).arg(0).arg(SAMPLED).arg("WITHSCORES");
                commands.cmd("ZRANGE").arg(name).arg(-SAMPLED).arg(-1).arg("WITHSCORES");
            }
            Kind::Odd => {}
        }
    }
    let mut answers = visit.ask_all(&commands).await?.into_iter();
    // What is no string or no set by now has changed meanwhile, and is somebody else's.
    let mut next = || match answers.next() {
        Some(Err(trouble)) if is_forbidden(&trouble) => Err(trouble),
        answer => Ok(answer.and_then(Result::ok)),
    };
    for (_, kind, _) in found {
        let ours = match kind {
            Kind::Counter => next()?.and_then(state).is_none_or(|held| state_of(&held).is_some()),
            Kind::Entries => {
                let (counter, first, last) = (next()?, next()?, next()?);
                let is_log = |held: Vec<u8>| matches!(state_of(&held), Some(State::SlidingLog { .. }));
                let of_a_log = counter.and_then(state).is_none_or(is_log);
                of_a_log && [first, last].iter().all(|entries| entries.as_ref().is_some_and(are_entries))
            }
            Kind::Odd => continue,
        };
        if !ours {
            *kind = Kind::Odd;
        }
    }
    Ok(())
}

/// The counter that the entries of a log belong to.
fn counter_of(name: &[u8]) -> Vec<u8> {
    let (before, after) = name.split_at(name.iter().position(|byte| *byte == b'}').unwrap_or(name.len()));
    [before, b"}", after.strip_prefix(b"}.log").unwrap_or_default()].concat()
}

/// Whether these are entries of a log: numbered, and scored by moments. Microseconds since 1970 have had sixteen digits
/// since 2001: ranks, counts and seconds are no moments.
fn are_entries(held: &Value) -> bool {
    let entries = redis::from_redis_value_ref::<Vec<(Vec<u8>, f64)>>(held);
    entries.is_ok_and(|entries| {
        let numbered = |member: &[u8]| !member.is_empty() && member.iter().all(u8::is_ascii_digit);
        let moment = |score: f64| score.fract() == 0.0 && (1e15..EXACT).contains(&score);
        // There are none if the key is gone.
        entries.iter().all(|(member, score)| numbered(member) && moment(*score))
    })
}

/// `prefix:{subject}:rule` is a counter and a string, `prefix:{subject}.log:rule` the entries of a log and a sorted set.
fn kind_of(prefix: &str, name: &[u8], kind: &str) -> Kind {
    let subject = name.get(prefix.len()..).and_then(|rest| rest.strip_prefix(b":{"));
    let after = subject.and_then(|rest| rest.iter().position(|byte| *byte == b'}').and_then(|end| rest.get(end..)));
    match (after.unwrap_or_default(), kind) {
        (after, "string") if after.starts_with(b"}:") => Kind::Counter,
        (after, "zset") if after.starts_with(b"}.log:") => Kind::Entries,
        _ => Kind::Odd,
    }
}

/// Gives a key its TTL, unless a request has been faster. Whether it was needed.
async fn mend(visit: &mut Visit, name: &[u8], kind: Kind, longest: Duration, now: Moment) -> Result<bool, Trouble> {
    const MEND: &str = "return redis.call('PTTL', KEYS[1]) == -1 and redis.call('PEXPIRE', KEYS[1], ARGV[1]) or 0";
    let clear = if kind == Kind::Entries {
        let held = visit.ask(redis::cmd("ZRANGE").arg(name).arg(-1).arg(-1).arg("WITHSCORES")).await?;
        newest(&held).map(|newest| newest.plus_micros(micros(longest)))
    } else {
        let held = visit.ask(redis::cmd("MGET").arg(name)).await?;
        state(held).and_then(|held| clear_at(&state_of(&held)?, longest))
    };
    // It is gone, or something else meanwhile.
    let Some(clear) = clear else { return Ok(false) };
    let ttl = clear.micros_since(now).div_ceil(1_000).saturating_add(SLACK).min(LONGEST);
    let mended = visit.ask(redis::cmd("EVAL").arg(MEND).arg(1).arg(name).arg(ttl)).await?;
    Ok(mended == Value::Int(1))
}

/// When a counter of this state is as new. Only a sliding window holds how long it is; what the others hold is from one
/// moment, and the longest quota takes so long from there.
fn clear_at(state: &State, longest: Duration) -> Option<Moment> {
    match *state {
        State::TokenBucket { at, .. } | State::FixedWindow { at, .. } | State::SlidingLog { newest: at, .. } => {
            Some(at.plus_micros(micros(longest)))
        }
        State::SlidingWindow { at, window, .. } => {
            let at = at.as_micros();
            let start = at.checked_sub(at.checked_rem(window)?)?;
            Some(Moment::from_micros(start).plus_micros(window.saturating_mul(2)))
        }
        _ => None,
    }
}

fn newest(held: &Value) -> Option<Moment> {
    let (_, score) = redis::from_redis_value_ref::<(Vec<u8>, f64)>(held).ok()?;
    // Scores are whole microseconds, exact in a double.
    (score >= 0.0).then_some(Moment::from_micros(score as u64))
}

fn state(held: Value) -> Option<Vec<u8>> {
    let [state] = redis::from_redis_value::<[Option<Vec<u8>>; 1]>(held).ok()?;
    state
}

fn micros(duration: Duration) -> u64 {
    duration.as_micros().try_into().unwrap_or(u64::MAX)
}

/// What was found on this server.
fn finding(keys: &Keys, before: &Keys, prefix: &str, repaired: bool) -> Finding {
    let count = keys.count.unwrap_or(0) - before.count.unwrap_or(0);
    let immortal = keys.without_ttl.count - before.without_ttl.count;
    let odd = keys.odd.count - before.odd.count;
    let mended = keys.repaired - before.repaired;
    let mut message = match immortal {
        0 => format!("{} under {prefix}:, all with a TTL", counted(count)),
        _ if repaired => format!("{} under {prefix}:, {immortal} without a TTL, {mended} repaired", counted(count)),
        _ => format!("{} under {prefix}:, {immortal} without a TTL, which would stay for ever", counted(count)),
    };
    let mut help = Vec::new();
    match immortal > mended {
        true if repaired => help.push("the others have changed meanwhile: look again"),
        true => help.push("--repair gives them a TTL"),
        false => {}
    }
    if odd > 0 {
        message.push_str(&format!(", {odd} that aforo has not written"));
        help.push("if something else uses this prefix, choose another");
    }
    if help.is_empty() { Finding::ok("keys", message) } else { Finding::warning("keys", message, help.join("; ")) }
}

fn counted(keys: u64) -> String {
    match keys {
        1 => "1 key".to_owned(),
        many => format!("{many} keys"),
    }
}

impl Listed {
    /// Whether it was not met before.
    fn add(&mut self, name: &[u8], remembered: &mut HashSet<Vec<u8>>) -> bool {
        if remembered.contains(name) {
            return false;
        }
        if remembered.len() < REMEMBERED {
            remembered.insert(name.to_vec());
        }
        self.count += 1;
        if self.names.len() < SHOWN {
            self.names.push(name.escape_ascii().to_string());
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 3600);
    const DAY_MICROS: u64 = 24 * 3_600_000_000;

    #[test]
    fn a_key_is_ours_by_its_name_and_its_type() {
        for (name, kind, expected) in [
            ("aforo:{a}:login", "string", Kind::Counter),
            ("aforo:{a}.log:login", "zset", Kind::Entries),
            ("aforo:{a}:login", "zset", Kind::Odd),
            ("aforo:{a}.log:login", "string", Kind::Odd),
            ("aforo:{a}", "string", Kind::Odd),
            ("aforo:{a", "string", Kind::Odd),
            ("aforo:{a}:login", "hash", Kind::Odd),
        ] {
            assert_eq!(kind_of("aforo", name.as_bytes(), kind), expected, "{name} {kind}");
        }
    }

    #[test]
    fn a_state_says_when_it_is_clear() {
        for (state, clear) in [
            ("t500 1000000 7", Some(1_000_000 + DAY_MICROS)),
            ("f3 1000000", Some(1_000_000 + DAY_MICROS)),
            ("l3 1000000 3", Some(1_000_000 + DAY_MICROS)),
            ("s1 2 65000000 60000000", Some(60_000_000 + 120_000_000)),
            ("s1 2 65000000 0", None),
            ("t500 1000000", None),
            ("x1 2", None),
            ("tick tock 7", None),
            ("", None),
            ("é", None),
        ] {
            let found = state_of(state.as_bytes()).and_then(|state| clear_at(&state, DAY));
            assert_eq!(found, clear.map(Moment::from_micros), "{state:?}");
        }
    }

    #[test]
    fn the_entries_of_a_log_belong_to_its_counter() {
        assert_eq!(counter_of(b"aforo:{a}.log:login"), b"aforo:{a}:login");
        assert_eq!(counter_of(b"aforo:{a}.log:.log:}"), b"aforo:{a}:.log:}");
    }

    #[test]
    fn entries_are_numbered_and_scored_by_moments() {
        let held = |member: &str, score: &str| {
            let bulk = |text: &str| Value::BulkString(text.as_bytes().to_vec());
            Value::Array(vec![bulk(member), bulk(score)])
        };
        assert!(are_entries(&held("17", "1764547200000000")));
        for (member, score) in [
            ("ann", "1764547200000000"),
            ("", "1764547200000000"),
            ("17", "1764547200"),
            ("17", "1764547200000"),
            ("17", "3"),
            ("17", "1764547200000000.5"),
            ("17", "9007199254740992"),
            ("17", "-1764547200000000"),
            ("17", "inf"),
        ] {
            assert!(!are_entries(&held(member, score)), "{member} {score}");
        }
    }

    #[test]
    fn twenty_are_named_and_all_are_counted_once() {
        let (mut listed, mut remembered) = (Listed::default(), HashSet::new());
        for number in (0..30).chain(0..30) {
            listed.add(format!("aforo:{{{number}}}:\n").as_bytes(), &mut remembered);
        }
        assert_eq!((listed.count, listed.names.len()), (30, 20));
        assert_eq!(listed.names[0], "aforo:{0}:\\n");
    }
}
