"""A client that sends every request once, even if it fails, and records the responses."""

import asyncio, collections, dataclasses, json, random, time, uuid


@dataclasses.dataclass
class Request:
    kind: str
    # Identifies the write in the log: the name of an event, the device of a user, or the number of an attended event.
    mark: str
    begin: float
    end: float = 0
    # None if no response came.
    status: int = None
    # Another error, besides the status.
    fault: str = ""
    number: int = 0
    node: str = ""

    @property
    def failed(self):
        return self.status != 200 or bool(self.fault)


class Connection:
    """An HTTP/1.1 connection for one request at a time."""

    def __init__(self, port, address):
        self.port, self.address, self.reader, self.writer = port, address, None, None

    async def exchange(self, method, path, headers, body):
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port, local_addr=(self.address, 0))
        fields = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self.writer.write(
            f"{method} {path} HTTP/1.1\r\nHost: humon.example\r\nContent-Length: {len(body)}\r\n{fields}\r\n{body}".encode()
        )
        status = int((await self.reader.readuntil(b"\r\n")).split()[1])
        answered = {}
        while (line := await self.reader.readuntil(b"\r\n")) != b"\r\n":
            name, _, value = line.decode("latin-1").partition(":")
            answered[name.lower()] = value.strip()
        if "chunked" in answered.get("transfer-encoding", ""):
            content = b""
            while size := int(await self.reader.readuntil(b"\r\n"), 16):
                content += await self.reader.readexactly(size)
                await self.reader.readexactly(2)
            await self.reader.readexactly(2)
        else:
            content = await self.reader.readexactly(int(answered.get("content-length", 0)))
        if answered.get("connection") == "close":
            self.close()
        return status, answered, content

    def close(self):
        if self.writer:
            self.writer.close()
        self.reader = self.writer = None


class Phone:
    """One device with one request at a time, as an app sends them, but faster."""

    def __init__(self, load, number):
        self.load, self.number = load, number
        self.chance = random.Random(number)
        # An address of its own, because limits apply to each address.
        self.connection = Connection(load.port, f"127.0.{1 + number // 250}.{1 + number % 250}")
        self.device = f"phone-{load.run}-{number}"
        # Every second phone sends an Idempotency-Key with each write.
        self.has_keys = number % 2 == 0
        # Its own events with the names that a read may show, from the last acknowledged one on, and that write's position.
        self.events = collections.OrderedDict()
        self.position = "0"

    async def run(self):
        await self.sign_up(self.device)
        while not self.load.ends:
            await self.one_of(self.chance.random())
            if self.load.pause:
                await asyncio.sleep(self.load.pause * 2 * self.chance.random())
        self.connection.close()

    @property
    def only_reads(self):
        """Every third phone only reads, so that it never waits for a write."""
        return self.number % 3 == 2 and len(self.events) >= 5

    async def one_of(self, chance):
        if not self.events or chance < 0.15 and not self.only_reads:
            await self.create()
        elif self.only_reads:
            await (self.read() if chance < 0.6 else self.search())
        elif chance < 0.30:
            await self.change()
        elif chance < 0.36:
            await self.attend()
        elif chance < 0.38:
            await self.sign_up(f"{self.device}-{uuid.uuid4()}")
        elif chance < 0.80:
            await self.read()
        else:
            await self.search()

    async def send(self, kind, mark, method, path, body=None, headers={}):
        text = json.dumps(body) if body is not None else ""
        own = {"tb-device-token": self.device, "content-type": "application/json"} | headers
        if self.has_keys and method != "GET":
            own["idempotency-key"] = f'"{uuid.uuid4()}"'
        request = Request(kind + (" with a key" if "idempotency-key" in own else ""), mark, time.monotonic())
        answer, content = {}, b""
        try:
            request.status, answer, content = await asyncio.wait_for(self.connection.exchange(method, path, own, text), 30)
        except (OSError, EOFError, asyncio.TimeoutError, ValueError) as error:
            self.connection.close()
            request.fault = type(error).__name__
        request.end = time.monotonic()
        if request.status == 200 and method != "GET":
            self.position = answer.get("humon-position", "0")
        self.load.requests.append(request)
        return request, content

    def details(self, name):
        return {
            "name": name,
            "lat": 37 + self.chance.random(),
            "lon": -122 + self.chance.random(),
            "started_at": "2030-09-13T17:00:00Z",
        }

    async def sign_up(self, device):
        headers = {"tb-device-token": device, "tb-app-secret": self.load.secret}
        request, content = await self.send("sign up", device, "POST", "/v1/users", headers=headers)
        if not request.failed:
            request.number = json.loads(content)["id"]

    async def create(self):
        name = f"created {uuid.uuid4()}"
        request, content = await self.send("create", name, "POST", "/v1/events", self.details(name))
        if not request.failed:
            request.number = json.loads(content)["id"]
            self.events[request.number] = {name}
            if len(self.events) > 50:
                self.events.popitem(last=False)

    async def change(self):
        number = self.chance.choice(list(self.events))
        name = f"changed {uuid.uuid4()}"
        names = self.events[number]
        # Whether it is carried out is open until it is answered, and stays so if it is not.
        names.add(name)
        request, _ = await self.send("change", name, "PATCH", f"/v1/events/{number}", self.details(name))
        request.number = number
        if not request.failed:
            self.events[number] = {name}

    async def attend(self):
        number = self.chance.choice(list(self.events))
        request, _ = await self.send("attend", self.device, "POST", "/v1/attendances", {"event": {"id": number}})
        request.number = number

    async def read(self):
        """Reads an event. With the position of the own last write, any node must show that write."""
        number = self.chance.choice(list(self.events))
        # Half of the reads do not ask for the client's own last write.
        asks = self.chance.random() < 0.5
        headers = {"humon-position": self.position} if asks else {}
        request, content = await self.send("read own write" if asks else "read", "", "GET", f"/v1/events/{number}", headers=headers)
        request.number = number
        if asks and not request.failed and json.loads(content)["name"] not in self.events[number]:
            request.fault = f"shows {json.loads(content)['name']} instead of {self.events[number]}"

    async def search(self):
        await self.send(
            "search", "", "GET", f"/v1/events/nearests?lat={37 + self.chance.random()}&lon={-122 + self.chance.random()}&radius=2"
        )


class Load:
    """Phones that send requests concurrently while a test runs."""

    def __init__(self, port, secret, phones=24, pause=0.02):
        self.port, self.secret, self.pause, self.phones = port, secret, pause, phones
        self.run, self.ends, self.requests = uuid.uuid4().hex[:8], False, []

    async def beside(self, work):
        """Sends requests while `work` runs in a thread, and returns its result."""
        phones = [asyncio.create_task(Phone(self, number).run()) for number in range(self.phones)]
        try:
            return await asyncio.to_thread(work)
        finally:
            self.ends = True
            await asyncio.gather(*phones)

    def failures(self):
        return [request for request in self.requests if request.failed]

    def summary(self):
        count = collections.Counter(
            "reads" if request.kind in ("read", "read own write", "search") else "writes" for request in self.requests
        )
        return f"{count['reads']} reads, {count['writes']} writes"

    def percentile(self, part):
        times = sorted(request.end - request.begin for request in self.requests)
        return times[min(len(times) - 1, int(len(times) * part))] * 1_000 if times else 0
