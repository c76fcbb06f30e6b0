//! Whose address is it? What a file says about proxies in front, and about networks.

use super::beside;
use super::mistake::Found;
use super::node::Node;
use super::surroundings::Surroundings;
use crate::{ClientHeader, Clients, Networks, networks};

pub(super) fn clients(file: &Node, around: &dyn Surroundings, found: &mut Found<'_>) -> Clients {
    let mut clients = Clients::default();
    let Some(node) = file.get("client") else { return clients };
    let said = |key| node.get(key).and_then(Node::text);
    let bits = |key, default| said(key).and_then(|text| text.parse().ok()).unwrap_or(default);
    if let Some(trusted) = node.get("trusted_proxies") {
        clients.trusted = self::networks(trusted, around, found);
    }
    clients.header = said("header").map(header).unwrap_or_default();
    clients.ipv4_prefix = bits("ipv4_prefix", clients.ipv4_prefix);
    clients.ipv6_prefix = bits("ipv6_prefix", clients.ipv6_prefix);
    clients.nat64 = said("nat64") == Some("true");
    clients
}

fn header(name: &str) -> ClientHeader {
    match name.to_ascii_lowercase() {
        name if name == ClientHeader::XForwardedFor.name() => ClientHeader::XForwardedFor,
        name if name == ClientHeader::Forwarded.name() => ClientHeader::Forwarded,
        name => ClientHeader::Named(name.into()),
    }
}

/// Networks, as a list or one alone: CIDRs, addresses, names of networks, and files of CIDRs and addresses.
pub(super) fn networks(node: &Node, around: &dyn Surroundings, found: &mut Found<'_>) -> Networks {
    let mut all = Vec::new();
    for item in node.items() {
        let Some(text) = item.text() else { continue };
        if let Some(named) = networks::named(text) {
            all.extend(named);
        } else if networks::looks_like_one(text) {
            match networks::read(text) {
                Ok(network) => all.push(network),
                Err(invalid) => found.add_invalid(item.place, &invalid),
            }
        } else {
            match beside::read(text, around) {
                Ok(bytes) => all.extend(listed(item, text, &bytes, found)),
                Err(error) => match beside::help(&error) {
                    Some(help) => {
                        found.add(item.place, format!("the file `{text}` cannot be read: {error}"), help);
                    }
                    None => found.add_invalid(item.place, &networks::no_such(text, &error.to_string())),
                },
            }
        }
    }
    all.into_iter().collect()
}

/// The networks that a file lists, one a line. One that lists none was emptied by mistake, or is not yet written.
fn listed(item: &Node, name: &str, bytes: &[u8], found: &mut Found<'_>) -> Vec<ipnet::IpNet> {
    let text = String::from_utf8_lossy(bytes);
    let mut within = Found::in_text(&text);
    let networks = beside::lines(&text).filter_map(|(place, line)| match networks::read(line) {
        Ok(network) => Some(network),
        Err(invalid) => {
            within.add_invalid(place, &invalid);
            None
        }
    });
    let networks: Vec<_> = networks.collect();
    if networks.is_empty() && within.is_empty() {
        found.add(
            item.place,
            format!("the file `{name}` lists no network"),
            "write one a line, or do not name the file",
        );
    }
    found.take_in(name, within);
    networks
}
