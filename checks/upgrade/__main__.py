"""Upgrades a database of each release with this program, and goes back.

Usage: python3 checks/upgrade [--humon PATH] [--make] [--keep]
A dump VERSION.sql beside this file was made by the program of a release, with every type of stored domain event, erased persons and a
parked stream. This program migrates it, verifies it, and serves the persons that it has, and all four generations of the app's clients
and the to-do app. It also imports the archive VERSION.zst of that log. If one may
go back to that release, its own program then serves them on what this one wrote, and verifies everything; and once more this one. The
program of an earlier release is built from the commit of its dump, once, in .build/releases.
--make writes dump and archive of this program's version instead.
Needs PostgreSQL, Python 3 with venv, and PyPI once. CI runs it.
"""

import argparse, glob, json, os, re, shutil, subprocess, sys

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
        return make(sandbox, humon, f"{HERE}/{version}")
    dumps = glob.glob(f"{HERE}/*.sql")
    if not dumps:
        raise Failed(f"there is no dump in {HERE}: run make verify NAME=upgrade ARGUMENTS=--make")
    for dump in sorted(dumps):
        release = os.path.basename(dump).removesuffix(".sql")
        database = Database(sandbox, release)
        database.load(dump)
        database.run(humon, "migrate")
        if not database.parked(humon):
            raise Failed(f"{dump} has no parked stream")
        archive = Database(sandbox, f"archive-{release}")
        archive.run(humon, "migrate")
        imported = archive.run(humon, "log", "import", shutil.copy(dump.replace(".sql", ".zst"), archive.directory), "--yes", "--json")
        exported = database.run(humon, "log", "export", f"{database.directory}/archive.zst", "--json")
        if (one := counts(imported)) != (other := counts(exported)):
            raise Failed(f"the archive of {release} has {one}, and the dump {other}")
        if database.run(humon, "log", "stats", "--json") != archive.run(humon, "log", "stats", "--json"):
            raise Failed(f"the archive of {release} has other types of events than the dump")
        archive.run(humon, "projections", "rebuild", "--all", "--yes")
        archive.verify(humon)
        programs = [(humon, version)]
        if goes_back(version, release):
            programs += [(program_of(release, humon), release), (humon, version)]
        for program, name in programs:
            database.verify(program)
            database.serve(program)
            database.verify(program)
            print(f"  {release}: served, written and verified by {name}", flush=True)


class Database:
    """A private PostgreSQL in a sandbox, for one program after the other."""

    def __init__(self, sandbox, name):
        self.sandbox, self.directory = sandbox, sandbox.folder(name, 0o700)
        self.cluster, self.settings = f"{self.directory}/cluster", {
            "HUMON_DATA": self.directory, "HUMON_SIGN_INS_PER_MINUTE": 0, "HUMON_ACCOUNT_SIGN_INS_PER_MINUTE": 0}

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
        import clients, content

        server = self.start(humon)
        content.come_back(server)
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
    found = set(database.psql("--command", """
        SELECT DISTINCT 'event ' || type FROM log.recorded_events UNION
        SELECT CASE WHEN id IS NULL THEN 'a command with an event' ELSE 'a command that changed nothing' END FROM log.commands UNION
        SELECT DISTINCT 'member ' || name || ' of ' || CASE
            WHEN kind = 'metadata' THEN 'EventStore'
            WHEN stream LIKE 'pass-%' THEN 'Users'
            ELSE initcap(split_part(stream, '-', 1)) || 's' END || ', ' || kind
        FROM log.recorded_events,
            LATERAL (VALUES ('a fact', data), ('personal', personal), ('metadata', metadata)) AS part (kind, object),
            json_each(CASE WHEN json_typeof(object) = 'object' THEN object END) AS member (name, value)
        WHERE json_typeof(value) <> 'null'""").splitlines())
    promised = {"a command with an event", "a command that changed nothing"}
    for name in glob.glob(f"{ROOT}/docs/promises/*.txt"):
        with open(name) as file:
            promised |= set(re.findall(r"(?m)^(?:event \w+|member .*)", file.read()))
    if found != promised:
        raise Failed(f"the log has not every stored type and member: {', '.join(sorted(found ^ promised))}")
    dump = as_postgres("pg_dump", "--host", database.cluster, "--username", "humon", "--dbname", "postgres", "--no-owner", "--restrict-key=humon")
    archive = f"{database.directory}/archive.zst"
    database.run(humon, "log", "export", archive)
    server.stop()
    with open(f"{path}.sql", "w") as file:
        file.write(dump)
    shutil.copyfile(archive, f"{path}.zst")
    print(f"wrote {path}.sql and {path}.zst", flush=True)


def goes_back(version, release):
    """Whether somebody may go back from a version to an earlier release: within a minor release, and by one."""
    major, minor, *_ = map(int, version.split("."))
    return tuple(map(int, release.split(".")[:2])) in ((major, minor), (major, minor - 1))


def counts(printed):
    """The numbers of events and commands in the JSON of an export or an import."""
    answer = json.loads(printed)
    return f"{answer['recorded']} events and {answer['commands']} commands"


def program_of(release, humon):
    """The program of a release, which is this one if the commit is that of its dump, or comes before."""
    def git(*words):
        return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()

    added = git("log", "--diff-filter=A", "-1", "--format=%H", "--", f"checks/upgrade/{release}.sql")
    if not added and git("rev-parse", "--is-shallow-repository") == "true":
        raise Failed(f"this clone has no commit that added checks/upgrade/{release}.sql; git fetch --unshallow brings the history")
    return humon if added in ("", git("rev-parse", "HEAD")) else built(release, added)


def built(release, commit):
    """The program of a commit."""
    folder = f"{ROOT}/.build/releases/{release}"
    humon = f"{folder}/.build/debug/humon"
    if not os.path.exists(humon):
        # A build that failed may have left a part of it.
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run(["git", "worktree", "prune"], cwd=ROOT, check=True)
        subprocess.run(["git", "worktree", "add", "--force", "--detach", folder, commit], cwd=ROOT, check=True)
        for command in ("scripts/install", "deploy/pin-packages", "swift build --force-resolved-versions --product humon"):
            subprocess.run(command.split(), cwd=folder, check=True)
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
