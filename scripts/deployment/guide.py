"""Carries out docs/deploying.md as it is written: every block of commands that begins with `sh`, in one shell, in order."""

import difflib, os, re, threading

from databases import POSTGRES
from place import ROOT, Failed

# What systemd does at `systemctl restart humon@a` the topology does: there is no systemd in most places where it runs.
PRELUDE = """
set -eu
systemctl() {
    touch "$CONTROL/$1-${2#humon@}"
    while [ -e "$CONTROL/$1-${2#humon@}" ]; do sleep 0.05; done
}
"""
MARK = "-- end of block --"


def guide(topology):
    place, database = topology.place, topology.database
    with open(f"{ROOT}/docs/deploying.md") as file:
        blocks = re.findall(r"^```sh\n(.*?)^```$(?:\n+```text\n(.*?)^```$)?", file.read(), re.M | re.S)
    place.folder("backups", 0o700)
    script = place.write("guide.sh", PRELUDE + f"\necho '{MARK}'\n".join(commands for commands, _ in blocks))
    environment = topology.nodes[0].settings | {
        "PATH": f"{place.directory}:{place.path('deploy/backup')}:{POSTGRES}:{os.environ['PATH']}",
        "CONTROL": place.folder("control"),
        "SECRETS": place.path("secrets"),
        "WAL_ARCHIVE": database.archive,
        "BACKUPS": place.path("backups"),
        "PGHOST": place.directory,
        "PGPORT": database.port,
        "PGUSER": "postgres",
        "PROXY": topology.proxy.url,
        "NODE_A": topology.nodes[0].address,
        "NODE_B": topology.nodes[1].address,
        "RESTORED_PORT": database.port,
    }
    # Set by the page itself.
    for name in ("DATABASE_URL_FILE", "TB_APP_SECRET_FILE"):
        del environment[name]
    ends = threading.Event()
    restarting = threading.Thread(target=restart_on_demand, args=(topology, ends), daemon=True)
    restarting.start()
    try:
        said = place.run(["bash", script], environment)
    finally:
        ends.set()
        restarting.join()
    for (commands, expected), answer in zip(blocks, said.split(MARK)):
        if expected and normalised(expected) != normalised(answer):
            difference = "\n".join(
                difflib.unified_diff(normalised(expected), normalised(answer), "docs/deploying.md", "answered", lineterm="")
            )
            raise Failed(f"{commands}answers something else:\n{difference}")
    return (
        f"{len(blocks)} blocks of docs/deploying.md carried out, {sum(bool(expected) for _, expected in blocks)} answers compared"
    )


def restart_on_demand(topology, ends):
    while not ends.wait(0.05):
        for node in topology.nodes:
            asked = topology.place.path("control", f"restart-{node.name[-1]}")
            if os.path.exists(asked):
                node.stop()
                node.launch()
                os.unlink(asked)


def normalised(text):
    """Without figures, which are others every time, and the width of columns."""
    return [
        re.sub(r" +", " ", re.sub(r"\d[\d,.]*", "0", re.sub(r"-{2,}", "--", line))).strip() for line in text.strip().splitlines()
    ]
