#!/usr/bin/env python3
"""A model of the needs of a service by the number of its users, from measured constants.

Usage: Benchmarks/capacity.py [--write|--check]. Without an option it prints the tables; with --write it writes five rows into
docs/deploying.md, and with --check it exits with 1 if they differ from those of the page. Benchmarks/capacity.json has the assumptions
about users and machines, and the constants, each with its source.
"""

import json, math, pathlib, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/deploying.md"
BEGIN, END = "<!-- Written by make docs NAME=capacity. -->", "<!-- The end of what make docs NAME=capacity writes. -->"
USERS = (1_000, 100_000, 1_000_000, 10_000_000)
MOST_USERS = 10**11
DAY, YEAR = 86_400, 365 * 86_400
# A request for a node that is lost must have another one.
FEWEST_NODES = 2


class Values:
    """The values of a section of the file, as attributes."""

    def __init__(self, section):
        self.__dict__.update({name: entry[0] for name, entry in section.items()})


class Service:
    """Loads at the peak are a second's; amounts are those after the years of the assumptions."""

    def __init__(self, users, assumptions, constants):
        a, c = assumptions, constants
        active = users * a.active_share
        peak = a.peak_factor / DAY
        self.searches = active * a.sessions * a.searches * peak
        self.reads = active * a.sessions * a.reads * peak
        self.streams = active * a.sessions * a.stream_seconds * peak
        changes = active * (a.events_created + a.events_changed)
        writes = changes + active * a.attendances + users * a.sign_ups
        self.writes = writes * peak
        self.lines = changes * peak * self.streams * a.viewers
        self.recorded = writes * 365 * a.years
        self.events = active * a.events_created * 365 * a.years

        # Two transactions are under way at most, and each takes all waiting writes, so commits have an upper bound.
        self.commits = min(self.writes, c.commits_a_second)
        microseconds = (self.searches * c.search_microseconds + self.reads * c.read_microseconds + self.writes * c.write_microseconds
                        + self.lines * c.line_microseconds)
        self.cores = microseconds / 1e6
        by_processor = math.ceil(self.cores / a.utilisation / a.node_cores)
        by_streams = math.ceil(self.streams / a.node_streams)
        self.nodes = max(FEWEST_NODES, by_processor, by_streams)
        # Each node applies the writes of all others.
        self.index_gigabytes = (self.events * c.event_peak_bytes + c.node_bytes + self.streams / self.nodes * c.stream_bytes) / 1e9
        self.connections = self.nodes * (a.node_connections + 6)
        self.database_cores = self.writes * c.database_microseconds / 1e6
        self.log_gigabytes = self.recorded * c.recorded_bytes / 1e9
        self.models_gigabytes = self.recorded * c.model_bytes / 1e9
        self.wal_gigabytes = self.recorded * c.wal_bytes / 1e9
        self.key_gigabytes = self.recorded * c.key_bytes / 1e9
        self.megabits = (self.searches * c.search_bytes + self.reads * c.read_bytes + self.lines * c.line_bytes) * 8 / 1e6 / self.nodes
        self.rebuild_minutes = self.recorded / c.rebuilt_a_second / 60
        self.ready_seconds = self.events / c.loaded_a_second

    def limits(self, a, c):
        """Name, the part of the limit in use, and the answer to it. Nodes can be added, so their processors and streams are none."""
        return [
            ("memory of a node, which holds all events", self.index_gigabytes / a.node_gigabytes, "nodes with more memory"),
            ("the log's one writer", self.writes / c.writes_a_second, "a faster disk and processor for PostgreSQL"),
            ("connections of PostgreSQL", self.connections / a.max_connections, "PgBouncer"),
            ("keys of the log in PostgreSQL's memory", self.key_gigabytes / (a.database_gigabytes / 2), "more memory for PostgreSQL"),
            ("disk of PostgreSQL", (self.log_gigabytes + 2 * self.models_gigabytes) / a.disk_gigabytes, "a larger disk"),
        ]


def users_at(limit, a, c):
    """The number of users at which a limit is reached, by bisection of its logarithm."""
    low, high = 0.0, math.log10(MOST_USERS)
    for _ in range(60):
        middle = (low + high) / 2
        used = dict((name, used) for name, used, _ in Service(10**middle, a, c).limits(a, c))[limit]
        low, high = (middle, high) if used < 1 else (low, middle)
    return 10**low


def rounded(value, unit=""):
    """Two digits: a model knows no more."""
    if value >= 10:
        value = round(value, 1 - math.floor(math.log10(value)))
        text = f"{value:,.0f}"
    else:
        text = "< 0.01" if value < 0.01 else f"{value:.2g}"
    return f"{text} {unit}".strip()


ROWS = (
    ("searches a second", lambda s: rounded(s.searches)),
    ("events read by id, a second", lambda s: rounded(s.reads)),
    ("writes a second", lambda s: rounded(s.writes)),
    ("open streams", lambda s: rounded(s.streams)),
    ("cores of all nodes", lambda s: rounded(s.cores)),
    ("**nodes**", lambda s: f"{s.nodes:,}"),
    ("responses of a node", lambda s: rounded(s.megabits, "Mbit/s")),
    ("**connections** of PostgreSQL", lambda s: f"{s.connections:,}"),
    ("**commits** of PostgreSQL, a second", lambda s: rounded(s.commits)),
    ("cores of PostgreSQL for writes", lambda s: rounded(s.database_cores)),
    ("recorded events after the growth", lambda s: rounded(s.recorded)),
    ("events after the growth", lambda s: rounded(s.events)),
    ("memory of a node, most during its start", lambda s: rounded(s.index_gigabytes, "GB")),
    ("a node is ready after", lambda s: rounded(s.ready_seconds, "s")),
    ("log", lambda s: rounded(s.log_gigabytes, "GB")),
    ("read models, twice during a rebuild", lambda s: rounded(s.models_gigabytes, "GB")),
    ("rebuild of all read models", lambda s: rounded(s.rebuild_minutes, "min")),
    ("WAL of the growth", lambda s: rounded(s.wal_gigabytes, "GB")),
)

# The rows of docs/deploying.md.
SHOWN = ("writes a second", "**nodes**", "**connections** of PostgreSQL", "memory of a node, most during its start", "log")


def table(services, rows):
    head = ["| users | " + " | ".join(f"{users:,}" for users in USERS) + " |", "|---|" + "---:|" * len(USERS)]
    return head + [f"| {name} | " + " | ".join(shown(service) for service in services) + " |" for name, shown in rows]


def model():
    data = json.loads((ROOT / "Benchmarks/capacity.json").read_text())
    a, c = Values(data["assumptions"]), Values(data["constants"])
    return data, a, c, [Service(users, a, c) for users in USERS]


def rows_of_the_page():
    return "\n".join(table(model()[3], [row for row in ROWS if row[0] in SHOWN]))


def page():
    data, a, c, services = model()
    lines = table(services, ROWS)
    firsts = [max(service.limits(a, c), key=lambda limit: limit[1]) for service in services]
    lines.append("| the limit that is nearest | " + " | ".join(f"{name}: {rounded(100 * used)} %" for name, used, _ in firsts) + " |")
    lines += ["", "| limit, after the growth | users | answer |", "|---|---:|---|"]
    reached = sorted((users_at(name, a, c), name, answer) for name, _, answer in services[0].limits(a, c))
    lines += [f"| {name} | {rounded(users)} | {answer} |" for users, name, answer in reached]
    lines += ["", "Assumptions:", ""]
    lines += [f"- {value:,} {meaning}" for value, meaning in data["assumptions"].values()]
    lines += ["", "Measured constants:", "", "| constant | value | source |", "|---|---:|---|"]
    lines += [f"| {meaning} | {value:,} | {source} |" for value, meaning, source in data["constants"].values()]
    return "\n".join(lines)


def main():
    option = sys.argv[1] if len(sys.argv) == 2 else None
    if len(sys.argv) == 1:
        return print(page())
    text = PAGE.read_text()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    if not after:
        sys.exit(f"{PAGE.name} lacks the lines that mark the tables")
    wanted = f"{before}{BEGIN}\n\n{rows_of_the_page()}\n\n{END}{after}"
    if option == "--write":
        PAGE.write_text(wanted)
    elif option == "--check":
        sys.exit(None if text == wanted else f"{PAGE.name} differs from the model: run make docs NAME=capacity")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
