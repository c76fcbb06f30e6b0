use std::collections::BTreeMap;

use aforo_core::{Key, Moment, Quota, State};
use proptest::prelude::*;

use super::*;
use crate::fingerprint::Seeds;

fn state(debt: u64) -> Packed {
    Packed::new(&State::TokenBucket { debt, at: Moment::EPOCH, grain: Quota::per_second(1).grain() }).unwrap()
}

fn debt(counter: &Counter) -> u64 {
    match counter.state.state() {
        State::TokenBucket { debt, .. } => debt,
        other => panic!("{other:?}"),
    }
}

fn owner(seeds: &Seeds, number: u32) -> Fingerprint {
    seeds.key(&Key::new(b"rule", &number.to_be_bytes()).unwrap())
}

fn add(table: &mut Table, owner: Fingerprint, debt: u64) {
    if table.is_fuller_than(85) {
        table.resize(table.len() + 1);
    }
    table.insert(Counter { owner, state: state(debt) });
}

/// The two sentences of the module that must stay true.
fn inspect(table: &Table) {
    let mut last = 0;
    let mut len = 0;
    for (place, counter) in table.places.iter().enumerate().filter(|(_, counter)| !counter.is_none()) {
        let home = counter.owner.home(table.homes);
        assert!(home <= place && table.places[home..place].iter().all(|between| !between.is_none()));
        assert!(counter.owner.order() > last);
        last = counter.owner.order();
        len += 1;
    }
    assert_eq!(len, table.len());
}

#[derive(Clone, Debug)]
enum Step {
    Put(u32),
    Drop(u32),
    DropEvery { share: u32, from: usize, places: usize },
    Resize,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..400u32).prop_map(Step::Put),
        2 => (0..400u32).prop_map(Step::Drop),
        1 => (2..5u32, 0..400usize, 0..100usize).prop_map(|(share, from, places)| Step::DropEvery { share, from, places }),
        1 => Just(Step::Resize),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn it_holds_what_a_map_holds_whatever_is_done_to_it(steps in prop::collection::vec(step(), 1..600)) {
        let seeds = Seeds::random();
        let (mut table, mut map) = (Table::default(), BTreeMap::new());
        for step in steps {
            match step {
                Step::Put(number) => {
                    let owner = owner(&seeds, number);
                    if table.find(owner).is_err() {
                        add(&mut table, owner, u64::from(number) + 1);
                        map.insert(owner.order(), (owner, u64::from(number) + 1));
                    }
                }
                Step::Drop(number) => {
                    let owner = owner(&seeds, number);
                    let dropped = table.find(owner).map_or(0, |place| table.retain(place, place + 1, |_| false));
                    prop_assert_eq!(dropped, usize::from(map.remove(&owner.order()).is_some()));
                }
                Step::DropEvery { share, from, places } => {
                    let mut gone = Vec::new();
                    let dropped = table.retain(from, from + places, |counter| {
                        let keep = !debt(counter).is_multiple_of(share.into());
                        if !keep {
                            gone.push(counter.owner.order());
                        }
                        keep
                    });
                    prop_assert_eq!(dropped, gone.len());
                    for order in gone {
                        prop_assert!(map.remove(&order).is_some());
                    }
                }
                Step::Resize => table.resize(table.len()),
            }
            inspect(&table);
            prop_assert_eq!(table.len(), map.len());
        }
        for (owner, units) in map.into_values() {
            let place = table.find(owner).unwrap();
            prop_assert_eq!(debt(table.get(place).unwrap()), units);
        }
    }
}

#[test]
fn a_table_that_is_empty_again_has_the_places_that_it_began_with() {
    let seeds = Seeds::random();
    let mut table = Table::default();
    let first = table.places.as_ptr();
    let few = table.places.len();
    (0..1_000).for_each(|number| add(&mut table, owner(&seeds, number), 1));
    assert_eq!(table.retain(0, usize::MAX, |_| false), 1_000);
    assert!(table.is_sparse());
    table.resize(0);
    assert_eq!((table.places.as_ptr(), table.places.len()), (first, few));
    assert!(!table.is_sparse());
}

#[test]
fn a_counter_takes_at_most_64_bytes_however_many_there_are() {
    assert_eq!(size_of::<Counter>(), 40);
    let seeds = Seeds::random();
    let mut table = Table::default();
    for number in 0..20_000 {
        add(&mut table, owner(&seeds, number), 1);
        if number > 500 {
            let bytes = table.places.len() * size_of::<Counter>();
            assert!(bytes <= 64 * table.len(), "{bytes} bytes for {} counters", table.len());
        }
    }
}

#[test]
fn counters_that_crowd_at_the_end_find_room() {
    let seeds = Seeds::random();
    let mut table = Table::default();
    let mut last: Vec<_> = (0..20_000).map(|number| owner(&seeds, number)).filter(|one| one.home(64) == 63).collect();
    last.truncate(40);
    assert_eq!(last.len(), 40);
    for &owner in &last {
        add(&mut table, owner, 1);
        inspect(&table);
    }
    assert!(last.iter().all(|&owner| table.find(owner).is_ok()));
}
