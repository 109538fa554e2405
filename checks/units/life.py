"""What happens to the machine beyond its pages: before a block is typed, and after a page. Each is a script of bash that ends at a command that fails."""

HELPERS = """
set -e -o pipefail
# Runs a command until it succeeds, for at most 50 s.
within() { for _ in {1..250}; do if "$@"; then return; fi; sleep 0.2; done; echo "in vain: $*"; false; }
sign_up() { curl -sSf -X POST -H "tb-app-secret: $(cat /etc/humon/secrets/app_secret)" http://127.0.0.1:8080/v1/users; }
# Until the archive has everything that is recorded.
archive() {
    within [ -e /var/lib/postgresql/archive/$(runuser -u postgres -- psql -Atqc "SELECT pg_walfile_name(pg_switch_wal())").gz ]
}
# Whether a node knows no user of a token.
refuses() {
    event="name=Chess&lat=1&lon=1&started_at=2030-09-13T17:00:00Z"
    [ $(curl -s -o /dev/null -w '%{http_code}' -H "tb-device-token: $2" -d "$event" http://127.0.0.1:$1/v1/events) = 401 ]
}
healthy() { ! systemctl --quiet is-failed humon-backup humon-try-restore && ! systemctl list-jobs --no-legend | grep -q humon; }
"""

# By page and the beginning of a block.
BEFORE = {
    "docs/backup.md": {
        "humon backup humon.backup": """
            systemd-run --quiet --unit=volunteer --working-directory=/root --setenv=HUMON_PORT=8070 --setenv=HUMON_ADMIN_PORT=8071 humon serve
            within curl -sf http://127.0.0.1:8070/health
        """,
        # A person is erased after the archive's end, and then the disk is gone.
        "systemctl stop postgresql@15-main\n": """
            sign_up >/run/person
            archive
            DATABASE_URL_FILE=/etc/humon/secrets/server_url humon users erase $(jq .id /run/person) --yes
            systemctl kill --signal KILL postgresql@15-main
            rm -rf /var/lib/postgresql/15/main
        """,
    },
    "docs/runbooks.md": {
        # An app with the old secret signs people up meanwhile.
        "mv /etc/humon/secrets/app_secret ": """
            cp /etc/humon/secrets/app_secret /run/old
            systemd-run --quiet --unit=old-app --property=StandardOutput=truncate:/run/old.log bash -c '
                while sleep 1; do
                    curl -s -o /dev/null -w "%{http_code}\n" -X POST -H "tb-app-secret: $(cat /run/old)" http://127.0.0.1:8000/v1/users
                done'
        """,
        "rm /etc/systemd/system/humon@.service.d": """
            within grep -q 200 /run/old.log
            systemctl stop old-app
            if grep -v 200 /run/old.log; then false; fi
            sign_up
        """,
    },
}

# By page: what must be true after it. A script that fails, or prints something, is a failure of the check.
AFTER = {
    "docs/deploying.md": {
        "a node with a setting that cannot be used fails at once, and shows it": """
            sed -i s/=8080/=tea/ /etc/humon/a.env
            systemctl restart humon@a
            within systemctl --quiet is-failed humon@a
            sed -i s/=tea/=8080/ /etc/humon/a.env
            systemctl restart humon@a
            /usr/local/share/humon/deploy/in-rotation http://127.0.0.1:8000 127.0.0.1:8080
        """,
        "Prometheus asks every target, no alert fires but those of a machine without a backup, and no port is open to others": """
            asked() { curl -sS -G --data-urlencode "query=$1" http://127.0.0.1:9090/api/v1/query | jq -r ".data.result[].$2" | sort | xargs; }
            well() { [ "$(asked 'sum by (job) (up)' 'value[1]')" = "1 1 1 2" ] && [ "$(asked ALERTS metric.alertname)" = "BackupMissing Watchdog" ]; }
            within well || asked ALERTS metric.alertname
            ss -Htln | awk '$4 ~ /:9[0-9][0-9][0-9]$/ && $4 !~ /^127/'
        """,
        "an archive without its setting says so in PostgreSQL's log": """
            cd /etc/postgresql/15/main
            mv environment environment.old
            sed /WAL_ARCHIVE/d environment.old >environment
            systemctl restart postgresql@15-main
            runuser -u postgres -- psql -Atqc "SELECT pg_switch_wal()" humon >/dev/null
            within grep -q 'WAL_ARCHIVE is not in PostgreSQL.s environment.*Until that is mended' /var/log/postgresql/*.log
            mv environment.old environment
            systemctl restart postgresql@15-main
            archive
        """,
    },
    "docs/runbooks.md": {
        "the old secret of the app is refused, and the new one works": """
            if [ $(curl -s -o /dev/null -w '%{http_code}' -X POST -H "tb-app-secret: $(cat /run/old)" http://127.0.0.1:8080/v1/users) != 404 ]; then echo "the old one works"; fi
            sign_up >/run/said
        """,
    },
    "docs/backup.md": {
        "a private cluster is restored from its file": """
            systemctl stop volunteer
            cd /root
            HUMON_DATA=/srv/again humon doctor | awk '$2 == "bad"'
        """,
        "whom the lost end of the log erased is erased again": """
            for port in 8080 8090; do within refuses $port $(jq -r .device_token /run/person); done
        """,
        "a backup by another account is refused, and changes nothing": """
            said=$(humon-backup 2>&1 || true)
            if [[ $said != *"root does not own /var/backups/humon. Type: systemctl start humon-backup"* ]]; then echo "$said"; fi
            find /var/backups/humon /var/lib/postgresql/archive ! -user postgres
        """,
        "a failed backup answers at once, shows, and is tried again": """
            mount -t tmpfs -o size=1m,mode=700,uid=$(id -u postgres),gid=$(id -g postgres) tmpfs /var/backups/humon
            for unit in humon-backup humon-try-restore; do
                status=0
                timeout 20 systemctl start $unit 2>/run/said || status=$?
                if [ $status != 1 ]; then echo "systemctl start $unit ended with $status"; fi
                systemctl --quiet is-failed $unit
            done
            umount /var/backups/humon
            systemctl start humon-again
            within healthy
        """,
    },
}
