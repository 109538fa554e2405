"""The systems with HTTP: humon, Hummingbird, FastAPI and nginx. As every system, each has a name and measures rows."""

import os, urllib.error, urllib.request

import nodes, wrk
from environment import python_with
from process import Process
from seeding import DATABASE, FOLDER

# A uvicorn process a core, with connections to PostgreSQL: 4, 8 and 16 differed by less than the noise, on a busy machine.
WORKERS, CONNECTIONS_A_WORKER = os.cpu_count(), 8
START_SECONDS = 60


class HTTPSystem:
    """A server with the routes of v1. A row with -gzip asks for compressed answers."""

    rows = ["get", "near1", "near5", "near1-gzip", "near5-gzip", "post"]

    def load(self, row, seconds, connections):
        kind, _, encoding = row.partition("-")
        return wrk.result(wrk.start(self.port, self.requests(kind), connections, seconds, encoding=encoding or None))

    def requests(self, kind):
        return f"{self.place}/{kind}.txt"

    def answer(self, path, encoding=None):
        """The body of an answer, and its Content-Encoding."""
        headers = {"Accept-Encoding": encoding} if encoding else {}
        with urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", headers=headers), timeout=30) as answer:
            return answer.read(), answer.headers["Content-Encoding"]

    def wait(self, path):
        def is_there():
            try:
                return self.answer(path)
            except (urllib.error.URLError, ConnectionError):
                return None

        self.process.until("an answer", is_there, START_SECONDS)

    def stop(self):
        self.process.stop()


class Humon(HTTPSystem):
    name = "humon"

    def __init__(self, place, events):
        self.place, self.events, self.node = place, events, nodes.Node(place, 0)
        self.port = self.node.port

    def prepare(self):
        try:
            self.answer(f"/v1/events/{self.events}")
        except urllib.error.HTTPError:
            nodes.fill(self.place, self.events)
        self.node.send("POST", "/v1/users")

    def stop(self):
        self.node.stop()


class Hummingbird(HTTPSystem):
    """Hummingbird's server, router and middleware around humon's modules, on humon's database, with an index of its own."""

    name = "Hummingbird"

    def __init__(self, place, port, cluster):
        self.place, self.port = place, port
        own = {"DATABASE_URL": f"postgres://humon@/postgres?host={cluster.socket}", "HUMON_INDEX_MEGABYTES": "8000"}
        self.process = Process(
            self.name, [nodes.ROOT + "/Benchmarks/.build/release/HummingbirdPeer", str(port)], f"{place}/hummingbird.log",
            env=dict(os.environ, **own), cwd=place)

    def prepare(self):
        self.wait("/v1/events/1")


class FastAPI(HTTPSystem):
    name = "FastAPI"

    def __init__(self, place, port, cluster):
        self.place, self.port = place, port
        python = python_with(f"{FOLDER}/requirements.txt", "peers")
        own = {"PEER_DATABASE": f"postgresql:///{DATABASE}?host={cluster.socket}&user=humon", "PEER_CONNECTIONS": str(CONNECTIONS_A_WORKER)}
        self.process = Process(
            self.name, [python, "-m", "uvicorn", "fastapi_peer:app", "--app-dir", FOLDER, "--port", str(port), "--workers", str(WORKERS),
             "--loop", "uvloop", "--http", "httptools", "--log-level", "warning", "--no-access-log"],
            f"{place}/fastapi.log", env=dict(os.environ, **own))

    def prepare(self):
        self.wait("/v1/events/1")


class Nginx(HTTPSystem):
    """One file for all requests of a row: the bound of a server on these cores that looks nothing up."""

    name = "nginx, one file"
    rows = ["get", "near1", "near5", "near1-gzip", "near5-gzip"]

    def __init__(self, place, port, humon):
        self.place, self.port = place + "/nginx", port
        os.makedirs(f"{self.place}/files", exist_ok=True)
        self.sizes = {row: self.write_file(row, humon) for row in ("get", "near1", "near5")}
        with open(f"{self.place}/nginx.conf", "w") as file:
            file.write(f"""
                daemon off; worker_processes auto; pid {self.place}/pid; error_log {self.place}/errors;
                events {{ worker_connections 1024; }}
                http {{
                    access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000; open_file_cache max=10;
                    types {{ application/json json; }}
                    gzip on; gzip_comp_level 1; gzip_min_length 1024; gzip_types application/json;
                    server {{ listen 127.0.0.1:{port}; root {self.place}/files; }}
                }}""")
        self.process = Process(self.name, ["nginx", "-c", f"{self.place}/nginx.conf", "-e", f"{self.place}/errors"], f"{self.place}/log")

    def prepare(self):
        self.wait("/get.json")

    def write_file(self, row, humon):
        """Writes the one of the first answers whose length is nearest to their mean, and returns that length."""
        with open(humon.requests(row)) as file:
            bodies = [humon.answer(line.split()[1])[0] for line, _ in zip(file, range(500))]
        mean = sum(map(len, bodies)) / len(bodies)
        body = min(bodies, key=lambda one: abs(len(one) - mean))
        with open(f"{self.place}/files/{row}.json", "wb") as file:
            file.write(body)
        with open(f"{self.place}/{row}.txt", "w") as file:
            file.write(f"GET /{row}.json\n")
        return len(body)
