//! Meetings: what a request meets, and the questions that follow from it.

use aforo_core::{Hit, Hits, MAX_HITS, Mode};

use crate::subject::{Subject, subject};
use crate::{Describe, Exemption, Fact, Policy, Route, Rule, WhenMissing};

/// The bit of a rule's number that says it is met because of the other form of the path.
const THERE: u8 = 0x80;

/// The places of what a request meets within its policy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Met {
    pub(crate) place: Place,
    /// Where the request would be in the other form of its path, if that is elsewhere.
    pub(crate) other: Option<Place>,
    pub(crate) exemption: Option<usize>,
}

/// Where a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// On the route of that number.
    Route(usize),
    /// On none.
    Unmatched,
}

impl From<Option<usize>> for Place {
    fn from(route: Option<usize>) -> Place {
        route.map_or(Place::Unmatched, Place::Route)
    }
}

/// What a request meets.
#[derive(Clone, Copy, Debug)]
pub struct Meeting<'p> {
    pub(crate) policy: &'p Policy,
    pub(crate) met: Met,
}

/// The questions of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Questions {
    pub(crate) hits: Hits,
    /// For each hit, the number of its rule among those that the request meets.
    rules: [u8; MAX_HITS],
}

/// A fact that a request lacks and a rule does not let pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lack {
    rule: u8,
    fact: u8,
}

impl<'p> Meeting<'p> {
    /// The route that the request matches.
    #[inline]
    pub fn route(&self) -> Option<&'p Route> {
        self.policy.route_at(self.met.place)
    }

    /// What exempts the request from every rule.
    #[inline]
    pub fn exempt(&self) -> Option<&'p Exemption> {
        self.policy.exemptions().get(self.met.exemption?)
    }

    /// The rules that the request meets, in order.
    #[inline]
    pub fn rules(&self) -> impl Iterator<Item = &'p Rule> + use<'p> {
        self.numbered().map(|(_, _, rule)| rule)
    }

    /// The same with their numbers, and the route that each is met on.
    #[inline]
    fn numbered(&self) -> impl Iterator<Item = (u8, Option<&'p Route>, &'p Rule)> + use<'p> {
        let rules = self.rules_here();
        let here = self.route();
        let also = self.met.other.map(|place| (self.policy.route_at(place), self.rules_there()));
        let unmet = move |rule: &&Rule| rules.iter().all(|known| known.scope() != rule.scope());
        let there = also.into_iter().flat_map(move |(route, others)| {
            (0_u8..).zip(others).filter(move |(_, rule)| unmet(rule)).map(move |(at, rule)| (at | THERE, route, rule))
        });
        (0_u8..).zip(rules).map(move |(at, rule)| (at, here, rule)).chain(there)
    }

    #[inline]
    fn rules_here(&self) -> &'p [Rule] {
        if self.met.exemption.is_some() { &[] } else { self.policy.rules_at(self.met.place) }
    }

    #[inline]
    fn rules_there(&self) -> &'p [Rule] {
        self.met.other.map_or(&[], |place| self.policy.rules_at(place))
    }

    #[inline]
    pub(crate) fn rule(&self, number: u8) -> Option<&'p Rule> {
        let rules = if number & THERE == 0 { self.rules_here() } else { self.rules_there() };
        rules.get(usize::from(number & !THERE))
    }

    /// What a store is to be asked: a hit for each rule that has a quota. Nothing is allocated.
    ///
    /// # Errors
    ///
    /// The fact that the request lacks and a rule insists on.
    #[inline]
    pub fn hits(&self, request: &impl Describe) -> Result<Hits, &'p Fact> {
        self.ask(request).map(|questions| questions.hits).map_err(|lack| self.missing(lack).unwrap_or(&Fact::Ip))
    }

    /// What [`Meeting::hits`] asks, each question with its rule: for explaining, not for deciding.
    ///
    /// # Errors
    ///
    /// The fact that the request lacks and a rule insists on.
    pub fn asked(&self, request: &impl Describe) -> Result<Vec<(&'p Rule, Hit)>, &'p Fact> {
        match self.ask(request) {
            Ok(questions) => Ok(questions.rules(*self).zip(questions.hits.iter().copied()).collect()),
            Err(lack) => self.missing(lack).map_or(Ok(Vec::new()), Err),
        }
    }

    #[inline]
    pub(crate) fn ask(&self, request: &impl Describe) -> Result<Questions, Lack> {
        let mut questions = Questions::NONE;
        for (at, route, rule) in self.numbered() {
            let Some(quota) = rule.quota() else { continue };
            let when_missing = match (rule.when_missing, rule.mode) {
                (WhenMissing::Deny, Mode::Shadow) => WhenMissing::Skip,
                (when_missing, _) => when_missing,
            };
            let key = match subject(rule.scope(), &rule.partition, when_missing, route, request) {
                Subject::Counter(key) => key,
                Subject::Skipped => continue,
                Subject::Missing(fact) => return Err(Lack { rule: at, fact }),
            };
            let cost = rule.cost.or(request.cost()).or(route.map(|route| route.cost)).unwrap_or_default();
            let hit = Hit { key, quota: *quota, cost, mode: rule.mode, count_denied: rule.count_denied };
            if let Some(slot) = questions.rules.get_mut(questions.hits.len())
                && questions.hits.push(hit).is_ok()
            {
                *slot = at;
            }
        }
        Ok(questions)
    }

    /// The fact that is lacking.
    pub(crate) fn missing(&self, lack: Lack) -> Option<&'p Fact> {
        self.rule(lack.rule)?.partition.facts().get(usize::from(lack.fact))
    }
}

impl Questions {
    pub(crate) const NONE: Questions = Questions { hits: Hits::new(), rules: [0; MAX_HITS] };

    /// The rule of each hit, in the order of the hits.
    #[inline]
    pub(crate) fn rules<'p>(&self, meeting: Meeting<'p>) -> impl Iterator<Item = &'p Rule> + Clone + use<'p> {
        self.rules.into_iter().take(self.hits.len()).filter_map(move |number| meeting.rule(number))
    }
}
