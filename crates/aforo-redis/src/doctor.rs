//! The doctor: whether the servers are well, and what would help.
//!
//! It is for people, before a store is taken into use or when something is odd. It connects as the store would, looks at
//! all that has gone wrong with counters in Redis before, and says of each what is wrong and what would be right.

mod arrival;
mod clock;
mod fields;
mod keys;
mod latency;
mod memory;
mod permissions;
mod role;
mod trial;

use std::time::Duration;

use aforo_core::{Moment, StoreErrorKind};

use crate::Settings;
use crate::naming::Naming;
use crate::servers::visit::Visit;
use crate::trouble::Trouble;
use arrival::Arrived;
use fields::Fields;
pub use keys::{Keys, Listed};
pub use latency::Latency;

/// Examines the servers of a store.
///
/// ```no_run
/// use aforo_redis::Settings;
/// use aforo_redis::doctor::Doctor;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let report = Doctor::new(Settings::new("redis://localhost".parse()?)).examine(|_| {}).await;
/// for finding in &report.findings {
///     println!("{}: {}", finding.name, finding.message);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Doctor {
    settings: Settings,
    repairs: bool,
    longest: Duration,
}

/// What an examination has found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The address of the store, without passwords.
    pub store: String,
    /// The servers that were reached.
    pub servers: Vec<Server>,
    /// All findings, in the order in which they were made.
    pub findings: Vec<Finding>,
    /// The keys of the store on all servers.
    pub keys: Keys,
    /// The command that makes a Redis user who may do what the store needs, and no more.
    pub least_acl: String,
}

/// A server that was reached.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Server {
    /// Its host and port.
    pub address: String,
    /// What it is: `Redis`, `Valkey`, `Dragonfly`, …; `None` if it was not to be learned.
    pub kind: Option<String>,
    /// Its version.
    pub version: Option<String>,
    /// By how many microseconds its clock is ahead of the clock here; negative if it is behind.
    pub clock_ahead_micros: Option<i64>,
    /// How long the smallest call takes.
    pub round_trip: Option<Latency>,
    /// How long a decision takes.
    pub decision: Option<Latency>,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// What was looked at, in a word.
    pub name: &'static str,
    /// The server, if it concerns one.
    pub server: Option<String>,
    /// How bad it is.
    pub severity: Severity,
    /// What was found.
    pub message: String,
    /// What would be right, where something is wrong.
    pub help: Option<String>,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// It is as it should be.
    Ok,
    /// It works, and may not always.
    Warning,
    /// It does not work.
    Fault,
}

// === impl Doctor ===

impl Doctor {
    /// A doctor for the servers of these settings, who changes nothing.
    pub fn new(settings: Settings) -> Doctor {
        Doctor { settings, repairs: false, longest: Duration::from_secs(24 * 3600) }
    }

    /// Whether keys of the store that lack a TTL are given one.
    pub fn repairs(mut self, repairs: bool) -> Doctor {
        self.repairs = repairs;
        self
    }

    /// The longest that a counter takes to be as new, which is how long a repaired key is kept where it does not say so
    /// itself. A day unless set; shorter than a quota's window would forget what was used.
    pub fn longest(mut self, longest: Duration) -> Doctor {
        self.longest = longest;
        self
    }

    /// Examines the servers. `progress` is told how many keys were looked at so far.
    ///
    /// It takes a few seconds where nothing answers, and else as long as reading the names of all keys does. It writes a
    /// few keys of its own, under the store's prefix, and deletes them.
    ///
    /// # Panics
    ///
    /// Outside of a Tokio runtime.
    pub async fn examine(&self, mut progress: impl FnMut(u64)) -> Report {
        let mut report = Report {
            store: self.settings.address.to_string(),
            servers: Vec::new(),
            findings: Vec::new(),
            keys: Keys::default(),
            least_acl: permissions::least_acl(&self.settings),
        };
        for arrived in arrival::reach(&self.settings.address, &mut report.findings).await {
            let server = arrived.visit.endpoint.to_string();
            let first = report.findings.len();
            if let Err(trouble) = self.look(arrived, &mut report, &mut progress).await {
                let help = "see the server's log: is it busy with a slow command, or out of memory?";
                let refused = arrival::refused_login(&self.settings.address, &trouble);
                report.findings.push(refused.unwrap_or_else(|| Finding::fault("connection", trouble, help)));
            }
            for finding in report.findings.iter_mut().skip(first) {
                finding.server = Some(server.clone());
            }
        }
        clock::compare(&report.servers, &mut report.findings);
        report
    }

    /// All that is to be looked at on one server. It ends early where the rest would only say the same.
    async fn look(
        &self,
        Arrived { mut visit, slots }: Arrived,
        report: &mut Report,
        progress: &mut impl FnMut(u64),
    ) -> Result<(), Trouble> {
        let visit = &mut visit;
        let Report { servers, findings, keys, .. } = report;
        let naming = Naming::new(self.settings.prefix.clone());
        let place = servers.len();
        servers.push(Server::reached(visit));
        let fields = Fields::of(visit, &self.settings.address, findings).await?;
        if let (Some(fields), Some(server)) = (&fields, servers.get_mut(place)) {
            let (kind, version) = fields.kind();
            findings.push(fields.age());
            (server.kind, server.version) = (Some(kind.to_owned()), version.map(str::to_owned));
            if !role::suits(fields, &self.settings.address, findings) {
                return Ok(());
            }
        }
        let subject = slots.subject();
        if permissions::suffice(visit, &self.settings, &subject, findings).await? {
            findings.push(trial::run(visit, &naming, &subject).await?);
        }
        if let Some(fields) = &fields {
            memory::examine(visit, fields, findings).await;
        }
        let measured = latency::measure(visit, &naming, &subject).await;
        findings.extend(clock::finding(measured.clock_ahead_micros));
        findings.extend(measured.finding(self.settings.timeout));
        if let Some(server) = servers.get_mut(place) {
            server.clock_ahead_micros = measured.clock_ahead_micros;
            (server.round_trip, server.decision) = (measured.round_trip, measured.decision);
        }
        let repair = self.repairs.then_some(self.longest);
        let now = Moment::from_micros(measured.server_now());
        findings.push(keys::examine(visit, &self.settings.prefix, repair, now, keys, progress).await?);
        Ok(())
    }
}

// === impl Report ===

impl Report {
    /// Whether there is no fault. There may be warnings.
    pub fn is_healthy(&self) -> bool {
        self.findings.iter().all(|finding| finding.severity < Severity::Fault)
    }

    /// The report on a store that is not even named rightly: one fault, of what it is named by. Neither `why` nor `help`
    /// may hold a password.
    pub fn of_no_store(name: &'static str, why: &str, help: &str) -> Report {
        Report {
            store: String::new(),
            servers: Vec::new(),
            findings: vec![Finding::fault(name, why, help)],
            keys: Keys::default(),
            least_acl: String::new(),
        }
    }
}

// === impl Server ===

impl Server {
    fn reached(visit: &Visit) -> Server {
        Server {
            address: visit.endpoint.to_string(),
            kind: None,
            version: None,
            clock_ahead_micros: None,
            round_trip: None,
            decision: None,
        }
    }
}

// === impl Finding ===

impl Finding {
    pub(crate) fn ok(name: &'static str, message: impl ToString) -> Finding {
        Finding { name, server: None, severity: Severity::Ok, message: message.to_string(), help: None }
    }

    pub(crate) fn warning(name: &'static str, message: impl ToString, help: impl Into<String>) -> Finding {
        Finding { severity: Severity::Warning, help: Some(help.into()), ..Finding::ok(name, message) }
    }

    pub(crate) fn fault(name: &'static str, message: impl ToString, help: impl Into<String>) -> Finding {
        Finding { severity: Severity::Fault, help: Some(help.into()), ..Finding::ok(name, message) }
    }

    pub(crate) fn at(self, server: impl ToString) -> Finding {
        Finding { server: Some(server.to_string()), ..self }
    }
}

/// Whether the trouble is that the server is gone, and not what it said.
fn is_lost(trouble: &Trouble) -> bool {
    matches!(trouble.kind, StoreErrorKind::Timeout | StoreErrorKind::Connection)
}

/// Whether the trouble is that the user may not do it.
fn is_forbidden(trouble: &Trouble) -> bool {
    trouble.to_string().contains("NOPERM")
}
