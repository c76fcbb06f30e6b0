//! What is allowed in a policy file and yet looks like no good.

mod rules;
mod senders;

use super::mistake::{Found, Mistake};
use super::node::{Entry, Node};
use super::outage;
use super::settings::{Gateway, StoreSettings};
use crate::names::nearest;
use crate::{Methods, Policy, Route, Rule};

/// Methods of RFC 9110, RFC 5789 and their commonest extensions.
const METHODS: [&str; 18] = [
    "GET",
    "HEAD",
    "POST",
    "PUT",
    "PATCH",
    "DELETE",
    "OPTIONS",
    "TRACE",
    "CONNECT",
    "QUERY",
    "PURGE",
    "PROPFIND",
    "PROPPATCH",
    "MKCOL",
    "COPY",
    "MOVE",
    "LOCK",
    "UNLOCK",
];

/// The warnings of a file that makes a policy.
pub(super) fn of(
    file: &Node,
    text: &str,
    policy: &Policy,
    store: &StoreSettings,
    gateway: Option<&Gateway>,
) -> Vec<Mistake> {
    let mut found = Found::in_text(text);
    let outage = outage::can_come(store);
    if !outage {
        outage::idle_keys(file, &mut found);
    }
    if policy.rules().is_empty() && policy.routes().iter().all(|route| route.rules.is_empty()) {
        found.add(
            file.place,
            "the policy has no rule, so it limits nothing",
            "add for example rules: { each: { quota: 20/s } }",
        );
    }
    let above = file.get("rules").map_or(&[][..], Node::entries);
    rules::examine(above, policy.rules(), policy.routes(), &mut found);
    for (entry, rule) in named(above, policy.rules()) {
        rules::never_fits(entry.place, rule, rule.cost, outage, &mut found);
        if outage {
            outage::rounded_up(entry.place, rule, &mut found);
        }
    }
    for (node, route) in file.get("routes").map_or(&[][..], Node::items).iter().zip(policy.routes()) {
        let own = node.get("rules").map_or(&[][..], Node::entries);
        rules::examine(own, &route.rules, std::slice::from_ref(route), &mut found);
        for (entry, rule) in named(own, &route.rules).filter(|(_, rule)| outage && !policy.has_above(rule)) {
            outage::rounded_up(entry.place, rule, &mut found);
        }
        for rule in route.rules.iter().filter(|rule| rule.cost.is_none() || !policy.has_above(rule)) {
            let place = node.get("cost").or(node.get("match")).unwrap_or(node).place;
            rules::never_fits(place, rule, Some(rule.cost.unwrap_or(route.cost)), outage, &mut found);
        }
        unusual_methods(node, route, &mut found);
    }
    senders::examine(file, policy, gateway, &mut found);
    found.in_order()
}

/// The rules that stand in a map.
fn named<'n>(entries: &'n [Entry], met: &'n [Rule]) -> impl Iterator<Item = (&'n Entry, &'n Rule)> {
    entries.iter().filter_map(|entry| Some((entry, met.iter().find(|rule| rule.name() == entry.key)?)))
}

/// Warns of methods that look like slips of the pen.
fn unusual_methods(node: &Node, route: &Route, found: &mut Found<'_>) {
    let Methods::Only(methods) = &route.matches().methods else { return };
    for method in methods.iter().filter(|method| !METHODS.contains(&method.as_str())) {
        if let (Some(meant), Some(node)) = (nearest(method, METHODS), node.get("match")) {
            let message = format!("the method {method} is not a usual one");
            found.add(node.place, message, format!("did you mean {meant}?"));
        }
    }
}
