//! The table, in Markdown.

use std::collections::BTreeMap;
use std::fmt;
use std::process::Command;

use crate::workload::Dice;
use crate::{NAMES, Workload};

/// Puts a plan into an order that depends on the round.
pub fn shuffle<T>(plan: &mut [T], round: u64) {
    let mut dice = Dice(round + 1);
    for index in (1..plan.len()).rev() {
        plan.swap(index, dice.below(index as u64 + 1) as usize);
    }
}

/// Nanoseconds a request: one number a round.
#[derive(Debug, Default)]
pub struct Samples(BTreeMap<(&'static str, &'static str, usize), Vec<f64>>);

impl Samples {
    /// Adds the number of a round.
    pub fn add(&mut self, name: &'static str, workload: Workload, threads: usize, nanoseconds: f64) {
        self.0.entry((name, workload.name(), threads)).or_default().push(nanoseconds);
    }

    fn of(&self, name: &'static str, workload: Workload, threads: usize) -> &[f64] {
        self.0.get(&(name, workload.name(), threads)).map_or(&[], Vec::as_slice)
    }
}

/// Where it was measured.
#[derive(Debug)]
pub struct Machine {
    date: String,
    processor: String,
    cores: usize,
    kernel: String,
    compiler: String,
}

impl Machine {
    /// This machine, today.
    pub fn here() -> Machine {
        let output = |program: &str, arguments: &[&str]| {
            let output = Command::new(program).args(arguments).output().map(|output| output.stdout);
            String::from_utf8_lossy(&output.unwrap_or_default()).trim().to_owned()
        };
        let processors = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = processors.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        Machine {
            date: output("date", &["-u", "+%F"]),
            processor: model.map_or("unknown", |(_, model)| model).to_owned(),
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            kernel: output("uname", &["-sr"]),
            compiler: output("rustc", &["--version"]),
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Machine { date, processor, cores, kernel, compiler } = self;
        write!(f, "{date}: {processor}, {cores} cores, {kernel}, {compiler}, release with LTO.")
    }
}

/// Everything that was found.
#[derive(Debug)]
pub struct Sheet {
    /// Where.
    pub machine: Machine,
    /// How many processes stand behind a figure.
    pub rounds: u64,
    /// Nanoseconds.
    pub samples: Samples,
    /// Bytes a key, and the part that is kept when idle.
    pub memory: BTreeMap<&'static str, Vec<f64>>,
    /// Allocations a request.
    pub allocations: BTreeMap<&'static str, Vec<f64>>,
    /// Instructions a request for a hot key.
    pub instructions: BTreeMap<&'static str, f64>,
}

fn sorted(numbers: &[f64]) -> Vec<f64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

fn median(numbers: &[f64]) -> f64 {
    sorted(numbers).get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

fn cell(numbers: &[f64]) -> String {
    match sorted(numbers)[..] {
        [] => "–".to_owned(),
        [least, .., most] => format!("{:.1} [{least:.1}–{most:.1}]", median(numbers)),
        [only] => format!("{only:.1}"),
    }
}

/// The version of a package that this program was built with.
fn version(package: &str) -> &'static str {
    let lock = include_str!("../Cargo.lock");
    let entry = lock.split("[[package]]").find(|entry| entry.contains(&format!("name = \"{package}\"\n")));
    entry.and_then(|entry| entry.split('"').nth(3)).unwrap_or("?")
}

impl fmt::Display for Sheet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Machine { date, processor, cores, kernel, compiler } = &self.machine;
        writeln!(f, "# Limiters in one process, {date}\n")?;
        writeln!(f, "{processor}, {cores} cores, {kernel}, {compiler}, release with LTO.")?;
        let packages = ["governor", "throttlecrab", "limitador"].map(|name| format!("{name} {}", version(name)));
        writeln!(f, "{}. Written by `bench/src/bin/in_process.rs`.\n", packages.join(", "))?;
        self.times(f)?;
        self.ratios(f)?;
        self.costs(f)
    }
}

impl Sheet {
    fn times(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "## Nanoseconds a request\n")?;
        writeln!(
            f,
            "Of a thread, with the making of a 20-byte key (the first row), for the fullest answer that a limiter \
             gives. One thread: time of the processor; two threads: time that passes, on a machine that had other work \
             too. Median [least–most] of {} processes, shuffled.\n",
            self.rounds
        )?;
        let columns = Workload::ALL.map(|workload| [1, 2].map(|threads| (workload, threads))).concat();
        write!(f, "| |")?;
        for (workload, threads) in &columns {
            let plural = if *threads == 1 { "" } else { "s" };
            write!(f, " {}, {threads} thread{plural} |", workload.name())?;
        }
        writeln!(f, "\n|---|{}", "---|".repeat(columns.len()))?;
        for name in NAMES {
            write!(f, "| {name} |")?;
            for &(workload, threads) in &columns {
                write!(f, " {} |", cell(self.samples.of(name, workload, threads)))?;
            }
            writeln!(f)?;
        }
        writeln!(f)
    }

    fn ratios(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "## aforo over governor\n\nMedian of the rounds' ratios; below 1, aforo is faster. *aforo* asks about one \
             rule, as governor does; *aforo, hits* asks as for a request that may meet several.\n"
        )?;
        let ours = ["aforo", "aforo, hits"];
        let columns = ours.map(|name| [1, 2].map(|threads| (name, threads))).concat();
        write!(f, "| |")?;
        for (name, threads) in &columns {
            let plural = if *threads == 1 { "" } else { "s" };
            write!(f, " {name}, {threads} thread{plural} |")?;
        }
        writeln!(f, "\n|---|{}", "---|".repeat(columns.len()))?;
        for workload in Workload::ALL {
            write!(f, "| {} |", workload.name())?;
            for &(name, threads) in &columns {
                let pairs = self.samples.of(name, workload, threads).iter();
                let pairs = pairs.zip(self.samples.of("governor", workload, threads));
                write!(f, " {:.2} |", median(&pairs.map(|(ours, theirs)| ours / theirs).collect::<Vec<_>>()))?;
            }
            writeln!(f)?;
        }
        if let Some(theirs) = self.instructions.get("governor") {
            let [one, hits] = ours.map(|name| self.instructions.get(name).map_or(f64::NAN, |ours| ours / theirs));
            writeln!(f, "| instructions, one hot key | {one:.2} | | {hits:.2} | |")?;
        }
        writeln!(f)
    }

    fn costs(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "## What else it costs\n")?;
        writeln!(
            f,
            "Instructions by callgrind, one hot key. Resident memory for a million keys of 20 bytes in use, and what is \
             left of it five seconds after they owe nothing, while a hundred others ask a hundred times a second and \
             nobody calls for a clean-up.\n"
        )?;
        writeln!(f, "| | instructions | allocations | bytes a key | kept when idle |\n|---|---|---|---|---|")?;
        for name in NAMES {
            let of =
                |column: &BTreeMap<_, Vec<f64>>, at: usize| column.get(name).and_then(|found| found.get(at).copied());
            let show = |found: Option<f64>, decimals: usize, unit: &str| {
                found.map_or("–".to_owned(), |found| format!("{found:.decimals$}{unit}"))
            };
            let instructions = show(self.instructions.get(name).copied(), 0, "");
            let allocations = show(of(&self.allocations, 0), 2, "");
            let bytes = show(of(&self.memory, 0), 1, "");
            let kept = show(of(&self.memory, 1).map(|kept| kept * 100.0), 0, " %");
            writeln!(f, "| {name} | {instructions} | {allocations} | {bytes} | {kept} |")?;
        }
        Ok(())
    }
}
