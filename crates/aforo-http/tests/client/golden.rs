//! The golden tables of addresses. `vectors/README.md` defines their format.

use aforo_http::client::Finding;
use aforo_policy::{ClientHeader, Clients};

use crate::{clients, walked};

const LISTS: &str = include_str!("../../../../vectors/address_list.txt");
const FORWARDED: &str = include_str!("../../../../vectors/forwarded.txt");

#[test]
fn lists_of_addresses_lead_to_the_client_of_the_golden_tables() {
    assert_eq!(replay(LISTS), 28);
}

#[test]
fn forwarded_leads_to_the_client_of_the_golden_tables() {
    assert_eq!(replay(FORWARDED), 22);
}

/// How many rows there are, all of them true.
fn replay(text: &str) -> usize {
    let mut rows = 0;
    let mut table = "";
    let mut header = ClientHeader::default();
    let mut rule = Clients::default();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            (table, header) = (name, ClientHeader::default());
        } else if let Some(name) = line.strip_prefix("header: ") {
            header = match name {
                "forwarded" => ClientHeader::Forwarded,
                other => ClientHeader::Named(other.into()),
            };
        } else if let Some(trusted) = line.strip_prefix("trusted:") {
            rule = clients(header.clone(), trusted);
        } else {
            let cells: Vec<&str> = line.splitn(5, '|').map(str::trim).collect();
            let &[peer, header, client, ends, reason] = cells.as_slice() else {
                panic!("[{table}] {line}: five columns")
            };
            if peer == "peer" {
                continue;
            }
            let lines: Vec<&[u8]> =
                header.split('⏎').filter(|line| *line != "—").map(|line| line.trim().as_bytes()).collect();
            let trace = walked(peer, &lines, &rule);
            assert_eq!(trace.walk.address, Some(client.parse().unwrap()), "[{table}] {header}: {reason}");
            assert_eq!(word(trace.steps.last().unwrap().finding), ends, "[{table}] {header}: {reason}");
            rows += 1;
        }
    }
    rows
}

fn word(finding: Finding) -> &'static str {
    match finding {
        Finding::Trusted => "trusted",
        Finding::Untrusted => "untrusted",
        Finding::Unknown => "unknown",
        Finding::Hidden => "hidden",
        Finding::NoAddress => "no address",
        Finding::Malformed => "malformed",
        other => panic!("no word for {other:?}"),
    }
}
