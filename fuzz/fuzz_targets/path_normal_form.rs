//! Any text is a path to somebody: its normal form is a path, and is stable.
#![no_main]

use aforo_http::path::normal_forms;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|path: &str| {
    let forms = normal_forms(path);
    let others = [forms.unresolved.as_deref(), forms.behind_host.as_deref()];
    for form in [Some(forms.normal.as_ref())].into_iter().chain(others).flatten() {
        assert!(form.starts_with('/'), "{form:?}");
        assert!(form.len() == 1 || !form.ends_with('/'), "{form:?}");
        assert!(!form.contains("//") && !form.contains('\\'), "{form:?}");
        assert!(form.bytes().all(|byte| matches!(byte, b'!'..=b'~')), "{form:?}");
        assert!(form.len() <= 3 * path.len() + 1, "{form:?}");
    }
    assert!(!forms.normal.contains(';'), "{forms:?}");
    assert!(forms.normal.split('/').all(|segment| segment != "." && segment != ".."), "{forms:?}");
    // What is left escaped is not decoded a second time, so only a form without escapes has to be its own.
    if !forms.normal.contains('%') {
        assert_eq!(normal_forms(&forms.normal).normal, forms.normal);
    }
});
