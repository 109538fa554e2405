-- The tables of the two peers that search in PostgreSQL. A script fills them with humon's events (seeding.py).
CREATE EXTENSION cube;
CREATE EXTENSION earthdistance;
CREATE EXTENSION postgis;

-- Loads the library of PostGIS when a client connects, which pgbench does not count.
DO $$ BEGIN
    EXECUTE format('ALTER DATABASE %I SET session_preload_libraries = %L', current_database(), '$libdir/postgis-3');
END $$;

-- The radius of the earth in v1, in metres, instead of that of the extension. So all peers find the same events.
CREATE OR REPLACE FUNCTION earth() RETURNS float8 LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT 6371008.8::float8';

CREATE FUNCTION v1_time(at timestamptz) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

-- An event as v1 shows it.
CREATE FUNCTION v1_event(
    id bigint, owner_id bigint, name text, address text, lat float8, lon float8, started_at timestamptz, ended_at timestamptz
) RETURNS json LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT json_build_object(
        'address', address, 'ended_at', v1_time(ended_at), 'id', id, 'lat', lat, 'lon', lon, 'name', name,
        'started_at', v1_time(started_at), 'owner', json_build_object('id', owner_id))
$$;

-- earthdistance: the app makes the JSON. The point of a row is stored, because its computation costs more than the rest of a search.
CREATE SCHEMA fastapi;
CREATE TABLE fastapi.users (id bigserial PRIMARY KEY, token text NOT NULL UNIQUE);
CREATE TABLE fastapi.events (
    id bigserial PRIMARY KEY, owner_id bigint NOT NULL REFERENCES fastapi.users, name text NOT NULL, address text,
    lat float8 NOT NULL, lon float8 NOT NULL, started_at timestamptz NOT NULL, ended_at timestamptz,
    place earth NOT NULL GENERATED ALWAYS AS (ll_to_earth(lat, lon)) STORED
);

-- PostGIS: one statement answers a request, as a server such as PostgREST sends it.
CREATE SCHEMA postgis_peer;
CREATE TABLE postgis_peer.users (id bigserial PRIMARY KEY, token text NOT NULL UNIQUE);
CREATE TABLE postgis_peer.events (
    id bigserial PRIMARY KEY, owner_id bigint NOT NULL REFERENCES postgis_peer.users, name text NOT NULL, address text,
    lat float8 NOT NULL, lon float8 NOT NULL, started_at timestamptz NOT NULL, ended_at timestamptz,
    place geography (point) NOT NULL GENERATED ALWAYS AS (st_makepoint(lon, lat)::geography) STORED
);
-- The centres of the searches, because pgbench cannot read requests from a file.
CREATE TABLE postgis_peer.places (
    n integer PRIMARY KEY, lat float8 NOT NULL, lon float8 NOT NULL, far_lat float8 NOT NULL, far_lon float8 NOT NULL
);
