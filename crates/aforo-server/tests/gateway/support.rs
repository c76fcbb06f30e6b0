//! A gateway, an upstream that records, and a client that says exactly what it is told to say.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::num::NonZeroUsize;
use std::process::{Command, Output};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use aforo_server::gateway::{Running, Settings, bind};

/// Nothing in these tests takes this long, unless it hangs.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);

/// A gateway that ends with the test.
pub(crate) struct Gateway {
    running: Option<Running>,
    pub(crate) address: SocketAddr,
}

impl Gateway {
    pub(crate) fn before(upstream: SocketAddr) -> Self {
        Self::with(upstream, |_| {})
    }

    pub(crate) fn with(upstream: SocketAddr, change: impl FnOnce(&mut Settings)) -> Self {
        let upstream = format!("http://{upstream}").parse().expect("an address is an upstream");
        let mut settings = Settings::new(SocketAddr::from(([127, 0, 0, 1], 0)), vec![upstream]);
        settings.workers = NonZeroUsize::MIN;
        settings.drain = Duration::from_millis(100);
        change(&mut settings);
        Self::serve(&settings)
    }

    pub(crate) fn serve(settings: &Settings) -> Self {
        let running = bind(settings).expect("port 0 is free").serve(|forward| forward).expect("a worker starts");
        Self { address: running.address(), running: Some(running) }
    }

    pub(crate) fn connect(&self) -> Client {
        Client::connect(self.address)
    }

    /// Sends `bytes` on a connection of their own and returns all that comes until the gateway closes it.
    pub(crate) fn talk(&self, bytes: impl AsRef<[u8]>) -> String {
        let mut client = self.connect();
        client.send(bytes);
        client.rest()
    }

    /// Starts to stop, and goes on serving what is in flight.
    pub(crate) fn stop(&self) {
        self.running.as_ref().expect("it was not joined").stop();
    }

    pub(crate) fn join(mut self) {
        self.running.take().expect("it was not joined").join();
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            running.stop();
            running.join();
        }
    }
}

/// One connection, byte for byte: to the gateway, or from it.
pub(crate) struct Client(pub(crate) BufReader<TcpStream>);

/// A message as it was on the wire.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        Self::over(TcpStream::connect(address).expect("the gateway listens"))
    }

    pub(crate) fn over(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(DEADLINE)).expect("a socket takes a timeout");
        stream.set_write_timeout(Some(DEADLINE)).expect("a socket takes a timeout");
        stream.set_nodelay(true).expect("a socket takes an option");
        Self(BufReader::new(stream))
    }

    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.0.get_mut().write_all(bytes.as_ref()).expect("the other side reads");
    }

    /// Reads up to the end of the connection, whichever way it ends.
    pub(crate) fn rest(&mut self) -> String {
        let mut bytes = Vec::new();
        let end = self.0.read_to_end(&mut bytes);
        if let Err(error) = end {
            assert_ne!(error.kind(), std::io::ErrorKind::WouldBlock, "it stays open: {}", lossy(&bytes));
        }
        lossy(&bytes)
    }

    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).expect("a line comes");
        line
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.0.read_exact(&mut bytes).expect("the bytes come");
        bytes
    }

    /// Reads the head of a message; `None` if the connection ended before it.
    pub(crate) fn head(&mut self) -> Option<String> {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            match self.0.read_line(&mut head) {
                Ok(1..) => {}
                Ok(0) if head.is_empty() => return None,
                end => panic!("the head ends early ({end:?}): {head:?}"),
            }
        }
        Some(head)
    }

    /// Reads a message; a chunked body is left as it is on the wire.
    pub(crate) fn message(&mut self) -> Option<Message> {
        let head = self.head()?;
        let mut body = Vec::new();
        if let Some(length) = field(&head, "content-length") {
            body = self.bytes(length.parse().expect("a length is a number"));
        } else if field(&head, "transfer-encoding").is_some() {
            // The last chunk, the trailers, an empty line.
            let mut last = false;
            loop {
                let line = self.line();
                body.extend_from_slice(line.as_bytes());
                if last && line == "\r\n" {
                    break;
                }
                if !last {
                    let size = usize::from_str_radix(line.trim_end(), 16).expect("a chunk has a size");
                    last = size == 0;
                    if !last {
                        body.extend(self.bytes(size + 2));
                    }
                }
            }
        }
        Some(Message { head, body })
    }

    pub(crate) fn expect(&mut self) -> Message {
        self.message().expect("a message comes")
    }
}

impl Message {
    pub(crate) fn text(&self) -> String {
        lossy(&self.body)
    }

    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        field(&self.head, name)
    }
}

/// The value of a field in a head.
pub(crate) fn field<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().filter_map(|line| line.split_once(": ")).find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v)
}

pub(crate) fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// An upstream that does `answer` with each connection, on a thread of its own.
pub(crate) fn upstream(answer: impl Fn(Client) + Clone + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("port 0 is free");
    let address = listener.local_addr().expect("it is bound");
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let answer = answer.clone();
            std::thread::spawn(move || answer(Client::over(stream)));
        }
    });
    address
}

/// An upstream that records every request as it arrived and gives each the same response.
pub(crate) fn recorder(response: impl Into<String>) -> (SocketAddr, Records) {
    let (sender, receiver) = channel();
    let response = response.into();
    let address = upstream(move |mut client| {
        while let Some(message) = client.message() {
            let _ = sender.send(message);
            client.send(&response);
        }
    });
    (address, Records(receiver))
}

/// What a recorder saw.
pub(crate) struct Records(Receiver<Message>);

impl Records {
    pub(crate) fn next(&self) -> Message {
        self.0.recv_timeout(DEADLINE).expect("a request reaches the upstream")
    }

    pub(crate) fn assert_empty(&self) {
        if let Ok(message) = self.0.try_recv() {
            panic!("nothing may reach the upstream, but this did: {message:?}");
        }
    }
}

pub(crate) const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// A port on which nobody listens.
pub(crate) fn closed_port() -> SocketAddr {
    TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr()).expect("port 0 is free")
}

/// A listener whose queue is full, so that further handshakes wait; it lives as long as what comes with it.
pub(crate) fn full_queue() -> (SocketAddr, impl Sized) {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).expect("a socket");
    socket.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).expect("port 0 is free");
    socket.listen(0).expect("it is bound");
    let address = socket.local_addr().ok().and_then(|address| address.as_socket()).expect("it is bound");
    let patience = Duration::from_millis(300);
    let queue: Vec<_> = (0..4).map_while(|_| TcpStream::connect_timeout(&address, patience).ok()).collect();
    (address, (socket, queue))
}

/// Two ends of a promise between a test and its upstream.
pub(crate) fn signal<T: Send>() -> (Sender<T>, Wait<T>) {
    let (sender, receiver) = channel();
    (sender, Wait(receiver))
}

pub(crate) struct Wait<T>(Receiver<T>);

impl<T> Wait<T> {
    pub(crate) fn wait(&self) -> T {
        self.0.recv_timeout(DEADLINE).expect("the signal comes")
    }
}

/// Waits until `done` says so.
pub(crate) fn eventually(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < DEADLINE, "this never happened: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Runs a program of the system to its end.
pub(crate) fn run(program: &str, package: &str, arguments: &[&str]) -> Output {
    match Command::new(program).args(arguments).output() {
        Ok(output) => output,
        Err(error) => panic!("{program}: {error}; install it with: apt-get install -y {package}"),
    }
}
