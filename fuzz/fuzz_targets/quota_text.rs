//! A quota that is read is written and read again as the same; anything else is refused with a reason.
#![no_main]

use aforo_policy::Allowance;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match text.parse::<Allowance>() {
        Ok(allowance) => {
            let written = allowance.to_string();
            assert_eq!(written.parse::<Allowance>().as_ref(), Ok(&allowance), "{text:?} was written as {written:?}");
        }
        Err(invalid) => {
            assert!(!invalid.message().is_empty() && !invalid.help().is_empty(), "{text:?}");
        }
    }
});
