"""Tests the HTTP server of humon with foreign clients, and nginx in front of it.

Usage: python3 checks/conformance [--humon PATH] [--short] [--keep]
Starts humon on a private PostgreSQL, and sends requests with curl, with h11 (a Python library that refuses every violation by the
server), and with wrk. The apps run beside each other, as their libraries send requests: the to-do app with AFNetworking, and the four
generations of the app for events. Then nginx, with the files of deploy/nginx, ends TLS and HTTP/2 in front of humon, for curl, h2,
nghttp and h2load. Fails on a wrong response, on a violation, and on an error of a load generator. Needs nginx, curl, openssl,
nghttp2-client, wrk, and PyPI once.
The table of hostile requests is a test: Libraries/HTTPServer/Tests/ConformanceTests.swift.
"""

import argparse, os, re, secrets, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "harness"))
sys.dont_write_bytecode = True

from environment import python_with
from proxy import OUTSIDE, TLS, Proxy
from sandbox import ROOT, Failed, end_on_signals, run_in_sandbox
from server import HumonServer


def main():
    options = arguments()
    end_on_signals()
    continue_with(python_with(f"{HERE}/requirements.txt", "conformance"))
    sys.exit(run_in_sandbox("conformance", options.keep, lambda sandbox: test(sandbox, options)))


def continue_with(python):
    """Replaces this process by one of the environment's Python, unless it is that Python."""
    if os.path.realpath(sys.prefix) != os.path.realpath(os.path.dirname(os.path.dirname(python))):
        os.execv(python, [python, HERE, *sys.argv[1:]])


def test(sandbox, options):
    import clients, peers

    server = Server(sandbox, options.humon)
    server.start()
    peers.without_tls(server, options.short)
    clients.apps(server)
    # The template has two nodes.
    proxy = Proxy(sandbox, [server, server])
    proxy.start()
    peers.with_tls(Front(proxy, server), options.short)
    server.stop()


class Server(HumonServer):
    """A humon for one device with a known token."""

    def __init__(self, sandbox, humon):
        super().__init__(sandbox, humon)
        self.token = secrets.token_hex()

    @property
    def address(self):
        return f"{self.host}:{self.port}"

    def stop(self):
        super().stop()
        if re.search(r"\b(error|critical)\b", self.log()):
            raise Failed(f"humon logged an error: {self.log()}")


class Front:
    """A proxy with TLS, and the server behind it."""

    def __init__(self, proxy, server):
        self.sandbox, self.token = server.sandbox, server.token
        self.url, self.authority = proxy.tls_url, proxy.tls_url.removeprefix("https://")
        self.address = (OUTSIDE, proxy.ports[TLS])


def arguments():
    parser = argparse.ArgumentParser(
        prog="checks/conformance", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--humon", default=f"{ROOT}/.build/release/humon")
    parser.add_argument("--short", action="store_true", help="a tenth of the load")
    parser.add_argument("--keep", action="store_true")
    return parser.parse_args()


main()
