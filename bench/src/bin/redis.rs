//! `redis`: what a decision in Redis costs, beside an empty script and one written by hand, on the same server.
//!
//! ```text
//! cargo build --release && target/release/redis [--rounds N] [--out FILE.md]
//! ```
//!
//! The server is started here, on a free port, and stopped at the end. Rounds are shuffled, and ratios are taken within a
//! round: machines change their speed from minute to minute.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::Command;
use std::time::{Duration, Instant};

use aforo_bench::report::{Machine, shuffle};
use aforo_core::{Hit, Hits, Key, Op, Quota, Store};
use aforo_redis::{RedisStore, Settings};
use aforo_testkit::servers::RedisServer;

const EMPTY: &str = "return 1";
const BY_HAND: &str = include_str!("../../scripts/gcra.lua");
/// Clients of redis-benchmark, and tasks that ask aforo's store over its two connections.
const CLIENTS: u32 = 64;
/// Keys that the traffic is spread over.
const KEYS: u32 = 100_000;
/// Plenty: nothing is refused unless that is what is measured.
const PLENTY: Quota = Quota::per_second(1_000_000);

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Subject {
    Empty(u32),
    ByHand(u32),
    Rules(u32),
    Flood,
}

/// One run.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// Answers a second.
    rate: f64,
    /// Microseconds of the server's processor to an answer.
    server: f64,
    /// The same of aforo's; of redis-benchmark it is not asked.
    client: f64,
    /// Answers to a call of the server.
    answers_per_call: f64,
}

impl Subject {
    const ALL: [Subject; 7] = [
        Subject::Empty(1),
        Subject::ByHand(1),
        Subject::Empty(16),
        Subject::ByHand(16),
        Subject::Rules(1),
        Subject::Rules(3),
        Subject::Flood,
    ];

    fn name(self) -> String {
        match self {
            Subject::Empty(pipeline) => format!("redis-benchmark, empty script, -P {pipeline}"),
            Subject::ByHand(pipeline) => format!("redis-benchmark, script by hand, -P {pipeline}"),
            Subject::Rules(1) => "aforo, one rule".to_owned(),
            Subject::Rules(rules) => format!("aforo, {rules} rules in one call"),
            Subject::Flood => "aforo, one client refused".to_owned(),
        }
    }

    fn run(self, server: &RedisServer, seconds: Duration) -> Run {
        server.command(&["FLUSHALL"]);
        match self {
            Subject::Empty(pipeline) => benchmark(server, pipeline, EMPTY, &["0"], seconds),
            Subject::ByHand(pipeline) => {
                let words = ["1", "hand:{__rand_int__}:rule", "1", "1000000"];
                benchmark(server, pipeline, BY_HAND, &words, seconds)
            }
            Subject::Rules(rules) => aforo(server, seconds, PLENTY, KEYS, rules),
            Subject::Flood => aforo(server, seconds, Quota::per_hour(1), 1, 1),
        }
    }
}

/// Microseconds of the processor that a process has used.
fn processor_time(process: u32) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |place: usize| fields.get(place).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    // User and system time, in hundredths of a second.
    (ticks(11) + ticks(12)) * 10_000.0
}

fn process_of(server: &RedisServer) -> u32 {
    server.report("server").get("process_id").and_then(|id| id.parse().ok()).unwrap_or(0)
}

fn calls_of(server: &RedisServer) -> f64 {
    let line = server.report("commandstats").get("cmdstat_evalsha").cloned().unwrap_or_default();
    let calls = line.split(',').find_map(|part| part.strip_prefix("calls="));
    calls.and_then(|calls| calls.parse().ok()).unwrap_or(0.0)
}

/// redis-benchmark for about so long.
fn benchmark(server: &RedisServer, pipeline: u32, script: &str, words: &[&str], seconds: Duration) -> Run {
    let digest = server.command(&["SCRIPT", "LOAD", script]).text();
    let process = process_of(server);
    // About what a server does in that time, so that runs of all kinds take alike.
    let requests = (seconds.as_secs_f64() * if pipeline > 1 { 150_000.0 } else { 80_000.0 }) as u64;
    let before = processor_time(process);
    let started = Instant::now();
    let status = Command::new("redis-benchmark")
        .args(["-h", "127.0.0.1", "-p", &server.port().to_string(), "-c", &CLIENTS.to_string()])
        .args(["-P", &pipeline.to_string(), "-n", &requests.to_string(), "-r", &KEYS.to_string(), "-q"])
        .args(["evalsha", &digest])
        .args(words)
        .output();
    let took = started.elapsed().as_secs_f64();
    assert!(status.is_ok_and(|output| output.status.success()), "redis-benchmark runs: apt-get install redis-tools");
    let requests = requests as f64;
    let server = (processor_time(process) - before) / requests;
    Run { rate: requests / took, server, client: f64::NAN, answers_per_call: 1.0 }
}

/// Tasks that ask one store, each as soon as it has its answer.
fn aforo(server: &RedisServer, seconds: Duration, quota: Quota, clients: u32, rules: u32) -> Run {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let process = process_of(server);
    runtime.block_on(async {
        let settings = Settings::new(server.url().parse().expect("an address")).timeout(Duration::from_secs(5));
        let store = RedisStore::new(settings);
        // The first answer also brings the script along.
        let _ = store.decide(Op::Take, &hits(0, quota, rules)).await.expect("an answer");
        let (before, own, calls) = (processor_time(process), processor_time(std::process::id()), calls_of(server));
        let started = Instant::now();
        let mut tasks = Vec::new();
        for task in 0..CLIENTS {
            let store = store.clone();
            tasks.push(tokio::spawn(async move {
                let (mut answers, mut number) = (0_u64, task);
                while started.elapsed() < seconds {
                    // A few at a time, for the clock is not free.
                    for _ in 0..16 {
                        number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                        let _ =
                            store.decide(Op::Take, &hits(number / 7 % clients, quota, rules)).await.expect("an answer");
                        answers += 1;
                    }
                    tokio::task::yield_now().await;
                }
                answers
            }));
        }
        let mut answers = 0.0;
        for task in tasks {
            answers += task.await.expect("a task ends") as f64;
        }
        let took = started.elapsed().as_secs_f64();
        Run {
            rate: answers / took,
            server: (processor_time(process) - before) / answers,
            client: (processor_time(std::process::id()) - own) / answers,
            answers_per_call: answers / (calls_of(server) - calls).max(1.0),
        }
    })
}

fn hits(client: u32, quota: Quota, rules: u32) -> Hits {
    let subject = format!("10.{}.{}.{}", client >> 16, client >> 8 & 255, client & 255);
    let names: [&[u8]; 3] = [b"short", b"medium", b"long"];
    let keys = names.into_iter().take(rules as usize).filter_map(|rule| Key::new(rule, subject.as_bytes()).ok());
    keys.map(|key| Hit::new(key, quota)).collect()
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| {
        let place = arguments.iter().position(|argument| argument == name)?;
        arguments.get(place + 1).cloned()
    };
    let rounds = value("--rounds").and_then(|rounds| rounds.parse().ok()).unwrap_or(5);
    let server = RedisServer::start();
    let mut runs: BTreeMap<Subject, Vec<Run>> = BTreeMap::new();
    for round in 0..rounds {
        let mut plan = Subject::ALL;
        shuffle(&mut plan, round);
        for subject in plan {
            eprintln!("round {} of {rounds}: {}", round + 1, subject.name());
            runs.entry(subject).or_default().push(subject.run(&server, Duration::from_secs(4)));
        }
    }
    let version = server.report("server").get("redis_version").cloned().unwrap_or_default();
    let page = page(&runs, rounds, &version);
    match value("--out") {
        Some(path) => std::fs::write(&path, page).unwrap_or_else(|error| panic!("{path}: {error}")),
        None => print!("{page}"),
    }
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

fn spread(numbers: Vec<f64>, digits: usize) -> String {
    let (least, most) =
        numbers.iter().fold((f64::MAX, f64::MIN), |(least, most), &one| (least.min(one), most.max(one)));
    if least.is_nan() || most < least {
        return "–".to_owned();
    }
    format!("{:.digits$} [{least:.digits$}–{most:.digits$}]", median(numbers))
}

fn page(runs: &BTreeMap<Subject, Vec<Run>>, rounds: u64, version: &str) -> String {
    let mut page = format!("# Decisions in Redis\n\n{} Redis {version} without persistence.\n", Machine::here());
    let _ = write!(
        page,
        "Median [least–most] of {rounds} shuffled rounds; {CLIENTS} clients of redis-benchmark, {CLIENTS} tasks on aforo's \
         two connections, on one thread, {KEYS} clients' keys. Written by `bench/src/bin/redis.rs`.\n\n\
         | | answers/s | server CPU µs an answer | aforo's CPU µs an answer | answers a call |\n|---|---|---|---|---|\n"
    );
    for (subject, runs) in runs {
        let of = |figure: fn(&Run) -> f64, digits| spread(runs.iter().map(figure).collect(), digits);
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} | {} |",
            subject.name(),
            of(|run| run.rate, 0),
            of(|run| run.server, 2),
            of(|run| run.client, 2),
            of(|run| run.answers_per_call, 1),
        );
    }
    page.push_str("\n## Ratios\n\nOf runs in the same round, the median of the rounds.\n\n| | to be reached | reached |\n|---|---|---|\n");
    let ratio = |subject: Subject, peer: Subject, figure: fn(&Run) -> f64| {
        let none = Vec::new();
        let (ours, theirs) = (runs.get(&subject).unwrap_or(&none), runs.get(&peer).unwrap_or(&none));
        median(ours.iter().zip(theirs).map(|(ours, theirs)| figure(ours) / figure(theirs)).collect())
    };
    let one = Subject::Rules(1);
    let rows = [
        ("answers/s, one rule / script by hand", "at least 0.8", ratio(one, Subject::ByHand(1), |run| run.rate)),
        ("server CPU, one rule / script by hand", "at most 1.15", ratio(one, Subject::ByHand(1), |run| run.server)),
        ("server CPU, three rules / one", "at most 2.2", ratio(Subject::Rules(3), one, |run| run.server)),
        ("answers/s, one rule / script by hand, -P 16", "–", ratio(one, Subject::ByHand(16), |run| run.rate)),
        ("server CPU, one rule / script by hand, -P 16", "–", ratio(one, Subject::ByHand(16), |run| run.server)),
        ("answers a call in a refused flood", "at least 100", ratio(Subject::Flood, one, |run| run.answers_per_call)),
    ];
    for (name, goal, reached) in rows {
        let _ = writeln!(page, "| {name} | {goal} | {reached:.2} |");
    }
    page
}
