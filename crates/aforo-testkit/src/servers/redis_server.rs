//! One Redis server.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::process::Process;
use super::{Connection, Folder, Reply, StoredKey, free_port};
use crate::eventually;

/// How often a server that finds its port taken is given another.
const ATTEMPTS: usize = 5;

/// A Redis server on the loopback that keeps nothing on disk. Dropping it ends it.
///
/// The program is `redis-server`, or what the environment variable `AFORO_REDIS_SERVER` names.
#[derive(Debug)]
pub struct RedisServer {
    // Before the folder: fields are dropped in this order, and the program still writes.
    process: Mutex<Option<Process>>,
    folder: Folder,
    setup: Setup,
}

/// How a server is started, the first time and again.
#[derive(Debug)]
struct Setup {
    port: u16,
    tls_port: Option<u16>,
    password: Option<String>,
    arguments: Vec<OsString>,
}

impl RedisServer {
    /// Starts a server and waits until it answers.
    ///
    /// # Panics
    ///
    /// If it does not.
    pub fn start() -> RedisServer {
        RedisServer::with(&[])
    }

    /// Starts a server with further options, such as `["--maxmemory", "2mb"]`.
    ///
    /// # Panics
    ///
    /// If it does not answer.
    pub fn with(options: &[&str]) -> RedisServer {
        RedisServer::launch(None, |port, folder| Setup::plain(port, folder, options))
    }

    /// Starts a server whose default user has this password.
    ///
    /// # Panics
    ///
    /// If it does not answer.
    pub fn with_password(password: &str) -> RedisServer {
        RedisServer::with(&["--requirepass", password])
    }

    /// Starts a server that speaks TLS on a second port, which [`url`](RedisServer::url) then names.
    ///
    /// # Panics
    ///
    /// If it does not answer.
    pub fn with_tls() -> RedisServer {
        RedisServer::launch(None, |port, folder| Setup::plain(port, folder, &[]).with_tls())
    }

    /// Starts a replica and waits until it follows its primary.
    ///
    /// # Panics
    ///
    /// If it does not.
    pub fn replica_of(primary: &RedisServer) -> RedisServer {
        let port = primary.port().to_string();
        let mut options = vec!["--replicaof", "127.0.0.1", &port];
        if let Some(password) = primary.password() {
            options.extend(["--masterauth", password, "--requirepass", password]);
        }
        let replica = RedisServer::with(&options);
        replica.follows();
        replica
    }

    /// Starts a Sentinel whose configuration has these lines.
    pub(super) fn sentinel(lines: &str) -> RedisServer {
        RedisServer::launch(Some(lines), Setup::sentinel)
    }

    /// Waits until a replica is in step with its primary.
    pub(super) fn follows(&self) {
        eventually("the replica follows its primary", || {
            (self.report("replication").get("master_link_status")? == "up").then_some(())
        });
    }

    fn launch(lines: Option<&str>, setup: impl Fn(u16, &Path) -> Setup) -> RedisServer {
        for _ in 0..ATTEMPTS {
            let folder = Folder::new();
            let port = free_port();
            if let Some(lines) = lines {
                let file =
                    format!("port {port}\nbind 127.0.0.1\nlogfile log\ndir {}\n{lines}", folder.path().display());
                fs::write(folder.path().join("sentinel.conf"), file).expect("the folder can be written to");
            }
            let server = RedisServer { process: Mutex::new(None), setup: setup(port, folder.path()), folder };
            match server.run() {
                Ok(()) => return server,
                Err(log) => assert!(log.contains("already in use"), "a Redis server ended at once:\n{log}"),
            }
        }
        panic!("{ATTEMPTS} Redis servers found their ports taken")
    }

    /// Starts the program and waits until it answers; if it ends instead, returns its log.
    fn run(&self) -> Result<(), String> {
        let program = std::env::var_os("AFORO_REDIS_SERVER").unwrap_or_else(|| "redis-server".into());
        let mut process = Process::start(Command::new(program).args(&self.setup.arguments), self.folder.path());
        // Another server may have been faster at the port.
        let id = process.id().to_string();
        eventually("a Redis server answers", || {
            if process.ended().is_some() {
                return Some(Err(self.log()));
            }
            let section = self.ask(&["INFO", "server"]).ok()?;
            (fields(&section.text()).get("process_id") == Some(&id)).then_some(Ok(()))
        })?;
        *self.running() = Some(process);
        Ok(())
    }

    fn running(&self) -> MutexGuard<'_, Option<Process>> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn password(&self) -> Option<&str> {
        self.setup.password.as_deref()
    }

    /// What stands before the host in a URL.
    pub(super) fn credentials(&self) -> String {
        self.password().map(|password| format!(":{password}@")).unwrap_or_default()
    }

    /// Its port without TLS.
    pub fn port(&self) -> u16 {
        self.setup.port
    }

    /// Where it is, as the `store:` of a policy says it, with the password if there is one.
    pub fn url(&self) -> String {
        let credentials = self.credentials();
        match self.setup.tls_port {
            Some(port) => {
                format!("rediss://{credentials}127.0.0.1:{port}?ca_file={}", certificate("ca.pem").display())
            }
            None => format!("redis://{credentials}127.0.0.1:{}", self.port()),
        }
    }

    /// What it has written down about itself.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// Ends it at once; its port is kept for it, and refuses connections.
    pub fn kill(&self) {
        *self.running() = None;
    }

    /// Ends it if it runs, and starts it again at its port, with nothing in it.
    ///
    /// # Panics
    ///
    /// If it does not answer.
    pub fn restart(&self) {
        self.kill();
        self.run().unwrap_or_else(|log| panic!("the server does not start again:\n{log}"));
    }

    /// Freezes it: its connections stay open, and nothing is answered.
    ///
    /// # Panics
    ///
    /// If it does not run.
    pub fn pause(&self) {
        self.running().as_mut().expect("the server runs").pause();
    }

    /// Lets it go on after [`pause`](RedisServer::pause).
    ///
    /// # Panics
    ///
    /// If it does not run.
    pub fn resume(&self) {
        self.running().as_mut().expect("the server runs").resume();
    }

    /// Whether it runs and is not frozen.
    pub fn is_up(&self) -> bool {
        self.running().as_ref().is_some_and(|process| !process.is_paused())
    }

    /// Opens a connection, logged in as the default user.
    ///
    /// # Errors
    ///
    /// If it cannot be reached, or refuses the password.
    pub fn connect(&self) -> io::Result<Connection> {
        let mut connection = Connection::open(self.port())?;
        if let Some(password) = self.password() {
            let reply = connection.ask(&["AUTH", password])?;
            if let Reply::Error(refused) = reply {
                return Err(io::Error::other(refused));
            }
        }
        Ok(connection)
    }

    /// Runs a command on a connection of its own. An error of Redis is an error here too.
    ///
    /// # Errors
    ///
    /// What went wrong, in words.
    pub fn ask(&self, words: &[&str]) -> Result<Reply, String> {
        let reply = self.connect().and_then(|mut connection| connection.ask(words));
        match reply.map_err(|error| error.to_string())? {
            Reply::Error(error) => Err(error),
            reply => Ok(reply),
        }
    }

    /// Runs a command that must succeed.
    ///
    /// # Panics
    ///
    /// If it does not.
    #[track_caller]
    pub fn command(&self, words: &[&str]) -> Reply {
        self.ask(words).unwrap_or_else(|error| panic!("port {}: {}: {error}", self.port(), words.join(" ")))
    }

    /// Changes an option of the running server.
    ///
    /// # Panics
    ///
    /// If it has no such option.
    #[track_caller]
    pub fn set(&self, option: &str, value: &str) {
        self.command(&["CONFIG", "SET", option, value]);
    }

    /// The fields of a section of INFO.
    ///
    /// # Panics
    ///
    /// If it does not answer.
    #[track_caller]
    pub fn report(&self, section: &str) -> BTreeMap<String, String> {
        fields(&self.command(&["INFO", section]).text())
    }

    /// Whether it is a primary and no replica; `None` if it does not answer now.
    pub fn is_primary(&self) -> Option<bool> {
        let role = self.ask(&["ROLE"]).ok()?;
        Some(role.list().first()?.text() == "master")
    }

    /// How often it ran a command, named in small letters, since it started or since `CONFIG RESETSTAT`.
    ///
    /// # Panics
    ///
    /// If it does not answer.
    #[track_caller]
    pub fn calls(&self, command: &str) -> u64 {
        let report = self.report("commandstats");
        let Some(line) = report.get(&format!("cmdstat_{command}")) else { return 0 };
        let calls = line.split(',').find_map(|field| field.strip_prefix("calls="));
        calls.and_then(|calls| calls.parse().ok()).unwrap_or_else(|| panic!("no number of calls in {line:?}"))
    }

    /// Every key whose name matches the pattern, sorted by name.
    ///
    /// # Panics
    ///
    /// If it does not answer.
    #[track_caller]
    pub fn keys(&self, pattern: &str) -> Vec<StoredKey> {
        let keys = self.connect().and_then(|mut connection| StoredKey::scan(&mut connection, pattern));
        keys.unwrap_or_else(|error| panic!("port {}: SCAN: {error}", self.port()))
    }
}

impl Setup {
    fn plain(port: u16, folder: &Path, options: &[&str]) -> Setup {
        let port_text = port.to_string();
        let mut arguments: Vec<OsString> =
            ["--port", &port_text, "--bind", "127.0.0.1", "--logfile", "log", "--dir"].map(OsString::from).to_vec();
        arguments.push(folder.into());
        let fleeting = ["--save", "", "--appendonly", "no", "--daemonize", "no"];
        arguments.extend(fleeting.map(OsString::from));
        // A replica that comes is served at once, not with others that may come within five seconds, and from memory:
        // a copy on disk is written by a process that outlives the server.
        let quick = ["--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0"];
        arguments.extend(quick.map(OsString::from));
        arguments.extend(options.iter().map(OsString::from));
        let password = options.windows(2).find(|pair| pair[0] == "--requirepass").map(|pair| pair[1].to_owned());
        Setup { port, tls_port: None, password, arguments }
    }

    fn with_tls(mut self) -> Setup {
        let free = std::iter::repeat_with(free_port).find(|port| *port != self.port);
        let port = free.expect("the search goes on until there is one");
        let option = |name: &str, value: OsString| [name.into(), value];
        self.arguments.extend(
            [
                option("--tls-port", port.to_string().into()),
                option("--tls-cert-file", certificate("cert.pem").into()),
                option("--tls-key-file", certificate("key.pem").into()),
                option("--tls-ca-cert-file", certificate("ca.pem").into()),
                option("--tls-auth-clients", "no".into()),
            ]
            .concat(),
        );
        self.tls_port = Some(port);
        self
    }

    fn sentinel(port: u16, folder: &Path) -> Setup {
        let arguments = vec![folder.join("sentinel.conf").into(), "--sentinel".into()];
        Setup { port, tls_port: None, password: None, arguments }
    }
}

/// For `localhost` and 127.0.0.1, signed by the authority in `ca.pem`, whose key was thrown away.
fn certificate(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("certificates").join(name)
}

/// The lines `name:value` of INFO.
fn fields(report: &str) -> BTreeMap<String, String> {
    let pairs = report.lines().filter_map(|line| line.split_once(':'));
    pairs.map(|(name, value)| (name.to_owned(), value.trim_end().to_owned())).collect()
}
