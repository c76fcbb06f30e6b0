//! The aforo store for many processes: counters in Redis, or in what speaks its language.
#![deny(missing_docs)]
