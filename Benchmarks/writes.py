#!/usr/bin/env python3
"""Compares writes as our clients send them, many users with an Idempotency-Key each time, with writes of one user without keys.

One server of its own; in each round both are measured, in turns. A second row has the keys of one user, to tell the two parts apart.

Usage: Benchmarks/writes.py [ROUNDS [SECONDS-A-ROW]], HUMON=.build/release/humon, USERS=512, CONNECTIONS=32. Needs wrk.
"""

import json, os, re, statistics, subprocess, sys, urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, f"{ROOT}/checks/harness")
from sandbox import run_in_sandbox
from server import HumonServer

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 8
SECONDS = int(sys.argv[2]) if len(sys.argv) > 2 else 3
USERS = int(os.environ.get("USERS", 512))
CONNECTIONS = int(os.environ.get("CONNECTIONS", 32))

SCRIPT = """
local tokens = {}
for line in io.lines(os.getenv("TOKENS")) do table.insert(tokens, line) end
local keyed, number = os.getenv("KEYED"), 0
request = function()
    number = number + 1
    local headers = { ["content-type"] = "application/json", ["tb-device-token"] = tokens[number % #tokens + 1] }
    if keyed then headers["idempotency-key"] = string.format('"%s-%d"', keyed, number) end
    local body = string.format('{"name":"Event %d","lat":%f,"lon":%f,"started_at":"2030-01-01T00:00:00Z"}',
        number, math.random() * 170 - 85, math.random() * 340 - 170)
    return wrk.format("POST", "/v1/events", headers, body)
end
"""


def sign_up(server):
    request = urllib.request.Request(f"{server.url}/v1/users", b"", {"tb-app-secret": server.secret}, method="POST")
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)["device_token"]


def rate(server, script, tokens, key=None):
    """Requests a second and the text of the 99th percentile. Ends the script if a request failed."""
    own = {"TOKENS": tokens} | ({"KEYED": key} if key else {})
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}s", "--latency", "-s", script, server.url]
    text = subprocess.run(command, env=os.environ | own, capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in text or "Socket errors" in text:
        sys.exit(f"requests failed: {text}")
    return float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1]), re.search(r"99%\s+(\S+)", text)[1]


def measure(sandbox):
    limits = ("SIGN_UPS_PER_DAY", "SIGN_UPS_PER_MINUTE", "WRITES_PER_MINUTE", "EVENTS_PER_USER")
    server = HumonServer(sandbox, os.environ.get("HUMON", f"{ROOT}/.build/release/humon"), settings={f"HUMON_{name}": 0 for name in limits})
    server.start()
    tokens = [sign_up(server) for _ in range(USERS)]
    script = sandbox.write("writes.lua", SCRIPT)
    one, many = sandbox.write("one", tokens[0] + "\n"), sandbox.write("many", "\n".join(tokens) + "\n")
    rows = {"one user, no keys": (one, None), "one user, keys": (one, "one"), f"{USERS} users, keys": (many, "many")}
    rates = {name: [] for name in rows}
    for number in range(ROUNDS):
        for name, (users, key) in list(rows.items())[:: 1 if number % 2 else -1]:
            rates[name].append(rate(server, script, users, key and f"{key}-{number}"))
    base = [found[0] for found in rates["one user, no keys"]]
    for name, found in rates.items():
        ratios = [row[0] / without for row, without in zip(found, base)]
        print(f"{name:20} {statistics.median(row[0] for row in found):8,.0f}/s  {statistics.median(ratios):.2f} of without keys"
              f" ({min(ratios):.2f} to {max(ratios):.2f}), p99 {', '.join(row[1] for row in found)}")


sys.exit(run_in_sandbox("writes", False, measure))
