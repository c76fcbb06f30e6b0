//! How it is measured: each of these in a process of its own.

use std::io::Read;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use crate::workload::Name;
use crate::{KEYS, Limiter, Measure, Terms, Workload};

/// Requests between two looks at the clock.
const BATCH: usize = 1 << 14;
const WARM_UP: Duration = Duration::from_millis(100);
const MEASURED: Duration = Duration::from_millis(500);

fn filled<L: Limiter>(terms: Terms, keys: u32) -> L {
    let (limiter, mut desk) = (L::new(terms), L::Desk::default());
    for number in 0..keys {
        limiter.ask(&mut desk, Name::of(number).as_str());
    }
    limiter
}

/// The loop that is measured. Its name is what the instruction counter looks for.
#[inline(never)]
fn measured_requests<'a, L: Limiter>(limiter: &L, desk: &mut L::Desk, numbers: impl Iterator<Item = &'a u32>) {
    for &number in numbers {
        limiter.ask(desk, Name::of(number).as_str());
    }
}

/// Nanoseconds of a thread for a request.
///
/// Of the processor's time, so that what else runs on the machine is not counted; with several threads, which wait for
/// each other, of the time that passes.
#[derive(Clone, Copy, Debug)]
pub struct Nanoseconds {
    /// Who asks.
    pub workload: Workload,
    /// By how many threads at once.
    pub threads: usize,
}

impl Measure for Nanoseconds {
    type Found = f64;

    fn of<L: Limiter>(&self) -> f64 {
        let limiter: L = filled(self.workload.terms(), self.workload.keys());
        let barrier = Barrier::new(self.threads);
        let turn = |thread: usize| {
            let numbers = self.workload.numbers(thread as u64);
            let mut numbers = numbers.iter().cycle();
            let mut desk = L::Desk::default();
            let mut run = |time: Duration| {
                barrier.wait();
                let (begun, used, mut requests) = (Instant::now(), on_processor(), 0);
                while begun.elapsed() < time {
                    measured_requests(&limiter, &mut desk, numbers.by_ref().take(BATCH));
                    requests += BATCH;
                }
                let spent = if self.threads == 1 { on_processor() - used } else { begun.elapsed().as_nanos() as f64 };
                spent / requests as f64
            };
            run(WARM_UP);
            run(MEASURED)
        };
        let all: Vec<f64> = thread::scope(|scope| {
            let threads: Vec<_> = (0..self.threads).map(|thread| scope.spawn(move || turn(thread))).collect();
            threads.into_iter().map(|thread| thread.join().expect("a thread that measures")).collect()
        });
        all.iter().sum::<f64>() / self.threads as f64
    }
}

/// So many requests for the hot key, for an instruction counter that watches the loop.
#[derive(Clone, Copy, Debug)]
pub struct Instructions {
    /// How many.
    pub requests: usize,
}

impl Measure for Instructions {
    type Found = ();

    fn of<L: Limiter>(&self) {
        let limiter: L = filled(Terms::ALLOWED, 1);
        let numbers = Workload::Hot.numbers(0);
        measured_requests(&limiter, &mut L::Desk::default(), numbers.iter().cycle().take(self.requests));
    }
}

/// Requests for known keys, between two readings of an allocator that counts.
pub struct AllocationFree<'a> {
    /// Reads how often something was allocated.
    pub allocations: &'a dyn Fn() -> usize,
}

impl Measure for AllocationFree<'_> {
    /// Allocations a request.
    type Found = f64;

    fn of<L: Limiter>(&self) -> f64 {
        const REQUESTS: usize = 100_000;
        let limiter: L = filled(Terms::ALLOWED, 1);
        let numbers = Workload::Hot.numbers(0);
        let mut desk = L::Desk::default();
        measured_requests(&limiter, &mut desk, numbers.iter().cycle().take(REQUESTS));
        let before = (self.allocations)();
        measured_requests(&limiter, &mut desk, numbers.iter().cycle().take(REQUESTS));
        ((self.allocations)() - before) as f64 / REQUESTS as f64
    }
}

/// Resident memory: of a million keys in use, and what is left of it when they idle while a few others are served.
#[derive(Clone, Copy, Debug)]
pub struct Memory;

impl Measure for Memory {
    /// Bytes a key, and the part that is kept.
    type Found = (f64, f64);

    fn of<L: Limiter>(&self) -> (f64, f64) {
        let (empty, limiter, mut desk) = (resident(), L::new(Terms::IDLING), L::Desk::default());
        for number in 0..KEYS as u32 {
            limiter.ask(&mut desk, Name::of(number).as_str());
        }
        let full = resident() - empty;
        // Three seconds until the keys owe nothing, and five for the limiter to notice.
        let begun = Instant::now();
        let mut number = KEYS as u32;
        while begun.elapsed() < Duration::from_secs(8) {
            thread::sleep(Duration::from_millis(10));
            limiter.ask(&mut desk, Name::of(number).as_str());
            number = KEYS as u32 + (number + 1) % 100;
        }
        (full / KEYS as f64, (resident() - empty) / full)
    }
}

/// Nanoseconds that this thread has had of a processor.
pub fn on_processor() -> f64 {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    statistics.split(' ').next().and_then(|nanoseconds| nanoseconds.parse().ok()).unwrap_or(f64::NAN)
}

/// Resident bytes of this process. It allocates nothing: a block that the heap puts behind a million keys and does not take
/// back at once would keep all that lies before it.
fn resident() -> f64 {
    const PAGE: f64 = 4096.0;
    let mut text = [0; 128];
    let read = std::fs::File::open("/proc/self/statm").and_then(|mut file| file.read(&mut text)).unwrap_or_default();
    let pages = std::str::from_utf8(&text[..read]).ok().and_then(|text| text.split(' ').nth(1));
    pages.and_then(|pages| pages.parse::<f64>().ok()).unwrap_or(f64::NAN) * PAGE
}
