"""The systems that pgbench drives: PostGIS as PostgREST asks it, and the appends of three event stores."""

import json

from postgres import Cluster
from seeding import APPENDS, DATABASE, POSTED, places

# The size of a recorded event, data and metadata, in the benchmark of the log.
EVENT_BYTES = 272
METADATA = '{"request_id": "0b54e7a0-5f0f-4f1c-9a51-2f5f4d6f3c11","actor": 1,"trace_id": null}'
EVENT = "v1_event(e.id, e.owner_id, e.name, e.address, e.lat, e.lon, e.started_at, e.ended_at)"


def by_id(id):
    return f"SELECT {EVENT} FROM postgis_peer.events AS e WHERE e.id = {id}"


def nearest(n, radius):
    """The answer of v1 as one statement. On the sphere, as v1 has it, which is also faster than on the spheroid."""
    return f"""
        WITH centre AS (SELECT st_makepoint(lon, lat)::geography AS place FROM postgis_peer.places WHERE n = {n}), found AS (
            SELECT {EVENT} AS event, st_distance(e.place, (SELECT place FROM centre), false) AS distance, e.id
            FROM postgis_peer.events AS e WHERE st_dwithin(e.place, (SELECT place FROM centre), {radius * 1_000}, false)
            ORDER BY distance, id LIMIT 1000
        )
        SELECT coalesce(json_agg(event), '{{"message": "No Events Found"}}') FROM found"""


def for_pgbench(value):
    """JSON as pgbench takes it: it reads a colon before a letter or digit as a variable."""
    return json.dumps(value, separators=(",", ": "))


class PostGIS:
    """The statements of a server such as PostgREST, without that server: pgbench sends them, and gets the JSON."""

    name = "PostGIS, SQL alone"

    def __init__(self, cluster: Cluster, events):
        self.cluster, count = cluster, len(places())
        one_event, one_place = f"\\set id random(1, {events})\n", f"\\set n random(1, {count})\n"
        started_at = POSTED["started_at"].partition("T")[0]
        self.rows = {
            "get": one_event + by_id(":id"),
            "near1": one_place + nearest(":n", 1),
            "near5": one_place + nearest(":n", 5),
            "post": one_place + f"""
                INSERT INTO postgis_peer.events (owner_id, name, address, lat, lon, started_at)
                SELECT u.id, '{POSTED["name"]}', '{POSTED["address"]}', p.far_lat, p.far_lon, '{started_at}'
                FROM postgis_peer.users AS u, postgis_peer.places AS p WHERE u.token = 'bench' AND p.n = :n
                RETURNING json_build_object('id', id)""",
        }

    def load(self, row, seconds, connections):
        return self.cluster.load(DATABASE, self.rows[row], connections, seconds)

    def stop(self):
        pass


def body():
    """The data of an event whose data and metadata have the size of a recorded event."""
    data = {"owner": 1, "name": "", "address": POSTED["address"], "lat": 37.7612, "lon": -122.4312, "started_at": "2013-09-16", "ended_at": None}
    data["name"] = (POSTED["name"] + " ") * 10
    longer = len(for_pgbench(data)) + len(METADATA) - EVENT_BYTES
    data["name"] = data["name"][:-longer]
    return for_pgbench(data)


class Append:
    """A stored function that appends one event to a new stream, called by as many clients as there are connections."""

    rows = ["append"]

    def __init__(self, name, cluster: Cluster, call):
        self.name, self.cluster, self.call = name, cluster, call

    def load(self, row, seconds, connections):
        # An empty database for each measurement, so that all tables are of the same size.
        self.cluster.create(APPENDS, template=APPENDS + "_template")
        self.cluster.checkpoint()
        return self.measure(seconds, connections)

    def measure(self, seconds, connections):
        return self.cluster.load(APPENDS, f"SELECT {self.call}", connections, seconds)

    def stop(self):
        pass


def appends(cluster: Cluster):
    new, data, metadata = "'event-' || nextval('new_streams')", f"'{body()}'", f"'{METADATA}'"

    # An array for each column of the log.
    columns = ["gen_random_uuid()", new, "1", "'EventCreated'::text", "1::smallint", "now()", f"{data}::text", f"{metadata}::text", "NULL::text"]
    log_append = f"log.append({', '.join(f'ARRAY[{column}]' for column in columns)}, '{{}}')"
    return [
        Append("humon's `log.append`, one event a transaction", cluster, log_append),
        Append("message-db's design", cluster, f"message_db.write(gen_random_uuid(), {new}, 'EventCreated', {data}, {metadata}, -1)"),
        Append("Marten's design", cluster, f"""marten.quick_append(
            {new}, 'event', ARRAY[gen_random_uuid()], ARRAY['EventCreated'], ARRAY[{data}::jsonb], ARRAY[{metadata}::jsonb])"""),
    ]
