//! Exemptions as the file says them.

use super::clients;
use super::mistake::Found;
use super::node::{Node, Value};
use super::surroundings::Surroundings;
use crate::{Exemption, Pass};

/// What an exemption may be for.
const CONDITIONS: [&str; 3] = ["path", "token", "cidr"];

/// An exemption; `None` where it has a mistake.
pub(super) fn exemption(node: &Node, around: &dyn Surroundings, found: &mut Found<'_>) -> Option<Exemption> {
    if matches!(node.value, Value::Map(_)) && CONDITIONS.iter().all(|key| node.entry(key).is_none()) {
        let help = "say what is exempt: a path, a token or a cidr; of several, all must hold";
        found.add(node.place, "this exemption has no `path`, no `token` and no `cidr`", help);
    }
    let path = node.get("path");
    let known = found.count();
    let networks = node.get("cidr").map(|cidr| (cidr, clients::networks(cidr, around, found)));
    if let Some((cidr, _)) = networks.as_ref().filter(|(_, networks)| networks.is_empty() && found.count() == known) {
        found.add(cidr.place, "this exemption is for no network", "name at least one, or leave `cidr` out");
    }
    let pass = node.get("token").map(|token| pass(token, found));
    let mut exemption = match (path, &networks) {
        (Some(path), _) => Exemption::new(path.text()?.parse().ok()?),
        (None, Some((cidr, networks))) if pass.is_none() => Exemption::within(said(cidr), networks.clone()),
        (None, None) if pass.is_none() => return None,
        _ => Exemption::with_pass(pass.clone()??),
    };
    exemption.networks = networks.map(|(_, networks)| networks);
    exemption.pass = match pass {
        Some(pass) => Some(pass?),
        None => None,
    };
    if let Some(name) = node.get("name").and_then(Node::text) {
        name.clone_into(&mut exemption.name);
    }
    Some(exemption)
}

/// What a value says, in one line.
fn said(node: &Node) -> String {
    node.items().iter().filter_map(Node::text).collect::<Vec<_>>().join(", ")
}

fn pass(node: &Node, found: &mut Found<'_>) -> Option<Pass> {
    let values = node.get("values")?;
    let secrets: Vec<&str> = values.items().iter().filter_map(Node::text).collect();
    if secrets.is_empty() && matches!(values.value, Value::List(_)) {
        found.add(
            values.place,
            "the list of tokens is empty",
            "name at least one, for example \"${MONITORING_TOKEN}\"",
        );
    }
    Some(Pass::new(node.get("header")?.text()?, secrets))
}
