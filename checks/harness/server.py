"""One humon process, for scripts that test or measure it from outside."""

import os, re, secrets, shutil


class HumonServer:
    """A server on a private PostgreSQL in a sandbox."""

    host = "127.0.0.1"

    def __init__(self, sandbox, humon, host=host, settings={}):
        self.sandbox, self.host, self.secret = sandbox, host, secrets.token_hex()
        # A copy that the server's account can read.
        self.humon = shutil.copy(humon, sandbox.path("humon"))
        os.chmod(self.humon, 0o755)
        self.settings = {
            "TB_APP_SECRET": self.secret,
            "HUMON_DATA": sandbox.folder("data"),
            "HUMON_PORT": 0,
            "HUMON_ADMIN_PORT": 0,
        } | settings

    def start(self, name="server", settings={}):
        self.serve(self.sandbox.start(name, [self.humon, "serve"], self.settings | settings))

    def serve(self, process, seconds=60):
        """Waits for the end of a start-up."""
        self.process = process
        process.until("humon to serve", self.has_started, seconds)

    def has_started(self):
        banner = re.search(r"^humon serves on http://\S+:(\d+)\n.*:(\d+)/metrics\n(?s:.*)curl", self.log(), re.M)
        if banner:
            self.port, self.admin_port = int(banner[1]), int(banner[2])
            self.url = f"http://{self.host}:{self.port}"
        return banner is not None

    def log(self):
        return self.process.output()

    def stop(self):
        self.sandbox.stop(self.process.name)
