"""Boots a clean Debian with systemd, types the pages for operators into it as they are printed, and looks at what became of it.

Usage: python3 checks/units [--humon PATH] [--limit SECONDS] [--events N] [--root] [--keep]
--events fills the log before docs/backup.md is typed, and prints what a restore of it took.
--root only installs the Debian that the machine boots from, in .build/units, which needs its mirror.
Needs root, debootstrap, dpkg-dev, lintian and openssl. Where namespaces are not allowed it prints `skipped: units: …`, and succeeds. CI runs it.
"""

import argparse, os, shutil, sys, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
sys.dont_write_bytecode = True

from alerts import RUNBOOKS, play
from life import AFTER, BEFORE, HELPERS
from pages import PAGES, Page
from process import Process
from root import booted, layered, made, refusal
from sandbox import ROOT, Failed, end_on_signals, run_in_sandbox

# Faults that no page may leave. Each command prints them, and otherwise nothing.
LOOKS = {
    "a unit that failed": "systemctl --failed --plain --no-legend",
    "a fault in the journal": """
        journalctl -b --quiet --no-pager --unit='humon*' --unit='postgresql*' --unit=nginx >/run/journal
        faults='command not found|Permission denied'
        # LimitNICE has no effect where a machine's root may not raise limits, as in most containers.
        if prlimit --nice=24 true 2>/run/said; then faults+='|thread priority'; fi
        if grep -E "$faults" /run/journal; then true; fi""",
    "a fault in PostgreSQL's log": """
        # Restarts, a backup that fails, and nodes that still have the old password are what the check and the pages do.
        expected='terminating connection|the database system is (starting up|shutting down)|connection to client lost'
        expected+='|password authentication failed for user "humon_server"'
        if grep -E 'FATAL|reset by peer|could not accept SSL' /var/log/postgresql/*.log | grep -vE "$expected"; then true; fi""",
    "a file of another account in a service's directory": """
        for folder in /var/lib/postgresql /var/lib/humon/erasures; do
            find $folder ! -uid $(stat -c %u $folder)
        done""",
    "a log with clients' addresses that everybody may read": "find /var/log/nginx -type f -perm /o=r -size +0",
    "a directory of settings that services cannot pass": "find /etc/humon -maxdepth 0 ! -perm 755",
    "a unit's documentation that is missing": "man --where humon >/dev/null; ls /usr/share/doc/humon/deploying.md >/dev/null",
}

# What lintian says of the package of this check, and not of one of make dist.
HARMLESS = "custom-library-search-path,uses-no-compression-for-control-tarball,uses-no-compression-for-data-tarball"


def main():
    options = arguments()
    end_on_signals()
    os.umask(0o022)
    if reason := refusal():
        print(f"skipped: units: this machine allows no boot ({reason})", flush=True)
        return
    sys.exit(run_in_sandbox("units", options.keep, lambda sandbox: test(sandbox, options)))


def test(sandbox, options):
    pages = [Page(name, text_of(name.partition("#")[0]), untyped, scripts(BEFORE, name)) for name, untyped in PAGES.items()]
    root = made(name for page in pages for name in page.packages())
    if options.root:
        return
    layer = sandbox.path("layer")
    try:
        package = layered(layer, os.path.abspath(options.humon))
        command = ["lintian", "--fail-on", "error", "--display-level", "error", "--suppress-tags", HARMLESS, package]
        lint = Process("lintian", command, sandbox.path("lintian.log"))
        begin = time.monotonic()
        with booted(sandbox, layer, root) as machine:
            print(f"up within {time.monotonic() - begin:.0f} s", flush=True)
            for page in pages:
                began = time.monotonic()
                try:
                    if options.events and page.name == "docs/backup.md":
                        fill(machine, options.events)
                    machine.type(page, begin + options.limit - began)
                    for what, script in LOOKS.items() if page.name == page.path else ():
                        look(machine, f"{page.path} leaves {what}", f"set -e\n{script}")
                    for what, script in scripts(AFTER, page.name).items():
                        look(machine, f"after {page.name} it is not true that {what}", script)
                    typed = play(machine, page) if page.name == RUNBOOKS else 0
                except Failed:
                    # Kept beside the other logs.
                    machine.finished("journal", "root", "journalctl -b --no-pager", 30)
                    raise
                if options.events and page.name == "docs/backup.md":
                    print(machine.sh("journalctl -u humon-try-restore -o cat | grep -E 'is sound|would take'")[1].strip(), flush=True)
                outputs = sum(bool(block.expected) for block in page.blocks)
                print(f"  {page.name} ({time.monotonic() - began:.0f} s): {len(page.blocks)} blocks, {outputs} outputs compared" + f", {typed} commands" * (typed > 0), flush=True)
            if lint.wait(60) != 0:
                raise Failed(f"lintian finds errors in the package:\n{lint.output()}")
    finally:
        shutil.rmtree(layer, ignore_errors=True)


def fill(machine, events):
    url = "DATABASE_URL_FILE=/etc/humon/secrets/server_url"
    status, said = machine.finished("demo", "root", f"{url} HUMON_MIGRATE=false humon demo --events {events} --yes", 600)
    if status != 0:
        raise Failed(f"the log could not be filled: {said}")


def look(machine, fault, script):
    """Raises Failed if a script of bash fails, or finds something."""
    status, found = machine.sh(script)
    if status != 0 or found.strip():
        raise Failed(f"{fault} (status {status}):\n{found.strip()}")


def scripts(table, path):
    return {name: HELPERS + script for name, script in table.get(path, {}).items()}


def text_of(path):
    with open(f"{ROOT}/{path}") as file:
        return file.read()


def arguments():
    parser = argparse.ArgumentParser(
        prog="checks/units", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--humon", default=f"{ROOT}/.build/release/humon")
    parser.add_argument("--limit", type=float, metavar="SECONDS", default=360)
    parser.add_argument("--events", type=int)
    parser.add_argument("--root", action="store_true")
    parser.add_argument("--keep", action="store_true")
    return parser.parse_args()


main()
