//! The plainest store that keeps a store's promises: one lock, one map, nothing ever forgotten.

use std::collections::HashMap;
use std::future::{Ready, ready};
use std::sync::{Mutex, PoisonError};

use aforo_core::{Clock, Decision, Hit, Hits, Key, Ledger, Moment, Op, Store, StoreError, Weighed, decide};

use crate::Counter;

/// A store to compare others with. It is slow on purpose: what it does can be read off the page.
#[derive(Debug)]
pub struct PlainStore<C> {
    clock: C,
    counters: Mutex<HashMap<Key, Counter>>,
}

impl<C: Clock> PlainStore<C> {
    /// An empty store that reads the time from `clock`.
    pub fn new(clock: C) -> PlainStore<C> {
        PlainStore { clock, counters: Mutex::default() }
    }
}

impl<C: Clock + 'static> Store for PlainStore<C> {
    type Deciding = Ready<Result<Decision, StoreError>>;

    fn decide(&self, op: Op, hits: &Hits) -> Self::Deciding {
        let mut counters = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        let mut page = Page { counters: &mut counters, weighed: Vec::new() };
        ready(Ok(decide(op, hits, self.clock.now(), &mut page)))
    }
}

/// The counters while one request is decided, and those of it that would be charged if it is admitted.
struct Page<'a> {
    counters: &'a mut HashMap<Key, Counter>,
    weighed: Vec<(Key, Counter)>,
}

impl Page<'_> {
    fn counter(&self, key: &Key) -> Counter {
        self.counters.get(key).cloned().unwrap_or_default()
    }
}

impl Ledger for Page<'_> {
    fn weigh(&mut self, _: usize, hit: &Hit, now: Moment) -> Weighed {
        // Two hits of one request may name the same counter: the second sees what the first would leave.
        let earlier = self.weighed.iter().rev().find(|(key, _)| *key == hit.key);
        let mut counter = earlier.map_or_else(|| self.counter(&hit.key), |(_, counter)| counter.clone());
        let weighed = counter.take(&hit.quota, hit.cost, now);
        self.weighed.push((hit.key, counter));
        weighed
    }

    fn charge(&mut self, _: usize, hit: &Hit, weighed: &Weighed) {
        self.counters.entry(hit.key).or_default().charge(&hit.quota, hit.cost, weighed);
    }

    fn overcharge(&mut self, _: usize, hit: &Hit, weighed: &Weighed) {
        let counter = self.counters.entry(hit.key).or_default();
        counter.overcharge(&hit.quota, hit.cost, weighed);
        self.weighed.retain(|(key, _)| *key != hit.key);
    }

    fn refund(&mut self, _: usize, hit: &Hit, weighed: &Weighed, taken_at: Moment) {
        let counter = self.counters.entry(hit.key).or_default();
        counter.refund(&hit.quota, hit.cost, weighed, taken_at);
        self.weighed.retain(|(key, _)| *key != hit.key);
    }
}
