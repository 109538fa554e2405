"""Attacks a server with what the OpenAPI document allows and with what it does not, and says what came of it.

Usage: python3 scripts/fuzz [--humon PATH] [--seed N] [--seconds N] [--keep]
Starts humon on a private PostgreSQL in a temporary directory, signs a device up, and lets Schemathesis loose on every operation:
examples, boundaries, random requests, and chains of them. Fails on any answer that the document does not allow, on any 5xx, and on
a server that is not well afterwards. What is left out, and why, stands in schemathesis.toml. Needs Python 3 with venv, and PyPI once.
"""

import argparse, collections, json, os, re, secrets, shutil, signal, subprocess, sys, urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "deployment"))
sys.dont_write_bytecode = True

from place import ROOT, Failed, Place

VENV = f"{ROOT}/.build/attack"
# The document's examples ask for the event 12 and change it.
EVENTS = 20


def main():
    options = arguments()
    # Whatever ends the script ends what it started.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(143))
    schemathesis = installed()
    place, failed = Place("attack"), True
    try:
        server = Server(place, options.humon)
        server.start()
        token = server.populate()
        print(f"Seed {options.seed}, {options.seconds} s", flush=True)
        faults = attack(schemathesis, server, token, options) + server.faults()
        for fault in faults:
            print(f"FAILED: {fault}", flush=True)
        failed = bool(faults)
    except Failed as failure:
        print(f"FAILED: {failure}", flush=True)
    finally:
        place.close(keep=options.keep or failed)
    sys.exit(1 if failed else 0)


def installed():
    """Schemathesis in an environment of its own, made anew where another version is wanted."""
    requirements, kept = f"{HERE}/requirements.txt", f"{VENV}/requirements.txt"
    if not (os.path.exists(kept) and open(kept).read() == open(requirements).read()):
        subprocess.run([sys.executable, "-m", "venv", "--clear", VENV], check=True)
        subprocess.run([f"{VENV}/bin/python", "-m", "pip", "install", "--quiet", "--no-deps", "--requirement", requirements], check=True)
        shutil.copy(requirements, kept)
    return [f"{VENV}/bin/python", "-m", "schemathesis.cli"]


def attack(schemathesis, server, token, options):
    command = [*schemathesis, "--config-file", f"{HERE}/schemathesis.toml", "run", f"{server.url}/v1/openapi.json"]
    command += ["--phases", "examples,coverage,fuzzing,stateful", "--seed", options.seed, "--max-time", options.seconds]
    # By the environment, so that neither stands in a list of processes.
    own = {"HUMON_ATTACK_SECRET": server.secret, "HUMON_ATTACK_TOKEN": token, "HOME": server.place.directory}
    own |= {"SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": HERE, "PYTHONDONTWRITEBYTECODE": "1"}
    result = subprocess.run(
        [str(word) for word in command],
        cwd=server.place.directory,
        env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "NO_COLOR": "1"} | own,
        stdin=subprocess.DEVNULL,
        # It ends by itself; a test case that is being made smaller may take a little longer.
        timeout=options.seconds + 120,
    )
    return [f"Schemathesis ended with {result.returncode}: its findings are above"] if result.returncode else []


class Server:
    def __init__(self, place, humon):
        self.place, self.secret = place, secrets.token_hex()
        # Where the account of the server can reach it.
        self.humon = shutil.copy(humon, place.path("humon"))
        os.chmod(self.humon, 0o755)
        self.settings = {
            "TB_APP_SECRET": self.secret,
            "HUMON_DATA": place.folder("data"),
            "HUMON_PORT": 0,
            "HUMON_ADMIN_PORT": 0,
            "HUMON_LOG_LEVEL": "info",
            "HUMON_LOG_FORMAT": "json",
        }

    def start(self):
        self.process = self.place.start("server", [self.humon, "serve"], self.settings)
        self.place.until("humon to serve", self.has_welcomed)

    def has_welcomed(self):
        if self.process.poll() is not None:
            raise Failed(f"humon ended: {self.log()}")
        ports = re.search(r"^humon serves on \S+:(\d+)\n.*:(\d+)/metrics\n(?s:.*)curl", self.log(), re.M)
        if ports:
            self.url, self.settings["HUMON_ADMIN_PORT"] = f"http://127.0.0.1:{ports[1]}", ports[2]
        return ports is not None

    def log(self):
        with open(self.place.path("server.log"), errors="replace") as file:
            return file.read()

    def populate(self):
        """The token of a device that owns the first events."""
        token = self.post("/v1/users", {"tb-app-secret": self.secret})["device_token"]
        event = {"name": "Street Food Friday", "lat": 37.76, "lon": -122.43, "started_at": "2030-09-13T17:00:00Z"}
        for _ in range(EVENTS):
            self.post("/v1/events", {"tb-device-token": token, "Content-Type": "application/json"}, event)
        return token

    def post(self, path, headers, body=None):
        data = json.dumps(body).encode() if body else b""
        request = urllib.request.Request(self.url + path, data, headers, method="POST")
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)

    def faults(self):
        """What is wrong with the server after the attack."""
        faults = []
        if self.process.poll() is not None:
            return [f"humon ended with {self.process.returncode}"]
        for command in (["doctor"], ["log", "verify"], ["projections", "verify", "--all"]):
            result = self.place.finished([self.humon, *command], self.settings)
            if result.returncode:
                faults.append(f"humon {' '.join(command)} ended with {result.returncode}: {result.stdout}{result.stderr}")
        self.place.stop("server")
        lines = [json.loads(line) for line in self.log().splitlines() if line.startswith("{")]
        answers = collections.Counter(line["status"] for line in lines if line["message"] == "request")
        told = ", ".join(f"{count:,} times {status}" for status, count in sorted(answers.items()))
        print(f"{sum(answers.values()):,} requests were answered: {told}", flush=True)
        errors = [line for line in lines if line.get("status", 0) >= 500 or line["level"] in ("warning", "error", "critical")]
        return faults + [f"in the server's log: {json.dumps(line)}" for line in errors[:20]]


def arguments():
    parser = argparse.ArgumentParser(
        prog="scripts/fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--humon", default=f"{ROOT}/.build/release/humon")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=150)
    parser.add_argument("--keep", action="store_true")
    return parser.parse_args()


main()
