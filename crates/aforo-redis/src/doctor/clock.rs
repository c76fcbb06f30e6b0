//! Clock: how far the clocks are apart.
//!
//! The server's clock decides what is counted, so a difference harms no limit. What it does harm: the moment of a reset
//! that a client is told, log lines beside one another, and in a Cluster a refund, which names a moment to another server.

use std::time::Duration;

use crate::doctor::{Finding, Server};

/// A difference between here and a server that people will notice.
const FROM_HERE: u64 = 1_000_000;
/// A difference between two nodes that may lose a refund at the edge of a window.
const AMONG_NODES: u64 = 100_000;

/// What the difference between a server's clock and ours means.
pub(super) fn finding(ahead_micros: Option<i64>) -> Option<Finding> {
    let ahead = ahead_micros?;
    let apart = ahead.unsigned_abs();
    let by = Duration::from_micros(apart / 1_000 * 1_000);
    let direction = if ahead < 0 { "behind" } else { "ahead of" };
    Some(if apart > FROM_HERE {
        let message = format!("the server's clock is {by:?} {direction} the one here");
        let help = "limits are exact all the same, for the server's clock decides; X-RateLimit-Reset and logs will look odd: \
                    have both machines keep time by NTP";
        Finding::warning("clock", message, help)
    } else if by.is_zero() {
        Finding::ok("clock", "the server's clock and the one here agree")
    } else {
        Finding::ok("clock", format!("the server's clock is {by:?} {direction} the one here"))
    })
}

/// Compares the clocks of the servers with one another.
pub(super) fn compare(servers: &[Server], findings: &mut Vec<Finding>) {
    let known = || servers.iter().filter_map(|server| Some((server.clock_ahead_micros?, &server.address)));
    let (Some((least, behind)), Some((most, ahead))) = (known().min(), known().max()) else { return };
    let apart = most.abs_diff(least);
    if apart > AMONG_NODES {
        let message = format!("the clock of {ahead} is {:?} ahead of that of {behind}", Duration::from_micros(apart));
        let help = "what a refusal gives back may come too late for its window: have the nodes keep time by NTP";
        findings.push(Finding::warning("clock", message, help));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Severity;

    fn server(address: &str, ahead: Option<i64>) -> Server {
        Server {
            address: address.to_owned(),
            kind: None,
            version: None,
            clock_ahead_micros: ahead,
            round_trip: None,
            decision: None,
        }
    }

    #[test]
    fn a_clock_that_is_more_than_a_second_off_is_a_warning() {
        for (ahead, severity) in [
            (0, Severity::Ok),
            (-1_000_000, Severity::Ok),
            (1_000_001, Severity::Warning),
            (i64::MIN, Severity::Warning),
        ] {
            assert_eq!(finding(Some(ahead)).unwrap().severity, severity, "{ahead}");
        }
        assert!(finding(Some(-61_000_000)).unwrap().message.contains("61s behind"));
        assert_eq!(finding(None), None);
    }

    #[test]
    fn nodes_that_disagree_by_more_than_a_tenth_of_a_second_are_named() {
        let mut findings = Vec::new();
        compare(&[server("a", Some(50_000)), server("b", Some(-50_000)), server("c", None)], &mut findings);
        assert_eq!(findings, []);
        compare(&[server("a", Some(50_001)), server("b", Some(-50_000)), server("c", None)], &mut findings);
        assert_eq!(findings.len(), 1);
        assert!(findings[0].message.starts_with("the clock of a is 100.001ms ahead of that of b"), "{findings:?}");
    }
}
