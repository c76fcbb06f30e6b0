//! TLS: whom to trust.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use aforo_core::StoreErrorKind;
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::trouble::{Sign, Trouble};

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
        secured.map_err(|error| Trouble::unreachable(format!("TLS: {error}")))
    }

    async fn prepare(&self) -> Result<TlsConnector, Trouble> {
        let ca_file = self.ca_file.clone();
        let read = tokio::task::spawn_blocking(move || match ca_file {
            Some(path) => of_file(&path),
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

fn of_file(path: &Path) -> Result<RootCertStore, Trouble> {
    let wrong = |what: String| unusable(format!("ca_file {}: {what}", path.display()));
    let mut roots = RootCertStore::empty();
    let certificates = CertificateDer::pem_file_iter(path).map_err(|error| wrong(error.to_string()))?;
    for certificate in certificates {
        let certificate = certificate.map_err(|error| wrong(error.to_string()))?;
        roots.add(certificate).map_err(|error| wrong(error.to_string()))?;
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
