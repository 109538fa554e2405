"""The nodes and their proxy, started from the files that are deployed."""

import glob, os, re, signal, time, urllib.error, urllib.request

from place import ROOT, Failed, program, render


def get(url, seconds=10, headers={}):
    """Status, header fields and body; None as status where nobody answers."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=seconds) as answer:
            return answer.status, dict(answer.headers), answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), error.read().decode()
    except OSError:
        return None, {}, ""


def composed(block):
    """The settings below an anchor of docker-compose.yml: a proof of other settings than those would be none."""
    with open(f"{ROOT}/docker-compose.yml") as file:
        text = re.search(rf"^x-{block}: .*\n((?:  .*\n)+)", file.read(), re.M)[1]
    return {name: value.strip('"') for name, value in re.findall(r"^  (\w+): (.*)$", text, re.M)}


def secrets(place, **hosts):
    """New ones, by the deployment's own script."""
    place.run([place.path("deploy/make-secrets"), place.path("secrets")], hosts)


class Node:
    def __init__(self, place, name, humon, url_file="server_url", settings={}):
        self.place, self.name, self.humon = place, name, humon
        self.port, self.admin_port = place.port(), place.port()
        self.settings = (
            composed("node-settings")
            | {
                "TB_APP_SECRET_FILE": place.path("secrets/app_secret"),
                "DATABASE_URL_FILE": place.path("secrets", url_file),
                "HUMON_PORT": self.port,
                "HUMON_ADMIN_PORT": self.admin_port,
                "HUMON_TRUSTED_PROXIES": "127.0.0.1",
                # These phones are faster than people.
                "HUMON_WRITES_PER_MINUTE": 0,
            }
            | settings
        )

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    @property
    def process(self):
        return self.place.processes[self.name]

    def launch(self):
        self.place.start(self.name, [self.humon, "serve"], self.settings, self.place.folder(f"work-{self.name}"))

    def start(self):
        """Until it is ready, and how long that takes."""
        self.launch()
        return self.place.until(f"{self.name} to be ready", self.is_ready)

    def is_ready(self):
        if self.process.poll() is not None:
            raise Failed(f"{self.name} ended: see its log")
        # As the health check of the image asks.
        ready = [self.place.path("deploy/humon/ready")]
        return self.place.ends_well(ready, {"HUMON_ADMIN_PORT": self.admin_port})

    def ask(self, path):
        return get(f"http://127.0.0.1:{self.admin_port}{path}", 300)

    def stop(self):
        return self.place.stop(self.name, seconds=40)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.place.processes.pop(self.name).wait()

    def resident_megabytes(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read())[1]) / 1024

    def command(self, *words, url_file=None, expected=(0,)):
        """An operator's command, with the settings of this node."""
        settings = self.settings | ({"DATABASE_URL_FILE": self.place.path("secrets", url_file)} if url_file else {})
        return self.place.run([self.humon, *words], settings, self.place.folder(f"work-{self.name}"), expected)


class Proxy:
    def __init__(self, place, nodes):
        self.place, self.port, self.tls_port = place, place.port(), place.port()
        self.nodes = nodes

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def start(self):
        place = self.place
        tls, temporary = place.folder("tls"), place.folder("proxy-temporary")
        how = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
        place.run([program("openssl"), *how.split(), "-keyout", f"{tls}/key.pem", "-out", f"{tls}/certificate.pem"])
        variables = {
            "PROXY_LISTEN": f"127.0.0.1:{self.port}",
            "PROXY_TLS_LISTEN": f"127.0.0.1:{self.tls_port}",
            "PROXY_TLS": tls,
            "PROXY_TEMPORARY": temporary,
            "PROXY_LOG": place.path("proxy-requests.log"),
            "NODE_A": self.nodes[0].address,
            "NODE_B": self.nodes[1].address,
        }
        place.folder("nginx")
        for file in glob.glob(place.path("deploy/nginx/templates/*.template")):
            place.write(f"nginx/conf.d/{os.path.basename(file).removesuffix('.template')}", render(file, variables))
        for name, target in [("nginx.conf", "nginx.conf"), ("server.conf", "humon/server.conf")]:
            with open(place.path("deploy/nginx", name)) as file:
                place.write(f"nginx/{target}", file.read())
        directives = f"daemon off; pid {temporary}/pid;"
        command = [program("nginx"), "-p", place.path("nginx"), "-c", place.path("nginx/nginx.conf"), "-g", directives]
        place.run([*command, "-t"])
        place.start("proxy", command)
        place.until("nginx", lambda: get(f"{self.url}/health/live")[0] == 200)

    def health(self):
        """As the health check of docker-compose.yml asks."""
        status, headers, _ = get(f"{self.url}/health", 3)
        return status, headers.get("Humon-Nodes", ""), headers.get("Humon-Node-Statuses", "")

    def until_in_rotation(self, node):
        begin = time.monotonic()
        self.place.run([self.place.path("deploy/in-rotation"), self.url, node.address, 60])
        return time.monotonic() - begin
