//! Memory: what becomes of counters when it is full, and when the server restarts.

use crate::doctor::fields::Fields;
use crate::doctor::{Finding, Severity};
use crate::servers::visit::Visit;

const OWN: &str =
    "best is a Redis of its own for counters, with `maxmemory-policy noeviction` and more memory than they need";

/// Looks at memory, durability and replicas.
pub(super) async fn examine(visit: &mut Visit, fields: &Fields, findings: &mut Vec<Finding>) {
    findings.extend(memory(fields));
    findings.push(durability(visit, fields).await);
    findings.extend(replicas(fields));
}

/// What happens when memory is full.
fn memory(fields: &Fields) -> Option<Finding> {
    let most = fields.number("maxmemory")?;
    let used = fields.number("used_memory")?;
    if most == 0 {
        let message = format!("{} used, and no maxmemory: the machine's memory is the limit", bytes(used));
        return Some(Finding::ok("memory", message));
    }
    let percent = u128::from(used) * 100 / u128::from(most);
    let policy = fields.get("maxmemory_policy").unwrap_or("noeviction");
    let fill = match percent {
        ..=100 => format!("{percent}% of {} used, {policy}", bytes(most)),
        _ => format!("{} used, and {} allowed, {policy}", bytes(used), bytes(most)),
    };
    Some(match policy {
        "noeviction" if used >= most => {
            let help = format!("give it more memory (CONFIG SET maxmemory), or fewer other keys; {OWN}");
            Finding::fault("memory", format!("{fill}: it is full, and takes fail"), help)
        }
        "noeviction" if percent >= 90 => {
            let help = format!("give it more memory before that (CONFIG SET maxmemory); {OWN}");
            Finding::warning("memory", format!("{fill}: when it is full, takes fail"), help)
        }
        "noeviction" => Finding::ok("memory", format!("{fill}: nothing is evicted; when it is full, takes fail")),
        _ if policy.starts_with("allkeys") => Finding::warning(
            "memory",
            format!("{fill}: when it is full, counters are evicted, and who was refused has a fresh quota"),
            OWN,
        ),
        _ => {
            let message = format!(
                "{fill}: when it is full, counters are evicted like all keys with a TTL, and who was refused has a fresh quota"
            );
            Finding::warning(
                "memory",
                message,
                format!("{OWN}; volatile-ttl at least takes those first that end soonest"),
            )
        }
    })
}

/// What is left after a restart. Nothing is wrong with either: counters that are gone begin anew.
async fn durability(visit: &mut Visit, fields: &Fields) -> Finding {
    let appends = fields.is_on("aof_enabled");
    // Not everybody may ask, and then it is left out.
    let saves = visit.ask(redis::cmd("CONFIG").arg("GET").arg("save")).await.ok();
    let saves = saves
        .and_then(|answer| redis::from_redis_value::<Vec<String>>(answer).ok())
        .and_then(|pair| pair.into_iter().nth(1));
    let kept = match (appends, saves.as_deref()) {
        (true, _) => "counters survive a restart (appendonly)",
        (false, Some("")) => "counters begin anew after a restart (no appendonly, no save)",
        (false, Some(_)) => "after a restart counters are as old as the last snapshot (save)",
        (false, None) => "no appendonly: a restart may lose counters",
    };
    match fields
        .get("aof_last_write_status")
        .into_iter()
        .chain(fields.get("rdb_last_bgsave_status"))
        .find(|status| *status == "err")
    {
        Some(_) => {
            let message = format!("{kept}, but the last writing to disk failed, and Redis may refuse writes for that");
            Finding::warning("durability", message, "see the server's log: is the disk full?")
        }
        None => Finding::ok("durability", kept),
    }
}

fn replicas(fields: &Fields) -> Option<Finding> {
    let replicas = fields.number("connected_slaves")?;
    let counted = match replicas {
        0 => "no replica".to_owned(),
        1 => "1 replica".to_owned(),
        many => format!("{many} replicas"),
    };
    // It is told only where min-replicas-to-write is set.
    Some(match fields.number("min_slaves_good_slaves") {
        Some(0) => Finding {
            severity: Severity::Warning,
            help: Some("bring the replicas back, or lower min-replicas-to-write".to_owned()),
            ..Finding::ok(
                "replicas",
                format!("{counted}, none in step, and min-replicas-to-write is set: takes may fail"),
            )
        },
        Some(good) => {
            Finding::ok("replicas", format!("{counted}, {good} in step; below min-replicas-to-write takes fail"))
        }
        None => Finding::ok("replicas", counted),
    })
}

fn bytes(count: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if count < 1024 {
        return format!("{count} B");
    }
    let mut size = count as f64 / 1024.0;
    let mut unit = 0;
    while size >= 1024.0 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    format!("{size:.1} {}", UNITS.get(unit).copied().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(maxmemory: u64, used: u64, policy: &str) -> Finding {
        memory(&Fields::told(&[
            ("maxmemory", &maxmemory.to_string()),
            ("used_memory", &used.to_string()),
            ("maxmemory_policy", policy),
        ]))
        .unwrap()
    }

    #[test]
    fn a_server_that_evicts_counters_is_a_warning() {
        for policy in ["allkeys-lru", "allkeys-lfu", "allkeys-random", "volatile-lru", "volatile-ttl"] {
            let found = found(1 << 30, 1 << 20, policy);
            assert_eq!(found.severity, Severity::Warning, "{policy}");
            assert!(found.message.contains("fresh quota"), "{found:?}");
        }
        // Without a limit nothing is ever evicted.
        assert_eq!(found(0, 1 << 20, "allkeys-lru").severity, Severity::Ok);
    }

    #[test]
    fn a_server_that_evicts_nothing_is_the_worse_the_fuller_it_is() {
        for (used, severity) in [(1, Severity::Ok), (89, Severity::Ok), (90, Severity::Warning), (100, Severity::Fault)]
        {
            assert_eq!(found(100, used, "noeviction").severity, severity, "{used}");
        }
        assert!(found(2 << 20, 1 << 20, "noeviction").message.starts_with("50% of 2.0 MB used"));
        assert!(found(1, 1 << 20, "noeviction").message.starts_with("1.0 MB used, and 1 B allowed"));
    }

    #[test]
    fn replicas_that_are_demanded_and_missing_are_a_warning() {
        let found = |lines: &[(&str, &str)]| replicas(&Fields::told(lines)).unwrap().severity;
        assert_eq!(found(&[("connected_slaves", "0")]), Severity::Ok);
        assert_eq!(found(&[("connected_slaves", "1"), ("min_slaves_good_slaves", "0")]), Severity::Warning);
        assert_eq!(found(&[("connected_slaves", "1"), ("min_slaves_good_slaves", "1")]), Severity::Ok);
    }
}
