//! `demo`: what a newcomer sees.

use crate::stand::{Program, Request, until};

#[test]
fn its_traffic_passes_is_refused_and_leaves_the_newcomer_a_full_quota() {
    let mut program = Program::start(&["demo", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"]);
    until("someone passes and someone is refused", || {
        let requests = &program.status()["requests"];
        (requests["allowed"].as_u64() > Some(5) && requests["denied"].as_u64() > Some(5)).then_some(())
    });
    let seen = Request::get("/api/search?q=pa").to(program.gateway);
    assert_eq!(seen.status, 200);
    assert_eq!(seen.field("ratelimit"), Some(r#""search";r=19;t=1"#));
    assert!(seen.body.contains("paella"));
    program.signal("INT");
    assert_eq!(program.end(), Some(0));
}
