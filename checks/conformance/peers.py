"""The foreign clients and their checks."""

import json, re, socket, ssl, subprocess

import h11, h2.config, h2.connection, h2.events, h2.settings

from sandbox import Failed

EVENT = {"name": "Street Food Friday", "lat": 37.76, "lon": -122.43, "started_at": "2030-09-13T17:00:00Z"}
NEAR = "/v1/events/nearests?lat=37.76&lon=-122.43"


def without_tls(server, short):
    populate(server)
    for version in ("--http1.0", "--http1.1"):
        expect(curl(server, version, "/v1/events/1") == (version[6:], 200), f"curl {version}")
    curl_expectations(server)
    h11_requests(server)
    for version in ("--http1.0", "--http1.1"):
        curl_stream(server, version, CHANGES + "&since=0", least=50)
    h11_stream(server)
    wrk(server, 1 if short else 10)
    passed("HTTP without TLS")


def with_tls(front, short):
    for version in ("--http1.0", "--http1.1", "--http2"):
        expect(curl(front, version, "/v1/events/1")[1] == 200, f"curl {version} over TLS")
    expect(curl(front, "--http2", "/docs") == ("2", 200), "curl --http2")
    curl_stream(front, "--http2", CHANGES + "&since=0", least=50)
    h2_requests(front)
    nghttp(front)
    nghttp_stream(front)
    h2load(front, 2_000 if short else 20_000)
    passed("HTTP over TLS, with nginx in front")


def expect(condition, what):
    if not condition:
        raise Failed(what)


def passed(what):
    print(f"Passed: {what}", flush=True)


# curl


def curl(server, version, path, *more):
    """The version and status of the response."""
    form = "%{http_version} %{http_code}"
    words = ["curl", "--silent", "--insecure", "--output", "/dev/null", "--write-out", form, version, *more, server.url + path]
    output = server.sandbox.run(words).split()
    # curl says 1 for HTTP/1.0, and names the version of the response's status line.
    return ("1.0" if version == "--http1.0" else output[0]), int(output[1])


def curl_expectations(server):
    """A client that sends Expect gets 100 Continue or 413 immediately."""
    for size, status in ((2_000, 400), (5_000_000, 413)):
        body = server.sandbox.write(f"body-{size}", "x" * size)
        # Without 100 Continue or a final response curl waits until its time is up, and fails.
        words = ["--expect100-timeout", "120", "--max-time", "60"]
        words += ["--header", "Expect: 100-continue", "--header", "tb-device-token: " + server.token]
        words += ["--header", "Content-Type: application/json", "--data-binary", f"@{body}"]
        expect(curl(server, "--http1.1", "/v1/events", *words)[1] == status, f"curl with Expect and {size} bytes")


CHANGES = "/v1/events/changes?lat=37.76&lon=-122.43"


def curl_stream(server, version, path, least):
    """A stream of changes as curl shows it: at least so many changes, and then no end."""
    words = ["curl", "--silent", "--insecure", "--no-buffer", version, "--max-time", "2", server.url + path]
    output = subprocess.run(words, stdout=subprocess.PIPE, timeout=60)
    # 28: the time was up, and not the stream.
    expect(output.returncode == 28, f"curl {version}: the stream ended with {output.returncode}")
    expect(re.match(rb"retry: 2000\nid: \d+(\.[a-p]{8})?\n\n", output.stdout), f"curl {version}: {output.stdout[:100]}")
    expect(output.stdout.count(b"\nevent: put\ndata: {") >= least, f"curl {version}: changes are missing")


# h11


class H11:
    """A connection that raises `RemoteProtocolError` when the server breaks HTTP/1.1."""

    def __init__(self, server):
        self.socket = socket.create_connection(("127.0.0.1", server.port), timeout=20)
        self.connection = h11.Connection(h11.CLIENT)

    def send(self, *events):
        for event in events:
            self.socket.sendall(self.connection.send(event))

    def receive(self):
        """The next final response with its body, and the informational responses before it."""
        body, informational, response = b"", [], None
        while True:
            event = self.connection.next_event()
            if event is h11.NEED_DATA:
                self.connection.receive_data(self.socket.recv(65_536))
            elif isinstance(event, h11.InformationalResponse):
                informational.append(event.status_code)
            elif isinstance(event, h11.Response):
                response = event
            elif isinstance(event, h11.Data):
                body += bytes(event.data)
            elif isinstance(event, (h11.EndOfMessage, h11.ConnectionClosed)):
                break
        expect(response is not None, "the server closed the connection without a response")
        if self.connection.our_state is h11.DONE and self.connection.their_state is h11.DONE:
            self.connection.start_next_cycle()
        return response.status_code, dict(response.headers), body, informational

    def ask(self, method, target, headers=(), body=b"", chunks=None):
        fields = [("Host", "localhost"), *headers]
        if chunks:
            fields.append(("Transfer-Encoding", "chunked"))
        elif body:
            fields.append(("Content-Length", str(len(body))))
        self.send(h11.Request(method=method, target=target, headers=fields))
        for part in chunks or ([body] if body else []):
            self.send(h11.Data(data=part))
        self.send(h11.EndOfMessage())
        return self.receive()


def populate(server):
    connection = H11(server)
    secret, token = ("tb-app-secret", server.secret), ("tb-device-token", server.token)
    expect(connection.ask("POST", "/v1/users", [secret, token])[0] == 200, "a sign-up")
    body = json.dumps(EVENT).encode()
    for _ in range(50):
        expect(connection.ask("POST", "/v1/events", [token, ("Content-Type", "application/json")], body)[0] == 200, "a write")


def h11_requests(server):
    connection = H11(server)
    status, headers, body, _ = connection.ask("GET", "/v1/events/1")
    expect(status == 200 and json.loads(body)["id"] == 1, "h11: GET")
    tag = headers[b"etag"].decode()
    status, head, body, _ = connection.ask("HEAD", "/v1/events/1")
    expect((status, body, head[b"content-length"]) == (200, b"", headers[b"content-length"]), "h11: HEAD")
    expect(connection.ask("GET", "/v1/events/1", [("If-None-Match", tag)])[0] == 304, "h11: 304 without a body")
    status, headers, body, _ = connection.ask("GET", NEAR, [("Accept-Encoding", "gzip")])
    expect((status, headers[b"content-encoding"]) == (200, b"gzip"), "h11: a compressed list")
    expect(connection.ask("OPTIONS", "*")[0] == 204, "h11: OPTIONS *")
    expect(connection.ask("GET", "/nowhere")[0] == 404, "h11: 404")
    expect(connection.ask("POST", "/v1/events/1")[0] == 405, "h11: 405")
    # Chunks of one byte, after the other requests on the same connection.
    body = json.dumps(EVENT).encode()
    fields = [("tb-device-token", server.token), ("Content-Type", "application/json")]
    status, *_ = connection.ask("POST", "/v1/events", fields, chunks=[bytes([byte]) for byte in body])
    expect(status == 200, "h11: a chunked body")
    connection.send(
        h11.Request(method="POST", target="/v1/events", headers=[("Host", "a"), ("Content-Length", str(len(body))), *fields, ("Expect", "100-continue")])
    )
    while not isinstance(event := connection.connection.next_event(), h11.InformationalResponse):
        expect(event is h11.NEED_DATA, f"h11: {event} instead of 100 Continue")
        connection.connection.receive_data(connection.socket.recv(65_536))
    connection.send(h11.Data(data=body), h11.EndOfMessage())
    expect(connection.receive()[0] == 200, "h11: a body after 100 Continue")
    status, headers, _, _ = connection.ask("GET", "/v1/events/1", [("Connection", "close")])
    expect((status, headers[b"connection"]) == (200, b"close"), "h11: the last response")
    expect(connection.socket.recv(1) == b"", "h11: the end after it")


def h11_stream(server):
    """Chunks of a stream, each a whole part, and a write that arrives while the stream is open."""
    connection, writer = H11(server), H11(server)
    connection.send(h11.Request(method="GET", target=NEAR.replace("nearests", "changes"), headers=[("Host", "localhost")]), h11.EndOfMessage())
    received = b""
    while b"event: put" not in received or not received.endswith(b"\n\n"):
        event = connection.connection.next_event()
        if event is h11.NEED_DATA:
            connection.connection.receive_data(connection.socket.recv(65_536))
        elif isinstance(event, h11.Response):
            headers = dict(event.headers)
            expect((event.status_code, headers[b"content-type"]) == (200, b"text/event-stream"), f"h11: a stream: {headers}")
            expect(b"content-length" not in headers and headers[b"cache-control"] == b"no-store", f"h11: a stream: {headers}")
        else:
            expect(isinstance(event, h11.Data), f"h11: {event} in a stream")
            received += bytes(event.data)
            if b"retry" in received and writer:
                fields = [("tb-device-token", server.token), ("Content-Type", "application/json")]
                expect(writer.ask("POST", "/v1/events", fields, json.dumps(EVENT).encode())[0] == 200, "a write beside a stream")
                writer = None
    status, headers, body, _ = H11(server).ask("HEAD", CHANGES)
    expect((status, body, b"content-length" in headers) == (200, b"", False), "h11: HEAD of a stream")


# h2

EVENTS_AT_ONCE = 24


def h2_requests(front):
    """Concurrent streams with small windows, and a body that is too large. nginx allows 32 streams at once."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    stream = context.wrap_socket(socket.create_connection(front.address, timeout=20), server_hostname="localhost")
    expect(stream.selected_alpn_protocol() == "h2", "ALPN does not choose h2")
    # h2 raises ProtocolError when the server breaks HTTP/2.
    connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True, header_encoding="utf-8"))
    connection.initiate_connection()
    connection.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: 1_000})
    stream.sendall(connection.data_to_send())

    def head(method, path, *more):
        return [(":method", method), (":scheme", "https"), (":authority", front.authority), (":path", path), *more]

    requests = [head("GET", f"/v1/events/{number + 1}") for number in range(EVENTS_AT_ONCE)]
    requests += [head("GET", "/docs"), head("HEAD", "/docs"), head("GET", "/nowhere"), head("BREW", "/nowhere")]
    for headers in requests:
        connection.send_headers(connection.get_next_available_stream_id(), headers, end_stream=True)
    large = connection.get_next_available_stream_id()
    fields = [("tb-device-token", front.token), ("content-type", "application/json")]
    connection.send_headers(large, head("POST", "/v1/events", *fields, ("content-length", "5000000")))
    writing = connection.get_next_available_stream_id()
    body = json.dumps(EVENT).encode()
    connection.send_headers(writing, head("POST", "/v1/events", *fields, ("content-length", str(len(body)))))
    connection.send_data(writing, body, end_stream=True)
    connection.ping(b"conforms")
    stream.sendall(connection.data_to_send())
    statuses, bodies, ended, pinged = {}, {}, set(), False
    while len(ended) < len(requests) + 2 or not pinged:
        data = stream.recv(65_536)
        expect(data, "h2: the server closed the connection")
        for event in connection.receive_data(data):
            if isinstance(event, h2.events.ResponseReceived):
                statuses[event.stream_id] = int(dict(event.headers)[":status"])
            elif isinstance(event, h2.events.DataReceived):
                bodies[event.stream_id] = bodies.get(event.stream_id, 0) + len(event.data)
                connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            elif isinstance(event, h2.events.StreamEnded):
                ended.add(event.stream_id)
            elif isinstance(event, h2.events.PingAckReceived):
                pinged = event.ping_data == b"conforms"
            elif isinstance(event, h2.events.StreamReset):
                expect(event.stream_id == large, f"h2: stream {event.stream_id} was reset")
        stream.sendall(connection.data_to_send())
    expect(statuses[1] == 200 and bodies[1] > 100, "h2: GET")
    docs = 2 * EVENTS_AT_ONCE + 1
    expect((statuses[docs], statuses[docs + 2], statuses[docs + 4]) == (200, 200, 404), f"h2: {statuses}")
    expect(bodies[docs] > 10_000 and not bodies.get(docs + 2), "h2: a large body through a small window, and none for HEAD")
    expect(statuses[docs + 6] == 501, "h2: an unknown method")
    expect(statuses[writing] == 200, "h2: a write")
    expect(statuses[large] == 413, "h2: a body that is too large")


# nghttp2 and wrk


def nghttp(front):
    output = front.sandbox.run(["nghttp", "--null-out", "--verbose", front.url + NEAR])
    expect(":status: 200" in output and not re.search(r"error_code=(?!NO_ERROR)|\[ERROR\]", output), f"nghttp: {output}")


def nghttp_stream(front):
    """nghttp gives the stream up at its time limit."""
    words = ["nghttp", "--verbose", "--timeout=2", front.url + CHANGES]
    output = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60).stdout.decode()
    expect(":status: 200" in output and "recv DATA frame" in output and "retry: 2000" in output, f"nghttp: {output[:2_000]}")
    expect("content-length" not in output, f"nghttp: {output[:2_000]}")


def h2load(front, requests):
    """25 clients: nginx ends a connection after 1,000 requests."""
    for path in ("/v1/events/1", "/docs"):
        output = front.sandbox.run(["h2load", f"--requests={requests}", "--clients=25", "--max-concurrent-streams=10", front.url + path])
        expect(f"{requests} succeeded, 0 failed, 0 errored, 0 timeout" in output, f"h2load {path}: {output}")


def wrk(server, seconds):
    for words in ([], ["--header", "Connection: close"], ["--header", "Accept-Encoding: gzip"]):
        output = server.sandbox.run(["wrk", "--threads=1", "--connections=32", f"--duration={seconds}s", *words, server.url + NEAR])
        expect(not re.search(r"Non-2xx|Socket errors: connect [1-9]|write [1-9]|timeout [1-9]", output), f"wrk: {output}")
