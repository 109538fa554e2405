"""The tests of a deployment. Each function returns its figures, or raises Failed."""

import asyncio, collections, os, signal, threading, time

from audit import audit
from databases import Cluster, Pooler, Postgres
from load import Load
from proxy import Proxy, get
from sandbox import Failed
from services import Node, secrets
from tls import GET, secured


class Deployment:
    """nginx, two nodes and PostgreSQL."""

    def __init__(self, sandbox, humon, database=None, settings={}, pooled=False, phones=24):
        self.sandbox, self.database = sandbox, database or Postgres(sandbox)
        self.nodes = [Node(sandbox, name, humon, settings=settings) for name in ("node-a", "node-b")]
        self.proxy = Proxy(sandbox, self.nodes)
        self.pooler = Pooler(sandbox, self.database) if pooled else None
        self.phones = phones
        # The health check that runs every second under load.
        self.health_check = self.proxy.check_as_container
        sandbox.release_ports()

    def start(self):
        secrets(
            self.sandbox,
            DATABASE_HOST=(self.pooler or self.database).hosts,
            MIGRATION_HOST=self.database.hosts,
            DATABASE_PARAMETERS=self.database.parameters,
        )
        if isinstance(self.database, Cluster):
            self.database.start()
        else:
            self.database.create()
            self.database.start()
            self.database.make_roles()
        if self.pooler:
            self.pooler.start()
        self.nodes[0].command("migrate", url_file="owner_url")
        for node in self.nodes:
            node.start()
        self.proxy.start()
        for node in self.nodes:
            self.proxy.until_in_rotation(node)
        with open(self.sandbox.path("secrets/app_secret")) as file:
            self.secret = file.read().strip()

    def beside_load(self, work, **how):
        """Runs `work` under load and health checks. Returns its result and the load."""
        load, ends = Load(self.proxy.port, self.secret, **{"phones": self.phones} | how), threading.Event()

        def check():
            while not ends.wait(1):
                self.health_check()

        checking = threading.Thread(target=check, daemon=True)
        checking.start()
        try:
            return asyncio.run(load.beside(work)), load
        finally:
            ends.set()
            checking.join()

    def audit(self, load):
        """Audits with both nodes once they are ready."""
        for node in self.nodes:
            self.sandbox.until(f"{node.name} to be ready", node.is_ready)
        return [audit(self.database, node, load.requests) for node in self.nodes][0]


def failures(load):
    """The most frequent failures with their counts."""
    kinds = collections.Counter(f"{request.kind}: {request.status or request.fault}" for request in load.failures())
    return ", ".join(f"{count} × {kind}" for kind, count in kinds.most_common(8))


def no_node_left(deployment):
    """Without nodes the proxy responds as the API does, and it tries again as soon as a node is back."""
    for node in deployment.nodes:
        node.kill()
    for key in ("", "Idempotency-Key: 1\r\n", "", "Idempotency-Key: 2\r\n"):
        for path in ("/v1/events/1", "/health"):
            answer = secured(deployment.proxy, GET.format(path, key))
            if (answer.status, answer.all("retry-after"), answer.body) != (503, ["1"], '{"message":"Service Unavailable"}'):
                raise Failed(f"with no node there the proxy answers {answer}")
    with open(deployment.sandbox.path("proxy.log")) as log:
        quoted = [line for line in log if "/v1/events/1" in line]
    if quoted:
        raise Failed(f"the proxy's own log quotes a request line, which may contain a token: {quoted[0]}")
    back = deployment.nodes[0].start()
    status, _, body = get(f"{deployment.proxy.url}/health/live")
    if status != 200:
        raise Failed(f"with a node back the proxy answers {status} {body}")
    expect_hidden_secrets(deployment)
    deployment.nodes[1].start()
    for node in deployment.nodes:
        deployment.proxy.until_in_rotation(node)
    return f"503 with Retry-After; answers again at once with a node that is back after {back:.1f} s"


def expect_hidden_secrets(deployment):
    """The proxy's log of requests has no secret of a calendar, however its address is written."""
    secret = "7K3MSECRET"
    ways = ("/v1/calendars/{}.ics", "/v1/%63alendars/{}.ics", "//v1/x/../calendars/{}", "/V1/Calendars/{}.ics?lang=de")
    for way in ways:
        secured(deployment.proxy, GET.format(way.format(secret), ""))

    def lines():
        with open(deployment.sandbox.path("proxy-requests.log")) as log:
            return [line for line in log if "calendars" in line or secret in line]

    deployment.sandbox.until("the requests to be in the proxy's log", lambda: len(lines()) >= len(ways))
    if any(secret in line for line in lines()):
        raise Failed(f"the proxy's log has the secret of a calendar: {lines()}")


def lost_machine(deployment):
    """Loses a node's machine with its erasure list, and then the end of the log: the list of the other node erases the person again."""
    sandbox, database, lost = deployment.sandbox, deployment.database, deployment.nodes[0]
    person, copy = {"tb-device-token": "a-person-who-leaves"}, sandbox.path("postgres-copy")

    def sent(method, path):
        headers = [f"-H{name}: {value}" for name, value in (person | {"tb-app-secret": deployment.secret}).items()]
        return sandbox.ends_well(["curl", "-sf", "-o", "/dev/null", "-X", method, *headers, f"{deployment.proxy.url}{path}"])

    def with_stopped_database(*commands):
        sandbox.stop("postgres", signal.SIGINT)
        for command in commands:
            sandbox.run(command)
        database.start()

    def has_line(node, id):
        with open(node.settings["HUMON_ERASURES"]) as file:
            return id in file.read()

    sandbox.until("a sign-up", lambda: sent("POST", "/v1/users"))
    with_stopped_database(["cp", "-a", database.data, copy])
    sandbox.until("an erasure", lambda: sent("DELETE", "/v1/users/me"))
    erased = "SELECT id FROM log.recorded_events WHERE type = 'UserErased' ORDER BY position DESC LIMIT 1"
    id = database.query(erased)[0][0]
    for node in deployment.nodes:
        sandbox.until(f"a line of {node.name}", lambda: has_line(node, id))
    lost.kill()
    os.unlink(lost.settings["HUMON_ERASURES"])
    with_stopped_database(["rm", "-r", database.data], ["mv", copy, database.data])
    sandbox.until("the erasure by the other node", lambda: database.query(erased) == [[id]])
    lost.start()
    for node in deployment.nodes:
        address = f"http://{node.address}/v1/users/me"
        sandbox.until(f"{node.name} to know the token no more", lambda: get(address, headers=person)[0] == 401)
    sandbox.until("the line on the new machine", lambda: has_line(lost, id))
    return "the list of the other node erased the person again, and the new machine has the line"


def rolling_restart(deployment, rounds):
    """Restarts both nodes in turn, as a deploy does: one with the health check of Docker, one with that of systemd."""
    proxy = deployment.proxy
    checks = (proxy.check_as_timer, proxy.check_as_container)

    def restart():
        took = []
        time.sleep(2)
        for _ in range(rounds):
            for node, deployment.health_check in zip(deployment.nodes, checks):
                stopped = node.stop()
                ready = node.start()
                took.append((stopped, ready, proxy.until_in_rotation(node)))
        time.sleep(1)
        return took

    took, load = deployment.beside_load(restart)
    if load.failures():
        raise Failed(f"{len(load.failures())} of {load.summary()} failed: {failures(load)}")
    checked = deployment.audit(load)
    stopped, ready, rotation = (max(column) for column in zip(*took))
    return (
        f"{len(took)} restarts, {load.summary()}: none failed, p99 {load.percentile(0.99):.0f} ms; {checked} acknowledged writes, none lost "
        f"or doubled; a node stops within {stopped:.1f} s, is ready after {ready:.1f} s, and in rotation again {rotation:.1f} s later"
    )


def killed_node(deployment, rounds):
    """Kills nodes with SIGKILL. Only writes without a key that were in flight at that moment may fail."""

    def kill():
        moments = []
        time.sleep(2)
        for number in range(rounds):
            node = deployment.nodes[number % 2]
            moments.append(time.monotonic())
            node.kill()
            time.sleep(2)
            node.start()
            deployment.proxy.until_in_rotation(node)
            time.sleep(1)
        return moments

    moments, load = deployment.beside_load(kill)
    for request in load.failures():
        if not any(request.begin <= moment + 0.05 and moment <= request.end <= moment + 1 for moment in moments):
            raise Failed(f"failed although it was not in flight when a node was killed: {request}")
        if request.kind.endswith("with a key") or request.kind in ("read", "read own write", "search"):
            raise Failed(f"failed although the other node could have responded: {request}")
    checked = deployment.audit(load)
    failed = f"{len(load.failures())} failed, writes without a key that were in flight" if load.failures() else "none failed"
    return f"{rounds} kills, {load.summary()}: {failed}; " f"{checked} acknowledged writes, none lost or doubled"


def fail_over(deployment):
    """Loses the leader's machine: PostgreSQL, its children and Patroni end at once."""
    database = deployment.database

    def crash():
        time.sleep(3)
        leader = database.leader
        moment = time.monotonic()
        leader.crash()
        other = next(member for member in database.members if member is not leader)
        deployment.sandbox.until("another leader", other.is_leader, 90)
        promoted = time.monotonic()
        time.sleep(10)
        leader.start()
        deployment.sandbox.until("a synchronous standby", leader.is_synchronous, 90)
        time.sleep(2)
        return moment, promoted, time.monotonic()

    (moment, promoted, whole), load = deployment.beside_load(crash)
    writes = [request for request in load.requests if request.kind.split()[0] in ("create", "change")]
    first_after = min(request.end for request in writes if not request.failed and request.begin > moment + 1)
    plain = [request for request in load.requests if request.kind in ("read", "search")]
    # An event that one node created just before the crash is unknown to the other node.
    born = {request.number: request.end for request in writes if request.kind.startswith("create") and not request.failed}
    refused = [request for request in plain if request.failed and born.get(request.number, 0) < moment - 1]
    if refused:
        raise Failed(f"{len(refused)} of {len(plain)} reads failed: {refused[:3]}")
    late = [request for request in load.failures() if request.begin > first_after + 15]
    if late:
        raise Failed(f"15 s after the first write {len(late)} still fail: {late[:3]}")
    during = [request for request in plain if moment < request.begin < first_after]
    checked = deployment.audit(load)
    return (
        f"writes are back {first_after - moment:.1f} s after the crash (a new leader after {promoted - moment:.1f} s); {len(during)} "
        f"reads meanwhile, {sum(request.failed for request in during)} failed; {load.summary()}, {len(load.failures())} refused in all; "
        f"{checked} acknowledged writes, none lost or doubled; two copies again after {whole - moment - 2:.0f} s"
    )


def pooled(deployment):
    """Runs the nodes behind a pooler in transaction mode."""

    def work():
        time.sleep(10)
        return deployment.database.query(
            "SELECT count(*) FROM pg_stat_activity WHERE usename = 'humon_server' AND application_name LIKE 'humon %'"
        )[0][0]

    connections, load = deployment.beside_load(work)
    if load.failures():
        raise Failed(f"{len(load.failures())} of {load.summary()} failed: {failures(load)}")
    return (
        f"{load.summary()}: none failed; {deployment.audit(load)} acknowledged writes, none lost or doubled; {connections} connections to "
        f"PostgreSQL"
    )


def soak(deployment, minutes):
    """Watches the memory of the nodes, which may grow only with their data."""

    def watch():
        samples, begin = [], time.monotonic()
        while (now := time.monotonic() - begin) < minutes * 60:
            sample = [node.resident_megabytes() for node in deployment.nodes]
            samples.append((now, *sample))
            print(f"    {now:6.0f} s: {sample[0]:.0f} and {sample[1]:.0f} MB", flush=True)
            time.sleep(max(5, minutes * 60 / 20))
        return samples

    samples, load = deployment.beside_load(watch, pause=0.05)
    if load.failures():
        raise Failed(f"{len(load.failures())} of {load.summary()} failed: {failures(load)}")
    # Caches and pools fill in the first third.
    settled, final = samples[len(samples) // 3], samples[-1]
    growth = [final[column] - settled[column] for column in (1, 2)]
    written = sum(request.kind.split()[0] in ("create", "sign", "attend") for request in load.requests)
    if max(growth) > 32 + written * 2 / 1_000:
        raise Failed(f"memory grew by {growth} MB after the first third")
    return (
        f"{minutes:g} min, {load.summary()}: none failed; {final[1]:.0f} and {final[2]:.0f} MB at the end, {growth[0]:+.0f} and "
        f"{growth[1]:+.0f} since the first third; {deployment.audit(load)} acknowledged writes, none lost or doubled"
    )
