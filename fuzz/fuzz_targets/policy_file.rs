//! Any bytes are a policy or a list of mistakes, each with a place inside the text.
#![no_main]

use aforo_policy::File;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let environment = |name: &str| (name == "SET").then(|| "value: { of: [the, environment".to_owned());
    match File::read_bytes("policy.yaml", bytes, &environment) {
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
