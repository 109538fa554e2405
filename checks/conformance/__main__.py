"""Tests the HTTP server of humon with foreign clients.

Usage: python3 checks/conformance [--humon PATH] [--short] [--keep]
Starts humon on a private PostgreSQL, without TLS and then with TLS, and sends requests with curl in every version of HTTP, with
h11 and h2 (Python libraries that refuse every violation by the server), with nghttp and h2load, and with wrk. Fails on a wrong
response, on a violation, and on an error of a load generator. Then the apps run beside each other, as their libraries send requests:
the to-do app with AFNetworking, and the four generations of the app for events. Needs curl, openssl, nghttp2-client, wrk, and PyPI once.
The table of hostile requests is a test: Libraries/HTTPServer/Tests/ConformanceTests.swift.
"""

import argparse, os, re, secrets, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "harness"))
sys.dont_write_bytecode = True

from environment import python_with
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
    server.start("plain")
    peers.without_tls(server, options.short)
    clients.apps(server)
    server.stop()
    server.start("tls", server.certificate())
    peers.with_tls(server, options.short)
    server.stop()


class Server(HumonServer):
    """A humon for one device with a known token."""

    def __init__(self, sandbox, humon):
        # The name in the certificate.
        super().__init__(sandbox, humon, host="localhost")
        self.token = secrets.token_hex()

    def certificate(self):
        """The settings of TLS with a new certificate."""
        certificate, key = self.sandbox.path("certificate.pem"), self.sandbox.path("key.pem")
        self.sandbox.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
            + ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate]
        )
        return {"HUMON_TLS_CERTIFICATE": certificate, "HUMON_TLS_KEY": key}

    def open_descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def stop(self):
        super().stop()
        if re.search(r"\b(error|critical)\b", self.log()):
            raise Failed(f"humon logged an error: {self.log()}")


def arguments():
    parser = argparse.ArgumentParser(
        prog="checks/conformance", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--humon", default=f"{ROOT}/.build/release/humon")
    parser.add_argument("--short", action="store_true", help="a tenth of the load")
    parser.add_argument("--keep", action="store_true")
    return parser.parse_args()


main()
