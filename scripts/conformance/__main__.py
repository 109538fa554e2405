"""Proves the HTTP server of humon with clients that are not ours.

Usage: python3 scripts/conformance [--humon PATH] [--short] [--keep]
Starts humon on a private PostgreSQL, without TLS and then with TLS, and sends it requests with curl in every version of HTTP, with
h11 and h2 (Python libraries that refuse every violation by the server), with nghttp and h2load, and with wrk. Fails on a wrong
response, on a violation, and on an error of a load generator. Needs curl, openssl, nghttp2-client, wrk, and PyPI once.
The table of hostile requests is a test: Tests/HTTPServerTests/ConformanceTests.swift.
"""

import argparse, os, re, secrets, shutil, signal, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "deployment"))
sys.dont_write_bytecode = True

from place import ROOT, Failed, Place

VENV = f"{ROOT}/.build/conformance"


def main():
    options = arguments()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(143))
    inside_venv()
    import peers

    place, failed = Place("conformance"), True
    try:
        server = Server(place, options.humon)
        server.start()
        peers.without_tls(server, options.short)
        server.stop()
        server.start(tls=True)
        peers.with_tls(server, options.short)
        server.stop()
        failed = False
    except Failed as failure:
        print(f"FAILED: {failure}", flush=True)
    finally:
        place.close(keep=options.keep or failed)
    sys.exit(1 if failed else 0)


def inside_venv():
    """Continues in an environment with the libraries, which is made again when another version is wanted."""
    requirements, kept = f"{HERE}/requirements.txt", f"{VENV}/requirements.txt"
    if not (os.path.exists(kept) and open(kept).read() == open(requirements).read()):
        subprocess.run([sys.executable, "-m", "venv", "--clear", VENV], check=True)
        pip = [f"{VENV}/bin/python", "-m", "pip", "install", "--quiet", "--no-deps", "--requirement", requirements]
        subprocess.run(pip, check=True)
        shutil.copy(requirements, kept)
    if os.path.realpath(sys.prefix) != os.path.realpath(VENV):
        os.execv(f"{VENV}/bin/python", [f"{VENV}/bin/python", HERE, *sys.argv[1:]])


class Server:
    """One humon, with one event."""

    def __init__(self, place, humon):
        self.place, self.secret, self.token = place, secrets.token_hex(), secrets.token_hex()
        # Where the account of the server can reach it.
        self.humon = shutil.copy(humon, place.path("humon"))
        os.chmod(self.humon, 0o755)
        self.settings = {
            "TB_APP_SECRET": self.secret,
            "HUMON_DATA": place.folder("data"),
            "HUMON_PORT": 0,
            "HUMON_ADMIN_PORT": 0,
        }

    def start(self, tls=False):
        self.name, settings = ("tls", dict(self.settings)) if tls else ("plain", self.settings)
        if tls:
            certificate, key = self.place.path("certificate.pem"), self.place.path("key.pem")
            self.place.run(
                ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
                + ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate]
            )
            settings |= {"HUMON_TLS_CERTIFICATE": certificate, "HUMON_TLS_KEY": key}
        self.process = self.place.start(self.name, [self.humon, "serve"], settings)
        self.place.until("humon to serve", self.has_welcomed)

    def has_welcomed(self):
        if self.process.poll() is not None:
            raise Failed(f"humon ended: {self.log()}")
        address = re.search(r"^humon serves on (https?)://\S+:(\d+)\n(?s:.*)curl", self.log(), re.M)
        if address:
            self.port, self.url = int(address[2]), f"{address[1]}://localhost:{address[2]}"
        return address is not None

    def log(self):
        with open(self.place.path(f"{self.name}.log"), errors="replace") as file:
            return file.read()

    def open_descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def stop(self):
        self.place.stop(self.name)
        if re.search(r"\b(error|critical)\b", self.log()):
            raise Failed(f"humon logged an error: {self.log()}")


def arguments():
    parser = argparse.ArgumentParser(
        prog="scripts/conformance", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--humon", default=f"{ROOT}/.build/release/humon")
    parser.add_argument("--short", action="store_true", help="a tenth of the load")
    parser.add_argument("--keep", action="store_true")
    return parser.parse_args()


main()
