# One humon process, for the scripts in shell, which source this file.

# serve PROGRAM NAME [SETTING=VALUE…]: starts a server, sets `server` to its process, and waits until it serves. Its output is in out.NAME
# and err.NAME.
serve() {
    program=$1 name=$2
    shift 2
    # The background process empties it later, and an earlier start may have left its line there.
    : >"out.$name"
    env "$@" "$program" serve >"out.$name" 2>"err.$name" &
    server=$!
    until grep -q curl "out.$name"; do
        kill -0 $server || { cat "err.$name" >&2; exit 1; }
        sleep 0.1
    done
}
