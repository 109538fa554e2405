"""The cluster of all systems: SQL by psql, databases, and load by pgbench."""

import glob, os, re, subprocess, sys

from wrk import Load

# pgbench writes the latency of this share of its transactions down. A larger share would slow it down.
SAMPLED_SHARE = 0.2
# At the beginning of a load, not measured: each connection plans its statements, and PostGIS fills its caches.
WARM_UP_SECONDS = 1


class Cluster:
    """The private cluster of humon in this directory, with humon's settings for all systems."""

    def __init__(self, place):
        self.place, self.socket = place, place + "/data/cluster"

    def url(self, database):
        return f"host='{self.socket}' user=humon dbname={database}"

    def run(self, database, *statements, script=None, data=None):
        """The standard output of psql, for statements or a script, with data for a COPY from standard input."""
        command = ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", self.url(database)]
        words = [word for statement in statements for word in ("-c", statement)] + (["-f", script] if script else [])
        result = subprocess.run(command + words, input=data, capture_output=True, text=True)
        if result.returncode != 0:
            sys.exit(f"psql: {result.stderr}")
        return result.stdout

    def exists(self, database):
        return self.run("postgres", f"SELECT 1 FROM pg_database WHERE datname = '{database}'") != ""

    def create(self, database, template="template0"):
        """A new database instead of the present one."""
        self.run("postgres", f"DROP DATABASE IF EXISTS {database} WITH (FORCE)", f"CREATE DATABASE {database} TEMPLATE {template}")

    def checkpoint(self):
        """Writes the dirty pages of earlier measurements before the next one."""
        self.run("postgres", "CHECKPOINT")

    def load(self, database, script, connections, seconds):
        """The load of pgbench with prepared statements, whose clients send the script over and over."""
        for old in glob.glob(f"{self.place}/latencies.*"):
            os.remove(old)
        with open(f"{self.place}/pgbench.sql", "w") as file:
            file.write(script + ";\n")
        result = subprocess.run(
            ["pgbench", "--no-vacuum", "--protocol=prepared", "--random-seed=7", f"--client={connections}", "--jobs=1",
             f"--time={WARM_UP_SECONDS + seconds}", "--progress=1", "--log", f"--log-prefix={self.place}/latencies",
             f"--sampling-rate={SAMPLED_SHARE}", f"--file={self.place}/pgbench.sql", self.url(database)], capture_output=True, text=True)
        # The end of each second, and the transactions a second since the end before it.
        progress = [tuple(map(float, found)) for found in re.findall(r"progress: ([\d.]+) s, ([\d.]+) tps", result.stderr)]
        if result.returncode != 0 or len(progress) <= WARM_UP_SECONDS:
            sys.exit(f"pgbench: {result.stdout}{result.stderr}")
        measured = sum((end - begin) * rate for (begin, _), (end, rate) in zip(progress, progress[1:]))
        requests, errors = [
            int(re.search(pattern, result.stdout).group(1)) for pattern in (r"actually processed: (\d+)", r"failed transactions: (\d+)")]
        latencies = self.latencies()
        return Load(
            measured / (progress[-1][0] - progress[0][0]), latencies[len(latencies) // 2], latencies[len(latencies) * 99 // 100], requests,
            errors)

    def latencies(self):
        """Milliseconds, sorted, of the transactions that began after the warm-up."""
        ends = []
        for path in glob.glob(f"{self.place}/latencies.*"):
            with open(path) as file:
                for line in file:
                    _, _, microseconds, _, second, of_second = map(int, line.split())
                    ends.append((second + of_second / 1e6, microseconds / 1_000))
        begin = min(end - latency / 1_000 for end, latency in ends) + WARM_UP_SECONDS
        return sorted(latency for end, latency in ends if end - latency / 1_000 >= begin)
