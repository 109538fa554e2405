#!/usr/bin/env bash
# Compares the candidates for the database index of nearby search: docs/decisions/0004-nearby-index.md.
# Usage: Benchmarks/nearby-index.sh [SECONDS-A-MEASUREMENT]. Needs PostgreSQL's programs; ends by itself in about a minute.
set -euo pipefail
seconds=${1:-3}
programs=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
place=$(mktemp -d)
as_postgres() { if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi; }
[ "$(id -u)" != 0 ] || chown postgres "$place"
cd "$place"
as_postgres "$programs/initdb" -D "$place/data" -A trust -U postgres >/dev/null
as_postgres "$programs/pg_ctl" -D "$place/data" -w -l "$place/log" \
    -o "-c listen_addresses='' -c unix_socket_directories=$place -c shared_buffers=1GB -c jit=off" start >/dev/null
trap 'as_postgres "$programs/pg_ctl" -D "$place/data" -m immediate stop >/dev/null; rm -rf "$place"' EXIT
sql() { psql -h "$place" -U postgres -q -v ON_ERROR_STOP=1 -c "$1"; }

# A million points around 400 cities. Half of the cities share ten latitudes, as real cities do.
sql "CREATE TABLE cities AS SELECT i, CASE WHEN i % 2 = 0 THEN 40 + (i % 10) * 0.3 ELSE degrees(asin(2 * random() - 1)) * 0.65 END AS lat,
         random() * 360 - 180 AS lon FROM generate_series(1, 400) AS i"
sql "CREATE TABLE events AS SELECT row_number() OVER () AS id, lat, lon, floor(lat * 20)::smallint AS band,
         cosd(lat) * cosd(lon) AS x, cosd(lat) * sind(lon) AS y, sind(lat) AS z, 'A gathering of people' AS name
     FROM (SELECT lat + (random() + random() + random() - 1.5) * 0.25 AS lat, lon + (random() + random() + random() - 1.5) * 0.3 AS lon
           FROM cities, generate_series(1, 2500)) AS points"
sql "ALTER TABLE events ADD PRIMARY KEY (id)"

haversine="2 * 6371.0088 * asin(sqrt(power(sind((lat - :lat::float8) / 2), 2)
    + cosd(:lat::float8) * cosd(lat) * power(sind((lon - :lon::float8) / 2), 2)))"
chord="(x - :cx::float8) * (x - :cx::float8) + (y - :cy::float8) * (y - :cy::float8) + (z - :cz::float8) * (z - :cz::float8)"
in_box="lat BETWEEN :south::float8 AND :north::float8 AND lon BETWEEN :west::float8 AND :east::float8"
in_point_box="point(lon, lat) <@ box(point(:west::float8, :south::float8), point(:east::float8, :north::float8))"
bands="unnest(ARRAY(SELECT generate_series(floor(:south::float8 * 20)::int, floor(:north::float8 * 20)::int)::smallint)) AS b (band)"

candidate() { # name, index, distance, limit for it, FROM … WHERE
    sql "DROP INDEX IF EXISTS candidate" 2>/dev/null
    local start=$(date +%s%N)
    sql "CREATE INDEX candidate ON events $2"
    local built=$((($(date +%s%N) - start) / 10000000))
    sql "VACUUM ANALYZE events"
    cat > "$place/query" <<SQL
\set id random(1, 1000000)
SELECT lat, lon, x AS cx, y AS cy, z AS cz, lat - :r::float8 / 111.19 AS south, lat + :r::float8 / 111.19 AS north,
    lon - :r::float8 / 111.19 / cosd(lat) AS west, lon + :r::float8 / 111.19 / cosd(lat) AS east, power(2 * sin(:r::float8 / 2 / 6371.0088), 2) AS reach
    FROM events WHERE id = :id \gset
SELECT id, name, d FROM (SELECT e.id, e.name, $3 AS d FROM $5 OFFSET 0) AS near WHERE d <= $4::float8 ORDER BY d, id LIMIT 1000;
SQL
    printf '%-34s%6d.%02d' "$1" $((built / 100)) $((built % 100))
    for r in 1 5 25; do
        "$programs/pgbench" -h "$place" -U postgres -n -M prepared -c 4 -j 1 -T "$seconds" -D r=$r.0 -f "$place/query" postgres \
            | awk '/^tps/ { printf "%9.0f", $3 }'
    done
    echo
}

printf '%-34s%9s%9s%9s%9s  queries a second\n' "1,000,000 events, 4 clients" "built, s" "1 km" "5 km" "25 km"
candidate "B-tree (lat, lon), haversine" "(lat, lon)" "$haversine" ":r" "events AS e WHERE $in_box"
candidate "B-tree (lat, lon), chord" "(lat, lon)" "$chord" ":reach" "events AS e WHERE $in_box"
candidate "GiST point(lon, lat), chord" "USING gist (point(lon, lat))" "$chord" ":reach" "events AS e WHERE $in_point_box"
candidate "B-tree (band, lon), haversine" "(band, lon)" "$haversine" ":r" \
    "$bands JOIN events AS e ON e.band = b.band AND e.lon BETWEEN :west::float8 AND :east::float8"
candidate "B-tree (band, lon), chord" "(band, lon)" "$chord" ":reach" \
    "$bands JOIN events AS e ON e.band = b.band AND e.lon BETWEEN :west::float8 AND :east::float8"
