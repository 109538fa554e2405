"""A Unix socket as the systemd unit has it: the account of nginx is let in by a group, and nobody else is."""

import os, re

from place import Failed, program

# No account of this machine: a node's, nginx's, somebody's, and the group of the first two.
NODE, NGINX, SOMEBODY, GROUP = 64_101, 64_102, 64_103, 64_110


def sockets(topology):
    if os.geteuid() != 0:
        return "left out: only root can be three accounts"
    place, (like, _) = topology.place, topology.nodes
    with open(place.path("deploy/systemd/humon@.service")) as file:
        unit = dict(re.findall(r"^(\w+)=(.+)$", file.read(), re.M))
    directory = place.folder("run-humon")
    os.chown(directory, NODE, GROUP)
    os.chmod(directory, int(unit["RuntimeDirectoryMode"], 8))
    path = os.path.join(directory, "humon.socket")
    # What systemd reads for it as root.
    secrets = {"TB_APP_SECRET": secret(like, "TB_APP_SECRET_FILE"), "DATABASE_URL": secret(like, "DATABASE_URL_FILE")}
    settings = {name: value for name, value in like.settings.items() if not name.endswith("_FILE")} | secrets
    settings |= {"HUMON_SOCKET": path, "HUMON_ADMIN_PORT": 0}
    identity = dict(user=NODE, group=GROUP, extra_groups=[], umask=int(unit["UMask"], 8))
    process = place.start("node-socket", [like.humon, "serve"], settings, directory, identity)

    def told(account, *groups):
        ask = [program("curl"), "-s", "-w", "%{http_code}", "-o", "/dev/null", "--unix-socket", path, "http://localhost/health/live"]
        return place.finished(ask, identity=dict(user=account, group=account, extra_groups=groups)).stdout

    def is_there():
        if process.poll() is not None:
            raise Failed("the node with a socket ended: see its log")
        return told(NODE, GROUP) == "200"

    place.until("the node with a socket", is_there)
    heard = {"nginx": told(NGINX, GROUP), "nginx without the group": told(NGINX), "somebody": told(SOMEBODY)}
    place.stop("node-socket")
    if heard != {"nginx": "200", "nginx without the group": "000", "somebody": "000"}:
        raise Failed(f"at the socket of a node {heard} are answered")
    return "nginx's account is let in by its group, and two others are not"


def secret(node, name):
    with open(node.settings[name]) as file:
        return file.read().strip()
