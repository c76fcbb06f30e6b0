//! `serve`: ports, overrides, strangers' servers behind, and the end.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;

use crate::stand::{Api, DEADLINE, Folder, Program, Request, aforo, run, text};

#[test]
fn an_upstream_is_all_it_takes() {
    let api = Api::start();
    let upstream = format!("http://{}", api.address);
    let folder = Folder::new();
    let mut command = aforo();
    command.args(["serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--upstream", &upstream]);
    let program = Program::start_as(command.current_dir(folder.path("")));
    let seen = Request::get("/").to(program.gateway);
    assert_eq!((seen.status, seen.body.as_str()), (200, "passed\n"));
    assert_eq!(seen.field("ratelimit-policy"), Some(r#""client";q=100;w=5"#));
}

#[test]
fn a_call_overrides_the_file() {
    let (api, folder) = (Api::start(), Folder::new());
    let file = folder.write(
        "policy.yaml",
        "gateway: { listen: 127.0.0.1:1, upstream: http://127.0.0.1:1 }\nrules: { each: { quota: 5/s } }\n",
    );
    let upstream = format!("http://{}", api.address);
    let program = Program::start(&[
        "serve",
        "--config",
        file.to_str().unwrap(),
        "--listen",
        "127.0.0.1:0",
        "--admin",
        "off",
        "--upstream",
        &upstream,
        "--store",
        "memory",
    ]);
    assert_eq!(Request::get("/").to(program.gateway).status, 200);
}

#[test]
fn a_port_that_is_taken_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for arguments in [["--listen", &address, "--admin", "off"], ["--listen", "127.0.0.1:0", "--admin", &address]] {
        let ended = aforo().args(["serve", "--upstream", "http://127.0.0.1:1"]).args(arguments).output().unwrap();
        assert_eq!(ended.status.code(), Some(1));
        let said = text(&ended.stderr);
        assert!(said.contains(&address) && said.contains("taken"), "{said}");
    }
}

#[test]
fn nothing_to_serve_is_a_fault_of_the_call() {
    let folder = Folder::new();
    let ended = aforo().arg("serve").current_dir(folder.path("")).output().unwrap();
    assert_eq!(ended.status.code(), Some(2));
    assert!(text(&ended.stderr).contains("--upstream"));
    let file = folder.write("policy.yaml", "rules: { each: { quota: 5/s } }\n");
    let ended = run(&["serve", "--config", file.to_str().unwrap()]);
    assert_eq!(ended.status.code(), Some(1), "a policy without a door");
    assert!(text(&ended.stderr).contains("gateway"));
    for (argument, value) in [("--store", "etcd://127.0.0.1"), ("--upstream", "https://a"), ("--admin", "0.0.0.0:0")] {
        let ended = run(&["serve", "--listen", "127.0.0.1:0", "--upstream", "http://127.0.0.1:1", argument, value]);
        assert_eq!(ended.status.code(), Some(2), "{argument} {value}: {}", text(&ended.stderr));
    }
}

#[test]
fn a_mistake_opens_no_port() {
    let folder = Folder::new();
    let file = folder.write(
        "policy.yaml",
        "gateway: { listen: 127.0.0.1:0, upstream: http://127.0.0.1:1 }\nrules: { a: { quota: x } }\n",
    );
    let ended = run(&["serve", "--config", file.to_str().unwrap()]);
    assert_eq!(ended.status.code(), Some(1));
    assert_eq!(text(&ended.stdout), "");
    assert!(text(&ended.stderr).contains("policy.yaml:2:"));
}

#[test]
fn a_server_of_python_stands_behind() {
    let folder = Folder::new();
    folder.write("hello.txt", "hello from python\n");
    let mut python = Command::new("python3")
        .args(["-u", "-m", "http.server", "0", "--bind", "127.0.0.1"])
        .current_dir(folder.path(""))
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("python3: apt-get install python3");
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(python.stdout.take().unwrap()), &mut line).unwrap();
    let port = line.split(" port ").nth(1).and_then(|rest| rest.split_whitespace().next()).unwrap().to_owned();
    let policy = format!(
        "gateway: {{ listen: 127.0.0.1:0, upstream: \"http://127.0.0.1:{port}\" }}\nadmin: {{ listen: 127.0.0.1:0 }}\nrules: {{ each: {{ quota: 2/h }} }}\n"
    );
    let program = Program::under(&folder.write("policy.yaml", &policy));
    let curl = |path: &str| {
        let output = Command::new("curl")
            .args(["-s", "-o", "-", "-w", "%{http_code}", &program.url(path)])
            .output()
            .expect("curl: apt-get install curl");
        text(&output.stdout)
    };
    assert_eq!(curl("/hello.txt"), "hello from python\n200");
    assert!(curl("/nothing").ends_with("404"));
    assert!(curl("/hello.txt").ends_with("429"), "two an hour, whatever the server answered");
    let _ = python.kill();
    let _ = python.wait();
}

#[test]
fn sigterm_lets_a_request_in_flight_finish() {
    // An upstream that answers when it is told to.
    let upstream = TcpListener::bind("127.0.0.1:0").unwrap();
    let folder = Folder::new();
    let policy = format!(
        "gateway: {{ listen: 127.0.0.1:0, upstream: http://{} }}\nadmin: {{ listen: 127.0.0.1:0 }}\nrules: {{ each: {{ quota: 9/s }} }}\n",
        upstream.local_addr().unwrap()
    );
    let mut program = Program::under(&folder.write("policy.yaml", &policy));
    let mut client = TcpStream::connect(program.gateway).unwrap();
    client.set_read_timeout(Some(DEADLINE)).unwrap();
    client.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").unwrap();
    let (mut behind, _) = upstream.accept().unwrap();
    let mut head = [0; 1024];
    assert!(behind.read(&mut head).unwrap() > 0);
    program.signal("TERM");
    program.logs("draining");
    behind.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ndone").unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("done"), "{answer}");
    assert_eq!(program.end(), Some(0));
}

#[test]
fn an_upstream_that_is_down_is_a_502_and_no_refusal() {
    let folder = Folder::new();
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let policy = format!(
        "gateway: {{ listen: 127.0.0.1:0, upstream: http://{gone} }}\nadmin: {{ listen: 127.0.0.1:0 }}\nrules: {{ each: {{ quota: 2/h }} }}\n"
    );
    let program = Program::under(&folder.write("policy.yaml", &policy));
    let seen = Request::get("/").to(program.gateway);
    assert_eq!(seen.status, 502);
    assert_eq!(seen.field("content-type"), Some("application/problem+json"));
    assert!(!seen.body.contains(&gone.port().to_string()), "the inside is nobody's business: {}", seen.body);
    assert_eq!(seen.field("x-ratelimit-remaining"), Some("1"), "it was counted, and says so");
    program.logs("no upstream can be reached");
}

#[test]
fn a_second_ctrl_c_does_not_wait() {
    let upstream = TcpListener::bind("127.0.0.1:0").unwrap();
    let folder = Folder::new();
    let policy = format!(
        "gateway: {{ listen: 127.0.0.1:0, upstream: http://{}, drain: 1h }}\nadmin: {{ listen: 127.0.0.1:0 }}\nrules: {{ each: {{ quota: 9/s }} }}\n",
        upstream.local_addr().unwrap()
    );
    let mut program = Program::under(&folder.write("policy.yaml", &policy));
    let mut client = TcpStream::connect(program.gateway).unwrap();
    client.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").unwrap();
    let (mut behind, _) = upstream.accept().unwrap();
    assert!(behind.read(&mut [0; 1024]).unwrap() > 0);
    program.signal("INT");
    program.logs("draining");
    program.signal("INT");
    assert_eq!(program.end(), Some(0));
}

/// A gateway that refuses everything, before an API that nobody reaches.
fn refusing(folder: &Folder) -> Program {
    let policy = Api::start().gateway() + "rules: { none: { quota: 0/s } }\n";
    Program::under(&folder.write("policy.yaml", &policy))
}

fn read_response(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length =
                head.lines().find_map(|line| line.strip_prefix("content-length: ")).map_or(0, |n| n.parse().unwrap());
            if body.len() >= length {
                return text;
            }
        }
        let read = stream.read(&mut buffer).unwrap();
        assert!(read > 0, "the connection ended within: {text}");
        bytes.extend_from_slice(&buffer[..read]);
    }
}

#[test]
fn a_refused_upload_is_read_so_that_its_client_reads_the_refusal() {
    let folder = Folder::new();
    let program = refusing(&folder);
    let mut stream = TcpStream::connect(program.gateway).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    for size in [5_000, 200_000, 2_000_000] {
        write!(stream, "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: {size}\r\n\r\n").unwrap();
        // Until all is sent nothing is read, as most clients do it.
        stream.write_all(&vec![b'x'; size]).unwrap();
        assert!(read_response(&mut stream).starts_with("HTTP/1.1 429"));
    }
    stream.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").unwrap();
    assert!(read_response(&mut stream).starts_with("HTTP/1.1 429"), "the connection goes on");
}

#[test]
fn a_refusal_saves_an_upload_that_waits_to_be_asked_for() {
    let folder = Folder::new();
    let program = refusing(&folder);
    let mut stream = TcpStream::connect(program.gateway).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    stream.write_all(b"POST / HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 9\r\n\r\n").unwrap();
    assert!(read_response(&mut stream).starts_with("HTTP/1.1 429"), "not a 100");
}

#[test]
fn a_path_with_an_encoded_nul_is_refused() {
    let folder = Folder::new();
    let policy = Api::start().gateway() + "rules: { each: { quota: 9/s } }\n";
    let program = Program::under(&folder.write("policy.yaml", &policy));
    assert_eq!(Request::get("/auth/login%00").to(program.gateway).status, 400);
    assert_eq!(Request::get("/auth/login?q=%00").to(program.gateway).status, 200, "the query is the API's affair");
}
