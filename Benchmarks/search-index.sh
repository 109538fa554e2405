#!/usr/bin/env bash
# Measures the cost of the index of `humon log search` for an append: log.append in batches of 64 inside PostgreSQL, alternately with
# the index and without it. Usage: Benchmarks/search-index.sh [ROUNDS]. Needs psql and .build/release/humon; a minute or so.
set -euo pipefail
rounds=${1:-7}
cd "$(dirname "$0")/.."
. checks/harness/server.sh
humon=$PWD/.build/release/humon
place=$(mktemp -d)
chmod 755 "$place"
cd "$place"
export HUMON_DATA=$place/data HUMON_PORT=0 TB_APP_SECRET=benchmark
server=''
trap 'kill $server; wait $server || true; rm -rf "$place"' EXIT
serve "$humon" one
psql() { command psql -X -q -A -t -h "$HUMON_DATA/socket" -U humon "$@"; }

cat >fill.sql <<'SQL'
CREATE FUNCTION pg_temp.fill(batches integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    tail bigint;
BEGIN
    FOR batch IN 1..batches LOOP
        tail := log.tail();
        PERFORM log.append(
            array_agg(gen_random_uuid()), array_agg('event-' || (tail + n)), array_agg(1), array_agg('EventCreated'::text),
            array_agg(1::smallint), array_agg(now()),
            array_agg('{"owner":1,"name":"Party at the park","address":"85 2nd Street","lat":37.7612,"lon":-122.4312}'::text),
            array_agg('{"request_id":"' || gen_random_uuid() || '","actor":1,"trace_id":null}'), array_agg(NULL::text),
            array_agg(NULL::bytea), '{}', '{}'
        ) FROM generate_series(1, 64) AS n;
    END LOOP;
END
$$;
\timing on
SELECT pg_temp.fill(1500);
SQL
for _ in $(seq "$rounds"); do
    for kind in with without; do
        psql postgres -c 'DROP DATABASE IF EXISTS scratch' -c 'CREATE DATABASE scratch' 2>/dev/null
        DATABASE_URL="host='$HUMON_DATA/socket' user=humon dbname=scratch" "$humon" migrate >/dev/null 2>&1
        [ $kind = with ] || psql scratch -c 'DROP INDEX log.recorded_events_search'
        psql scratch -f fill.sql | awk -v kind=$kind '/Time/ { print $2 }' >>"$kind"
    done
done
for kind in with without; do
    sort -n "$kind" | awk -v kind=$kind '{ times[NR] = $1 } END {
        printf "%-8s the index: %.1f µs an event (median of %d; the best %.1f)\n", kind, times[int((NR + 1) / 2)] / 96, NR, times[1] / 96 }'
done
