//! The one place where a wait becomes whole header seconds: it rounds up, so that who obeys is admitted.

use aforo_core::Moment;

const SECOND: u64 = 1_000_000;

/// Whole seconds that cover so many microseconds.
pub(crate) const fn covering(micros: u64) -> u64 {
    micros.div_ceil(SECOND)
}

/// The first whole second since the Unix epoch that is not before `micros` from `now`.
pub(crate) const fn epoch_after(now: Moment, micros: u64) -> u64 {
    now.plus_micros(micros).as_micros().div_ceil(SECOND)
}

#[cfg(test)]
mod tests {
    use super::covering;

    #[test]
    fn a_wait_is_never_shortened() {
        for (micros, seconds) in [(0, 0), (1, 1), (1_000, 1), (999_999, 1), (1_000_000, 1), (1_000_001, 2)] {
            assert_eq!(covering(micros), seconds);
        }
    }
}
