//! What counting is.
//!
//! A *quota* allows so many units per window; a *hit* asks whether a request may take some of them from the
//! counter that a *key* names; [`weigh()`] answers from the counter's *state* and the moment, and nothing else; a
//! *decision* collects the *verdicts* of every rule that a request meets, all or nothing.
//!
//! ```
//! use aforo_core::{Cost, Moment, Quota, State, weigh};
//!
//! const LOGINS: Quota = Quota::per_minute(5);
//! let now = Moment::from_micros(1_780_000_000_000_000);
//! let mut state = State::Fresh;
//! for _ in 0..5 {
//!     let weighed = weigh(&LOGINS, &state, Cost::ONE, now);
//!     assert!(weighed.allowed());
//!     state = weighed.after;
//! }
//! let sixth = weigh(&LOGINS, &state, Cost::ONE, now);
//! assert!(!sixth.allowed());
//! assert_eq!(sixth.wait.as_micros(), Some(12_000_000)); // one unit each twelve seconds
//! ```
//!
//! Notable by its absence: a clock. Every function takes the moment as an argument, so that a test, a replay and a
//! store in another process compute the same integers.
#![no_std]
#![deny(missing_docs)]
#![forbid(unsafe_code)]
#![deny(clippy::float_arithmetic, clippy::float_cmp, clippy::disallowed_methods, clippy::disallowed_types)]

pub mod algorithm;
mod decision;
mod grain;
mod hit;
mod invalid_quota;
mod key;
mod moment;
mod quota;
mod state;
mod store;
mod verdict;
mod weigh;

pub use decision::{Decision, Ledger, Op, Origin, decide, decide_debt, decide_one};
pub use grain::Grain;
pub use hit::{Cost, Hit, Hits, MAX_HITS, Mode, TooManyHits};
pub use invalid_quota::InvalidQuota;
pub use key::{Key, KeyTooLong};
pub use moment::{Clock, ManualClock, Moment};
pub use quota::{Algorithm, Anchor, Quota};
pub use state::State;
pub use store::{Store, StoreError, StoreErrorKind};
pub use verdict::{Retry, Verdict, Wait};
pub use weigh::{Standing, Weighed, overcharge, refund, standing, weigh};
