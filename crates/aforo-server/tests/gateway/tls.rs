//! TLS from clients.

use std::path::PathBuf;

use aforo_server::gateway::{Settings, TlsFiles, bind};

use crate::support::{Gateway, OK, lossy, recorder, run};

pub(crate) fn file(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/gateway/certificates")).join(name)
}

pub(crate) fn files(cert: &str, key: &str) -> Option<TlsFiles> {
    Some(TlsFiles { cert: file(cert), key: file(key) })
}

#[test]
fn both_versions_of_http_come_through_tls() {
    let (address, records) = recorder(OK);
    let gateway = Gateway::with(address, |settings| settings.tls = files("cert.pem", "key.pem"));
    let url = format!("https://{}/secret", gateway.address);
    let authority = file("cert.pem");
    for (version, shown) in [("--http1.1", "ok1.1"), ("--http2", "ok2")] {
        let output = run(
            "curl",
            "curl",
            &["-sS", version, "--cacert", authority.to_str().unwrap(), "-w", "%{http_version}", &url],
        );
        assert_eq!(lossy(&output.stdout), shown, "{}", lossy(&output.stderr));
        let arrived = records.next();
        assert_eq!(arrived.field("x-forwarded-proto"), Some("https"), "{arrived:?}");
    }
}

#[test]
fn a_client_without_tls_is_turned_away() {
    let (address, records) = recorder(OK);
    let gateway = Gateway::with(address, |settings| settings.tls = files("cert.pem", "key.pem"));
    let response = gateway.talk("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    assert!(!response.contains("HTTP/1.1"), "{response}");
    records.assert_empty();
}

#[test]
fn a_handshake_that_takes_too_long_is_ended() {
    let (address, _records) = recorder(OK);
    let gateway = Gateway::with(address, |settings| {
        settings.tls = files("cert.pem", "key.pem");
        settings.timeouts.header = std::time::Duration::from_millis(200);
    });
    assert_eq!(gateway.talk("\u{16}"), "");
}

#[test]
fn files_that_cannot_be_used_are_named_with_what_is_wrong() {
    for (cert, key, named, wrong) in [
        ("none.pem", "key.pem", "none.pem", "cannot be read"),
        ("cert.pem", "none.pem", "none.pem", "cannot be read"),
        ("cert.pem", "/dev/null", "/dev/null", "no regular file"),
        ("key.pem", "key.pem", "key.pem", "holds no certificate"),
        ("cert.pem", "cert.pem", "cert.pem", "holds no private key"),
        ("cert.pem", "other-key.pem", "other-key.pem", "not the key of the first certificate"),
    ] {
        let mut settings = Settings::new("127.0.0.1:0".parse().unwrap(), Vec::new());
        settings.tls = files(cert, key);
        let error = bind(&settings).expect_err(named).to_string();
        assert!(error.contains(named) && error.contains(wrong), "{cert} and {key}: {error}");
    }
}
