//! Servers and clients that we did not write.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::support::{Gateway, eventually, lossy, run};

/// A program that ends with the test, and its directory.
struct Stranger {
    process: Child,
    directory: PathBuf,
}

impl Stranger {
    fn start(program: &str, package: &str, directory: PathBuf, arguments: &[&str]) -> Self {
        let command = Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let process = match command {
            Ok(process) => process,
            Err(error) => panic!("{program}: {error}; install it with: apt-get install -y {package}"),
        };
        Self { process, directory }
    }

    fn await_port(&self, address: SocketAddr) {
        eventually("the server listens", || std::net::TcpStream::connect(address).is_ok());
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

fn directory(name: &str) -> PathBuf {
    let directory = std::env::temp_dir().join(format!("aforo-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

/// Bytes that do not repeat soon.
fn write_noise(file: &Path, size: usize) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let bytes: Vec<u8> = (0..size)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        })
        .collect();
    std::fs::write(file, bytes).unwrap();
}

fn curl(arguments: &[&str]) -> std::process::Output {
    run("curl", "curl", arguments)
}

#[test]
fn files_of_pythons_server_come_through_unharmed() {
    let directory = directory("python");
    let port = crate::support::closed_port();
    write_noise(&directory.join("file"), 3_000_000);
    let root = directory.clone();
    let server = Stranger::start(
        "python3",
        "python3",
        directory.clone(),
        &["-m", "http.server", &port.port().to_string(), "--bind", "127.0.0.1", "--directory", root.to_str().unwrap()],
    );
    server.await_port(port);
    let gateway = Gateway::before(port);
    for arguments in [&["-sS", "--http1.1"][..], &["-sS", "--http1.0"][..], &["-sS", "--http2-prior-knowledge"][..]] {
        let copy = directory.join("copy");
        let url = gateway.url("/file");
        let output = curl(&[arguments, &["-o", copy.to_str().unwrap(), &url]].concat());
        assert!(output.status.success(), "{arguments:?}: {}", lossy(&output.stderr));
        assert!(std::fs::read(&copy).unwrap() == std::fs::read(directory.join("file")).unwrap(), "{arguments:?}");
    }
    let missing = curl(&["-sS", "-o", "/dev/null", "-w", "%{http_code}", &gateway.url("/none")]);
    assert_eq!(lossy(&missing.stdout), "404");
}

fn nginx(name: &str) -> (Stranger, SocketAddr, PathBuf) {
    let directory = directory(name);
    let port = crate::support::closed_port();
    let root = directory.display();
    let configuration = format!(
        "daemon off; master_process off; pid {root}/pid; error_log {root}/error.log;
         events {{ worker_connections 512; }}
         http {{
           access_log off; client_max_body_size 2g; client_body_temp_path {root}/body; proxy_temp_path {root}/proxy;
           fastcgi_temp_path {root}/fastcgi; uwsgi_temp_path {root}/uwsgi; scgi_temp_path {root}/scgi;
           server {{
             listen {port}; root {root}/www;
             dav_methods PUT; create_full_put_path on;
             location /hello {{ return 200 'hello'; }}
           }}
         }}"
    );
    std::fs::create_dir(directory.join("www")).unwrap();
    let file = directory.join("nginx.conf");
    std::fs::write(&file, configuration).unwrap();
    let program = if Path::new("/usr/sbin/nginx").exists() { "/usr/sbin/nginx" } else { "nginx" };
    let server = Stranger::start(program, "nginx-light", directory.clone(), &["-c", file.to_str().unwrap()]);
    server.await_port(port);
    (server, port, directory)
}

#[test]
fn nginx_answers_through_the_gateway() {
    let (_server, port, _directory) = nginx("nginx");
    let gateway = Gateway::before(port);
    for arguments in [&["-sS"][..], &["-sS", "--http2-prior-knowledge"][..], &["-sS", "-I"][..]] {
        let url = gateway.url("/hello");
        let output = curl(&[arguments, &[&url]].concat());
        let shown = lossy(&output.stdout);
        assert!(shown == "hello" || shown.contains("200 OK") && shown.contains("content-length: 5"), "{shown}");
    }
    let load = run("h2load", "nghttp2-client", &["--h1", "-n", "5000", "-c", "32", &gateway.url("/hello")]);
    let shown = lossy(&load.stdout);
    assert!(shown.contains("5000 succeeded, 0 failed, 0 errored, 0 timeout"), "{shown}");
}

#[test]
fn a_large_body_goes_up_and_comes_down_unharmed() {
    let (_server, port, directory) = nginx("large");
    let gateway = Gateway::before(port);
    let file = directory.join("noise");
    write_noise(&file, 64 << 20);
    let url = gateway.url("/stored");
    let sent = curl(&["-sS", "-f", "-T", file.to_str().unwrap(), &url]);
    if !sent.status.success() {
        // A build of nginx without its WebDAV module cannot store; the way down is still tested.
        std::fs::copy(&file, directory.join("www/stored")).unwrap();
    }
    let copy = directory.join("copy");
    let fetched = curl(&["-sS", "-f", "-o", copy.to_str().unwrap(), &url]);
    assert!(fetched.status.success(), "{}", lossy(&fetched.stderr));
    assert!(std::fs::read(&copy).unwrap() == std::fs::read(&file).unwrap(), "the file was changed on its way");
}
