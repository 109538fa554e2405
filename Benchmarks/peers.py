#!/usr/bin/env python3
"""Compares humon with other ways to serve its reads and writes, and to append to a log, on the same events and in turns:

- Hummingbird with its router and middleware around humon's modules (Peers/Hummingbird)
- FastAPI, asyncpg and uvloop with earthdistance, with the same routes of v1 (Peers/fastapi_peer.py)
- PostGIS with the statements of a server such as PostgREST, sent by pgbench
- Redis with GEOSEARCH, driven by redis-benchmark
- nginx with one file as long as an answer
- the appends of message-db and of Marten, as SQL of our own, driven by pgbench, beside humon's

Each round measures every row on each system, and every second round in the reverse order. The script first compares the answers of
the systems. It ends at the first wrong answer and at the first error. It writes docs/benchmarks/peers.txt and draws its chart.

Usage: Benchmarks/peers.py [ROUNDS [SECONDS-A-ROW]], EVENTS=100000, PLACE=DIRECTORY to keep the events and the rounds: a later run
with the same programs and the same seconds adds its rounds to them. Needs Python 3 with venv, PyPI once, wrk, pgbench, PostGIS,
redis-server, nginx, HummingbirdPeer, and .build/release/humon or HUMON=another one.
"""

import os, sys

import nodes

sys.path += [f"{nodes.ROOT}/Benchmarks/Peers", f"{nodes.ROOT}/checks/harness"]
import answers, report, seeding
from http_systems import FastAPI, Hummingbird, Humon, Nginx
from postgres import Cluster
from redis_peer import Redis
from sandbox import end_on_signals
from sql_systems import PostGIS, appends

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 5
SECONDS = int(sys.argv[2]) if len(sys.argv) > 2 else 4
EVENTS = int(os.environ.get("EVENTS", 100_000))
CONNECTIONS = 32
WARM_UP_SECONDS = 1
PORT = nodes.PORT + 10


def measure_round(cluster, systems, seconds, is_reversed):
    loads = {}
    for row in report.REQUESTS:
        for system in reversed(systems) if is_reversed else systems:
            if row not in system.rows:
                continue
            if row == "post":
                cluster.checkpoint()
            load = loads[row, system.name] = system.load(row, seconds, CONNECTIONS)
            print(f"{row}, {system.name}: {load.rate:.0f} a second, p50 {load.p50:.2f} ms, p99 {load.p99:.2f} ms", flush=True)
            if load.errors:
                sys.exit(f"{load.errors} requests failed")
    return loads


def compare(place, systems):
    """Starts the systems, which the caller stops, and measures all rounds."""
    # How many processes wanted a processor before this run.
    load_average = os.getloadavg()[0]

    def started(system):
        systems.append(system)
        system.prepare()
        return system

    humon, cluster = started(Humon(place, EVENTS)), Cluster(place)
    seeding.write_requests(place, EVENTS)
    seeding.seed(cluster, EVENTS)
    seeding.seed_appends(cluster)
    hummingbird = started(Hummingbird(place, PORT + 3, cluster))
    fastapi = started(FastAPI(place, PORT, cluster))
    systems.append(PostGIS(cluster, EVENTS))
    redis, nginx = started(Redis(place, PORT + 1, cluster, EVENTS)), started(Nginx(place, PORT + 2, humon))
    systems += appends(cluster)
    compared = answers.check(humon, hummingbird, fastapi, redis, cluster, EVENTS)
    print(f"{compared} answers are equal", flush=True)
    rounds = report.Rounds(place, report.conditions(cluster, EVENTS, SECONDS, CONNECTIONS))
    # pgbench warms each of its loads up.
    measure_round(cluster, [humon, hummingbird, fastapi, redis, nginx], WARM_UP_SECONDS, False)
    for _ in range(ROUNDS):
        print(f"round {len(rounds.loads) + 1}", flush=True)
        rounds.add(measure_round(cluster, systems, SECONDS, len(rounds.loads) % 2 == 1), load_average)
    text = report.tables(rounds, systems, nginx.sizes, compared)
    print(text)
    report.write(text)


def main():
    end_on_signals()
    with nodes.working_directory() as place:
        systems = []
        try:
            compare(place, systems)
        finally:
            # humon owns the database, so it stops last.
            for system in reversed(systems):
                system.stop()


if __name__ == "__main__":
    main()
