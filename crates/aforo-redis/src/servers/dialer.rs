//! Dialing: one connection to one server, from the name to the login.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Cmd, RedisConnectionInfo, RedisError, Value};
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use super::tls::Tls;
use crate::address::{Address, Login};
use crate::endpoint::Endpoint;
use crate::trouble::Trouble;

/// What a connection must run to live: it ends when the connection has.
pub(super) type Driver = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Calls that may wait to be written. A caller that gave up while it waited there is never sent.
const WAITING_TO_BE_WRITTEN: usize = 1024;

/// Opens connections.
///
/// A server may take longer to be connected to than to answer, with names to be looked up and keys to be agreed on, so
/// this has a limit of its own.
pub(super) struct Dialer {
    tls: Option<Tls>,
    login: RedisConnectionInfo,
    limit: Duration,
}

impl Dialer {
    /// To the servers that hold the counters.
    pub(super) fn to_servers(address: &Address, limit: Duration) -> Dialer {
        Dialer::new(address, address.login.as_ref(), limit).into_database(address.database)
    }

    /// With credentials that need not be those of the servers.
    pub(super) fn new(address: &Address, login: Option<&Login>, limit: Duration) -> Dialer {
        let tls = address.tls.then(|| Tls::new(address.ca_file.clone()));
        // RESP2: our replies are integers, for which the newer protocol has nothing to offer, and every server speaks it.
        let mut info = RedisConnectionInfo::default().set_lib_name("aforo", env!("CARGO_PKG_VERSION"));
        if let Some(login) = login {
            info = info.set_password(&login.password);
            if let Some(user) = &login.user {
                info = info.set_username(user);
            }
        }
        Dialer { tls, login: info, limit }
    }

    fn into_database(self, database: u32) -> Dialer {
        Dialer { login: self.login.set_db(database.into()), ..self }
    }

    /// Opens a connection. Its name is looked up anew, so a server that moved is found.
    pub(super) async fn dial(&self, to: &Endpoint) -> Result<(MultiplexedConnection, Driver), Trouble> {
        let opened = tokio::time::timeout(self.limit, self.open(to)).await;
        opened.unwrap_or_else(|_| Err(Trouble::unreachable(format!("not connected within {:?}", self.limit))))
    }

    /// Opens a connection for one question.
    pub(super) async fn ask(&self, whom: &Endpoint, question: &Cmd) -> Result<Value, Trouble> {
        let asked = async {
            let (mut connection, driver) = self.open(whom).await?;
            let answer = tokio::select! {
                answer = connection.send_packed_command(question) => answer?,
                () = driver => return Err(Trouble::unreachable("the connection was lost")),
            };
            Ok(answer.extract_error()?)
        };
        let asked = tokio::time::timeout(self.limit, asked).await;
        asked.unwrap_or_else(|_| Err(Trouble::unreachable(format!("no answer within {:?}", self.limit))))
    }

    async fn open(&self, to: &Endpoint) -> Result<(MultiplexedConnection, Driver), Trouble> {
        let stream = connect(to).await.map_err(|error| Trouble::unreachable(format!("not connected: {error}")))?;
        let logged_in = match &self.tls {
            Some(tls) => self.log_in(tls.secure(stream, &to.host).await?).await,
            None => self.log_in(stream).await,
        };
        logged_in.map_err(Trouble::from)
    }

    async fn log_in<S>(&self, stream: S) -> Result<(MultiplexedConnection, Driver), RedisError>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        // Every call has its own deadline.
        let config = AsyncConnectionConfig::new()
            .set_response_timeout(None)
            .set_connection_timeout(None)
            .set_pipeline_buffer_size(WAITING_TO_BE_WRITTEN);
        let (connection, driver) = MultiplexedConnection::new_with_config(&self.login, stream, config).await?;
        Ok((connection, Box::pin(driver)))
    }
}

async fn connect(to: &Endpoint) -> std::io::Result<TcpStream> {
    let stream = TcpStream::connect((to.host.as_str(), to.port)).await?;
    stream.set_nodelay(true)?;
    // A peer that vanished without a word is noticed even while nobody asks.
    let keepalive = TcpKeepalive::new().with_time(Duration::from_secs(15)).with_interval(Duration::from_secs(5));
    SockRef::from(&stream).set_tcp_keepalive(&keepalive)?;
    Ok(stream)
}
