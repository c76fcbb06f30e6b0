//! A Cluster.

use aforo_testkit::servers::{Connection, RedisCluster, Reply};

/// A slot with its keys, as `{tag}1`.
fn keys_of(cluster: &RedisCluster, tag: &str, count: usize) -> (u16, Vec<String>) {
    let keys: Vec<String> = (0..count).map(|number| format!("{{{tag}}}{number}")).collect();
    let slot = cluster.nodes()[0].command(&["CLUSTER", "KEYSLOT", &keys[0]]).integer();
    (slot.try_into().unwrap(), keys)
}

#[test]
fn every_slot_has_an_owner_and_moves_through_ask_to_moved() {
    let cluster = RedisCluster::start(3);
    let nodes = cluster.nodes();
    assert_eq!([0, 5460, 5461, 16_383].map(|slot| cluster.owner(slot)), [0, 0, 1, 2]);

    let (slot, keys) = keys_of(&cluster, "tag", 3);
    let from = cluster.owner(slot);
    let to = (from + 1) % 3;
    for key in &keys {
        nodes[from].command(&["SET", key, "1", "PX", "60000"]);
    }
    assert_eq!(cluster.keys("*").len(), 3);

    let moving = cluster.begin_move(slot, to);
    assert_eq!(moving.move_keys(1), 1);
    let asked: Vec<_> = keys.iter().map(|key| nodes[from].ask(&["GET", key])).collect();
    let redirects = asked.iter().filter(|reply| matches!(reply, Err(error) if error.starts_with("ASK ")));
    assert_eq!(redirects.count(), 1, "{asked:?}");
    let all: Vec<&str> = ["MGET"].into_iter().chain(keys.iter().map(String::as_str)).collect();
    // Before Redis 7 the giver does not say that it still has some of the keys.
    let divided = nodes[from].ask(&all).unwrap_err();
    assert!(divided.starts_with("TRYAGAIN ") || divided.starts_with("ASK "), "{divided}");
    let mut asking = Connection::open(nodes[to].port()).unwrap();
    assert_eq!(asking.ask(&["ASKING"]).unwrap().text(), "OK");
    assert!(!matches!(asking.ask(&["GET", &keys[0]]).unwrap(), Reply::Error(_)));

    moving.finish();
    assert_eq!(cluster.owner(slot), to);
    assert!(nodes[from].ask(&["GET", &keys[0]]).unwrap_err().starts_with("MOVED "));
    assert_eq!(nodes[to].command(&all).list().len(), 3);
    assert_eq!(cluster.keys("*").len(), 3);
}

#[test]
fn a_replica_takes_over_when_asked_and_when_its_primary_is_dead() {
    let cluster = RedisCluster::with_replicas(3);
    let (slot, keys) = keys_of(&cluster, "tag", 1);
    let primary = cluster.owner(slot);
    cluster.nodes()[primary].command(&["SET", &keys[0], "1", "PX", "60000"]);

    cluster.fail_over(primary);
    assert_eq!(cluster.owner(slot), primary + 3);
    assert_eq!(cluster.nodes()[primary + 3].command(&["GET", &keys[0]]).text(), "1");

    let other = (primary + 1) % 3;
    cluster.nodes()[other].kill();
    cluster.await_promotion(other);
    assert!((0..=u16::MAX >> 2).step_by(1_000).all(|slot| cluster.owner(slot) != other));
}
