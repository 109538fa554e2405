"""The commands of the runbooks, typed into a machine in the state that their alert describes."""

import re, textwrap

from life import HELPERS
from process import Failed

RUNBOOKS = "docs/runbooks.md"
PROGRAMS = (
    "chown", "curl", "deploy/in-rotation", "df", "du", "echo", "find", "grep", "humon", "install", "journalctl", "jq", "ls", "metric", "nginx", "openssl",
    "pg_isready", "promtool", "restart_nodes", "runuser", "sql", "ss", "systemctl", "top", "vmstat",
)
# Commands that this machine cannot show, and why.
UNTYPED = {
    "curl -v https://NAME/health": "it has no public name",
    "humon projections rebuild --all --abort": "no rebuild is under way",
    "restart_nodes": "typed with the secrets",
}
COMMAND = re.compile(r"`((?:%s)(?:\s[^`]*)?)`" % "|".join(map(re.escape, PROGRAMS)))
SECTION = re.compile(r"^### (\w+(?:, \w+)*)\n(.*?)(?=^##)", re.M | re.S)


class State:
    """What an alert describes.

    - make: brings the machine there
    - mend: what the person does who has looked
    - shows: what the last command after **Over:** prints only when it is over
    - words: commands that print what stands for a word of the page
    """
    def __init__(self, make="", mend="", shows=None, words={}):
        self.make, self.mend, self.shows, self.words = make, mend, shows, words


SESSION = "runuser -u postgres -- psql -d humon -Atqc \"SELECT pid FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)' AND pid <> pg_backend_pid()\""
# By the first alert of a section. The others are typed into a machine that is well.
STATES = {
    "HumonDown": State("""
        sed -i s/=8080/=tea/ /etc/humon/a.env
        systemctl restart humon@a
        within systemctl --quiet is-failed humon@a   # at once, since another start cannot be any different
    """, "sed -i s/=tea/=8080/ /etc/humon/a.env"),
    "HumonNoneLeft": State("systemctl stop humon@a humon@b", shows='"status":"ok"'),
    "HumonMissing": State("""
        mv /etc/prometheus/nodes.yml /etc/prometheus/nodes.old
        systemctl restart prometheus
    """, "mv /etc/prometheus/nodes.old /etc/prometheus/nodes.yml"),   # the next look of Prometheus is up to 15 s away
    "HumonPostgresAway": State("systemctl stop postgresql@15-main", shows="humon_postgres_up 1$"),
    "HumonServerErrors": State("""
        runuser -u postgres -- psql -d humon -qc 'DROP SCHEMA attendances_v1 CASCADE' 2>/run/said
        fails() { [ $(curl -s -o /dev/null -w '%{http_code}' -H 'tb-device-token: ann' -d 'event[id]=1' http://127.0.0.1:8080/v1/attendances) = 500 ]; }
        within fails
    """),
    "HumonSlowCommits": State("""
        holding "BEGIN; LOCK TABLE log.recorded_events IN EXCLUSIVE MODE; SELECT pg_sleep(600)"
        systemd-run --quiet --collect curl -s -X POST -H "tb-app-secret: $(cat /etc/humon/secrets/app_secret)" http://127.0.0.1:8080/v1/users
    """, shows="log lock +ok", words={"PID": "cat /run/pid"}),
    "HumonUnauthorizedFlood": State("""
        for _ in {1..50}; do curl -s -o /dev/null -H 'tb-device-token: nobody' -d name=Chess http://127.0.0.1:8000/v1/events; done
    """),
    "HumonReadModelBehind": State(words={"NAME": "echo events"}),
    "HumonSubscriptionStuck": State(words={"NAME": "echo erasures"}),
    "PostgresArchiverFails": State("""
        chown root: /var/lib/postgresql/archive
        sign_up
        runuser -u postgres -- psql -Atqc "SELECT pg_switch_wal()"
    """, shows="wal archive +ok"),
    "PostgresLongTransaction": State("""
        holding "SELECT pg_sleep(600)"
    """, words={"PID": "cat /run/pid"}),
    "BackupOld": State("""
        systemctl stop postgresql@15-main
        systemctl start humon-backup || true
        systemctl start postgresql@15-main
        touch -d '27 hours ago' /var/lib/prometheus/node-exporter/humon_backup.prom
    """, shows="humon_backup"),
    "BackupOffSiteOld": State("""
        mount -t tmpfs -o size=1m,mode=700,uid=$(id -u postgres),gid=$(id -g postgres) tmpfs /var/backups/humon-off-site
        systemctl start humon-off-site || true
        touch -d '2 hours ago' /var/lib/prometheus/node-exporter/humon_off_site.prom
    """, "umount /var/backups/humon-off-site", "humon_off_site"),
    "BackupRestoreFails": State(r"""
        printf '\377' | dd conv=notrunc status=none of=$(ls -d /var/backups/humon/*Z | tail -n 1)/base/1/pg_filenode.map
        systemctl start humon-try-restore || true
    """, shows="^inactive"),
    "BackupNotRestored": State("systemctl disable --quiet --now humon-try-restore.timer"),
    "BackupArchiveUnused": State("""
        cd /var/lib/postgresql/archive/needed
        install -o postgres /dev/stdin gone-1 <<<000000010000000000000001
        touch -d '5 days ago' gone-1
        systemctl start humon-backup
        journalctl -u humon-backup -o cat -n 3 | grep 'gone-1 has backed up nothing' >/run/said
    """, "rm /var/lib/postgresql/archive/needed/gone-1"),
    "ProbeFails": State("systemctl stop nginx"),
    "Watchdog": State("systemctl stop prometheus-alertmanager"),
}


class Runbook:
    def __init__(self, line, names, text):
        self.line, self.names = line, names
        parts = re.split(r"\*\*(Users|Look|Type|Over|Wake)\b", text)
        commands = {part: [" ".join(command.split()) for command in COMMAND.findall(body)] for part, body in zip(parts[1::2], parts[2::2])}
        self.look, self.type, self.over = (commands.get(part, []) for part in ("Look", "Type", "Over"))
        self.state = STATES.get(names[0], State())

    def script(self, preamble, words):
        """Looks, mends and types, and waits until it is over. Each command is printed before it runs."""
        def typed(command):
            for word, value in words.items():
                command = command.replace(word, value)
            if missing := re.search(r"\b(ADDRESS|FILE|NAME|PID)\b", command):
                raise Failed(f"{RUNBOOKS}:{self.line}: no state says what {missing[0]} is in: {command}")
            return command

        def said(command, is_over=False):
            # A search may find nothing, a doctor something. Afterwards only a search for errors may be in vain. A node takes a moment.
            is_search = re.search(r'status="' if is_over else r"grep| -g |^metric '|humon doctor|is-failed|systemctl status|pg_isready", command)
            quoted = command.replace("'", "'\\''")
            run = f"shown() {{ {command}; }}; within shown" if is_over and not is_search else command
            return f"printf '+ %s\\n' '{quoted}'\n{run}" + (" || [ $? -le 3 ]" if is_search else "")

        look, do, over = ([typed(command) for command in commands if command not in UNTYPED] for commands in (self.look, self.type, self.over))
        lines = [preamble]
        if self.state.shows:
            lines += [f"over() {{ {{ {over[-1]}; }} 2>&1 | grep -qE '{self.state.shows}'; }}", "is_under_way() { ! over; }", "within is_under_way"]
        lines += [*map(said, look), textwrap.dedent(self.state.mend), *map(said, do)]
        lines += ["within over"] if self.state.shows else [said(command, is_over=True) for command in over]
        return "\n".join(lines)


def runbooks(text):
    text = text.split("\n## Procedures\n")[0] + "\n##"
    found = [Runbook(text.count("\n", 0, match.start()) + 1, match[1].split(", "), match[2]) for match in SECTION.finditer(text)]
    names = {runbook.names[0] for runbook in found}
    if extra := STATES.keys() - names:
        raise Failed(f"{RUNBOOKS}:1: no section begins with {', '.join(sorted(extra))}; take it out of checks/units/alerts.py")
    typed = {command for runbook in found for command in runbook.look + runbook.type + runbook.over}
    if extra := UNTYPED.keys() - typed:
        raise Failed(f"{RUNBOOKS}:1: nobody is told to type {', '.join(sorted(extra))}; take it out of checks/units/alerts.py")
    return found


def play(machine, page):
    """Types the commands of every section. Returns their number."""
    helpers = HELPERS.replace("set -e -o pipefail", "set -e") + f"""
pid() {{ {SESSION} | grep .; }}
# Leaves a session with a statement.
holding() {{
    systemd-run --quiet --collect runuser -u postgres -- psql -d humon -Atqc "$1"
    within pid >/run/pid
}}
"""
    # The functions and settings of the page, without its first looks.
    preamble = helpers + page.blocks[0].text.split("\nhumon doctor\n")[0] + "\n"
    count = 0
    # A node is often stopped here, and no client is left that it would drain for.
    machine.sh("sed -i s/HUMON_DRAIN_SECONDS=.*/HUMON_DRAIN_SECONDS=1/ /etc/humon/nodes.env")
    for runbook in runbooks(page.text):
        def run(what, script):
            status, printed = machine.sh(script)
            if status != 0:
                raise Failed(f"{RUNBOOKS}:{runbook.line}: {', '.join(runbook.names)}: {what} (status {status}):\n{printed.strip()[-3000:]}")
            return printed.strip()

        if runbook.state.make:
            run("the state cannot be made", helpers + textwrap.dedent(runbook.state.make))
        words = {word: run(f"no {word}", helpers + command) for word, command in runbook.state.words.items()}
        run("a command fails, or it is not over", runbook.script(preamble, words))
        if "PID" in words:
            run("its session is still there", helpers + "gone() { ! pid; }\nwithin gone")
        count += len(runbook.look + runbook.type + runbook.over)
    return count
