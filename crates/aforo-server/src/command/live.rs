//! Looking at the counters that a running aforo uses.

use aforo::Counters;
use aforo_core::{Hits, Op, Store, Verdict};
use aforo_policy::StoreSettings;
use aforo_redis::State;
use serde_json::{Value, json};

use super::Failure;

/// What each hit's counter would answer, in the order of the hits. Nothing is written.
pub(super) fn look(settings: &StoreSettings, hits: &Hits) -> Result<Vec<Value>, Failure> {
    if matches!(settings, StoreSettings::Memory { .. }) {
        return Err(Failure::Usage(
            "--live looks at a store that processes share, and the store is memory: its counters lie in the running \
             aforo alone; leave --live out"
                .to_owned(),
        ));
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Internal(format!("the runtime cannot start: {error}")))?;
    runtime.block_on(async {
        let counters = Counters::open(settings).map_err(|error| Failure::Input(error.to_string()))?;
        let answer = counters.decide(Op::Peek, hits).await;
        let trouble = || {
            let health = counters.redis().map(|store| store.health().state);
            match health {
                Some(State::Down { trouble, .. } | State::Hindered { trouble, .. }) => trouble,
                _ => "no answer in time; store.timeout says how long that is".to_owned(),
            }
        };
        let decision = answer.map_err(|error| Failure::Input(format!("{error}: {}", trouble())))?;
        Ok(decision.verdicts().map(shown).collect())
    })
}

fn shown(verdict: &Verdict) -> Value {
    json!({
        "allowed": verdict.allowed(),
        "limit": verdict.limit,
        "remaining": verdict.remaining,
        "retry_after_ms": verdict.wait.as_micros().map(|micros| micros.div_ceil(1_000)),
        "reset_after_ms": verdict.reset_micros.div_ceil(1_000),
    })
}
