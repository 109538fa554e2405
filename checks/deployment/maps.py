"""A client that shows the events of an area: it reads the list, follows the changes, and connects again after every end."""

import contextlib, http.client, json, re, socket, threading, time

from sandbox import Failed

# Shorter than the `retry` of the server, so that the test is quick.
PAUSE_SECONDS = 0.2
# More than the interval of heartbeats: silence for so long is a broken stream.
SILENCE_SECONDS = 20


class Moved(Exception):
    """The position of the client is too far back for the node."""


class Refused(Exception):
    """A response other than 200."""


class Map(threading.Thread):
    """The recipe of docs/clients.md, "list, then changes", without any code of the server.

    - Parameter area: the query of the list and of its changes
    - Parameter shows: whether an event belongs to the area and the window
    """

    def __init__(self, port, listing, area, shows):
        super().__init__(daemon=True)
        self.port, self.listing, self.area, self.shows = port, listing, area, shows
        # The events by id, and the position that they show; None before the first list and after a reset.
        self.events, self.position = {}, None
        self.lists = self.resets = self.streams = self.changes = self.heartbeats = 0
        # (moment, position) of every line with an id, and the moments at which a stream opened and ended.
        self.received, self.opened, self.ended = [], [], []
        self.violations, self.stops, self.socket = [], False, None

    def run(self):
        while not self.stops:
            try:
                if self.position is None:
                    # The changes of another position do not apply to this list.
                    self.events, self.position = read_list(self.port, self.listing, self.area)
                    self.lists += 1
                self.follow()
            except Moved:
                self.resets, self.position = self.resets + 1, None
            except (OSError, http.client.HTTPException, Refused):
                pass
            except Exception as error:
                self.violations.append(f"{self.area}: {error!r}")
            if self.opened and len(self.ended) < len(self.opened):
                self.ended.append(time.monotonic())
            time.sleep(PAUSE_SECONDS)

    def close(self):
        self.stops = True
        # Closing it would not wake the thread that reads from it.
        with contextlib.suppress(OSError): self.socket.shutdown(socket.SHUT_RDWR)
        self.join(SILENCE_SECONDS + 5)

    def follow(self):
        """Follows one stream to its end."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SILENCE_SECONDS)
        connection.request("GET", f"/v1/events/changes?{self.area}", headers={"Last-Event-ID": self.position})
        self.socket = connection.sock
        response = connection.getresponse()
        if response.status != 200:
            raise Refused(response.status)
        if response.headers["Content-Type"] != "text/event-stream" or response.headers["Content-Encoding"]:
            raise ValueError(f"a stream with {response.headers}")
        self.streams += 1
        self.opened.append(time.monotonic())
        fields = {}
        try:
            while line := response.readline():
                name, _, value = line.decode().rstrip("\n").partition(": ")
                if name:
                    fields[name] = value
                elif fields:
                    self.take(fields, time.monotonic())
                    fields = {}
        finally:
            connection.close()

    def take(self, fields, now):
        kind = fields.get("event")
        if kind == "reset":
            raise Moved()
        if "id" in fields:
            position, before = order(fields["id"]), order(self.position)
            if position < before or kind and position == before:
                self.violations.append(f"{self.area}: {kind} went from position {self.position} to {position}")
            self.position = fields["id"]
            self.received.append((now, position))
        if kind is None:
            # A stream begins with `retry` and a position.
            self.heartbeats += "retry" not in fields
            return
        self.changes += 1
        event = json.loads(fields["data"])
        if kind == "gone":
            self.events.pop(event["id"], None)
        elif kind == "put" and self.shows(event):
            self.events[event["id"]] = event
        else:
            self.violations.append(f"{self.area}: {kind} of {event}")


def order(position):
    """The number in a position such as 12.kbnapcmd."""
    return int(position.partition(".")[0])


def read_list(port, listing, area, position=None):
    """All pages of a list, and the lowest of their positions. The list must show the given position."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    events, lowest, path = {}, str(2**53), f"{listing}?{area}"
    try:
        while path:
            connection.request("GET", path, headers={"Humon-Position": position} if position else {})
            response = connection.getresponse()
            page = json.loads(response.read())
            if response.status != 200 or not response.headers["Humon-Position"]:
                raise Refused(response.status)
            lowest = min(lowest, response.headers["Humon-Position"], key=order)
            # An empty list is an object with a message.
            events |= {event["id"]: event for event in page} if isinstance(page, list) else {}
            following = re.search(r'<([^>]+)>; rel="next"', response.headers["Link"] or "")
            path = following and following[1]
    finally:
        connection.close()
    return events, lowest


def compare(maps, ports, position, until):
    """Waits until every map shows a position at which nothing moves any more, and compares it with the list of every node."""
    for shown in maps:
        until(f"the map {shown.area} to reach position {position}", lambda: order(shown.position or "0") >= order(position), 60)
    for shown in maps:
        shown.close()
        if shown.violations:
            raise Failed(f"a stream broke its promise: {shown.violations[:3]}")
        for port in ports:
            listed, _ = read_list(port, shown.listing, shown.area, position)
            differing = sorted(id for id in listed.keys() | shown.events.keys() if listed.get(id) != shown.events.get(id))
            if differing:
                first = differing[0]
                raise Failed(
                    f"the map {shown.area} differs from the list in {len(differing)} of {len(listed)} events: {first} is "
                    f"{shown.events.get(first)} instead of {listed.get(first)}"
                )
