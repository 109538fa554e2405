#!/usr/bin/env python3
"""Compares humon with plain Hummingbird (BareServer --modules): the router and the middleware of Hummingbird around the same modules.

Both servers run on one PostgreSQL, each with an index of its own. In each round each row is measured on both servers, in turns.

Usage: Benchmarks/servers.py [ROUNDS [SECONDS-A-ROW]], EVENTS=100000, PLACE=DIRECTORY to keep and reuse the events (that of
Benchmarks/http.sh will do). Needs Python 3, wrk, .build/release/humon and BareServer.
"""
import gzip, json, os, random, re, statistics, sys

import nodes, wrk

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 5
SECONDS = int(sys.argv[2]) if len(sys.argv) > 2 else 4
EVENTS = int(os.environ.get("EVENTS", 100_000))
# The share of humon's requests a second from which on plain Hummingbird is the better house (decision 29).
ENOUGH = 0.9
SETTINGS = {"HUMON_INDEX_MEGABYTES": "4000", "HUMON_LOG_LEVEL": "notice"}


def write_requests(place):
    chance, places = random.Random(7), list(nodes.places())
    rows = {
        "get": [f"GET /v1/events/{chance.randint(1, EVENTS)}" for _ in range(5_000)],
        "list": [f"GET /v1/events/nearests?lat={lat:.6f}&lon={lon:.6f}&radius=5" for lat, lon in places],
        "post": [],
    }
    for lat, lon in places:
        # Writes go farther out than searches, so that searches find the same events in each round.
        event = {"name": "Party at the park", "address": "85 2nd Street", "lat": round(min(89, lat + 0.2), 6), "lon": lon,
                 "started_at": "2013-09-16T00:00:00.000Z"}
        rows["post"].append("POST /v1/events " + json.dumps(event, separators=(",", ":")))
    for row, lines in rows.items():
        open(f"{place}/{row}.txt", "w").write("\n".join(lines) + "\n")
    return rows


def check_equal(servers, rows):
    """Both servers must send the same bytes for the same request."""
    for row in ("get", "list"):
        for line in rows[row][:50]:
            path, found = line.split(" ")[1], []
            for server in servers:
                status, fields, body = server.exchange("GET", path, headers={"accept-encoding": "gzip"})
                is_compressed = fields.get("content-encoding") == "gzip"
                # The version. The bare server's tags have no mark.
                tag = re.match(r'"\d+', fields["etag"]).group() if row == "get" else None
                plain = gzip.decompress(body) if is_compressed else body
                found.append((status, is_compressed, fields.get("content-type"), tag, plain))
            if found[0] != found[1]:
                sys.exit(f"The servers differ for {path}: {found}")
    line = rows["post"][0].split(" ", 2)
    for server in servers:
        status, fields, body = server.send("POST", line[1], line[2])
        if status != 200 or not re.fullmatch(r'\{"id":\d+\}', body) or "humon-position" not in fields:
            sys.exit(f"{server.name}: POST got {status} {body}")


def measure(place, server, row):
    return wrk.result(wrk.start(server.port, f"{place}/{row}.txt", connections=64, seconds=SECONDS, encoding="gzip"))


def compare(place):
    servers = []
    try:
        humon = nodes.Node(place, 0, **SETTINGS)
        humon.name = "humon"
        servers.append(humon)
        if humon.send("GET", f"/v1/events/{EVENTS}")[0] != 200:
            nodes.fill(place, EVENTS)
        humon.send("POST", "/v1/users")
        url = f"postgresql:///postgres?host={place}/data/socket&user=humon"
        port = nodes.PORT + 2
        command = [nodes.ROOT + "/.build/release/BareServer", "--modules", str(port)]
        plain = nodes.Server("hummingbird", command, place, port, url, **SETTINGS)
        servers.append(plain)
        plain.process.until("the start", lambda: plain.send("GET", "/v1/events/1")[0] == 200, nodes.START_SECONDS)
        rows = write_requests(place)
        # The index of each server is loaded when its lists have a tag: the position of the index.
        for server in servers:
            path = rows["list"][0].split(" ")[1]
            server.process.until("the load of the index", lambda: "etag" in server.send("GET", path)[1], nodes.START_SECONDS)
        check_equal(servers, rows)
        print(f"{EVENTS:,} events, 64 connections, {ROUNDS} rounds of {SECONDS} s a row; medians of the rounds\n")
        report(measure_all(place, servers))
    finally:
        # humon owns the database, so it stops last.
        for server in reversed(servers):
            server.stop()


def main():
    with nodes.working_directory() as place:
        compare(place)


def measure_all(place, servers):
    found = {}
    # The first round warms up.
    for number in range(ROUNDS + 1):
        for row in ("get", "list", "post"):
            for server in servers if number % 2 else reversed(servers):
                result = measure(place, server, row)
                if number > 0:
                    found.setdefault((row, server.name), []).append(result)
    return found


def report(found):
    names = {"get": "`GET /v1/events/{id}`", "list": "`nearests`, 5 km, gzip", "post": "`POST /v1/events`"}
    print("| request | server | per s | lowest–highest | p50 | p99 |\n|---|---|---:|---:|---:|---:|")
    for (row, name), results in sorted(found.items(), key=lambda item: (list(names).index(item[0][0]), item[0][1] != "humon")):
        rates = [load.rate for load in results]
        print(f"| {names[row]} | {name} | {statistics.median(rates):.0f} | {min(rates):.0f}–{max(rates):.0f} "
              f"| {statistics.median(load.p50 for load in results):.1f} ms | {statistics.median(load.p99 for load in results):.1f} ms |")
    print()
    for row, label in names.items():
        ratios = [plain.rate / own.rate for own, plain in zip(found[row, "humon"], found[row, "hummingbird"])]
        median = statistics.median(ratios)
        print(f"{label}: Hummingbird makes {median:.2f} of humon's requests a second ({min(ratios):.2f}–{max(ratios):.2f}), "
              f"{'at least' if median >= ENOUGH else 'less than'} {ENOUGH}")


main()
