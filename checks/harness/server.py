"""One humon process on a private PostgreSQL, for scripts that test it from outside."""

import os, re, secrets, shutil

from sandbox import Failed


class HumonServer:
    def __init__(self, sandbox, humon, host="127.0.0.1", settings={}):
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
        self.name = name
        self.process = self.sandbox.start(name, [self.humon, "serve"], self.settings | settings)
        self.sandbox.until("humon to serve", self.has_started)

    def has_started(self):
        if self.process.poll() is not None:
            raise Failed(f"humon ended: {self.log()}")
        banner = re.search(r"^humon serves on (https?)://\S+:(\d+)\n.*:(\d+)/metrics\n(?s:.*)curl", self.log(), re.M)
        if banner:
            self.port, self.admin_port = int(banner[2]), int(banner[3])
            self.url = f"{banner[1]}://{self.host}:{self.port}"
        return banner is not None

    def log(self):
        with open(self.sandbox.path(f"{self.name}.log"), errors="replace") as file:
            return file.read()

    def stop(self):
        self.sandbox.stop(self.name)
