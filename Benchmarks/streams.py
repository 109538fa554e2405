#!/usr/bin/env python3
"""Measures a server with many open streams of changes: the time from the response to a write until a line arrives, the memory of a
stream, the processor time, and the rate of GET by id with the streams and without, in turns.

The kernel stamps responses and lines when they arrive at the sockets of the generators. So the times do not contain the time that the
generators wait for a processor, which the benchmark prints beside them.

Usage: Benchmarks/streams.py. STREAMS=10000, AREAS=100, WRITES=200 (a second), SECONDS=20, EVENTS=100000, ROUNDS=5. Every area is
followed by STREAMS / AREAS streams, and each write changes the event of one area. Two generators take processor time beside the
server, which the benchmark prints: one reads all streams with epoll, and one writes. Needs Python 3, wrk, .build/release/humon and
more than STREAMS descriptors (ulimit -Hn).
"""

import multiprocessing, os, re, resource, select, socket, statistics, struct, sys, threading, time

import nodes, wrk

STREAMS = int(os.environ.get("STREAMS", 10_000))
AREAS = int(os.environ.get("AREAS", 100))
WRITES = int(os.environ.get("WRITES", 200))
SECONDS = int(os.environ.get("SECONDS", 20))
EVENTS = int(os.environ.get("EVENTS", 100_000))
ROUNDS = int(os.environ.get("ROUNDS", 5))
# Enough for WRITES if a write takes a quarter of a second.
WRITERS = WRITES // 4
# Before the first measured write.
WARM_UP_SECONDS = 2
# Of <asm-generic/socket.h>; Python does not name it.
SO_TIMESTAMPNS = 35


def area(number):
    """The centre of an area, in the South Pacific, where the demo has no events."""
    return -50 + number // 10, -140 + number % 10


def details(number, spread=0):
    lat, lon = area(number)
    return f'{{"name":"Area {number}","lat":{lat + spread:.6f},"lon":{lon},"started_at":"2030-09-16T00:00:00Z"}}'


def receive(stream):
    """Bytes, and the time of day at which the last of them arrived at the socket."""
    data, stamps, _, _ = stream.recvmsg(65_536, 64)
    if not stamps:
        return data, time.time()
    seconds, nanoseconds = struct.unpack("qq", stamps[0][2])
    return data, seconds + nanoseconds / 1e9


def connect(port):
    stream = socket.create_connection(("127.0.0.1", port), timeout=60)
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    stream.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    return stream


class Streams:
    """Reads all streams in a thread: Python is idle most of the time, so the lock of the interpreter is free."""

    def __init__(self, port):
        self.poll, self.sockets, self.received, self.ended = select.epoll(), {}, [], 0
        for number in range(STREAMS):
            lat, lon = area(number % AREAS)
            stream = connect(port)
            stream.sendall(f"GET /v1/events/changes?lat={lat}&lon={lon}&radius=5 HTTP/1.1\r\nHost: bench\r\n"
                           # An address opens a limited number of streams a minute.
                           f"X-Forwarded-For: 10.0.0.{number // 100 % 256}\r\n\r\n".encode())
            self.sockets[stream.fileno()] = stream
            self.poll.register(stream.fileno(), select.EPOLLIN)
        self.opened, self.stops = set(), False
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()
        while len(self.opened) < STREAMS:
            if self.ended:
                sys.exit("a stream has ended: is HUMON_STREAMS reached, or are there too few descriptors?")
            time.sleep(0.05)

    def read(self):
        while not self.stops:
            for descriptor, _ in self.poll.poll(0.1):
                data, arrived = receive(self.sockets[descriptor])
                now = time.time()
                if not data:
                    self.poll.unregister(descriptor)
                    self.ended += 1
                if descriptor not in self.opened and b"retry:" in data:
                    self.opened.add(descriptor)
                # The id stands on the line before the event. A chunk has whole events, unless the socket was full.
                if b"event: put" in data:
                    self.received += [(int(id), arrived, now) for id in re.findall(rb"id: (\d+)\nevent: put", data)]

    def close(self):
        self.stops = True
        self.thread.join()
        for stream in self.sockets.values():
            stream.close()


def write(port, ids, seconds, results):
    """Writes at a constant rate in several threads, and passes on the position and the time of each response."""
    acknowledged = []
    begin = time.monotonic() + 0.1

    def work(number):
        connection = connect(port)
        for count in range(number, WRITES * seconds, WRITERS):
            time.sleep(max(0, begin + count / WRITES - time.monotonic()))
            chosen = count % AREAS
            body = details(chosen, count % 1_000 / 1e6)
            sent = time.time()
            connection.sendall(
                f"PUT /v1/events/{ids[chosen]} HTTP/1.1\r\nHost: bench\r\ntb-device-token: bench\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n{body}".encode())
            response, arrived = receive(connection)
            assert response.startswith(b"HTTP/1.1 200") and response.endswith(b"}"), response
            acknowledged.append((int(re.search(rb"(?i)humon-position: (\d+)", response)[1]), arrived, sent))

    used = nodes.together(WRITERS, work)
    results.put((acknowledged, used))


def until_closed(node):
    deadline = time.monotonic() + 30
    while not re.search(r"humon_changes_streams 0\n", node.admin("/metrics")):
        if time.monotonic() > deadline:
            sys.exit("the server keeps streams whose clients have gone")
        time.sleep(0.1)


def measure_writes(node, streams, ids):
    results = multiprocessing.Queue()
    before, own, begin = node.processor_seconds(), time.process_time(), time.monotonic()
    seconds = SECONDS + WARM_UP_SECONDS
    writer = multiprocessing.Process(target=write, args=(node.port, ids, seconds, results))
    writer.start()
    acknowledged, written = results.get()
    writer.join()
    expected = len(acknowledged) * STREAMS // AREAS
    deadline = time.monotonic() + 30
    while len(streams.received) < expected and time.monotonic() < deadline:
        time.sleep(0.05)
    elapsed = time.monotonic() - begin
    used, own = node.processor_seconds() - before, time.process_time() - own
    times = {id: (arrived, sent) for id, arrived, sent in acknowledged}
    first = min(arrived for arrived, _ in times.values()) + WARM_UP_SECONDS
    measured = [(line, now, *times[id]) for id, line, now in streams.received if id in times and times[id][0] >= first]
    delays = [max(0, line - response) * 1_000 for line, _, response, _ in measured]
    whole = [(line - sent) * 1_000 for line, _, _, sent in measured]
    waits = [(now - line) * 1_000 for line, now, _, _ in measured]
    took = max(arrived for _, arrived, _ in acknowledged) - min(sent for _, _, sent in acknowledged)
    print(f"{len(acknowledged) / took:.0f} writes a second of {WRITES} wanted, each seen by {STREAMS // AREAS} of {STREAMS} streams:")
    print(f"  lines received: {len(streams.received)} of {expected}; streams that ended: {streams.ended}")
    print(f"  from the response to the write until the line arrives: {nodes.quantiles(delays)}, most {max(delays):.1f} ms")
    print(f"  from the request of the write until the line arrives: {nodes.quantiles(whole)}, most {max(whole):.1f} ms")
    print(f"  a line then waits for the generator: {nodes.quantiles(waits)}, most {max(waits):.1f} ms")
    print(f"  processor time of the server, writes included: {100 * used / elapsed:.0f} % of one core")
    print(f"  processor time of the generators: reading {100 * own / elapsed:.0f} %, writing {100 * written / elapsed:.0f} % of one core")


def reads(place, node):
    return wrk.result(wrk.start(node.port, f"{place}/ids.txt", connections=32, seconds=5)).rate


def spread(values):
    return f"{statistics.median(values):.0f} ({min(values):.0f} to {max(values):.0f})"


def measure(place, node):
    node.send("POST", "/v1/users")
    ids = [int(re.search(r"\d+", node.send("POST", "/v1/events", details(n))[2]).group()) for n in range(AREAS)]
    reads(place, node)
    without, beside = [], []
    before = node.resident_megabytes()
    for number in range(ROUNDS):
        without.append(reads(place, node))
        begin, held = time.monotonic(), node.resident_megabytes()
        streams = Streams(node.port)
        opened = time.monotonic() - begin
        if number == 0:
            held = node.resident_megabytes() - held
            print(f"{STREAMS} streams opened in {opened:.1f} s; memory of a stream: {1_024 * held / STREAMS:.1f} KiB")
            idle, begin = node.processor_seconds(), time.monotonic()
            time.sleep(15)
            share = 100 * (node.processor_seconds() - idle) / (time.monotonic() - begin)
            print(f"processor time of the server with heartbeats only: {share:.1f} % of one core")
            measure_writes(node, streams, ids)
        beside.append(reads(place, node))
        streams.close()
        until_closed(node)
    ratios = [one / other for one, other in zip(beside, without)]
    print(f"GET by id a second, median of {ROUNDS} (least to most): without streams {spread(without)}, "
          f"with {STREAMS} streams {spread(beside)}: {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")
    peak = node.resident_megabytes() - before
    print(f"memory after the streams have closed: {peak:.0f} MB more than before them")


def main():
    if len(sys.argv) > 1:
        sys.exit(__doc__)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with nodes.working_directory() as place:
        with open(f"{place}/ids.txt", "w") as file:
            file.writelines(f"GET /v1/events/{number}\n" for number in range(1, EVENTS + 1))
        if not os.path.exists(place + "/data"):
            nodes.fill(place, EVENTS)
        node = nodes.Node(place, 0, HUMON_STREAMS=str(STREAMS), HUMON_STREAMS_PER_ADDRESS="0")
        try:
            measure(place, node)
        finally:
            node.stop()


if __name__ == "__main__":
    main()
