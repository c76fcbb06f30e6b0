//! What a file says for the time when the store does not answer, and looks like no good.

use super::mistake::{Found, Place};
use super::node::{Entry, Node};
use super::settings::StoreSettings;
use crate::{Rule, WhenDown};

/// The keys of `store` that mean nothing for one in memory.
const ELSEWHERE: [&str; 5] = ["timeout", "when_down", "share", "prefix", "connections"];

/// Whether the store may one day not answer.
pub(super) fn can_come(store: &StoreSettings) -> bool {
    !matches!(store, StoreSettings::Memory { .. })
}

/// Warns of keys that have no effect. They are no mistakes: the same file may serve elsewhere, where the environment
/// names another store.
pub(super) fn idle_keys(file: &Node, found: &mut Found<'_>) {
    let entries = file.get("store").map_or(&[][..], Node::entries);
    let idle: Vec<&Entry> = entries.iter().filter(|entry| ELSEWHERE.contains(&entry.key.as_str())).collect();
    let Some(first) = idle.first() else { return };
    let keys: Vec<String> = idle.iter().map(|entry| format!("`{}`", entry.key)).collect();
    let message = format!("a store in memory heeds no {}: it always answers, and nobody shares it", keys.join(", "));
    found.add(first.place, message, "leave that out, or name a store outside this process by `url`");
}

/// Warns of a share so small that more than the share is allowed.
pub(super) fn rounded_up(place: Place, rule: &Rule, found: &mut Found<'_>) {
    let allowed = rule.quotas().filter(|_| rule.when_down == WhenDown::Fallback);
    let units = allowed.map(|quota| quota.limit().min(quota.at_once())).filter(|units| *units > 0);
    let Some(least) = units.min() else { return };
    if u64::from(least) * u64::from(rule.share.hundredths()) < 100 {
        let (share, name) = (rule.share, rule.name());
        let message = format!("{share} of the {least} that the rule `{name}` allows is less than 1, and 1 is allowed");
        let help = "every process allows that while the store is down: take a larger share, or `when_down: deny`";
        found.add(place, message, help);
    }
}
