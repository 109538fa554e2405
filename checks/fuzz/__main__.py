"""Fuzzes the API: sends requests that the OpenAPI document allows and requests that it does not, and reports the responses.

Usage: python3 checks/fuzz [--humon PATH] [--seed N] [--cases N] [--keep]
Starts humon on a private PostgreSQL in a temporary directory, signs a device up, and runs Schemathesis on every operation with
examples, boundary values, random requests, and chains of them. Every other request asks for problem details. Fails on any response
that the document does not allow, on an error in another form than the request asks for, on any 5xx, and on a server that is
unhealthy afterwards. schemathesis.toml and hooks.py list the exceptions with their reasons. Needs Python 3 with venv, and PyPI once.
"""

import argparse, collections, json, os, subprocess, sys, urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "harness"))
sys.dont_write_bytecode = True

from environment import python_with
from sandbox import ROOT, Failed, end_on_signals, run_in_sandbox
from server import HumonServer

# The examples of the document read and change event 12.
EVENTS = 20


def main():
    options = arguments()
    end_on_signals()
    schemathesis = [python_with(f"{HERE}/requirements.txt", "fuzz"), "-m", "schemathesis.cli"]
    sys.exit(run_in_sandbox("fuzz", options.keep, lambda sandbox: test(sandbox, schemathesis, options)))


def test(sandbox, schemathesis, options):
    server = Server(sandbox, options.humon, settings={"HUMON_LOG_LEVEL": "info", "HUMON_LOG_FORMAT": "json"})
    server.start()
    token = server.populate()
    account_token = server.sign_up_account()
    print(f"Seed {options.seed}, {options.cases} random cases for each operation", flush=True)
    violations = fuzz(schemathesis, server, token, account_token, options) + server.violations()
    if violations:
        raise Failed("\n".join(violations))


def fuzz(schemathesis, server, token, account_token, options):
    command = [*schemathesis, "--config-file", f"{HERE}/schemathesis.toml", "run", f"{server.url}/v1/openapi.json"]
    command += ["--phases", "examples,coverage,fuzzing,stateful", "--seed", options.seed, "--max-examples", options.cases]
    # Secrets go into the environment, because a list of processes shows arguments.
    own = {"HUMON_FUZZ_SECRET": server.secret, "HUMON_FUZZ_TOKEN": token, "HUMON_FUZZ_ACCOUNT_TOKEN": account_token}
    own |= {"HOME": server.sandbox.directory}
    own |= {"SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": HERE, "PYTHONDONTWRITEBYTECODE": "1"}
    result = subprocess.run(
        [str(word) for word in command],
        cwd=server.sandbox.directory,
        env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"} | own,
        stdin=subprocess.DEVNULL,
        # Schemathesis ends by itself: a case takes about 0.05 s.
        timeout=600 + 30 * options.cases,
    )
    return [f"Schemathesis ended with {result.returncode}: its output is above"] if result.returncode else []


class Server(HumonServer):
    def populate(self):
        """Signs a device up, creates its first events, and returns its token."""
        token = self.post("/v1/users", {"tb-app-secret": self.secret})["device_token"]
        event = {"name": "Street Food Friday", "lat": 37.76, "lon": -122.43, "started_at": "2030-09-13T17:00:00Z"}
        # The release program links its time zones statically.
        event |= {"category": "food", "time_zone": "America/Los_Angeles", "description": "Thirty stalls.", "link": "https://example.org/"}
        for _ in range(EVENTS):
            self.post("/v1/events", {"tb-device-token": token, "Content-Type": "application/json"}, event)
        return token

    def sign_up_account(self):
        """Signs an account up, creates its first task, and returns its token."""
        headers = {"Content-Type": "application/json"}
        account = {"user": {"email": "fuzz@example.org", "password": "correct horse battery"}}
        token = self.post("/v1/users", headers, account)["token"]
        self.post("/v1/tasks", headers | {"Authorization": f"Bearer {token}"}, {"task": {"title": "Buy milk"}})
        return token

    def post(self, path, headers, body=None):
        data = json.dumps(body).encode() if body else b""
        request = urllib.request.Request(self.url + path, data, headers, method="POST")
        with urllib.request.urlopen(request, timeout=10) as response:
            return json.load(response)

    def violations(self):
        """The violations that the server's own checks and its log show afterwards."""
        if self.process.poll() is not None:
            return [f"humon ended with {self.process.returncode}"]
        violations, settings = [], self.settings | {"HUMON_ADMIN_PORT": self.admin_port}
        for command in (["doctor"], ["log", "verify"], ["projections", "verify", "--all"]):
            result = self.sandbox.finished([self.humon, *command], settings)
            if result.returncode:
                violations.append(f"humon {' '.join(command)} ended with {result.returncode}: {result.stdout}{result.stderr}")
        self.stop()
        lines = [json.loads(line) for line in self.log().splitlines() if line.startswith("{")]
        responses = collections.Counter(line["status"] for line in lines if line["message"] == "request")
        statuses = ", ".join(f"{count:,} × {status}" for status, count in sorted(responses.items()))
        print(f"{sum(responses.values()):,} responses: {statuses}", flush=True)
        errors = [line for line in lines if line.get("status", 0) >= 500 or line["level"] in ("warning", "error", "critical")]
        return violations + [f"in the server's log: {json.dumps(line)}" for line in errors[:20]]


def arguments():
    parser = argparse.ArgumentParser(
        prog="checks/fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--humon", default=f"{ROOT}/.build/release/humon")
    parser.add_argument("--seed", type=int, default=1)
    # A number of cases and not of seconds, so that a seed gives the same requests on every machine.
    parser.add_argument("--cases", type=int, default=40)
    parser.add_argument("--keep", action="store_true")
    return parser.parse_args()


main()
