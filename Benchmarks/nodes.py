#!/usr/bin/env python3
"""Measures two servers on one PostgreSQL: the time until one shows the writes of the other, the effect of writes on concurrent reads,
and the memory of the index during constant updates.

Usage: Benchmarks/nodes.py [freshness] [latency] [soak SECONDS]. EVENTS=1000000, PLACE=DIRECTORY to keep and reuse the events (that of
Benchmarks/http.sh will do), ROUNDS=5. Needs Python 3, wrk and .build/release/humon.
"""

import http.client, os, re, shutil, signal, statistics, subprocess, sys, tempfile, time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HUMON = ROOT + "/.build/release/humon"
EVENTS = int(os.environ.get("EVENTS", 1_000_000))
ROUNDS = int(os.environ.get("ROUNDS", 5))
PORT = int(os.environ.get("BENCH_PORT", 18331))
WRITES_PER_SECOND = 2_000
READS_PER_SECOND = 4_000
OWN_EVENTS = 5_000

# A constant rate of requests: each connection pauses before each request.
PACED = """
local requests, number = {}, 0
init = function()
    local headers = { ["content-type"] = "application/json", ["tb-device-token"] = "bench" }
    for line in io.lines(os.getenv("REQUESTS")) do
        local method, path, body = line:match("^(%S+) (%S+) ?(.*)")
        local own = method ~= "GET" and headers or {}
        table.insert(requests, wrk.format(method, path, own, body ~= "" and body or nil))
    end
    number = math.random(#requests)
end
delay = function() return tonumber(os.getenv("PAUSE")) end
request = function()
    number = number % #requests + 1
    return requests[number]
end
"""


class Node:
    def __init__(self, place, number, url=None, **settings):
        self.port, self.admin_port = PORT + 2 * number, PORT + 2 * number + 1
        environment = dict(
            os.environ, HUMON_DATA=place + "/data", HUMON_PORT=str(self.port), HUMON_ADMIN_PORT=str(self.admin_port),
            TB_APP_SECRET="bench", **{"HUMON_INDEX_MEGABYTES": "8000"} | settings)
        if url:
            environment["DATABASE_URL"] = url
        out = f"{place}/out{number}"
        self.process = subprocess.Popen(
            [HUMON, "serve"], env=environment, cwd=place, stdout=open(out, "w"), stderr=open(f"{place}/err{number}", "w"))
        while "curl" not in open(out).read():
            if self.process.poll() is not None:
                sys.exit(open(f"{place}/err{number}").read())
            time.sleep(0.1)

    def send(self, method, path, body=None, headers={}, connection=None):
        connection = connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        own = {"tb-device-token": "bench", "tb-app-secret": "bench", "content-type": "application/json"}
        connection.request(method, path, body, own | headers)
        answer = connection.getresponse()
        return answer.status, dict((name.lower(), value) for name, value in answer.getheaders()), answer.read().decode()

    def admin(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.admin_port, timeout=300)
        connection.request("GET", path)
        return connection.getresponse().read().decode()

    def resident_megabytes(self):
        return int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{self.process.pid}/status").read()).group(1)) / 1024

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


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
    environment = dict(os.environ, REQUESTS=f"{place}/{requests}", PAUSE=str(int(1_000 * connections / per_second)))
    return subprocess.Popen(
        ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "-s", f"{place}/paced.lua", f"http://127.0.0.1:{node.port}"],
        env=environment, stdout=subprocess.PIPE, text=True)


def milliseconds(text):
    number = float(re.match(r"[\d.]+", text).group())
    return number / 1_000 if text.endswith("us") else number if text.endswith("ms") else number * 1_000


def result(process):
    text = process.communicate()[0]
    found = [re.search(pattern, text).group(1) for pattern in (r"\n\s+50%\s+(\S+)", r"\n\s+99%\s+(\S+)", r"Requests/sec:\s+([\d.]+)")]
    if "Non-2xx" in text:
        sys.exit("refused: " + text)
    return milliseconds(found[0]), milliseconds(found[1]), float(found[2])


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
        end, number = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            number += 1
            path = f"/v1/events/{own[number % len(own)]}"
            _, headers, _ = first.send("PATCH", path, details(number), connection=writer)
            begin = time.monotonic()
            position, shown = int(headers["humon-position"]), False
            if number % 2:
                status, _, _ = second.send("GET", path, headers={"humon-position": str(position)}, connection=reader)
                assert status == 200, status
                asked.append((time.monotonic() - begin) * 1_000)
                continue
            while not shown:
                _, headers, _ = second.send("GET", path, connection=reader)
                shown = int(headers["humon-position"]) >= position
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


def main():
    arguments = sys.argv[1:] or ["freshness", "latency", "soak", "300"]
    place = os.environ.get("PLACE") or tempfile.mkdtemp()
    os.makedirs(place, exist_ok=True)
    os.chmod(place, 0o755)
    nodes = [Node(place, 0)]
    try:
        environment = dict(os.environ, HUMON_DATA=place + "/data")
        count = int(re.search(r"humon_index_events (\d+)", nodes[0].admin("/metrics")).group(1))
        if count < EVENTS:
            subprocess.run([HUMON, "demo", "--yes", "--all-live", "--events", str(EVENTS - count)], env=environment, cwd=place, check=True, capture_output=True)
        nodes.append(Node(place, 1, f"host='{place}/data/socket' user=humon dbname=postgres"))
        first, second = nodes
        first.send("POST", "/v1/users")
        connection = http.client.HTTPConnection("127.0.0.1", first.port)
        own = [int(re.search(r"\d+", first.send("POST", "/v1/events", details(n), connection=connection)[2]).group()) for n in range(OWN_EVENTS)]
        with open(place + "/paced.lua", "w") as file:
            file.write(PACED)
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
    finally:
        for node in reversed(nodes):
            node.stop()
        if not os.environ.get("PLACE"):
            shutil.rmtree(place)


if __name__ == "__main__":
    main()
