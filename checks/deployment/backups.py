"""Tests base backups, their retention and restores with the scripts of deploy/backup."""

import contextlib, datetime, glob, os, re, shutil, signal, threading, time

from sandbox import Failed


def backups(deployment):
    sandbox, database = deployment.sandbox, deployment.database
    folder, metrics = sandbox.folder("backups-tried", 0o700), sandbox.folder("metrics")
    own = {
        "PATH": f"{sandbox.directory}:{sandbox.path('deploy/backup')}:{os.environ['PATH']}",
        "BACKUPS": folder,
        "WAL_ARCHIVE": database.archive,
        "METRICS": metrics,
        "PGHOST": "127.0.0.1",
        "PGPORT": database.port,
        "PGUSER": "humon_backup",
        "PGPASSWORD_FILE": sandbox.path("secrets/backup_password"),
        "BACKUPS_KEPT": 2,
    }
    sandbox.run(["humon-backup"], own)
    first = newest(folder)
    time.sleep(1.1)  # a backup is named by its second
    sandbox.run(["humon-backup"], own)
    second = newest(folder)
    if not os.path.exists(first) or first == second:
        raise Failed(f"expected two backups, found {os.listdir(folder)}")
    # A user that only the archive contains.
    sandbox.run(["curl", "-sf", "-X", "POST", "-H", f"tb-app-secret: {deployment.secret}", f"{deployment.proxy.url}/v1/users"])
    position = int(database.query("SELECT log.tail()")[0][0])
    archive_all(sandbox, database)

    begin = time.monotonic()
    said = sandbox.run(["humon-try-restore"], own)
    seconds = time.monotonic() - begin
    if not is_sound(said, position) or not re.search(r"a restore would take \d+ s, and lose what was written since the newest segment of the archive, \d+ s ago", said):
        raise Failed(f"at position {position} the trial restore printed {said}")
    if glob.glob(f"{folder}/trial.*"):
        raise Failed("a trial restore was left behind")
    moment = restores(deployment, own, position)

    # A gap must not count as the end of the archive.
    segments = sorted(glob.glob(f"{database.archive}/????????????????????????.gz"))
    database.query("SELECT pg_switch_wal()", database="postgres")
    lost = segments[-1]
    database.query("CREATE TABLE IF NOT EXISTS public.gap (); DROP TABLE public.gap")
    archive_all(sandbox, database)
    shutil.move(lost, f"{lost}.lost")
    kept_aside(deployment, own, "has a gap", "of-gap")
    if sandbox.ends_well(["humon-try-restore"], own):
        raise Failed("an archive with a gap was restored without an error")
    if "humon_backup_restore_failures 1\n" not in text_of(metrics, "humon_restore.prom"):
        raise Failed("the metrics do not have the failed trial")
    restore(deployment, own, "before-gap", position, moment)
    kept_aside(deployment, own | {"WAL_ARCHIVE": sandbox.folder("archive-empty")}, "is empty, of another database, or not mounted", "of-empty")
    # The service of docker-compose.yml repeats a failed trial soon, not after the next backup.
    sandbox.start("daily", [sandbox.path("deploy/backup/humon-backup-daily")], own | {"RETRY_SECONDS": 1})
    sandbox.until("the next failed trial", lambda: "humon_backup_restore_failures 2\n" in text_of(metrics, "humon_restore.prom"))
    shutil.move(f"{lost}.lost", lost)
    sandbox.until("a trial that succeeds", lambda: "humon_backup_restore_failures 0\n" in text_of(metrics, "humon_restore.prom"))
    sandbox.stop("daily")

    time.sleep(1.1)
    # A failure after the backup would have each repetition push an old one out.
    os.chmod(metrics, 0o500)
    sandbox.run(["humon-backup"], own)
    os.chmod(metrics, 0o755)
    if not os.path.exists(second):
        raise Failed(f"expected the second backup beside the third, found {os.listdir(folder)}")
    sandbox.run(["humon-try-restore"], own)
    left = sorted(glob.glob(f"{database.archive}/????????????????????????.gz"))
    if os.path.exists(first) or not os.path.exists(second) or not set(segments) - set(left):
        raise Failed(f"expected two backups and their WAL, found {os.listdir(folder)} and {left}")
    shared(deployment, own)
    for name in ("humon_backup.prom", "humon_restore.prom"):
        if not re.search(r"^humon_backup_last_\w+ \d{10}$", text_of(metrics, name), re.M):
            raise Failed(f"{name} has no time")
    return f"restored to position {position} and verified within {seconds:.1f} s, and to a moment; eleven refusals; what lacks WAL or differs is kept aside; a gap is tried again; 2 backups and their WAL are kept, also of two machines"


def restores(deployment, own, position):
    """Restores to a moment after which something was written, and refuses what cannot be restored. Returns the moment."""
    sandbox, database = deployment.sandbox, deployment.database
    time.sleep(1.1)  # a moment has whole seconds
    moment = now()
    time.sleep(1.1)
    sandbox.run(["curl", "-sf", "-X", "POST", "-H", f"tb-app-secret: {deployment.secret}", f"{deployment.proxy.url}/v1/users"])
    archive_all(sandbox, database)
    archives(deployment, own)
    restore(deployment, own, "at-moment", position, moment)
    # Of a shell with settings that only root can read, and of places behind symbolic links.
    strange = {name: sandbox.path(f"{name}-link") for name in ("BACKUPS", "WAL_ARCHIVE")}
    for name, path in strange.items():
        os.symlink(own[name], path)
    restore(deployment, own | strange | {"TB_APP_SECRET_FILE": "/nowhere", "HUMON_BACKUP_DAYS": "9"}, "at-end", position + 1)
    backup = newest(own["BACKUPS"])
    refused(deployment, own, "has no time zone", moment.removesuffix("Z"))
    refused(deployment, own, "is no time", "2026-13-01T00:00:00Z")
    refused(deployment, own, "is in the future", "2999-01-01T00:00:00Z")
    refused(deployment, own, "No sound backup in", "2020-01-01T00:00:00Z")
    time.sleep(1.1)
    refused(deployment, own, "The archive ends before", now())
    differing(deployment, own)
    # An older backup has the same end, which a trial of the newest does not accept.
    os.rename(f"{backup}/PG_VERSION", f"{backup}/away")
    restore(deployment, own, "of-older", position + 1)
    os.rename(f"{backup}/away", f"{backup}/PG_VERSION")
    with changed(f"{backup}/backup_manifest", b""):
        restore(deployment, own, "of-older-again", position + 1)
    with changed(f"{backup}/base/1/pg_filenode.map", b"\xff" * 512):
        failed = sandbox.finished(["humon-try-restore"], own)
        if failed.returncode != 1 or f"The newest backup, {os.path.basename(backup)}, was passed over" not in failed.stderr:
            raise Failed(f"of a damaged backup, humon-try-restore printed {failed.stderr}")
    os.remove(f"{own['BACKUPS']}/.failures")
    # What is archived during a recovery is no gap.
    with archiving(database):
        sandbox.run(["humon-try-restore"], own)
    with changed(f"{backup}/PG_VERSION", b"99\n"):
        refused(deployment, own, "postgresql-99")
    kept = sandbox.folder("kept")
    said = sandbox.finished(["humon-restore", kept], own)
    if said.returncode != 1 or "exists already" not in said.stderr or os.listdir(kept):
        raise Failed(f"into a directory that exists, humon-restore printed {said.stderr}")
    if os.geteuid() == 0:
        for program in ("humon-backup", "humon-try-restore", "humon-restore"):
            said = sandbox.finished([program, sandbox.path("of-root")], own, identity={"user": 0})
            if said.returncode != 1 or "root does not own" not in said.stderr:
                raise Failed(f"as root, {program} printed {said.stderr}")
    # Two at once, and an end in the middle.
    path = sandbox.path("restored")
    process = sandbox.start("restore", ["humon-restore", path], own)
    sandbox.until("a restore that has begun", lambda: os.path.exists(f"{path}.unfinished"))
    process.send_signal(signal.SIGSTOP)
    second = sandbox.finished(["humon-restore", path], own)
    if second.returncode != 1 or "Another restore" not in second.stderr:
        raise Failed(f"beside another restore, humon-restore printed {second.stderr}")
    meanwhile = sandbox.finished(["humon-backup"], own)
    if meanwhile.returncode != 1 or "or a restore" not in meanwhile.stderr or not os.path.exists(f"{path}.unfinished/PG_VERSION"):
        raise Failed(f"beside a restore, humon-backup printed {meanwhile.stderr}")
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGCONT)
    sandbox.stop("restore")
    if process.returncode != 143 or glob.glob(f"{path}*"):
        raise Failed(f"a restore that was ended left {glob.glob(f'{path}*')}; status {process.returncode}")
    # What the archive lacks, and the disk still has.
    sandbox.run(["curl", "-sf", "-X", "POST", "-H", f"tb-app-secret: {deployment.secret}", f"{deployment.proxy.url}/v1/users"])
    restore(deployment, own | {"LOST_WAL": f"{sandbox.folder('lost-again')}:{database.data}/pg_wal"}, "of-lost", position + 2)
    refused(deployment, own | {"LOST_WAL": "/nowhere"}, "LOST_WAL: /nowhere is no absolute path of a directory")
    # In a segment of its own, which can then be missing.
    database.query("CREATE TABLE IF NOT EXISTS public.after (); DROP TABLE public.after")
    archive_all(sandbox, database)
    return moment


def differing(deployment, own):
    """A database whose read models differ is restored all the same, since its log is what counts."""
    database = deployment.database
    row = "SELECT * FROM users_v1.users ORDER BY id DESC LIMIT 1"
    database.query(f"CREATE TABLE public.row AS {row}; DELETE FROM users_v1.users WHERE id IN (SELECT id FROM public.row)")
    try:
        archive_all(deployment.sandbox, database)
        kept_aside(deployment, own, "Read models are missing, or differ from the log", "of-differing")
    finally:
        database.query("INSERT INTO users_v1.users SELECT * FROM public.row; DROP TABLE public.row")
    archive_all(deployment.sandbox, database)


def archives(deployment, own):
    """What humon-archive-wal says to PostgreSQL's log if it cannot archive, and that it archives the same file twice."""
    sandbox = deployment.sandbox
    path, folder = sandbox.write("segment", "WAL"), sandbox.folder("archive-tried")

    def archived(archive, text):
        sandbox.write("segment", text)
        return sandbox.finished(["humon-archive-wal", path, "000000010000000000000001"], own | {"WAL_ARCHIVE": archive})

    for archive, text, sentence in (
        (folder, "WAL", ""), (folder, "WAL", ""), (folder, "other", "has other content than"),
        ("", "WAL", "WAL_ARCHIVE is not in PostgreSQL's environment"), (sandbox.path("missing"), "WAL", "is not there"),
    ):
        said = archived(archive, text)
        if said.returncode != (1 if sentence else 0) or sentence not in said.stderr or (sentence and "keeps all WAL" not in said.stderr):
            raise Failed(f"into {archive!r} humon-archive-wal ended with {said.returncode}: {said.stderr}")
    sandbox.run(["humon-archive-wal", path, "000000010000000000000001.00000028.backup"], own | {"WAL_ARCHIVE": folder})
    if os.listdir(folder) != ["000000010000000000000001.gz"]:
        raise Failed(f"humon-archive-wal archived {os.listdir(folder)}")


def restore(deployment, own, name, position, *moment):
    path = deployment.sandbox.path(name)
    said = deployment.sandbox.run(["humon-restore", path, *moment], own)
    if not is_sound(said, position) or not os.path.exists(f"{path}/PG_VERSION") or os.path.exists(f"{path}.unfinished"):
        raise Failed(f"at position {position} humon-restore printed {said}")


def kept_aside(deployment, own, sentence, name):
    path = deployment.sandbox.path(name)
    said = deployment.sandbox.finished(["humon-restore", path], own)
    if said.returncode != 1 or sentence not in said.stderr or glob.glob(f"{path}*") != [f"{path}.faulty"] or not os.path.exists(f"{path}.faulty/PG_VERSION"):
        raise Failed(f"expected {sentence!r}, and {path}.faulty; found {glob.glob(f'{path}*')}; status {said.returncode}: {said.stderr}")


def refused(deployment, own, sentence, *moment):
    path = deployment.sandbox.path("refused")
    said = deployment.sandbox.finished(["humon-restore", path, *moment], own)
    if said.returncode != 1 or sentence not in said.stderr or glob.glob(f"{path}*"):
        raise Failed(f"expected {sentence!r}, and nothing left; status {said.returncode}: {said.stderr}")


@contextlib.contextmanager
def archiving(database):
    """Meanwhile the database archives a segment every 0.3 s."""
    over = threading.Event()

    def write():
        while not over.wait(0.3):
            database.query("CREATE TABLE IF NOT EXISTS public.busy (); DROP TABLE public.busy")
            database.query("SELECT pg_switch_wal()", database="postgres")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        over.set()
        writer.join()


@contextlib.contextmanager
def changed(path, content):
    """A file that has other content for a while."""
    with open(path, "rb") as file:
        before = file.read()
    for text in (content, before):
        with open(path, "r+b") as file:
            file.write(text)
            file.truncate()
        if text is content:
            yield


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def is_sound(said, position):
    return re.search(rf"the log ends at position {position}, recorded at \d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d, and is sound", said)


def shared(deployment, own):
    """Two machines with one archive, as the members of Patroni: each keeps the WAL that the other's backups need."""
    sandbox, database = deployment.sandbox, deployment.database
    other = own | {"BACKUPS": sandbox.folder("backups-of-another", 0o700), "METRICS": sandbox.folder("metrics-of-another")}

    def back_up_a_day_later(machine):
        database.query("CREATE TABLE IF NOT EXISTS public.day (); DROP TABLE public.day")
        archive_all(sandbox, database)
        time.sleep(1.1)
        sandbox.run(["humon-backup"], machine | {"BACKUPS_KEPT": 1})

    def segments():
        return set(glob.glob(f"{database.archive}/????????????????????????.gz"))

    back_up_a_day_later(other)
    needed = segments()
    for _ in range(2):
        back_up_a_day_later(own)
    sandbox.run(["humon-try-restore"], other)
    if len(os.listdir(f"{database.archive}/needed")) != 2:
        raise Failed("the archive does not know both machines")
    back_up_a_day_later(other)
    if not needed - segments():
        raise Failed("the archive keeps WAL that neither machine needs")


def archive_all(sandbox, database):
    """Waits until all WAL that was written is in the archive."""
    name = database.query("SELECT pg_walfile_name(pg_current_wal_lsn())", database="postgres")[0][0]
    database.query("SELECT pg_switch_wal()", database="postgres")
    sandbox.until("the archive", lambda: os.path.exists(f"{database.archive}/{name}.gz"))


def newest(folder):
    return max(glob.glob(f"{folder}/????-??-??T??????Z"))


def text_of(folder, name):
    with open(os.path.join(folder, name)) as file:
        return file.read()
