//! Several processes that take at the same moment.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use aforo_core::{Hit, Quota};
use aforo_testkit::eventually;
use tokio::runtime::Runtime;

use crate::asking::{MONTH, admitted, each_algorithm, hit, peek, store};

/// Takes of each process, all at once.
pub(crate) const TAKES: usize = 1_000;

/// What a process is told, by the environment.
const TASK: &str = "AFORO_FLEET_TASK";
const NUMBER: &str = "AFORO_FLEET_NUMBER";
const STORE: &str = "AFORO_FLEET_STORE";
const MEETING: &str = "AFORO_FLEET_MEETING";

/// What the processes take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Three rules that divide their quotas by the same fact.
    OneSubject,
    /// Three rules that divide them by different facts, which lie on different nodes of a Cluster of three.
    ThreeSubjects,
    /// One rule, of which every other process knows another version.
    TwoVersions,
}

impl Task {
    const ALL: [Task; 3] = [Task::OneSubject, Task::ThreeSubjects, Task::TwoVersions];

    /// The hits of each take of that process.
    pub(crate) fn hits(self, process: usize) -> Vec<Hit> {
        let [bucket, _, _, window, _] = each_algorithm(500, MONTH);
        let [.., log] = each_algorithm(700, MONTH);
        let window = Quota::counted_by(window.algorithm(), 600, MONTH).unwrap();
        match self {
            Task::OneSubject => vec![hit("a", "a", bucket), hit("b", "a", window), hit("c", "a", log)],
            Task::ThreeSubjects => vec![hit("a", "a", bucket), hit("b", "b", window), hit("c", "c", log)],
            Task::TwoVersions => {
                let [bucket, ..] = each_algorithm(if process.is_multiple_of(2) { 10 } else { 500 }, MONTH);
                vec![hit("a", "a", bucket)]
            }
        }
    }
}

/// Starts processes, has them take, and says how many takes each of them was granted.
pub(crate) fn sail(task: Task, url: &str, processes: usize) -> Vec<usize> {
    let meeting = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    meeting.set_nonblocking(true).unwrap();
    let port = meeting.local_addr().unwrap().port().to_string();
    let mut children: Vec<Child> = (0..processes)
        .map(|number| {
            Command::new(env::current_exe().unwrap())
                .args(["fleet::one_process_of_a_fleet", "--exact", "--ignored"])
                .envs([(TASK, &*format!("{task:?}")), (NUMBER, &number.to_string()), (STORE, url), (MEETING, &port)])
                .stdout(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    let mut lines: Vec<TcpStream> =
        (0..processes).map(|_| eventually("every process is ready", || Some(meeting.accept().ok()?.0))).collect();
    for line in &mut lines {
        line.set_nonblocking(false).unwrap();
        line.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        line.write_all(b"go\n").unwrap();
    }
    let granted = lines.into_iter().map(|line| read_line(line).parse().unwrap()).collect();
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    granted
}

#[test]
#[ignore = "one process of many: other tests start it, and tell it what to do"]
fn one_process_of_a_fleet() {
    let told = |name| env::var(name).unwrap();
    let task = told(TASK);
    let task = Task::ALL.into_iter().find(|known| format!("{known:?}") == task).unwrap();
    let hits = task.hits(told(NUMBER).parse().unwrap());
    Runtime::new().unwrap().block_on(async {
        let store = store(&told(STORE));
        let _ = peek(&store, &hits).await;
        let mut meeting = TcpStream::connect((Ipv4Addr::LOCALHOST, told(MEETING).parse().unwrap())).unwrap();
        assert_eq!(read_line(meeting.try_clone().unwrap()), "go");
        writeln!(meeting, "{}", admitted(&store, &hits, TAKES).await).unwrap();
    });
}

fn read_line(from: TcpStream) -> String {
    let mut line = String::new();
    BufReader::new(from).read_line(&mut line).unwrap();
    line.trim_end().to_owned()
}
