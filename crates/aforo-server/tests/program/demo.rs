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

#[test]
fn an_admin_port_that_is_taken_is_no_obstacle_where_none_was_named() {
    // Somebody may hold the usual port already: then it is taken too.
    let _taken = std::net::TcpListener::bind("127.0.0.1:9090");
    let program = Program::start(&["demo", "--quiet-traffic", "--listen", "127.0.0.1:0"]);
    assert_ne!(program.admin().port(), 9090);
    assert_eq!(Request::get("/healthz").to(program.admin()).status, 200);
}
