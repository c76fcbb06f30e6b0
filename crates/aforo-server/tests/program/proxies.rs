//! Real proxies before the gateway. All tests count two requests an hour for each address; the clients are other
//! addresses of this machine.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use crate::stand::{Api, DEADLINE, Folder, Program, Request, Seen, until};

/// A proxy that ends with the test.
struct Proxy {
    process: Child,
    address: SocketAddr,
    _folder: Folder,
}

impl Proxy {
    /// Starts a program whose configuration is made of its folder and its address.
    fn start(program: &[&str], package: &str, configuration: impl Fn(&Folder, SocketAddr) -> String) -> Proxy {
        let folder = Folder::new();
        let address = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).unwrap();
        let file = folder.write("configuration", &configuration(&folder, address));
        // Where they are installed, for those who are not root.
        let path = format!("{}:/usr/sbin", std::env::var("PATH").unwrap_or_default());
        let command = Command::new("env")
            .arg(format!("PATH={path}"))
            .args(program)
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let mut proxy = Proxy { process: command.unwrap(), address, _folder: folder };
        until("the proxy listens", || {
            let ended = proxy.process.try_wait().unwrap();
            assert!(
                ended.is_none(),
                "{program:?} did not start: {ended:?}; install it with: apt-get install -y {package}"
            );
            TcpStream::connect(address).ok()
        });
        proxy
    }

    fn nginx(gateway: SocketAddr) -> Proxy {
        Proxy::start(&["nginx", "-c"], "nginx-light", |folder, address| {
            let root = folder.path("");
            let root = root.display();
            format!(
                "daemon off; master_process off; pid {root}/pid; error_log {root}/error.log;
                 events {{ worker_connections 512; }}
                 http {{
                   access_log off; client_body_temp_path {root}/body; proxy_temp_path {root}/proxy;
                   fastcgi_temp_path {root}/fastcgi; uwsgi_temp_path {root}/uwsgi; scgi_temp_path {root}/scgi;
                   server {{
                     listen {address};
                     location / {{
                       proxy_pass http://{gateway};
                       proxy_http_version 1.1;
                       proxy_set_header Connection '';
                       proxy_set_header Host $host;
                       proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
                       proxy_set_header X-Forwarded-Proto https;
                     }}
                   }}
                 }}"
            )
        })
    }

    fn haproxy(gateway: SocketAddr, mode: &str, sends: &str) -> Proxy {
        Proxy::start(&["haproxy", "-db", "-f"], "haproxy", |_, address| {
            format!(
                "defaults
                   mode {mode}
                   timeout connect 5s
                   timeout client 30s
                   timeout server 30s
                 listen api
                   bind {address}
                   server gateway {gateway} {sends}\n"
            )
        })
    }

    /// A request through it.
    fn get(&self, from: &str) -> Request {
        Request::get("/orders").from(from)
    }

    fn send(&self, request: Request) -> Seen {
        request.to(self.address)
    }

    /// Shows that each address has two requests, whatever it says about itself.
    fn tells_clients_apart(&self) {
        let statuses = |from: &str| [0, 1, 2].map(|_| self.send(self.get(from)).status);
        assert_eq!(statuses("127.0.0.2"), [200, 200, 429]);
        assert_eq!(statuses("127.0.0.3"), [200, 200, 429]);
        for forged in
            ["X-Forwarded-For: 127.0.0.9", "X-Forwarded-For: 127.0.0.9, 127.0.0.1", "Forwarded: for=127.0.0.9"]
        {
            let spoofing = self.send(self.get("127.0.0.2").with(forged));
            assert_eq!(spoofing.status, 429, "{forged}");
        }
        // Nor does it take anything from the client that it names.
        for _ in 0..3 {
            self.send(self.get("127.0.0.2").with("X-Forwarded-For: 127.0.0.4"));
        }
        assert_eq!(statuses("127.0.0.4"), [200, 200, 429]);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// An API that tells the head of each request that reaches it.
fn echo() -> (SocketAddr, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (send, receive) = channel();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
            let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
            let _ = send.send(head.join("\n").to_ascii_lowercase());
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        }
    });
    (address, receive)
}

const RULES: &str = "rules: { each: { quota: 2/h, algorithm: sliding-log, per: ip } }\n";

#[test]
fn clients_behind_nginx_are_told_apart() {
    let (api, folder) = (Api::start(), Folder::new());
    let policy = format!("{}client: {{ trusted_proxies: [127.0.0.1] }}\n{RULES}", api.gateway());
    let program = Program::under(&folder.write("aforo.yaml", &policy));
    Proxy::nginx(program.gateway).tells_clients_apart();
    // Whoever goes around the proxy is believed as little.
    let direct = || Request::get("/orders").from("127.0.0.5").with("X-Forwarded-For: 127.0.0.6");
    assert_eq!([0, 1, 2].map(|_| direct().to(program.gateway).status), [200, 200, 429]);
}

#[test]
fn an_api_is_told_by_a_trusted_proxy_how_it_was_asked_and_by_nobody_else() {
    let ((api, heads), folder) = (echo(), Folder::new());
    let policy = format!(
        "gateway: {{ listen: 127.0.0.1:0, upstream: http://{api}, workers: 1 }}\nadmin: {{ listen: 127.0.0.1:0 }}\n\
         client: {{ trusted_proxies: [127.0.0.1] }}\n{RULES}"
    );
    let program = Program::under(&folder.write("aforo.yaml", &policy));
    let proxy = Proxy::nginx(program.gateway);
    let head = |sent: Seen| {
        assert_eq!(sent.status, 200);
        heads.recv_timeout(DEADLINE).unwrap()
    };
    let through = head(proxy.send(proxy.get("127.0.0.2")));
    assert!(through.contains("\nx-forwarded-proto: https"), "{through}");
    assert!(through.contains("\nx-forwarded-for: 127.0.0.2, 127.0.0.1"), "{through}");
    let forged = Request::get("/orders").from("127.0.0.5").with("X-Forwarded-Proto: https");
    let direct = head(forged.to(program.gateway));
    assert!(direct.lines().any(|line| line == "x-forwarded-proto: http"), "{direct}");
}

#[test]
fn clients_behind_haproxy_are_told_apart_by_the_proxy_protocol() {
    let (api, folder) = (Api::start(), Folder::new());
    let gateway = api.gateway().replacen("workers: 1", "workers: 1, proxy_protocol: true", 1);
    let policy = folder.write("aforo.yaml", &format!("{gateway}{RULES}"));
    for (mode, sends) in [
        ("http", "send-proxy-v2"),
        ("tcp", "send-proxy-v2"),
        ("http", "send-proxy"),
        // What it may say beside the addresses, and a checksum over all of it.
        ("http", "send-proxy-v2 proxy-v2-options crc32c,unique-id,authority,ssl,cert-cn"),
    ] {
        let program = Program::under(&policy);
        Proxy::haproxy(program.gateway, mode, sends).tells_clients_apart();
    }
}

#[test]
fn a_proxy_before_a_balancer_is_believed_if_it_is_trusted() {
    let (api, folder) = (Api::start(), Folder::new());
    let gateway = api.gateway().replacen("workers: 1", "workers: 1, proxy_protocol: true", 1);
    let policy = format!("{gateway}client: {{ trusted_proxies: [127.0.0.8] }}\n{RULES}");
    let program = Program::under(&folder.write("aforo.yaml", &policy));
    let balancer = Proxy::haproxy(program.gateway, "tcp", "send-proxy-v2");
    let statuses = |from: &str, told: &str| {
        [0, 1, 2].map(|_| balancer.send(balancer.get(from).with(&format!("X-Forwarded-For: {told}"))).status)
    };
    assert_eq!(statuses("127.0.0.8", "203.0.113.5"), [200, 200, 429]);
    assert_eq!(statuses("127.0.0.8", "203.0.113.6"), [200, 200, 429]);
    // The balancer itself is no proxy that writes the header, so its address gives nobody a say.
    assert_eq!(statuses("127.0.0.1", "203.0.113.7"), [200, 200, 429]);
    assert_eq!(statuses("127.0.0.1", "203.0.113.8"), [429, 429, 429]);
}

#[test]
fn a_client_that_goes_around_the_proxy_is_not_served() {
    let (api, folder) = (Api::start(), Folder::new());
    let gateway = api.gateway().replacen("workers: 1", "workers: 1, proxy_protocol: true", 1);
    let program = Program::under(&folder.write("aforo.yaml", &format!("{gateway}{RULES}")));
    assert!(Request::get("/orders").try_to(program.gateway).is_err());
    let line = program.logs("PROXY protocol");
    assert!(line.contains("it does not begin with a header") && line.contains("127.0.0.1"), "{line}");
}
