//! Any bytes are a policy or a list of mistakes, each with a place inside the text.
#![no_main]

use std::io;
use std::path::Path;

use aforo_http::identity::Verifying;
use aforo_policy::{File, Surroundings};
use libfuzzer_sys::fuzz_target;

/// An environment with one value, and files that all say the same.
struct Around<'b>(&'b [u8]);

impl Surroundings for Around<'_> {
    fn value(&self, name: &str) -> Option<String> {
        (name == "SET").then(|| "value: { of: [the, environment".to_owned())
    }

    fn file(&self, _: &Path) -> io::Result<Vec<u8>> {
        Ok(self.0.to_vec())
    }
}

fuzz_target!(|bytes: &[u8]| {
    // A policy that names a file reads itself as a list of networks or of keys, and as a key.
    match File::read_bytes("policy.yaml", bytes, &Verifying(Around(bytes))) {
        Ok(file) => {
            // Whatever was accepted can be told.
            for rule in file.policy.rules() {
                assert!(!rule.name().is_empty());
                let _ = (rule.allowance.to_string(), rule.partition.to_string());
            }
        }
        Err(mistakes) => {
            // YAML breaks lines at LF, CR, or both.
            let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n").replace('\r', "\n");
            let lines = text.lines().count() + 1;
            assert!(mistakes.iter().next().is_some(), "refused without a reason");
            for mistake in mistakes.iter() {
                assert!((1..=lines.max(1)).contains(&mistake.line), "{mistake:?}");
                assert!(mistake.column >= 1 && !mistake.message.is_empty() && !mistake.help.is_empty(), "{mistake:?}");
            }
            let _ = mistakes.to_string();
        }
    }
});
