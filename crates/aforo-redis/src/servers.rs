//! Servers: where calls go, and what stands between a call and a server that is slow, gone or another one now.
//!
//! What must stay true: a call never takes longer than its deadline; it is never sent again after it may have been run;
//! nothing is queued for a server that is not there.

mod backoff;
mod cluster;
mod dialer;
mod keeper;
mod line;
mod means;
mod node;
mod overheard;
mod refresh;
mod reports;
mod sentinel;
mod slots;
mod standing;
mod streak;
pub(crate) mod tls;
pub(crate) mod visit;
mod whereabouts;

use std::sync::Arc;
use std::time::Duration;

use redis::Value;
use tokio::time::Instant;

use crate::Settings;
use crate::address::Topology;
use crate::call::Call;
use crate::health::{Health, Tally};
use crate::trouble::Trouble;
use cluster::Cluster;
use dialer::Dialer;
use keeper::belongs_to_a_cluster;
use line::Way;
use means::Means;
use node::{Node, Reply};
use reports::Reports;
use sentinel::Sentinels;
use whereabouts::Whereabouts;

/// The servers of a store.
pub(crate) struct Servers {
    arrangement: Arrangement,
    tally: Tally,
    reports: Reports,
}

enum Arrangement {
    /// One server that has all keys.
    One(Node),
    Many(Cluster),
}

impl Servers {
    /// Begins to connect, and returns at once.
    ///
    /// The probe shows whether a server can serve. It is made for a slot of the cluster, or for none where there is no
    /// cluster; it should need all that a real call needs.
    ///
    /// # Panics
    ///
    /// Outside of a Tokio runtime.
    pub(crate) fn start(settings: &Settings, probe: impl Fn(Option<u16>) -> Call + Send + Sync + 'static) -> Servers {
        let address = &settings.address;
        // Names are looked up and keys agreed on in this time, too, so a short timeout for answers would be too short.
        let limit = (settings.timeout * 10).clamp(Duration::from_secs(1), Duration::from_secs(10));
        let means = Means {
            dialer: Arc::new(Dialer::to_servers(address, limit)),
            probe: Arc::new(probe),
            timeout: settings.timeout,
            connections: settings.connections.get().into(),
        };
        let arrangement = match (&address.topology, address.endpoints.first()) {
            (Topology::Sentinel { service, login }, _) => {
                let sentinels = Sentinels::new(address, service, login.as_ref());
                Arrangement::One(Node::start(&means, Whereabouts::Told(Box::new(sentinels)), None, None))
            }
            (Topology::Alone, Some(endpoint)) => {
                Arrangement::One(Node::start(&means, Whereabouts::Fixed(endpoint.clone()), None, None))
            }
            (Topology::Alone | Topology::Cluster, _) => {
                Arrangement::Many(Cluster::start(means, address.endpoints.clone()))
            }
        };
        Servers { arrangement, tally: Tally::default(), reports: Reports::default() }
    }

    /// Whether two slots may lie on different servers.
    pub(crate) fn spread(&self) -> bool {
        matches!(self.arrangement, Arrangement::Many(_))
    }

    /// Puts a call, and waits for the answer until the deadline.
    pub(crate) async fn call(&self, call: &Call, deadline: Instant) -> Result<Value, Trouble> {
        let answer = match &self.arrangement {
            Arrangement::One(node) => match node.put(call, Way::Direct, deadline).await {
                Ok(Reply::Answer(answer)) => Ok(answer),
                Ok(Reply::Elsewhere { .. } | Reply::Torn) => Err(belongs_to_a_cluster()),
                Err(trouble) => Err(trouble),
            },
            Arrangement::Many(cluster) => cluster.put(call, deadline).await,
        };
        answer.inspect_err(|trouble| self.note(trouble))
    }

    /// Counts and reports trouble: that of each call, and what the store finds wrong with an answer. That the breaker is
    /// open was reported when it opened.
    pub(crate) fn note(&self, trouble: &Trouble) {
        self.tally.add(trouble);
        if !trouble.known {
            self.reports.failed(trouble);
        }
    }

    /// How they are now.
    pub(crate) fn health(&self) -> Health {
        let (state, servers) = match &self.arrangement {
            Arrangement::One(node) => {
                let server = node.health();
                (server.state.clone(), vec![server])
            }
            Arrangement::Many(cluster) => cluster.health(),
        };
        Health { state, servers, errors: self.tally.errors() }
    }
}

#[cfg(test)]
mod tests;
