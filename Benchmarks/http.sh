#!/usr/bin/env bash
# Measures the API from outside, each route beside one that answers a constant: the figures of the README.
# Beside POST stands pgbench with single rows into a table of the log's columns and keys, on the same PostgreSQL.
# Usage: Benchmarks/http.sh [SECONDS-A-MEASUREMENT]. Needs wrk, pgbench and .build/release/humon; ends by itself in about three
# minutes.
set -euo pipefail
seconds=${1:-8}
cd "$(dirname "$0")/.."
humon=$PWD/.build/release/humon
cities=$PWD/Sources/App/Demo/cities.tsv
place=$(mktemp -d)
chmod 755 "$place"
cd "$place"
export HUMON_DATA=$place/data HUMON_PORT=${BENCH_PORT:-18321} TB_APP_SECRET=bench
base=http://127.0.0.1:$HUMON_PORT
"$humon" serve >"$place/out" 2>"$place/err" &
server=$!
trap 'kill $server; wait $server || true; rm -rf "$place"' EXIT
for _ in $(seq 300); do grep -q curl "$place/out" && break; sleep 0.1; done
"$humon" demo --events 100000 >/dev/null 2>&1
curl -s -X POST -H 'tb-app-secret: bench' -H 'tb-device-token: bench' "$base/v1/users" >/dev/null

cat >create.lua <<'LUA'
wrk.method = "POST"
wrk.headers["content-type"] = "application/json"
wrk.headers["tb-device-token"] = "bench"
wrk.body = '{"name":"Party at the park","address":"85 2nd Street","lat":37.7612,"lon":-122.4312,"started_at":"2013-09-16T00:00:00.000Z"}'
LUA
cat >near.lua <<'LUA'
local places, number = {}, 0
for line in io.lines(os.getenv("CITIES")) do
    local lat, lon = line:match("^[^\t]+\t[^\t]+\t([^\t]+)\t([^\t]+)")
    if lat then table.insert(places, "lat=" .. lat .. "&lon=" .. lon) end
end
request = function()
    number = number + 1
    return wrk.format("GET", "/v1/events/nearests?" .. places[number % #places + 1] .. "&radius=" .. os.getenv("RADIUS"))
end
LUA

measure() { # name, wrk's arguments
    local name=$1
    shift
    wrk -t1 -c64 "-d${seconds}s" --latency "$@" | awk -v name="$name" '
        /50%/ { p50 = $2 } /99%/ { p99 = $2 } /Requests\/sec/ { rate = $2 } /Non-2xx/ { refused = "  refused: " $NF }
        END { printf "| %-46s | %8.0f | %9s | %9s |%s\n", name, rate, p50, p99, refused }'
}

# Columns and keys of log.recorded_events, but numbers of a sequence, which promise no order.
psql() { command psql -X -q -h "$HUMON_DATA/socket" -U humon postgres "$@"; }
psql -c 'CREATE TABLE plain (position bigserial PRIMARY KEY, id uuid NOT NULL UNIQUE, stream text COLLATE "C" NOT NULL,
    version integer NOT NULL, type text NOT NULL, format smallint NOT NULL, recorded_at timestamptz NOT NULL,
    data json NOT NULL, metadata json NOT NULL, UNIQUE (stream, version)); CREATE SEQUENCE streams CACHE 1000'
# A blank after each colon: pgbench would take what follows for a variable.
cat >plain.sql <<'SQL'
INSERT INTO plain (id, stream, version, type, format, recorded_at, data, metadata) VALUES (gen_random_uuid(),
    'event-' || nextval('streams'), 1, 'EventCreated', 1, now(),
    '{"owner": 1,"name": "Party at the park","address": "85 2nd Street","lat": 37.7612,"lon": -122.4312,"started_at": "2013-09-16","ended_at": null}',
    '{"request_id": "0b54e7a0-5f0f-4f1c-9a51-2f5f4d6f3c11","actor": 1,"trace_id": null}')
SQL
plain() { # clients
    pgbench -h "$HUMON_DATA/socket" -U humon -n -M prepared -f plain.sql -c "$1" -j 1 -T "$seconds" postgres 2>/dev/null |
        awk -v clients="$1" '/^tps/ { rate = $3 } /latency average/ { mean = $4 }
            END { printf "| %-46s | %8.0f | %7.2fms* | %9s |\n", "pgbench, single rows, " clients " clients", rate, mean, "" }'
}

printf '| %-46s | %8s | %9s | %9s |\n|---|---:|---:|---:|\n' "64 connections" "per s" "p50" "p99"
measure 'a constant: `GET /v1/openapi.json`' -H 'accept: application/json' "$base/v1/openapi.json"
measure '`GET /v1/events/:id`' "$base/v1/events/777"
plain 32
measure '`POST /v1/events`, fsync on' -s create.lua "$base/v1/events"
plain 64
measure '`POST /v1/events` again' -s create.lua "$base/v1/events"
plain 32
for radius in 1 5; do
    CITIES=$cities RADIUS=$radius measure "\`nearests\`, $radius km, around 600 cities" -s near.lua "$base"
done
measure 'the constant again' "$base/v1/openapi.json"
echo '* the mean'
