"""Prometheus and Alertmanager with the files that are deployed: does each alert fire when it should, and is a page sent?"""

import http.server, json, threading

from place import Failed, program
from services import get


def rules(topology):
    """The rules by themselves: promtool plays every alert, firing and silent."""
    folder = topology.place.path("deploy/prometheus")
    copy_token(topology)
    topology.place.run([program("promtool"), "check", "config", f"{folder}/prometheus.yml"])
    said = topology.place.run([program("promtool"), "test", "rules", f"{folder}/alerts-test.yml", f"{folder}/alerts-days-test.yml"])
    if said.count("SUCCESS") != 2:
        raise Failed(f"promtool says {said}")
    return "all alerts fire and are silent when they should"


def monitoring(topology):
    place = topology.place
    place.release_ports()
    prometheus, alertmanager, postgres, machine = (f"127.0.0.1:{place.port()}" for _ in range(4))
    copy_token(topology)
    targets(place, "nodes", *(f"127.0.0.1:{node.admin_port}" for node in topology.nodes))
    targets(place, "alertmanagers", alertmanager)
    targets(place, "postgresql", postgres)
    targets(place, "machines", machine)
    pages = receiver(place, alertmanager)
    exporters(topology, postgres, machine)
    place.start(
        "prometheus",
        [
            program("prometheus"),
            f"--config.file={place.path('deploy/prometheus/prometheus.yml')}",
            f"--storage.tsdb.path={place.folder('prometheus')}",
            f"--web.listen-address={prometheus}",
        ],
    )

    def asked(path):
        status, _, body = get(f"http://{prometheus}/api/v1/{path}")
        return json.loads(body)["data"] if status == 200 else {}

    def healthy():
        return [target for target in asked("targets").get("activeTargets", []) if target["health"] == "up"]

    place.until("Prometheus to reach nodes and exporters", lambda: len(healthy()) == 4, 60)

    def evaluated():
        return [rule for group in asked("rules").get("groups", []) for rule in group["rules"]]

    place.until("the rules to be evaluated", lambda: evaluated() and all(rule["health"] == "ok" for rule in evaluated()), 60)
    firing = [rule["name"] for rule in evaluated() if rule.get("state") == "firing"]
    if firing:
        raise Failed(f"though all is well, {firing} fire")
    names = asked("label/__name__/values")
    for name in ("humon_log_position", "pg_stat_archiver_failed_count", "pg_settings_max_connections", "node_filesystem_avail_bytes"):
        if name not in names:
            raise Failed(f"the alerts ask for {name}, which no target has")

    node = topology.nodes[0]
    node.kill()
    took = place.until("a page for a node that is down", lambda: "HumonDown" in pages, 240)
    node.start()
    topology.proxy.until_in_rotation(node)
    return (
        f"both nodes and two exporters are asked; {len(evaluated())} rules are evaluated, and none fires; "
        f"a page is sent {took:.0f} s after a node was killed"
    )


def copy_token(topology):
    with open(topology.place.path("secrets/admin_token")) as file:
        topology.place.write("deploy/prometheus/admin_token", file.read(), 0o600)


def targets(place, name, *addresses):
    place.write(f"deploy/prometheus/{name}.yml", f"- targets: {json.dumps(addresses)}\n")


def exporters(topology, postgres, machine):
    place = topology.place
    place.start(
        "postgres-exporter",
        [program("prometheus-postgres-exporter"), f"--web.listen-address={postgres}"],
        {
            "DATA_SOURCE_URI": f"127.0.0.1:{topology.database.port}/postgres?sslmode=disable",
            "DATA_SOURCE_USER": "humon_monitor",
            "DATA_SOURCE_PASS_FILE": place.path("secrets/monitor_password"),
        },
    )
    folder = f"--collector.textfile.directory={place.folder('metrics')}"
    place.start("node-exporter", [program("prometheus-node-exporter"), f"--web.listen-address={machine}", folder])


def receiver(place, alertmanager):
    """Starts Alertmanager with what pages in a thread of ours; gives the names that were paged, which grow."""
    pages = []

    class Pager(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path == "/page":
                pages.extend(alert["labels"]["alertname"] for alert in body["alerts"])
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    pager = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pager)
    threading.Thread(target=pager.serve_forever, daemon=True).start()
    with open(place.path("deploy/prometheus/alertmanager.yml")) as file:
        text = file.read().replace("http://pager.example.org", f"http://127.0.0.1:{pager.server_port}")
    place.start(
        "alertmanager",
        [
            program("prometheus-alertmanager"),
            f"--config.file={place.write('alertmanager.yml', text)}",
            f"--storage.path={place.folder('alertmanager')}",
            f"--web.listen-address={alertmanager}",
            "--cluster.listen-address=",
        ],
    )
    return pages
