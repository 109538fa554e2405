"""Measures the successful responses at four times the capacity: shedding load must cost less than it saves."""

import re

from sandbox import ROOT, Failed, program

SECONDS = 15
EVENTS = 50_000
# For four times the load. With this number the pause between two requests of a connection exceeds the response time.
CONNECTIONS = 800
SCRIPT = """
local paths, number = {}, 0
init = function()
    for line in io.lines(os.getenv("PATHS")) do table.insert(paths, line) end
    number = math.random(#paths)
end
delay = function() return tonumber(os.getenv("PAUSE")) end
request = function()
    number = number % #paths + 1
    return wrk.format("GET", paths[number])
end
"""


def overload(deployment):
    sandbox = deployment.sandbox
    deployment.nodes[0].command("demo", "--yes", "--events", EVENTS)
    with open(f"{ROOT}/Sources/App/Demo/cities.tsv") as file:
        cities = [line.split("\t") for line in file]
    places = [city[2:4] for city in cities if len(city) == 5 and re.fullmatch(r"-?[\d.]+", city[2])]
    paths = sandbox.write("paths", "".join(f"/v1/events/nearests?lat={lat}&lon={lon}&radius=10\n" for lat, lon in places))
    script = sandbox.write("paced.lua", SCRIPT)

    def offered(connections, pause_milliseconds):
        said = sandbox.run(
            [
                program("wrk"),
                "-t2",
                f"-c{connections}",
                f"-d{SECONDS}s",
                "--timeout",
                "10s",
                "--latency",
                "-s",
                script,
                deployment.proxy.url,
            ],
            {"PATHS": paths, "PAUSE": pause_milliseconds},
        )
        count = int(re.search(r"(\d+) requests in", said)[1])
        refused = int((re.search(r"Non-2xx or 3xx responses: (\d+)", said) or [0, 0])[1])
        return (count - refused) / SECONDS, count / SECONDS, re.search(r"99%\s+(\S+)", said)[1]

    def taken():
        proxy, nodes = sandbox.processor_seconds("proxy"), [sandbox.processor_seconds(node.name) for node in deployment.nodes]
        return proxy, sum(nodes)

    once, _, _ = offered(32, 0)
    pause = int(CONNECTIONS / (4 * once) * 1_000)
    before = taken()
    good, all_answers, slowest = offered(CONNECTIONS, pause)
    proxy, nodes = (now - then for now, then in zip(taken(), before))
    figures = (
        f"{once:.0f} searches of 10 km a second succeed with 32 connections; of {CONNECTIONS / pause * 1_000:.0f} a second "
        f"from {CONNECTIONS} connections {all_answers:.0f} get a response, {good:.0f} of them a success ({good / once:.2f}), p99 {slowest}; "
        f"the proxy took {proxy / nodes:.2f} of the nodes' processor time"
    )
    if good < 0.7 * once:
        raise Failed(figures)
    return figures
