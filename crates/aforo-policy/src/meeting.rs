//! Meetings: what a request meets, and the questions that follow from it.

use aforo_core::{Hit, Hits, MAX_HITS, Mode, Origin};

use crate::plan::Entitled;
use crate::subject::{Subject, subject};
use crate::{Describe, Exemption, Fact, Policy, Route, Rule, WhenMissing};

/// Other readings of a request than the first: two other paths, another method, that with each of them.
pub(crate) const OTHERS: usize = 5;
/// The bits of a rule's number that say in which reading it is met; those below tell the rules there apart.
const READING_SHIFT: u32 = 4;

/// The places of what a request meets within its policy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Met {
    pub(crate) place: Place,
    /// Where the request would be in other readings of it.
    pub(crate) others: [Option<Place>; OTHERS],
    pub(crate) exemption: Option<usize>,
}

/// Where a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// On the route of that number.
    Route(usize),
    /// On none.
    Unmatched,
    /// On none: it is a preflight, which meets one rule of its own.
    Preflight,
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

/// Which rules the hits of a request are about: the number of each among those that the request meets, and which of its
/// allowances holds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Numbers {
    length: u8,
    asked: [(u8, Entitled); MAX_HITS],
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
        self.rules_here().iter().chain(self.more_rules().map(|(_, _, rule)| rule))
    }

    /// The rules that are met in other readings alone, with their numbers and routes.
    fn more_rules(&self) -> impl Iterator<Item = (u8, Option<&'p Route>, &'p Rule)> + use<'p> {
        let meeting = *self;
        (1_u8..).zip(self.met.others).flat_map(move |(reading, place)| {
            let rules = place.map_or(&[][..], |place| meeting.policy.rules_at(place));
            let route = place.and_then(|place| meeting.policy.route_at(place));
            let unmet = move |rule: &Rule| {
                (0..reading).flat_map(|before| meeting.rules_in(before)).all(|known| known.scope() != rule.scope())
            };
            let numbered = (reading << READING_SHIFT..).zip(rules);
            numbered.filter(move |(_, rule)| unmet(rule)).map(move |(number, rule)| (number, route, rule))
        })
    }

    #[inline]
    fn rules_here(&self) -> &'p [Rule] {
        if self.met.exemption.is_some() { &[] } else { self.policy.rules_at(self.met.place) }
    }

    /// The rules of a reading; the first has the number 0.
    fn rules_in(&self, reading: u8) -> &'p [Rule] {
        match usize::from(reading).checked_sub(1) {
            None => self.rules_here(),
            Some(other) => match self.met.others.get(other) {
                Some(Some(place)) => self.policy.rules_at(*place),
                _ => &[],
            },
        }
    }

    #[inline]
    pub(crate) fn rule(&self, number: u8) -> Option<&'p Rule> {
        let within = number & ((1 << READING_SHIFT) - 1);
        self.rules_in(number >> READING_SHIFT).get(usize::from(within))
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
            Ok(numbers) => Ok(numbers.rules(*self).map(|(rule, _)| rule).zip(hits.iter().copied()).collect()),
            Err(lack) => Err(self.missing(lack).unwrap_or(&Fact::Ip)),
        }
    }

    /// Fills in what a store is to be asked, in place: hits are large, and this is where every request comes by.
    #[inline]
    pub(crate) fn ask(&self, request: &impl Describe, hits: &mut Hits) -> Result<Numbers, Lack> {
        let mut numbers = Numbers::default();
        let route = self.route();
        for (number, rule) in (0_u8..).zip(self.rules_here()) {
            numbers.add(self.policy, number, (rule, route), request, hits)?;
        }
        if self.met.others.iter().any(Option::is_some) {
            // Eight of all readings together are asked; each alone has no more.
            for (number, route, rule) in self.more_rules() {
                numbers.add(self.policy, number, (rule, route), request, hits)?;
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
        policy: &Policy,
        number: u8,
        (rule, route): (&Rule, Option<&Route>),
        request: &impl Describe,
        hits: &mut Hits,
    ) -> Result<(), Lack> {
        let entitled = match rule.plans.is_empty() {
            true => Entitled::AS_EVERYONE,
            false => rule.plans.entitled(request.identity().and_then(|identity| identity.plan.as_deref())),
        };
        let Some(quota) = rule.quota_of(entitled, Origin::Store) else { return Ok(()) };
        let when_missing = match (rule.when_missing, rule.mode) {
            (WhenMissing::Deny, Mode::Shadow) => WhenMissing::Skip,
            (when_missing, _) => when_missing,
        };
        let key = match subject(rule.scope(), &rule.partition, when_missing, policy.clients(), route, request) {
            Subject::Counter(key) => key,
            Subject::Skipped => return Ok(()),
            Subject::Missing(fact) => return Err(Lack { rule: number, fact }),
        };
        let cost = rule.cost.or(request.cost()).or(route.map(|route| route.cost)).unwrap_or_default();
        let hit = Hit { key, quota: *quota, cost, mode: rule.mode, count_denied: rule.count_denied };
        if let Some(slot) = self.asked.get_mut(usize::from(self.length))
            && hits.push(hit).is_ok()
        {
            *slot = (number, entitled);
            self.length += 1;
        }
        Ok(())
    }

    /// Whether nothing is asked.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The rule of each hit and which of its allowances holds, in the order of the hits.
    #[inline]
    pub(crate) fn rules<'p>(
        &self,
        meeting: Meeting<'p>,
    ) -> impl Iterator<Item = (&'p Rule, Entitled)> + Clone + use<'p> {
        let asked = self.asked.into_iter().take(self.length.into());
        asked.filter_map(move |(number, entitled)| Some((meeting.rule(number)?, entitled)))
    }
}
