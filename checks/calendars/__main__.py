"""Reads the calendars and the pages of a server with other people's libraries.

Usage: python3 checks/calendars [--humon PATH] [--seed N] [--events N] [--keep]
Starts humon on a private PostgreSQL in a temporary directory, and adds events with random and hostile texts. Parses their feeds with
icalendar: each event must come back as the API lists it, in lines that RFC 5545 allows. Compares random windows of a feed, read with
recurring-ical-events, with the list of the same window. Reads pages of events with html5lib and extruct: no markup comes from a text.
Then moves, cancels and erases events: each keeps its UID, its SEQUENCE rises, and what was erased is gone. Needs Python 3 with venv,
and PyPI once.
"""

import argparse, os, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "harness"))
sys.dont_write_bytecode = True

from environment import python_with
from sandbox import ROOT, Failed, end_on_signals, run_in_sandbox
from server import HumonServer


def main():
    options = arguments()
    end_on_signals()
    python = python_with(f"{HERE}/requirements.txt", "calendars")
    sys.exit(run_in_sandbox("calendars", options.keep, lambda sandbox: test(sandbox, python, options)))


def test(sandbox, python, options):
    origins = {"HUMON_WEB_ORIGINS": "https://map.example.org"}
    server = HumonServer(sandbox, options.humon, settings={"HUMON_EVENTS_PER_USER": 0} | origins)
    server.start()
    own = {"HUMON_URL": server.url, "HUMON_SECRET": server.secret, "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"} | origins
    command = [python, f"{HERE}/reading.py", str(options.seed), str(options.events)]
    result = subprocess.run(command, cwd=sandbox.directory, env={"PATH": os.environ["PATH"]} | own, timeout=900)
    if result.returncode:
        raise Failed(f"reading.py ended with {result.returncode}: its output is above")


def arguments():
    parser = argparse.ArgumentParser(
        prog="checks/calendars", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--humon", default=f"{ROOT}/.build/release/humon")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--keep", action="store_true")
    return parser.parse_args()


main()
