#!/usr/bin/env python3
"""Measures a server under four times the load of reads that it can answer. Goodput is the number of responses with 200
within the patience of a client, a second.

Usage: Benchmarks/overload.py. EVENTS=200000, SECONDS=10, PATIENCE=1. Needs Python 3, wrk and .build/release/humon.
"""

import os, random, re, subprocess, sys

import nodes

SECONDS = int(os.environ.get("SECONDS", 10))
PATIENCE = os.environ.get("PATIENCE", "1")
CONNECTIONS = 2_048

SCRIPT = """
local requests, number, threads = {}, 0, {}
setup = function(thread) table.insert(threads, thread) end
init = function()
    good, refused = 0, 0
    for path in io.lines(os.getenv("PATHS")) do table.insert(requests, wrk.format("GET", path)) end
end
delay = function() return math.random() * 2 * tonumber(os.getenv("PAUSE")) end
request = function()
    number = number % #requests + 1
    return requests[number]
end
response = function(status)
    if status == 200 then good = good + 1 elseif status == 503 then refused = refused + 1 end
end
done = function(summary, latency)
    local errors = summary.errors
    local broken = errors.connect + errors.read + errors.write
    print("RESULT", threads[1]:get("good"), threads[1]:get("refused"), errors.timeout, broken, latency:percentile(50), latency:percentile(99))
end
"""


def load(place, node, paths, connections, pause):
    """Requests a second by result: in time, refused, too late, broken; and the response times in milliseconds."""
    text = subprocess.run(
        ["wrk", "-t1", f"-c{connections}", f"-d{SECONDS}s", f"--timeout={PATIENCE}s", "-s", f"{place}/overload.lua",
         f"http://127.0.0.1:{node.port}"],
        env=dict(os.environ, PATHS=f"{place}/{paths}", PAUSE=str(pause)), stdout=subprocess.PIPE, text=True).stdout
    good, refused, late, broken, p50, p99 = map(float, re.search(r"RESULT\t(.*)", text).group(1).split("\t"))
    return (good - late) / SECONDS, refused / SECONDS, late / SECONDS, broken / SECONDS, p50 / 1_000, p99 / 1_000


def measure(place):
    open(f"{place}/overload.lua", "w").write(SCRIPT)
    with open(f"{place}/read.txt", "w") as file:
        for _ in range(5_000):
            file.write(f"/v1/events/{random.randint(1, nodes.EVENTS)}\n")
    if not os.path.exists(place + "/data"):
        nodes.fill(place, nodes.EVENTS)
    print(f"{nodes.EVENTS} events, {SECONDS} s a row, a client waits {PATIENCE} s; a second:")
    print("| | offered | in time | refused | too late | broken | p50 | p99 |\n|---|---:|---:|---:|---:|---:|---:|---:|")
    for requests in (256, 100_000):
        node = nodes.Node(place, 0, HUMON_REQUESTS=str(requests), HUMON_INDEX_MEGABYTES="2000")
        load(place, node, "read.txt", 64, 0)
        capacity = load(place, node, "read.txt", 64, 0)[0]
        for times in (1, 4):
            offered = capacity * times
            row = load(place, node, "read.txt", *((64, 0) if times == 1 else (CONNECTIONS, CONNECTIONS / offered * 1_000)))
            numbers = " | ".join(f"{number:.0f}" for number in row[:4])
            limit = f"at most {requests} at a time" if requests < 100_000 else "without a limit"
            print(f"| reads from the index, {limit}, {times}x | {offered:.0f} | {numbers} | {row[4]:.0f} ms | {row[5]:.0f} ms |", flush=True)
        node.stop()


def main():
    if len(sys.argv) > 1:
        sys.exit(__doc__)
    with nodes.working_directory() as place:
        measure(place)


main()
