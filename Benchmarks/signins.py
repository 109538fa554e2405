#!/usr/bin/env python3
"""Measures GET by id at a constant rate beside sign-ins: the 99th percentile, the processor time of the server, and the responses to
the sign-ins. Each row of sign-ins is measured in turn with a row without any.

Usage: Benchmarks/signins.py. EVENTS=20000, ACCOUNTS=100, SECONDS=10 a row, ROUNDS=3, READS=1000 (a second). The sign-ins come from as
many client addresses as a row says, because the benchmark is a trusted proxy of the server and sends X-Forwarded-For. The limits are
those of the settings: 20 sign-ins a minute for an address, 10 for an account. Needs Python 3, wrk and .build/release/humon.
"""

import collections, http.client, multiprocessing, os, random, statistics, sys, threading, time
from urllib.parse import urlencode

import nodes

EVENTS = int(os.environ.get("EVENTS", 20_000))
ACCOUNTS = int(os.environ.get("ACCOUNTS", 100))
SECONDS = int(os.environ.get("SECONDS", 10))
ROUNDS = int(os.environ.get("ROUNDS", 3))
READS = int(os.environ.get("READS", 1_000))
CONNECTIONS = 32
PASSWORD = "correct horse battery"
# The sign-ins of a row: most at a time, most a second, number of client addresses, and whether the e-mail addresses have accounts.
ROWS = {
    "none": None,
    "5 a second, of accounts": (8, 5, 10_000, True),
    "16 at a time, wrong addresses": (16, 1_000, 10_000, False),
    "64 at a time, wrong addresses": (64, 300, 10_000, False),
    "300 a second from one address": (16, 300, 1, True),
}


def email(number):
    return f"person{number}@example.org"


def post(connection, path, fields, address):
    body = urlencode({f"user[{name}]": value for name, value in fields.items()})
    headers = {"Content-Type": "application/x-www-form-urlencoded; charset=utf-8", "X-Forwarded-For": address}
    connection.request("POST", path, body, headers)
    response = connection.getresponse()
    response.read()
    return response.status


def sign_ins(port, row, seconds, seed, results):
    """Signs in at a constant rate, or at a lower one if all connections wait. Passes on how often each status came, and its processor time."""
    at_a_time, a_second, addresses, are_accounts = row
    statuses, lock, begin = collections.Counter(), threading.Lock(), time.monotonic()

    def work(number):
        chance, connection = random.Random(f"{seed} {number}"), http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        for count in range(number, a_second * seconds, at_a_time):
            time.sleep(max(0, begin + count / a_second - time.monotonic()))
            if time.monotonic() > begin + seconds:
                break
            # Accounts take turns, so that they stay below their limit as long as they can.
            person = email(count % ACCOUNTS) if are_accounts else f"nobody{chance.randrange(10**9)}@example.org"
            source = chance.randrange(addresses)
            fields = {"email": person, "password": PASSWORD}
            status = post(connection, "/v1/users/sign_in", fields, f"10.{source >> 16 & 255}.{source >> 8 & 255}.{source & 255}")
            with lock:
                statuses[status] += 1

    used = nodes.together(at_a_time, work)
    results.put((statuses, used))


def sign_up(node):
    """The accounts, two at a time, as many as hashes are computed at a time."""

    def work(first):
        connection = http.client.HTTPConnection("127.0.0.1", node.port, timeout=60)
        for number in range(first, ACCOUNTS, 2):
            fields = {"name": "Ann", "email": email(number), "password": PASSWORD}
            # 422 with a PLACE that is used again.
            assert post(connection, "/v1/users", fields, f"10.200.{number >> 8}.{number & 255}") in (200, 422)

    nodes.together(2, work)


def use_up(node):
    """Signs in from the address 10.0.0.0 until the server refuses it. Each sign-in before would wait for its hash."""
    connection = http.client.HTTPConnection("127.0.0.1", node.port, timeout=60)
    for number in range(ACCOUNTS):
        if post(connection, "/v1/users/sign_in", {"email": email(number), "password": PASSWORD}, "10.0.0.0") == 429:
            return
    sys.exit("the server does not limit sign-ins of one address")


def measure(place, node, row, seed):
    """Milliseconds of p50 and p99, reads a second, the statuses of sign-ins, and the shares of one core of the server and the generator."""
    signing, results, statuses, generator = None, multiprocessing.Queue(), collections.Counter(), 0
    if row:
        if row[2] == 1:
            use_up(node)
        signing = multiprocessing.Process(target=sign_ins, args=(node.port, row, SECONDS + 2, seed, results))
        signing.start()
        # The queue of hashes fills first.
        time.sleep(1)
    before, begin = node.processor_seconds(), time.monotonic()
    p50, p99, rate = nodes.result(nodes.paced(place, node, "ids.txt", READS, CONNECTIONS, SECONDS))
    server = 100 * (node.processor_seconds() - before) / (time.monotonic() - begin)
    if signing:
        statuses, used = results.get()
        signing.join()
        generator = 100 * used / (SECONDS + 2)
    return p50, p99, rate, statuses, server, generator


def measure_all(place):
    found = {name: [] for name in ROWS}
    # A node for each row, because a limit of a minute is longer than a row.
    for number in range(ROUNDS + 1):
        for name, row in ROWS.items() if number > 0 else [("none", None)]:
            node = nodes.Node(place, 0, HUMON_TRUSTED_PROXIES="127.0.0.1")
            try:
                if number == 0:
                    sign_up(node)
                one = measure(place, node, row, f"{number} {name}")
                if set(one[3]) - {200, 401, 429, 503}:
                    sys.exit(f"{name}: the sign-ins got {one[3]}")
                # The first round warms up.
                if number > 0:
                    found[name].append(one)
            finally:
                node.stop()
    return found


def report(found):
    print(f"\n{READS} reads by id a second offered, {SECONDS} s a row, rounds: {ROUNDS}; medians, of p99 with the spread\n")
    print("| sign-ins | signed in | 401 | 429 | 503 | reads a second | p50 | p99 | server, % of a core | generator of sign-ins |")
    print("|---|" + "---:|" * 9)
    for name, rounds in found.items():
        column = lambda index: statistics.median(one[index] for one in rounds)
        counts = " | ".join(f"{statistics.median(one[3][status] for one in rounds) / (SECONDS + 2):.1f}" for status in (200, 401, 429, 503))
        p99 = [one[1] for one in rounds]
        print(f"| {name} | {counts} | {column(2):.0f} | {column(0):.2f} ms | {column(1):.2f} ms ({min(p99):.2f}–{max(p99):.2f}) "
              f"| {column(4):.0f} | {column(5):.0f} |")
    print("\nThe four columns of responses to sign-ins are responses a second.")


def main():
    if len(sys.argv) > 1:
        sys.exit(__doc__)
    with nodes.working_directory() as place:
        with open(f"{place}/ids.txt", "w") as file:
            file.writelines(f"GET /v1/events/{random.randint(1, EVENTS)}\n" for _ in range(5_000))
        if not os.path.exists(place + "/data"):
            nodes.fill(place, EVENTS)
        report(measure_all(place))


if __name__ == "__main__":
    main()
