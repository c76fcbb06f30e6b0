//! Trial: whether the script decides here as the engine does.

use aforo_core::{Hit, Hits, Key, Moment, Op, Quota};

use crate::counters::Counters;
use crate::doctor::{Finding, is_lost};
use crate::naming::Naming;
use crate::question;
use crate::servers::visit::Visit;
use crate::trouble::Trouble;

/// Two, and none comes back while the trial lasts.
const BUCKET: Quota = Quota::per_hour(2);

/// What is tried: each algorithm alone, and all of them in one request.
const CASES: [(&str, &[Quota]); 5] = [
    ("token-bucket", &[BUCKET]),
    ("fixed-window", &[BUCKET.fixed_window()]),
    ("sliding-window", &[BUCKET.sliding_window()]),
    ("sliding-log", &[BUCKET.sliding_log()]),
    ("all", &[BUCKET, BUCKET.fixed_window(), BUCKET.sliding_window(), BUCKET.sliding_log()]),
];

/// What is asked, whether it must be allowed, and how much must remain.
const STEPS: [(Step, bool, u32); 6] = [
    (Step::Take, true, 1),
    (Step::Take, true, 0),
    (Step::Take, false, 0),
    (Step::Peek, false, 0),
    (Step::Refund, true, 1),
    (Step::Peek, true, 1),
];

#[derive(Clone, Copy, Debug)]
enum Step {
    Take,
    Peek,
    /// Of the last take that was allowed.
    Refund,
}

/// Runs the script through all of it, on keys of that subject, and deletes them.
pub(super) async fn run(visit: &mut Visit, naming: &Naming, subject: &[u8]) -> Result<Finding, Trouble> {
    for (case, quotas) in CASES {
        let mut hits = Hits::new();
        for (place, quota) in quotas.iter().enumerate() {
            let hit = Key::new(format!("{case}.{place}").as_bytes(), subject).map(|key| Hit::new(key, *quota));
            // Four short keys have room.
            let _ = hit.map(|hit| hits.push(hit));
        }
        let tried = steps(visit, naming, &hits).await;
        let mut delete = redis::cmd("DEL");
        hits.iter().for_each(|hit| {
            delete.arg(naming.counter(&hit.key)).arg(naming.log(&hit.key));
        });
        if let Err(trouble) = visit.ask(&delete).await
            && is_lost(&trouble)
        {
            return Err(trouble);
        }
        match tried {
            Ok(None) => {}
            Ok(Some(wrong)) => {
                let help =
                    "does it run Lua 5.1 as Redis does? please report it, with the kind and version of the server";
                return Ok(Finding::fault("script", format!("{case}: {wrong}"), help));
            }
            Err(trouble) if is_lost(&trouble) => return Err(trouble),
            Err(trouble) => return Ok(refused(&trouble.of(case))),
        }
    }
    Ok(Finding::ok("script", "takes, peeks and refunds are answered right by all four algorithms"))
}

/// What went wrong in the first step that did.
async fn steps(visit: &mut Visit, naming: &Naming, hits: &Hits) -> Result<Option<String>, Trouble> {
    let mut taken_at = Moment::EPOCH;
    for (place, (step, allowed, remaining)) in STEPS.into_iter().enumerate() {
        let op = match step {
            Step::Take => Op::Take,
            Step::Peek => Op::Peek,
            Step::Refund => Op::Refund { taken_at },
        };
        let answer = visit.run(&question::call(op, hits, naming, None)).await?;
        let Some(counters) = Counters::read(&answer, hits) else {
            return Ok(Some(format!("the answer cannot be read: {answer:?}")));
        };
        let (decision, _) = counters.decide(op, hits);
        let right = decision.allowed() == allowed
            && decision.verdicts().all(|verdict| verdict.remaining == remaining)
            // A refund's answer looks at what it leaves, the script at what it found.
            && (matches!(step, Step::Refund) || counters.admitted == allowed);
        if !right {
            let left: Vec<u32> = decision.verdicts().map(|verdict| verdict.remaining).collect();
            let text = format!(
                "step {}, a {step:?} on a quota of 2: allowed is {}, {left:?} remain; expected {allowed} and {remaining}",
                place + 1,
                decision.allowed(),
            );
            return Ok(Some(text.to_lowercase()));
        }
        if matches!(step, Step::Take) && allowed {
            taken_at = decision.taken_at();
        }
    }
    Ok(None)
}

/// Why the server did not run it.
fn refused(trouble: &Trouble) -> Finding {
    let text = trouble.to_string();
    let says = |word: &str| text.contains(word);
    let help = if says("OOM") {
        "the memory is full: give it more, or let something else go (see `memory`)"
    } else if says("READONLY") {
        "it is a replica: name its primary; where Sentinels watch over it, redis-sentinel:// finds that by itself"
    } else if says("MISCONF") {
        "its snapshots fail, and it refuses writes for that: see its log, is the disk full?"
    } else if says("NOREPLICAS") {
        "too few replicas are in step: bring them back, or lower min-replicas-to-write"
    } else if says("CLUSTERDOWN") {
        "the Cluster has lost some slots: see CLUSTER INFO"
    } else if says("MOVED") || says("ASK") {
        "slots are on their way to another server, or it is a node of a Cluster, which is written redis-cluster://"
    } else if says("BUSY") {
        "somebody's script runs without end: SCRIPT KILL"
    } else {
        "does it run Lua 5.1 as Redis does? please report it, with the kind and version of the server"
    };
    Finding::fault("script", trouble, help)
}
