use super::{Expected, FILES, Family, File};

fn misread(text: &'static str) -> String {
    let file = File { name: "vectors/sketch.txt", text, family: Family::FixedWindow };
    file.tables().unwrap_err().to_string()
}

#[test]
fn every_file_is_read_to_its_end() {
    for file in FILES {
        let tables = file.tables().unwrap();
        assert_eq!(tables.len(), file.text.lines().filter(|line| line.starts_with('[')).count(), "{}", file.name);
    }
}

#[test]
fn a_row_means_what_its_columns_say() {
    let text = "[sketch]\nquota: limit=10 window_ms=1000\n5200 11 no 3 800 —";
    let tables = File { name: "vectors/sketch.txt", text, family: Family::FixedWindow }.tables().unwrap();
    let row = &tables[0].rows[0];
    assert_eq!((row.now.as_micros(), row.cost.units(), row.place.as_str()), (5_200_000, 11, "vectors/sketch.txt:3"));
    assert_eq!(row.expected, Expected { allowed: false, remaining: 3, reset_after_ms: 800, retry_after_ms: None });
}

#[test]
fn a_mistake_is_named_with_its_file_and_line() {
    for (text, told) in [
        ("1 2 yes 3 4 5", "vectors/sketch.txt:1: before the first [table]"),
        (
            "[t]\nquota: limit=1 window_ms=1\n\n1 1 yes 0 1",
            "vectors/sketch.txt:4: a row has the 6 columns now_ms, cost, allowed, remaining, reset_after_ms, retry_after_ms",
        ),
        (
            "[t]\nquota: limit=1 window_ms=1\n1 1 maybe 0 1 0",
            "vectors/sketch.txt:3: allowed is `yes` or `no`, not `maybe`",
        ),
        ("[t]\nquota: limit=1 window_ms=1\n1 -1 yes 0 1 0", "vectors/sketch.txt:3: cost is a whole number, not `-1`"),
        ("[t]\nquota: limit=1 window_ms=1 burst=2", "vectors/sketch.txt:2: unknown parameter `burst=2`"),
        ("[t]\nquota: window_ms=1", "vectors/sketch.txt:2: the quota has no limit="),
        ("\n[t]\n", "vectors/sketch.txt:2: [t] has no quota: no `quota:` line"),
        ("[t]\nquota: limit=1 window_ms=1", "vectors/sketch.txt:1: [t] has neither rows nor `refused:`"),
        (
            "[t]\nquota: limit=1 window_ms=1\nrefused: no\n1 1 yes 0 1 0",
            "vectors/sketch.txt:1: [t] is refused and has rows",
        ),
    ] {
        assert_eq!(misread(text), told);
    }
}
