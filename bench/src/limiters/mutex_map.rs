//! What one writes on the first evening: a map behind a mutex, a bucket of floats.

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::Mutex;
use std::time::Instant;

use crate::{Limiter, Terms};

struct Bucket {
    tokens: f64,
    at: Instant,
}

pub(crate) struct MutexMap {
    buckets: Mutex<HashMap<String, Bucket>>,
    burst: f64,
    rate: f64,
}

impl Limiter for MutexMap {
    type Desk = ();

    fn new(terms: Terms) -> MutexMap {
        MutexMap { buckets: Mutex::default(), burst: terms.burst.into(), rate: 1.0 / terms.period.as_secs_f64() }
    }

    fn ask(&self, (): &mut (), key: &str) {
        let now = Instant::now();
        let mut buckets = self.buckets.lock().expect("nobody panics");
        if !buckets.contains_key(key) {
            buckets.insert(key.to_owned(), Bucket { tokens: self.burst, at: now });
        }
        let Some(bucket) = buckets.get_mut(key) else { return };
        let passed = now.saturating_duration_since(bucket.at).as_secs_f64();
        let tokens = (bucket.tokens + passed * self.rate).min(self.burst);
        let allowed = tokens >= 1.0;
        *bucket = Bucket { tokens: if allowed { tokens - 1.0 } else { tokens }, at: now };
        let (remaining, reset) = (bucket.tokens, (self.burst - bucket.tokens) / self.rate);
        black_box((allowed, remaining, reset, (1.0 - remaining) / self.rate));
    }
}
