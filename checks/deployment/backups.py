"""Tests base backups, their retention and a trial restore with the scripts of deploy/backup."""

import glob, os, re, shutil, time

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
    if f"ends at position {position}, and is sound" not in said:
        raise Failed(f"at position {position} the trial restore printed {said}")
    if glob.glob(f"{folder}/trial.*"):
        raise Failed("a trial restore was left behind")

    # A gap must not count as the end of the archive.
    segments = sorted(glob.glob(f"{database.archive}/????????????????????????.gz"))
    database.query("SELECT pg_switch_wal()", database="postgres")
    lost = segments[-1]
    database.query("CREATE TABLE IF NOT EXISTS public.gap (); DROP TABLE public.gap")
    archive_all(sandbox, database)
    shutil.move(lost, f"{lost}.lost")
    if sandbox.ends_well(["humon-try-restore"], own):
        raise Failed("an archive with a gap was restored without an error")
    if "humon_backup_restore_failures 1\n" not in text_of(metrics, "humon_restore.prom"):
        raise Failed("the metrics do not have the failed trial")
    # The service of docker-compose.yml repeats a failed trial soon, not after the next backup.
    sandbox.start("daily", [sandbox.path("deploy/backup/humon-backup-daily")], own | {"RETRY_SECONDS": 1})
    sandbox.until("the next failed trial", lambda: "humon_backup_restore_failures 2\n" in text_of(metrics, "humon_restore.prom"))
    shutil.move(f"{lost}.lost", lost)
    sandbox.until("a trial that succeeds", lambda: "humon_backup_restore_failures 0\n" in text_of(metrics, "humon_restore.prom"))
    sandbox.stop("daily")

    time.sleep(1.1)
    sandbox.run(["humon-backup"], own)
    left = sorted(glob.glob(f"{database.archive}/????????????????????????.gz"))
    if os.path.exists(first) or not os.path.exists(second) or not set(segments) - set(left):
        raise Failed(f"expected two backups and their WAL, found {os.listdir(folder)} and {left}")
    shared(deployment, own)
    for name in ("humon_backup.prom", "humon_restore.prom"):
        if not re.search(r"^humon_backup_last_\w+ \d{10}$", text_of(metrics, name), re.M):
            raise Failed(f"{name} has no time")
    return f"restored to position {position} and verified within {seconds:.1f} s; a gap is noticed, and tried again; 2 backups and their WAL are kept, also of two machines"


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
