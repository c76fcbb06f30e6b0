//! Waiting for a future without a runtime.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Runs a future that needs nobody to wake it, such as the answer of a store in memory.
///
/// # Panics
///
/// If the future is not done after a thousand polls: it waits for something, so it needs a runtime.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..1_000 {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        std::thread::yield_now();
    }
    panic!("a future that waits for something: run it on a runtime")
}
