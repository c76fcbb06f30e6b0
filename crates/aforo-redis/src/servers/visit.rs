//! Visits: one connection to one server, for somebody who wants to look at it closely and has time.

use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{Cmd, Pipeline, RedisError, ServerErrorKind, Value};
use tokio::task::AbortHandle;
use tokio::time::timeout;

use super::dialer::{Dialed, Dialer};
use super::sentinel::Sentinels;
use super::slots::{self, Span};
use crate::address::{Address, Login};
use crate::call::Call;
use crate::endpoint::Endpoint;
use crate::trouble::Trouble;

/// How long a connection or an answer may take.
const PATIENCE: Duration = Duration::from_secs(4);

/// A connection to one server, as the store would open it, but with more patience and without a breaker.
pub(crate) struct Visit {
    pub(crate) endpoint: Endpoint,
    connection: MultiplexedConnection,
    driver: AbortHandle,
}

impl Visit {
    /// Connects and logs in.
    pub(crate) async fn to(address: &Address, endpoint: &Endpoint) -> Result<Visit, Trouble> {
        let Dialed { connection, driver, .. } = Dialer::to_servers(address, PATIENCE).dial(endpoint).await?;
        let driver = tokio::spawn(driver).abort_handle();
        Ok(Visit { endpoint: endpoint.clone(), connection, driver })
    }

    /// Puts a command. An error that the server answers is an error here.
    pub(crate) async fn ask(&mut self, command: &Cmd) -> Result<Value, Trouble> {
        let answer = within(self.connection.send_packed_command(command)).await?;
        Ok(answer.extract_error()?)
    }

    /// Puts commands in one go. Each has its own answer or error.
    pub(crate) async fn ask_all(&mut self, commands: &Pipeline) -> Result<Vec<Result<Value, Trouble>>, Trouble> {
        if commands.is_empty() {
            return Ok(Vec::new());
        }
        let answers = within(self.connection.send_packed_commands(commands, 0, commands.len())).await?;
        Ok(answers.into_iter().map(|answer| answer.extract_error().map_err(Trouble::from)).collect())
    }

    /// Runs the script, with its whole text where the server does not know it.
    pub(crate) async fn run(&mut self, call: &Call) -> Result<Value, Trouble> {
        let answer = within(self.connection.send_packed_command(call.by_digest())).await?;
        match &answer {
            Value::ServerError(error) if error.kind() == Some(ServerErrorKind::NoScript) => {
                self.ask(&call.in_full()).await
            }
            _ => Ok(answer.extract_error()?),
        }
    }

    /// The slots of a Cluster, each run with its owner; `None` if the answer has another shape.
    pub(crate) async fn map(&mut self) -> Result<Option<Vec<(u16, u16, Endpoint)>>, Trouble> {
        let answer = self.ask(redis::cmd("CLUSTER").arg("SLOTS")).await?;
        let spans = slots::read(&answer, &self.endpoint);
        Ok(spans.map(|spans| spans.into_iter().map(|Span { first, last, owner }| (first, last, owner)).collect()))
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// The primary of a service, as that one Sentinel names it.
pub(crate) async fn primary_named_by(
    sentinel: &Endpoint,
    address: &Address,
    service: &str,
    login: Option<&Login>,
) -> Result<Endpoint, Trouble> {
    let alone = Address { endpoints: vec![sentinel.clone()], ..address.clone() };
    Sentinels::new(&alone, service, login).primary().await
}

async fn within<T>(answer: impl Future<Output = Result<T, RedisError>>) -> Result<T, Trouble> {
    let answer = timeout(PATIENCE, answer).await;
    Ok(answer.map_err(|_| Trouble::late(format!("no answer within {PATIENCE:?}")))??)
}
