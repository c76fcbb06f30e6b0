//! Arrival: from the address to a connection with each server that holds counters.

use crate::address::{Address, Login, Topology};
use crate::doctor::Finding;
use crate::endpoint::Endpoint;
use crate::naming::{SLOTS, slot};
use crate::servers::visit::{Visit, primary_named_by};
use crate::trouble::Trouble;

use aforo_core::Key;

/// A server that was reached and has let us in.
pub(super) struct Arrived {
    pub(super) visit: Visit,
    pub(super) slots: Slots,
}

/// The slots that a server owns: all of them where there is no Cluster.
#[derive(Clone, Debug, Default)]
pub(super) struct Slots(Vec<(u16, u16)>);

impl Slots {
    /// A subject of our own whose counters lie on this server, and which no other doctor uses at this time.
    pub(super) fn subject(&self) -> Vec<u8> {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let stamp = (since.as_nanos() << 16) ^ u128::from(std::process::id());
        let subject = |number: u32| format!("doctor.{stamp:x}.{number}").into_bytes();
        let fits = |subject: &Vec<u8>| {
            let Ok(key) = Key::new(b"", subject) else { return false };
            let slot = slot(&key);
            self.0.is_empty() || self.0.iter().any(|(first, last)| (*first..=*last).contains(&slot))
        };
        // One of 16,384 slots is enough to be found within some hundred thousand tries.
        (0..1_000_000).map(subject).find(fits).unwrap_or_else(|| subject(0))
    }
}

/// Reaches every server that holds counters. Those that cannot be reached are findings.
pub(super) async fn reach(address: &Address, findings: &mut Vec<Finding>) -> Vec<Arrived> {
    match &address.topology {
        Topology::Alone => {
            let mut arrived = Vec::new();
            for endpoint in &address.endpoints {
                arrived.extend(open(address, endpoint, Slots::default(), findings).await);
            }
            arrived
        }
        Topology::Sentinel { service, login } => match primary(address, service, login.as_ref(), findings).await {
            Some(endpoint) => open(address, &endpoint, Slots::default(), findings).await.into_iter().collect(),
            None => Vec::new(),
        },
        Topology::Cluster => cluster(address, findings).await,
    }
}

async fn open(address: &Address, endpoint: &Endpoint, slots: Slots, findings: &mut Vec<Finding>) -> Option<Arrived> {
    match Visit::to(address, endpoint).await {
        Ok(visit) => {
            findings.push(Finding::ok("address", "reached").at(endpoint));
            Some(Arrived { visit, slots })
        }
        Err(trouble) => {
            findings.push(unreached(address, &trouble).at(endpoint));
            None
        }
    }
}

/// Why a server was not reached, or did not let us in, and what would help.
fn unreached(address: &Address, trouble: &Trouble) -> Finding {
    if let Some(refused) = refused_login(address, trouble) {
        return refused;
    }
    let text = trouble.to_string();
    let says = |part: &str| text.contains(part);
    if says("DB index is out of range") || says("SELECT is not allowed") {
        let message = format!("the server has no database {}", address.database);
        return Finding::fault("address", message, "take one that it has: most have 0 to 15, some have 0 alone");
    }
    if super::is_forbidden(trouble) {
        return Finding::fault(
            "permissions",
            trouble,
            "a database other than 0 needs +select; or leave the database out",
        );
    }
    let (ours, other) = if address.tls { ("TLS", "redis") } else { ("no TLS", "rediss") };
    let help = if says("ca_file") {
        "name a PEM file that this process may read, or leave ca_file out to trust the system's authorities".to_owned()
    } else if says("refused") {
        "is the server running, and are host and port right?".to_owned()
    } else if says("lookup") {
        "the name of the host is not known: is it written right, and can this machine look it up?".to_owned()
    } else if says("TLS:") {
        format!("does it speak TLS at this port ({other}:// is without), and has ca_file signed its certificate?")
    } else if says("within") {
        format!(
            "does a firewall drop the packets, or does the server hang? {ours} is expected; if it has the other: {other}://"
        )
    } else {
        format!("does a Redis listen there? {ours} is expected; if it has the other: {other}://")
    };
    Finding::fault("address", trouble, help)
}

/// What is wrong with the login, if that is the trouble.
pub(super) fn refused_login(address: &Address, trouble: &Trouble) -> Option<Finding> {
    let text = trouble.to_string();
    let says = |part: &str| text.contains(part);
    let (message, help) = if says("WRONGPASS") || says("invalid password") {
        let user = address.login.as_ref().and_then(|login| login.user.as_deref());
        let user = user.map_or("the default user".to_owned(), |user| format!("the user {user:?}"));
        let message = format!("the server refuses {user}: the password is wrong, or there is no such user");
        (message, "write USER:PASSWORD@ before the host, with %-escapes; ACL LIST shows the users")
    } else if trouble.asks_for_password() {
        ("the server asks for a password".to_owned(), "write USER:PASSWORD@, or :PASSWORD@, before the host")
    } else if says("without any password configured") {
        let message = "there is a password in the address, and the server asks for none".to_owned();
        (message, "leave it out, or give the server one")
    } else {
        return None;
    };
    Some(Finding::fault("login", message, help))
}

// === Sentinel ===

/// The primary that the Sentinels name; the one that most of them do.
async fn primary(
    address: &Address,
    service: &str,
    login: Option<&Login>,
    findings: &mut Vec<Finding>,
) -> Option<Endpoint> {
    let mut named: Vec<(Endpoint, usize)> = Vec::new();
    let mut silent = Vec::new();
    for sentinel in &address.endpoints {
        match primary_named_by(sentinel, address, service, login).await {
            Ok(primary) => match named.iter_mut().find(|(endpoint, _)| *endpoint == primary) {
                Some((_, votes)) => *votes += 1,
                None => named.push((primary, 1)),
            },
            Err(trouble) => silent.push((sentinel, trouble)),
        }
    }
    let missing = |(sentinel, trouble): (&Endpoint, Trouble)| {
        let help = sentinel_help(&trouble, service);
        if named.is_empty() {
            Finding::fault("sentinel", trouble, help).at(sentinel)
        } else {
            Finding::warning("sentinel", trouble, help).at(sentinel)
        }
    };
    findings.extend(silent.into_iter().map(missing));
    let (primary, _) = named.iter().max_by_key(|(_, votes)| *votes)?.clone();
    let told: Vec<String> = named.iter().map(|(endpoint, votes)| format!("{endpoint} ({votes})")).collect();
    findings.push(match named.len() {
        1 => Finding::ok("sentinel", format!("the primary of {service:?} is {primary}, by all who answer")),
        _ => Finding::warning(
            "sentinel",
            format!("the Sentinels disagree about the primary: {}", told.join(", ")),
            "a failover is under way, or their network is cut in two: look again in a minute",
        ),
    });
    Some(primary)
}

fn sentinel_help(trouble: &Trouble, service: &str) -> String {
    let text = trouble.to_string();
    if text.contains("watches over no service") {
        format!("the name after the hosts is that of `sentinel monitor`, and this one has no {service:?}")
    } else if text.contains("unknown command") || text.contains("unknown subcommand") {
        "it is no Sentinel: for a server alone write redis://, for a Cluster redis-cluster://".to_owned()
    } else if text.contains("NOAUTH") || text.contains("WRONGPASS") || text.contains("NOPERM") {
        "name the Sentinels' own user by ?sentinel_user=…&sentinel_password=…; it needs +sentinel|get-master-addr-by-name"
            .to_owned()
    } else {
        "is the Sentinel running, and are host and port (usually 26379) right?".to_owned()
    }
}

// === Cluster ===

async fn cluster(address: &Address, findings: &mut Vec<Finding>) -> Vec<Arrived> {
    let mut absent = Vec::new();
    let mut map = None;
    for seed in &address.endpoints {
        let asked = match Visit::to(address, seed).await {
            Ok(mut visit) => visit.map().await,
            Err(trouble) => Err(trouble),
        };
        match asked {
            Ok(Some(spans)) => {
                map.get_or_insert(spans);
            }
            Ok(None) => {
                let message = "its answer to CLUSTER SLOTS is not understood";
                findings.push(Finding::fault("cluster", message, "is it a Redis Cluster?").at(seed));
            }
            Err(trouble) => absent.push((seed, trouble)),
        }
    }
    let found = map.is_some();
    findings.extend(absent.iter().map(|(seed, trouble)| no_map(address, seed, trouble, found).at(seed)));
    let Some(map) = map else { return Vec::new() };
    let owned: u32 = map.iter().map(|(first, last, _)| u32::from(last.abs_diff(*first)) + 1).sum();
    let mut primaries: Vec<(Endpoint, Slots)> = Vec::new();
    for (first, last, owner) in map {
        match primaries.iter_mut().find(|(endpoint, _)| *endpoint == owner) {
            Some((_, slots)) => slots.0.push((first, last)),
            None => primaries.push((owner, Slots(vec![(first, last)]))),
        }
    }
    findings.push(if owned == u32::from(SLOTS) {
        Finding::ok("cluster", format!("all {SLOTS} slots are owned, by {} primaries", primaries.len()))
    } else {
        Finding::fault(
            "cluster",
            format!(
                "{} of {SLOTS} slots have no owner: what is counted there gets no answer",
                u32::from(SLOTS).saturating_sub(owned)
            ),
            "bring the primary of those slots back, or give them out with redis-cli --cluster fix",
        )
    });
    let mut arrived = Vec::new();
    for (endpoint, slots) in primaries {
        arrived.extend(open(address, &endpoint, slots, findings).await);
    }
    arrived
}

/// Why a server did not tell where the slots are; not so bad if another one did.
fn no_map(address: &Address, seed: &Endpoint, trouble: &Trouble, found: bool) -> Finding {
    let text = trouble.to_string();
    let finding = if text.contains("cluster support disabled") || text.contains("unknown command") {
        let alone = Address { topology: Topology::Alone, endpoints: vec![seed.clone()], ..address.clone() };
        Finding::fault("cluster", "the server is no node of a Cluster", format!("write {alone}"))
    } else if super::is_forbidden(trouble) {
        Finding::fault("permissions", trouble, "the user must be allowed +cluster|slots")
    } else {
        unreached(address, trouble)
    };
    if found { Finding { severity: super::Severity::Warning, ..finding } } else { finding }
}
