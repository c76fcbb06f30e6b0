//! Redis Sentinels, and what they watch.

use super::{RedisServer, Reply};
use crate::eventually;

/// The name under which Sentinels know the primary.
const SERVICE: &str = "counters";

/// How long they take between two words, in milliseconds: a fraction of the usual. Before Redis 7 they cannot be
/// hurried, and everything takes ten seconds longer.
const HURRY: &str = "INFO-PERIOD 500 PING-PERIOD 200 ASK-PERIOD 200 PUBLISH-PERIOD 200 MIN-LINK-RECONNECT-PERIOD 500";

/// Sentinels on the loopback that watch a primary, and promote a replica half a second after it is gone. Dropping
/// them ends them.
#[derive(Debug)]
pub struct Sentinels {
    nodes: Vec<RedisServer>,
    /// What stands before the host in a URL.
    credentials: String,
}

impl Sentinels {
    /// Starts so many Sentinels and waits until they know one another and every replica that the primary has.
    ///
    /// # Panics
    ///
    /// If that does not come.
    pub fn start(primary: &RedisServer, count: usize) -> Sentinels {
        let quorum = count / 2 + 1;
        let mut lines = format!(
            "sentinel monitor {SERVICE} 127.0.0.1 {} {quorum}\n\
             sentinel down-after-milliseconds {SERVICE} 500\n\
             sentinel failover-timeout {SERVICE} 3000\n",
            primary.port()
        );
        if let Some(password) = primary.password() {
            lines.push_str(&format!("sentinel auth-pass {SERVICE} {password}\n"));
        }
        let nodes: Vec<_> = (0..count).map(|_| RedisServer::sentinel(&lines)).collect();
        let hurry: Vec<&str> = ["SENTINEL", "DEBUG"].into_iter().chain(HURRY.split(' ')).collect();
        for node in &nodes {
            let _ = node.ask(&hurry);
        }
        let sentinels = Sentinels { nodes, credentials: primary.credentials() };
        let replicas = &primary.report("replication")["connected_slaves"];
        eventually("the Sentinels know everybody", || {
            let knows = |node: &RedisServer| {
                let known = known(node);
                let has = |name: &str, value: &str| known.iter().any(|(n, v)| n == name && v == value);
                has("flags", "master")
                    && has("num-slaves", replicas)
                    && has("num-other-sentinels", &(count - 1).to_string())
            };
            sentinels.nodes.iter().all(knows).then_some(())
        });
        sentinels
    }

    /// The Sentinels.
    pub fn nodes(&self) -> &[RedisServer] {
        &self.nodes
    }

    /// The name under which they know the primary.
    pub fn service(&self) -> &'static str {
        SERVICE
    }

    /// Where the primary can be asked for, as the `store:` of a policy says it.
    pub fn url(&self) -> String {
        let nodes: Vec<String> = self.nodes.iter().map(|node| format!("127.0.0.1:{}", node.port())).collect();
        format!("redis-sentinel://{}{}/{SERVICE}", self.credentials, nodes.join(","))
    }

    /// The port of the primary, as a Sentinel says it.
    ///
    /// # Panics
    ///
    /// If none of them answers.
    pub fn primary(&self) -> u16 {
        let question = ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", SERVICE];
        let up = self.nodes.iter().filter(|node| node.is_up());
        let answer = up.filter_map(|node| node.ask(&question).ok()).next().expect("a Sentinel answers");
        let port = answer.list()[1].integer();
        port.try_into().unwrap_or_else(|_| panic!("no port: {port}"))
    }

    /// Waits until that server is the primary: it says so itself, and every Sentinel that is up does.
    ///
    /// # Panics
    ///
    /// If that does not come.
    pub fn await_promotion(&self, server: &RedisServer) {
        let question = ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", SERVICE];
        let port = i64::from(server.port());
        eventually("the Sentinels name the new primary", || {
            let mut up = self.nodes.iter().filter(|node| node.is_up());
            let named = up.all(|node| node.ask(&question).is_ok_and(|answer| answer.list()[1].integer() == port));
            (named && server.is_primary()?).then_some(())
        });
    }

    /// Has the Sentinels promote that replica, the only one, though the primary lives, and waits until they have.
    ///
    /// # Panics
    ///
    /// If they do not.
    pub fn fail_over(&self, replica: &RedisServer) {
        eventually("a Sentinel agrees", || self.nodes[0].ask(&["SENTINEL", "FAILOVER", SERVICE]).ok());
        self.await_promotion(replica);
    }
}

/// What a Sentinel knows of the primary, by name.
fn known(node: &RedisServer) -> Vec<(String, String)> {
    let fields = node.command(&["SENTINEL", "MASTER", SERVICE]);
    let texts: Vec<String> = fields.list().iter().map(Reply::text).collect();
    texts.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()
}
