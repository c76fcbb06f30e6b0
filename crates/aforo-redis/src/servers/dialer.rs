//! Dialing: one connection to one server, from the name to the login.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Cmd, ErrorKind, RedisConnectionInfo, RedisError, Value};
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use super::overheard::Overheard;
use super::tls::{self, Tls};
use crate::address::{Address, Login};
use crate::endpoint::Endpoint;
use crate::trouble::Trouble;

/// A connection that was opened.
pub(super) struct Dialed {
    pub(super) connection: MultiplexedConnection,
    /// What must run for it to live. It ends when the connection has.
    pub(super) driver: Pin<Box<dyn Future<Output = ()> + Send>>,
    /// How often something came.
    pub(super) heard: Arc<AtomicU64>,
}

/// Calls that may wait to be written. A caller that gave up while it waited there is never sent.
const WAITING_TO_BE_WRITTEN: usize = 1024;

/// Opens connections.
///
/// A server may take longer to be connected to than to answer, with names to be looked up and keys to be agreed on, so
/// this has a limit of its own.
pub(super) struct Dialer {
    tls: Option<Tls>,
    greeting: Greeting,
    limit: Duration,
}

/// What is said first on each connection. It is not left to the client library, which drops the server's own words when
/// it refuses a login.
struct Greeting {
    commands: redis::Pipeline,
    /// How many of the commands must succeed. The others tell who we are, which a server need not want to know.
    required: usize,
}

impl Dialer {
    /// To the servers that hold the counters.
    pub(super) fn to_servers(address: &Address, limit: Duration) -> Dialer {
        Dialer::new(address, address.login.as_ref(), address.database, limit)
    }

    /// To the Sentinels, which have credentials of their own and no databases.
    pub(super) fn to_sentinels(address: &Address, login: Option<&Login>, limit: Duration) -> Dialer {
        Dialer::new(address, login, 0, limit)
    }

    fn new(address: &Address, login: Option<&Login>, database: u32, limit: Duration) -> Dialer {
        let tls = address.tls.then(|| Tls::new(address.ca_file.clone()));
        Dialer { tls, greeting: Greeting::new(login, database), limit }
    }

    /// Opens a connection. Its name is looked up anew, so a server that moved is found.
    pub(super) async fn dial(&self, to: &Endpoint) -> Result<Dialed, Trouble> {
        let opened = tokio::time::timeout(self.limit, self.open(to)).await;
        opened.unwrap_or_else(|_| {
            // A server without TLS may wait for the end of what it takes for a command.
            let perhaps = if self.tls.is_some() { tls::PERHAPS_NOT_SPOKEN } else { "" };
            Err(Trouble::unreachable(format!("not connected within {:?}{perhaps}", self.limit)))
        })
    }

    /// Opens a connection for one question.
    pub(super) async fn ask(&self, whom: &Endpoint, question: &Cmd) -> Result<Value, Trouble> {
        let asked = async {
            let Dialed { mut connection, driver, .. } = self.open(whom).await?;
            let mut answer = pin!(connection.send_packed_command(question));
            let answer = tokio::select! {
                biased;
                answer = &mut answer => answer,
                () = driver => answer.await,
            };
            Ok(answer?.extract_error()?)
        };
        let asked = tokio::time::timeout(self.limit, asked).await;
        asked.unwrap_or_else(|_| Err(Trouble::unreachable(format!("no answer within {:?}", self.limit))))
    }

    async fn open(&self, to: &Endpoint) -> Result<Dialed, Trouble> {
        let stream = connect(to).await.map_err(|error| Trouble::unreachable(format!("not connected: {error}")))?;
        match &self.tls {
            Some(tls) => self.greet(tls.secure(stream, &to.host).await?).await,
            None => self.greet(stream).await,
        }
    }

    async fn greet<S>(&self, stream: S) -> Result<Dialed, Trouble>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        // RESP2: our answers are integers, for which the newer protocol has nothing to offer, and every server speaks it.
        let plain = RedisConnectionInfo::default().set_skip_set_lib_name();
        // Every call has its own deadline.
        let config = AsyncConnectionConfig::new()
            .set_response_timeout(None)
            .set_connection_timeout(None)
            .set_pipeline_buffer_size(WAITING_TO_BE_WRITTEN);
        let heard = Arc::new(AtomicU64::new(0));
        let stream = Overheard::new(stream, &heard);
        let (mut connection, driver) = MultiplexedConnection::new_with_config(&plain, stream, config).await?;
        let mut driver: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(driver);
        let commands = &self.greeting.commands;
        let answers = {
            let mut answers = pin!(connection.send_packed_commands(commands, 0, commands.len()));
            let answers = tokio::select! {
                biased;
                answers = &mut answers => answers,
                // They were lost with the connection, and say why.
                () = &mut driver => answers.await,
            };
            answers.map_err(|error| self.unanswered(&error, &heard))?
        };
        for answer in answers.into_iter().take(self.greeting.required) {
            answer.extract_error().map_err(|error| Trouble::refused(&error))?;
        }
        Ok(Dialed { connection, driver, heard })
    }

    /// Why there was no answer to the greeting.
    fn unanswered(&self, error: &RedisError, heard: &AtomicU64) -> Trouble {
        let odd = heard.load(Ordering::Relaxed) == 0 || error.kind() == ErrorKind::Parse;
        let perhaps = if odd && self.tls.is_none() { tls::PERHAPS_SPOKEN } else { "" };
        Trouble::unreachable(format!("no answer to the greeting ({error}){perhaps}"))
    }
}

impl Greeting {
    fn new(login: Option<&Login>, database: u32) -> Greeting {
        let mut commands = redis::pipe();
        if let Some(login) = login {
            commands.cmd("AUTH");
            if let Some(user) = &login.user {
                commands.arg(user);
            }
            commands.arg(&login.password);
        }
        if database != 0 {
            commands.cmd("SELECT").arg(database);
        }
        let required = commands.len();
        for (name, value) in [("LIB-NAME", "aforo"), ("LIB-VER", env!("CARGO_PKG_VERSION"))] {
            commands.cmd("CLIENT").arg("SETINFO").arg(name).arg(value);
        }
        Greeting { commands, required }
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
