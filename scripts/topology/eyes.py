"""Prometheus with the files that are deployed: does it find the nodes, and does it understand the alert rules?"""

import json

from place import Failed, program
from services import get


def eyes(topology):
    place = topology.place
    place.release_ports()
    port = place.port()
    targets = ", ".join(f'"127.0.0.1:{node.admin_port}"' for node in topology.nodes)
    place.write("deploy/prometheus/nodes.yml", f"- targets: [{targets}]\n")
    configuration = place.path("deploy/prometheus/prometheus.yml")
    place.run([program("promtool"), "check", "config", configuration])
    address = f"127.0.0.1:{port}"
    place.start(
        "prometheus",
        [
            program("prometheus"),
            f"--config.file={configuration}",
            f"--storage.tsdb.path={place.folder('prometheus')}",
            f"--web.listen-address={address}",
        ],
    )

    def asked(path):
        status, _, body = get(f"http://{address}/api/v1/{path}")
        return json.loads(body)["data"] if status == 200 else {}

    def healthy():
        return [target for target in asked("targets").get("activeTargets", []) if target["health"] == "up"]

    place.until("Prometheus to reach both nodes", lambda: len(healthy()) == 2, 60)

    def rules():
        return [rule for group in asked("rules").get("groups", []) for rule in group["rules"]]

    place.until("the rules to be evaluated", lambda: rules() and all(rule["health"] == "ok" for rule in rules()), 60)
    firing = [rule["name"] for rule in rules() if rule.get("state") == "firing"]
    if firing:
        raise Failed(f"though all is well, {firing} fire")
    names = [name for name in asked("label/__name__/values") if name.startswith("humon_")]
    return f"both nodes are asked, {len(names)} metrics; {len(rules())} rules are understood and evaluated, none fires"
