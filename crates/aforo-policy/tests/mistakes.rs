//! Each file in `tests/mistakes` has a mistake, and beside it stands what is said about it.
//!
//! `UPDATE_EXPECTED=1 cargo test -p aforo-policy --test mistakes` writes the texts anew: then read them.

use std::fs;
use std::path::Path;

use aforo_policy::File;

fn environment(name: &str) -> Option<String> {
    match name {
        "EMPTY" => Some(String::new()),
        "MANY" => Some("many".to_owned()),
        "INJECTED" => Some("5/s, burst: 9".to_owned()),
        "ADMIN_TOKEN" => Some("hunter2".to_owned()),
        "STORE_URL" => Some("redis://app:hunter2@10.0.0.1:0/1".to_owned()),
        _ => None,
    }
}

#[test]
fn every_mistake_is_said_with_its_place_and_what_would_be_right() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mistakes");
    let mut files: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    files.sort();
    assert!(files.len() >= 50, "{} files", files.len());
    let mut differing = Vec::new();
    for path in files {
        let name = path.file_name().unwrap().to_str().unwrap();
        let said = match File::read_bytes(name, &fs::read(&path).unwrap(), &environment) {
            Ok(_) => format!("{name} has no mistake"),
            Err(mistakes) => format!("{mistakes}\n"),
        };
        assert!(!said.contains("hunter2"), "a secret is told: {said}");
        let expected = path.with_extension("txt");
        if std::env::var_os("UPDATE_EXPECTED").is_some() {
            fs::write(&expected, &said).unwrap();
        } else if fs::read_to_string(&expected).unwrap_or_default() != said {
            differing.push(said);
        }
    }
    assert!(differing.is_empty(), "these differ from what is expected:\n{}", differing.join("\n"));
}
