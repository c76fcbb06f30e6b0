//! Quotas that change while their keys are exhausted.

use std::time::Duration;

use aforo_testkit::servers::RedisServer;

use crate::asking::{MONTH, each_algorithm, hit, store, take};
use crate::fleet::{Task, sail};

const TWENTY_SECONDS: Duration = Duration::from_secs(20);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_quota_that_is_raised_or_lowered_decides_the_next_request_though_a_denial_is_remembered() {
    let server = RedisServer::start();
    let store = store(&server.url());
    // A month, where a window could end while the test runs.
    for window in [TWENTY_SECONDS, MONTH] {
        let [low, high] = [10, 1_000].map(|limit| each_algorithm(limit, window));
        for (number, (low, high)) in low.into_iter().zip(high).enumerate() {
            if window == TWENTY_SECONDS && number > 0 {
                continue;
            }
            let rule = format!("{number} in {window:?}");
            let (low, high) = (hit(&rule, "client", low), hit(&rule, "client", high));
            for _ in 0..10 {
                assert!(take(&store, &[low]).await.allowed());
            }
            for _ in 0..3 {
                assert!(!take(&store, &[low]).await.allowed());
            }
            let raised = take(&store, &[high]).await;
            let left = raised.verdicts().next().unwrap().remaining;
            assert!(raised.allowed() && (989..=991).contains(&left), "{left} of {high:?}");
            assert!(!take(&store, &[low]).await.allowed(), "{low:?}");
            let raised = take(&store, &[high]).await.verdicts().next().unwrap().remaining;
            assert!((left.saturating_sub(1)..=left + 50).contains(&raised), "{left}, then {raised} of {high:?}");
        }
    }
}

#[test]
fn processes_with_two_versions_of_a_quota_are_granted_no_more_than_the_larger() {
    let server = RedisServer::start();
    let granted = sail(Task::TwoVersions, &server.url(), 4);
    assert_eq!(granted.iter().sum::<usize>(), 500, "{granted:?}");
}
