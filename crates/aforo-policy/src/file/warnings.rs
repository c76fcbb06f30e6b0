//! What is allowed in a policy file and yet looks like no good.

use aforo_core::{Algorithm, Cost, Origin, Quota};

use super::mistake::{Found, Mistake, Place};
use super::node::{Entry, Node};
use super::outage;
use super::settings::StoreSettings;
use crate::names::nearest;
use crate::{Fact, Methods, Policy, Rule};

/// A log of more entries than this costs memory that other algorithms do not.
const LONG_LOG: u32 = 1_000;
/// Paths by which machines ask whether a server lives. They ask often, all from one address.
const PROBES: [&str; 6] = ["/health", "/healthz", "/ready", "/readyz", "/livez", "/ping"];
/// Facts that a client cannot choose.
const ADDRESS: [Fact; 3] = [Fact::Ip, Fact::Client, Fact::Everyone];
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
pub(super) fn of(file: &Node, text: &str, policy: &Policy, store: &StoreSettings) -> Vec<Mistake> {
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
    examine(above, policy.rules(), &mut found);
    for (entry, rule) in named(above, policy.rules()) {
        never_fits(entry.place, rule, rule.cost, outage, &mut found);
        if outage {
            outage::rounded_up(entry.place, rule, &mut found);
        }
    }
    for (node, route) in file.get("routes").map_or(&[][..], Node::items).iter().zip(policy.routes()) {
        let own = node.get("rules").map_or(&[][..], Node::entries);
        examine(own, &route.rules, &mut found);
        for (entry, rule) in named(own, &route.rules).filter(|(_, rule)| outage && !policy.has_above(rule)) {
            outage::rounded_up(entry.place, rule, &mut found);
        }
        for rule in route.rules.iter().filter(|rule| rule.cost.is_none() || !policy.has_above(rule)) {
            let place = node.get("cost").or(node.get("match")).unwrap_or(node).place;
            never_fits(place, rule, Some(rule.cost.unwrap_or(route.cost)), outage, &mut found);
        }
        let Methods::Only(methods) = &route.matches().methods else { continue };
        for method in methods.iter().filter(|method| !METHODS.contains(&method.as_str())) {
            if let (Some(meant), Some(node)) = (nearest(method, METHODS), node.get("match")) {
                found.add(
                    node.place,
                    format!("the method {method} is not a usual one"),
                    format!("did you mean {meant}?"),
                );
            }
        }
    }
    probes(file, policy, &mut found);
    found.in_order()
}

/// The rules that stand in a map.
fn named<'n>(entries: &'n [Entry], met: &'n [Rule]) -> impl Iterator<Item = (&'n Entry, &'n Rule)> {
    entries.iter().filter_map(|entry| Some((entry, met.iter().find(|rule| rule.name() == entry.key)?)))
}

/// Warns of a cost that no bucket and no window of the rule can hold, be it in an `outage` of the store.
fn never_fits(place: Place, rule: &Rule, cost: Option<Cost>, outage: bool, found: &mut Found<'_>) {
    let Some(units) = cost.map(Cost::units) else { return };
    let most_by = |origin| rule.quota_by(None, origin).filter(|quota| quota.limit() > 0).map(Quota::at_once);
    let name = rule.name();
    if let Some(most) = most_by(Origin::Store).filter(|most| units > *most) {
        let message = format!("a cost of {units} never fits the rule `{name}`, which allows {most} at once");
        found.add(place, message, "every such request is refused: lower the cost, or raise the quota or its burst");
    } else if let Some(most) = most_by(Origin::Fallback).filter(|most| outage && units > *most) {
        let message = format!(
            "a cost of {units} never fits the rule `{name}` while the store is down, when it allows {most} at once"
        );
        found.add(place, message, "every such request is refused then: raise `share`, or say another `when_down`");
    }
}

/// Warns of rules that stand in a map, as they are met in one place.
fn examine(entries: &[Entry], met: &[Rule], found: &mut Found<'_>) {
    for (entry, rule) in named(entries, met) {
        let Some(quota) = rule.quota() else { continue };
        if quota.algorithm() == Algorithm::SlidingLog && quota.limit() > LONG_LOG {
            let message = format!("the rule `{}` keeps up to {} entries for each key", rule.name(), quota.limit());
            found.add(entry.place, message, "`algorithm: sliding-window` keeps two counters however large the limit");
        }
        let by_address = |other: &Rule| other.partition.facts().iter().all(|fact| ADDRESS.contains(fact));
        let written = match rule.partition.facts() {
            [Fact::Header(name)] => Some((format!("`{name}`"), ", unless a proxy in front sets that header")),
            [Fact::Path] => Some(("path".to_owned(), "")),
            [Fact::Host] => Some(("host".to_owned(), "")),
            _ => None,
        };
        if let Some((what, unless)) = written.filter(|_| !met.iter().any(by_address)) {
            let message =
                format!("anyone can write another {what} and have a fresh quota of the rule `{}`", rule.name());
            found.add(entry.place, message, format!("add a rule `per: ip` beside it{unless}"));
        }
        let stricter = met.iter().find(|other| other.name() != rule.name() && never_lets_bind(other, rule, quota));
        if let Some(other) = stricter {
            let message =
                format!("the rule `{}` can never refuse: `{}` is stricter in every way", rule.name(), other.name());
            found.add(entry.place, message, "remove it, or look at its numbers");
        }
    }
}

/// Whether `strict` refuses whatever `rule` would: it admits no more in any window of `rule`'s than `rule` admits at once.
fn never_lets_bind(strict: &Rule, rule: &Rule, quota: &Quota) -> bool {
    let alike = strict.partition == rule.partition
        && strict.cost == rule.cost
        && strict.mode == aforo_core::Mode::Enforce
        && strict.when_missing == rule.when_missing
        && !rule.count_denied;
    let Some(other) = strict.quota().filter(|_| alike) else { return false };
    let windows = quota.window_micros().div_ceil(other.window_micros());
    // So many of the other's windows cover this one's, and each admits at most its worst case.
    let most = u128::from(other.worst_case()) * u128::from(windows);
    // Two counters weigh the previous window beside this one.
    let most = if quota.algorithm() == Algorithm::SlidingWindow { 2 * most } else { most };
    other.limit() > 0 && most <= u128::from(quota.limit().min(quota.at_once()))
}

/// Warns where a monitor's probes would be counted.
fn probes(file: &Node, policy: &Policy, found: &mut Found<'_>) {
    let Some(gateway) = file.entry("gateway") else { return };
    let counted = |path: &str| {
        let request = crate::worst_case::Probe(path);
        let meeting = policy.meet(&request);
        meeting.exempt().is_none() && meeting.route().is_none() && meeting.rules().any(|rule| rule.quota().is_some())
    };
    if policy.exemptions().is_empty() && PROBES.iter().all(|path| counted(path)) {
        let message = "no path is exempt, so the probes of a monitor are counted and may be refused";
        found.add(gateway.place, message, "add for example exempt: [{ path: /health }], if the API has such a path");
    }
}
