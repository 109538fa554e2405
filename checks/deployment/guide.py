"""Runs the guide as written: every `sh` block of its pages, in one shell, in order."""

import difflib, os, re, threading

from databases import POSTGRES
from sandbox import ROOT, Failed

# Stands in for systemd, which most machines of this test lack: the deployment restarts the node.
PRELUDE = """
set -eu
systemctl() {
    touch "$CONTROL/$1-${2#humon@}"
    while [ -e "$CONTROL/$1-${2#humon@}" ]; do sleep 0.05; done
}
"""
MARK = "-- end of block --"
PAGES = ("docs/deploying.md", "docs/backup.md")


def guide(deployment):
    sandbox, database = deployment.sandbox, deployment.database
    blocks = []
    for page in PAGES:
        with open(f"{ROOT}/{page}") as file:
            found = re.findall(r"^```sh\n(.*?)^```$(?:\n+```text\n(.*?)^```$)?", file.read(), re.M | re.S)
        if not any(expected for _, expected in found):
            raise Failed(f"{page} shows no answer to a block of commands")
        blocks += found
    sandbox.folder("backups", 0o700)
    script = sandbox.write("guide.sh", PRELUDE + f"\necho '{MARK}'\n".join(commands for commands, _ in blocks))
    environment = deployment.nodes[0].settings | {
        "PATH": f"{sandbox.directory}:{sandbox.path('deploy/backup')}:{POSTGRES}:{os.environ['PATH']}",
        "CONTROL": sandbox.folder("control"),
        "SECRETS": sandbox.path("secrets"),
        "WAL_ARCHIVE": database.archive,
        "BACKUPS": sandbox.path("backups"),
        "PGHOST": sandbox.directory,
        "PGPORT": database.port,
        "PGUSER": "postgres",
        "PROXY": deployment.proxy.url,
        "NODE_A": deployment.nodes[0].address,
        "NODE_B": deployment.nodes[1].address,
        "RESTORED_PORT": database.port,
    }
    # The guide itself sets these.
    for name in ("DATABASE_URL_FILE", "TB_APP_SECRET_FILE"):
        del environment[name]
    ends = threading.Event()
    restarting = threading.Thread(target=restart_on_demand, args=(deployment, ends), daemon=True)
    restarting.start()
    try:
        said = sandbox.run(["bash", script], environment)
    finally:
        ends.set()
        restarting.join()
    for (commands, expected), answer in zip(blocks, said.split(MARK)):
        if expected and normalised(expected) != normalised(answer):
            difference = "\n".join(
                difflib.unified_diff(normalised(expected), normalised(answer), "the guide", "printed", lineterm="")
            )
            raise Failed(f"{commands}printed something else:\n{difference}")
    return (
        f"{len(blocks)} blocks of the guide run, {sum(bool(expected) for _, expected in blocks)} outputs compared"
    )


def restart_on_demand(deployment, ends):
    while not ends.wait(0.05):
        for node in deployment.nodes:
            asked = deployment.sandbox.path("control", f"restart-{node.name[-1]}")
            if os.path.exists(asked):
                node.stop()
                node.launch()
                os.unlink(asked)


def normalised(text):
    """The text without figures, which differ in every run, and without the width of columns."""
    return [
        re.sub(r" +", " ", re.sub(r"\d[\d,.]*", "0", re.sub(r"-{2,}", "--", line))).strip() for line in text.strip().splitlines()
    ]
