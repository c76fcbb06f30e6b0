use aforo_testkit::eventually;
use aforo_testkit::servers::{RedisServer, Sentinels};

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_promoted_replica_is_found_when_the_primary_has_died() {
    let primary = RedisServer::start();
    let replica = RedisServer::replica_of(&primary);
    let sentinels = Sentinels::start(&primary, 3);
    let servers = start(&sentinels.url());
    answered(&servers, "key").await;
    primary.kill();
    given_up(&servers, "key").await;
    assert!(refused_within(&servers, "key").await < TIMEOUT / 2);
    sentinels.await_promotion(&replica);
    answered(&servers, "after").await;
    assert_eq!(replica.command(&["GET", "after"]).text(), "1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sentinel_that_is_gone_is_passed_over() {
    let primary = RedisServer::start();
    let sentinels = Sentinels::start(&primary, 2);
    sentinels.nodes()[0].kill();
    let servers = start(&sentinels.url());
    answered(&servers, "key").await;
    assert_eq!(servers.health().servers[0].server, sentinels.service());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_primary_that_lives_on_without_the_title_is_left() {
    let primary = RedisServer::start();
    let replica = RedisServer::replica_of(&primary);
    let sentinels = Sentinels::start(&primary, 1);
    let servers = start(&sentinels.url());
    answered(&servers, "key").await;
    sentinels.fail_over(&replica);
    let mut attempt = 0;
    super::eventually("the old primary is left", async || {
        attempt += 1;
        let key = format!("after{attempt}");
        answered(&servers, &key).await;
        (replica.command(&["EXISTS", &key]).integer() == 1).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_that_no_sentinel_knows_is_named() {
    let primary = RedisServer::start();
    let sentinels = Sentinels::start(&primary, 1);
    let servers = start(&sentinels.url().replace(sentinels.service(), "nosuch"));
    let trouble = given_up(&servers, "key").await;
    assert!(trouble.contains("\"nosuch\""), "{trouble}");
    eventually("it stays so", || (!servers.health().state.is_answering()).then_some(()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_password_of_the_servers_is_not_that_of_the_sentinels() {
    let primary = RedisServer::with_password("servers");
    let sentinels = Sentinels::start(&primary, 1);
    assert!(sentinels.url().contains(":servers@"));
    answered(&start(&sentinels.url()), "before").await;
    sentinels.nodes()[0].command(&["ACL", "SETUSER", "watcher", "on", ">eyes", "+@all", "allchannels"]);
    sentinels.nodes()[0].command(&["ACL", "SETUSER", "default", "off"]);
    let trouble = given_up(&start(&sentinels.url()), "key").await;
    assert!(trouble.contains("Sentinel") && trouble.contains("NOAUTH"), "{trouble}");
    let url = format!("{}?sentinel_user=watcher&sentinel_password=eyes", sentinels.url());
    answered(&start(&url), "key").await;
}
