//! Serving: settings become listeners, listeners serve until a signal, then everything drains.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::num::NonZeroUsize;
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use aforo::Counters;
use aforo_http::RateLimitLayer;
use aforo_policy::{File, Limiter, StoreSettings};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tower_layer::Layer;

use crate::admin::{self, Patient, Token, Watched};
use crate::believing::BelievingLayer;
use crate::command::Failure;
use crate::gateway::{self, Listening, Peer, Settings, TlsFiles, Upstream};
use crate::reload::{self, Read, Reloading, Source};
use crate::totals::Totals;

/// What a call says in place of the policy file.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// The API behind the gateway.
    pub upstream: Option<String>,
    /// Where the gateway listens.
    pub listen: Option<SocketAddr>,
    /// Where the admin listener is.
    pub admin: Option<Admin>,
    /// Where counters are kept.
    pub store: Option<String>,
}

/// Where the admin listener is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admin {
    /// Nowhere.
    Off,
    /// There.
    At(SocketAddr),
}

impl FromStr for Admin {
    type Err = String;

    fn from_str(text: &str) -> Result<Admin, String> {
        match text {
            "off" => Ok(Admin::Off),
            address => address
                .parse()
                .map(Admin::At)
                .map_err(|_| format!("`{address}` is no address; write for example 127.0.0.1:9090, or off")),
        }
    }
}

/// How often the store is swept when nobody calls.
const SWEEP_EVERY: Duration = Duration::from_millis(250);

/// Everything that is ready to serve: all ports are bound, and nothing has been accepted.
pub struct Serving {
    gateway: Listening,
    admin: Option<TcpListener>,
    token: Option<Token>,
    reloading: Arc<Reloading>,
    signals: Signals,
}

impl Serving {
    /// Reads the policy, and binds every port once all of it is known to be good.
    ///
    /// # Errors
    ///
    /// Every mistake in the policy; an address that cannot be listened on; a certificate that cannot be used.
    pub fn prepare(source: Source, overrides: Overrides) -> Result<Serving, Failure> {
        let text = source.bytes().map_err(Failure::Input)?;
        let around = source.surroundings();
        let file = File::read_bytes(&source.name(), &text, &around).map_err(Failure::Policy)?;
        // Nobody can mend what the program brings along.
        for warning in file.warnings.iter().filter(|_| matches!(source, Source::File(_))) {
            tracing::warn!(
                "{}:{}:{}: {} ({})",
                source.name(),
                warning.line,
                warning.column,
                warning.message,
                warning.help
            );
        }
        let settings = settings(&file, &overrides, &source)?;
        let store = store(&file, &overrides)?;
        let place = admin_place(&file, overrides.admin)?;
        let gateway = gateway::bind(&settings).map_err(|error| Failure::Input(format!("gateway: {error}")))?;
        let admin = place.map(|place| place.bind()).transpose()?;
        let secret = file.admin.as_ref().and_then(|admin| admin.token.as_ref());
        let token = secret.map(|token| Token::new(token.expose().to_owned()));
        let counters = Counters::open(&store).map_err(|error| Failure::Input(error.to_string()))?;
        let reloading = Arc::new(Reloading::new(source, Read { text, around }, file, overrides, counters));
        // Before anyone is told that it listens, or a signal could end the program unawares.
        let signals = Signals::new().map_err(|error| Failure::Internal(format!("signals: {error}")))?;
        Ok(Serving { gateway, admin, token, reloading, signals })
    }

    /// Where the gateway listens.
    pub fn gateway_address(&self) -> SocketAddr {
        self.gateway.address()
    }

    /// Where the admin listener is.
    pub fn admin_address(&self) -> Option<SocketAddr> {
        self.admin.as_ref().and_then(|listener| listener.local_addr().ok())
    }

    /// One line for each listener, with the address that it really has.
    pub fn announcement(&self) -> String {
        let gateway = format!("{}://{}", self.gateway.scheme().as_str(), self.gateway_address());
        let mut lines = format!("aforo: gateway listening on {gateway}\n");
        if let Some(address) = self.admin_address() {
            lines.push_str(&format!("aforo: admin listening on http://{address}\n"));
        }
        lines
    }

    /// Serves until SIGTERM or Ctrl-C, then lets requests in flight finish.
    ///
    /// # Errors
    ///
    /// If the system has no threads for it.
    pub async fn run(self) -> Result<(), Failure> {
        let internal = |error: io::Error| Failure::Internal(error.to_string());
        let totals = Arc::<Totals>::default();
        let watched = Arc::new(Watched {
            reloading: Arc::clone(&self.reloading),
            totals: Arc::clone(&totals),
            started: Instant::now(),
            gateway: Some(self.gateway.address()),
        });
        let limits = RateLimitLayer::new(self.reloading.limiter().clone())
            .address_from(|extensions| extensions.get::<Peer>().map(|peer| peer.address().ip()));
        let believing = BelievingLayer(self.reloading.limiter().clone());
        let mut signals = self.signals;
        let running = self
            .gateway
            .serve(move |forward| limits.clone().observed_by(totals.counting()).layer(believing.layer(forward)))
            .map_err(internal)?;
        let (stop, stopped) = watch::channel(());
        let mut beside = JoinSet::new();
        beside.spawn(reload::watch(Arc::clone(&self.reloading)));
        beside.spawn(sweep(self.reloading.limiter().clone()));
        let serving_admin =
            self.admin.map(|listener| tokio::spawn(serve_admin(listener, watched, self.token, stopped)));

        signals.until_stop(&self.reloading).await;
        tracing::info!("draining: requests in flight may finish");
        running.stop();
        let drained = tokio::task::spawn_blocking(move || running.join());
        tokio::select! {
            _ = drained => {}
            // Whoever asks twice does not want to wait: the runtime is left without joining the workers.
            () = signals.second_stop() => tracing::warn!("ended without draining"),
        }
        beside.abort_all();
        drop(stop);
        if let Some(admin) = serving_admin {
            // It answers what it is answering, within the time that a person would wait.
            let _ = tokio::time::timeout(Duration::from_secs(1), admin).await;
        }
        Ok(())
    }
}

/// The signals that a server obeys.
struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    hangup: tokio::signal::unix::Signal,
}

impl Signals {
    fn new() -> io::Result<Signals> {
        Ok(Signals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Returns when the program is to end; reloads meanwhile.
    async fn until_stop(&mut self, reloading: &Arc<Reloading>) {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return,
                _ = self.interrupt.recv() => return,
                _ = self.hangup.recv() => {
                    let reloading = Arc::clone(reloading);
                    // The log tells what became of it.
                    tokio::task::spawn_blocking(move || drop(reloading.reload()));
                }
            }
        }
    }

    /// Whoever asks twice does not want to wait.
    async fn second_stop(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// Traffic sweeps the store; where there is none, time does.
async fn sweep(limiter: Limiter<Counters>) {
    let mut ticks = tokio::time::interval(SWEEP_EVERY);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        limiter.store().memory().sweep();
    }
}

async fn serve_admin(
    listener: TcpListener,
    watched: Arc<Watched>,
    token: Option<Token>,
    mut stopped: watch::Receiver<()>,
) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    // The channel closes when the gateway has drained.
    let end = async move { while stopped.changed().await.is_ok() {} };
    axum::serve(Patient::new(listener), admin::router(watched, token)).with_graceful_shutdown(end).await
}

/// Examines what a good file names, and the call does not say in its place: that its upstreams can be spoken to, and its
/// certificate be used.
///
/// # Errors
///
/// What cannot be used, and why.
pub fn examine(file: &File, overrides: &Overrides, source: &Source) -> Result<(), Failure> {
    if file.gateway.is_none() {
        return Ok(());
    }
    match settings(file, overrides, source)?.tls {
        Some(files) => {
            files.examine().map_err(|error| Failure::Input(format!("{}: gateway.tls: {error}", source.name())))
        }
        None => Ok(()),
    }
}

fn settings(file: &File, overrides: &Overrides, source: &Source) -> Result<Settings, Failure> {
    let default;
    let gateway = match (&file.gateway, &overrides.upstream) {
        (Some(gateway), _) => gateway,
        (None, Some(upstream)) => {
            default = aforo_policy::Gateway::to(vec![upstream.clone()]);
            &default
        }
        (None, None) => {
            return Err(Failure::Input(format!(
                "{}: no door is open: add a `gateway` with its `upstream`, or give --upstream URL",
                source.name()
            )));
        }
    };
    let upstreams: Vec<Upstream> = match &overrides.upstream {
        Some(url) => vec![url.parse().map_err(|error| Failure::Usage(format!("--upstream: {error}")))?],
        None => {
            let parsed: Result<_, _> = gateway.upstream.iter().map(|url| url.parse()).collect();
            parsed.map_err(|error| Failure::Input(format!("{}: gateway.upstream: {error}", source.name())))?
        }
    };
    let mut settings = Settings::new(overrides.listen.unwrap_or(gateway.listen), upstreams);
    if let Some(workers) = gateway.workers.and_then(NonZeroUsize::new) {
        settings.workers = workers;
    }
    settings.tls = gateway.tls.as_ref().map(|tls| TlsFiles { cert: tls.cert.clone(), key: tls.key.clone() });
    settings.proxy_protocol = gateway.proxy_protocol;
    let waits = gateway.timeouts;
    settings.timeouts = gateway::Timeouts {
        header: waits.header,
        body: waits.body,
        connect: waits.connect,
        upstream: waits.upstream,
        idle: waits.idle,
    };
    settings.drain = gateway.drain;
    Ok(settings)
}

/// Where counters are kept: where the call says, else where the file does, which was examined with it.
fn store(file: &File, overrides: &Overrides) -> Result<StoreSettings, Failure> {
    match &overrides.store {
        Some(named) => Counters::named(named, &file.store).map_err(|error| Failure::Usage(format!("--store: {error}"))),
        None => Ok(file.store.clone()),
    }
}

/// Where the admin listener shall be.
#[derive(Clone, Copy)]
struct Place {
    address: SocketAddr,
    /// Whether someone named the address; else any free port will do.
    named: bool,
}

fn admin_place(file: &File, override_: Option<Admin>) -> Result<Option<Place>, Failure> {
    let place = match (override_, &file.admin) {
        (Some(Admin::Off), _) | (None, None) => return Ok(None),
        (Some(Admin::At(address)), _) => Place { address, named: true },
        (None, Some(admin)) => Place { address: admin.listen, named: admin.listen_is_given },
    };
    let has_token = file.admin.as_ref().is_some_and(|admin| admin.token.is_some());
    if !place.address.ip().to_canonical().is_loopback() && !has_token {
        return Err(Failure::Usage(format!(
            "--admin {}: other machines can reach it and there is no token: set admin.token in the policy, or use 127.0.0.1",
            place.address
        )));
    }
    Ok(Some(place))
}

impl Place {
    fn bind(self) -> Result<TcpListener, Failure> {
        let address = self.address;
        let listener = match TcpListener::bind(address) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && !self.named => {
                tracing::warn!(
                    "admin: {address} is taken, so a free port is used; `admin.listen` or --admin names one"
                );
                TcpListener::bind(SocketAddr::new(address.ip(), 0))
            }
            outcome => outcome,
        };
        let prepared = listener.and_then(|listener| listener.set_nonblocking(true).map(|()| listener));
        prepared.map_err(|error| match error.kind() {
            io::ErrorKind::AddrInUse => Failure::Input(format!(
                "admin: cannot listen on {address}: the port is taken, stop the program that holds it, choose another by --admin ADDR, or \
                 --admin off"
            )),
            _ => Failure::Input(format!("admin: cannot listen on {address}: {error}")),
        })
    }
}
