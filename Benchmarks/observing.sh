#!/usr/bin/env bash
# Measures the cost of observability: GET by id with metrics only, and with a request log in text or JSON. All servers work on one
# database and alternate, ROUNDS times. The output has the medians, and the lowest processor time of a request in any round, because other
# programs can only add to it.
# Usage: Benchmarks/observing.sh [ANOTHER-HUMON]. ANOTHER-HUMON is a program without the measured feature, for comparison.
# Needs wrk and .build/release/humon.
set -euo pipefail
rounds=${ROUNDS:-8} seconds=${SECONDS_A_ROW:-2}
cd "$(dirname "$0")/.."
. checks/harness/server.sh
humon=$PWD/.build/release/humon
place=$(mktemp -d)
chmod 755 "$place"
cd "$place"
export HUMON_DATA=$place/data HUMON_ADMIN_PORT=0 TB_APP_SECRET=benchmark HUMON_INDEX_MEGABYTES=256
database="postgresql:///postgres?host=$HUMON_DATA/cluster&user=humon"
names=() ports=() servers=()
finish() {
    # The first server owns the database.
    for ((i = ${#servers[@]} - 1; i >= 0; i--)); do
        kill "${servers[i]}" 2>/dev/null || true
        wait "${servers[i]}" || true
    done
    rm -rf "$place"
}
trap finish EXIT

start() { # name, program, settings
    local port=$((18331 + ${#servers[@]}))
    names+=("$1") ports+=("$port")
    serve "$2" "$1" HUMON_PORT=$port "${@:3}"
    servers+=("$server")
}

start metrics "$humon" HUMON_LOG_LEVEL=notice
"$humon" demo --events 20000 >/dev/null 2>&1
start text "$humon" DATABASE_URL="$database" HUMON_LOG_LEVEL=info
start json "$humon" DATABASE_URL="$database" HUMON_LOG_LEVEL=info HUMON_LOG_FORMAT=json
if [ $# -gt 0 ]; then start another "$1" DATABASE_URL="$database"; fi

ticks() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }
for ((round = 0; round <= rounds; round++)); do
    for i in "${!names[@]}"; do
        before=$(ticks "${servers[i]}")
        answered=$(wrk -t1 -c32 "-d${seconds}s" "http://127.0.0.1:${ports[i]}/v1/events/17" |
            awk '/requests in/ { count = $1 } /Requests\/sec/ { rate = $2 } END { print count, rate }')
        # The first round warms up.
        ((round == 0)) || echo "${names[i]} $answered $(($(ticks "${servers[i]}") - before))" >>rows
    done
done
printf '%-10s %12s %20s %20s\n' server requests/s 'µs a request' 'least µs a request'
for name in "${names[@]}"; do
    awk -v name="$name" -v ticks="$(getconf CLK_TCK)" '$1 == name { print $3, $4 / ticks * 1e6 / $2 }' rows >of
    printf '%-10s %12.0f %20.1f %20.1f\n' "$name" "$(sort -n of | awk '{ r[NR] = $1 } END { print r[int((NR + 1) / 2)] }')" \
        "$(awk '{ print $2 }' of | sort -n | awk '{ r[NR] = $1 } END { print r[int((NR + 1) / 2)] }')" \
        "$(awk '{ print $2 }' of | sort -n | head -1)"
done
