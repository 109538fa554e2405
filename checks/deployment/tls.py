"""Tests TLS as in docker-compose.tls.yml: no response without TLS from outside, and Strict-Transport-Security in every response."""

import socket, ssl

from proxy import HAS_IPV6, OUTSIDE, OUTSIDE_IPV6, PROXY, REDIRECT, TLS, get, published
from sandbox import Failed, program

HSTS = "max-age=63072000"
# Responses of every origin: of a node, and of nginx before, while and instead of passing a request on.
GET = "GET {} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{}\r\n"
KINDS = {
    "200 of a node": (GET.format("/health/live", ""), 200),
    "200 of the health check": (GET.format("/health", ""), 200),
    "200 of a page": (GET.format("/docs", ""), 200),
    "304 of a node": (GET.format("/v1/events/nearests?lat=1&lon=2", "If-None-Match: *\r\n"), (200, 304, 404)),
    "404 of a node": (GET.format("/v1/events/999999999", ""), 404),
    "404 of nginx": (GET.format("/refusal", ""), 404),
    "404 under a key": (GET.format("/nowhere", "Idempotency-Key: 1\r\n"), 404),
    "400 without a host": ("GET / HTTP/1.1\r\nConnection: close\r\n\r\n", 400),
    "400 for what is not HTTP": ("\x00\x01\x02\r\n\r\n", 400),
    "400 for two lengths": (GET.format("/", "Content-Length: 1\r\nContent-Length: 2\r\n"), 400),
    "405 of nginx": (GET.format("/", "").replace("GET", "TRACE"), 405),
    "413": (GET.format("/v1/events", "Content-Length: 200000\r\n").replace("GET", "POST"), 413),
    "414": (GET.format("/" + "a" * 20_000, ""), 414),
    "431": (GET.format("/", f"X-Large: {'a' * 20_000}\r\n"), 431),
    "501": (GET.format("/v1/events", "Transfer-Encoding: none\r\n").replace("GET", "POST"), 501),
    "505": (GET.format("/", "").replace("HTTP/1.1", "HTTP/3.0"), 505),
}


def tls(deployment):
    proxy = deployment.proxy
    only_with_tls(proxy)
    for kind, (request, statuses) in KINDS.items():
        answer = secured(proxy, request)
        if answer.status not in (statuses if isinstance(statuses, tuple) else (statuses,)):
            raise Failed(f"{kind}: with TLS the proxy answers {answer}")
    addresses = [OUTSIDE, OUTSIDE_IPV6] if HAS_IPV6 else [OUTSIDE]
    for address in addresses:
        two = deployment.sandbox.run(
            [program("curl"), "-s", "--cacert", deployment.sandbox.path("tls/certificate.pem"), "-o", "/dev/null"]
            + ["-w", "%{http_code} %{http_version} %header{strict-transport-security}"]
            + ["--resolve", f"localhost:{proxy.ports[TLS]}:{address}", f"https://localhost:{proxy.ports[TLS]}/health/live"],
            expected=None,
        )
        if two != f"200 2 {HSTS}":
            raise Failed(f"with HTTP/2 the proxy answers {two} at {address}")
    return f"HTTP/2 and HTTP/1.1 at {' and '.join(addresses)}, {len(KINDS)} kinds of answers with Strict-Transport-Security; without TLS nothing from outside"


def only_with_tls(proxy):
    """Tests every published port of both files, as if both were in use."""
    for port in published("docker-compose.yml") + published("docker-compose.tls.yml"):
        for path in ("/v1/events/1", "/health", "/docs"):
            status, headers, body = get(f"http://{OUTSIDE}:{proxy.ports[port]}{path}", redirects=False)
            if "Strict-Transport-Security" in headers:
                raise Failed(f"without TLS {path} at {port} sends Strict-Transport-Security")
            led = port == REDIRECT and status == 308 and headers["Location"] == f"https://{OUTSIDE}:{proxy.ports[TLS]}{path}"
            refused = port in (REDIRECT, TLS) and (status, body) == (403, '{"message":"Only with TLS"}')
            if not (led or refused or port == PROXY and status is None):
                raise Failed(f"without TLS {path} at {port} is answered {status} {body}")


class Answer:
    def __init__(self, octets):
        head, _, self.body = octets.decode(errors="replace").partition("\r\n\r\n")
        first, *lines = head.split("\r\n")
        self.status = int(first.split(" ")[1]) if first.startswith("HTTP/1.1 ") else None
        self.headers = [tuple(line.lower().split(": ", 1)) for line in lines]

    def __repr__(self):
        return f"{self.status} {self.headers} {self.body[:200]!r}"

    def all(self, name):
        return [value for other, value in self.headers if other == name]


def secured(proxy, request):
    """The response to these bytes. It must have Strict-Transport-Security once and, if it is an error, the body of the API."""
    context = ssl.create_default_context(cafile=proxy.sandbox.path("tls/certificate.pem"))
    # The certificate has no subject alternative name.
    context.check_hostname = False
    with socket.create_connection((OUTSIDE, proxy.ports[TLS]), timeout=10) as plain:
        with context.wrap_socket(plain, server_hostname="localhost") as secure:
            secure.sendall(request.encode("latin-1"))
            octets = b""
            try:
                while part := secure.recv(65536):
                    octets += part
            except ConnectionResetError:
                pass
    answer = Answer(octets)
    once = answer.all("strict-transport-security") == [HSTS] and len(answer.all("x-request-id")) == 1
    if not once or answer.status >= 400 and not answer.body.startswith('{"message":'):
        raise Failed(f"{request[:60]!r} is answered with TLS: {answer}")
    return answer
