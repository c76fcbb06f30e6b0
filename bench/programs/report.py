"""The page of results: medians with their range, and ratios of programs that ran in the same round."""

import datetime
import os
import platform
import re
import subprocess
import sys
from pathlib import Path
from statistics import median

import servers

# What else the machine was doing. Only an idle one gives results.
LOAD_BEFORE = os.getloadavg()[0]
IDLE = 0.5

# (scenario, figure, rival, at most): what aforo means to reach.
GOALS = [
    ("keyed", "cpu_us", "nginx", 1.15),
    ("keyed", "cpu_us", "haproxy", 1.05),
    ("hot", "cpu_us", "nginx", 1.20),
    ("keyed", "p99_us", "nginx", 1.10),
    ("large", "cpu_us", "haproxy", 1.00),
]

FIGURES = {
    "cpu_us": ("CPU µs a request", "{:.1f}"),
    "rate": ("requests/s", "{:,.0f}"),
    "p50_us": ("p50 µs", "{:.0f}"),
    "p99_us": ("p99 µs", "{:.0f}"),
    "refused": ("not 2xx", "{:.1%}"),
    "rss_mib": ("RSS MiB", "{:.0f}"),
}


def warn_if_busy():
    if LOAD_BEFORE > IDLE:
        print(f"the machine is busy (load {LOAD_BEFORE:.1f}): what follows is no result", file=sys.stderr)


def default_path(kind):
    return servers.REPOSITORY / "bench/results" / f"{datetime.date.today()}-{kind}.md"


def page(results, options):
    parts = ["# Whole programs", machine(), how(options)]
    for scenario, rounds in results.items():
        parts += [f"## {scenario.title} (`{scenario.name}`)", figures(rounds)]
        if "aforo" in rounds:
            parts.append(ratios(rounds))
    if all("aforo" in rounds for rounds in results.values()) and (reached := goals(results)):
        parts += ["## What was to be reached", reached]
    return "\n\n".join(parts) + "\n"


def figures(rounds):
    rows = []
    for name, runs in rounds.items():
        cells = [spread([getattr(run, figure) for run in runs], form) for figure, (_, form) in FIGURES.items()]
        rows.append([name, *cells])
    return table(["program", *(title for title, _ in FIGURES.values())], rows)


def ratios(rounds):
    rivals = [name for name in ("nginx", "haproxy") if name in rounds]
    compared = ["cpu_us", "rate", "p50_us", "p99_us"]
    rows = []
    for rival in rivals:
        rows.append([f"aforo / {rival}", *(spread(paired(rounds, figure, rival), "{:.2f}") for figure in compared)])
    return table(["ratio in the same round", *(FIGURES[figure][0] for figure in compared)], rows)


def goals(results):
    rows = []
    for name, figure, rival, bound in GOALS:
        rounds = next((rounds for scenario, rounds in results.items() if scenario.name == name), {})
        if rival in rounds:
            ratio = median(paired(rounds, figure, rival))
            verdict = "reached" if ratio <= bound else f"missed by {ratio / bound - 1:.0%}"
            what = f"{FIGURES[figure][0]}, aforo / {rival}"
            rows.append([f"`{name}`", what, f"{bound:.2f}", f"{ratio:.2f}", verdict])
    return table(["scenario", "ratio", "at most", "median", ""], rows) if rows else ""


def paired(rounds, figure, rival):
    return [
        getattr(ours, figure) / getattr(theirs, figure)
        for ours, theirs in zip(rounds["aforo"], rounds[rival], strict=True)
    ]


def spread(values, form):
    low, middle, high = (form.format(value) for value in (min(values), median(values), max(values)))
    return middle if low == high else f"{middle} [{low}–{high}]"


def table(heads, rows):
    lines = [heads, ["---"] + ["---:"] * (len(heads) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def how(options):
    return (
        f"wrk, 1 thread, 32 connections, {options.seconds} s a run, {options.rounds} rounds, programs in shuffled "
        "order; one worker each; all on the loopback of one machine. Median [least–most]; of ratios, the median of the "
        "rounds."
    )


def machine():
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    facts = [
        f"{datetime.date.today()}",
        f"{cpu[1] if cpu else platform.machine()}, {os.cpu_count()} cores",
        f"Linux {platform.release()}",
        f"aforo {said(['git', '-C', servers.REPOSITORY, 'describe', '--always', '--dirty'], r'.*')}",
        said([servers.needed("nginx", "nginx-light"), "-v"], r"nginx/\S+").replace("/", " "),
        "HAProxy " + said([servers.needed("haproxy", "haproxy"), "-v"], r"(?<=version )\S+"),
        "wrk " + said([servers.needed("wrk", "wrk"), "-v"], r"(?<=wrk )\S+"),
        f"load before {LOAD_BEFORE:.1f}",
    ]
    return " · ".join(facts)


def said(command, pattern):
    done = subprocess.run(command, capture_output=True, text=True)
    found = re.search(pattern, done.stdout + done.stderr)
    return found[0] if found else "unknown"
