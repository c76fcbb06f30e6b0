//! TLS: whom to trust.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aforo_core::StoreErrorKind;
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{self, ClientConfig, RootCertStore};

use crate::trouble::{Sign, Trouble};

/// What to try where the server may speak TLS, and we do not.
pub(super) const PERHAPS_SPOKEN: &str = ": if the server speaks TLS, write rediss instead of redis";

/// The other way round.
pub(super) const PERHAPS_NOT_SPOKEN: &str = ": if the server does not speak TLS, write redis instead of rediss";

/// The authorities that vouch for the servers. They are read at the first connecting.
pub(super) struct Tls {
    ca_file: Option<PathBuf>,
    connector: OnceCell<TlsConnector>,
}

impl Tls {
    /// With the authorities of that file, or else with the system's.
    pub(super) fn new(ca_file: Option<PathBuf>) -> Tls {
        Tls { ca_file, connector: OnceCell::new() }
    }

    /// Makes the connection one that only the server of that name can read.
    pub(super) async fn secure(&self, stream: TcpStream, host: &str) -> Result<TlsStream<TcpStream>, Trouble> {
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| Trouble::unreachable(format!("{host:?} is no name that a certificate could bear")))?;
        let connector = self.connector.get_or_try_init(|| self.prepare()).await?;
        let secured = connector.connect(name, stream).await;
        secured.map_err(|error| {
            let perhaps = if speaks_otherwise(&error) { PERHAPS_NOT_SPOKEN } else { "" };
            Trouble::unreachable(format!("TLS: {error}{perhaps}"))
        })
    }

    async fn prepare(&self) -> Result<TlsConnector, Trouble> {
        let ca_file = self.ca_file.clone();
        let read = tokio::task::spawn_blocking(move || match ca_file {
            Some(path) => of_file(&path).map_err(unusable),
            None => of_system(),
        });
        let roots = read.await.map_err(|error| unusable(format!("certificates were not read: {error}")))??;
        // Named, because the program around us may have installed no provider, or another one.
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| unusable(error.to_string()))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(TlsConnector::from(Arc::new(config)))
    }
}

/// Whether the server's first words were not TLS, or none.
fn speaks_otherwise(error: &io::Error) -> bool {
    let said = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    matches!(said, Some(rustls::Error::InvalidMessage(_))) || error.kind() == io::ErrorKind::UnexpectedEof
}

/// The authorities of a PEM file. The error names it.
pub(crate) fn of_file(path: &Path) -> Result<RootCertStore, String> {
    let wrong = |what: String| format!("ca_file {}: {what}", path.display());
    let unread = |error: pem::Error| match error {
        pem::Error::Io(error) => wrong(format!("cannot be read: {error}")),
        error => wrong(format!("is no PEM: {error:?}")),
    };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(unread)? {
        roots.add(certificate.map_err(unread)?).map_err(|error| wrong(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(wrong("holds no certificate, expected PEM".to_owned()));
    }
    Ok(roots)
}

fn of_system() -> Result<RootCertStore, Trouble> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    // Systems carry certificates that no library can read; the others serve.
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        return Err(unusable("the system trusts no certificate authority: name one with ca_file".to_owned()));
    }
    Ok(roots)
}

fn unusable(what: String) -> Trouble {
    Trouble::new(StoreErrorKind::Connection, Sign::Unable, what)
}
