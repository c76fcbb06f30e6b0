//! A Redis Cluster.

use super::{RedisServer, Reply, StoredKey};
use crate::eventually;

/// How many slots a Cluster has.
const SLOTS: usize = 16_384;

/// A Redis Cluster on the loopback: the primaries, and after them their replicas in the same order. Dropping it ends
/// all nodes.
#[derive(Debug)]
pub struct RedisCluster {
    nodes: Vec<RedisServer>,
    primaries: usize,
}

/// A slot on its way to another node. In between, commands for it are answered with ASK and TRYAGAIN.
#[derive(Debug)]
#[must_use = "a slot stays on its way until the move is finished"]
pub struct SlotMove<'a> {
    cluster: &'a RedisCluster,
    slot: u16,
    from: usize,
    to: usize,
}

/// Where slots are: the first, the last, and the port of their primary.
type Map = Vec<(i64, i64, i64)>;

impl RedisCluster {
    /// Starts so many primaries, each with its share of the slots, and waits until all of them know it. That takes
    /// two seconds, which a node waits before it trusts itself.
    ///
    /// # Panics
    ///
    /// If that does not come.
    pub fn start(primaries: usize) -> RedisCluster {
        RedisCluster::launch(primaries, 0, &[])
    }

    /// Starts so many primaries with a replica each.
    ///
    /// # Panics
    ///
    /// If the nodes do not agree in time.
    pub fn with_replicas(primaries: usize) -> RedisCluster {
        RedisCluster::launch(primaries, primaries, &[])
    }

    /// Starts so many primaries with further options.
    ///
    /// # Panics
    ///
    /// If the nodes do not agree in time.
    pub fn with(primaries: usize, options: &[&str]) -> RedisCluster {
        RedisCluster::launch(primaries, 0, options)
    }

    fn launch(primaries: usize, replicas: usize, further: &[&str]) -> RedisCluster {
        let mut options = vec!["--cluster-enabled", "yes", "--cluster-node-timeout", "1000"];
        // A replica takes over however long it has not heard of its primary.
        options.extend(["--cluster-replica-validity-factor", "0"]);
        options.extend(further);
        let nodes: Vec<RedisServer> = (0..primaries + replicas).map(|_| RedisServer::with(&options)).collect();
        let cluster = RedisCluster { nodes, primaries };
        cluster.give_out_slots();
        cluster.introduce();
        for primary in 0..replicas {
            let id = cluster.id(primary);
            let replica = &cluster.nodes[primaries + primary];
            eventually("the replica has heard of its primary", || replica.ask(&["CLUSTER", "REPLICATE", &id]).ok());
        }
        cluster.settle();
        for replica in &cluster.nodes[primaries..] {
            replica.follows();
        }
        cluster
    }

    fn give_out_slots(&self) {
        let bound = |node: usize| node * SLOTS / self.primaries;
        for node in 0..self.primaries {
            let slots: Vec<String> = (bound(node)..bound(node + 1)).map(|slot| slot.to_string()).collect();
            let words: Vec<&str> =
                ["CLUSTER", "ADDSLOTS"].into_iter().chain(slots.iter().map(String::as_str)).collect();
            self.nodes[node].command(&words);
        }
    }

    fn introduce(&self) {
        for (epoch, node) in (1..).zip(&self.nodes) {
            // Otherwise they would first have to find out who of them goes before.
            node.command(&["CLUSTER", "SET-CONFIG-EPOCH", &i32::to_string(&epoch)]);
            self.nodes[0].command(&["CLUSTER", "MEET", "127.0.0.1", &node.port().to_string()]);
        }
    }

    /// Waits until every node that is up serves all slots, and all of them agree where the slots are.
    ///
    /// # Panics
    ///
    /// If that does not come.
    pub fn settle(&self) {
        eventually("the nodes of the Cluster agree", || {
            let mut maps = self.nodes.iter().filter(|node| node.is_up()).map(map);
            let first = maps.next()??;
            maps.all(|map| map.as_ref() == Some(&first)).then_some(())
        });
    }

    /// The nodes, in the order in which they were started.
    pub fn nodes(&self) -> &[RedisServer] {
        &self.nodes
    }

    /// Where it is, as the `store:` of a policy says it.
    pub fn url(&self) -> String {
        let nodes: Vec<String> = self.nodes.iter().map(|node| format!("127.0.0.1:{}", node.port())).collect();
        format!("redis-cluster://{}{}", self.nodes[0].credentials(), nodes.join(","))
    }

    /// The node that a slot belongs to.
    ///
    /// # Panics
    ///
    /// If no node that is up knows it.
    pub fn owner(&self, slot: u16) -> usize {
        let map = self.nodes.iter().filter(|node| node.is_up()).find_map(map).expect("a node serves all slots");
        let slot = i64::from(slot);
        let part = map.into_iter().find(|(first, last, _)| (*first..=*last).contains(&slot));
        let (_, _, port) = part.expect("all slots are served");
        self.nodes.iter().position(|node| i64::from(node.port()) == port).expect("the port is one of ours")
    }

    /// Begins to move a slot to another node.
    ///
    /// # Panics
    ///
    /// If a node refuses.
    pub fn begin_move(&self, slot: u16, to: usize) -> SlotMove<'_> {
        let from = self.owner(slot);
        let number = slot.to_string();
        self.nodes[to].command(&["CLUSTER", "SETSLOT", &number, "IMPORTING", &self.id(from)]);
        self.nodes[from].command(&["CLUSTER", "SETSLOT", &number, "MIGRATING", &self.id(to)]);
        SlotMove { cluster: self, slot, from, to }
    }

    /// Moves a slot with all its keys, and waits until every node knows.
    ///
    /// # Panics
    ///
    /// If a node refuses.
    pub fn move_slot(&self, slot: u16, to: usize) {
        self.begin_move(slot, to).finish();
    }

    /// Makes the replica of a primary the primary, without losing anything, and waits until every node knows.
    ///
    /// # Panics
    ///
    /// If the Cluster was started without replicas, or the replica refuses.
    pub fn fail_over(&self, primary: usize) {
        let replica = &self.nodes[self.primaries + primary];
        replica.command(&["CLUSTER", "FAILOVER"]);
        self.await_promotion(primary);
    }

    /// Waits until the replica of a primary, which may be dead, has taken over and every node knows.
    ///
    /// # Panics
    ///
    /// If that does not come.
    pub fn await_promotion(&self, primary: usize) {
        let replica = &self.nodes[self.primaries + primary];
        eventually("the replica is promoted", || replica.is_primary()?.then_some(()));
        self.settle();
    }

    /// Every key of the primaries that are up whose name matches the pattern, sorted by name.
    ///
    /// # Panics
    ///
    /// If one of them does not answer.
    pub fn keys(&self, pattern: &str) -> Vec<StoredKey> {
        let up = self.nodes.iter().filter(|node| node.is_up());
        let primaries = up.filter(|node| node.is_primary().expect("a node that is up answers"));
        let mut keys: Vec<StoredKey> = primaries.flat_map(|node| node.keys(pattern)).collect();
        keys.sort_unstable();
        keys
    }

    fn id(&self, node: usize) -> String {
        self.nodes[node].command(&["CLUSTER", "MYID"]).text()
    }
}

impl SlotMove<'_> {
    /// Moves up to so many keys, and tells how many it were.
    ///
    /// # Panics
    ///
    /// If a node refuses.
    pub fn move_keys(&self, most: usize) -> usize {
        let from = &self.cluster.nodes[self.from];
        let found = from.command(&["CLUSTER", "GETKEYSINSLOT", &self.slot.to_string(), &most.to_string()]);
        let keys: Vec<String> = found.list().iter().map(Reply::text).collect();
        if keys.is_empty() {
            return 0;
        }
        let port = self.cluster.nodes[self.to].port().to_string();
        let mut words = vec!["MIGRATE", "127.0.0.1", &port, "", "0", "5000"];
        if let Some(password) = from.password() {
            words.extend(["AUTH", password]);
        }
        words.push("KEYS");
        words.extend(keys.iter().map(String::as_str));
        from.command(&words);
        keys.len()
    }

    /// Moves the keys that are left, hands the slot over, and waits until every node knows.
    ///
    /// # Panics
    ///
    /// If a node refuses.
    pub fn finish(self) {
        while self.move_keys(1_000) > 0 {}
        let id = self.cluster.id(self.to);
        // The receiver first: the giver must not be left with a slot that nobody has taken.
        let others = (0..self.cluster.primaries).filter(|node| ![self.to, self.from].contains(node));
        for node in [self.to, self.from].into_iter().chain(others) {
            self.cluster.nodes[node].command(&["CLUSTER", "SETSLOT", &self.slot.to_string(), "NODE", &id]);
        }
        self.cluster.settle();
    }
}

/// Where a node sees all slots, if it serves them.
fn map(node: &RedisServer) -> Option<Map> {
    if !node.ask(&["CLUSTER", "INFO"]).ok()?.text().contains("cluster_state:ok") {
        return None;
    }
    let slots = node.ask(&["CLUSTER", "SLOTS"]).ok()?;
    let part = |part: &Reply| {
        let [first, last, primary, ..] = part.list() else { return None };
        Some((first.integer(), last.integer(), primary.list().get(1)?.integer()))
    };
    let mut map: Map = slots.list().iter().map(part).collect::<Option<_>>()?;
    map.sort_unstable();
    let served: i64 = map.iter().map(|(first, last, _)| last - first + 1).sum();
    (served == SLOTS as i64).then_some(map)
}
