"""The apps that must work unchanged: the to-do app, and beside it the four generations of the app for events."""

import gzip, json, threading, uuid
from urllib.parse import quote

from peers import H11, expect, passed

PASSWORD = "correct horse & battery+1"
# AFNetworking sends these with every request: the languages of the device, and the app with its version, device, system and scale.
AFNETWORKING = [
    ("Accept", "*/*"),
    ("Accept-Language", "en;q=1, fr;q=0.9, de;q=0.8, zh-Hans;q=0.7, zh-Hant;q=0.6, ja;q=0.5"),
    ("User-Agent", "Todo/1.0 (iPhone; iOS 8.1; Scale/2.00)"),
    ("Accept-Encoding", "gzip, deflate"),
    ("Connection", "keep-alive"),
]
FORM = ("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
JSON = [("Accept", "application/json"), ("Content-Type", "application/json")]
EVENT = {"name": "Picnic", "address": "Dolores Park", "lat": 37.759, "lon": -122.427, "started_at": "2013-09-16T00:00:00.000Z"}


class Failure(Exception):
    """The client calls its block for failures, as for every response without JSON or with a status outside 200 to 299."""

    def __init__(self, status, answer):
        super().__init__(f"{status}: {answer}")
        self.status, self.answer = status, answer


class AFHTTPRequestOperationManager:
    """AFNetworking 2 with its default serialisers, over one connection that it keeps alive.

    GET and DELETE send their parameters in the query, POST and PUT in a form. The pairs are in the order of their names. AFNetworking
    up to 2.5 leaves the brackets of names as they are, and version 2.6 escapes them.
    """

    def __init__(self, server, escapes_brackets):
        self.connection = H11(server)
        # In the names of parameters. Letters, digits and _.-~ are never escaped.
        self.unescaped = "" if escapes_brackets else "[]"

    def query(self, parameters):
        return "&".join(f"{quote(name, safe=self.unescaped)}={quote(value, safe='')}" for name, value in sorted(pairs(parameters)))

    def ask(self, method, path, parameters):
        query = self.query(parameters)
        if method in ("GET", "DELETE"):
            fields, body = AFNETWORKING, b""
            path += ("&" if "?" in path else "?") + query
        else:
            fields, body = [*AFNETWORKING, FORM], query.encode()
        status, headers, answer, _ = self.connection.ask(method, path, fields, body)
        if headers.get(b"content-encoding") == b"gzip":
            answer = gzip.decompress(answer)
        is_json = headers.get(b"content-type", b"").split(b";")[0] in (b"application/json", b"text/json", b"text/javascript")
        # NSJSONSerialization refuses everything but an array or an object.
        parsed = json.loads(answer) if is_json and answer[:1] in (b"{", b"[") else None
        if not 200 <= status < 300 or parsed is None:
            raise Failure(status, parsed)
        return parsed


def pairs(parameters, prefix=None):
    """The names and texts of nested parameters, the Rails way. An NSNumber of a boolean describes itself as 1 or 0."""
    for name, value in parameters.items():
        name = f"{prefix}[{name}]" if prefix else name
        if isinstance(value, dict):
            yield from pairs(value, name)
        else:
            yield name, str(int(value)) if isinstance(value, bool) else str(value)


def refused(status, answer, work, *words):
    try:
        unwanted = work(*words)
    except Failure as failure:
        expect((failure.status, failure.answer) == (status, answer), f"to-do app: {failure} instead of {status}: {answer}")
    else:
        expect(False, f"to-do app: {unwanted} instead of {status}")


class TodoApp:
    """The requests of the to-do app."""

    def __init__(self, server, email, escapes_brackets):
        self.manager = AFHTTPRequestOperationManager(server, escapes_brackets)
        self.email, self.token = email, None

    def sign_up(self, email=None, password=PASSWORD):
        user = {"name": "Zoë O'Neil", "email": email or self.email, "password": password}
        self.token = self.manager.ask("POST", "/v1/users.json", {"user": user})["authentication_token"]

    def sign_in(self, password=PASSWORD, email=None):
        """The text reads one name of the token, and the template project the other one."""
        answer = self.manager.ask("POST", "/v1/users/sign_in.json", {"user": {"email": email or self.email, "password": password}})
        expect(answer["token"] == answer["authentication_token"], "to-do app: two tokens")
        self.token = answer["token"]

    def tasks(self):
        return self.manager.ask("GET", "/v1/tasks.json", {"authentication_token": self.token})

    def create(self, title):
        """The app sends the token in the query and in the body."""
        return self.manager.ask(
            "POST", f"/v1/tasks.json?authentication_token={self.token}", {"authentication_token": self.token, "task": {"title": title}}
        )

    def change(self, number, **task):
        return self.manager.ask("PUT", f"/v1/tasks/{number}.json", {"authentication_token": self.token, "task": task})

    def delete(self, number):
        return self.manager.ask("DELETE", f"/v1/tasks/{number}.json", {"authentication_token": self.token})

    def sign_out(self):
        return self.manager.ask("DELETE", "/v1/users/sign_out.json", {"authentication_token": self.token})


def todo_app(server, escapes_brackets):
    """The life of two accounts. Validation errors are those of the text."""
    run = uuid.uuid4().hex[:8]
    app, other = (TodoApp(server, f"{name}+{run}@Example.org", escapes_brackets) for name in ("zoe", "max"))

    def invalid(*errors):
        return {"message": "Validation Failed", "errors": list(errors)}

    app.sign_up()
    other.sign_up()
    taken, wrong = invalid("Email has already been taken"), {"message": "Invalid email or password"}
    newcomer = TodoApp(server, app.email.upper(), escapes_brackets)
    refused(422, taken, newcomer.sign_up)
    refused(422, invalid("Password is too short (minimum is 8 characters)"), newcomer.sign_up, f"new-{run}@example.org", "short")
    refused(401, wrong, newcomer.sign_in, "wrong horse")
    refused(401, wrong, newcomer.sign_in, PASSWORD, f"nobody-{run}@example.org")
    first_token = app.token
    app.sign_in()
    expect(app.token != first_token, "to-do app: a sign-in issued no new token")

    expect(app.tasks() == [], "to-do app: tasks of a new account")
    titles = ["Buy milk & eggs = breakfast", "50 % off; 2+2=4 (really?)", "Käse für Zoë 🧀 #1", "a/b:c@d!$',*[]{}|\\^~`\"<>"]
    tasks = [app.create(title) for title in titles]
    shown = [{"id": task["id"], "title": title, "completed": False} for task, title in zip(tasks, titles)]
    expect(tasks == shown and app.tasks() == shown, f"to-do app: created {tasks}, listed {app.tasks()}")
    refused(422, invalid("Title can't be blank"), app.create, "  ")

    for is_completed in (True, False, True):
        shown[1]["completed"] = is_completed
        expect(app.change(shown[1]["id"], completed=is_completed) == shown[1], f"to-do app: completed={int(is_completed)}")
        expect(app.tasks() == shown, "to-do app: the list after a change")
    shown[2]["title"] = "Käse & Brot"
    expect(app.change(shown[2]["id"], title=shown[2]["title"]) == shown[2], "to-do app: a new title")
    shown[0] |= {"title": "Buy oat milk", "completed": True}
    expect(app.change(shown[0]["id"], title="Buy oat milk", completed=True) == shown[0], "to-do app: both fields")

    hidden, unknown = {"message": "Not Found"}, shown[3]["id"]
    for work in (lambda: other.change(unknown, completed=True), lambda: other.delete(unknown), lambda: app.delete(2**40)):
        refused(404, hidden, work)
    expect(other.tasks() == [] and app.tasks() == shown, "to-do app: the tasks of two accounts")
    expect(app.delete(unknown) == {}, "to-do app: a deletion")
    refused(404, hidden, app.change, unknown)
    # A list of more than a kilobyte is compressed.
    shown = shown[:3] + [app.create(f"Task {number} of many, " + "long " * 20) for number in range(20)]
    expect(app.tasks() == shown, "to-do app: a long list")

    app.sign_out()
    for work in (app.tasks, lambda: app.create("Too late"), lambda: app.change(shown[0]["id"], completed=False), app.sign_out):
        refused(401, None, work)
    app.token = first_token
    expect(app.tasks() == shown, "to-do app: a sign-out ended another token")


# The four generations of the app for events: of each, the names that only it uses.


def beta_sample(server):
    ask = H11(server).ask
    status, _, body, _ = ask("POST", "/v1/users", [*JSON, ("X-APP-SECRET", server.secret)])
    user = json.loads(body)
    expect(status == 200 and user["id"] > 0, "beta sample: sign-up")
    event(ask, [*JSON, ("X-DEVICE-TOKEN", user["device_token"])], "beta sample", user, {"owner": {"id": user["id"]}})


def nsurlsession(server):
    ask, own = H11(server).ask, str(uuid.uuid4()).upper()
    status, _, body, _ = ask("POST", "/v1/users", [*JSON, ("tb-app-secret", server.secret), ("tb-device-token", own)])
    user = json.loads(body)
    expect((status, user["device_token"]) == (200, own), "NSURLSession: sign-up with its own UUID")
    event(ask, [*JSON, ("tb-device-token", own)], "NSURLSession", user)


def final_app(server):
    ask = H11(server).ask
    status, _, body, _ = ask("POST", "/v1/users", [*JSON, ("tb-app-secret", server.secret)])
    user = json.loads(body)
    expect(status == 200, "final app: sign-up")
    fields = [*JSON, ("tb-auth-token", user["auth_token"])]
    number = event(ask, fields, "final app", user, {"ended_at": None})
    changed = EVENT | {"id": str(number), "name": "Moved", "lat": "37.7601"}
    status, _, body, _ = ask("PATCH", f"/v1/events/{number}", fields, json.dumps(changed).encode())
    expect((status, json.loads(body)) == (200, {"id": number}), "final app: a change")
    status, _, body, _ = ask("POST", "/v1/attendances", fields, json.dumps({"event": {"id": str(number)}}).encode())
    expect((status, body) == (200, b"{}"), "final app: an RSVP with a string id")
    for radius in (0.1, 1, 2.5):
        status, _, body, _ = ask("GET", f"/v1/events/nearests?lat=37.7601&lon=-122.427&radius={radius}", fields)
        expect(status == 200 and number in [found["id"] for found in json.loads(body)], "final app: the map")
    status, _, body, _ = ask("GET", "/v1/events/nearests?lat=-48.9&lon=-123.4&radius=1", fields)
    expect((status, json.loads(body)) == (200, {"message": "No Events Found"}), "final app: an empty map")


def afnetworking(server):
    ask = H11(server).ask
    status, _, body, _ = ask("POST", "/v1/users.json", [*AFNETWORKING, ("tb-app-secret", server.secret)])
    user = json.loads(body)
    expect(status == 200, "AFNetworking: sign-up")
    fields = [*AFNETWORKING, ("tb-auth-token", user["auth_token"])]
    form = b"address=85%202nd%20Street&lat=37.7884&lon=-122.3999&name=Caf%C3%A9&started_at=2013-09-16T00%3A00%3A00.000Z"
    status, _, body, _ = ask("POST", "/v1/events", [*fields, FORM], form)
    number = json.loads(body)["id"]
    status, _, body, _ = ask("POST", "/v1/attendances", [*fields, FORM], f"event%5Bid%5D={number}".encode())
    expect((status, body) == (200, b"{}"), "AFNetworking: an attendance")
    status, headers, body, _ = ask("GET", "/v1/events/nearest?lat=37.7884&lon=-122.3999&radius=0.5", fields)
    body = gzip.decompress(body) if b"content-encoding" in headers else body
    expect("Café" in [found["name"] for found in json.loads(body) if found["id"] == number], "AFNetworking: the nearest events")


def event(ask, fields, client, user, more={}):
    """Creates an event and reads it, and returns its id."""
    status, _, body, _ = ask("POST", "/v1/events", fields, json.dumps(EVENT | more).encode())
    created = json.loads(body)
    expect(status == 200 and list(created) == ["id"], f"{client}: an event")
    status, _, body, _ = ask("GET", f"/v1/events/{created['id']}", fields)
    read = json.loads(body)
    wanted = EVENT | {"id": created["id"], "ended_at": None, "owner": {"id": user["id"]}}
    expect(status == 200 and read == wanted and list(read)[0] == "address", f"{client}: reads {read}")
    return created["id"]


def apps(server):
    """All apps at once, each on connections of its own."""
    works = [lambda: todo_app(server, False), lambda: todo_app(server, True)]
    works += [lambda client=client: client(server) for client in (beta_sample, nsurlsession, final_app, afnetworking)]
    failures = []

    def run(work):
        try:
            work()
        # An error of a thread would be printed and forgotten.
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for failure in failures:
        raise failure
    passed("the to-do app, and the four generations of the app for events beside it")
