"""Tests the Unix socket of the systemd unit: its group admits the account of nginx, and no other account."""

import os, re

from sandbox import Failed, program

# Unused numbers: the accounts of a node, of nginx and of a stranger, and the group of the first two.
NODE, NGINX, STRANGER, GROUP = 64_101, 64_102, 64_103, 64_110


def sockets(deployment):
    if os.geteuid() != 0:
        return "left out: only root can be three accounts"
    sandbox, (like, _) = deployment.sandbox, deployment.nodes
    with open(sandbox.path("deploy/systemd/humon@.service")) as file:
        unit = dict(re.findall(r"^(\w+)=(.+)$", file.read(), re.M))
    directory = sandbox.folder("run-humon")
    os.chown(directory, NODE, GROUP)
    os.chmod(directory, int(unit["RuntimeDirectoryMode"], 8))
    path = os.path.join(directory, "humon.socket")
    # systemd reads these as root.
    secrets = {"TB_APP_SECRET": secret(like, "TB_APP_SECRET_FILE"), "DATABASE_URL": secret(like, "DATABASE_URL_FILE")}
    settings = {name: value for name, value in like.settings.items() if not name.endswith("_FILE")} | secrets
    settings |= {"HUMON_SOCKET": path, "HUMON_ADMIN_PORT": 0, "HUMON_ERASURES": os.path.join(directory, "erasures")}
    identity = dict(user=NODE, group=GROUP, extra_groups=[], umask=int(unit["UMask"], 8))
    process = sandbox.start("node-socket", [like.humon, "serve"], settings, directory, identity)

    def told(account, *groups):
        ask = [program("curl"), "-s", "-w", "%{http_code}", "-o", "/dev/null", "--unix-socket", path, "http://localhost/health/live"]
        return sandbox.finished(ask, identity=dict(user=account, group=account, extra_groups=groups)).stdout

    def is_there():
        if process.poll() is not None:
            raise Failed("the node with a socket ended: see its log")
        return told(NODE, GROUP) == "200"

    sandbox.until("the node with a socket", is_there)
    heard = {"nginx": told(NGINX, GROUP), "nginx without the group": told(NGINX), "stranger": told(STRANGER)}
    sandbox.stop("node-socket")
    if heard != {"nginx": "200", "nginx without the group": "000", "stranger": "000"}:
        raise Failed(f"the socket of a node answered {heard}")
    return "the group of the socket admits nginx's account, and two others are refused"


def secret(node, name):
    with open(node.settings[name]) as file:
        return file.read().strip()
