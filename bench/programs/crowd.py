#!/usr/bin/env python3
"""A crowd before the gateway: is a well-behaved client still served?

    bench/programs/crowd.py                   ten thousand connections before aforo; writes bench/results/
    bench/programs/crowd.py --program nginx   the same before nginx, for comparison; prints only

Half of the connections are quiet: they were answered once and stay open. A quarter sends its head a byte a second, a
quarter asks for 4 MiB and reads 1 KiB a second. Beside them wrk sends what is refused, as fast as it goes. Twenty
clients in a process of their own ask twenty times a second each; theirs is the latency that is reported. Ends within
a minute.
"""

import argparse
import asyncio
import multiprocessing
import re
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import quantiles

import report
import servers

POLITE, POLITE_RATE = 20, 20
OPENING_SECONDS = 15
PATIENCE_SECONDS = 5
# Of a request whose head never ends. The gateway may close these, and the client comes back.
ENDLESS_HEAD = b"GET / HTTP/1.1\r\nHost: crowd\r\nX-Endless: "
# Little room on the client's side, so that the gateway meets a reader that does not read.
RECEIVE_BUFFER = 4096


class Crowd:
    """The connections that are held open, by what they do, and what became of them."""

    def __init__(self, port):
        self.port = port
        self.open = 0
        self.peak = 0
        self.failed = 0
        self.closed = {"quiet": 0, "slow head": 0, "slow reader": 0}

    async def connect(self, small):
        sock = socket.socket()
        sock.setblocking(False)
        if small:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
        try:
            await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", self.port))
        except BaseException:
            sock.close()
            raise
        self.open += 1
        self.peak = max(self.peak, self.open)
        return sock

    async def hold(self, kind, behave, number):
        """Opens a connection and behaves; opens another when the gateway has closed it."""
        while True:
            try:
                sock = await self.connect(small=behave is slow_reader)
            except OSError:
                self.failed += 1
                await asyncio.sleep(1)
                continue
            try:
                await behave(asyncio.get_running_loop(), sock, number)
            except OSError:
                pass
            finally:
                sock.close()
                self.open -= 1
            self.closed[kind] += 1
            await asyncio.sleep(1)


async def quiet(loop, sock, number):
    await loop.sock_sendall(sock, request("/", f"quiet-{number}"))
    while await loop.sock_recv(sock, 4096):
        pass


async def slow_head(loop, sock, _number):
    await loop.sock_sendall(sock, ENDLESS_HEAD)
    while True:
        await asyncio.sleep(1)
        await loop.sock_sendall(sock, b"a")


async def slow_reader(loop, sock, number):
    await loop.sock_sendall(sock, request("/huge", f"reader-{number}"))
    while await loop.sock_recv(sock, 1024):
        await asyncio.sleep(1)


def request(path, key):
    return f"GET {path} HTTP/1.1\r\nHost: crowd\r\nX-Api-Key: {key}\r\n\r\n".encode()


# === The well-behaved ===


def polite_clients(port, seconds, answer):
    """Runs in a process of its own, so that what it measures is not this program's own business."""
    answer.send(asyncio.run(polite(port, seconds)))


async def polite(port, seconds):
    latencies, failures = [], []

    async def one(number):
        began = time.monotonic() + number / POLITE / POLITE_RATE
        reader = writer = None
        for turn in range(seconds * POLITE_RATE):
            due = began + turn / POLITE_RATE
            if time.monotonic() > began + seconds + PATIENCE_SECONDS:
                failures.append("gave up")
                break
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            try:
                if writer is None:
                    reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(request("/", f"polite-{number}"))
                status = await asyncio.wait_for(read_answer(reader), PATIENCE_SECONDS)
                # From when it was due: a client that is held up must not be counted once only.
                latencies.append(time.monotonic() - due)
                if status != 200:
                    failures.append(f"status {status}")
            except (OSError, asyncio.IncompleteReadError, TimeoutError) as error:
                failures.append(type(error).__name__)
                if writer:
                    writer.close()
                writer = None

    await asyncio.gather(*(one(number) for number in range(POLITE)))
    return latencies, failures


async def read_answer(reader):
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    length = re.search(r"content-length: (\d+)", head, re.IGNORECASE)
    await reader.readexactly(int(length[1]) if length else 0)
    return int(head.split(" ", 2)[1])


# === The programs ===


def start(options, folder, upstream_port):
    if options.program == "nginx":
        return servers.nginx_proxy("nginx", folder, upstream_port, servers.CROWD)
    return servers.aforo_proxy("aforo", folder, upstream_port, servers.CROWD, options.aforo, options.workers)


async def watch(server, crowd, until, samples):
    while time.monotonic() < until:
        samples.append((crowd.open, server.rss_bytes()))
        await asyncio.sleep(0.5)


async def gather(server, options, samples):
    crowd = Crowd(server.port)
    tasks = []
    of_four = [("quiet", quiet), ("slow head", slow_head), ("quiet", quiet), ("slow reader", slow_reader)]
    for number in range(options.connections):
        kind, behave = of_four[number % len(of_four)]
        tasks.append(asyncio.create_task(crowd.hold(kind, behave, number)))
        if number % 100 == 99:
            await asyncio.sleep(0.02)
    opening_ends = time.monotonic() + OPENING_SECONDS
    while crowd.open < options.connections and time.monotonic() < opening_ends:
        await asyncio.sleep(0.1)

    alone, ours = multiprocessing.Pipe()
    polite_process = multiprocessing.Process(target=polite_clients, args=(server.port, options.seconds, ours))
    flood = subprocess.Popen(
        [servers.needed("wrk", "wrk"), "-t1", "-c50", f"-d{options.seconds}s", "-s", servers.WRK_LUA]
        + ["-H", "X-Api-Key: hot", f"http://127.0.0.1:{server.port}/"],
        stdout=subprocess.PIPE,
        text=True,
    )
    polite_process.start()
    try:
        await watch(server, crowd, time.monotonic() + options.seconds + 0.5, samples)
        flooded, _ = await asyncio.to_thread(flood.communicate)
        latencies, failures = await asyncio.to_thread(alone.recv)
    finally:
        flood.kill()
        polite_process.kill()
        polite_process.join()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return crowd, flooded, latencies, failures


def page(server, options, samples, outcome, lonely):
    crowd, flooded, latencies, failures = outcome
    numbers = [int(number) for number in re.search(r"NUMBERS ([\d ]+)", flooded)[1].split()]
    answers, duration_us, refused = numbers[:3]
    asked = POLITE * POLITE_RATE * options.seconds
    served = len(latencies) - sum(failure.startswith("status") for failure in failures)
    rows = [
        ["connections held, least while measured", f"{min(held for held, _ in samples):,}"],
        ["connections held, most", f"{crowd.peak:,}"],
        ["connections that could not be opened", f"{crowd.failed:,}"],
        *[[f"closed by the gateway: {kind}", f"{closed:,}"] for kind, closed in crowd.closed.items()],
        ["flood: answers a second", f"{answers / duration_us * 1e6:,.0f}"],
        ["flood: refused", f"{refused / max(answers, 1):.1%}"],
        ["well-behaved: served", f"{served:,} of {asked:,}"],
        ["well-behaved: failures", ", ".join(sorted(set(failures))) or "none"],
        ["well-behaved: p50, p99, most", latency(latencies)],
        ["the same before crowd and flood", latency(lonely)],
        ["RSS, most while measured", f"{max(rss for _, rss in samples) / 2**20:.0f} MiB"],
    ]
    title = f"# A crowd of {options.connections:,} before {server.name}"
    what = __doc__.strip().split("\n\n")[2]
    return "\n\n".join([title, report.machine(), what, report.table(["", "measured"], rows)]) + "\n"


def latency(seconds):
    hundredths = quantiles(seconds, n=100)
    return ", ".join(f"{value * 1000:.1f}" for value in (hundredths[49], hundredths[98], max(seconds))) + " ms"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", choices=["aforo", "nginx"], default="aforo")
    parser.add_argument("--aforo", metavar="PROGRAM", help="default: target/release/aforo, built if it is missing")
    parser.add_argument("--connections", type=int, default=10_000, help="default: %(default)s")
    parser.add_argument("--workers", type=int, default=1, help="of aforo; default: %(default)s")
    parser.add_argument("--seconds", type=int, default=15, help="of measuring; default: %(default)s, at most 25")
    parser.add_argument("--out", type=Path, help="default: bench/results/DATE-crowd.md for aforo")
    options = parser.parse_args()
    options.seconds = min(options.seconds, 25)
    report.warn_if_busy()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    limit = servers.raise_file_limit()
    if limit < options.connections * 3 // 2:
        raise SystemExit(f"only {limit} open files are allowed (ulimit -Hn): at most --connections {limit // 3 * 2}")
    with tempfile.TemporaryDirectory(prefix="aforo-crowd-") as folder:
        folder = Path(folder)
        running = [servers.upstream(folder)]
        try:
            running.append(start(options, folder, running[0].port))
            server = running[-1]
            lonely, _ = asyncio.run(polite(server.port, 3))
            samples = []
            outcome = asyncio.run(gather(server, options, samples))
            text = page(server, options, samples, outcome, lonely)
        finally:
            for server in reversed(running):
                server.stop()
    print(text)
    if out := options.out or (report.default_path("crowd") if options.program == "aforo" else None):
        out.parent.mkdir(exist_ok=True)
        out.write_text(text)
        print(f"written to {out}")


if __name__ == "__main__":
    main()
