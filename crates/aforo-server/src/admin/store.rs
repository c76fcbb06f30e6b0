//! How the store is.

use std::time::{Duration, Instant};

use aforo::Counters;
use aforo_memory::MemoryStore;
use aforo_policy::{Policy, WhenDown};
use aforo_redis::{Health, RedisStore, State};
use serde::Serialize;
use serde_json::{Value, json};

/// How the store is, as `/api/v1/status` shows it.
#[derive(Debug, Serialize)]
pub(super) struct StoreStatus {
    pub(super) kind: &'static str,
    /// Counters in this process: all, or those that stand in while the store is down.
    pub(super) keys: usize,
    pub(super) max_keys: usize,
    /// Decisions that shared a counter because there was no room for another.
    pub(super) overflowed: u64,
    #[serde(flatten)]
    pub(super) redis: Option<RedisStatus>,
}

#[derive(Debug, Serialize)]
pub(super) struct RedisStatus {
    /// answering, hindered, connecting or down.
    pub(super) state: &'static str,
    /// Whether questions fail without being put.
    pub(super) breaker_open: bool,
    /// Seconds since it refused to write, or some of its servers went down.
    pub(super) hindered_s: Option<u64>,
    /// Seconds since it went down.
    pub(super) down_s: Option<u64>,
    /// Why, in words without secrets.
    pub(super) trouble: Option<String>,
    pub(super) servers: Vec<Value>,
    /// Calls that have failed, by kind, and questions that were not put while the breaker was open.
    pub(super) errors: Value,
    /// Refusals that cost no call.
    pub(super) remembered: u64,
}

/// Whether requests get answers.
pub(super) struct Readiness {
    pub(super) ready: bool,
    pub(super) word: &'static str,
    pub(super) store: String,
}

impl StoreStatus {
    pub(super) fn of(counters: &Counters) -> StoreStatus {
        let memory: &MemoryStore = counters.memory();
        StoreStatus {
            kind: if counters.redis().is_some() { "redis" } else { "memory" },
            keys: memory.keys(),
            max_keys: memory.most_keys(),
            overflowed: memory.overflowed(),
            redis: counters.redis().map(RedisStatus::of),
        }
    }
}

impl RedisStatus {
    fn of(store: &RedisStore) -> RedisStatus {
        let Health { state, servers, errors, .. } = store.health();
        let (hindered_s, down_s, trouble) = match &state {
            State::Hindered { since, trouble } => (Some(since.elapsed().as_secs()), None, Some(trouble.clone())),
            State::Down { since, trouble } => (None, Some(since.elapsed().as_secs()), Some(trouble.clone())),
            _ => (None, None, None),
        };
        let servers = servers.iter().map(
            |server| json!({ "server": server.server, "state": word(&server.state), "unanswered": server.unanswered }),
        );
        RedisStatus {
            state: word(&state),
            breaker_open: down_s.is_some(),
            hindered_s,
            down_s,
            trouble,
            servers: servers.collect(),
            errors: json!({
                "timeout": errors.timeout,
                "connection": errors.connection,
                "script": errors.script,
                "other": errors.other,
                "not_asked": errors.not_asked,
            }),
            remembered: store.remembered(),
        }
    }
}

fn word(state: &State) -> &'static str {
    match state {
        State::Answering => "answering",
        State::Connecting => "connecting",
        State::Hindered { .. } => "hindered",
        _ => "down",
    }
}

/// Whether requests get answers under `policy`: not if no server of the store takes anything and every rule denies then.
pub(super) fn readiness(counters: &Counters, policy: &Policy) -> Readiness {
    let Some(store) = counters.redis() else {
        return Readiness { ready: true, word: "ready", store: "store memory".to_owned() };
    };
    let Health { state, servers, .. } = store.health();
    let lasting = |since: &Instant| humantime::format_duration(Duration::from_secs(since.elapsed().as_secs()));
    let how = match &state {
        State::Answering => {
            return Readiness { ready: true, word: "ready", store: "store redis answers".to_owned() };
        }
        State::Hindered { since, trouble } => format!("store redis is hindered for {} ({trouble})", lasting(since)),
        State::Down { since, trouble } => format!("store redis is down for {} ({trouble})", lasting(since)),
        _ => "store redis is being connected to".to_owned(),
    };
    let modes = [(WhenDown::Fallback, "fallback"), (WhenDown::Allow, "allow"), (WhenDown::Deny, "deny")];
    let stated: Vec<&str> = modes
        .into_iter()
        .filter(|(mode, _)| policy.worst_cases().any(|placed| placed.rule.when_down == *mode))
        .map(|(_, word)| word)
        .collect();
    let ready = stated != ["deny"] || servers.iter().any(|server| server.state.is_answering());
    let word = if ready { "degraded" } else { "not ready" };
    let stated = if stated.is_empty() { "no rule asks it".to_owned() } else { format!("rules {}", stated.join(", ")) };
    Readiness { ready, word, store: format!("{how}; meanwhile {stated}") }
}
