//! Whatever a client writes into a list of addresses, it is counted by the address that the proxies saw.
#![no_main]

use aforo_policy::ClientHeader;
use libfuzzer_sys::fuzz_target;

mod walked;

fuzz_target!(|text: &[u8]| {
    let added = b"203.0.113.7:1234, [fd00::5]:80,10.0.0.5";
    walked::hold(ClientHeader::XForwardedFor, text, added);
});
