//! The golden tables, through a store.

use crate::vectors::{Expected, FILES, Table};

use super::{Harness, Trial, costing};

/// Every table that has a quota, row by row.
pub fn replays_the_golden_tables<H: Harness>() {
    let trial = Trial::<H>::start();
    let tables = FILES.iter().flat_map(|file| file.tables().unwrap_or_else(|misread| panic!("{misread}")));
    for table in tables.filter(|table| table.refused.is_none()) {
        replay(&trial, &table);
    }
}

fn replay<H: Harness>(trial: &Trial<H>, table: &Table) {
    let quota = table.quota.as_ref().unwrap_or_else(|reason| panic!("{}: {reason}", table.place));
    for row in &table.rows {
        let verdict = trial.at(row.now).take(costing(row.cost.units(), trial.hit(&table.place, *quota)));
        let answered = Expected {
            allowed: verdict.allowed(),
            remaining: verdict.remaining,
            reset_after_ms: verdict.reset_micros.div_ceil(1_000),
            retry_after_ms: verdict.wait.as_micros().map(|micros| micros.div_ceil(1_000)),
        };
        assert_eq!(answered, row.expected, "{} [{}]", row.place, table.name);
    }
}
