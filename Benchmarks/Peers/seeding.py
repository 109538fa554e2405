"""The events of humon for the other systems, and the requests to all of them."""

import json, math, os, random, subprocess

import nodes
from postgres import Cluster

FOLDER = os.path.dirname(os.path.abspath(__file__))
DATABASE = "peers"
APPENDS = "appends"
PLACES_A_CITY = 5
SEARCH_KILOMETRES = 2
KILOMETRES_A_DEGREE = 111.195
REQUESTS = 10_000
COLUMNS = "id, owner_id, name, address, lat, lon, started_at, ended_at"
# Of an event in a POST, beside its place.
POSTED = {"name": "Party at the park", "address": "85 2nd Street", "started_at": "2013-09-16T00:00:00.000Z"}


def places():
    """Centres of searches around the cities of the demo, in an order of chance that is the same in every run."""
    chance, found = random.Random(21), []
    for lat, lon in nodes.places():
        for _ in range(PLACES_A_CITY):
            away, angle = SEARCH_KILOMETRES * math.sqrt(chance.random()) / KILOMETRES_A_DEGREE, 2 * math.pi * chance.random()
            found.append((round(lat + away * math.cos(angle), 6), round(lon + away * math.sin(angle) / math.cos(math.radians(lat)), 6)))
    chance.shuffle(found)
    return found


def far_places(count):
    """Places of written events: in the South Pacific, where no search finds them, so that lists stay equal."""
    chance = random.Random(22)
    return [(round(chance.uniform(-60, -30), 6), round(chance.uniform(-160, -100), 6)) for _ in range(count)]


def write_requests(place, events):
    """A file of requests for each row of the HTTP servers."""
    chance, centres = random.Random(23), places()
    rows = {"get": [f"GET /v1/events/{chance.randint(1, events)}" for _ in range(REQUESTS)]}
    for radius in (1, 5):
        rows[f"near{radius}"] = [f"GET /v1/events/nearests?lat={lat}&lon={lon}&radius={radius}" for lat, lon in centres]
    rows["post"] = [
        "POST /v1/events " + json.dumps(POSTED | {"lat": lat, "lon": lon}, separators=(",", ":")) for lat, lon in far_places(len(centres))]
    for row, lines in rows.items():
        with open(f"{place}/{row}.txt", "w") as file:
            file.write("\n".join(lines) + "\n")


def seed(cluster: Cluster, events):
    """The database of the peers that search in PostgreSQL. It stays in PLACE."""
    if cluster.exists(DATABASE):
        return
    cluster.create(DATABASE + "_unfinished")
    unfinished = DATABASE + "_unfinished"
    cluster.run(unfinished, script=f"{FOLDER}/events.sql")
    # The schema of the read model has its version in its name.
    schema = cluster.run("postgres", "SELECT schemaname FROM pg_tables WHERE tablename = 'events' AND schemaname ~ '_v[0-9]+$'").strip()
    rows = cluster.run("postgres", f"COPY (SELECT {COLUMNS} FROM {schema}.events WHERE id <= {events} ORDER BY id) TO STDOUT")
    for schema in ("fastapi", "postgis_peer"):
        cluster.run(
            unfinished, f"INSERT INTO {schema}.users (id, token) SELECT n, 'device ' || n FROM generate_series(1, 100000) AS n",
            f"INSERT INTO {schema}.users (id, token) VALUES (100001, 'bench')")
        cluster.run(unfinished, f"COPY {schema}.events ({COLUMNS}) FROM STDIN", data=rows)
        cluster.run(
            unfinished, f"CREATE INDEX ON {schema}.events USING gist (place)",
            f"SELECT setval('{schema}.events_id_seq', (SELECT max(id) FROM {schema}.events))")
    centres = places()
    lines = [
        f"{number}\t{lat}\t{lon}\t{far_lat}\t{far_lon}"
        for number, ((lat, lon), (far_lat, far_lon)) in enumerate(zip(centres, far_places(len(centres))), 1)]
    cluster.run(unfinished, "COPY postgis_peer.places FROM STDIN", data="\n".join(lines) + "\n")
    cluster.run(unfinished, "VACUUM ANALYZE")
    cluster.run("postgres", f"ALTER DATABASE {unfinished} RENAME TO {DATABASE}")


def seed_appends(cluster: Cluster):
    """The template of the databases for appends: the log without events, and the tables of the other designs."""
    cluster.create(APPENDS + "_template")
    subprocess.run(
        [nodes.HUMON, "migrate"], env=dict(os.environ, DATABASE_URL=cluster.url(APPENDS + "_template"), TB_APP_SECRET="benchmark"),
        check=True, capture_output=True)
    cluster.run(APPENDS + "_template", script=f"{FOLDER}/appends.sql")


def stored_events(cluster: Cluster, events):
    """Id, longitude, latitude and JSON of each event, for stores that keep JSON."""
    rows = cluster.run(DATABASE, f"SELECT id, lon, lat, v1_event({COLUMNS}) FROM fastapi.events WHERE id <= {events}")
    for line in rows.splitlines():
        id, lon, lat, text = line.split("|", 3)
        yield int(id), lon, lat, json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":"))
