//! `aforo serve`

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::{Failure, say, source};
use crate::serving::{Admin, Overrides, Serving};

/// Serve the gateway and the admin listener as the policy file says.
///
/// With --upstream alone no file is needed: a token bucket of 20/s, burst 100, for each client. SIGHUP or a changed file
/// reloads the policy, SIGTERM and Ctrl-C drain.
#[derive(Debug, Args)]
#[command(after_help = "Example: aforo serve --upstream http://127.0.0.1:3000")]
pub(super) struct Serve {
    /// The policy file [default: aforo.yaml, if it is there].
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The API behind the gateway, in place of the file's.
    #[arg(long, value_name = "URL")]
    upstream: Option<String>,
    /// Where the gateway listens, in place of the file's address.
    #[arg(long, value_name = "ADDR")]
    listen: Option<SocketAddr>,
    /// Where the admin listener is, in place of the file's address; `off` for none.
    #[arg(long, value_name = "ADDR|off")]
    admin: Option<Admin>,
    /// Where counters are kept, in place of the file's store: `memory`, or for example redis://127.0.0.1:6379.
    #[arg(long, value_name = "URL")]
    store: Option<String>,
}

impl Serve {
    pub(super) fn run(self) -> Result<(), Failure> {
        let source = source::for_gateway(self.config, self.upstream.is_some())?;
        let overrides =
            Overrides { upstream: self.upstream, listen: self.listen, admin: self.admin, store: self.store };
        until_the_end(async {
            let serving = Serving::prepare(source, overrides)?;
            say(&serving.announcement())?;
            serving.run().await
        })
    }
}

/// Runs what stands beside the gateway's workers (signals, reloads, the admin listener) until the program is to end.
pub(super) fn until_the_end(serving: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Internal(format!("the runtime cannot start: {error}")))?;
    let outcome = runtime.block_on(serving);
    // What still runs by now is not waited for: it was asked to end twice, or has nothing to tell.
    runtime.shutdown_background();
    outcome
}
