//! A program that runs, an API behind it, and requests as bytes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use socket2::{Domain, Socket, Type};

/// How long anything may take before a test gives up.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);

pub(crate) fn aforo() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_aforo"));
    command.env_remove("RUST_LOG").stdin(Stdio::null());
    command
}

/// Runs a command to its end.
pub(crate) fn run(arguments: &[&str]) -> Output {
    aforo().args(arguments).output().unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A folder of its own for each test, removed with it.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Folder {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("aforo-test-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Looks again and again until it is so.
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + DEADLINE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "not within {DEADLINE:?}: {what}");
        std::thread::yield_now();
    }
}

/// A running aforo.
pub(crate) struct Program {
    child: Child,
    pub(crate) gateway: SocketAddr,
    pub(crate) admin: Option<SocketAddr>,
    log: Receiver<String>,
}

impl Program {
    /// Starts `aforo` with these arguments and waits for its listeners.
    pub(crate) fn start(arguments: &[&str]) -> Program {
        Program::start_as(aforo().args(arguments))
    }

    /// A gateway and an admin listener on free ports, under the policy in `folder`.
    pub(crate) fn under(policy: &Path) -> Program {
        Program::start(&["serve", "--config", policy.to_str().unwrap()])
    }

    pub(crate) fn start_as(command: &mut Command) -> Program {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let said = lines(child.stdout.take().unwrap());
        let log = lines(child.stderr.take().unwrap());
        let address = |what: &str| {
            let line = said
                .recv_timeout(DEADLINE)
                .unwrap_or_else(|_| panic!("no {what}: {:?}", log.try_iter().collect::<Vec<_>>()));
            let (before, address) = line.split_once("://").unwrap();
            assert!(before.starts_with(&format!("aforo: {what} listening on http")), "{line}");
            address.parse().unwrap()
        };
        let gateway = address("gateway");
        let off = command.get_args().any(|argument| argument == "off");
        let admin = (!off).then(|| address("admin"));
        Program { child, gateway, admin, log }
    }

    /// The gateway of this program, as a URL.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.gateway)
    }

    pub(crate) fn admin(&self) -> SocketAddr {
        self.admin.unwrap()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, name: &str) {
        let done = Command::new("kill").args([&format!("-{name}"), &self.pid().to_string()]).status().unwrap();
        assert!(done.success());
    }

    /// Waits for a line of the log.
    pub(crate) fn logs(&self, part: &str) -> String {
        let deadline = Instant::now() + DEADLINE;
        while let Ok(line) = self.log.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            if line.contains(part) {
                return line;
            }
        }
        panic!("no line of the log has {part:?}")
    }

    /// Waits for the end and tells its status.
    pub(crate) fn end(&mut self) -> Option<i32> {
        until("the program has ended", || self.child.try_wait().unwrap()).code()
    }

    pub(crate) fn status(&self) -> serde_json::Value {
        Request::get("/api/v1/status").to(self.admin()).json()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The lines of a stream as they come; the thread ends with the stream.
fn lines(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            // Where nobody listens it is read all the same, or the program would wait for room in the pipe.
            let _ = send.send(line);
        }
    });
    receive
}

/// An API that answers every request with 200 and a few bytes.
pub(crate) struct Api {
    pub(crate) address: SocketAddr,
}

impl Api {
    pub(crate) fn start() -> Api {
        Api::saying("", "passed\n")
    }

    /// One whose responses have these fields, each with the end of its line, and this body.
    pub(crate) fn saying(fields: &str, body: &str) -> Api {
        let response = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n{fields}\r\n{body}", body.len());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let response = response.clone();
                std::thread::spawn(move || answer(stream, &response));
            }
        });
        Api { address }
    }

    /// The head of a policy that puts a gateway on free ports before this API.
    pub(crate) fn gateway(&self) -> String {
        format!(
            "gateway: {{ listen: 127.0.0.1:0, upstream: http://{}, workers: 1 }}\nadmin: {{ listen: 127.0.0.1:0 }}\n",
            self.address
        )
    }
}

fn answer(stream: TcpStream, response: &str) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut writer = stream;
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            match reader.read_line(&mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        if writer.write_all(response.as_bytes()).is_err() {
            return;
        }
    }
}

/// A request to be sent on a connection of its own.
pub(crate) struct Request {
    head: String,
    body: String,
    from: IpAddr,
}

impl Request {
    pub(crate) fn get(target: &str) -> Request {
        Request::new("GET", target)
    }

    pub(crate) fn post(target: &str) -> Request {
        Request::new("POST", target)
    }

    pub(crate) fn new(method: &str, target: &str) -> Request {
        let head = format!("{method} {target} HTTP/1.1\r\nconnection: close\r\n");
        Request { head, body: String::new(), from: Ipv4Addr::LOCALHOST.into() }
    }

    /// Sent from that address of this machine: 127.0.0.2, say.
    pub(crate) fn from(self, address: &str) -> Request {
        Request { from: address.parse().unwrap(), ..self }
    }

    pub(crate) fn with(mut self, field: &str) -> Request {
        self.head.push_str(field);
        self.head.push_str("\r\n");
        self
    }

    pub(crate) fn to(self, address: SocketAddr) -> Seen {
        self.try_to(address).unwrap()
    }

    pub(crate) fn try_to(self, address: SocketAddr) -> std::io::Result<Seen> {
        let mut stream = connect(self.from, address)?;
        stream.set_read_timeout(Some(DEADLINE))?;
        let host = if self.head.to_ascii_lowercase().contains("\r\nhost:") {
            String::new()
        } else {
            format!("host: {address}\r\n")
        };
        let length = if self.head.starts_with("POST") {
            format!("content-length: {}\r\n", self.body.len())
        } else {
            String::new()
        };
        write!(stream, "{}{host}{length}\r\n{}", self.head, self.body)?;
        let mut all = Vec::new();
        stream.read_to_end(&mut all)?;
        Seen::of(&String::from_utf8_lossy(&all)).ok_or_else(|| std::io::Error::other("no response"))
    }
}

/// Connects from that address.
fn connect(from: IpAddr, to: SocketAddr) -> std::io::Result<TcpStream> {
    let socket = Socket::new(Domain::for_address(to), Type::STREAM, None)?;
    socket.bind(&SocketAddr::new(from, 0).into())?;
    socket.connect(&to.into())?;
    Ok(socket.into())
}

/// A response.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
}

impl Seen {
    fn of(text: &str) -> Option<Seen> {
        let (head, body) = text.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        Some(Seen { status, head: head.to_owned(), body: body.to_owned() })
    }

    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (field, value) = line.split_once(':')?;
            field.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}
