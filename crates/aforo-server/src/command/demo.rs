//! `aforo demo`

use std::net::SocketAddr;

use clap::Args;

use super::{Failure, say};
use crate::reload::Source;
use crate::serving::{Admin, Overrides, Serving};

mod traffic;

/// Show aforo at work: a sample API behind the gateway, with a policy and a little traffic.
///
/// Some of the traffic is well-behaved; one client is not, and is refused. Ends on Ctrl-C.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: aforo demo, then in another terminal: curl -i 'http://127.0.0.1:8080/api/search?q=pa'"
)]
pub(super) struct Demo {
    /// Send no traffic but yours.
    #[arg(long)]
    quiet_traffic: bool,
    /// Where the gateway listens.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// Where the admin listener is [default: 127.0.0.1:9090, or a free port if that is taken].
    #[arg(long, value_name = "ADDR")]
    admin: Option<SocketAddr>,
}

impl Demo {
    pub(super) fn run(self) -> Result<(), Failure> {
        super::serve::until_the_end(async {
            let (upstream, sample) = crate::sample::start()
                .await
                .map_err(|error| Failure::Internal(format!("the sample API cannot listen: {error}")))?;
            let sample = tokio::spawn(sample);
            let source = Source::BuiltIn { name: "demo policy", text: aforo_policy::DEMO.to_owned() };
            let overrides = Overrides {
                upstream: Some(format!("http://{upstream}")),
                listen: Some(self.listen),
                admin: self.admin.map(Admin::At),
                store: None,
            };
            let serving = Serving::prepare(source, overrides)?;
            say(&(serving.announcement() + &self.explanation(&serving)))?;
            let traffic = (!self.quiet_traffic).then(|| traffic::start(serving.gateway_address()));
            let outcome = serving.run().await;
            drop(traffic);
            sample.abort();
            outcome
        })
    }

    fn explanation(&self, serving: &Serving) -> String {
        let gateway = serving.gateway_address();
        let admin = serving.admin_address().map_or_else(|| "off".to_owned(), |address| format!("http://{address}/"));
        let traffic = if self.quiet_traffic { "There is no traffic but yours." } else { traffic::WHO };
        format!(
            "
  The sample API stands behind the gateway, under these limits for each client:

    GET  /api/status         burst 1000, then 100/s
    GET  /api/search         burst   20, then   5/s
    POST /api/orders         burst   10, then   2/s
    POST /api/auth/login     burst    5, then   1/s
    everything else          burst  100, then  20/s      (/health and /ready are exempt)

  Open   {admin}
  Type   curl -i 'http://{gateway}/api/search?q=pa'
  Type   for i in 1 2 3 4 5 6; do curl -si -X POST http://{gateway}/api/auth/login | grep -iE '^HTTP|remaining|retry|warning'; done
  Ends   with Ctrl-C

  {traffic}

"
        )
    }
}
