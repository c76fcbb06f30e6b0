//! `aforo doctor`

mod progress;
mod words;

use std::path::PathBuf;
use std::time::Duration;

use aforo::Counters;
use aforo_policy::{File, InvalidStore, StoreSettings};
use aforo_redis::Settings;
use aforo_redis::doctor::{Finding, Listed, Report, Server, Severity};
use clap::Args;
use serde_json::{Value, json};

use super::serve::until_the_end;
use super::{Failure, say, source};
use progress::Progress;

/// Examine a store: whether it is reachable, may be used, decides rightly and is well, and what would help.
///
/// Looks at login and permissions, role, the script, memory, clocks, latency, and keys that would stay for ever. Ends with
/// status 1 if something does not work; warnings alone do not.
#[derive(Debug, Args)]
#[command(after_help = "Example: aforo doctor --store redis://127.0.0.1:6379/0")]
pub(super) struct Doctor {
    /// The store, in place of the policy file's.
    #[arg(long, value_name = "URL")]
    store: Option<String>,
    /// The policy file whose store is meant [default: aforo.yaml, unless a store is named].
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// What the names of the keys begin with, in place of the policy file's prefix.
    #[arg(long)]
    prefix: Option<String>,
    /// Give the keys of this prefix that lack a TTL one.
    #[arg(long)]
    repair: bool,
    /// Answer as JSON.
    #[arg(long)]
    json: bool,
}

impl Doctor {
    pub(super) fn run(self) -> Result<(), Failure> {
        let file = self.file()?;
        let report = match self.settings(file.as_ref()) {
            Ok(Some(settings)) => self.examine(settings, file.as_ref())?,
            Ok(None) => return self.nothing(),
            Err(invalid) => {
                let name = if invalid.key == "url" { "address" } else { invalid.key };
                Report::of_no_store(name, &invalid.message, &invalid.help)
            }
        };
        say(&if self.json { format!("{:#}\n", as_json(&report)) } else { words::of(&report) })?;
        if report.is_healthy() { Ok(()) } else { Err(Failure::InputSaid) }
    }

    /// What there is to say of a store in memory.
    fn nothing(&self) -> Result<(), Failure> {
        let message = "nothing to examine: a store in memory lies in the process that counts, and always answers";
        if self.json {
            let finding =
                json!({ "name": "store", "server": null, "severity": "ok", "message": message, "help": null });
            let answer = json!({
                "ok": true, "store": "memory", "server": [], "findings": [finding], "keys": null, "least_acl": null,
            });
            return say(&format!("{answer:#}\n"));
        }
        say(&format!("memory: {message}\n"))
    }

    /// The policy file, if one is to be read.
    fn file(&self) -> Result<Option<File>, Failure> {
        if self.store.is_some() && self.config.is_none() {
            return Ok(None);
        }
        match source::named_or_default(self.config.clone()) {
            Ok(source) => source.read().map(Some),
            Err(Failure::Usage(_)) => {
                let text = "no store: name it by --store redis://HOST, or a policy by --config FILE".to_owned();
                Err(Failure::Usage(text))
            }
            Err(failure) => Err(failure),
        }
    }

    /// How the store is spoken to; `None` if it is in memory.
    fn settings(&self, file: Option<&File>) -> Result<Option<Settings>, InvalidStore> {
        let of_file = file.map(|file| file.store.clone()).unwrap_or_default();
        let mut store = match &self.store {
            Some(name) => Counters::named(name, &of_file)?,
            None => of_file,
        };
        if let (StoreSettings::Redis { prefix, .. }, Some(named)) = (&mut store, &self.prefix) {
            prefix.clone_from(named);
        }
        aforo::redis_settings(&store)
    }

    fn examine(&self, settings: Settings, file: Option<&File>) -> Result<Report, Failure> {
        let mut doctor = aforo_redis::doctor::Doctor::new(settings).repairs(self.repair);
        if let Some(longest) = file.and_then(longest) {
            doctor = doctor.longest(longest);
        }
        let mut progress = Progress::new();
        let mut report = None;
        until_the_end(async {
            report = Some(doctor.examine(|keys| progress.show(keys)).await);
            Ok(())
        })?;
        progress.clear();
        report.ok_or_else(|| Failure::Internal("the examination has no report".to_owned()))
    }
}

/// The longest that a counter of this policy takes to be as new.
fn longest(file: &File) -> Option<Duration> {
    file.policy.worst_cases().filter_map(|placed| Some(placed.rule.quota()?.time_to_full())).max()
}

// === as JSON ===

fn as_json(report: &Report) -> Value {
    json!({
        "ok": report.is_healthy(),
        "store": report.store,
        "server": report.servers.iter().map(server).collect::<Vec<_>>(),
        "findings": report.findings.iter().map(finding).collect::<Vec<_>>(),
        "keys": {
            "count": report.keys.count,
            "without_ttl": listed(&report.keys.without_ttl),
            "repaired": report.keys.repaired,
            "odd": listed(&report.keys.odd),
        },
        "least_acl": report.least_acl,
    })
}

fn server(server: &Server) -> Value {
    let latency = |latency: Option<aforo_redis::doctor::Latency>| {
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        latency.map(|latency| {
            json!({
                "median_us": micros(latency.median),
                "p99_us": micros(latency.p99),
                "longest_us": micros(latency.longest),
            })
        })
    };
    json!({
        "address": server.address,
        "kind": server.kind,
        "version": server.version,
        "clock_ahead_us": server.clock_ahead_micros,
        "round_trip": latency(server.round_trip),
        "decision": latency(server.decision),
    })
}

fn finding(finding: &Finding) -> Value {
    json!({
        "name": finding.name,
        "server": finding.server,
        "severity": word(finding.severity),
        "message": finding.message,
        "help": finding.help,
    })
}

fn listed(keys: &Listed) -> Value {
    json!({ "count": keys.count, "names": keys.names })
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Ok => "ok",
        Severity::Warning => "warning",
        Severity::Fault => "fault",
    }
}
