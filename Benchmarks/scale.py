#!/usr/bin/env python3
"""Measures what grows with the number of events and with the length of the log.

Usage: Benchmarks/scale.py index|log|model

  index  nodes with 1 and 10 million events in memory, beside each other: bytes of an event, time to ready, searches, pauses of the
         writer, freshness of a second node. INDEXED="1000000 10000000"
  log    logs of 1, 10 and 50 million recorded events: sizes, rebuild, verification, searches of an operator, and appends beside those of
         a short log, in turns. RECORDED="1000000 10000000 50000000"; the script takes the most that leaves 10 GB of the disk free
  model  what a service needs by the number of its users, from the measured figures in Benchmarks/capacity.json

ROUNDS=5, SECONDS=6 (a round). PLACE=DIRECTORY keeps the cluster and its logs for another run, 40 GB; an interrupted run goes on there.
HUMON=PROGRAM measures another program than .build/release/humon. Needs Python 3, wrk and PostgreSQL. To fill a million
recorded events takes about 18 s.
"""

import os, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import capacity, nodes, scale_index, scale_log
from scale_cluster import Cluster

ROUNDS = int(os.environ.get("ROUNDS", 5))
SECONDS = int(os.environ.get("SECONDS", 6))


def numbers(name, default):
    return [int(number) for number in os.environ.get(name, default).split()]


def main():
    part = sys.argv[1] if len(sys.argv) == 2 else ""
    if part == "model":
        return print(capacity.page())
    if part not in ("index", "log"):
        sys.exit(__doc__)
    with nodes.working_directory() as place:
        cluster = Cluster(place)
        try:
            if part == "index":
                scale_index.measure(cluster, numbers("INDEXED", "1000000 10000000"), ROUNDS, SECONDS)
            else:
                scale_log.measure(cluster, numbers("RECORDED", "1000000 10000000 50000000"), ROUNDS, SECONDS)
        finally:
            cluster.stop()


if __name__ == "__main__":
    main()
