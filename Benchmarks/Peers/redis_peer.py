"""Redis with GEOSEARCH: events are JSON under a key each, and a geo set has their places."""

import csv, json, os, re, shutil, socket, subprocess, sys

from process import Process
from seeding import FOLDER, POSTED, far_places, places, stored_events
from wrk import Load

# Redis computes distances on a sphere of this radius, and v1 on the other.
REDIS_EARTH_METRES, EARTH_METRES = 6_372_797.560856, 6_371_008.8
# The number of requests that find the rate of a row before its first measurement.
TRIAL_REQUESTS = 3_000


def words(*arguments):
    encoded = [str(argument).encode() for argument in arguments]
    return b"*%d\r\n" % len(encoded) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in encoded)


class Redis:
    name = "Redis, `GEOSEARCH`"

    def __init__(self, place, port, cluster, events):
        self.port, self.cluster, self.events, self.count, self.rates = port, cluster, events, len(places()), {}
        directory = place + "/redis"
        shutil.rmtree(directory, ignore_errors=True)
        os.makedirs(directory)
        self.process = Process(
            self.name, ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--dir", directory, "--save", "", "--appendonly", "yes",
             "--appendfsync", "everysec", "--auto-aof-rewrite-percentage", "0"], f"{place}/redis.log")
        self.rows = {
            "get": (events, ["GET", "event:__rand_int__"]),
            "near1": (self.count, ["FCALL_RO", "nearest", "0", "__rand_int__", self.metres(1)]),
            "near5": (self.count, ["FCALL_RO", "nearest", "0", "__rand_int__", self.metres(5)]),
            "post": (self.count, ["FCALL", "create", "0", "bench", "__rand_int__", *self.posted()]),
        }

    def prepare(self):
        ping = self.command("redis-cli", "PING")
        self.process.until("an answer", lambda: subprocess.run(ping, capture_output=True).stdout == b"PONG\n")
        self.seed()
        # A write is on the disk before its answer from now on, as in PostgreSQL.
        self.send("CONFIG", "SET", "appendfsync", "always")

    def metres(self, radius):
        """The radius that gives the events of v1 on the sphere of Redis."""
        return radius * 1_000 * REDIS_EARTH_METRES / EARTH_METRES

    def event(self, id):
        return json.loads(self.send("GET", f"event:{id:012}"))

    def nearest(self, number, radius):
        found = [json.loads(text) for text in self.send("FCALL_RO", "nearest", 0, number, self.metres(radius))]
        return found[0] if "message" in found[0] else found

    def posted(self):
        return [POSTED[name] for name in ("name", "address", "started_at")]

    def command(self, program, *arguments):
        return [program, "-p", str(self.port), *map(str, arguments)]

    def seed(self):
        """redis-benchmark counts from 0 and events from 1, so that event 1 also stands for 0."""
        lines = [words("HSET", "owners", "bench", 100_001), words("SET", "last_id", self.events)]
        for id, lon, lat, text in stored_events(self.cluster, self.events):
            lines += [words("SET", f"event:{id:012}", text), words("GEOADD", "places", lon, lat, f"event:{id:012}")]
            if id == 1:
                lines.append(words("SET", f"event:{0:012}", text))
        for number, ((lat, lon), (far_lat, far_lon)) in enumerate(zip(places(), far_places(self.count))):
            lines.append(words("HSET", f"centre:{number}", "lon", lon, "lat", lat, "far_lon", far_lon, "far_lat", far_lat))
        with open(f"{FOLDER}/redis.lua") as file:
            lines.append(words("FUNCTION", "LOAD", file.read()))
        told = subprocess.run(self.command("redis-cli", "--pipe"), input=b"".join(lines), capture_output=True, check=True).stdout.decode()
        if "errors: 0," not in told:
            sys.exit(f"redis-cli: {told}")

    def send(self, *arguments):
        """A reply that is a string, a number, or a list of strings."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as connection, connection.makefile("rb") as replies:
            connection.sendall(words(*arguments))

            def reply():
                line = replies.readline().decode()
                if line[0] == "$":
                    return replies.read(int(line[1:]) + 2)[:-2].decode() if int(line[1:]) >= 0 else None
                assert line[0] != "-", line
                return [reply() for _ in range(int(line[1:]))] if line[0] == "*" else line[1:].strip()

            return reply()

    def errors(self):
        return int(re.search(r"total_error_replies:(\d+)", self.send("INFO", "stats"))[1])

    def load(self, row, seconds, connections):
        """redis-benchmark ends after a number of requests, so that the duration is about as many seconds."""
        if row not in self.rates:
            self.rates[row] = self.benchmark(row, TRIAL_REQUESTS, connections).rate
        load = self.benchmark(row, int(self.rates[row] * seconds), connections)
        self.rates[row] = load.rate
        return load

    def benchmark(self, row, requests, connections):
        keys, command = self.rows[row]
        before = self.errors()
        told = subprocess.run(
            self.command("redis-benchmark", "-c", connections, "-n", requests, "-r", keys, "--csv", "--precision", 3, *command),
            capture_output=True, text=True, check=True).stdout
        found = list(csv.DictReader(line for line in told.splitlines() if line.startswith('"')))[0]
        return Load(
            float(found["rps"]), float(found["p50_latency_ms"]), float(found["p99_latency_ms"]), requests, self.errors() - before)

    def stop(self):
        self.process.stop()
