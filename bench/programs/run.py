#!/usr/bin/env python3
"""Whole programs side by side: aforo, nginx limit_req and HAProxy stick-tables before the same upstream.

    bench/programs/run.py                       all of it, about seven minutes; writes bench/results/
    bench/programs/run.py --only nginx,haproxy  some programs; prints, and writes nothing
    bench/programs/run.py --scenario hot        one scenario

What is measured, and what is not, stands in bench/README.md.
"""

import argparse
import os
import random
import re
import signal
import subprocess
import tempfile
import urllib.error
import urllib.request
from pathlib import Path
from typing import NamedTuple

import report
import servers
from servers import HOT, KEYED, PASS

CONNECTIONS = 32
REFUSAL_FIELDS = ["RateLimit", "RateLimit-Policy", "X-RateLimit-Limit", "X-RateLimit-Reset", "Retry-After"]


class Scenario(NamedTuple):
    name: str
    title: str
    mode: str
    path: str
    keys: int
    status: int


SCENARIOS = [
    Scenario("pass", "Small bodies, no limit", PASS, "/", 0, 200),
    Scenario("keyed", "Small bodies, 100,000 keys, all allowed", KEYED, "/", 100_000, 200),
    Scenario("hot", "One hot key, refused", HOT, "/", 0, 429),
    Scenario("large", "Bodies of 100 KiB, no limit", PASS, "/large", 0, 200),
]


class Run(NamedTuple):
    """One program under load once."""

    cpu_us: float  # CPU time of the program, a request
    rate: float  # requests a second
    p50_us: float
    p99_us: float
    refused: float  # share of the answers that are not 2xx or 3xx
    rss_mib: float


def wrk(server, scenario, seconds):
    url = f"http://127.0.0.1:{server.port}{scenario.path}"
    command = [servers.needed("wrk", "wrk"), "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "-s", servers.WRK_LUA]
    command += ["-H", "X-Api-Key: hot", url]
    environment = {**os.environ, "KEYS": str(scenario.keys)}
    output = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    numbers = re.search(r"NUMBERS (\d+) (\d+) (\d+) (\d+) (\d+) (\d+)", output)
    return [int(number) for number in numbers.groups()]


def measure(server, scenario, seconds):
    before = server.cpu_seconds()
    requests, duration_us, refused, broken, p50, p99 = wrk(server, scenario, seconds)
    cpu = server.cpu_seconds() - before
    if broken:
        said = server.log.read_text(errors="replace")[-2000:]
        raise SystemExit(f"{server.name}, {scenario.name}: {broken} connections broke\n{said}")
    expected = 1.0 if scenario.status >= 400 and server.name != "upstream" else 0.0
    share = refused / requests
    if abs(share - expected) > 0.01:
        raise SystemExit(f"{server.name}, {scenario.name}: {share:.1%} of the answers were not 2xx, not {expected:.0%}")
    return Run(cpu / requests * 1e6, requests / duration_us * 1e6, p50, p99, share, server.rss_bytes() / 2**20)


def probe(server, scenario):
    """One request beforehand: what is measured must be what the scenario says."""
    url = f"http://127.0.0.1:{server.port}{scenario.path}"
    request = urllib.request.Request(url, headers={"X-Api-Key": "hot"})
    for _ in range(3):
        try:
            answer = urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=5)
        except urllib.error.HTTPError as refusal:
            answer = refusal
        body = answer.read()
    if answer.status != scenario.status:
        raise SystemExit(f"{server.name}, {scenario.name}: status {answer.status}, not {scenario.status}")
    if scenario.path == "/large" and len(body) != servers.LARGE_BYTES:
        raise SystemExit(f"{server.name}, {scenario.name}: {len(body)} bytes, not {servers.LARGE_BYTES}")
    if server.name == "aforo" and scenario.mode == HOT:
        missing = [name for name in REFUSAL_FIELDS if not answer.headers[name]]
        if missing or b"violated-policies" not in body:
            raise SystemExit(f"aforo, {scenario.name}: refuses without {', '.join(missing) or 'the problem document'}")


def measure_scenario(scenario, names, upstream, options, folder):
    """Rounds in which every program has its turn, in another order each time: {program: [Run, …]}."""
    folder = folder / scenario.name
    folder.mkdir()
    running = []
    try:
        for name in names:
            start = servers.PROXIES[name]
            more = {"program": options.aforo} if name == "aforo" else {}
            running.append(start(name, folder, upstream.port, scenario.mode, **more))
        for server in running:
            probe(server, scenario)
            wrk(server, scenario, 2)
        rounds = {name: [] for name in ["upstream", *names]}
        for number in range(options.rounds):
            print(f"{scenario.name}: round {number + 1} of {options.rounds}", flush=True)
            for server in random.sample([upstream, *running], k=len(running) + 1):
                rounds[server.name].append(measure(server, scenario, options.seconds))
        return rounds
    finally:
        for server in running:
            server.stop()


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aforo", metavar="PROGRAM", help="default: target/release/aforo, built if it is missing")
    parser.add_argument("--only", metavar="NAME,…", default=",".join(servers.PROXIES), help="default: %(default)s")
    parser.add_argument("--scenario", metavar="NAME", choices=[scenario.name for scenario in SCENARIOS])
    parser.add_argument("--rounds", type=int, default=7, help="default: %(default)s")
    parser.add_argument("--seconds", type=int, default=3, help="of each run; default: %(default)s")
    parser.add_argument("--out", type=Path, help="default: bench/results/DATE-programs.md, if nothing was left out")
    return parser.parse_args()


def main():
    options = read_options()
    names = options.only.split(",")
    if unknown := set(names) - set(servers.PROXIES):
        raise SystemExit(f"unknown: {', '.join(unknown)}; there are {', '.join(servers.PROXIES)}")
    scenarios = [scenario for scenario in SCENARIOS if options.scenario in (None, scenario.name)]
    report.warn_if_busy()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    servers.raise_file_limit()
    results = {}
    with tempfile.TemporaryDirectory(prefix="aforo-bench-") as folder:
        folder = Path(folder)
        upstream = servers.upstream(folder)
        try:
            for scenario in scenarios:
                results[scenario] = measure_scenario(scenario, names, upstream, options, folder)
        finally:
            upstream.stop()
    page = report.page(results, options)
    print(page)
    whole = len(names) == len(servers.PROXIES) and scenarios == SCENARIOS
    if out := options.out or (report.default_path("programs") if whole else None):
        out.parent.mkdir(exist_ok=True)
        out.write_text(page)
        print(f"written to {out}")


if __name__ == "__main__":
    main()
