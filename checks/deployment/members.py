"""Two members of Patroni over time: certificates that end, and backups of both across a fail-over."""

import datetime, os, signal, socket, ssl, struct, time

from backups import is_sound
from databases import POSTGRES, query
from proxy import get
from sandbox import Failed, program


def certificates(deployment):
    """Lets the certificates of PostgreSQL, Patroni and etcd end, after they were renewed without a stop."""
    sandbox, database = deployment.sandbox, deployment.database
    leader = database.leader
    began = database.query("SELECT pg_postmaster_start_time()", "postgres")
    lasts = 20
    # The clock of this command is moved back, so that the certificates end soon.
    then = datetime.datetime.now() - datetime.timedelta(days=825) + datetime.timedelta(seconds=lasts)
    renew(database, {"LEFT": 10_000}, [program("faketime"), then.strftime("%Y-%m-%d %H:%M:%S")])
    end = time.monotonic() + lasts
    sandbox.until("servers with certificates that end soon", lambda: all(left(sandbox, address) < lasts for address in served(database)))
    if not answered(database):
        raise Failed("servers whose certificates end soon do not answer")
    renewed = renew(database, {})
    if len(renewed) != 2:
        raise Failed(f"expected two renewed certificates, not {renewed}")
    sandbox.until("servers with new certificates", lambda: all(left(sandbox, address) > 86_400 for address in served(database)))
    time.sleep(max(0, end - time.monotonic()) + 1)
    if not answered(database):
        raise Failed("servers with renewed certificates do not answer")
    if database.leader is not leader or database.query("SELECT pg_postmaster_start_time()", "postgres") != began:
        raise Failed("the renewal stopped PostgreSQL")
    return "PostgreSQL, Patroni and etcd answer after their certificates ended, with renewed ones and without a restart"


def renew(database, settings, before=[]):
    """Renews the certificates in their directory, and copies them to the servers. Returns the paths of the new ones."""
    sandbox, made = database.sandbox, database.sandbox.path("certificates")
    renewed = sandbox.run([*before, sandbox.path("deploy/make-certificates"), "--renew", made], settings).split()
    places = [("etcd", sandbox.path("etcd-tls"))] + [("server", sandbox.path(member.name, "tls")) for member in database.members]
    for name, folder in places:
        with open(f"{made}/{name}.crt") as file:
            sandbox.write(f"{folder}/{name}.crt.new", file.read())
        os.rename(f"{folder}/{name}.crt.new", f"{folder}/{name}.crt")
    for member in database.members:  # systemctl reload patroni
        os.kill(sandbox.processes[member.name].pid, signal.SIGHUP)
    return renewed


def served(database):
    yield database.etcd.port, False
    for member in database.members:
        yield member.check_port, False
        yield member.port, True


def left(sandbox, address):
    """The seconds until the certificate ends that a server shows; not a number without an answer."""
    port, is_postgres = address
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as plain:
            if is_postgres:
                plain.sendall(struct.pack("!ii", 8, 80877103))  # SSLRequest
                plain.recv(1)
            with context.wrap_socket(plain) as secure:
                path = sandbox.write("shown.crt", ssl.DER_cert_to_PEM_cert(secure.getpeercert(binary_form=True)))
    except OSError:
        # Patroni opens its REST address anew for another certificate.
        return float("nan")
    end = sandbox.run([program("openssl"), "x509", "-in", path, "-noout", "-enddate"])
    return ssl.cert_time_to_seconds(end.strip().removeprefix("notAfter=")) - time.time()


def answered(database):
    """Clients that verify certificates reach all servers."""
    authority = database.sandbox.path("certificates/ca.pem")
    paths = [f"https://127.0.0.1:{database.etcd.port}/health"]
    paths += [f"https://127.0.0.1:{member.check_port}/health" for member in database.members]
    return all(get(path, 5, authority=authority)[0] == 200 for path in paths) and all(
        database.as_client("humon_owner", "owner_password", port=port) == [["1"]]
        for port in [database.port, *(member.port for member in database.members)]
    )


def backups_of_members(deployment):
    """Both members back up into one archive; a backup from before a fail-over is restored across it."""
    sandbox, database = deployment.sandbox, deployment.database
    settings = {member: of_member(deployment, member) for member in database.members}
    for own in settings.values():
        sandbox.run(["humon-backup"], own)
    leader = database.leader
    standby = next(member for member in database.members if member is not leader)
    name = query(sandbox, "SHOW restore_command", "postgres", sandbox.directory, standby.port)
    if "humon-restore-wal" not in name[0][0]:
        raise Failed("the standby cannot read the archive")
    leader.crash()
    sandbox.until("another leader", standby.is_leader, 90)
    leader.start()
    sandbox.until("a synchronous standby", leader.is_synchronous, 90)
    # As the superuser's role, pg_rewind would need the superuser's password on the network.
    users = ["curl", "-sf", "-X", "POST", "-H", f"tb-app-secret: {deployment.secret}", f"{deployment.proxy.url}/v1/users"]
    sandbox.until("a write", lambda: sandbox.ends_well(users))
    position = int(database.query("SELECT log.tail()")[0][0])
    segment = database.query("SELECT pg_walfile_name(pg_switch_wal())", "postgres")[0][0]
    sandbox.until("the archive", lambda: os.path.exists(f"{database.members[0].archive}/{segment}.gz"))
    begin = time.monotonic()
    for own in settings.values():
        said = sandbox.run(["humon-try-restore"], own)
        if not is_sound(said, position):
            raise Failed(f"at position {position} the trial restore printed {said}")
    seconds = (time.monotonic() - begin) / 2
    return f"the backups of leader and standby from before a fail-over are restored to position {position}, {seconds:.1f} s each"


def of_member(deployment, member):
    sandbox = deployment.sandbox
    return {
        "PATH": f"{sandbox.directory}:{sandbox.path('deploy/backup')}:{POSTGRES}:{os.environ['PATH']}",
        "BACKUPS": sandbox.folder(f"backups-{member.name}", 0o700),
        "WAL_ARCHIVE": member.archive,
        "PGHOST": "127.0.0.1",
        "PGPORT": member.port,
        "PGUSER": "humon_backup",
        "PGPASSWORD_FILE": sandbox.path("secrets/backup_password"),
        "PGSSLMODE": "verify-full",
        "PGSSLROOTCERT": sandbox.path("certificates/ca.pem"),
    }
