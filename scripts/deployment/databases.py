"""PostgreSQL in its forms: by itself, with one that takes over, and behind a pooler."""

import glob, os, shutil, signal

from place import Failed, program, render
from services import get

# PostgreSQL's own programs are not in the PATH of Debian.
FOUND = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]))
POSTGRES = FOUND[-1] if FOUND else os.path.dirname(program("initdb"))


def query(place, sql, database, host, port, environment={}, expected=(0,)):
    """Rows as lists of texts."""
    how = f"-XAtq -F \t -v ON_ERROR_STOP=1 -h {host} -p {port} -U postgres -d {database}"
    text = place.run([f"{POSTGRES}/psql", *how.split(" "), "-c", sql], environment, expected=expected)
    return [line.split("\t") for line in text.splitlines()]


def certificate(place, name, folder="etcd-tls"):
    """A server's directory with its certificate and key, made by the deployment's own script."""
    made = place.path("certificates")
    place.run([place.path("deploy/make-certificates"), made, name])
    own = place.folder(folder, 0o700)
    for file in ("ca.pem", f"{name}.crt", f"{name}.key"):
        place.give(shutil.copy(f"{made}/{file}", own))
    return own


class Postgres:
    """One server, as docker-compose.yml has it."""

    parameters = ""

    def __init__(self, place):
        self.place, self.port = place, place.port()
        self.data, self.archive = place.path("postgres"), place.folder("archive")
        self.environment = {
            "PATH": f"{place.path('deploy/backup')}:{POSTGRES}:{os.environ['PATH']}",
            "WAL_ARCHIVE": self.archive,
            "SECRETS": place.path("secrets"),
        }

    @property
    def hosts(self):
        return f"127.0.0.1:{self.port}"

    def create(self):
        how = "--username postgres --auth-local=reject --auth-host=reject --data-checksums"
        self.place.run([f"{POSTGRES}/initdb", "--pgdata", self.data, *how.split()], self.environment)

    def start(self):
        # What the image of docker-compose.yml has elsewhere.
        if not self.place.account:
            # Peer asks for the account postgres, which only root can start it as.
            with open(self.place.path("deploy/postgres/pg_hba.conf")) as file:
                self.place.write("deploy/postgres/pg_hba.conf", file.read().replace("peer", "trust"))
        own = {
            "config_file": self.place.path("deploy/postgres/postgresql.conf"),
            "hba_file": self.place.path("deploy/postgres/pg_hba.conf"),
            "ident_file": f"{self.data}/pg_ident.conf",
            "listen_addresses": "127.0.0.1",
            "port": self.port,
            "unix_socket_directories": self.place.directory,
        }
        settings = [word for name, value in own.items() for word in ("-c", f"{name}={value}")]
        self.place.start("postgres", [f"{POSTGRES}/postgres", "-D", self.data, *settings], self.environment)
        self.place.until("PostgreSQL", self.answers)

    def answers(self):
        try:
            return self.query("SELECT 1", database="postgres") == [["1"]]
        except Failed:
            return False

    def make_roles(self):
        own = self.environment | {"PGHOST": self.place.directory, "PGPORT": self.port}
        self.place.run([self.place.path("deploy/postgres/roles")], own)

    def query(self, sql, database="humon"):
        """As the superuser, by the socket."""
        return query(self.place, sql, database, self.place.directory, self.port)


class Etcd:
    """One member; three of them on other machines are what a deployment has."""

    def __init__(self, place):
        self.place, self.port, self.peer_port = place, place.port(), place.port()

    def start(self):
        place = self.place
        tls = certificate(place, "etcd")
        settings = render(
            place.path("deploy/etcd/etcd.template"),
            {
                "MEMBER": "one",
                "ETCD_DATA": place.folder("etcd", 0o700),
                "ADDRESS": "127.0.0.1",
                "PEER_PORT": self.peer_port,
                "CLIENT_PORT": self.port,
                "MEMBERS": f"one=https://127.0.0.1:{self.peer_port}",
                "TLS": tls,
            },
        )
        environment = dict(line.split("=", 1) for line in settings.splitlines() if not line.startswith("#"))
        place.start("etcd", [program("etcd")], environment)
        address, authority = f"https://127.0.0.1:{self.port}", f"{tls}/ca.pem"
        place.until("etcd", lambda: get(f"{address}/health", authority=authority)[0] == 200)
        client = {"ETCDCTL_API": "3", "ETCDCTL_ENDPOINTS": address, "ETCDCTL_CACERT": authority}
        place.run([place.path("deploy/etcd/enable-authentication"), place.path("secrets")], client)
        if place.ends_well([program("etcdctl"), "get", "--prefix", "/"], client):
            raise Failed("etcd answers a client without a password")


class Member:
    """One PostgreSQL with the Patroni that watches over it."""

    def __init__(self, place, name, etcd):
        self.place, self.name, self.etcd = place, name, etcd
        self.port, self.check_port = place.port(), place.port()
        self.data = place.path(name, "data")

    @property
    def authority(self):
        return self.place.path(self.name, "tls/ca.pem")

    def start(self):
        place = self.place
        place.folder(self.name, 0o700)
        place.start(
            self.name,
            [place.path("deploy/patroni/humon-patroni")],
            {
                "PATRONI_NAME": self.name,
                "PATRONI_RESTAPI_LISTEN": f"127.0.0.1:{self.check_port}",
                "PATRONI_RESTAPI_CONNECT_ADDRESS": f"127.0.0.1:{self.check_port}",
                "PATRONI_POSTGRESQL_LISTEN": f"127.0.0.1:{self.port}",
                "PATRONI_POSTGRESQL_CONNECT_ADDRESS": f"127.0.0.1:{self.port}",
                "PATRONI_POSTGRESQL_DATA_DIR": self.data,
                "PATRONI_POSTGRESQL_BIN_DIR": POSTGRES,
                "PATRONI_POSTGRESQL_PGPASS": place.path(f"pgpass-{self.name}"),
                "PATRONI_ETCD3_HOSTS": f"127.0.0.1:{self.etcd.port}",
                "WAL_ARCHIVE": place.folder(f"archive-{self.name}"),
                "SECRETS": place.path("secrets"),
                "TLS": certificate(place, "server", f"{self.name}/tls"),
                "PATH": f"{place.path('deploy/backup')}:{POSTGRES}:{os.environ['PATH']}",
            },
        )

    def refuses_strangers(self):
        """Patroni's REST address changes nothing for a caller without the password."""
        ask = ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "--cacert", self.authority, "-X", "POST"]
        status = self.place.run([*ask, f"https://127.0.0.1:{self.check_port}/restart", "-d", "{}"])
        if status != "401":
            raise Failed(f"Patroni answers a restart without a password with {status}")

    def says(self, path):
        return get(f"https://127.0.0.1:{self.check_port}{path}", 3, authority=self.authority)

    def is_leader(self):
        return self.says("/primary")[0] == 200

    def is_synchronous(self):
        return self.says("/sync")[0] == 200

    def crash(self):
        """As if the machine were gone: first who would start PostgreSQL again, then PostgreSQL with all its children."""
        with open(f"{self.data}/postmaster.pid") as file:
            postmaster = int(file.readline())
        children = [int(pid) for pid in self.place.run(["pgrep", "-P", postmaster], expected=None).split()]
        watcher = self.place.processes.pop(self.name)
        for process in [watcher.pid, postmaster, *children]:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        watcher.wait()


class Cluster:
    """Two members, and HAProxy, which leads to whichever leads."""

    def __init__(self, place):
        self.place, self.etcd = place, Etcd(place)
        self.members = [Member(place, name, self.etcd) for name in ("member-a", "member-b")]
        self.port = place.port()

    @property
    def hosts(self):
        return f"127.0.0.1:{self.port}"

    @property
    def parameters(self):
        # HAProxy takes both for good until it has asked them.
        return f"target_session_attrs=primary&sslmode=verify-full&sslrootcert={self.place.path('certificates/ca.pem')}"

    @property
    def leader(self):
        return next((member for member in self.members if member.is_leader()), None)

    def start(self):
        self.etcd.start()
        first, second = self.members
        first.start()
        self.place.until("a leader", first.is_leader, 90)
        second.start()
        self.place.until("a synchronous standby", second.is_synchronous, 90)
        self.place.start(
            "haproxy",
            [program("haproxy"), "-f", self.place.path("deploy/haproxy/haproxy.cfg")],
            {
                "HAPROXY_LISTEN": self.hosts,
                "MEMBER_A": f"127.0.0.1:{first.port}",
                "MEMBER_A_CHECK": first.check_port,
                "MEMBER_B": f"127.0.0.1:{second.port}",
                "MEMBER_B_CHECK": second.check_port,
                "PATRONI_CA": first.authority,
            },
        )
        for member in self.members:
            member.refuses_strangers()
        self.place.until("HAProxy", lambda: self.query("SELECT 1", expected=None) == [["1"]])

    def query(self, sql, database="humon", expected=(0,)):
        with open(self.place.path("secrets/postgres_password")) as file:
            environment = {"PGPASSWORD": file.read().strip(), "PGCONNECT_TIMEOUT": 5}
            environment |= {"PGSSLMODE": "verify-full", "PGSSLROOTCERT": self.place.path("certificates/ca.pem")}
        return query(self.place, sql, database, "127.0.0.1", self.port, environment, expected)


class Pooler:
    def __init__(self, place, database):
        self.place, self.database, self.port = place, database, place.port()

    @property
    def hosts(self):
        return f"127.0.0.1:{self.port}"

    def start(self):
        place = self.place
        with open(place.path("secrets/server_password")) as file:
            users = place.write("pgbouncer/users", f'"humon_server" "{file.read().strip()}"\n', 0o600)
        text = render(
            place.path("deploy/pgbouncer/pgbouncer.ini.template"),
            {
                "DATABASE": f"host=127.0.0.1 port={self.database.port}",
                "POOLER_ADDRESS": "127.0.0.1",
                "POOLER_PORT": self.port,
                "POOLER_USERS": users,
            },
        )
        place.start("pgbouncer", [program("pgbouncer"), place.write("pgbouncer/pgbouncer.ini", text)])
