#!/usr/bin/env python3
"""Measures two servers on one PostgreSQL: the time until one shows the writes of the other, the effect of writes on concurrent reads,
and the memory of the index during constant updates.

Usage: Benchmarks/nodes.py [freshness] [latency] [soak SECONDS]. EVENTS=1000000, PLACE=DIRECTORY to keep and reuse the events (that of
Benchmarks/http.sh will do), ROUNDS=5. Needs Python 3, wrk and .build/release/humon, or HUMON=another one.

The other benchmarks in Python import this file for its servers, directories, events and places.
"""

import contextlib, http.client, os, re, resource, shutil, statistics, subprocess, sys, tempfile, threading, time

import wrk

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.append(f"{ROOT}/checks/harness")
from process import Process
from server import HumonServer

HUMON = os.environ.get("HUMON", ROOT + "/.build/release/humon")
EVENTS = int(os.environ.get("EVENTS", 1_000_000))
ROUNDS = int(os.environ.get("ROUNDS", 5))
PORT = int(os.environ.get("BENCH_PORT", 18331))
WRITES_PER_SECOND = 2_000
READS_PER_SECOND = 4_000
OWN_EVENTS = 5_000
# Maximum seconds until a server serves: it loads its index first.
START_SECONDS = 3_600


@contextlib.contextmanager
def working_directory():
    """The directory PLACE, which stays, or a temporary one. PostgreSQL's account can enter it."""
    place = os.environ.get("PLACE") or tempfile.mkdtemp(prefix="humon-bench-")
    os.makedirs(place, exist_ok=True)
    os.chmod(place, 0o755)
    try:
        yield place
    finally:
        if not os.environ.get("PLACE"):
            shutil.rmtree(place, ignore_errors=True)


def fill(place, events):
    """Adds events of the demo to the log, without the texts that other systems do not have."""
    subprocess.run(
        [HUMON, "demo", "--yes", "--bare", "--events", str(events)], env=dict(os.environ, HUMON_DATA=place + "/data"), cwd=place,
        check=True, capture_output=True)


def together(count, work):
    """Calls work(number) in as many threads, waits for all, and returns the processor seconds of the process."""
    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


class Server:
    """A server on a port of this machine."""

    def __init__(self, name, command, place, port, url=None, **settings):
        self.name, self.port = name, port
        environment = dict(os.environ, HUMON_DATA=place + "/data", HUMON_PORT=str(port), TB_APP_SECRET="benchmark", **settings)
        if url:
            environment["DATABASE_URL"] = url
        self.process = Process(name, command, f"{place}/{name}.log", env=environment, cwd=place)

    def exchange(self, method, path, body=None, headers={}, connection=None):
        """Status, headers by their names in lower case, and body; status 0 if the server does not listen."""
        connection = connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        own = {"tb-device-token": "bench", "tb-app-secret": "benchmark", "content-type": "application/json"}
        try:
            connection.request(method, path, body, own | headers)
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        except ConnectionRefusedError:
            return 0, {}, b""

    def send(self, *arguments, **more):
        status, headers, body = self.exchange(*arguments, **more)
        return status, headers, body.decode()

    def stop(self):
        self.process.stop(seconds=300)


class Node(Server, HumonServer):
    def __init__(self, place, number, url=None, **settings):
        port = PORT + 2 * number
        settings = {"HUMON_ADMIN_PORT": str(port + 1), "HUMON_INDEX_MEGABYTES": "8000", "HUMON_EVENTS_PER_USER": "0"} | settings
        super().__init__(f"node{number}", [HUMON, "serve"], place, port, url, **settings)
        self.serve(self.process, START_SECONDS)

    def admin(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.admin_port, timeout=300)
        connection.request("GET", path)
        return connection.getresponse().read().decode()

    def processor_seconds(self):
        return float(re.search(r"process_cpu_seconds_total ([\d.]+)", self.admin("/metrics")).group(1))

    def resident_megabytes(self):
        return int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{self.process.pid}/status").read()).group(1)) / 1024


def places():
    for line in open(ROOT + "/Sources/App/Demo/cities.tsv"):
        fields = line.rstrip("\n").split("\t")
        if len(fields) == 5 and re.fullmatch(r"-?[\d.]+", fields[2]):
            yield float(fields[2]), float(fields[3])


def details(number):
    cities = list(places()) if not hasattr(details, "cities") else details.cities
    details.cities = cities
    lat, lon = cities[number % len(cities)]
    spread = (number * 7919 % 1000 - 500) / 10_000
    return (
        f'{{"name":"Party {number}","address":"85 2nd Street","lat":{lat + spread:.6f},"lon":{lon + spread:.6f},'
        f'"started_at":"2013-09-16T00:00:00.000Z"}}')


def paced(place, node, requests, per_second, connections, seconds):
    """Starts wrk with this rate of requests; the response times reduce the rate."""
    return wrk.start(node.port, f"{place}/{requests}", connections, seconds, pause=int(1_000 * connections / per_second))


def result(process):
    """Milliseconds of p50 and p99, and requests a second."""
    load = wrk.result(process)
    return load.p50, load.p99, load.rate


def number(position):
    return int(position.partition(".")[0])


def quantiles(values):
    values = sorted(values)
    return f"p50 {values[len(values) // 2]:.1f} ms, p99 {values[len(values) * 99 // 100]:.1f} ms"


def freshness(place, first, second, own):
    print("Time from the response to a write until the other server shows it:")
    for load in (False, True):
        later, asked = [], []
        seconds = 20
        writing = paced(place, first, "patch.txt", WRITES_PER_SECOND, 64, seconds + 2) if load else None
        time.sleep(1)
        writer = http.client.HTTPConnection("127.0.0.1", first.port)
        reader = http.client.HTTPConnection("127.0.0.1", second.port)
        end, writes = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            writes += 1
            path = f"/v1/events/{own[writes % len(own)]}"
            _, headers, _ = first.send("PATCH", path, details(writes), connection=writer)
            begin = time.monotonic()
            position, shown = headers["humon-position"], False
            if writes % 2:
                status, _, _ = second.send("GET", path, headers={"humon-position": position}, connection=reader)
                assert status == 200, status
                asked.append((time.monotonic() - begin) * 1_000)
                continue
            while not shown:
                _, headers, _ = second.send("GET", path, connection=reader)
                shown = number(headers["humon-position"]) >= number(position)
            later.append((time.monotonic() - begin) * 1_000)
        rate = f"beside {result(writing)[2]:.0f} writes a second" if writing else "with nothing beside"
        print(f"  {rate}: {quantiles(later)}; where asked with Humon-Position: {quantiles(asked)} (of {len(later)} and {len(asked)})")


def latency(place, first, second):
    print(f"{READS_PER_SECOND} reads a second (half by id, half nearests of 1 km), median of {ROUNDS} rounds in turn:")
    rows = {"alone": None, "beside 2000 writes/s to the same server": first, "beside 2000 writes/s to the other server": second}
    found = {name: [] for name in rows}
    for _ in range(ROUNDS):
        for name, node in rows.items():
            writing = paced(place, node, "patch.txt", WRITES_PER_SECOND, 64, 8) if node else None
            time.sleep(1)
            found[name].append(result(paced(place, first, "read.txt", READS_PER_SECOND, 32, 6)))
            if writing:
                found[name][-1] += (result(writing)[2],)
    for name, values in found.items():
        p50, p99, rate, *writes = (statistics.median(column) for column in zip(*values))
        beside = f", {writes[0]:.0f} writes/s" if writes else ""
        print(f"  {name}: p50 {p50:.2f} ms, p99 {p99:.2f} ms at {rate:.0f} reads/s{beside}")


def soak(place, first, second, seconds):
    print(f"{WRITES_PER_SECOND} updates a second for {seconds} s, resident megabytes of the server that writes and of the other one:")
    writing = paced(place, first, "patch.txt", WRITES_PER_SECOND, 64, seconds)
    begin = time.monotonic()
    while writing.poll() is None:
        held = [int(re.search(r"humon_index_bytes (\d+)", node.admin("/metrics")).group(1)) / 1e6 for node in (first, second)]
        print(
            f"  {time.monotonic() - begin:5.0f} s: {first.resident_megabytes():.0f} and {second.resident_megabytes():.0f}, "
            f"of which events {held[0]:.0f} and {held[1]:.0f}", flush=True)
        time.sleep(min(30, seconds / 10))
    print(f"  {result(writing)[2]:.0f} updates a second; compared with the read model: {first.admin('/index/check')} {second.admin('/index/check')}")


def measure(place, first, second, arguments):
    first.send("POST", "/v1/users")
    connection = http.client.HTTPConnection("127.0.0.1", first.port)
    own = [int(re.search(r"\d+", first.send("POST", "/v1/events", details(n), connection=connection)[2]).group()) for n in range(OWN_EVENTS)]
    with open(place + "/patch.txt", "w") as file:
        file.writelines(f"PATCH /v1/events/{id} {details(id * 31)}\n" for id in own)
    with open(place + "/read.txt", "w") as file:
        for number, (lat, lon) in enumerate(places()):
            file.write(f"GET /v1/events/nearests?lat={lat}&lon={lon}&radius=1\nGET /v1/events/{number * 97 % EVENTS + 1}\n")
    if "freshness" in arguments:
        freshness(place, first, second, own)
    if "latency" in arguments:
        latency(place, first, second)
    if "soak" in arguments:
        soak(place, first, second, int(arguments[arguments.index("soak") + 1]))


def main():
    arguments = sys.argv[1:] or ["freshness", "latency", "soak", "300"]
    with working_directory() as place:
        nodes = [Node(place, 0)]
        try:
            count = int(re.search(r"humon_index_events (\d+)", nodes[0].admin("/metrics")).group(1))
            if count < EVENTS:
                fill(place, EVENTS - count)
            nodes.append(Node(place, 1, f"host='{place}/data/cluster' user=humon dbname=postgres"))
            measure(place, *nodes, arguments)
        finally:
            for node in reversed(nodes):
                node.stop()


if __name__ == "__main__":
    main()
