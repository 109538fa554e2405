"""Streams of changes through nginx: fresh lines, heartbeats, and maps that stay right while nodes stop and die."""

import http.client, json, math, random, re, signal, statistics, subprocess, threading, time, uuid
from datetime import datetime, timedelta

from maps import Map, SILENCE_SECONDS, compare, order
from sandbox import Failed, program
from proxy import TLS, get

WINDOW = ("2030-06-01T00:00:00Z", "2030-06-02T00:00:00Z")
# Degrees around a place in the South Pacific, on the date line. Events move across the borders of the areas.
SOUTH, NORTH, WEST, EAST = -41.0, -40.0, 179.5, -179.5
BOX = f"bbox={WEST},{SOUTH},{EAST},{NORTH}"
CIRCLE = (-40.5, 180.0, 40)
# Another ocean, where nothing happens.
QUIET = "bbox=-30,-50,-29,-49"
EVENTS = 40
WRITES_PER_SECOND = 40
# Longer than the slowest machine needs for a line. Buffered lines would need the 16 KiB of a buffer, or a minute.
FRESH_SECONDS = 10
HEARTBEAT_SECONDS = 15
# Above proxy_read_timeout of a stream, and of nginx's own 60 s.
IDLE_SECONDS = 150


def streams(deployment, is_short):
    sandbox, proxy = deployment.sandbox, deployment.proxy
    curl(deployment)
    world = World(deployment)
    maps = [
        Map(proxy.port, "/v1/events", BOX, in_box),
        Map(proxy.port, "/v1/events", f"{BOX}&from={WINDOW[0]}&to={WINDOW[1]}", lambda event: in_box(event) and in_window(event)),
        Map(proxy.port, "/v1/events/nearests", "lat={}&lon={}&radius={}".format(*CIRCLE), in_circle),
    ]
    quiet = Map(proxy.port, "/v1/events", QUIET, lambda event: False)
    for shown in [*maps, quiet]:
        shown.start()
    sandbox.until("the streams", lambda: all(shown.streams for shown in [*maps, quiet]))
    median, most = freshness(world, maps[0])

    def disturb():
        world.start()
        # The short test stops one node and kills the other one.
        stopped, killed = (deployment.nodes[:1], deployment.nodes[1:]) if is_short else (deployment.nodes, deployment.nodes)
        took = restart(deployment, stopped, [*maps, quiet])
        reloaded = reload(deployment, maps, is_short)
        for node in killed:
            node.kill()
            time.sleep(1)
            node.start()
            proxy.until_in_rotation(node)
        world.finish()
        return took, reloaded

    (took, reloaded), load = deployment.beside_load(disturb, phones=6)
    heartbeats(deployment, quiet, 0 if is_short else IDLE_SECONDS)
    position = world.settle()
    compare(maps, [node.port for node in deployment.nodes], position, sandbox.until)
    quiet.close()
    deployment.audit(load)
    changes, opened = sum(shown.changes for shown in maps), sum(shown.streams for shown in maps)
    resets = sum(shown.resets for shown in maps)
    return (
        f"a line arrives {median:.0f} ms after the response to its write (median of {len(world.fresh)}, most {most:.0f} ms); a stopped node "
        f"ends its streams within {took[0]:.2f} s, and the client continues at the other one {took[1]:.2f} s later; {reloaded}; {quiet.heartbeats} heartbeats "
        f"in a silent area; {world.count} writes, {world.hidden} of them by humon events; {changes} changes in {opened} streams with {resets} "
        f"resets: {len(maps)} maps equal the lists of both nodes ({', '.join(str(len(shown.events)) for shown in maps)} events)"
    )


def curl(deployment):
    """`curl -N` shows the begin of a stream at once, with HTTP/1.1 and with HTTP/2 over TLS."""
    proxy, words = deployment.proxy, [program("curl"), "-sN", "--max-time", "2", "-D", "-"]
    secure = ["--http2", "--cacert", deployment.sandbox.path("tls/certificate.pem"), "--resolve", f"localhost:{proxy.ports[TLS]}:127.0.0.2"]
    for url, more in ((proxy.url, []), (f"https://localhost:{proxy.ports[TLS]}", secure)):
        output = subprocess.run([*words, *more, f"{url}/v1/events/changes?{QUIET}"], stdout=subprocess.PIPE, timeout=60)
        head, _, lines = output.stdout.decode().partition("\r\n\r\n")
        # 28: the time was up, and not the stream.
        if output.returncode != 28 or not re.match(r"retry: \d+\nid: \d+\.[a-p]{8}\n\n", lines) or "text/event-stream" not in head:
            raise Failed(f"curl -N {url} ended with {output.returncode}: {output.stdout}")


def freshness(world, shown):
    """Median and maximum of the milliseconds from the response to a write until its line arrives through nginx."""
    for number in range(30):
        position, moment = world.create(inside(world.chance))
        arrived = []

        def arrives():
            arrived[:] = [now for now, at in shown.received if at >= order(position)]
            return arrived

        world.sandbox.until("the line of a write", arrives, SILENCE_SECONDS)
        world.fresh.append(max(0, arrived[0] - moment) * 1_000)
    median, most = statistics.median(world.fresh), max(world.fresh)
    if median > FRESH_SECONDS * 1_000:
        raise Failed(f"a line arrives {median:.0f} ms after the response to its write: nginx buffers the stream")
    return median, most


def counted(node, name):
    return float(re.search(rf"^{name} ([\d.e+]+)$", node.ask("/metrics")[2], re.M)[1])


def restart(deployment, nodes, maps):
    """Restarts nodes in turn. Returns the most seconds until a stream ended, and until its client had the next one."""
    ended, resumed = [], []
    for node in nodes:
        time.sleep(1)
        held = counted(node, "humon_changes_streams")
        before = [(len(shown.ended), shown.resets) for shown in maps]
        begin = time.monotonic()
        stopped = []
        stopping = threading.Thread(target=lambda: stopped.append((node.stop(), time.monotonic())[1]))
        stopping.start()
        fewer = lambda: sum(len(shown.ended) - count for shown, (count, _) in zip(maps, before)) >= held
        deployment.sandbox.until(f"the end of {held:.0f} streams of a node that stops", fewer, 20)
        deployment.sandbox.until("the streams at the other node", lambda: all(len(s.opened) > len(s.ended) for s in maps), 20)
        for shown, (count, resets) in zip(maps, before):
            if len(shown.ended) > count:
                ended.append(shown.ended[count] - begin)
                resumed.append(shown.opened[count + 1] - shown.ended[count])
            # The second stop leaves a node that has just started. It may lack changes since the last line of a stream.
            if shown.resets > resets and node is nodes[0]:
                raise Failed(f"a client had to read its list again, although the other node had its position: {shown.area}")
        stopping.join()
        # A node drains for 5 s; its streams end at the begin of that time. A busy machine delays both ends.
        if not stopped or any(len(shown.ended) > count and shown.ended[count] > stopped[0] - 1 for shown, (count, _) in zip(maps, before)):
            raise Failed(f"the streams of a node that was stopped ended only with it, after {ended} s")
        node.start()
        deployment.proxy.until_in_rotation(node)
    if not ended:
        raise Failed("the nodes that were stopped had no stream")
    return max(ended), max(resumed)


def reload(deployment, maps, is_short):
    """A reload of nginx: the old workers keep their streams until worker_shutdown_timeout, and new ones open at the new workers."""
    before = [(len(shown.ended), len(shown.received)) for shown in maps]
    deployment.sandbox.processes["proxy"].send_signal(signal.SIGHUP)
    begin = time.monotonic()
    lines = lambda: all(len(shown.received) > count for shown, (_, count) in zip(maps, before))
    deployment.sandbox.until("lines after a reload of nginx", lines, SILENCE_SECONDS)
    curl(deployment)
    if is_short:
        return "a reload of nginx loses nothing"
    ended = lambda: all(len(shown.ended) > count for shown, (count, _) in zip(maps, before))
    took = deployment.sandbox.until("nginx's old workers to end", ended, 90)
    deployment.sandbox.until("the streams at the new workers", lambda: all(len(s.opened) > len(s.ended) for s in maps), 20)
    return f"a reload of nginx loses nothing, and ends the streams of the old workers within {time.monotonic() - begin:.0f} s"


def heartbeats(deployment, quiet, seconds):
    """A stream of an area where nothing happens lives on heartbeats alone, longer than nginx waits for a silent node."""
    deployment.sandbox.until("a heartbeat", lambda: quiet.heartbeats > 0, SILENCE_SECONDS)
    count, streams = quiet.heartbeats, quiet.streams
    time.sleep(seconds)
    if quiet.heartbeats - count < seconds // HEARTBEAT_SECONDS - 1 or quiet.streams != streams:
        raise Failed(f"in {seconds} s a silent stream got {quiet.heartbeats - count} heartbeats, and {quiet.streams - streams} ended")


# The world


def inside(chance):
    """A point on the date line, inside of all areas."""
    return -40.5 + chance.uniform(-0.1, 0.1), wrapped(180 + chance.uniform(-0.1, 0.1))


def anywhere(chance):
    """About one point in four is inside of the box, and some are close to the poles of the circle."""
    return -40.5 + chance.uniform(-1, 1), wrapped(180 + chance.uniform(-1, 1))


def wrapped(lon):
    return lon - 360 if lon > 180 else lon


def in_box(event):
    return SOUTH <= event["lat"] <= NORTH and (event["lon"] >= WEST or event["lon"] <= EAST)


def in_window(event):
    """Both ends of a window count, and an event without an end lasts three hours."""
    start = datetime.fromisoformat(event["started_at"])
    end = datetime.fromisoformat(event["ended_at"]) if event["ended_at"] else start + timedelta(hours=3)
    return start <= datetime.fromisoformat(WINDOW[1]) and end >= datetime.fromisoformat(WINDOW[0])


def in_circle(event):
    lat, lon, radius = CIRCLE
    first, second = math.radians(lat), math.radians(event["lat"])
    across = math.sin(math.radians(event["lon"] - lon) / 2) ** 2 * math.cos(first) * math.cos(second)
    # A metre for the rounding of this formula.
    return 2 * 6371.0088 * math.asin(math.sqrt(math.sin((first - second) / 2) ** 2 + across)) <= radius + 0.001


class World(threading.Thread):
    """Creates, moves, cancels, hides and unhides events through nginx. Every write has a key and is repeated until it is answered."""

    def __init__(self, deployment):
        super().__init__(daemon=True)
        self.deployment, self.sandbox = deployment, deployment.sandbox
        self.chance, self.device = random.Random(18), f"world-{uuid.uuid4()}"
        self.live, self.hidden_ids, self.fresh = [], [], []
        self.count = self.hidden = 0
        self.ends, self.failure, self.position = False, None, "0"
        self.ask("POST", "/v1/users", headers={"tb-app-secret": deployment.secret})

    def run(self):
        operator = threading.Thread(target=self.guarded, args=(self.operate,), daemon=True)
        operator.start()
        self.guarded(self.write)
        operator.join()

    def guarded(self, work):
        try:
            work()
        except Exception as error:
            self.failure = error

    def finish(self):
        self.ends = True
        self.join()
        if self.failure:
            raise self.failure

    def settle(self):
        """The position of a last write, which every map shows."""
        return self.create(inside(self.chance), WINDOW[0])[0]

    def write(self):
        while not self.ends and not self.failure:
            time.sleep(self.chance.uniform(0, 2 / WRITES_PER_SECOND))
            kind = self.chance.random()
            if len(self.live) < EVENTS or kind < 0.1:
                self.create(anywhere(self.chance))
            elif kind < 0.2:
                id = self.live.pop(self.chance.randrange(len(self.live)))
                self.ask("DELETE", f"/v1/events/{id}", allowed=(200, 410))
            else:
                id = self.chance.choice(self.live)
                self.ask("PATCH", f"/v1/events/{id}", self.details(anywhere(self.chance)), allowed=(200, 410))

    def operate(self):
        """`humon events hide` and `unhide`, one process each."""
        while not self.ends and not self.failure:
            if not self.live:
                time.sleep(0.1)
                continue
            if self.hidden_ids and self.chance.random() < 0.5:
                words = ["unhide", self.hidden_ids.pop()]
            else:
                self.hidden_ids.append(self.chance.choice(self.live))
                words = ["hide", self.hidden_ids[-1], "--reason", "spam"]
            self.deployment.nodes[0].command("events", *words)
            self.hidden += 1
            self.count += 1
            time.sleep(0.2)

    def details(self, place, started_at=None):
        day, hour = self.chance.choice([31, 1, 2, 3]), self.chance.randrange(24)
        started_at = started_at or f"2030-0{5 if day == 31 else 6}-{day:02}T{hour:02}:00:00Z"
        ended_at = self.chance.choice([None, "2030-06-01T12:00:00Z"]) if started_at < "2030-06-01T12" else None
        return {"name": f"World {uuid.uuid4()}", "lat": place[0], "lon": place[1], "started_at": started_at, "ended_at": ended_at}

    def create(self, place, started_at=None):
        """The position of the write, and the moment of its response."""
        answer, position, moment = self.ask("POST", "/v1/events", self.details(place, started_at))
        self.live.append(answer["id"])
        return position, moment

    def ask(self, method, path, body=None, headers={}, allowed=(200,)):
        own = {"tb-device-token": self.device, "content-type": "application/json", "idempotency-key": f'"{uuid.uuid4()}"'} | headers
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            connection = http.client.HTTPConnection("127.0.0.1", self.deployment.proxy.port, timeout=10)
            try:
                connection.request(method, path, json.dumps(body) if body else None, own)
                response = connection.getresponse()
                moment, answer = time.monotonic(), response.read()
                if response.status in allowed:
                    self.count += 1
                    return json.loads(answer), response.headers["Humon-Position"] or "0", moment
                if response.status < 500:
                    raise Failed(f"{method} {path} was answered {response.status} {answer}")
            except (OSError, http.client.HTTPException):
                pass
            finally:
                connection.close()
            time.sleep(0.1)
        raise Failed(f"{method} {path} got no answer for 60 s")
