"""The rounds of a session, kept in PLACE, and the tables of docs/benchmarks/peers.txt."""

import hashlib, json, os, re, statistics, subprocess, sys, time

import nodes
from wrk import Load

PAGE = nodes.ROOT + "/docs/benchmarks/peers.txt"
REQUESTS = {
    "get": "`GET /v1/events/:id`", "near1": "`nearests`, 1 km", "near5": "`nearests`, 5 km", "near1-gzip": "`nearests`, 1 km, gzip",
    "near5-gzip": "`nearests`, 5 km, gzip", "post": "`POST /v1/events`", "append": "append",
}
# Every ratio is to the system of this name, in the same round.
FIRST_PEERS = {row: "FastAPI" for row in REQUESTS} | {"append": "message-db's design"}


class Rounds:
    """The loads of all rounds that were measured under the same conditions: later runs in the same PLACE add rounds to them."""

    def __init__(self, place, conditions):
        self.path, self.conditions, self.loads, self.busy = place + "/rounds.json", conditions, [], []
        if os.path.exists(self.path):
            with open(self.path) as file:
                kept = json.load(file)
            if kept["conditions"] == conditions:
                self.busy = kept["load_averages"]
                self.loads = [{tuple(key): Load(*load) for key, load in one} for one in kept["rounds"]]

    def add(self, loads, load_average):
        self.loads.append(loads)
        self.busy.append(load_average)
        with open(self.path, "w") as file:
            json.dump({"conditions": self.conditions, "load_averages": self.busy, "rounds": [list(one.items()) for one in self.loads]}, file)

    def of(self, key):
        return [one[key] for one in self.loads]


def output(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    return (result.stdout + result.stderr).strip()


def conditions(cluster, events, seconds, connections):
    """What the figures depend on. The date is that of the last run."""
    with open("/proc/cpuinfo") as file:
        model = re.search(r"model name\s*: (.*)", file.read())[1]
    with open(nodes.HUMON, "rb") as file:
        program = hashlib.file_digest(file, "sha256").hexdigest()
    packages = dict(line.strip().split("==") for line in open(os.path.dirname(os.path.abspath(__file__)) + "/requirements.txt"))
    return {
        "machine": f"{model}, {os.cpu_count()} cores", "humon": program, "events": events, "seconds": seconds, "connections": connections,
        "versions": [
            f"PostgreSQL {cluster.run('postgres', 'SHOW server_version').split()[0]}",
            f"PostGIS {cluster.run('peers', 'SELECT postgis_lib_version()').strip()}",
            f"Redis {re.search(r'v=([0-9.]+)', output('redis-server', '--version'))[1]}",
            f"nginx {re.search(r'nginx/([0-9.]+)', output('nginx', '-v'))[1]}", f"Python {sys.version.split()[0]}",
            *(f"{name} {packages[name]}" for name in ("fastapi", "uvicorn", "uvloop", "asyncpg"))],
    }


def spread(values, digits=0):
    low, middle, high = min(values), statistics.median(values), max(values)
    return f"{middle:,.{digits}f}", f"{low:,.{digits}f} to {high:,.{digits}f}"


def latency(values):
    return f"{statistics.median(values):.1f} ms"


def tables(rounds: Rounds, systems, sizes, compared):
    """The text of docs/benchmarks/peers.txt."""
    held = rounds.conditions
    requests = sum(load.requests for one in rounds.loads for load in one.values())
    errors = sum(load.errors for one in rounds.loads for load in one.values())
    lines = [
        f"- {time.strftime('%d %B %Y')}, commit {output('git', '-C', nodes.ROOT, 'describe', '--always')}, {held['machine']} shared with the "
        f"load generators, {output('uname', '-sr')}",
        f"- {held['events']:,} events, {held['connections']} connections, {len(rounds.loads)} rounds of {held['seconds']} s a row; "
        f"{requests:,} requests, {errors:,} errors",
        f"- load average before the rounds: {min(rounds.busy):.1f} to {max(rounds.busy):.1f}; 0 is a machine without other programs",
        f"- before the rounds the script compared {compared:,} answers of the peers with humon's, and all were equal",
        f"- {', '.join(held['versions'])}",
        "- nginx sends " + ", ".join(f"{size:,} bytes for {REQUESTS[row]}" for row, size in sizes.items()),
    ]
    for rows, first in ((list(REQUESTS)[:-1], "FastAPI"), (["append"], FIRST_PEERS["append"])):
        lines += ["", f"| request | system | per s | lowest to highest | p50 | p99 | times {first} | lowest to highest |",
                  "|---|---|---:|---:|---:|---:|---:|---:|"]
        for row in rows:
            base = rounds.of((row, first))
            for system in systems:
                if row not in system.rows:
                    continue
                loads = rounds.of((row, system.name))
                rate = spread([load.rate for load in loads])
                ratio = spread([load.rate / other.rate for load, other in zip(loads, base)], 2)
                lines.append(
                    f"| {REQUESTS[row]} | {system.name} | {' | '.join(rate)} | {latency([load.p50 for load in loads])} "
                    f"| {latency([load.p99 for load in loads])} | {' | '.join(ratio)} |")
    return "\n".join(lines)


def write(text):
    """Puts the tables into docs/benchmarks/peers.txt, and draws the charts anew."""
    with open(PAGE, "w") as file:
        file.write(text + "\n")
    subprocess.run([sys.executable, nodes.ROOT + "/scripts/chart"], check=True)
