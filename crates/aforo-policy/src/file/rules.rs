//! Rules as the file says them, and as a route overrides them.

use aforo_core::{Algorithm, Anchor, Cost, Mode};

use super::mistake::{Found, Place};
use super::node::{Entry, Node, Value};
use crate::allowance::{self, Allowance, Amount, plainly};
use crate::names::nearest;
use crate::{Fact, Match, Partition, Percent, Plan, Plans, Rule, WhenDown, WhenMissing};

/// Where clients are warned if nothing says otherwise.
const WARN_AT: Option<Percent> = Percent::new(90);

/// What holds for a rule that does not say it, and that the file can say for all of them.
#[derive(Clone, Debug)]
pub(super) struct Defaults {
    warn_at: Vec<Percent>,
    when_down: WhenDown,
    share: Percent,
}

impl Defaults {
    pub(super) fn of(file: &Node, found: &mut Found<'_>) -> Defaults {
        let store = file.get("store");
        Defaults {
            warn_at: match file.get("warn_at") {
                Some(node) => percentages(node, found),
                None => WARN_AT.into_iter().collect(),
            },
            when_down: store.and_then(when_down).unwrap_or_default(),
            share: store.and_then(share).unwrap_or(Percent::WHOLE),
        }
    }
}

/// A rule's fields, as far as they are said.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) name: String,
    /// The quota's text, which says which limit is meant where a message shows it.
    quota: Option<(String, Place)>,
    algorithm: Counting,
    burst: Option<(u32, Place)>,
    /// The plans, by their names. Like a burst, they belong to the quota that they stand beside.
    plans: Vec<PlanDraft>,
    partition: Partition,
    mode: Mode,
    cost: Option<Cost>,
    count_denied: bool,
    when_missing: WhenMissing,
    warn_at: Vec<Percent>,
    when_down: WhenDown,
    share: Percent,
}

/// What a plan allows, as it is written.
#[derive(Clone, Debug)]
struct PlanDraft {
    name: String,
    quota: (String, Place),
    burst: Option<(u32, Place)>,
}

/// How units are counted, before a burst is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counting {
    TokenBucket,
    SlidingWindow,
    SlidingLog,
    FixedWindow,
}

impl Counting {
    /// The algorithm of that name in the table of fields.
    fn named(name: &str) -> Option<Counting> {
        Some(match name {
            "token-bucket" => Counting::TokenBucket,
            "sliding-window" => Counting::SlidingWindow,
            "sliding-log" => Counting::SlidingLog,
            "fixed-window" => Counting::FixedWindow,
            _ => return None,
        })
    }
}

impl Draft {
    /// A rule of which only the name is said.
    pub(super) fn new(name: &str, defaults: &Defaults) -> Draft {
        Draft {
            name: name.to_owned(),
            quota: None,
            algorithm: Counting::TokenBucket,
            burst: None,
            plans: Vec::new(),
            partition: Partition::default(),
            mode: Mode::Enforce,
            cost: None,
            count_denied: false,
            when_missing: WhenMissing::Ip,
            warn_at: defaults.warn_at.clone(),
            when_down: defaults.when_down,
            share: defaults.share,
        }
    }

    /// The same with what `node` says in place of what was said before.
    pub(super) fn with(mut self, node: &Node, found: &mut Found<'_>) -> Draft {
        if let Some((node, text)) = said(node, "quota") {
            self.quota = Some((text.to_owned(), node.place));
            // These belonged to the quota before.
            self.burst = None;
            self.plans.clear();
        }
        if let Some(algorithm) = said(node, "algorithm").and_then(|(_, text)| Counting::named(text)) {
            if algorithm != Counting::TokenBucket {
                self.burst = None;
                self.plans.iter_mut().for_each(|plan| plan.burst = None);
            }
            self.algorithm = algorithm;
        }
        if node.get("burst").is_some() {
            self.burst = burst(node);
        }
        if let Some(plans) = node.get("plans") {
            self.plans = plans.entries().iter().filter_map(plan).collect();
        }
        if let Some(per) = node.get("per") {
            let facts: Option<Vec<Fact>> = per.items().iter().map(|item| item.text()?.parse().ok()).collect();
            match facts.map(Partition::new) {
                Some(Ok(partition)) => self.partition = partition,
                Some(Err(invalid)) => found.add_invalid(per.place, &invalid),
                None => {}
            }
        }
        if let Some((_, mode)) = said(node, "mode") {
            self.mode = if mode == "shadow" { Mode::Shadow } else { Mode::Enforce };
        }
        if let Some(cost) = cost(node) {
            self.cost = Some(cost);
        }
        if let Some((_, text)) = said(node, "count_denied") {
            self.count_denied = text == "true";
        }
        if let Some((_, when)) = said(node, "when_missing") {
            self.when_missing = match when {
                "skip" => WhenMissing::Skip,
                "deny" => WhenMissing::Deny,
                _ => WhenMissing::Ip,
            };
        }
        if let Some(warn_at) = node.get("warn_at") {
            self.warn_at = percentages(warn_at, found);
        }
        self.when_down = when_down(node).unwrap_or(self.when_down);
        self.share = share(node).unwrap_or(self.share);
        self
    }

    /// The rule, counting apart on a route where one is given. `entry` is where it is said.
    pub(super) fn rule(&self, entry: &Entry, apart_on: Option<&Match>, found: &mut Found<'_>) -> Option<Rule> {
        let (text, place) = self.quota.as_ref()?;
        let allowance = self.allowance((text, *place, self.burst), &entry.value, found)?;
        let mut rule = match Rule::new(self.name.clone(), allowance) {
            Ok(rule) => rule,
            Err(invalid) => {
                found.add_invalid(entry.place, &invalid);
                return None;
            }
        };
        rule.plans = self.plans(&entry.value, found)?;
        rule.partition = self.partition.clone();
        rule.mode = self.mode;
        rule.cost = self.cost;
        rule.count_denied = self.count_denied;
        rule.when_missing = self.when_missing;
        rule.warn_at = self.warn_at.clone();
        rule.when_down = self.when_down;
        rule.share = self.share;
        if let Err((plan, reason)) = rule.reduce() {
            let (name, share) = (rule.name(), rule.share);
            let whom = plan.map(|plan| format!(" the plan `{plan}`")).unwrap_or_default();
            let message = format!("{share} of what the rule `{name}` allows{whom} is no quota: {}", plainly(reason));
            let help = match rule.nearest_share() {
                Some(nearest) => format!("take for example `share: {nearest}` for this rule, or another quota"),
                None => "take another quota".to_owned(),
            };
            found.add(entry.value.get("share").map_or(entry.place, |node| node.place), message, help);
            return None;
        }
        Some(match apart_on {
            Some(route) => rule.apart_on(route),
            None => rule,
        })
    }

    /// A rule that is said nowhere, with what holds for all that do not say it.
    fn usual(self, mut rule: Rule) -> Rule {
        rule.warn_at = self.warn_at;
        rule.when_down = self.when_down;
        rule.share = self.share;
        rule
    }

    /// Whether a quota is lacking, and not for a reason that is reported anyway.
    pub(super) fn lacks_quota(&self, said_by: &Node) -> bool {
        let meant = |entry: &Entry| nearest(&entry.key, ["quota"]).is_some();
        self.quota.is_none() && matches!(said_by.value, Value::Map(_)) && !said_by.entries().iter().any(meant)
    }

    /// The plans; `None` where one has a mistake.
    fn plans(&self, node: &Node, found: &mut Found<'_>) -> Option<Plans> {
        let said = node.get("plans");
        let plans = self.plans.iter().map(|plan| {
            let (text, place) = &plan.quota;
            let within = said.and_then(|plans| plans.get(&plan.name)).unwrap_or(node);
            let allowance = self.allowance((text, *place, plan.burst), within, found)?;
            Some(Plan { name: plan.name.clone(), allowance })
        });
        let plans = plans.collect::<Vec<_>>().into_iter().collect::<Option<Vec<_>>>()?;
        Plans::new(plans).map_err(|invalid| found.add_invalid(said.unwrap_or(node).place, &invalid)).ok()
    }

    /// What a quota's text and a burst allow. `node` is where they are put together.
    fn allowance(
        &self,
        (text, place, burst): (&str, Place, Option<(u32, Place)>),
        node: &Node,
        found: &mut Found<'_>,
    ) -> Option<Allowance> {
        // What is wrong with the text itself has been reported.
        let amount = text.parse::<Amount>().ok()?;
        if let (Amount::Unlimited, Some((_, place))) = (amount, burst) {
            found.add(place, "`burst` stands beside a quota that is unlimited", "leave one of them out");
            return Some(Allowance::Unlimited);
        }
        let algorithm = match (self.algorithm, burst) {
            (Counting::TokenBucket, _) => None,
            (other, Some((_, place))) => {
                let name = super::fields::ALGORITHMS.iter().find(|name| Counting::named(name) == Some(other));
                let message = format!("`burst` belongs to a token bucket, and `{}` has none", name.unwrap_or(&""));
                found.add(place, message, "leave `burst` out, or take `algorithm: token-bucket`");
                return None;
            }
            (Counting::SlidingWindow, None) => Some(Algorithm::SlidingWindow),
            (Counting::SlidingLog, None) => Some(Algorithm::SlidingLog),
            (Counting::FixedWindow, None) => Some(Algorithm::FixedWindow(Anchor::Epoch)),
        };
        let bucket = |limit| Algorithm::TokenBucket { burst: burst.map_or(limit, |(units, _)| units) };
        match amount.counted(|limit| algorithm.unwrap_or_else(|| bucket(limit))) {
            Ok(allowance) => Some(allowance),
            Err(invalid) => {
                // The fault lies in how this entry puts quota, burst and algorithm together.
                let said_here = ["burst", "algorithm", "quota"].iter().find_map(|key| node.get(key));
                let place = said_here.map_or(place, |node| node.place);
                found.add_invalid(place, &allowance::refused(text, invalid));
                None
            }
        }
    }
}

/// A single value and its text, if the map says it.
fn said<'n>(node: &'n Node, key: &str) -> Option<(&'n Node, &'n str)> {
    let value = node.get(key)?;
    Some((value, value.text()?))
}

/// What a rule or a plan says can be had at once.
fn burst(node: &Node) -> Option<(u32, Place)> {
    let (burst, text) = said(node, "burst")?;
    text.parse().ok().filter(|units| *units > 0).map(|units| (units, burst.place))
}

fn plan(entry: &Entry) -> Option<PlanDraft> {
    let quota = if entry.value.text().is_some() { &entry.value } else { entry.value.get("quota")? };
    let quota = (quota.text()?.to_owned(), quota.place);
    Some(PlanDraft { name: entry.key.clone(), quota, burst: burst(&entry.value) })
}

/// The rule for preflights, as far as the file has another than the usual one.
pub(super) fn preflight(file: &Node, defaults: &Defaults, found: &mut Found<'_>) -> Rule {
    let usual = Rule::preflight();
    let mut draft = Draft::new(usual.name(), defaults);
    draft.quota = Some((usual.allowance.to_string(), file.place));
    draft.partition = usual.partition.clone();
    let Some(entry) = file.entry("preflight") else { return draft.usual(usual) };
    draft.with(&entry.value, found).rule(entry, None, found).map_or(usual, Rule::for_preflights)
}

/// What a rule or the store says of a store that does not answer.
fn when_down(node: &Node) -> Option<WhenDown> {
    match said(node, "when_down")?.1 {
        "allow" => Some(WhenDown::Allow),
        "deny" => Some(WhenDown::Deny),
        "fallback" => Some(WhenDown::Fallback),
        _ => None,
    }
}

/// What part of a quota a rule or the store leaves to the one that stands in.
fn share(node: &Node) -> Option<Percent> {
    said(node, "share")?.1.parse().ok()
}

/// What a rule or a route says a request costs.
pub(super) fn cost(node: &Node) -> Option<Cost> {
    said(node, "cost").and_then(|(_, text)| text.parse().ok()).map(Cost::new)
}

/// One percentage, several, or `off` for none; in ascending order.
pub(super) fn percentages(node: &Node, found: &mut Found<'_>) -> Vec<Percent> {
    let mut shares: Vec<Percent> = node.items().iter().filter_map(|item| item.text()?.parse().ok()).collect();
    shares.sort_unstable();
    if let Some(twice) = shares.windows(2).find(|pair| pair[0] == pair[1]) {
        found.add(node.place, format!("{} stands there twice", twice[0]), "name each share once");
    }
    shares.dedup();
    shares
}
