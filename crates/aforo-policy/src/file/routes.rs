//! Routes as the file says them.

use aforo_core::Cost;

use super::mistake::Found;
use super::node::{Entry, Node, Value};
use super::rules::{Defaults, Draft, cost};
use crate::names::nearest;
use crate::{Match, Route, Rule};

/// The rules above the routes: what the file says, and where.
pub(super) struct Global<'n> {
    pub(super) entry: &'n Entry,
    pub(super) draft: Draft,
    /// `None` where it has a mistake.
    pub(super) rule: Option<Rule>,
}

/// The rules that every request meets.
pub(super) fn globals<'n>(file: &'n Node, defaults: &Defaults, found: &mut Found<'_>) -> Vec<Global<'n>> {
    let rules = file.get("rules").map_or(&[][..], Node::entries);
    let globals = rules.iter().map(|entry| {
        let draft = Draft::new(&entry.key, defaults).with(&entry.value, found);
        if draft.lacks_quota(&entry.value) {
            let message = format!("the rule `{}` has no quota", entry.key);
            found.add(entry.place, message, "say how much it allows, for example quota: 20/s");
        }
        let rule = draft.rule(entry, None, found);
        Global { entry, draft, rule }
    });
    globals.collect()
}

/// A route; `None` where it has no match to be known by.
pub(super) fn route(node: &Node, globals: &[Global<'_>], defaults: &Defaults, found: &mut Found<'_>) -> Option<Route> {
    let matched = matched(node);
    let own = node.get("rules").map_or(&[][..], Node::entries);
    let skipped = skipped(node, own, globals, found);
    let mut rules = Vec::new();
    for global in globals {
        match own.iter().find(|entry| entry.key == global.entry.key) {
            Some(entry) => {
                let draft = global.draft.clone().with(&entry.value, found);
                let only_cost = entry.value.entries().iter().all(|field| field.key == "cost");
                let apart_on = matched.as_ref().filter(|_| !only_cost);
                // Where the rule above has a mistake, that one is enough.
                if global.rule.is_some() || entry.value.get("quota").is_some() {
                    rules.extend(draft.rule(entry, apart_on, found));
                }
            }
            None if skipped.contains(&global.entry.key.as_str()) => {}
            None => rules.extend(global.rule.clone()),
        }
    }
    for entry in own.iter().filter(|entry| globals.iter().all(|global| global.entry.key != entry.key)) {
        let draft = Draft::new(&entry.key, defaults).with(&entry.value, found);
        if draft.lacks_quota(&entry.value) {
            let message = format!("there is no rule `{}` to override, and a new one needs a quota", entry.key);
            let meant = nearest(&entry.key, globals.iter().map(|global| global.entry.key.as_str()));
            let help = meant
                .map_or_else(|| "add for example quota: 20/s".to_owned(), |name| format!("did you mean `{name}`?"));
            found.add(entry.place, message, help);
        }
        rules.extend(draft.rule(entry, matched.as_ref(), found));
    }
    let mut route = Route::new(matched?, rules);
    route.cost = cost(node).unwrap_or(Cost::ONE);
    Some(route)
}

fn matched(node: &Node) -> Option<Match> {
    let matched: Match = node.get("match")?.text()?.parse().ok()?;
    match node.get("host") {
        Some(host) => matched.at_host(host.text()?).ok(),
        None => Some(matched),
    }
}

/// The names of the rules above that a route does without.
fn skipped<'n>(node: &'n Node, own: &[Entry], globals: &[Global<'n>], found: &mut Found<'_>) -> Vec<&'n str> {
    let Some(skip) = node.get("skip") else { return Vec::new() };
    let known = || globals.iter().map(|global| global.entry.key.as_str());
    let Value::List(names) = &skip.value else {
        return known().collect();
    };
    for node in names {
        let Some(name) = node.text() else { continue };
        if !known().any(|known| known == name) {
            let help = match nearest(name, known()) {
                Some(name) => format!("did you mean `{name}`?"),
                None => format!("the rules above are {}", known().collect::<Vec<_>>().join(", ")),
            };
            found.add(node.place, format!("there is no rule `{name}` above the routes to skip"), help);
        } else if own.iter().any(|entry| entry.key == name) {
            let message = format!("the rule `{name}` is skipped here and overridden here");
            found.add(node.place, message, "do one of both");
        }
    }
    names.iter().filter_map(Node::text).collect()
}
