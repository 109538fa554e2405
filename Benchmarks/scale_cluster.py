"""A PostgreSQL cluster of Benchmarks/scale.py, its databases with logs of a given length, and the requests to them."""

import os, random, re, resource, shutil, subprocess, sys, time

import nodes
import wrk

from cluster import as_postgres

# For a machine of 8 GB or more. No checkpoint begins during a round of some seconds. Commits are durable.
SETTINGS = {
    "listen_addresses": "", "max_connections": "60", "shared_buffers": "2GB", "effective_cache_size": "8GB", "work_mem": "32MB",
    "maintenance_work_mem": "512MB", "wal_compression": "lz4", "max_wal_size": "3GB", "checkpoint_timeout": "5min"}
# Never to be used up: other programs need the disk too.
RESERVED_BYTES = 10 * 10**9
# WAL and sort files beside the data.
TEMPORARY_BYTES = 5 * 10**9
FILL_BATCH = 1_000_000

# Requests of a file in turn, each with its token; all are made before the run, because wrk shares the machine with the server. With KEY
# each request has an idempotency key of its own.
LOAD = """
local requests, number, sent, key = {}, 0, 0, os.getenv("KEY")
init = function()
    for line in io.lines(os.getenv("REQUESTS")) do
        local method, token, path, body = line:match("^(%S+) (%S+) (%S+) ?(.*)")
        local headers = method == "GET" and {} or { ["content-type"] = "application/json", ["tb-device-token"] = token }
        if os.getenv("GZIP") then headers["accept-encoding"] = "gzip" end
        if key then headers["idempotency-key"] = "KEY" end
        table.insert(requests, wrk.format(method, path, headers, body ~= "" and body or nil))
    end
    number = math.random(#requests)
end
request = function()
    number, sent = number % #requests + 1, sent + 1
    return key and requests[number]:gsub("KEY", key .. sent, 1) or requests[number]
end
"""


class Cluster:
    """A cluster below a directory, which another run with the same directory uses again."""

    def __init__(self, place):
        self.place = place
        os.makedirs(place, exist_ok=True)
        if os.getuid() == 0:
            shutil.chown(place, "postgres")
        if not os.path.exists(place + "/data"):
            as_postgres("initdb", "-D", place + "/data", "-E", "UTF8", "--locale", "C.UTF-8", "-A", "trust", "-U", "humon")
        # One that runs already is used as it is.
        self.is_ours = not os.path.exists(place + "/data/postmaster.pid")
        if self.is_ours:
            options = " ".join(f"-c {name}='{value}'" for name, value in SETTINGS.items())
            as_postgres("pg_ctl", "start", "-w", "-D", place + "/data", "-l", place + "/log", "-o", f"-k '{place}' {options}")

    def stop(self):
        if self.is_ours:
            as_postgres("pg_ctl", "stop", "-m", "fast", "-D", self.place + "/data")

    def url(self, database):
        return f"host={self.place} user=humon dbname={database}"

    def sql(self, database, *statements, **variables):
        arguments = [option for statement in statements for option in ("-c", statement)]
        result = subprocess.run(["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", self.url(database), *arguments], stdout=subprocess.PIPE, text=True)
        return result.stdout.strip() if result.returncode == 0 else sys.exit(f"psql failed: {statements}")

    def humon(self, database, *arguments):
        """Runs a command of humon, and returns its seconds, the seconds of processors that it and PostgreSQL used, and its output."""
        environment = dict(os.environ, DATABASE_URL=self.url(database), TB_APP_SECRET="benchmark")
        begin, used = time.monotonic(), self.processor_seconds() + children_seconds()
        result = subprocess.run([nodes.HUMON, *arguments], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if result.returncode != 0:
            sys.exit(f"humon {' '.join(arguments)}: {result.stdout}{result.stderr}")
        seconds = time.monotonic() - begin
        return seconds, self.processor_seconds() + children_seconds() - used, result.stdout

    def filled(self, total):
        """Returns the database with a log of this length, and the seconds of each million; none if it was there before."""
        database = f"recorded_{total}"
        if self.sql("postgres", f"SELECT count(*) FROM pg_database WHERE datname = '{database}'") == "0":
            self.sql("postgres", f"CREATE DATABASE {database}")
            self.humon(database, "migrate")
            self.sql(database, "CREATE SCHEMA benchmark", "CREATE TABLE benchmark.cities (number integer PRIMARY KEY, lat float8, lon float8)")
            cities = ",".join(f"({number},{lat},{lon})" for number, (lat, lon) in enumerate(nodes.places()))
            self.sql(database, f"INSERT INTO benchmark.cities VALUES {cities}")
            subprocess.run(["psql", "-Xq", self.url(database), "-f", nodes.ROOT + "/Benchmarks/recorded-events.sql"], check=True)
        seconds, first = [], int(self.sql(database, "SELECT log.tail()")) + 1
        for start in range(first, total + 1, FILL_BATCH):
            if shutil.disk_usage(self.place).free < RESERVED_BYTES:
                sys.exit(f"the disk has less than {RESERVED_BYTES / 1e9:.0f} GB left after {start - 1} recorded events")
            begin = time.monotonic()
            self.sql(database, f"CALL benchmark.fill({start}, {min(total, start + FILL_BATCH - 1)})")
            seconds.append(time.monotonic() - begin)
        if seconds:
            # Beyond every number in use.
            self.sql(database, f"SELECT setval('log.user_ids', {total // 10 + 100}), setval('log.event_ids', {total // 5 + 100})")
            self.sql(database, "VACUUM ANALYZE", "CHECKPOINT")
        return database, seconds

    def processor_seconds(self):
        """Those of all processes of PostgreSQL that run or have ended."""
        server = int(open(self.place + "/data/postmaster.pid").readline())
        every = [server] + [int(pid) for pid in subprocess.run(["pgrep", "-P", str(server)], stdout=subprocess.PIPE, text=True).stdout.split()]
        return sum(processor_seconds(pid, with_children=pid == server) for pid in every)

    def wal(self):
        """Bytes of WAL, and full-page images, since the start."""
        records = self.sql("postgres", "SELECT wal_bytes, wal_fpi FROM pg_stat_wal").split("|")
        return int(records[0]), int(records[1])


def children_seconds():
    """Those of all processes that this one has waited for."""
    return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def processor_seconds(pid, with_children=False):
    try:
        fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    except FileNotFoundError:
        return 0
    return sum(int(ticks) for ticks in fields[11:15 if with_children else 13]) / os.sysconf("SC_CLK_TCK")


class World:
    """What Benchmarks/recorded-events.sql makes: users, events and their owners, by the length of the log."""

    def __init__(self, total, seed=1):
        self.users, self.events, self.random = total // 10, (total - 11) // 10 * 2, random.Random(seed)
        self.cities = list(nodes.places())

    def token(self, user):
        return f"device-of-user-{user}"

    def place(self, kilometres=5):
        lat, lon = self.random.choice(self.cities)
        spread = kilometres / 111.195
        return lat + self.random.gauss(0, spread), lon + self.random.gauss(0, spread)

    def details(self):
        lat, lon = self.place()
        number = self.random.randrange(1_000)
        return (f'{{"name":"Neighbourhood dinner {number}","address":"{number % 200} Market Street","lat":{lat:.6f},"lon":{lon:.6f},'
                '"started_at":"2030-09-16T19:00:00.000Z"}')

    def created(self):
        return f"POST {self.token(self.random.randint(1, self.users))} /v1/events {self.details()}"

    def changed(self):
        """An owner changes an old event, or a user attends one, where the pages of both are seldom in memory."""
        event = self.random.randint(1, self.events)
        if self.random.random() < 0.5:
            return f"PATCH {self.token((event - 1) // 2 + 11)} /v1/events/{event} {self.details()}"
        return f'POST {self.token(self.random.randint(1, self.users))} /v1/attendances {{"event":{{"id":{event}}}}}'

    def read(self):
        return f"GET - /v1/events/{self.random.randint(1, self.events)}"

    def nearest(self, radius):
        lat, lon = self.place(3)
        return f"GET - /v1/events/nearests?lat={lat:.5f}&lon={lon:.5f}&radius={radius:.4f}"

    def box(self, kilometres):
        lat, lon = self.place(3)
        half = kilometres / 111.195 / 2
        return f"GET - /v1/events?bbox={lon - half:.5f},{lat - half:.5f},{lon + half:.5f},{lat + half:.5f}"


def write_requests(path, request, count=20_000):
    with open(path, "w") as file:
        file.writelines(request() + "\n" for _ in range(count))


def load(place, node, requests, seconds, connections=64, gzip=False, key=None):
    """Runs wrk at full load, with idempotency keys that begin with `key`. Returns requests a second, p50, p99 and the longest in milliseconds, and bytes of a response."""
    with open(place + "/load.lua", "w") as file:
        file.write(LOAD)
    environment = dict(os.environ, REQUESTS=requests, **{"GZIP": "1"} if gzip else {}, **{"KEY": key} if key else {})
    process = subprocess.run(
        ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "-s", place + "/load.lua", f"http://127.0.0.1:{node.port}"],
        env=environment, stdout=subprocess.PIPE, text=True, check=True)
    text = process.stdout
    if "Non-2xx" in text or "Socket errors" in text:
        sys.exit("requests failed: " + " ".join(re.findall(r"Non-2xx.*|Socket errors.*", text)))
    found = [re.search(pattern, text).group(1) for pattern in (r"\n\s+50%\s+(\S+)", r"\n\s+99%\s+(\S+)", r"Latency\s+\S+\s+\S+\s+(\S+)")]
    count, rate = int(re.search(r"(\d+) requests in", text).group(1)), float(re.search(r"Requests/sec:\s+([\d.]+)", text).group(1))
    size, unit = re.search(r"requests in [\d.]+\w+, ([\d.]+)(\w+) read", text).groups()
    sent = float(size) * {"B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30}[unit]
    return rate, *map(wrk.milliseconds, found), sent / count, count
