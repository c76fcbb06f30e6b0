//! A request is charged once, however many layers of one limiter stand in its way.

use aforo_core::Store;
use aforo_policy::Limiter;
use http::Extensions;

/// The limiters that a request has met, by identity. Two at most is what anyone stacks; a third is not remembered.
#[derive(Clone, Copy, Debug, Default)]
struct Charged([Option<usize>; 2]);

/// Whether this limiter has been asked about the request.
pub(crate) fn already<S: Store>(extensions: &Extensions, limiter: &Limiter<S>) -> bool {
    extensions.get::<Charged>().is_some_and(|charged| charged.0.contains(&Some(limiter.identity())))
}

/// Remembers that it has.
pub(crate) fn mark<S: Store>(extensions: &mut Extensions, limiter: &Limiter<S>) {
    let charged = extensions.get_or_insert_default::<Charged>();
    if let Some(free) = charged.0.iter_mut().find(|slot| slot.is_none()) {
        *free = Some(limiter.identity());
    }
}
