//! Sentinels.

use aforo_testkit::eventually;
use aforo_testkit::servers::{RedisServer, Sentinels};

#[test]
fn sentinels_promote_the_replica_of_a_dead_primary() {
    let primary = RedisServer::with_password("secret");
    let replica = RedisServer::replica_of(&primary);
    let sentinels = Sentinels::start(&primary, 3);
    assert_eq!(sentinels.primary(), primary.port());
    assert!(sentinels.url().starts_with("redis-sentinel://:secret@127.0.0.1:"), "{}", sentinels.url());
    assert!(sentinels.url().ends_with("/counters"));

    primary.kill();
    sentinels.await_promotion(&replica);
    replica.command(&["SET", "key", "1"]);
}

#[test]
fn a_sentinel_promotes_a_replica_when_it_is_told_to() {
    let primary = RedisServer::start();
    let replica = RedisServer::replica_of(&primary);
    let sentinels = Sentinels::start(&primary, 1);
    sentinels.fail_over(&replica);
    eventually("the old primary follows the new one", || (!primary.is_primary()?).then_some(()));
}
