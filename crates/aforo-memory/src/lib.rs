//! The store in this process: counters in sharded, bounded tables, without a background task and without async.
//!
//! ```
//! use aforo_core::{Hit, Hits, Key, Op, Quota};
//! use aforo_memory::MemoryStore;
//!
//! const LOGIN: Quota = Quota::per_minute(5);
//! let store = MemoryStore::new();
//! let hits = Hits::one(Hit::new(Key::new(b"login", b"192.0.2.7")?, LOGIN));
//! for _ in 0..5 {
//!     assert!(store.decide_now(Op::Take, &hits).allowed());
//! }
//! assert!(!store.decide_now(Op::Take, &hits).allowed());
//! # Ok::<(), aforo_core::KeyTooLong>(())
//! ```
//!
//! What must stay true:
//!
//! - A decision locks the shards of its keys in ascending order and holds them from the first weighing to the last
//!   charge, so that it is all or nothing for every other thread too.
//! - A key that owes nothing may be dropped at any time, since absent is fresh. A key that owes something is never
//!   dropped: not to make room, not in a flood.
//! - Whatever a single decision reclaims or moves on the side is bounded by the size of one shard.
#![deny(missing_docs)]

mod clock;
mod counters;
mod fingerprint;
mod ledger;
mod logs;
mod packed;
mod room;
mod rounds;
mod shard;
mod sole;
mod store;
mod table;

pub use clock::SystemClock;
pub use store::{DEFAULT_MAX_KEYS, MemoryStore};
