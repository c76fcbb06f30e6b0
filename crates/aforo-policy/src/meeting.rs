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

/// Which rules the hits of a request are about: the number of each among those that the request meets.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Numbers {
    length: u8,
    numbers: [u8; MAX_HITS],
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
        self.rules_here().iter().chain(self.more_rules().map(|(_, rule)| rule))
    }

    /// The rules that are met because of the other form of the path alone, with their numbers.
    fn more_rules(&self) -> impl Iterator<Item = (u8, &'p Rule)> + use<'p> {
        let rules = self.rules_here();
        let unmet = move |rule: &Rule| rules.iter().all(|known| known.scope() != rule.scope());
        (THERE..).zip(self.rules_there()).filter(move |(_, rule)| unmet(rule))
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
        let mut hits = Hits::new();
        match self.ask(request, &mut hits) {
            Ok(_) => Ok(hits),
            Err(lack) => Err(self.missing(lack).unwrap_or(&Fact::Ip)),
        }
    }

    /// What [`Meeting::hits`] asks, each question with its rule: for explaining, not for deciding.
    ///
    /// # Errors
    ///
    /// The fact that the request lacks and a rule insists on.
    pub fn asked(&self, request: &impl Describe) -> Result<Vec<(&'p Rule, Hit)>, &'p Fact> {
        let mut hits = Hits::new();
        match self.ask(request, &mut hits) {
            Ok(numbers) => Ok(numbers.rules(*self).zip(hits.iter().copied()).collect()),
            Err(lack) => Err(self.missing(lack).unwrap_or(&Fact::Ip)),
        }
    }

    /// Fills in what a store is to be asked, in place: hits are large, and this is where every request comes by.
    #[inline]
    pub(crate) fn ask(&self, request: &impl Describe, hits: &mut Hits) -> Result<Numbers, Lack> {
        let mut numbers = Numbers::default();
        let route = self.route();
        for (number, rule) in (0_u8..).zip(self.rules_here()) {
            numbers.add(number, rule, route, request, hits)?;
        }
        if let Some(place) = self.met.other {
            let route = self.policy.route_at(place);
            // Eight of both together are asked; each of the two alone has no more.
            for (number, rule) in self.more_rules() {
                numbers.add(number, rule, route, request, hits)?;
            }
        }
        Ok(numbers)
    }

    /// The fact that is lacking.
    pub(crate) fn missing(&self, lack: Lack) -> Option<&'p Fact> {
        self.rule(lack.rule)?.partition.facts().get(usize::from(lack.fact))
    }
}

impl Numbers {
    #[inline]
    fn add(
        &mut self,
        number: u8,
        rule: &Rule,
        route: Option<&Route>,
        request: &impl Describe,
        hits: &mut Hits,
    ) -> Result<(), Lack> {
        let Some(quota) = rule.quota() else { return Ok(()) };
        let when_missing = match (rule.when_missing, rule.mode) {
            (WhenMissing::Deny, Mode::Shadow) => WhenMissing::Skip,
            (when_missing, _) => when_missing,
        };
        let key = match subject(rule.scope(), &rule.partition, when_missing, route, request) {
            Subject::Counter(key) => key,
            Subject::Skipped => return Ok(()),
            Subject::Missing(fact) => return Err(Lack { rule: number, fact }),
        };
        let cost = rule.cost.or(request.cost()).or(route.map(|route| route.cost)).unwrap_or_default();
        let hit = Hit { key, quota: *quota, cost, mode: rule.mode, count_denied: rule.count_denied };
        if let Some(slot) = self.numbers.get_mut(usize::from(self.length))
            && hits.push(hit).is_ok()
        {
            *slot = number;
            self.length += 1;
        }
        Ok(())
    }

    /// Whether nothing is asked.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The rule of each hit, in the order of the hits.
    #[inline]
    pub(crate) fn rules<'p>(&self, meeting: Meeting<'p>) -> impl Iterator<Item = &'p Rule> + Clone + use<'p> {
        self.numbers.into_iter().take(self.length.into()).filter_map(move |number| meeting.rule(number))
    }
}
