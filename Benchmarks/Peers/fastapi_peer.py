"""Three routes of v1 with FastAPI, asyncpg, uvloop and earthdistance, as a well-tuned peer of humon.

- asyncpg prepares every statement once a connection, and each request is one statement.
- orjson makes the answers from rows. That is faster than JSON of PostgreSQL, and than the response models of FastAPI.
- Responses are made directly, so that FastAPI does not validate them again.
"""

import contextlib, math, os
from typing import Annotated

import asyncpg, orjson
from fastapi import FastAPI, Header, Query, Response
from fastapi.middleware.gzip import GZipMiddleware
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

CONNECTIONS = int(os.environ["PEER_CONNECTIONS"])
LIST_LIMIT = 1_000
EARTH_METRES = 6_371_008.8
# From this size on the middleware compresses, as humon does.
GZIP_BYTES = 1_024

COLUMNS = "id, owner_id, name, address, lat, lon, started_at, ended_at"
BY_ID = f"SELECT {COLUMNS} FROM fastapi.events WHERE id = $1"
NEAREST = f"""
    SELECT {COLUMNS} FROM fastapi.events
    WHERE place <@ cube_enlarge(ll_to_earth($1, $2), $3, 3) AND cube_distance(place, ll_to_earth($1, $2)) <= $3
    ORDER BY cube_distance(place, ll_to_earth($1, $2)), id LIMIT {LIST_LIMIT}
"""
INSERT = """
    INSERT INTO fastapi.events (owner_id, name, address, lat, lon, started_at, ended_at)
    SELECT id, $2, $3, $4, $5, $6, $7 FROM fastapi.users WHERE token = $1 RETURNING id
"""


class NewEvent(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True)
    name: Annotated[str, Field(min_length=1)]
    lat: Annotated[float, Field(ge=-90, le=90)]
    lon: Annotated[float, Field(ge=-180, le=180)]
    started_at: AwareDatetime
    address: str | None = None
    ended_at: AwareDatetime | None = None


def shown(time):
    """A time as v1 shows it. asyncpg gives times in UTC."""
    return time and time.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def event(row):
    id, owner, name, address, lat, lon, started_at, ended_at = row
    return {
        "address": address, "ended_at": shown(ended_at), "id": id, "lat": lat, "lon": lon, "name": name,
        "started_at": shown(started_at), "owner": {"id": owner}}


def answer(value, status=200):
    return Response(orjson.dumps(value), status, media_type="application/json; charset=utf-8")


@contextlib.asynccontextmanager
async def lifespan(app):
    async with asyncpg.create_pool(os.environ["PEER_DATABASE"], min_size=CONNECTIONS, max_size=CONNECTIONS) as app.pool:
        yield


app = FastAPI(lifespan=lifespan, openapi_url=None)
app.add_middleware(GZipMiddleware, minimum_size=GZIP_BYTES, compresslevel=1)


@app.get("/v1/events/nearests")
async def nearests(
    lat: Annotated[float, Query(ge=-90, le=90)], lon: Annotated[float, Query(ge=-180, le=180)],
    radius: Annotated[float, Query(ge=0, le=20_016)] = 20,
):
    # The chord for the distance on the sphere, as gc_to_sec computes it.
    chord = 2 * EARTH_METRES * math.sin(radius * 1_000 / (2 * EARTH_METRES))
    rows = await app.pool.fetch(NEAREST, lat, lon, chord)
    return answer([event(row) for row in rows] if rows else {"message": "No Events Found"})


@app.get("/v1/events/{id}")
async def by_id(id: int):
    row = await app.pool.fetchrow(BY_ID, id)
    return answer(event(row)) if row else answer({"message": "Not Found"}, 404)


@app.post("/v1/events")
async def create(new: NewEvent, token: Annotated[str | None, Header(alias="tb-device-token")] = None):
    id = token and await app.pool.fetchval(
        INSERT, token, new.name, new.address, new.lat, new.lon, new.started_at, new.ended_at)
    return answer({"id": id}) if id else Response(status_code=401)
