#!/usr/bin/env bash
# Measures the rebuild and the verification of read models, beside plain SQL that makes the same tables with the same indexes from the
# same log, on the same PostgreSQL, in one run.
# Usage: Benchmarks/rebuild.sh [RECORDED-EVENTS]. Needs psql and .build/release/humon; ends by itself in about five minutes.
set -euo pipefail
total=${1:-1000000}
cd "$(dirname "$0")/.."
. checks/harness/server.sh
humon=$PWD/.build/release/humon
place=$(mktemp -d)
chmod 755 "$place"
cd "$place"
export HUMON_DATA=$place/data HUMON_PORT=${BENCH_PORT:-18322} TB_APP_SECRET=benchmark
server=''
trap 'kill $server; wait $server || true; rm -rf "$place"' EXIT
serve "$humon" one
# For each event the demo makes about one attendance and a hundredth of a user.
"$humon" demo --events $((total * 100 / 201)) >/dev/null 2>"$place/demo"

psql() { PGOPTIONS="-c search_path=${schemas:-public}" command psql -X -q -A -t -h "$HUMON_DATA/cluster" -U humon postgres "$@"; }
# The schemas of the read models have their versions in their names.
schemas=$(psql -c "SELECT string_agg(schemaname, ',') FROM pg_tables
    WHERE tablename IN ('users', 'events', 'attendances') AND schemaname ~ '_v[0-9]+\$'")
events=$(psql -c 'SELECT count(*) FROM log.recorded_events')
psql -c 'VACUUM ANALYZE log.recorded_events'

# The work of the projections in SQL. JSON is parsed once a row, and indexes are made after the rows.
cat >plain.sql <<'SQL'
DROP SCHEMA IF EXISTS plain CASCADE;
CREATE SCHEMA plain;
CREATE TABLE plain.users (LIKE users);
CREATE TABLE plain.events (LIKE events);
CREATE TABLE plain.attendances (LIKE attendances);
INSERT INTO plain.users
SELECT split_part(stream, '-', 2)::bigint, version, decode(personal->>'device', 'hex') FROM log.recorded_events WHERE type = 'UserCreated';
INSERT INTO plain.events (
    id, version, owner_id, name, address, lat, lon, started_at, ended_at, is_cancelled, is_hidden, revised_at)
SELECT split_part(r.stream, '-', 2)::bigint, r.version, d.owner, p.name, p.address, p.lat, p.lon, d.started_at, d.ended_at, false, false,
    r.recorded_at
FROM log.recorded_events AS r
CROSS JOIN LATERAL json_to_record(r.data) AS d (owner bigint, started_at timestamptz, ended_at timestamptz)
CROSS JOIN LATERAL json_to_record(r.personal) AS p (name text, address text, lat float8, lon float8)
WHERE r.type = 'EventCreated';
INSERT INTO plain.attendances
SELECT d.event, d."user", r.version, r.recorded_at FROM log.recorded_events AS r
CROSS JOIN LATERAL json_to_record(r.data) AS d (event bigint, "user" bigint)
WHERE r.type = 'AttendanceAdded' AND r.version = 1;
SET maintenance_work_mem = '256MB';
DO $$
DECLARE
    definition text;
BEGIN
    FOR definition IN SELECT regexp_replace(indexdef, 'ON \w+\.', 'ON plain.') FROM pg_indexes
        WHERE schemaname = ANY (current_schemas(false))
    LOOP
        EXECUTE definition;
    END LOOP;
END
$$;
ANALYZE plain.users, plain.events, plain.attendances;
SQL
# The last domain event of a stream counts. In the demo, guests leave; nothing else changes.
cat >updates.sql <<'SQL'
UPDATE plain.attendances AS a SET version = r.version, attended_at = NULL FROM log.recorded_events AS r
WHERE r.type = 'AttendanceRemoved' AND a.event_id = split_part(r.stream, '-', 2)::bigint
    AND a.user_id = split_part(r.stream, '-', 3)::bigint;
SQL
cat >equal.sql <<'SQL'
SELECT (SELECT count(*) FROM (SELECT id, version, owner_id, name, address, lat, lon, started_at, ended_at, is_cancelled FROM events
        EXCEPT SELECT id, version, owner_id, name, address, lat, lon, started_at, ended_at, is_cancelled FROM plain.events) AS a)
    + (SELECT count(*) FROM (SELECT * FROM users EXCEPT SELECT * FROM plain.users) AS a)
    + (SELECT count(*) FROM (SELECT * FROM attendances EXCEPT SELECT * FROM plain.attendances) AS a)
    + abs((SELECT count(*) FROM events) - (SELECT count(*) FROM plain.events));
SQL

now() { date +%s.%N; }
row() { # name, seconds, further
    awk -v name="$1" -v seconds="$2" -v events="$events" -v further="${3:-}" 'BEGIN {
        printf "| %-44s | %6.2f | %8.0f | %s\n", name, seconds, events / seconds, further }'
}
timed() { # name, command …
    local name=$1 begin
    shift
    psql -c CHECKPOINT
    begin=$(now)
    "$@" >>"$place/answers" 2>>"$place/progress"
    row "$name" "$(echo "$(now) $begin" | awk '{ print $1 - $2 }')" "${memory:-}|"
}
# The peak memory of the process, as the kernel records it.
watched() {
    "$@" &
    local child=$!
    while kill -0 $child 2>/dev/null; do
        awk '/VmHWM/ { print $2 }' "/proc/$child/status" >>"$place/memory" 2>/dev/null || true
        sleep 0.05
    done
    wait $child
}
peak() { sort -n "$place/memory" | tail -1 | awk '{ printf "%.0f MB", $1 / 1024 }'; rm "$place/memory"; }

echo "$events recorded events, $(psql -c 'SHOW server_version'), $(nproc) cores"
echo
printf '| %-44s | %6s | %8s | %s\n|---|---:|---:|---|\n' "" "s" "per s" "|"
for round in 1 2 3; do
    timed "plain SQL, $round" psql -f plain.sql
    timed "humon projections rebuild --all, $round" watched "$humon" projections rebuild --all
    timed "humon projections verify --all, $round" watched "$humon" projections verify --all
done
echo
psql -f updates.sql
echo "Rows in which plain SQL and humon differ: $(psql -f equal.sql)"
echo "humon's memory at its peak: $(peak)"
awk '/Appends waited/ { print }' "$place/answers" | tail -1
