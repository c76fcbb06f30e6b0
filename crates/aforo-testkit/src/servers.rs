//! Real servers for tests: Redis alone, as a Cluster, and under Sentinels.
//!
//! Each test starts its own, on free ports of the loopback and with a folder of its own. A server ends when its value
//! is dropped, and also when the process of the test is killed. (What is in a static is not dropped: it ends a moment
//! after the process.)

mod cluster;
mod connection;
mod folder;
mod ports;
mod process;
mod redis_server;
mod reply;

mod sentinels;
mod stored_key;

pub use cluster::{RedisCluster, SlotMove};
pub use connection::Connection;
pub use folder::Folder;
pub(crate) use ports::free_port;
pub use redis_server::RedisServer;
pub use reply::Reply;

pub use sentinels::Sentinels;
pub use stored_key::StoredKey;
