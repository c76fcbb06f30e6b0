//! A little traffic: visitors that heed what they are told, and one that does not.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use http::{HeaderMap, Method, StatusCode};
use tokio::task::JoinSet;

use crate::gateway::visitor::Visitor;

/// Who sends it.
pub(super) const WHO: &str =
    "Traffic: 127.0.1.1 to 127.0.1.4 are well-behaved; 127.0.1.66 guesses passwords ten times a second.";

/// How long a visitor waits before it tries to connect again.
const RECONNECT: Duration = Duration::from_secs(1);

/// What each visitor asks for, and how often.
const WELL_BEHAVED: [(u8, Method, &str, Duration); 4] = [
    (1, Method::GET, "/api/status", Duration::from_millis(250)),
    (2, Method::GET, "/api/search?q=pa", Duration::from_millis(400)),
    (3, Method::POST, "/api/orders", Duration::from_millis(900)),
    (4, Method::GET, "/menu", Duration::from_millis(500)),
];

/// Sends traffic to the gateway for as long as the returned set lives.
pub(super) fn start(gateway: SocketAddr) -> JoinSet<()> {
    // A gateway on every address is visited on this machine's.
    let to = if gateway.ip().is_unspecified() {
        SocketAddr::new(Ipv4Addr::LOCALHOST.into(), gateway.port())
    } else {
        gateway
    };
    let mut visitors = JoinSet::new();
    for (host, method, target, pause) in WELL_BEHAVED {
        visitors.spawn(visit(Ipv4Addr::new(127, 0, 1, host).into(), to, method, target, pause, Heeds::Everything));
    }
    let intruder = Ipv4Addr::new(127, 0, 1, 66).into();
    let pause = Duration::from_millis(100);
    visitors.spawn(visit(intruder, to, Method::POST, "/api/auth/login", pause, Heeds::Nothing));
    visitors
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Heeds {
    Everything,
    Nothing,
}

async fn visit(from: IpAddr, to: SocketAddr, method: Method, target: &str, pause: Duration, heeds: Heeds) {
    loop {
        // Some systems give a process the first loopback address alone: then there is no such visitor.
        if let Ok(mut visitor) = Visitor::connect(from, to).await {
            while let Ok((status, fields)) = visitor.visit(method.clone(), target).await {
                let told = if status == StatusCode::TOO_MANY_REQUESTS { retry_after(&fields) } else { None };
                tokio::time::sleep(told.filter(|_| heeds == Heeds::Everything).unwrap_or(pause)).await;
            }
        }
        tokio::time::sleep(RECONNECT).await;
    }
}

fn retry_after(fields: &HeaderMap) -> Option<Duration> {
    let seconds = fields.get(http::header::RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds))
}
