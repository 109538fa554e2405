"""nginx in front of nodes, started from the deployed files on free loopback ports."""

import glob, os, re, ssl, time, urllib.error, urllib.request

from sandbox import ROOT, program, render

# Stand in for the machine's public addresses: nginx listens here if docker-compose.tls.yml names a port without an address.
OUTSIDE, OUTSIDE_IPV6 = "127.0.0.2", "[::1]"
HAS_IPV6 = os.path.exists("/proc/net/if_inet6")
# The ports of nginx in its container.
PROXY, REDIRECT, TLS = 8080, 8088, 8443


def get(url, seconds=10, headers={}, redirects=True, authority=None):
    """Status, header fields and body. The status is None without a response."""
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


def composed_proxy():
    """The proxy's environment of both files; that with TLS overrides."""
    settings = {}
    for name in ("docker-compose.yml", "docker-compose.tls.yml"):
        block = re.search(r"^  proxy:\n(?:    .*\n)*?    environment:\n((?:      .*\n)+)", deployed(name), re.M)[1]
        settings |= {name: value.strip('"') for name, value in re.findall(r"^ +(\w+): (.*)$", block, re.M)}
    return settings


def published(name):
    """The ports of the proxy's container that a file publishes."""
    block = re.search(r"^  proxy:\n(?:    .*\n)*?    ports:(.*\n(?:      .*\n)*)", deployed(name), re.M)[1]
    return [int(port) for port in re.findall(r":(\d+)\"", block)]


def deployed(name):
    with open(f"{ROOT}/{name}") as file:
        return file.read()


class Proxy:
    def __init__(self, sandbox, nodes):
        self.sandbox, self.nodes = sandbox, nodes
        # The ports by their number in the container.
        self.ports = {port: sandbox.port() for port in (PROXY, REDIRECT, TLS)}
        self.port = self.ports[PROXY]

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def tls_url(self):
        return f"https://{OUTSIDE}:{self.ports[TLS]}"

    def start(self):
        sandbox = self.sandbox
        tls, temporary = sandbox.folder("tls"), sandbox.folder("proxy-temporary")
        how = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
        sandbox.run([program("openssl"), *how.split(), "-keyout", f"{tls}/key.pem", "-out", f"{tls}/certificate.pem"])
        variables = {name: self.localised(value) for name, value in composed_proxy().items()} | {
            "PROXY_TLS_PORT": self.ports[TLS],
            "PROXY_TLS": tls,
            "PROXY_TEMPORARY": temporary,
            "PROXY_LOG": sandbox.path("proxy-requests.log"),
            "NODE_A": self.nodes[0].address,
            "NODE_B": self.nodes[1].address,
        }
        sandbox.folder("nginx")
        for file in glob.glob(sandbox.path("deploy/nginx/templates/*.template")):
            sandbox.write(f"nginx/conf.d/{os.path.basename(file).removesuffix('.template')}", render(file, variables))
        for name, target in [("nginx.conf", "nginx.conf"), ("server.conf", "humon/server.conf")]:
            with open(sandbox.path("deploy/nginx", name)) as file:
                sandbox.write(f"nginx/{target}", file.read())
        directives = f"daemon off; pid {temporary}/pid;"
        command = [program("nginx"), "-p", sandbox.path("nginx"), "-c", sandbox.path("nginx/nginx.conf"), "-g", directives]
        sandbox.run([*command, "-t"])
        sandbox.start("proxy", command)
        sandbox.until("nginx", lambda: get(f"{self.url}/health/live")[0] == 200)

    def localised(self, listen):
        """nginx's listen directives with the ports and addresses of this test."""

        def address(found):
            name = {None: f"{OUTSIDE}:", "[::]:": f"{OUTSIDE_IPV6}:"}.get(found[1], found[1])
            return f"listen {name}{self.ports[int(found[2])]}"

        if not HAS_IPV6:
            listen = re.sub(r" ?listen \[::\]:[^;]*;", "", listen)
        return re.sub(r"listen (\S+:)?(\d+)", address, listen)

    def check_as_container(self):
        """Requests the health as the health check of docker-compose.yml does."""
        for _ in range(4):
            get(f"{self.url}/health", 3)

    def check_as_timer(self):
        """Requests the health as humon-health.timer does."""
        with open(self.sandbox.path("deploy/systemd/humon-health.service")) as file:
            command = re.search(r"^ExecStart=(.+)$", file.read(), re.M)[1]
        self.sandbox.finished(command.replace("${PROXY}", self.url).split())

    def until_in_rotation(self, node):
        begin = time.monotonic()
        self.sandbox.run([self.sandbox.path("deploy/in-rotation"), self.url, node.address, 60])
        return time.monotonic() - begin
