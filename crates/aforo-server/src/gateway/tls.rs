//! TLS towards clients.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig};

use super::settings::TlsFiles;

/// A certificate or a key that cannot be used.
#[derive(Debug)]
pub struct TlsError {
    file: PathBuf,
    fault: Fault,
}

#[derive(Debug)]
enum Fault {
    Unreadable(io::Error),
    NoCertificate,
    NoKey,
    Malformed(pem::Error),
    Unusable(rustls::Error),
}

impl TlsFiles {
    /// Reads both files as a gateway would.
    ///
    /// # Errors
    ///
    /// When one cannot be read, or they do not belong together.
    pub fn examine(&self) -> Result<(), TlsError> {
        acceptor(self).map(drop)
    }
}

/// Reads the files and makes an acceptor that offers HTTP/2 and HTTP/1.1.
pub(super) fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor, TlsError> {
    require_regular(&files.cert)?;
    require_regular(&files.key)?;
    let chain = read_chain(&files.cert)?;
    let key =
        PrivateKeyDer::from_pem_file(&files.key).map_err(|error| TlsError::of(&files.key, error, Fault::NoKey))?;
    let unusable = |file: &Path| {
        let file = file.to_owned();
        |error| TlsError { file, fault: Fault::Unusable(error) }
    };
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(unusable(&files.cert))?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(unusable(&files.key))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Who opens a pipe may wait for ever, and a reload with it.
fn require_regular(file: &Path) -> Result<(), TlsError> {
    let unreadable = |error| TlsError { file: file.to_owned(), fault: Fault::Unreadable(error) };
    match std::fs::metadata(file).map_err(unreadable)?.is_file() {
        true => Ok(()),
        false => Err(unreadable(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"))),
    }
}

fn read_chain(file: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let chain = CertificateDer::pem_file_iter(file)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| TlsError::of(file, error, Fault::NoCertificate))?;
    match chain.is_empty() {
        true => Err(TlsError { file: file.to_owned(), fault: Fault::NoCertificate }),
        false => Ok(chain),
    }
}

impl TlsError {
    fn of(file: &Path, error: pem::Error, missing: Fault) -> Self {
        let fault = match error {
            pem::Error::Io(error) => Fault::Unreadable(error),
            pem::Error::NoItemsFound => missing,
            error => Fault::Malformed(error),
        };
        Self { file: file.to_owned(), fault }
    }
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.file.display())?;
        match &self.fault {
            Fault::Unreadable(error) => write!(f, "cannot be read: {error}"),
            Fault::NoCertificate => f.write_str("holds no certificate, expected a section BEGIN CERTIFICATE"),
            Fault::NoKey => f.write_str("holds no private key, expected a section BEGIN PRIVATE KEY"),
            Fault::Malformed(error) => write!(f, "is not well-formed PEM: {error}"),
            Fault::Unusable(rustls::Error::InconsistentKeys(_)) => f.write_str(
                "is not the key of the first certificate, expected the key that the certificate was made for",
            ),
            Fault::Unusable(error) => write!(f, "cannot be used: {error}"),
        }
    }
}

impl std::error::Error for TlsError {}
