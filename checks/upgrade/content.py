"""What the dump of a release has: every type of stored domain event, each with all of its members, and persons who come back."""

import json, re, urllib.error, urllib.request

from process import Failed

EVENT = {
    "name": "Picnic", "address": "Dolores Park", "lat": 37.759, "lon": -122.427, "started_at": "2030-09-16T00:00:00.000Z", "category": "food",
    "time_zone": "America/Los_Angeles", "description": "Bring tea.", "link": "https://example.org/picnic",
}
# A place where no other event is near.
ISLAND = EVENT | {"name": "Sunrise", "lat": -52.5, "lon": 169.1, "time_zone": "Pacific/Auckland"}
PASSWORD = {"password": "correct horse"}
# As many as an account keeps: one more replaces the oldest.
TOKENS = 20


def write(server, humon):
    """
    - humon: runs a command beside the server
    """
    ask = asking(server)
    users = {token: ask("POST", "/v1/users", token)["id"] for token in ("ann", "bob", "carl", "dave")}
    picnic, concert, lecture, carls = (ask("POST", "/v1/events", token, EVENT)["id"] for token in ("ann", "ann", "ann", "carl"))
    ask("PATCH", f"/v1/events/{picnic}", "ann", EVENT | {"name": "A picnic in the rain", "ended_at": "2030-09-16T02:00:00.000Z"})
    ask("DELETE", f"/v1/events/{concert}", "ann")
    humon("events", "hide", concert, "--reason", "a complaint")
    humon("events", "unhide", concert)
    for token, event in (("bob", picnic), ("bob", lecture), ("carl", picnic), ("ann", carls)):
        ask("POST", "/v1/attendances", token, {"event": {"id": event}})
    ask("DELETE", f"/v1/events/{lecture}/attendance", "bob")
    humon("events", "hide", lecture, "--reason", "a complaint")
    humon("events", "unhide", lecture)
    humon("events", "hide", picnic, "--reason", "another complaint")

    code = ask("POST", "/v1/users/me/passes", "bob", {"kind": "transfer"})["pass"]
    ask("POST", "/v1/users/return", "", {"pass": code, "device_token": "bob's new phone"})
    for kind in ("recovery", "calendar"):
        ask("POST", "/v1/users/me/passes", "ann", {"kind": kind})
    ask("DELETE", "/v1/users/me/passes/recovery", "ann")
    ask("POST", "/v1/users/me/passes", "carl", {"kind": "recovery"})
    ask("POST", "/v1/users/me/token", "ann", {"device_token": "ann's new phone"})
    humon("users", "revoke", users["dave"], "--yes")

    for name in ("erin", "fay"):
        user = {"name": name, "email": f"{name}@example.org"}
        token = ask("POST", "/v1/users", "", {"user": user | PASSWORD})["token"]
        task, other, done = (ask("POST", "/v1/tasks", token, {"task": {"title": title}})["id"] for title in ("Buy milk", "Call Bob", "Sleep"))
        for change in ({"title": "Buy oat milk"}, {"completed": True}, {"completed": False}):
            ask("PUT", f"/v1/tasks/{task}", token, {"task": change})
        ask("PUT", f"/v1/tasks/{done}", token, {"task": {"completed": True}})
        ask("DELETE", f"/v1/tasks/{other}", token)
        signed_in = [ask("POST", "/v1/users/sign_in", "", {"user": user | PASSWORD})["token"] for _ in range(TOKENS)]
        token = signed_in[-2]
        ask("DELETE", "/v1/users/sign_out", signed_in[-1])
        ask("PUT", "/v1/users/password", token, {"user": {"current_password": PASSWORD["password"], "password": "battery staple"}})
    # Both commands return when nothing is left.
    ask("DELETE", "/v1/accounts/me", token, {"user": {"current_password": "battery staple"}})
    humon("users", "erase", users["carl"], "--yes")
    come_back(server)


def asking(server):
    """Returns a function that sends a request as the apps do, and returns the JSON of the response."""
    def ask(method, path, token="", body=None, key=None, refused=None):
        fields = {"Content-Type": "application/json", "tb-app-secret": server.secret, "tb-device-token": token}
        if re.match("/v1/(tasks|accounts|users/(sign_out|password))", path):
            fields = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
        fields["traceparent"] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        if key:
            fields["Idempotency-Key"] = f'"{key}"'
        request = urllib.request.Request(server.url + path, json.dumps(body).encode() if body else None, fields, method=method)
        try:
            with urllib.request.urlopen(request, timeout=20) as response:
                answer = json.loads(response.read() or "null")
        except urllib.error.HTTPError as error:
            if error.code != refused:
                raise Failed(f"{method} {path} got {error.code}: {error.read().decode()}")
            return None
        if refused and answer:
            raise Failed(f"{method} {path} under the key {key} of another request was not refused")
        return answer

    return ask


def come_back(server):
    """Persons of the dump whose tokens, password and keys every later program knows. Of the two requests with a key the first records an
    event, and the other one changes nothing. Repeats get the same responses, and another request under either key is refused."""
    ask = asking(server)
    ids = [ask("POST", "/v1/users", f"{name}'s new phone")["id"] for name in ("ann", "bob")]
    if ids != [1, 2]:
        raise Failed(f"ann and bob have the ids {ids} now: their tokens were not found")
    first = ask("POST", "/v1/events", "ann's new phone", ISLAND, "sunrise")["id"]
    attendance = f"/v1/events/{first}/attendance"
    ask("PUT", attendance, "bob's new phone")
    ask("PUT", attendance, "bob's new phone", key="there already")
    ask("POST", "/v1/events", "ann's new phone", EVENT, "sunrise", refused=422)
    ask("DELETE", attendance, "bob's new phone", key="there already", refused=422)
    near = ask("GET", f"/v1/events/nearests?lat={ISLAND['lat']}&lon={ISLAND['lon']}&radius=1", "bob's new phone")
    if [event["id"] for event in near] != [first]:
        raise Failed(f"the repeated request has made {len(near)} events")
    token = ask("POST", "/v1/users/sign_in", "", {"user": {"email": "erin@example.org", "password": "battery staple"}})["token"]
    titles = sorted(task["title"] for task in ask("GET", "/v1/tasks", token))
    if titles != ["Buy oat milk", "Sleep"]:
        raise Failed(f"erin has the tasks {titles}")
