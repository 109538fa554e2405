"""The part `index` of Benchmarks/scale.py: nodes that hold few and many events in memory, beside each other."""

import http.client, math, re, statistics, threading, time

import nodes
from scale_cluster import World, load, processor_seconds, write_requests

# Recorded events for each event; see Benchmarks/recorded-events.sql.
RECORDED_PER_EVENT = 5
PROBES_PER_SECOND = 100


class Held:
    """A node with the index of a database, and the requests to it."""

    def __init__(self, cluster, number, events, smallest, starts):
        self.events, self.world, self.place = events, World(events * RECORDED_PER_EVENT, seed=number), cluster.place
        database, _ = cluster.filled(events * RECORDED_PER_EVENT)
        if cluster.sql(database, "SELECT count(*) = 0 FROM pg_tables WHERE tablename = 'events' AND schemaname ~ '_v[0-9]+$'") == "t":
            cluster.humon(database, "projections", "rebuild", "--all")
        self.url, self.number = cluster.url(database), number
        self.ready = []
        for attempt in range(starts):
            if attempt:
                self.node.stop()
            begin = time.monotonic()
            self.node = nodes.Node(cluster.place, number, self.url, HUMON_INDEX_MEGABYTES="40000")
            self.ready.append(time.monotonic() - begin)
        self.resident, self.most = self.node.resident_megabytes(), self.megabytes("VmHWM")
        self.loaded = int(re.findall(r"events_per_second=(\d+)", self.node.log())[-1])
        nearer = math.sqrt(smallest / events)
        self.files = {}
        for name, request in {
            "`GET` by id": self.world.read,
            "`nearests`, 1 km": lambda: self.world.nearest(1),
            "`nearests`, 5 km": lambda: self.world.nearest(5),
            "`nearests`, 5 km, gzip": lambda: self.world.nearest(5),
            "box of 2 km": lambda: self.world.box(2),
            "`nearests`, as many events as in 1 km of the smallest": lambda: self.world.nearest(nearer),
            "`POST`": self.world.created,
        }.items():
            self.files[name] = f"{cluster.place}/index-{number}-{len(self.files)}"
            write_requests(self.files[name], request)

    def megabytes(self, field):
        return int(re.search(rf"{field}:\s+(\d+)", open(f"/proc/{self.node.process.pid}/status").read()).group(1)) / 1024

    def metric(self, name):
        return float(re.search(rf"^{name} (\S+)", self.node.admin("/metrics"), re.M).group(1))


class Probe:
    """One connection that creates an event at a constant rate. Times count from the moment at which a request was due."""

    def __init__(self, held):
        self.held, self.times, self.stops = held, [], False
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.held.node.port, timeout=60)
        token, body = self.held.world.token(1), self.held.world.details()
        begin, number = time.monotonic(), 0
        while not self.stops:
            due = begin + number / PROBES_PER_SECOND
            time.sleep(max(0, due - time.monotonic()))
            status, _, answer = self.held.node.send("POST", "/v1/events", body, {"tb-device-token": token}, connection)
            assert status == 200, answer
            # The response waits until the index of this node has the event.
            self.times.append((time.monotonic() - due) * 1_000)
            number += 1

    def result(self):
        self.stops = True
        self.thread.join()
        return f"{nodes.quantiles(self.times)}, longest {max(self.times):.0f} ms (of {len(self.times):,})"


def report_memory(all_held, cluster):
    empty = nodes.Node(cluster.place, 9, cluster.url(cluster.filled(10_000)[0]))
    base = empty.resident_megabytes()
    empty.stop()
    print("| events in the index | `humon_index_bytes` each | process each | process each, most during the load | loaded a second | ready after |")
    print("|---:|---:|---:|---:|---:|---:|")
    for held in all_held:
        count = held.metric("humon_index_events")
        each = [(value - base) * 2**20 / count for value in (held.resident, held.most)]
        print(f"| {count:,.0f} | {held.metric('humon_index_bytes') / count:.0f} B | {each[0]:.0f} B | {each[1]:.0f} B | {held.loaded:,} "
              f"| {', '.join(f'{seconds:.1f} s' for seconds in held.ready)} |")
    print(f"\nA node with 2,000 events has {base:.0f} MB, which the two columns of the process leave out.")


def report_requests(all_held, rounds, seconds):
    print(f"\n{rounds} rounds of {seconds} s in turns, 64 connections; medians, and the ratio to the smallest index in the same round\n")
    print("| request | events in the index | per s | lowest to highest | p99 | longest | bytes | µs of humon's processor | ratio |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for name in all_held[0].files:
        found = [[] for _ in all_held]
        for number in range(rounds):
            order = list(enumerate(all_held))
            for index, held in order if number % 2 == 0 else reversed(order):
                before = processor_seconds(held.node.process.pid)
                rate, _, p99, longest, size, count = load(held.place, held.node, held.files[name], seconds, gzip=name.endswith("gzip"))
                found[index].append((rate, p99, longest, size, (processor_seconds(held.node.process.pid) - before) / count * 1e6))
        for held, rows in zip(all_held, found):
            ratios = [row[0] / first[0] for row, first in zip(rows, found[0])]
            rates, p99, longest, size, processor = zip(*rows)
            middle = statistics.median
            print(f"| {name} | {held.events:,} | {middle(rates):,.0f} | {min(rates):,.0f} to {max(rates):,.0f} | {middle(p99):.1f} ms "
                  f"| {max(longest):.0f} ms | {middle(size):,.0f} | {middle(processor):.0f} | {middle(ratios):.2f} "
                  f"({min(ratios):.2f} to {max(ratios):.2f}) |", flush=True)


def report_pauses(all_held, seconds):
    print(f"\nTime from the moment at which a write is due until its response, which waits for the index; {PROBES_PER_SECOND} a second:\n")
    for load_name, connections in (("alone", 0), ("beside 64 connections that create events at full load", 64)):
        for held in all_held:
            probe, rate = Probe(held), 0
            if connections:
                rate = load(held.place, held.node, held.files["`POST`"], seconds, connections)[0]
            else:
                time.sleep(seconds)
            beside = f", {rate:,.0f} a second" if rate else ""
            print(f"- {held.events:,} events, {load_name}{beside}: {probe.result()}", flush=True)


def report_freshness(held):
    """Writes to this node until a second node with the same events shows them."""
    second = nodes.Node(held.place, 8, held.url, HUMON_INDEX_MEGABYTES="40000")
    try:
        held.node.send("POST", "/v1/users")
        own = [int(re.search(r"\d+", held.node.send("POST", "/v1/events", nodes.details(n))[2]).group()) for n in range(1_000)]
        with open(held.place + "/patch.txt", "w") as file:
            file.writelines(f"PATCH /v1/events/{id} {nodes.details(id * 31)}\n" for id in own)
        print(f"\n{held.events:,} events in each of two nodes. ", end="")
        nodes.freshness(held.place, held.node, second, own)
    finally:
        second.stop()


def measure(cluster, counts, rounds, seconds):
    all_held = []
    try:
        for number, events in enumerate(sorted(counts)):
            all_held.append(Held(cluster, number, events, min(counts), starts=3 if events < 5_000_000 else 2))
        report_memory(all_held, cluster)
        report_requests(all_held, rounds, seconds)
        report_pauses(all_held, 5 * seconds)
        for held in all_held:
            report_freshness(held)
            print(f"- after all of this, index and read model: {held.node.admin('/index/check').strip()}")
    finally:
        for held in all_held:
            held.node.stop()
