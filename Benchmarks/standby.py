"""Measures the work of a node for the primary, and the time until it shows writes, with and without a streaming standby.

`Benchmarks/nodes.py standby` calls it. Needs PostgreSQL's programs beside what nodes.py needs.
"""

import http.client, os, re, shutil, statistics, time

from nodes import EVENTS, ROUNDS, Node, details, paced, result

from cluster import as_postgres

FOLLOWED_PER_SECOND = 500
FOLLOWED_SECONDS = 20


class Standby:
    """A streaming standby of the first server's PostgreSQL."""

    def __init__(self, place):
        self.place = place + "/standby"
        os.makedirs(self.place, exist_ok=True)
        if os.getuid() == 0:
            shutil.chown(self.place, "postgres")
        os.chmod(self.place, 0o700)
        as_postgres("pg_basebackup", "-h", place + "/data/socket", "-U", "humon", "-D", self.place + "/cluster", "-R", "-c", "fast")
        as_postgres("pg_ctl", "start", "-w", "-s", "-D", self.place + "/cluster", "-l", self.place + "/log", "-o", f"-k {self.place}")
        self.url = f"host='{self.place}' user=humon dbname=postgres"

    def stop(self):
        as_postgres("pg_ctl", "stop", "-s", "-m", "immediate", "-D", self.place + "/cluster")


class Sessions:
    """The processor time on the primary of a node's sessions and of the standby's, and the statements that the node sent there."""

    def __init__(self, place, node):
        self.place, self.node = place, node
        self.values = self.read()

    def milliseconds(self, condition):
        query = "SELECT pid FROM pg_stat_activity WHERE " + condition
        pids = as_postgres("psql", "-h", self.place + "/data/socket", "-U", "humon", "-d", "postgres", "-Atc", query).split()
        return sum(int(open(f"/proc/{pid}/schedstat").read().split()[0]) for pid in pids) / 1e6

    def read(self):
        own = self.milliseconds("application_name = 'follower' AND backend_type = 'client backend'")
        count = re.search(r'query_duration_seconds_count{client="readers"} (\d+)', self.node.admin("/metrics")).group(1)
        return own, self.milliseconds("backend_type = 'walsender'"), int(count)

    def since(self):
        before, self.values = self.values, self.read()
        return [now - earlier for now, earlier in zip(self.values, before)]


def measure(place, first, own):
    seconds = FOLLOWED_SECONDS - 1
    print(f"A server loads {EVENTS + len(own)} events, and follows {FOLLOWED_PER_SECOND} writes a second of another one:")
    replica = Standby(place)
    rows = {"without a standby": {}, "with a standby": {"HUMON_REPLICA_URL": replica.url}}
    found = {name: [] for name in rows}
    try:
        for _ in range(ROUNDS):
            for name, settings in rows.items():
                url = f"host='{place}/data/socket' user=humon dbname=postgres application_name=follower"
                follower = Node(place, 2, url, **settings)
                sessions = Sessions(place, follower)
                loaded = sessions.values[0]
                writing = paced(place, first, "patch.txt", FOLLOWED_PER_SECOND, 16, FOLLOWED_SECONDS)
                shown = sorted(delays(first, follower, own, seconds))
                processor, sender, statements = (value / seconds for value in sessions.since())
                rate = result(writing)[2]
                if settings:
                    print("   ", *re.findall(r"humon_standby_(?:pages|loads|fallbacks)_total \d+", follower.admin("/metrics")), flush=True)
                assert '"differing":0' in follower.admin("/index/check")
                follower.stop()
                found[name].append(
                    (rate, loaded, processor, statements, sender, shown[len(shown) // 2], shown[len(shown) * 99 // 100]))
    finally:
        replica.stop()
    columns = [
        "writes/s", "ms of the primary for start and load", "ms of the primary a second", "pipelines to the primary a second",
        "ms of the sender of WAL a second", "shown after ms p50", "p99"]
    for number, column in enumerate(columns):
        print(f"  {column}:")
        for name, values in found.items():
            values = [value[number] for value in values]
            print(f"    {name}: {statistics.median(values):.1f} ({min(values):.1f} to {max(values):.1f})")


def delays(first, second, own, seconds):
    """Milliseconds from the response to a write until the other server shows it, about 50 times a second."""
    writer = http.client.HTTPConnection("127.0.0.1", first.port)
    reader = http.client.HTTPConnection("127.0.0.1", second.port)
    end, found = time.monotonic() + seconds, []
    while time.monotonic() < end:
        path = f"/v1/events/{own[len(found) % len(own)]}"
        _, headers, _ = first.send("PATCH", path, details(len(found)), connection=writer)
        begin, position, shown = time.monotonic(), int(headers["humon-position"]), False
        while not shown:
            _, headers, _ = second.send("GET", path, connection=reader)
            shown = int(headers["humon-position"]) >= position
        found.append((time.monotonic() - begin) * 1_000)
        time.sleep(0.01)
    return found
