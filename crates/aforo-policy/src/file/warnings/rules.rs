//! Rules that do not limit as it looks.

use aforo_core::{Algorithm, Cost, Mode, Origin, Quota};

use super::super::mistake::{Found, Place};
use super::super::node::Entry;
use super::named;
use crate::{Fact, Route, Rule, WhenMissing};

/// A log of more entries than this costs memory that other algorithms do not.
const LONG_LOG: u32 = 1_000;

/// Warns of rules that stand in a map, as they are met in one place: on one of these routes, or elsewhere.
pub(super) fn examine(entries: &[Entry], met: &[Rule], routes: &[Route], found: &mut Found<'_>) {
    for (entry, rule) in named(entries, met) {
        long_log(entry.place, rule, found);
        smaller_burst(entry.place, rule, found);
        if !met.iter().any(bounds) {
            chosen(entry.place, rule, routes, found);
        }
        if asks_who(rule) && !met.iter().any(meets_everyone) {
            let message = format!("who is not verified has no limit: the rule `{}` does without them", rule.name());
            found.add(entry.place, message, "leave `when_missing: skip` out, or add a rule `per: ip` beside it");
        }
        if routes.is_empty() && rule.partition.facts().contains(&Fact::Path) {
            let message = format!("the rule `{}` counts all paths as one: those that match no route are", rule.name());
            found.add(entry.place, message, "add a route for the paths that are meant, for example `* /{*rest}`");
        }
        if let Some(other) = met.iter().find(|other| other.name() != rule.name() && never_lets_bind(other, rule)) {
            let message =
                format!("the rule `{}` can never refuse: `{}` is stricter in every way", rule.name(), other.name());
            found.add(entry.place, message, "remove it, or look at its numbers");
        }
    }
}

fn long_log(place: Place, rule: &Rule, found: &mut Found<'_>) {
    let logs = rule.quotas().filter(|quota| quota.algorithm() == Algorithm::SlidingLog);
    if let Some(most) = logs.map(Quota::limit).max().filter(|most| *most > LONG_LOG) {
        let message = format!("the rule `{}` keeps up to {most} entries for each key", rule.name());
        found.add(place, message, "`algorithm: sliding-window` keeps two counters however large the limit");
    }
}

/// Warns of plans that are to have more, and can have less at once: a burst belongs to the quota that it stands beside.
fn smaller_burst(place: Place, rule: &Rule, found: &mut Found<'_>) {
    let Some(usual) = rule.quota() else { return };
    let rate = |quota: &Quota, other: &Quota| u128::from(quota.limit()) * u128::from(other.window_micros());
    for plan in &rule.plans {
        let Some(quota) = plan.allowance.quota() else { continue };
        if rate(quota, usual) > rate(usual, quota) && quota.at_once() < usual.at_once() {
            let (name, now, usual) = (&plan.name, quota.at_once(), usual.at_once());
            let message = format!("the plan `{name}` can have {now} at once, and everyone else {usual}");
            let help = format!("say its own burst: {name}: {{ quota: {}, burst: {usual} }}", plan.allowance);
            found.add(place, message, help);
        }
    }
}

/// Whether a rule bounds what one client can have, whatever it sends.
fn bounds(rule: &Rule) -> bool {
    let facts = rule.partition.facts();
    let known = facts.iter().all(|fact| matches!(fact, Fact::Ip | Fact::Client | Fact::Everyone | Fact::Route));
    let proven = facts.iter().all(|fact| !fact.is_chosen()) && rule.when_missing != WhenMissing::Skip;
    (known || proven) && rule.mode == Mode::Enforce
}

/// Whether a rule limits those alone who are verified.
fn asks_who(rule: &Rule) -> bool {
    let facts = rule.partition.facts();
    rule.when_missing == WhenMissing::Skip
        && rule.quotas().next().is_some()
        && facts.iter().any(|fact| matches!(fact, Fact::User | Fact::Plan))
}

/// Whether a rule limits a client whatever it shows or sends.
fn meets_everyone(rule: &Rule) -> bool {
    let can_be_missing =
        |fact: &Fact| !matches!(fact, Fact::Ip | Fact::Client | Fact::Route | Fact::Path | Fact::Host | Fact::Everyone);
    let does_without = rule.when_missing == WhenMissing::Skip && rule.partition.facts().iter().any(can_be_missing);
    rule.mode == Mode::Enforce && rule.quotas().next().is_some() && !does_without
}

/// Warns of a rule of which anyone chooses the counter.
fn chosen(place: Place, rule: &Rule, routes: &[Route], found: &mut Found<'_>) {
    // What else stands in the list does not help: another value makes another counter of the same address.
    let chosen = rule.partition.facts().iter().find_map(|fact| match fact {
        Fact::Header(name) => Some((format!("`{name}`"), ", unless a proxy in front sets that header")),
        Fact::Cookie(name) => Some((format!("cookie `{name}`"), "")),
        Fact::Query(name) => Some((format!("parameter `{name}`"), "")),
        Fact::Host => Some(("host".to_owned(), "")),
        // Where a path is written out, there is one alone.
        Fact::Path if routes.iter().any(|route| route.matches().template.has_names()) => Some(("path".to_owned(), "")),
        _ => None,
    });
    if let Some((what, unless)) = chosen.filter(|_| rule.quotas().next().is_some()) {
        let message = format!("anyone can write another {what} and have a fresh quota of the rule `{}`", rule.name());
        found.add(place, message, format!("add a rule `per: ip` beside it{unless}"));
    }
}

/// Warns of a cost that no bucket and no window of the rule can hold, be it in an `outage` of the store.
pub(super) fn never_fits(place: Place, rule: &Rule, cost: Option<Cost>, outage: bool, found: &mut Found<'_>) {
    let Some(units) = cost.map(Cost::units) else { return };
    let name = rule.name();
    for (plan, _) in rule.allowances() {
        let plan = plan.map(|plan| plan.name.as_str());
        let whom = plan.map(|plan| format!(" the plan `{plan}`")).unwrap_or_default();
        let most_by = |origin| rule.quota_by(plan, origin).filter(|quota| quota.limit() > 0).map(Quota::at_once);
        if let Some(most) = most_by(Origin::Store).filter(|most| units > *most) {
            let message = format!("a cost of {units} never fits the rule `{name}`, which allows{whom} {most} at once");
            found.add(place, message, "every such request is refused: lower the cost, or raise the quota or its burst");
        } else if let Some(most) = most_by(Origin::Fallback).filter(|most| outage && units > *most) {
            let message = format!(
                "a cost of {units} never fits the rule `{name}` while the store is down, when it allows{whom} {most} at once"
            );
            found.add(place, message, "every such request is refused then: raise `share`, or say another `when_down`");
        }
    }
}

/// Whether `strict` refuses whatever `rule` would, whoever asks.
fn never_lets_bind(strict: &Rule, rule: &Rule) -> bool {
    let alike = strict.partition == rule.partition
        && strict.cost == rule.cost
        && strict.mode == Mode::Enforce
        && strict.when_missing == rule.when_missing
        && !rule.count_denied
        // Whoever has a plan may be let through by the one and not by the other.
        && strict.plans.is_empty();
    let Some(other) = strict.quota().filter(|_| alike) else { return false };
    rule.quota().is_some() && rule.quotas().all(|quota| is_dominated(quota, other))
}

/// Whether another quota admits no more in any window of this one than this one admits at once.
fn is_dominated(quota: &Quota, other: &Quota) -> bool {
    let windows = quota.window_micros().div_ceil(other.window_micros());
    // So many of the other's windows cover this one's, and each admits at most its worst case.
    let most = u128::from(other.worst_case()) * u128::from(windows);
    // Two counters weigh the previous window beside this one.
    let most = if quota.algorithm() == Algorithm::SlidingWindow { 2 * most } else { most };
    other.limit() > 0 && most <= u128::from(quota.limit().min(quota.at_once()))
}
