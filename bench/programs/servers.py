"""The programs that are measured, and the upstream behind them: their configurations, their start, their end.

Each is given one worker, keeps its connections to the upstream open, and listens on a free port of the loopback.
"""

import os
import re
import resource
import shutil
import socket
import subprocess
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
WRK_LUA = Path(__file__).with_name("wrk.lua")
START_WITHIN = 10.0
SMALL_BODY = '{"status":"ok"}'
LARGE_BYTES = 100 * 1024
HUGE_BYTES = 4 * 2**20

# What a program does with a request: nothing; count it under its key, which is never used up; refuse a key after its
# first requests; allow fifty a second under each key.
PASS, KEYED, HOT, CROWD = "pass", "keyed", "hot", "crowd"


class Server:
    """A running program: the port it listens on, and the processes whose CPU and memory count."""

    def __init__(self, name, process, port, log):
        self.name, self.process, self.port, self.log = name, process, port, log

    def workers(self):
        """The processes that serve. nginx's master only waits for them."""
        return children(self.process.pid) or [self.process.pid]

    def cpu_seconds(self):
        ticks = os.sysconf("SC_CLK_TCK")
        return sum(sum(map(int, after_name(pid)[11:13])) for pid in self.workers()) / ticks

    def rss_bytes(self, peak=False):
        field = "VmHWM" if peak else "VmRSS"
        status = [Path(f"/proc/{pid}/status").read_text() for pid in self.workers()]
        return sum(int(re.search(rf"{field}:\s+(\d+)", text)[1]) for text in status) * 1024

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(START_WITHIN)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def after_name(pid):
    """The fields of /proc/PID/stat after the name, which may itself hold blanks: state, parent, …"""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def children(parent):
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if int(after_name(entry.name)[1]) == parent:
                found.append(int(entry.name))
        except (OSError, ValueError):
            continue
    return sorted(found)


# === Starting ===


def needed(program, package):
    """The path of a program, or the end with the line that installs it."""
    path = shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin")
    if path is None:
        raise SystemExit(f"{program} is missing: apt-get install {package}")
    return path


def raise_file_limit():
    """As many open files as the system lets us have; what we start inherits it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def spawn(name, command, folder, port=None):
    """Starts a program and waits until it listens; without a port, until it has said where."""
    log = folder / f"{name}.log"
    with open(log, "wb") as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=folder)
    server = Server(name, process, port, log)
    deadline = time.monotonic() + START_WITHIN
    while time.monotonic() < deadline and process.poll() is None:
        if server.port is None:
            said = re.search(r"gateway listening on https?://[^ ]*:(\d+)", log.read_text(errors="replace"))
            server.port = int(said[1]) if said else None
        elif answers(server.port):
            return server
        time.sleep(0.02)
    server.stop()
    raise SystemExit(f"{name} did not start: {' '.join(map(str, command))}\n{log.read_text(errors='replace')[-2000:]}")


def answers(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


# === nginx, as the upstream and as a proxy ===

NGINX = """
{user}
worker_processes 1;
worker_rlimit_nofile {files};
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log crit;
events {{ worker_connections {connections}; }}
http {{
    access_log off;
    keepalive_requests 1000000000;
    tcp_nodelay on;
    sendfile on;
    client_body_temp_path {folder}/client;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
{http}
}}
"""


def nginx(name, folder, http):
    folder = folder / name
    folder.mkdir()
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    user = "user root;" if os.geteuid() == 0 else ""
    config = folder / "nginx.conf"
    config.write_text(NGINX.format(folder=folder, http=http, user=user, files=files, connections=files - 100))
    command = [needed("nginx", "nginx-light"), "-p", folder, "-c", config, "-e", folder / "error.log"]
    return spawn(name, command, folder, int(re.search(r"listen 127\.0\.0\.1:(\d+)", http)[1]))


def upstream(folder):
    files = folder / "files"
    files.mkdir()
    (files / "large").write_bytes(os.urandom(LARGE_BYTES))
    (files / "huge").write_bytes(os.urandom(HUGE_BYTES))
    http = f"""
    server {{
        listen 127.0.0.1:{free_port()} backlog=4096;
        default_type application/json;
        location / {{ return 200 '{SMALL_BODY}'; }}
        location /large {{ root {files}; }}
        location /huge {{ root {files}; }}
    }}"""
    return nginx("upstream", folder, http)


def nginx_proxy(name, folder, upstream_port, mode):
    rate, burst = {PASS: (None, 0), KEYED: ("100000r/s", 1_000_000), HOT: ("1r/m", 1), CROWD: ("50r/s", 50)}[mode]
    zone = f"limit_req_zone $http_x_api_key zone=keys:32m rate={rate};" if rate else ""
    limit = f"limit_req zone=keys burst={burst} nodelay; limit_req_status 429;" if rate else ""
    http = f"""
    {zone}
    upstream api {{
        server 127.0.0.1:{upstream_port};
        keepalive 64;
        keepalive_requests 1000000000;
    }}
    server {{
        listen 127.0.0.1:{free_port()} backlog=4096;
        location / {{
            {limit}
            proxy_pass http://api;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header Host $host;
            proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
            # Room for the large body, and no file for a larger one: the others do not spill to the disk either.
            proxy_buffers 16 16k;
            proxy_max_temp_file_size 0;
        }}
    }}"""
    return nginx(name, folder, http)


# === HAProxy ===

HAPROXY = """
global
    nbthread 1
    maxconn 4096
defaults
    mode http
    timeout connect 2s
    timeout client 60s
    timeout server 60s
    http-reuse always
    option http-keep-alive
frontend api
    bind 127.0.0.1:{port} backlog 4096
    option forwardfor
{limit}
    default_backend upstream
backend upstream
    server one 127.0.0.1:{upstream_port}
"""

HAPROXY_LIMIT = """
    stick-table type string len 32 size 200k expire 5m store http_req_rate(60s)
    http-request track-sc0 req.hdr(x-api-key)
    http-request deny deny_status 429 if {{ sc_http_req_rate(0) gt {rate} }}
"""


def haproxy_proxy(name, folder, upstream_port, mode):
    rate = {PASS: None, KEYED: 1_000_000_000, HOT: 1}[mode]
    limit = HAPROXY_LIMIT.format(rate=rate) if rate else ""
    port = free_port()
    config = folder / f"{name}.cfg"
    config.write_text(HAPROXY.format(port=port, upstream_port=upstream_port, limit=limit))
    return spawn(name, [needed("haproxy", "haproxy"), "-db", "-f", config], folder, port)


# === aforo ===

AFORO = """
gateway: {{ listen: 127.0.0.1:0, upstream: "http://127.0.0.1:{upstream_port}", workers: {workers} }}
admin: false
{rules}
"""


def aforo_proxy(name, folder, upstream_port, mode, program=None, workers=1):
    quota = {PASS: None, KEYED: "1000000/s", HOT: "1/h", CROWD: "50/s"}[mode]
    rules = f'rules: {{ keyed: {{ quota: {quota}, per: "header:x-api-key" }} }}' if quota else ""
    config = folder / f"{name}.yaml"
    config.write_text(AFORO.format(upstream_port=upstream_port, workers=workers, rules=rules))
    return spawn(name, [aforo_program(program), "serve", "--config", config], folder)


def aforo_program(path=None):
    """The release build, made now if it is not there."""
    if path is not None:
        if shutil.which(path) is None:
            raise SystemExit(f"--aforo {path}: there is no such program")
        return Path(path).resolve()
    built = REPOSITORY / "target/release/aforo"
    if not built.exists():
        build = ["cargo", "build", "--release", "--locked", "--package", "aforo-server"]
        subprocess.run(build, cwd=REPOSITORY, check=True)
    return built


PROXIES = {"aforo": aforo_proxy, "nginx": nginx_proxy, "haproxy": haproxy_proxy}
