"""The part `log` of Benchmarks/scale.py: the costs of a log by its length, and its appends beside those of a short log, in turns."""

import hashlib, json, math, os, shutil, statistics, time

import nodes
from scale_cluster import RESERVED_BYTES, TEMPORARY_BYTES, World, load, write_requests

# The short log beside which appends are measured: its tables and indexes fit into a processor's cache.
SHORT = 10_000
LARGEST_TABLES = 6
KEYED = "`POST /v1/events`, a key each"


def size(cluster, database, schema):
    rows = cluster.sql(database, f"""
        SELECT c.relname, pg_total_relation_size(c.oid) * (c.relkind = 'r')::int, pg_relation_size(c.oid) FROM pg_class AS c
        JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname ~ '{schema}' AND c.relkind IN ('r', 'i')""")
    rows = [row.split("|") for row in rows.split("\n")]
    return sum(int(total) for _, total, _ in rows), {name: int(own) for name, _, own in rows}


def commands(total):
    """Commands of an operator, whose answers lie in the middle of the log."""
    middle = total // 2 // 10 * 10 + 2
    request = hashlib.md5(str(middle).encode()).hexdigest()
    request = "-".join((request[:8], request[8:12], request[12:16], request[16:20], request[20:]))
    # Five recorded events a second since the beginning of 2026.
    second = 1_767_225_600 + middle // 5
    since, until = (time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(second + extra)) for extra in (0, 60))
    return {
        "humon log show": ["log", "show", str(middle)],
        "humon log search --request": ["log", "search", "--request", request],
        "humon log search --actor, 10 newest": ["log", "search", "--actor", str(total // 20), "--limit", "10"],
        "humon log search --type, 10 newest": ["log", "search", "--type", "UserCreated", "--limit", "10"],
        "humon log search, a minute in the middle": ["log", "search", "--since", since, "--until", until, "--limit", "1000"],
        "humon log search --text, 1,000,000 positions": ["log", "search", "--text", "dinner 77", "--limit", "10000", "--scan", "1000000"],
        "humon streams show": ["streams", "show", f"event-{total // 10}"],
        "humon log stats": ["log", "stats"],
        "humon projections list": ["projections", "list"],
        "humon doctor": ["doctor"],
    }


def fits(cluster, total, bytes_of_log, bytes_of_models):
    """The length of the longest log up to `total` that fits beside its read models and their copies in a rebuild."""
    there = cluster.sql("postgres", f"SELECT coalesce(sum(pg_database_size(datname)), 0) FROM pg_database WHERE datname = 'recorded_{total}'")
    free = shutil.disk_usage(cluster.place).free + int(there) - RESERVED_BYTES - TEMPORARY_BYTES
    most = int(free / (bytes_of_log + 2 * bytes_of_models) / 1_000_000) * 1_000_000
    if most < total:
        print(f"{total:,} recorded events do not fit: {free / 1e9:.0f} GB are free for them, so {most:,} are measured")
    return min(total, most)


def measure_command(cluster, database, rows, *arguments):
    """Adds its seconds, and those of processors, which depend less on other programs of the machine. Returns its output."""
    seconds, processor, answer = cluster.humon(database, *arguments)
    name = " ".join(argument for argument in arguments if argument != "--json")
    rows[f"`humon {name}`"], rows[f"of which processors, `{name}`"] = (seconds, "s"), (processor, "s")
    return answer


def measure_one(cluster, total):
    """Returns rows of (name, value, unit), in the order of the table."""
    database, filling = cluster.filled(total)
    rows = {}
    if filling:
        rows["SQL fills a million recorded events"] = (sum(filling) / total * 1e6, "s")
    log, relations = size(cluster, database, "^log$")
    rows["log"] = (log, "B")
    for name, own in sorted(relations.items(), key=lambda item: -item[1])[:LARGEST_TABLES]:
        if name.startswith("recorded_events"):
            rows[f"`{name}`"] = (own, "B")
    answer = measure_command(cluster, database, rows, "projections", "rebuild", "--all", "--json")
    held = [json.loads(line).get("held_seconds") for line in answer.splitlines()]
    rows["of which appends wait"] = (max((one for one in held if one is not None), default=0), "s")
    rows["read models"] = (size(cluster, database, "_v[0-9]+$")[0], "B")
    measure_command(cluster, database, rows, "projections", "verify", "--all")
    measure_command(cluster, database, rows, "log", "verify")
    cluster.sql(database, "VACUUM ANALYZE", "CHECKPOINT")
    for name, arguments in commands(total).items():
        rows[f"`{name}`" if "," not in name else name] = (statistics.median(cluster.humon(database, *arguments)[0] for _ in range(3)), "s")
    return rows


def measure_appends(cluster, total, rounds, seconds):
    """Writes to a short log and to this one, in turns. Prints the rates and their ratios."""
    databases = [(SHORT, cluster.filled(SHORT)[0]), (total, cluster.filled(total)[0])]
    kinds = {"`POST /v1/events`": World.created, KEYED: World.created, "changes of old events": World.changed}
    started, files = [], {}
    try:
        for number, (length, database) in enumerate(databases):
            begin = time.monotonic()
            started.append(nodes.Node(cluster.place, number, cluster.url(database), HUMON_INDEX_MEGABYTES="40000"))
            print(f"  `humon serve`, {length:,} recorded events: ready after {time.monotonic() - begin:.2f} s")
            world = World(length, seed=time.time_ns())
            for kind, request in kinds.items():
                files[kind, number] = f"{cluster.place}/requests-{number}-{len(files)}"
                write_requests(files[kind, number], lambda: request(world))
        found = {key: [] for key in files}
        for kind in kinds:
            # A checkpoint makes the next change of each page longer, so none is in a round, and the first round does not count.
            cluster.sql("postgres", "CHECKPOINT")
            for number in range(rounds + 1):
                for server in (0, 1) if number % 2 == 0 else (1, 0):
                    before, (wal, images) = cluster.processor_seconds(), cluster.wal()
                    rate, p50, p99, longest, _, count = load(
                        cluster.place, started[server], files[kind, server], seconds, key=f"{time.time_ns()}-" if kind == KEYED else None)
                    after = cluster.wal()
                    processor = (cluster.processor_seconds() - before) / count * 1e6
                    row = rate, p50, p99, longest, (after[0] - wal) / count, (after[1] - images) / count, processor
                    if number:
                        found[kind, server].append(row)
                    else:
                        print(f"  {kind}, {databases[server][0]:,}, first round after a checkpoint: {rate:.0f} a second, {row[4]:.0f} B of WAL "
                              f"and {row[5]:.2f} full-page images each")
        report_appends(kinds, databases, found, rounds, seconds)
    finally:
        for node in reversed(started):
            node.stop()


def report_appends(kinds, databases, found, rounds, seconds):
    print(f"\n{rounds} rounds of {seconds} s in turns, 64 connections; medians, lowest to highest rate\n")
    print("| request | recorded events | per s | lowest to highest | p50 | p99 | longest | WAL | images | PostgreSQL, µs | ratio of rates |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for kind in kinds:
        ratios = [long[0] / short[0] for short, long in zip(found[kind, 0], found[kind, 1])]
        for server, (length, _) in enumerate(databases):
            rates, p50, p99, longest, wal, images, processor = zip(*found[kind, server])
            middle = statistics.median
            ratio = f"{middle(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})" if server else ""
            print(f"| {kind} | {length:,} | {middle(rates):,.0f} | {min(rates):,.0f} to {max(rates):,.0f} | {middle(p50):.1f} ms "
                  f"| {middle(p99):.1f} ms | {max(longest):.0f} ms | {middle(wal):,.0f} B | {middle(images):.2f} | {middle(processor):.0f} "
                  f"| {ratio} |", flush=True)


def shown(value, unit):
    if unit == "s":
        return f"{value:.0f} s" if value >= 100 else f"{value:.1f} s" if value >= 10 else f"{value:.2f} s" if value >= 1 else f"{value * 1e3:.0f} ms"
    return f"{value / 1e9:.2f} GB" if value >= 1e9 else f"{value / 1e6:.1f} MB"


def report(measured):
    """One column a length, and how each row grows: the exponent of the length between the last two."""
    totals = list(measured)
    print("| | " + " | ".join(f"{total:,}" for total in totals) + " | grows with |")
    print("|---|" + "---:|" * (len(totals) + 1))
    for name in measured[totals[-1]]:
        values = [measured[total].get(name) for total in totals]
        growth = ""
        if len(values) > 1 and values[-1] and values[-2] and values[-2][0] > 0 and values[-1][0] > 0:
            growth = f"n^{math.log(values[-1][0] / values[-2][0]) / math.log(totals[-1] / totals[-2]):.2f}"
        print(f"| {name} | " + " | ".join(shown(*value) if value else "" for value in values) + f" | {growth} |")


def measure(cluster, totals, rounds, seconds):
    state = cluster.place + "/measured.json"
    measured = {int(total): rows for total, rows in json.load(open(state)).items()} if os.path.exists(state) else {}
    bytes_of_log, bytes_of_models = 450, 200
    for total in totals:
        total = fits(cluster, total, bytes_of_log, bytes_of_models)
        if total not in measured:
            measured[total] = measure_one(cluster, total)
            json.dump(measured, open(state, "w"))
        bytes_of_log, bytes_of_models = measured[total]["log"][0] / total, measured[total]["read models"][0] / total
    print()
    report({total: measured[total] for total in sorted(measured)})
    print("\nAppends:")
    measure_appends(cluster, max(measured), rounds, seconds)
