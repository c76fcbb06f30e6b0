//! Whatever a client writes into `Forwarded`, it is counted by the address that the proxies saw.
#![no_main]

use aforo_policy::ClientHeader;
use libfuzzer_sys::fuzz_target;

mod walked;

fuzz_target!(|text: &[u8]| {
    let added = br#"host="a\",b";for=203.0.113.7, For="[fd00::5]:80",for=10.0.0.5"#;
    walked::hold(ClientHeader::Forwarded, text, added);
});
