#!/usr/bin/env bash
# Measures the API over HTTP on a million events, with the in-memory index (docs/benchmarks.md). Each round measures every
# row once, so that all rows see the same machine. The table has the median of the rounds, and the lowest and highest rate. The start is
# compared with a binary COPY of the same rows, and POST with single-row inserts by pgbench into a table with the log's columns and keys,
# both on the same PostgreSQL. Benchmarks/peers.py compares the rows with other systems, and with nginx.
# Usage: Benchmarks/http.sh [ROUNDS [SECONDS-A-ROW]], EVENTS=1000000. Needs wrk, psql, pgbench and .build/release/humon.
set -euo pipefail
rounds=${1:-5} seconds=${2:-4} events=${EVENTS:-1000000}
cd "$(dirname "$0")/.."
. checks/harness/server.sh
humon=$PWD/.build/release/humon
cities=$PWD/Sources/App/Demo/cities.tsv script=$PWD/Benchmarks/requests.lua
# The directory PLACE, if set, keeps its events for the next run.
place=${PLACE:-$(mktemp -d)}
mkdir -p "$place"
chmod 755 "$place"
cd "$place"
export HUMON_DATA=$place/data HUMON_PORT=${BENCH_PORT:-18321} HUMON_ADMIN_PORT=0 TB_APP_SECRET=benchmark
base=http://127.0.0.1:$HUMON_PORT
server=''
finish() {
    kill $server 2>/dev/null || true
    wait || true
    [ -n "${PLACE:-}" ] || rm -rf "$place"
}
trap finish EXIT

start() { serve "$humon" humon HUMON_INDEX_MEGABYTES=4000 HUMON_EVENTS_PER_USER=0; }
stop() {
    kill $server
    wait $server || true
}
psql() { PGOPTIONS="-c search_path=${schema:-public}" command psql -X -q -h "$HUMON_DATA/cluster" -U humon postgres "$@"; }

# Five places around each city, spread evenly over a ring.
around() { # inner and outer radius in kilometres
    awk -F'\t' -v from="$1" -v to="$2" '$4 + 0 == $4 { for (i = 0; i < 5; i++) {
        away = sqrt(from ^ 2 + rand() * (to ^ 2 - from ^ 2)) / 111.195; angle = 6.283185 * rand()
        printf "%.6f %.6f\n", $3 + away * cos(angle), $4 + away * sin(angle) / cos($3 * 3.14159265 / 180) } }' "$cities"
}
around 0 10 >places.txt
# Writes go farther out than searches, so that searches find the same number of events in each round.
around 16 26 >outskirts.txt
for radius in 1 5; do
    awk -v radius=$radius '{ print "GET /v1/events/nearests?lat=" $1 "&lon=" $2 "&radius=" radius }' places.txt >near$radius.txt
done
sed 's,/nearests,.ics,' near1.txt >feed.txt
awk '{ printf "POST /v1/events {\"name\":\"Party at the park\",\"address\":\"85 2nd Street\",\"lat\":%s,\"lon\":%s," \
    "\"started_at\":\"2013-09-16T00:00:00.000Z\"}\n", $1, $2 }' outskirts.txt >post.txt

measure() { # row
    REQUESTS=$1.txt wrk -t1 -c64 "-d${seconds}s" --latency -s "$script" "$base" | awk -v row="$1" '
        function ms(text) { return text ~ /us$/ ? text / 1000 : text ~ /ms$/ ? text + 0 : text * 1000 }
        function mb(text) { return text ~ /GB$/ ? text * 1024 : text ~ /KB$/ ? text / 1024 : text + 0 }
        /50%/ { p50 = ms($2) } /99%/ { p99 = ms($2) } /Requests\/sec/ { rate = $2 } /Transfer\/sec/ { sent = mb($2) }
        /Non-2xx/ { refused = $NF }
        END { print row, rate, p50, p99, sent, refused + 0 }' >>rows.txt
}
# The mean length of the responses.
kilobytes() { # row
    shuf -n 200 --random-source=places.txt "$1.txt" | awk -v base="$base" '{ print "url = \"" base $2 "\"\noutput = /dev/null" }' |
        curl -s -K - -w '%{size_download}\n' |
        awk '{ sum += $1 } END { printf "%.1f KB", sum / NR / 1000 }'
}
table() {
    rm -f rows.txt
    for _ in $(seq "$rounds"); do
        for row in get described page text near1 near5 feed post; do
            measure $row
        done
    done
    printf '| %-26s | %8s | %15s | %9s | %9s | %6s |\n|---|---:|---:|---:|---:|---:|\n' \
        "64 connections" "per s" "lowest–highest" "p50" "p99" "MB/s"
    sort -k1,1 -k2,2n rows.txt | awk -v near1="$(kilobytes near1)" -v near5="$(kilobytes near5)" -v feed="$(kilobytes feed)" '
        { rates[$1] = rates[$1] " " $2; p50[$1] = p50[$1] " " $3; p99[$1] = p99[$1] " " $4; sent[$1] = sent[$1] " " $5; refused[$1] += $6 }
        function median(list,   n, v, i, j, t) {
            n = split(list, v)
            for (i = 2; i <= n; i++) for (j = i; j > 1 && v[j - 1] + 0 > v[j] + 0; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
            return v[int((n + 1) / 2)]
        }
        # The rows of a key arrive in the order of their rates.
        function range(list,   n, v) { n = split(list, v); return sprintf("%.0f–%.0f", v[1], v[n]) }
        function row(key, name) {
            printf "| %-26s | %8.0f | %15s | %6.1f ms | %6.1f ms | %6.1f |%s\n", name, median(rates[key]), range(rates[key]), \
                median(p50[key]), median(p99[key]), median(sent[key]), \
                refused[key] ? "  refused: " refused[key] : ""
        }
        END {
            row("get", "`GET /v1/events/:id`"); row("described", "the same, with description")
            row("page", "its page, `/events/:id`"); row("text", "the same, with description")
            row("near1", "`nearests`, 1 km, " near1); row("near5", "`nearests`, 5 km, " near5)
            row("feed", "calendar, 1 km, " feed)
            row("post", "`POST /v1/events`, fsync on")
        }'
}

start
# The schema of the read model has its version in its name.
schema=$(psql -At -c "SELECT schemaname FROM pg_tables WHERE tablename = 'events' AND schemaname ~ '_v[0-9]+$'")
if [ "$(psql -At -c 'SELECT count(*) < '"$events"' FROM events')" = t ]; then
    "$humon" demo --yes --bare --events "$events" >/dev/null 2>&1
    # Two in five have a description.
    "$humon" demo --yes --seed 2 --events 5000 >/dev/null 2>&1
fi
# Finishes the deferred work of PostgreSQL, so that no measurement contains it.
psql -c 'VACUUM ANALYZE' -c CHECKPOINT
# An event with a description is read from PostgreSQL, every other one from memory.
ids() { psql -At -c "SELECT 'GET /v1/events/' || id FROM events WHERE description IS $1 ORDER BY random() LIMIT 5000"; }
ids NULL >get.txt
ids 'NOT NULL' >described.txt
sed 's,/v1,,' get.txt >page.txt
sed 's,/v1,,' described.txt >text.txt
curl -s -X POST -H 'tb-app-secret: benchmark' -H 'tb-device-token: bench' "$base/v1/users" >/dev/null

echo "Start-up, $(psql -At -c 'SELECT count(*) FROM events') events, rows a second:"
columns='id, version, owner_id, name, address, lat, lon, started_at, ended_at, is_cancelled, is_hidden, revised_at'
columns="$columns, category, time_zone, description, link"
for _ in 1 2 3; do
    stop
    start
    begin=$(date +%s%N)
    psql -c "COPY events ($columns) TO STDOUT (FORMAT binary)" >/dev/null
    end=$(date +%s%N)
    psql -At -c 'SELECT count(*) FROM events' | awk -v ns=$((end - begin)) -v filled="$(grep -o 'events_per_second=[0-9]*' err.humon | tail -1)" '
        { sub("events_per_second=", "", filled); copied = $1 / ns * 1e9
          printf "  COPY to psql %.0f, index ready %.0f: %.2f\n", copied, filled, filled / copied }'
done
echo
table
echo
# pgbench finds it there.
schema=public
psql -c 'DROP TABLE IF EXISTS plain; DROP SEQUENCE IF EXISTS streams;
    CREATE TABLE plain (position bigserial PRIMARY KEY, id uuid NOT NULL UNIQUE, stream text COLLATE "C" NOT NULL,
    version integer NOT NULL, type text NOT NULL, format smallint NOT NULL, recorded_at timestamptz NOT NULL,
    data json NOT NULL, metadata json NOT NULL, UNIQUE (stream, version)); CREATE SEQUENCE streams CACHE 1000' 2>/dev/null
# A blank after each colon: pgbench reads a colon before a letter or digit as a variable.
cat >plain.sql <<'SQL'
INSERT INTO plain (id, stream, version, type, format, recorded_at, data, metadata) VALUES (gen_random_uuid(),
    'event-' || nextval('streams'), 1, 'EventCreated', 1, now(),
    '{"owner": 1,"name": "Party at the park","address": "85 2nd Street","lat": 37.7612,"lon": -122.4312,"started_at": "2013-09-16","ended_at": null}',
    '{"request_id": "0b54e7a0-5f0f-4f1c-9a51-2f5f4d6f3c11","actor": 1,"trace_id": null}')
SQL
pgbench -h "$HUMON_DATA/cluster" -U humon -n -M prepared -f plain.sql -c 64 -j 1 -T "$seconds" postgres 2>/dev/null |
    awk '/^tps/ { printf "pgbench, single rows, 64 clients: %.0f a second\n\n", $3 }'
psql -c 'DROP TABLE plain; DROP SEQUENCE streams'
