"""Load on a server by wrk, with the requests of a file (requests.lua), and its result."""

import os, re, subprocess, sys
from typing import NamedTuple

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "requests.lua")


class Load(NamedTuple):
    """Requests a second, milliseconds of p50 and p99, and the numbers of requests and of errors."""

    rate: float
    p50: float
    p99: float
    requests: int
    errors: int


def start(port, requests, connections, seconds, encoding=None, pause=None):
    """Starts wrk with the requests of a file: at full load, or with a pause of so many milliseconds before each request."""
    own = {"REQUESTS": requests, "ENCODING": encoding, "PAUSE": pause}
    environment = {name: value for name, value in os.environ.items() if name not in own}
    return subprocess.Popen(
        ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "-s", SCRIPT, f"http://127.0.0.1:{port}"],
        env=environment | {name: str(value) for name, value in own.items() if value is not None}, stdout=subprocess.PIPE, text=True)


def milliseconds(text):
    number = float(re.match(r"[\d.]+", text).group())
    return number / 1_000 if text.endswith("us") else number if text.endswith("ms") else number * 1_000


def result(process):
    """The load of a process of `start` after its end. Ends the script if a request failed."""
    text = process.communicate()[0]
    if process.returncode != 0:
        sys.exit(f"wrk ended with {process.returncode}: {text}")
    refused = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    broken = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", text)
    errors = sum(int(number) for found in (refused, broken) if found for number in found.groups())
    if errors:
        sys.exit(f"{errors} requests failed: {text}")
    p50, p99, rate, requests = [
        re.search(pattern, text).group(1)
        for pattern in (r"\n\s+50%\s+(\S+)", r"\n\s+99%\s+(\S+)", r"Requests/sec:\s+([\d.]+)", r"(\d+) requests in")]
    return Load(float(rate), milliseconds(p50), milliseconds(p99), int(requests), errors)
