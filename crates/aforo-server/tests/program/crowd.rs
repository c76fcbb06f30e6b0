//! Many at once: exactly the quota passes, whoever comes over whichever connection and worker.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::stand::{Api, Folder, Program, Request};

#[test]
fn many_connections_and_workers_admit_exactly_the_quota() {
    let folder = Folder::new();
    let policy = Api::start().gateway().replace("workers: 1", "workers: 4") + "rules: { each: { quota: 100/d } }\n";
    let program = Program::under(&folder.write("policy.yaml", &policy));
    let passed = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let status = Request::get("/").to(program.gateway).status;
                    assert!(status == 200 || status == 429, "{status}");
                    passed.fetch_add(usize::from(status == 200), Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(passed.load(Ordering::Relaxed), 100);
}
