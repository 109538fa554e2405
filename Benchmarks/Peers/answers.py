"""Whether every system gives the right answers: a system that finds other events than humon makes its figures worthless."""

import gzip, json, math, sys

from http_systems import FastAPI, Hummingbird, Humon
from postgres import Cluster
from redis_peer import EARTH_METRES, Redis
from seeding import DATABASE, places
from sql_systems import by_id, nearest

CHECKED = 100
MARK = "end of an answer"
# By how much distances may differ, in metres. Redis rounds coordinates to 26 bits each.
TOLERANCE, REDIS_TOLERANCE = 0.01, 1


def metres(event, lat, lon):
    one, other = math.radians(event["lat"]), math.radians(lat)
    halves = math.sin((other - one) / 2) ** 2 + math.cos(one) * math.cos(other) * math.sin(math.radians(lon - event["lon"]) / 2) ** 2
    return 2 * EARTH_METRES * math.asin(math.sqrt(halves))


def difference(ours, theirs, lat, lon, radius, tolerance):
    """What is wrong with a list, or nothing. Only an event at the radius may be in one of two lists, and only neighbours may swap."""
    if "message" in ours or "message" in theirs:
        ours, theirs = [[] if "message" in one else one for one in (ours, theirs)]
    for event in theirs:
        if event not in ours and abs(metres(event, lat, lon) - radius) > tolerance:
            return f"humon does not have {event}"
    for event in ours:
        if event not in theirs and abs(metres(event, lat, lon) - radius) > tolerance:
            return f"{event} is missing"
    far = [metres(event, lat, lon) for event in theirs]
    if any(one > other + 2 * tolerance for one, other in zip(far, far[1:])):
        return "the events are not in the order of their distances"
    return None


def of_http(system, path):
    """The plain answer, which must equal the compressed one."""
    plain, (compressed, encoding) = system.answer(path)[0], system.answer(path, "gzip")
    if plain != (gzip.decompress(compressed) if encoding == "gzip" else compressed):
        sys.exit(f"{system.name} answers {path} with other bytes if they are compressed")
    return json.loads(plain)


def of_postgis(cluster, statements):
    """The answers to statements, which psql sends together."""
    told = cluster.run(DATABASE, *[word for statement in statements for word in (statement, f"SELECT '{MARK}'")])
    return [json.loads(text) for text in told.split(MARK)[:-1]]


def check(humon: Humon, hummingbird: Hummingbird, fastapi: FastAPI, redis: Redis, cluster: Cluster, events):
    """Compares the answers to the same requests as JSON. Returns the number of compared answers; ends the script at a wrong one."""
    compared = 0
    chosen = range(1, events, max(1, events // CHECKED))
    for id, of_sql in zip(chosen, of_postgis(cluster, [by_id(id) for id in chosen]), strict=True):
        path = f"/v1/events/{id}"
        ours = of_http(humon, path)
        for name, theirs in (
            ("Hummingbird", of_http(hummingbird, path)), ("FastAPI", of_http(fastapi, path)), ("PostGIS", of_sql), ("Redis", redis.event(id))):
            compared += 1
            if ours != theirs:
                sys.exit(f"{name} answers {path} wrongly: {theirs} instead of {ours}")
    for radius in (1, 5):
        in_postgis = of_postgis(cluster, [nearest(n + 1, radius) for n in range(CHECKED)])
        for number, (lat, lon) in enumerate(places()[:CHECKED]):
            path = f"/v1/events/nearests?lat={lat}&lon={lon}&radius={radius}"
            ours = of_http(humon, path)
            for name, theirs, tolerance in (
                ("Hummingbird", of_http(hummingbird, path), 0), ("FastAPI", of_http(fastapi, path), TOLERANCE),
                ("PostGIS", in_postgis[number], TOLERANCE),
                ("Redis", redis.nearest(number, radius), REDIS_TOLERANCE)):
                compared += 1
                what = difference(ours, theirs, lat, lon, radius * 1_000, tolerance)
                if what:
                    sys.exit(f"{name} answers {path} wrongly: {what}")
    return compared
