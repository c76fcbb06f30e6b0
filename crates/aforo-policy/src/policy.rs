//! The compiled policy: rules, routes and exemptions, as the request path uses them.

use std::collections::HashMap;
use std::sync::Arc;

use aforo_core::{MAX_HITS, Quota};

use crate::exempting::{Exempting, Readings};
use crate::meeting::{Met, OTHERS, Place};
use crate::tree::Tree;
use crate::{
    Allowance, Clients, Cors, Denied, Describe, Exemption, Flaw, Flaws, Headers, Identify, Meeting, Plan, Proof, Route,
    Rule,
};

/// How paths and methods are read before anything is matched. Whoever describes a request obeys it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paths {
    /// Whether paths are compared in lower case.
    pub case_insensitive: bool,
    /// The name, in lower case, of a header by which the upstream lets a request change its method.
    pub method_override: Option<String>,
}

/// What a policy is made of.
#[derive(Clone, Debug)]
pub struct Parts {
    /// The rules that a request meets which matches no route.
    pub rules: Vec<Rule>,
    /// The routes, each with all the rules that a request meets there.
    pub routes: Vec<Route>,
    /// What is under no rule.
    pub exemptions: Vec<Exemption>,
    /// How paths and methods are read.
    pub paths: Paths,
    /// Which response fields clients are shown.
    pub headers: Headers,
    /// The body of a refusal.
    pub denied: Denied,
    /// How a client's address is found.
    pub clients: Clients,
    /// The ways of proving who one is, in the order in which they are tried.
    pub proofs: Vec<Proof>,
    /// The one rule that a CORS preflight meets.
    pub preflight: Rule,
    /// The origins whose scripts may read what clients are shown.
    pub cors: Option<Cors>,
}

impl Default for Parts {
    /// Nothing but the rule for preflights.
    fn default() -> Parts {
        Parts {
            rules: Vec::new(),
            routes: Vec::new(),
            exemptions: Vec::new(),
            paths: Paths::default(),
            headers: Headers::default(),
            denied: Denied::default(),
            clients: Clients::default(),
            proofs: Vec::new(),
            preflight: Rule::preflight(),
            cors: None,
        }
    }
}

/// Which rules meet a request. It is made whole, and swapped whole.
#[derive(Debug)]
pub struct Policy {
    parts: Parts,
    tree: Tree,
    exempting: Exempting,
    identify: Option<Arc<dyn Identify>>,
}

impl Policy {
    /// A policy of these rules for every request.
    ///
    /// # Errors
    ///
    /// If there are more than eight, or two have one name.
    pub fn new(rules: impl IntoIterator<Item = Rule>) -> Result<Policy, Flaws> {
        Policy::of(Parts { rules: rules.into_iter().collect(), ..Parts::default() })
    }

    /// A policy of these parts.
    ///
    /// # Errors
    ///
    /// Every flaw at once: see [`Flaw`].
    pub fn of(parts: Parts) -> Result<Policy, Flaws> {
        let mut policy = Policy { parts, tree: Tree::default(), exempting: Exempting::default(), identify: None };
        let mut flaws = policy.crowds();
        flaws.extend(policy.twins());
        flaws.extend(policy.mixtures());
        flaws.extend(policy.reduce());
        let case_insensitive = policy.parts.paths.case_insensitive;
        for (later, route) in policy.parts.routes.iter().enumerate() {
            if let Err(earlier) = policy.tree.insert(later, route.matches(), case_insensitive) {
                flaws.push(Flaw::Ambiguous { earlier, later });
            }
        }
        match Exempting::of(&policy.parts.exemptions, case_insensitive) {
            Ok(exempting) => policy.exempting = exempting,
            Err(twice) => flaws.extend(twice.into_iter().map(|(earlier, later)| Flaw::ExemptTwice { earlier, later })),
        }
        if flaws.is_empty() { Ok(policy) } else { Err(Flaws(flaws)) }
    }

    /// Places where more rules meet than a store can be asked about at once.
    fn crowds(&self) -> Vec<Flaw> {
        let everywhere = (None, self.parts.rules.len());
        let on_routes = self.parts.routes.iter().enumerate().map(|(route, on)| (Some(route), on.rules.len()));
        let crowded = std::iter::once(everywhere).chain(on_routes).filter(|(_, met)| *met > MAX_HITS);
        crowded.map(|(route, met)| Flaw::TooManyRules { route, met }).collect()
    }

    /// Rules that would count in the same counters although they are not the same.
    fn twins(&self) -> Vec<Flaw> {
        let mut known: HashMap<&[u8], &Rule> = HashMap::new();
        let mut flaws = Vec::new();
        for (route, rule) in self.all_rules() {
            let other = *known.entry(rule.scope().as_bytes()).or_insert(rule);
            let same = other.name() == rule.name()
                && other.allowance == rule.allowance
                && other.plans == rule.plans
                && other.partition == rule.partition
                && other.share == rule.share;
            if !same {
                flaws.push(Flaw::SameScope { route, rule: rule.name().to_owned(), other: other.name().to_owned() });
            }
        }
        flaws
    }

    /// Rules of which a plan is counted by another algorithm.
    fn mixtures(&self) -> Vec<Flaw> {
        let all = self.all_rules().filter_map(|(route, rule)| {
            let kind = |quota: &Quota| std::mem::discriminant(&quota.algorithm());
            // Nothing is counted of nothing.
            let counted = |allowance: &Allowance| allowance.quota().filter(|quota| quota.limit() > 0).map(kind);
            let expected = rule.allowances().find_map(|(_, allowance)| counted(allowance))?;
            let other = |plan: &&Plan| counted(&plan.allowance).is_some_and(|kind| kind != expected);
            let plan = rule.plans.iter().find(other)?;
            Some(Flaw::OtherAlgorithm { route, rule: rule.name().to_owned(), plan: plan.name.clone() })
        });
        all.collect()
    }

    /// Every rule, with the place of the route on which it stands.
    fn all_rules(&self) -> impl Iterator<Item = (Option<usize>, &Rule)> {
        let Parts { rules, routes, preflight, .. } = &self.parts;
        let on_routes =
            routes.iter().enumerate().flat_map(|(at, route)| route.rules.iter().map(move |rule| (Some(at), rule)));
        rules.iter().chain([preflight]).map(|rule| (None, rule)).chain(on_routes)
    }

    /// Works out what each rule allows when the store does not answer.
    fn reduce(&mut self) -> Vec<Flaw> {
        let Parts { rules, routes, preflight, .. } = &mut self.parts;
        let on_routes =
            (0..).zip(routes).flat_map(|(at, route)| route.rules.iter_mut().map(move |rule| (Some(at), rule)));
        let all = rules.iter_mut().chain([preflight]).map(|rule| (None, rule)).chain(on_routes);
        let reduced = all.filter_map(|(route, rule)| {
            let (plan, reason) = rule.reduce().err()?;
            Some(Flaw::NoShare { route, rule: rule.name().to_owned(), plan, share: rule.share, reason })
        });
        reduced.collect()
    }

    /// The rules that a request meets which matches no route.
    pub fn rules(&self) -> &[Rule] {
        &self.parts.rules
    }

    /// The routes, in the order of the policy.
    pub fn routes(&self) -> &[Route] {
        &self.parts.routes
    }

    /// The exemptions.
    pub fn exemptions(&self) -> &[Exemption] {
        &self.parts.exemptions
    }

    /// How paths and methods are read.
    pub fn paths(&self) -> &Paths {
        &self.parts.paths
    }

    /// Which response fields clients are shown.
    pub fn headers(&self) -> &Headers {
        &self.parts.headers
    }

    /// The body of a refusal.
    pub fn denied(&self) -> &Denied {
        &self.parts.denied
    }

    /// How a client's address is found.
    #[inline]
    pub fn clients(&self) -> &Clients {
        &self.parts.clients
    }

    /// The ways of proving who one is, in the order in which they are tried.
    pub fn proofs(&self) -> &[Proof] {
        &self.parts.proofs
    }

    /// The one rule that a CORS preflight meets.
    pub fn preflight(&self) -> &Rule {
        &self.parts.preflight
    }

    /// The origins whose scripts may read what clients are shown.
    #[inline]
    pub fn cors(&self) -> Option<&Cors> {
        self.parts.cors.as_ref()
    }

    /// The same policy with what verifies its [proofs](Policy::proofs), which whoever reads requests has made from them.
    #[must_use]
    pub fn with_identify(self, identify: Option<Arc<dyn Identify>>) -> Policy {
        Policy { identify, ..self }
    }

    /// What finds out who a request is from. Without it everyone is anonymous.
    #[inline]
    pub fn identify(&self) -> Option<&dyn Identify> {
        self.identify.as_deref()
    }

    /// What a request meets.
    #[inline]
    pub fn meet(&self, request: &impl Describe) -> Meeting<'_> {
        Meeting { policy: self, met: self.find(request) }
    }

    #[inline]
    pub(crate) fn find(&self, request: &impl Describe) -> Met {
        let (method, path) = (request.method(), request.path());
        let (other_method, other_path) = (request.other_method(), request.other_path());
        let behind_host = request.path_behind_host();
        let mut readings = Readings { method, host: request.host(), path, others: [None; OTHERS] };
        if other_method.is_some() || other_path.is_some() || behind_host.is_some() {
            readings.others = [
                other_path.map(|path| (method, path)),
                behind_host.map(|path| (method, path)),
                other_method.map(|method| (method, path)),
                other_method.zip(other_path),
                other_method.zip(behind_host),
            ];
        }
        let exemption = self.exempting.find(&self.parts.exemptions, &readings, request);
        let preflight = is_preflight(request);
        // Many policies have no routes.
        let routes = !self.parts.routes.is_empty() && !preflight;
        let place_of = |(method, path)| match routes {
            true => Place::from(self.tree.find(method, readings.host, path)),
            false if preflight => Place::Preflight,
            false => Place::Unmatched,
        };
        let mut others = [None; OTHERS];
        if exemption.is_none() {
            others = readings.others.map(|reading| reading.map(place_of));
        }
        Met { place: place_of((method, path)), others, exemption }
    }

    #[inline]
    pub(crate) fn route_at(&self, place: Place) -> Option<&Route> {
        match place {
            Place::Route(route) => self.parts.routes.get(route),
            Place::Unmatched | Place::Preflight => None,
        }
    }

    #[inline]
    pub(crate) fn rules_at(&self, place: Place) -> &[Rule] {
        match place {
            Place::Route(route) => self.parts.routes.get(route).map_or(&[], |route| &route.rules),
            Place::Unmatched => &self.parts.rules,
            Place::Preflight => std::slice::from_ref(&self.parts.preflight),
        }
    }
}

/// Whether a browser asks, before a script's request to another origin, if it may send it (the Fetch standard,
/// "CORS-preflight request").
#[inline]
fn is_preflight(request: &impl Describe) -> bool {
    let sent = |name| request.header(name).next().is_some();
    request.method() == "OPTIONS" && sent("origin") && sent("access-control-request-method")
}
