//! The golden tables, through the engine itself.

use aforo_testkit::Counter;
use aforo_testkit::vectors::{Expected, FILES, Table};

fn tables() -> impl Iterator<Item = Table> {
    FILES.iter().flat_map(|file| file.tables().unwrap_or_else(|misread| panic!("{misread}")))
}

#[test]
fn the_engine_answers_as_the_golden_tables_do() {
    for table in tables().filter(|table| table.refused.is_none()) {
        let quota = table.quota.unwrap_or_else(|reason| panic!("{}: {reason}", table.place));
        let mut counter = Counter::default();
        for row in table.rows {
            let weighed = counter.take(&quota, row.cost, row.now);
            let standing = counter.standing(&quota, row.now);
            let answered = Expected {
                allowed: weighed.allowed(),
                remaining: standing.remaining,
                reset_after_ms: standing.reset_micros.div_ceil(1_000),
                retry_after_ms: weighed.wait.as_micros().map(|micros| micros.div_ceil(1_000)),
            };
            assert_eq!(answered, row.expected, "{} [{}]", row.place, table.name);
        }
    }
}

#[test]
fn a_quota_that_a_table_refuses_is_refused_for_that_reason() {
    let refusals = tables().filter(|table| table.refused.is_some());
    let mut seen = 0;
    for table in refusals {
        assert_eq!(table.quota.err(), table.refused, "{} [{}]", table.place, table.name);
        seen += 1;
    }
    assert!(seen >= 5, "one at least in each file");
}
