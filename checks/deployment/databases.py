"""The forms of PostgreSQL: a single server, a cluster with failover, and behind a pooler."""

import os, re, shutil, signal

from cluster import binaries
from proxy import deployed, get
from sandbox import Failed, program, render

# PostgreSQL's own programs are not in the PATH of Debian.
POSTGRES = binaries()


def query(sandbox, sql, database, host, port, environment={}, expected=(0,), user="postgres"):
    """Rows as lists of texts."""
    how = f"-XAtq -F \t -v ON_ERROR_STOP=1 -h {host} -p {port} -U {user} -d {database}"
    text = sandbox.run([f"{POSTGRES}/psql", *how.split(" "), "-c", sql], environment, expected=expected)
    return [line.split("\t") for line in text.splitlines()]


def certificate(sandbox, name, folder="etcd-tls"):
    """A server's directory with its certificate and key, made by deploy/make-certificates."""
    made = sandbox.path("certificates")
    if not os.path.exists(f"{made}/{name}.crt"):
        sandbox.run([sandbox.path("deploy/make-certificates"), made, name])
    own = sandbox.folder(folder, 0o700)
    for file in ("ca.pem", f"{name}.crt", f"{name}.key"):
        sandbox.give(shutil.copy(f"{made}/{file}", own))
    return own


class Postgres:
    """One server, as in docker-compose.yml."""

    parameters = ""

    def __init__(self, sandbox):
        self.sandbox, self.port = sandbox, sandbox.port()
        self.data, self.archive = sandbox.path("postgres"), sandbox.folder("archive")
        self.environment = {
            "PATH": f"{sandbox.path('deploy/backup')}:{POSTGRES}:{os.environ['PATH']}",
            "WAL_ARCHIVE": self.archive,
            "SECRETS": sandbox.path("secrets"),
        }

    @property
    def hosts(self):
        return f"127.0.0.1:{self.port}"

    def create(self):
        how = "--username postgres --auth-local=reject --auth-host=reject --data-checksums"
        self.sandbox.run([f"{POSTGRES}/initdb", "--pgdata", self.data, *how.split()], self.environment)

    def start(self):
        # Peer authentication needs the account postgres, under which only root can start PostgreSQL.
        if not self.sandbox.account:
            with open(self.sandbox.path("deploy/postgres/pg_hba.conf")) as file:
                self.sandbox.write("deploy/postgres/pg_hba.conf", file.read().replace("peer", "trust"))
        own = {
            "config_file": self.sandbox.path("deploy/postgres/postgresql.conf"),
            "hba_file": self.sandbox.path("deploy/postgres/pg_hba.conf"),
            "ident_file": f"{self.data}/pg_ident.conf",
            "listen_addresses": "127.0.0.1",
            "port": self.port,
            "unix_socket_directories": self.sandbox.directory,
        }
        settings = [word for name, value in own.items() for word in ("-c", f"{name}={value}")]
        self.sandbox.start("postgres", [f"{POSTGRES}/postgres", "-D", self.data, *settings], self.environment)
        self.sandbox.until("PostgreSQL", self.answers)
        self.check_as_container()

    def check_as_container(self):
        """Runs the health check of docker-compose.yml, which must not write an error to PostgreSQL's log every two seconds."""
        words = re.search(r'test: \["CMD", "pg_isready", (.*)\]', deployed("docker-compose.yml"))[1].replace('"', "").split(", ")
        self.sandbox.run([f"{POSTGRES}/pg_isready", *words, "-p", self.port])
        with open(self.sandbox.path("postgres.log")) as file:
            errors = [line for line in file if "pg_hba.conf" in line]
        if errors:
            raise Failed(f"a health check makes PostgreSQL log {errors}")

    def answers(self):
        try:
            return self.query("SELECT 1", database="postgres") == [["1"]]
        except Failed:
            return False

    def make_roles(self):
        own = self.environment | {"PGHOST": self.sandbox.directory, "PGPORT": self.port}
        self.sandbox.run([self.sandbox.path("deploy/postgres/roles")], own)

    def query(self, sql, database="humon"):
        """Queries as the superuser over the socket."""
        return query(self.sandbox, sql, database, self.sandbox.directory, self.port)


class Etcd:
    """One member of etcd; a real deployment has three on separate machines."""

    def __init__(self, sandbox):
        self.sandbox, self.port, self.peer_port = sandbox, sandbox.port(), sandbox.port()

    def start(self):
        sandbox = self.sandbox
        tls = certificate(sandbox, "etcd")
        settings = render(
            sandbox.path("deploy/etcd/etcd.template"),
            {
                "MEMBER": "one",
                "ETCD_DATA": sandbox.folder("etcd", 0o700),
                "ADDRESS": "127.0.0.1",
                "PEER_PORT": self.peer_port,
                "CLIENT_PORT": self.port,
                "MEMBERS": f"one=https://127.0.0.1:{self.peer_port}",
                "TLS": tls,
            },
        )
        environment = dict(line.split("=", 1) for line in settings.splitlines() if not line.startswith("#"))
        sandbox.start("etcd", [program("etcd")], environment)
        address, authority = f"https://127.0.0.1:{self.port}", f"{tls}/ca.pem"
        sandbox.until("etcd", lambda: get(f"{address}/health", authority=authority)[0] == 200)
        client = {"ETCDCTL_API": "3", "ETCDCTL_ENDPOINTS": address, "ETCDCTL_CACERT": authority}
        sandbox.run([sandbox.path("deploy/etcd/enable-authentication"), sandbox.path("secrets")], client)
        if sandbox.ends_well([program("etcdctl"), "get", "--prefix", "/"], client):
            raise Failed("etcd answers a client without a password")


class Member:
    """One PostgreSQL under the control of Patroni."""

    def __init__(self, sandbox, name, etcd):
        self.sandbox, self.name, self.etcd = sandbox, name, etcd
        self.port, self.check_port = sandbox.port(), sandbox.port()
        self.data, self.archive = sandbox.path(name, "data"), sandbox.folder("archive")

    @property
    def authority(self):
        return self.sandbox.path(self.name, "tls/ca.pem")

    def start(self):
        sandbox = self.sandbox
        sandbox.folder(self.name, 0o700)
        with open(sandbox.path("deploy/patroni/patroni.yml")) as file:
            text = file.read().replace("/var/run/postgresql", sandbox.directory).replace("shared_buffers: 2GB", "shared_buffers: 128MB")
        # As for a single server: only root can start PostgreSQL as the account postgres.
        sandbox.write("deploy/patroni/patroni.yml", text if sandbox.account else text.replace("peer", "trust"))
        sandbox.start(
            self.name,
            [sandbox.path("deploy/patroni/humon-patroni")],
            {
                "PATRONI_NAME": self.name,
                "PATRONI_RESTAPI_LISTEN": f"127.0.0.1:{self.check_port}",
                "PATRONI_RESTAPI_CONNECT_ADDRESS": f"127.0.0.1:{self.check_port}",
                "PATRONI_POSTGRESQL_LISTEN": f"127.0.0.1:{self.port}",
                "PATRONI_POSTGRESQL_CONNECT_ADDRESS": f"127.0.0.1:{self.port}",
                "PATRONI_POSTGRESQL_DATA_DIR": self.data,
                "PATRONI_POSTGRESQL_BIN_DIR": POSTGRES,
                "PATRONI_POSTGRESQL_PGPASS": sandbox.path(f"pgpass-{self.name}"),
                "PATRONI_ETCD3_HOSTS": f"127.0.0.1:{self.etcd.port}",
                "WAL_ARCHIVE": self.archive,
                "SECRETS": sandbox.path("secrets"),
                "TLS": certificate(sandbox, "server", f"{self.name}/tls"),
                "PATH": f"{sandbox.path('deploy/backup')}:{POSTGRES}:{os.environ['PATH']}",
            },
        )

    def refuses_strangers(self):
        """Checks that Patroni's REST address refuses a change without the password."""
        ask = ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "--cacert", self.authority, "-X", "POST"]
        status = self.sandbox.run([*ask, f"https://127.0.0.1:{self.check_port}/restart", "-d", "{}"])
        if status != "401":
            raise Failed(f"Patroni answers a restart without a password with {status}")

    def ask(self, path):
        return get(f"https://127.0.0.1:{self.check_port}{path}", 3, authority=self.authority)

    def is_leader(self):
        return self.ask("/primary")[0] == 200

    def is_synchronous(self):
        return self.ask("/sync")[0] == 200

    def crash(self):
        """Kills all processes as a lost machine does: Patroni first, which would restart PostgreSQL, then PostgreSQL."""
        with open(f"{self.data}/postmaster.pid") as file:
            postmaster = int(file.readline())
        children = [int(pid) for pid in self.sandbox.run(["pgrep", "-P", postmaster], expected=None).split()]
        watcher = self.sandbox.processes.pop(self.name)
        for process in [watcher.pid, postmaster, *children]:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        watcher.wait()


class Cluster:
    """Two members, and HAProxy, which connects to the leader."""

    def __init__(self, sandbox):
        self.sandbox, self.etcd = sandbox, Etcd(sandbox)
        self.members = [Member(sandbox, name, self.etcd) for name in ("member-a", "member-b")]
        self.port = sandbox.port()

    @property
    def hosts(self):
        return f"127.0.0.1:{self.port}"

    @property
    def parameters(self):
        # Until its first checks HAProxy considers both members healthy.
        return f"target_session_attrs=primary&sslmode=verify-full&sslrootcert={self.sandbox.path('certificates/ca.pem')}"

    @property
    def leader(self):
        return next((member for member in self.members if member.is_leader()), None)

    def start(self):
        self.etcd.start()
        first, second = self.members
        first.start()
        self.sandbox.until("a leader", first.is_leader, 90)
        second.start()
        self.sandbox.until("a synchronous standby", second.is_synchronous, 90)
        # Root gives its rights up; another account has none to give up.
        with open(self.sandbox.path("deploy/haproxy/haproxy.cfg")) as file:
            text = file.read()
        if not self.sandbox.account:
            text = re.sub(r"(?m)^    (user|group|chroot) .*\n", "", text)
        self.sandbox.start(
            "haproxy",
            [program("haproxy"), "-f", self.sandbox.write("deploy/haproxy/haproxy.cfg", text)],
            {
                "HAPROXY_LISTEN": self.hosts,
                "MEMBER_A": f"127.0.0.1:{first.port}",
                "MEMBER_A_CHECK": first.check_port,
                "MEMBER_B": f"127.0.0.1:{second.port}",
                "MEMBER_B_CHECK": second.check_port,
                "PATRONI_CA": first.authority,
            },
            identity={"user": 0, "group": 0} if self.sandbox.account else None,
        )
        for member in self.members:
            member.refuses_strangers()
        self.sandbox.until("HAProxy", lambda: self.as_client("humon_owner", "owner_password") == [["1"]])
        if self.as_client("postgres", "postgres_password"):
            raise Failed("the superuser may connect over the network")
        if self.sandbox.account and os.stat(f"/proc/{self.sandbox.processes['haproxy'].pid}").st_uid == 0:
            raise Failed("HAProxy serves as root")

    def as_client(self, user, password, database="humon", port=None):
        """Rows of a query through HAProxy, or at the port of a member; none if it fails."""
        with open(self.sandbox.path("secrets", password)) as file:
            environment = {"PGPASSWORD": file.read().strip(), "PGCONNECT_TIMEOUT": 5}
        environment |= {"PGSSLMODE": "verify-full", "PGSSLROOTCERT": self.sandbox.path("certificates/ca.pem")}
        return query(self.sandbox, "SELECT 1", database, "127.0.0.1", port or self.port, environment, None, user)

    def query(self, sql, database="humon"):
        """Queries the leader as the superuser over its socket."""
        return query(self.sandbox, sql, database, self.sandbox.directory, self.leader.port)


class Pooler:
    def __init__(self, sandbox, database):
        self.sandbox, self.database, self.port = sandbox, database, sandbox.port()

    @property
    def hosts(self):
        return f"127.0.0.1:{self.port}"

    def start(self):
        sandbox = self.sandbox
        with open(sandbox.path("secrets/server_password")) as file:
            users = sandbox.write("pgbouncer/users", f'"humon_server" "{file.read().strip()}"\n', 0o600)
        text = render(
            sandbox.path("deploy/pgbouncer/pgbouncer.ini.template"),
            {
                "DATABASE": f"host=127.0.0.1 port={self.database.port}",
                "POOLER_ADDRESS": "127.0.0.1",
                "POOLER_PORT": self.port,
                "POOLER_USERS": users,
            },
        )
        sandbox.start("pgbouncer", [program("pgbouncer"), sandbox.write("pgbouncer/pgbouncer.ini", text)])
