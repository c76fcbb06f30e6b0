use std::sync::Arc;

use super::*;

fn someone(name: &str) -> Identity {
    Identity { user: Arc::from(name), plan: None, by: "test" }
}

fn at(second: u64) -> Moment {
    Moment::from_millis(second * 1000)
}

fn held(remembered: &Remembered) -> usize {
    remembered.sets.iter().map(|set| set.lock().unwrap().len()).sum()
}

#[test]
fn one_is_remembered_until_the_moment_of_expiry_and_no_longer() {
    let remembered = Remembered::new();
    remembered.remember(b"token", &someone("ana"), at(10), at(0));
    assert_eq!(remembered.recall(b"token", Moment::from_micros(9_999_999)), Some(someone("ana")));
    assert_eq!(remembered.recall(b"token", at(10)), None);
    assert_eq!(remembered.recall(b"token2", at(0)), None);
}

#[test]
fn what_ends_alike_is_still_told_apart() {
    let remembered = Remembered::new();
    let all: Vec<Vec<u8>> = (b'a'..b'h').map(|first| [&[first][..], &[b'x'; TELLING]].concat()).collect();
    for shown in &all {
        assert_eq!(remembered.recall(shown, at(0)), None);
        remembered.remember(shown, &someone(str::from_utf8(&shown[..1]).unwrap()), at(10), at(0));
    }
    for shown in &all {
        assert_eq!(remembered.recall(shown, at(0)).unwrap().user.as_bytes(), &shown[..1]);
    }
    assert_eq!(remembered.recall(&[b'x'; TELLING], at(0)), None);
}

#[test]
fn a_flood_is_held_within_the_bound_and_who_lives_longest_stays() {
    let remembered = Remembered::new();
    remembered.remember(b"long-lived", &someone("ana"), at(1_000_000), at(0));
    for number in 0..100_000u32 {
        remembered.remember(&number.to_be_bytes(), &someone("flood"), at(60), at(0));
    }
    assert_eq!(held(&remembered), SETS * PLACES);
    assert_eq!(remembered.recall(b"long-lived", at(1)), Some(someone("ana")));
}

#[test]
fn what_has_expired_makes_room() {
    let remembered = Remembered::new();
    for number in 0..100_000u32 {
        remembered.remember(&number.to_be_bytes(), &someone("flood"), at(60), at(0));
    }
    remembered.remember(b"token", &someone("ana"), at(61), at(60));
    assert_eq!(remembered.recall(b"token", at(60)), Some(someone("ana")));
    assert_eq!(held(&remembered), (SETS - 1) * PLACES + 1, "and its memory is given back");
}

#[test]
fn a_crowd_that_expires_together_does_not_push_one_another_out() {
    let remembered = Remembered::new();
    let all: Vec<[u8; 4]> = (0..100_000u32).map(u32::to_be_bytes).collect();
    let known = || all.iter().filter(|shown| remembered.recall(&shown[..], at(0)).is_some()).collect::<Vec<_>>();
    all.iter().for_each(|shown| remembered.remember(shown, &someone("crowd"), at(60), at(0)));
    let first = known();
    all.iter().for_each(|shown| remembered.remember(shown, &someone("crowd"), at(60), at(0)));
    assert_eq!(known(), first);
    assert!(all[..500].iter().all(|shown| first.contains(&shown)), "who came first is known");
}

#[test]
fn the_same_shown_twice_takes_one_place() {
    let remembered = Remembered::new();
    remembered.remember(b"token", &someone("ana"), at(10), at(0));
    remembered.remember(b"token", &someone("ana"), at(20), at(0));
    assert_eq!(held(&remembered), 1);
    assert_eq!(remembered.recall(b"token", at(15)), Some(someone("ana")));
}

#[test]
fn what_is_very_long_is_not_kept() {
    let remembered = Remembered::new();
    remembered.remember(&[b'a'; LONGEST + 1], &someone("ana"), at(10), at(0));
    assert_eq!(held(&remembered), 0);
}
