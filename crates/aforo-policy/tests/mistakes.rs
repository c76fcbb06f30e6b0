//! Each file in `tests/mistakes` has a mistake, and beside it stands what is said about it.
//!
//! `UPDATE_EXPECTED=1 cargo test -p aforo-policy --test mistakes` writes the texts anew: then read them.

use std::fs;
use std::path::Path;

use aforo_policy::File;

mod surroundings;

use surroundings::Around;

const AROUND: Around<'static> = Around {
    environment: &[
        ("EMPTY", ""),
        ("MANY", "many"),
        ("INJECTED", "5/s, burst: 9"),
        ("ADMIN_TOKEN", "hunter2"),
        ("STORE_URL", "redis://app:hunter2@10.0.0.1:0/1"),
    ],
    files: &[
        (
            "networks.txt",
            "# A list of networks.\n10.0.0.0/8\n  10.0.0.0/33  # too many bits\nprivate\n203.0.113.7/24\n",
        ),
        ("comments.txt", "# Nothing is left.\n"),
        ("empty.yaml", ""),
        ("map.yaml", "alice: hunter2\n"),
        ("keys.yaml", KEYS),
        ("broken.yaml", "- { sha256: \"hunter2\n"),
    ],
};

/// API keys with every mistake that one can have.
const KEYS: &str = "\
- { sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08, user: alice }
- { sha256: hunter2, user: bob }
- { sha256: 9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08, user: carol }
- { user: dave, key: hunter2 }
- { sha256: 60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752, user: \"e\\nve\" }
- frank
- sha256:
    hunter2
  user: grace
";

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
        let said = match File::read_bytes(name, &fs::read(&path).unwrap(), &AROUND) {
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
