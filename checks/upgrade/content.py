"""What the dump of a release has: every type of stored domain event."""

import json, re, urllib.error, urllib.request

from process import Failed

EVENT = {"name": "Picnic", "lat": 37.759, "lon": -122.427, "started_at": "2030-09-16T00:00:00.000Z", "description": "Bring tea.", "category": "food"}
PASSWORD = {"password": "correct horse"}


def write(server, humon):
    """
    - humon: runs a command beside the server
    """
    def ask(method, path, token="", body=None):
        fields = {"Content-Type": "application/json", "tb-app-secret": server.secret, "tb-device-token": token}
        if re.match("/v1/(tasks|accounts|users/(sign_out|password))", path):
            fields = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
        request = urllib.request.Request(server.url + path, json.dumps(body).encode() if body else None, fields, method=method)
        try:
            with urllib.request.urlopen(request, timeout=20) as response:
                return json.loads(response.read())
        except urllib.error.HTTPError as error:
            raise Failed(f"{method} {path} got {error.code}: {error.read().decode()}")

    users = {token: ask("POST", "/v1/users", token)["id"] for token in ("ann", "bob", "carl", "dave")}
    picnic, concert, lecture, carls = (ask("POST", "/v1/events", token, EVENT)["id"] for token in ("ann", "ann", "ann", "carl"))
    ask("PATCH", f"/v1/events/{picnic}", "ann", EVENT | {"name": "A picnic in the rain", "ended_at": "2030-09-16T02:00:00.000Z"})
    ask("DELETE", f"/v1/events/{concert}", "ann")
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
        second = ask("POST", "/v1/users/sign_in", "", {"user": user | PASSWORD})["token"]
        ask("DELETE", "/v1/users/sign_out", second)
        ask("PUT", "/v1/users/password", token, {"user": {"current_password": PASSWORD["password"], "password": "battery staple"}})
    # Both commands return when nothing is left.
    ask("DELETE", "/v1/accounts/me", token, {"user": {"current_password": "battery staple"}})
    humon("users", "erase", users["carl"], "--yes")
