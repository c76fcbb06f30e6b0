//! `in_process`: the table of limiters in one process.
//!
//! ```text
//! cargo build --release && target/release/in_process [--rounds N] [--callgrind] [--out FILE.md]
//! ```
//!
//! Every figure comes from a process of its own. Rounds are shuffled, so that a machine that slows down slows all.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use aforo_bench::report::{Machine, Samples, Sheet};
use aforo_bench::{Instructions, Memory, NAMES, Nanoseconds, Workload, of_limiter};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["time", name, workload, threads] => time(name, workload, threads),
        ["memory", name] => match of_limiter(name, &Memory) {
            Some((bytes, kept)) => println!("{bytes} {kept}"),
            None => usage(),
        },
        ["instructions", name, requests] => {
            let requests = requests.parse().unwrap_or(0);
            if of_limiter(name, &Instructions { requests }).is_none() {
                usage();
            }
        }
        ["--callgrind"] => {
            for (name, instructions) in instructions(&own_path()) {
                println!("{name}: {instructions:.0} instructions a request");
            }
        }
        _ => table(&words),
    }
}

fn usage() {
    eprintln!("usage: in_process [--rounds N] [--out FILE.md] | --callgrind");
    std::process::exit(2);
}

fn time(name: &str, workload: &str, threads: &str) {
    let workload = Workload::ALL.into_iter().find(|one| one.name() == workload);
    let threads = threads.parse().unwrap_or(1);
    match workload.and_then(|workload| of_limiter(name, &Nanoseconds { workload, threads })) {
        Some(nanoseconds) => println!("{nanoseconds}"),
        None => usage(),
    }
}

fn own_path() -> PathBuf {
    std::env::current_exe().expect("a program has a path")
}

/// Runs a measurement in a new process, and reads its numbers.
fn numbers(program: &Path, arguments: &[&str]) -> Vec<f64> {
    let output = Command::new(program).args(arguments).stderr(Stdio::inherit()).output();
    let output = output.unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    let text = String::from_utf8_lossy(&output.stdout);
    text.split_whitespace().filter_map(|number| number.parse().ok()).collect()
}

fn table(words: &[&str]) {
    let value = |name: &str| words.iter().position(|word| *word == name).and_then(|at| words.get(at + 1));
    let rounds = value("--rounds").and_then(|rounds| rounds.parse().ok()).unwrap_or(5);
    let own = own_path();
    let mut plan = Vec::new();
    for name in NAMES {
        for workload in Workload::ALL {
            plan.extend([1, 2].map(|threads| (name, workload, threads)));
        }
    }
    let mut samples = Samples::default();
    for round in 0..rounds {
        aforo_bench::report::shuffle(&mut plan, round);
        for (done, &(name, workload, threads)) in plan.iter().enumerate() {
            eprint!("\rround {} of {rounds}: {done} of {}   ", round + 1, plan.len());
            let found = numbers(&own, &["time", name, workload.name(), &threads.to_string()]);
            samples.add(name, workload, threads, found.first().copied().unwrap_or(f64::NAN));
        }
    }
    eprintln!();
    let allocations = own.with_file_name("allocations");
    let limiters = &NAMES[2..];
    let of_each = |program: &Path, command: &[&str]| -> BTreeMap<&str, Vec<f64>> {
        limiters.iter().map(|&name| (name, numbers(program, &[command, &[name]].concat()))).collect()
    };
    let sheet = Sheet {
        machine: Machine::here(),
        rounds,
        samples,
        memory: of_each(&own, &["memory"]),
        allocations: of_each(&allocations, &[]),
        instructions: instructions(&own),
    };
    let markdown = sheet.to_string();
    print!("{markdown}");
    if let Some(file) = value("--out") {
        std::fs::write(file, markdown).unwrap_or_else(|error| panic!("{file}: {error}"));
    }
}

/// Instructions a request for a hot key: the difference of two runs, counted within the loop alone, so that neither
/// start nor the calibration of a clock is in it. Empty without valgrind.
fn instructions(own: &Path) -> BTreeMap<&'static str, f64> {
    const FEW: usize = 20_000;
    const MANY: usize = 120_000;
    let count = |name: &str, requests: usize| {
        let output = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=*measured_requests*"])
            .arg(own)
            .args(["instructions", name, &requests.to_string()])
            .output()
            .ok()?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let collected = text.split("Collected :").nth(1)?.split_whitespace().next()?.parse::<f64>().ok()?;
        Some(collected)
    };
    let difference = |name| Some((count(name, MANY)? - count(name, FEW)?) / (MANY - FEW) as f64);
    NAMES.into_iter().filter_map(|name| Some((name, difference(name)?))).collect()
}
