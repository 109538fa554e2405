"""Upgrades a database of each release with this program, and goes back.

Usage: python3 checks/upgrade [--humon PATH] [--make] [--keep]
A dump VERSION.sql beside this file was made by the program of a release, with every type of stored domain event, erased persons and a
parked stream. This program migrates it, verifies it, and serves all four generations of the app's clients and the to-do app. Then the
release's own program serves them on what this one wrote, and verifies everything; and once more this one. The program of an earlier
release is built from its tag, once, in .build/releases.
--make writes the dump of this program's version instead.
Needs PostgreSQL, Python 3 with venv, and PyPI once.
"""

import argparse, glob, json, os, shutil, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
CHECKS = os.path.dirname(HERE)
sys.path[:0] = [f"{CHECKS}/harness", f"{CHECKS}/conformance"]
sys.dont_write_bytecode = True

from cluster import as_postgres
from environment import python_with
from sandbox import ROOT, Failed, end_on_signals, run_in_sandbox
from server import HumonServer


def main():
    options = arguments()
    end_on_signals()
    python = python_with(f"{CHECKS}/conformance/requirements.txt", "conformance")
    if os.path.realpath(sys.prefix) != os.path.realpath(os.path.dirname(os.path.dirname(python))):
        os.execv(python, [python, HERE, *sys.argv[1:]])
    sys.exit(run_in_sandbox("upgrade", options.keep, lambda sandbox: test(sandbox, options)))


def test(sandbox, options):
    humon = os.path.abspath(options.humon)
    version = sandbox.run([humon, "--version"]).strip()
    if options.make:
        return make(sandbox, humon, f"{HERE}/{version}.sql")
    dumps = glob.glob(f"{HERE}/*.sql")
    if not dumps:
        raise Failed(f"there is no dump in {HERE}: run make verify NAME=upgrade ARGUMENTS=--make")
    for dump in sorted(dumps):
        release = os.path.basename(dump).removesuffix(".sql")
        old = humon if release == version else built(release)
        database = Database(sandbox, release)
        database.load(dump)
        database.run(humon, "migrate")
        if not database.parked(humon):
            raise Failed(f"{dump} has no parked stream")
        for program, name in ((humon, version), (old, release), (humon, version)):
            database.verify(program)
            database.serve(program)
            database.verify(program)
            print(f"  {release}: served, written and verified by {name}", flush=True)


class Database:
    """A private PostgreSQL in a sandbox, for one program after the other."""

    def __init__(self, sandbox, name):
        self.sandbox, self.directory = sandbox, sandbox.folder(name, 0o700)
        self.cluster, self.settings = f"{self.directory}/cluster", {"HUMON_DATA": self.directory}

    def load(self, dump):
        as_postgres("initdb", "--pgdata", self.cluster, "--username", "humon", "--auth", "trust", "--encoding", "UTF8", "--no-locale", "--data-checksums")
        options = f"-c listen_addresses= -c unix_socket_directories={self.cluster}"
        as_postgres("pg_ctl", "start", "--pgdata", self.cluster, "--wait", "--silent", "--log", f"{self.cluster}/load.log", "--options", options)
        copy = self.sandbox.path("dump.sql")
        shutil.copy(dump, copy)
        roles = "CREATE ROLE log_app; CREATE ROLE log_reader"
        try:
            self.psql("--command", roles)
            self.psql("--file", copy)
        finally:
            as_postgres("pg_ctl", "stop", "--pgdata", self.cluster, "--wait", "--silent")

    def psql(self, *words):
        return as_postgres("psql", "--host", self.cluster, "--username", "humon", "--dbname", "postgres", "--no-psqlrc", "--quiet",
                           "--set", "ON_ERROR_STOP=1", "--tuples-only", "--no-align", *words)

    def run(self, humon, *words):
        return self.sandbox.run([humon, *words], self.settings)

    def parked(self, humon):
        return json.loads(self.run(humon, "subscriptions", "parked", "erasures", "--json") or "[]")

    def verify(self, humon):
        self.run(humon, "migrate", "--check")
        self.run(humon, "log", "verify")
        self.run(humon, "projections", "verify", "--all")

    def serve(self, humon):
        import clients

        server = self.start(humon)
        clients.apps(server)
        # What the release has parked waits for an operator, and is handled then.
        self.run(humon, "subscriptions", "retry", "erasures")
        self.sandbox.until("no stream to be parked", lambda: not self.parked(humon))
        server.stop()

    def start(self, humon):
        server = HumonServer(self.sandbox, humon, settings=self.settings)
        server.start()
        return server


def make(sandbox, humon, path):
    import content

    database = Database(sandbox, "new")
    server = database.start(humon)
    content.write(server, lambda *words: database.run(humon, *words))
    # As the runner of subscriptions parks one.
    database.psql("--command", """
        INSERT INTO log.parked_streams (subscription, stream, version, position, reason)
        SELECT 'erasures', stream, version, position, 'a tea that was too hot' FROM log.recorded_events ORDER BY position LIMIT 1""")
    found = set(database.psql("--command", "SELECT DISTINCT type FROM log.recorded_events").split())
    promised = set()
    for name in glob.glob(f"{ROOT}/docs/promises/*.txt"):
        with open(name) as file:
            promised |= {line.split()[1] for line in file if line.startswith("event ")}
    if found != promised:
        raise Failed(f"the log has not every stored type: {', '.join(sorted(found ^ promised))}")
    dump = as_postgres("pg_dump", "--host", database.cluster, "--username", "humon", "--dbname", "postgres", "--no-owner", "--restrict-key=humon")
    server.stop()
    with open(path, "w") as file:
        file.write(dump)
    print(f"wrote {path}", flush=True)


def built(release):
    """The program of an earlier release."""
    folder = f"{ROOT}/.build/releases/{release}"
    humon = f"{folder}/.build/debug/humon"
    if not os.path.exists(humon):
        subprocess.run(["git", "worktree", "prune"], cwd=ROOT, check=True)
        subprocess.run(["git", "worktree", "add", "--force", "--detach", folder, f"v{release}"], cwd=ROOT, check=True)
        subprocess.run(["scripts/install"], cwd=folder, check=True)
        subprocess.run(["swift", "build", "--product", "humon"], cwd=folder, check=True)
    return humon


def arguments():
    parser = argparse.ArgumentParser(
        prog="checks/upgrade", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--humon", default=f"{ROOT}/.build/release/humon")
    parser.add_argument("--make", action="store_true")
    parser.add_argument("--keep", action="store_true")
    return parser.parse_args()


main()
