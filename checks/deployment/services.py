"""The nodes, started with the settings of the deployed files."""

import re, signal

from proxy import deployed, get
from sandbox import Failed


def composed(block):
    """The settings below an anchor of docker-compose.yml, so that the tests use the deployed settings."""
    text = re.search(rf"^x-{block}: .*\n((?:  .*\n)+)", deployed("docker-compose.yml"), re.M)[1]
    return {name: value.strip('"') for name, value in re.findall(r"^  (\w+): (.*)$", text, re.M)}


def secrets(sandbox, **hosts):
    """Makes new secrets with deploy/make-secrets."""
    sandbox.run([sandbox.path("deploy/make-secrets"), sandbox.path("secrets")], hosts)


class Node:
    def __init__(self, sandbox, name, humon, url_file="server_url", settings={}):
        self.sandbox, self.name, self.humon = sandbox, name, humon
        self.port, self.admin_port = sandbox.port(), sandbox.port()
        self.settings = (
            composed("node-settings")
            | {
                "TB_APP_SECRET_FILE": sandbox.path("secrets/app_secret"),
                "DATABASE_URL_FILE": sandbox.path("secrets", url_file),
                "HUMON_ADMIN_HOST": "127.0.0.1",
                "HUMON_ADMIN_TOKEN_FILE": sandbox.path("secrets/admin_token"),
                "HUMON_PORT": self.port,
                "HUMON_ADMIN_PORT": self.admin_port,
                "HUMON_TRUSTED_PROXIES": "127.0.0.1",
                "HUMON_ERASURES": f'{sandbox.folder("erasures")}/{name}',
                # The phones of the load send more requests than people.
                "HUMON_WRITES_PER_MINUTE": 0,
                "HUMON_ADDRESS_WRITES_PER_MINUTE": 0,
                "HUMON_EVENTS_PER_USER": 0,
            }
            | settings
        )

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    @property
    def process(self):
        return self.sandbox.processes[self.name]

    def launch(self):
        self.sandbox.start(self.name, [self.humon, "serve"], self.settings, self.sandbox.folder(f"work-{self.name}"))

    def start(self):
        """Starts the node, and returns the seconds until it is ready."""
        self.launch()
        return self.sandbox.until(f"{self.name} to be ready", self.is_ready)

    def is_ready(self):
        if self.process.poll() is not None:
            raise Failed(f"{self.name} ended: see its log")
        # The health check of the image.
        ready = [self.sandbox.path("deploy/humon/ready")]
        return self.sandbox.ends_well(ready, {"HUMON_ADMIN_PORT": self.admin_port})

    def ask(self, path):
        with open(self.settings["HUMON_ADMIN_TOKEN_FILE"]) as file:
            token = {"Authorization": f"Bearer {file.read().strip()}"}
        return get(f"http://127.0.0.1:{self.admin_port}{path}", 300, token)

    def stop(self):
        return self.sandbox.stop(self.name, seconds=40)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.sandbox.processes.pop(self.name).wait()

    def resident_megabytes(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read())[1]) / 1024

    def command(self, *words, url_file=None, expected=(0,)):
        """Runs an operator's command with the settings of this node."""
        settings = self.settings | ({"DATABASE_URL_FILE": self.sandbox.path("secrets", url_file)} if url_file else {})
        return self.sandbox.run([self.humon, *words], settings, self.sandbox.folder(f"work-{self.name}"), expected)
