"""Prometheus and Alertmanager with the files that are deployed: does each alert fire when it should, and is a page sent?"""

import concurrent.futures, http.server, json, re, threading

from proxy import get
from sandbox import Failed, program


def rules(deployment):
    """The rules by themselves: promtool plays every alert, firing and silent."""
    folder = deployment.sandbox.path("deploy/prometheus")
    copy_token(deployment)
    deployment.sandbox.run([program("promtool"), "check", "config", f"{folder}/prometheus.yml"])

    def played(name):
        return deployment.sandbox.run([program("promtool"), "test", "rules", f"{folder}/{name}"])

    # Each takes ten seconds of one core.
    with concurrent.futures.ThreadPoolExecutor() as pool:
        said = "".join(pool.map(played, ("alerts-test.yml", "alerts-days-test.yml")))
    if said.count("SUCCESS") != 2:
        raise Failed(f"promtool says {said}")
    return "every alert fires and resolves as its test expects"


def monitoring(deployment):
    sandbox = deployment.sandbox
    sandbox.release_ports()
    prometheus, alertmanager, postgres, machine = (f"127.0.0.1:{sandbox.port()}" for _ in range(4))
    copy_token(deployment)
    targets(sandbox, "nodes", *(f"127.0.0.1:{node.admin_port}" for node in deployment.nodes))
    targets(sandbox, "alertmanagers", alertmanager)
    targets(sandbox, "postgresql", postgres)
    targets(sandbox, "machines", machine)
    prober = f"127.0.0.1:{sandbox.port()}"
    probed = json.dumps([f"{deployment.proxy.url}/health"])
    sandbox.write("deploy/prometheus/probes.yml", f'- targets: {probed}\n  labels: {{prober: "{prober}"}}\n')
    pages = receiver(sandbox, alertmanager)
    exporters(deployment, postgres, machine)
    settings = f"--config.file={sandbox.path('deploy/prometheus/blackbox.yml')}"
    sandbox.start("blackbox-exporter", [program("prometheus-blackbox-exporter"), settings, f"--web.listen-address={prober}"])
    sandbox.start(
        "prometheus",
        [
            program("prometheus"),
            f"--config.file={sandbox.path('deploy/prometheus/prometheus.yml')}",
            f"--storage.tsdb.path={sandbox.folder('prometheus')}",
            f"--web.listen-address={prometheus}",
        ],
    )

    def asked(path):
        status, _, body = get(f"http://{prometheus}/api/v1/{path}")
        return json.loads(body)["data"] if status == 200 else {}

    def healthy():
        return [target for target in asked("targets").get("activeTargets", []) if target["health"] == "up"]

    sandbox.until("Prometheus to reach nodes and exporters", lambda: len(healthy()) == 6, 60)

    def evaluated():
        return [rule for group in asked("rules").get("groups", []) for rule in group["rules"]]

    sandbox.until("the rules to be evaluated", lambda: evaluated() and all(rule["health"] == "ok" for rule in evaluated()), 60)
    firing = [rule["name"] for rule in evaluated() if rule.get("state") == "firing"]
    if firing != ["Watchdog"]:
        raise Failed(f"{firing} fire although the deployment is healthy")
    names = asked("label/__name__/values")
    for name in ("humon_log_position", "pg_stat_archiver_failed_count", "pg_settings_max_connections", "node_filesystem_avail_bytes", "probe_success"):
        if name not in names:
            raise Failed(f"no target has {name}, which the alerts use")

    sandbox.until("the watchdog", lambda: "Watchdog" in pages["/watch"], 120)
    one, other = deployment.nodes
    one.kill()
    sandbox.until("a ticket for a node that is down", lambda: "HumonDown" in pages["/ticket"], 240)
    other.kill()
    took = sandbox.until("a page for two nodes that are down", lambda: "HumonNoneLeft" in pages["/page"], 240)
    if "HumonDown" in pages["/page"]:
        raise Failed("one node of two that is down sends a page")
    for node in deployment.nodes:
        node.start()
        deployment.proxy.until_in_rotation(node)
    return (
        f"Prometheus scrapes both nodes and three exporters; {len(evaluated())} rules are evaluated, and none fires; "
        f"a node that is killed is a ticket; a page is sent {took:.0f} s after the other one was killed too"
    )


def copy_token(deployment):
    with open(deployment.sandbox.path("secrets/admin_token")) as file:
        deployment.sandbox.write("deploy/prometheus/admin_token", file.read(), 0o600)


def targets(sandbox, name, *addresses):
    sandbox.write(f"deploy/prometheus/{name}.yml", f"- targets: {json.dumps(addresses)}\n")


def exporters(deployment, postgres, machine):
    sandbox = deployment.sandbox
    sandbox.start(
        "postgres-exporter",
        [program("prometheus-postgres-exporter"), f"--web.listen-address={postgres}"],
        {
            "DATA_SOURCE_URI": f"127.0.0.1:{deployment.database.port}/postgres?sslmode=disable",
            "DATA_SOURCE_USER": "humon_monitor",
            "DATA_SOURCE_PASS_FILE": sandbox.path("secrets/monitor_password"),
        },
    )
    folder = f"--collector.textfile.directory={sandbox.folder('metrics')}"
    sandbox.start("node-exporter", [program("prometheus-node-exporter"), f"--web.listen-address={machine}", folder])


def receiver(sandbox, alertmanager):
    """Starts Alertmanager with a pager in this process. Returns the growing lists of alerts at each address."""
    pages = {"/page": [], "/ticket": [], "/watch": []}

    class Pager(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            pages[self.path].extend(alert["labels"]["alertname"] for alert in body["alerts"])
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    pager = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pager)
    threading.Thread(target=pager.serve_forever, daemon=True).start()
    with open(sandbox.path("deploy/prometheus/alertmanager.yml")) as file:
        # Alertmanager of Debian 12 has no url_file.
        address = rf"url: http://127.0.0.1:{pager.server_port}/\1"
        text = re.sub(r"url_file: /run/secrets/(\w+)_url", address, file.read()).replace("/pager", "/page")
    sandbox.start(
        "alertmanager",
        [
            program("prometheus-alertmanager"),
            f"--config.file={sandbox.write('alertmanager.yml', text)}",
            f"--storage.path={sandbox.folder('alertmanager')}",
            f"--web.listen-address={alertmanager}",
            "--cluster.listen-address=",
        ],
    )
    return pages
