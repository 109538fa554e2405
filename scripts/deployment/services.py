"""The nodes and their proxy, started from the files that are deployed."""

import glob, os, re, signal, ssl, time, urllib.error, urllib.request

from place import ROOT, Failed, program, render


# Where others than this machine reach it: nginx listens here where docker-compose.tls.yml names a port alone.
OUTSIDE, OUTSIDE_IPV6 = "127.0.0.2", "[::1]"
HAS_IPV6 = os.path.exists("/proc/net/if_inet6")
# The ports of nginx in its container.
PROXY, REDIRECT, TLS = 8080, 8088, 8443


def get(url, seconds=10, headers={}, redirects=True, authority=None):
    """Status, header fields and body; None as status where nobody answers."""
    try:
        secured = [urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=authority))] if authority else []
        opener = urllib.request.build_opener(*secured, *([] if redirects else [Unmoved]))
        with opener.open(urllib.request.Request(url, headers=headers), timeout=seconds) as answer:
            return answer.status, dict(answer.headers), answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), error.read().decode()
    except OSError:
        return None, {}, ""


class Unmoved(urllib.request.HTTPRedirectHandler):
    def http_error_308(self, request, file, code, message, headers):
        return None


def composed(block):
    """The settings below an anchor of docker-compose.yml: a proof of other settings than those would be none."""
    text = re.search(rf"^x-{block}: .*\n((?:  .*\n)+)", deployed("docker-compose.yml"), re.M)[1]
    return {name: value.strip('"') for name, value in re.findall(r"^  (\w+): (.*)$", text, re.M)}


def composed_proxy():
    """What the proxy's environment is with TLS, and without what only that file sets."""
    settings = {}
    for name in ("docker-compose.yml", "docker-compose.tls.yml"):
        block = re.search(r"^  proxy:\n(?:    .*\n)*?    environment:\n((?:      .*\n)+)", deployed(name), re.M)[1]
        settings |= {name: value.strip('"') for name, value in re.findall(r"^ +(\w+): (.*)$", block, re.M)}
    return settings


def published(name):
    """The ports of the proxy's container that a file opens to others."""
    block = re.search(r"^  proxy:\n(?:    .*\n)*?    ports:(.*\n(?:      .*\n)*)", deployed(name), re.M)[1]
    return [int(port) for port in re.findall(r":(\d+)\"", block)]


def deployed(name):
    with open(f"{ROOT}/{name}") as file:
        return file.read()


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
                "HUMON_ADMIN_HOST": "127.0.0.1",
                "HUMON_ADMIN_TOKEN_FILE": place.path("secrets/admin_token"),
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
        with open(self.settings["HUMON_ADMIN_TOKEN_FILE"]) as file:
            token = {"Authorization": f"Bearer {file.read().strip()}"}
        return get(f"http://127.0.0.1:{self.admin_port}{path}", 300, token)

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
        self.place, self.nodes = place, nodes
        # Those of the container, and what they are here.
        self.ports = {port: place.port() for port in (PROXY, REDIRECT, TLS)}
        self.port = self.ports[PROXY]

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def start(self):
        place = self.place
        tls, temporary = place.folder("tls"), place.folder("proxy-temporary")
        how = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
        place.run([program("openssl"), *how.split(), "-keyout", f"{tls}/key.pem", "-out", f"{tls}/certificate.pem"])
        variables = {name: self.here(value) for name, value in composed_proxy().items()} | {
            "PROXY_TLS_PORT": self.ports[TLS],
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

    def here(self, listen):
        """nginx's listen directives, with the ports of the container, as they are here."""

        def address(found):
            name = {None: f"{OUTSIDE}:", "[::]:": f"{OUTSIDE_IPV6}:"}.get(found[1], found[1])
            return f"listen {name}{self.ports[int(found[2])]}"

        if not HAS_IPV6:
            listen = re.sub(r" ?listen \[::\]:[^;]*;", "", listen)
        return re.sub(r"listen (\S+:)?(\d+)", address, listen)

    def asked_by_its_container(self):
        """As the health check of docker-compose.yml asks."""
        for _ in range(4):
            get(f"{self.url}/health", 3)

    def asked_by_the_timer(self):
        """As humon-health.timer has it asked."""
        with open(self.place.path("deploy/systemd/humon-health.service")) as file:
            command = re.search(r"^ExecStart=(.+)$", file.read(), re.M)[1]
        self.place.finished(command.replace("${PROXY}", self.url).split())

    def until_in_rotation(self, node):
        begin = time.monotonic()
        self.place.run([self.place.path("deploy/in-rotation"), self.url, node.address, 60])
        return time.monotonic() - begin
