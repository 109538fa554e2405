#!/usr/bin/env python3
"""Measures the tails of the latencies at a constant rate, beside the work of operators.

The script finds the peak of a mix of routes with a short run at full load. Then it sends the same mix at a constant share of that peak.
A latency begins when the request was due, so a pause counts for every request that was due meanwhile (no coordinated omission).
Windows alternate: in every second one a disturbance runs, again and again. All processes share the machine.

Usage: Benchmarks/tails.py [MINUTES [SHARE…]], by default 10 minutes at 0.7 of the peak. EVENTS=100000, PLACE=DIRECTORY to keep and reuse
the events, PEAK=REQUESTS-A-SECOND instead of the run at full load, ONLY=NAME,… for some disturbances, HISTOGRAMS=DIRECTORY for results
as JSON and HDR percentile distributions. Needs Python 3, psql, pg_dump, .build/release/humon and LoadGenerator.
"""
import json, os, random, re, signal, subprocess, sys, threading, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import nodes

sys.path.append(f"{nodes.ROOT}/Benchmarks/Peers")
from postgres import Cluster

MINUTES = float(sys.argv[1]) if len(sys.argv) > 1 else 10
SHARES = [float(share) for share in sys.argv[2:]] or [0.7]
EVENTS = int(os.environ.get("EVENTS", 100_000))
GENERATOR = nodes.ROOT + "/Benchmarks/.build/release/LoadGenerator"
# Own events, which PATCH changes.
OWN_EVENTS = 2_000
PEAK_SECONDS, WARM_UP_SECONDS = 8, 3
# The goal of docs/benchmarks.md for the p99.9 of every route.
GOAL_MILLISECONDS = 20

# Number of clients of the run at full load, as in the other benchmarks.
PEAK_CLIENTS = 64

# Number of connections of a route, at least, and for each percent of all requests. Both are high, so that requests rarely wait for a
# free connection.
CONNECTIONS, CONNECTIONS_PER_PERCENT = 64, 8

TOKEN = {"tb-device-token": "bench", "content-type": "application/json"}
GZIP = {"accept-encoding": "gzip"}
# The name of a route, its file of requests, its share of all requests in percent, and its headers.
MIX = [
    ("GET event", "get", 30, {}),
    ("nearests 1 km", "near", 8, {}),
    ("nearests 1 km, gzip", "near", 16, GZIP),
    ("nearests 5 km", "far", 3, {}),
    ("nearests 5 km, gzip", "far", 8, GZIP),
    ("events in a box, gzip", "box", 5, GZIP),
    ("clusters, gzip", "clusters", 5, GZIP),
    ("GET attendance", "attendance", 5, {}),
    ("GET own events, gzip", "own", 2, TOKEN | GZIP),
    ("POST event", "post", 6, TOKEN),
    ("PATCH event", "patch", 5, TOKEN),
    ("POST and DELETE attendance", "attend", 5, TOKEN),
    ("POST user", "user", 2, {"tb-app-secret": "benchmark", "content-type": "application/json"}),
]


def event(number, lat, lon):
    # Farther out than any search, so that all windows search the same events.
    return (f'{{"name":"Party {number}","address":"85 2nd Street","lat":{min(89, lat + 0.3):.6f},"lon":{lon:.6f},'
            f'"started_at":"2013-09-16T00:00:00.000Z"}}')


def write_plan(place, own):
    chance, cities = random.Random(7), list(nodes.places())
    spots = [(lat + chance.uniform(-0.02, 0.02), lon + chance.uniform(-0.02, 0.02)) for lat, lon in cities for _ in range(4)]
    chance.shuffle(spots)
    boxes = [f"bbox={lon - 0.03:.4f},{lat - 0.02:.4f},{lon + 0.03:.4f},{lat + 0.02:.4f}" for lat, lon in spots if abs(lon) < 179]
    files = {
        "get": [f"GET /v1/events/{chance.randint(1, EVENTS)}" for _ in range(20_000)],
        "near": [f"GET /v1/events/nearests?lat={lat:.6f}&lon={lon:.6f}&radius=1" for lat, lon in spots],
        "far": [f"GET /v1/events/nearests?lat={lat:.6f}&lon={lon:.6f}&radius=5" for lat, lon in spots],
        "box": [f"GET /v1/events?{box}" for box in boxes],
        "clusters": [f"GET /v1/events/clusters?{box}&zoom=14" for box in boxes],
        "attendance": [f"GET /v1/events/{chance.randint(1, EVENTS)}/attendance" for _ in range(20_000)],
        "own": ["GET /v1/users/me/events?limit=20"],
        "post": [f"POST /v1/events {event(number, lat, lon)}" for number, (lat, lon) in enumerate(spots)],
        "patch": [f"PATCH /v1/events/{id} {event(id, *chance.choice(spots))}" for _ in range(3) for id in own],
        "attend": [f'POST /v1/attendances {{"event":{{"id":{id}}}}}' for id in range(1, EVENTS + 1)]
        + [f"DELETE /v1/events/{id}/attendance" for id in range(1, EVENTS + 1)],
        "user": ["POST /v1/users"],
    }
    for name, lines in files.items():
        open(f"{place}/{name}.txt", "w").write("\n".join(lines) + "\n")
    routes = [{"name": name, "requests": f"{file}.txt", "per_second": share, "headers": headers,
               "connections": max(CONNECTIONS, CONNECTIONS_PER_PERCENT * share)} for name, file, share, headers in MIX]
    open(f"{place}/plan.json", "w").write(json.dumps({"routes": routes}))


def generator(place, node, *options):
    return subprocess.Popen(
        [GENERATOR, f"{place}/plan.json", "--port", str(node.port), "--json", f"{place}/results.json", *map(str, options)],
        stdout=subprocess.PIPE, text=True)


def results(place, process):
    """The results and the table of a generator that has printed all its windows."""
    table = process.stdout.read()
    process.wait()
    return json.load(open(f"{place}/results.json")), table


def find_peak(place, node):
    process = generator(place, node, "--full-load", PEAK_CLIENTS, "--seconds", PEAK_SECONDS, "--warm-up", WARM_UP_SECONDS)
    found, table = results(place, process)
    if any(route["failures"] for route in found["total"]["routes"]):
        sys.exit("refused at full load:\n" + table)
    return sum(route["per_second"] for route in found["total"]["routes"])


class Processors:
    """The use of the processors since the construction: by this benchmark with all its processes, and by other programs."""

    def __init__(self, place, node):
        postmaster = int(open(f"{place}/data/cluster/postmaster.pid").readline())
        self.roots = {os.getpid(), node.process.pid, postmaster}
        self.begin = self.sample()

    def sample(self):
        """Ticks of all processors, the idle ones among them, and those of the processes of this benchmark."""
        fields = [int(field) for field in open("/proc/stat").readline().split()[1:9]]
        parents, ticks = {}, {}
        for process in filter(str.isdigit, os.listdir("/proc")):
            try:
                values = open(f"/proc/{process}/stat").read().rpartition(")")[2].split()
            except OSError:
                continue
            # The parent, and the times of the process and of its ended children.
            parents[int(process)], ticks[int(process)] = int(values[1]), sum(map(int, values[11:15]))
        ours = 0
        for process, own in ticks.items():
            while process and process not in self.roots:
                process = parents.get(process)
            ours += own if process else 0
        return sum(fields), fields[3] + fields[4], ours

    def shares(self):
        """The shares of all processors that are idle, and that other programs or the host used."""
        total, idle, ours = (now - before for now, before in zip(self.sample(), self.begin))
        return idle / total, max(0, total - idle - ours) / total


class Disturbance:
    """Runs commands again and again for the seconds of a window. A command that does not end by itself ends with the window."""

    def __init__(self, place, seconds, commands, endless=False):
        self.place, self.end, self.commands, self.endless = place, time.monotonic() + seconds, commands, endless
        self.environment = dict(os.environ, HUMON_DATA=place + "/data", TB_APP_SECRET="benchmark", DATABASE_URL=database(place))
        self.durations, self.failure = [], None
        self.thread = threading.Thread(target=self.repeat)
        self.thread.start()

    def repeat(self):
        # A command that would not end within the window disturbs the next one.
        while not self.failure and (not self.durations or time.monotonic() + 1.5 * max(self.durations) < self.end):
            begin = time.monotonic()
            for command in self.commands:
                errors = open(f"{self.place}/err.disturbance", "w")
                process = subprocess.Popen(
                    command, env=self.environment, cwd=self.place, stdout=subprocess.DEVNULL, stderr=errors)
                if self.endless:
                    time.sleep(max(0, self.end - time.monotonic()))
                    process.send_signal(signal.SIGTERM)
                if process.wait() not in ((0, 130, 143) if self.endless else (0,)):
                    self.failure = f"{' '.join(command)}: {open(errors.name).read()}"
                    return
            self.durations.append(time.monotonic() - begin)

    def result(self):
        self.thread.join()
        if self.failure:
            return self.failure
        late = time.monotonic() - self.end
        times = f"{len(self.durations)} times, {min(self.durations):.1f} to {max(self.durations):.1f} s"
        return "all the time" if self.endless else times + (f", {late:.1f} s into the next window" if late > 0.5 else "")


def database(place):
    return f"host='{place}/data/cluster' user=humon dbname=postgres"


def disturbances(place):
    humon, dump = nodes.HUMON, ["pg_dump", "--format=custom", "--file", f"{place}/dump", database(place)]
    port = ["env", f"HUMON_PORT={nodes.PORT + 8}", "HUMON_ADMIN_PORT=0", "HUMON_INDEX_MEGABYTES=8000"]
    every = {
        "rebuild": ([[humon, "projections", "rebuild", "--all"]], False),
        "verify read models": ([[humon, "projections", "verify", "--all"]], False),
        "verify log": ([[humon, "log", "verify"]], False),
        "export": ([[humon, "log", "export", "--force", f"{place}/export.zst"]], False),
        "pg_dump": ([dump], False),
        "follower": ([[humon, "log", "tail", "--follow", "--json"]], True),
        "second node": ([port + [humon, "serve"]], True),
    }
    only = os.environ.get("ONLY")
    return {name: row for name, row in every.items() if not only or name in only.split(",")}


def run(place, node, rate):
    chosen = disturbances(place)
    windows = 2 * len(chosen)
    seconds = MINUTES * 60 / windows
    options = ["--histograms", os.environ["HISTOGRAMS"]] if "HISTOGRAMS" in os.environ else []
    process = generator(place, node, "--per-second", rate, "--seconds", seconds, "--windows", windows, "--warm-up", WARM_UP_SECONDS, *options)
    told, running, processors, use = {}, None, None, []
    for line in iter(process.stdout.readline, ""):
        if processors:
            use.append(processors.shares())
        if running:
            told[name] = running.result()
            running = None
        processors = Processors(place, node)
        if line.startswith("end"):
            break
        window = re.match(r"window (\d+) of", line)
        if window and int(window[1]) % 2 == 0:
            name = list(chosen)[int(window[1]) // 2 - 1]
            running = Disturbance(place, seconds - 0.5, *chosen[name])
    found, table = results(place, process)
    return chosen, told, use, found, table


def times(durations):
    return f"{durations['p99']:.1f} / {durations['p99.9']:.1f}"


def report(chosen, told, use, found, table, rate, share):
    print(f"\n{rate:.0f} requests a second, {share:.0%} of the peak, {len(found['windows'])} windows of {found['windows'][0]['seconds']:.1f} s:\n")
    print(table.strip())
    print("\nA line a disturbance, p99 / p99.9 in milliseconds; the window before it was undisturbed:\n")
    print("| beside | all routes | undisturbed | worst route | undisturbed | sent late | idle | other programs | ran |")
    print("|---|---:|---:|---|---|---:|---:|---:|---|")
    for number, name in enumerate(chosen):
        quiet, loud = found["windows"][2 * number:2 * number + 2]
        worst = [max(window["routes"], key=lambda route: route["latency"]["p99.9"]) for window in (loud, quiet)]
        worst = [f"{route['name']}: {times(route['latency'])}" for route in worst]
        print(f"| {name} | {times(loud['all_routes'])} | {times(quiet['all_routes'])} | {worst[0]} | {worst[1]} "
              f"| {times(loud['lateness'])} | {use[2 * number + 1][0]:.0%} | {use[2 * number + 1][1]:.0%} | {told[name]} |")
    print("\nUndisturbed, the processors were idle for", ", ".join(f"{idle:.0%}" for idle, _ in use[::2]) + ", and other programs used",
          ", ".join(f"{other:.0%}" for _, other in use[::2]) + ".")
    print("\np99.9 of each route in milliseconds; above the goal in bold:\n")
    print("| route | undisturbed | " + " | ".join(chosen) + " |")
    print("|---|" + "---:|" * (len(chosen) + 1))
    for index, (name, *_) in enumerate(MIX):
        p999 = [window["routes"][index]["latency"]["p99.9"] for window in found["windows"]]
        cells = [sorted(p999[::2])[len(chosen) // 2], *p999[1::2]]
        print(f"| {name} | " + " | ".join(f"**{cell:.1f}**" if cell > GOAL_MILLISECONDS else f"{cell:.1f}" for cell in cells) + " |")
    sys.stdout.flush()


def main():
    with nodes.working_directory() as place:
        node = nodes.Node(place, 0)
        try:
            if node.send("GET", f"/v1/events/{EVENTS}")[0] != 200:
                nodes.fill(place, EVENTS)
            node.send("POST", "/v1/users")
            spots = list(nodes.places())
            own = [json.loads(node.send("POST", "/v1/events", event(0, *spots[number % len(spots)]))[2])["id"] for number in range(OWN_EVENTS)]
            write_plan(place, own)
            # PostgreSQL does the deferred work of the fill now. From here on it reuses WAL files, and need not write zeros to new ones.
            Cluster(place).run("postgres", "VACUUM ANALYZE", "CHECKPOINT")
            peak = float(os.environ.get("PEAK") or find_peak(place, node))
            print(f"{EVENTS} events, {len(MIX)} routes; peak of the mix: {peak:.0f} requests a second", flush=True)
            for share in SHARES:
                report(*run(place, node, peak * share), peak * share, share)
        finally:
            node.stop()


if __name__ == "__main__":
    main()
