"""Base backups, their retention and a tried restore, by the scripts of deploy/backup."""

import glob, os, re, shutil, time

from place import Failed


def backups(topology):
    place, database = topology.place, topology.database
    folder, metrics = place.folder("backups-tried", 0o700), place.folder("metrics")
    own = {
        "PATH": f"{place.directory}:{place.path('deploy/backup')}:{os.environ['PATH']}",
        "BACKUPS": folder,
        "WAL_ARCHIVE": database.archive,
        "METRICS": metrics,
        "PGHOST": "127.0.0.1",
        "PGPORT": database.port,
        "PGUSER": "humon_backup",
        "PGPASSWORD_FILE": place.path("secrets/backup_password"),
        "BACKUPS_KEPT": 2,
    }
    place.run(["humon-backup"], own)
    first = newest(folder)
    time.sleep(1.1)  # the names of backups are seconds
    place.run(["humon-backup"], own)
    second = newest(folder)
    if not os.path.exists(first) or first == second:
        raise Failed(f"of two backups to be kept there are {os.listdir(folder)}")
    # Something that only the archive has.
    place.run(["curl", "-sf", "-X", "POST", "-H", f"tb-app-secret: {topology.secret}", f"{topology.proxy.url}/v1/users"])
    position = int(database.query("SELECT log.tail()")[0][0])
    archive_all(place, database)

    begin = time.monotonic()
    said = place.run(["humon-try-restore"], own)
    seconds = time.monotonic() - begin
    if f"ends at position {position}, and is sound" not in said:
        raise Failed(f"at position {position} a trial of the backup says {said}")
    if glob.glob(f"{folder}/trial.*"):
        raise Failed("a trial of the backup was left behind")

    # A gap is not taken for the end of the archive.
    segments = sorted(glob.glob(f"{database.archive}/????????????????????????.gz"))
    database.query("SELECT pg_switch_wal()", database="postgres")
    lost = segments[-1]
    database.query("CREATE TABLE IF NOT EXISTS public.gap (); DROP TABLE public.gap")
    archive_all(place, database)
    shutil.move(lost, f"{lost}.lost")
    if place.ends_well(["humon-try-restore"], own):
        raise Failed("an archive with a gap was restored without a word")
    shutil.move(f"{lost}.lost", lost)

    time.sleep(1.1)
    place.run(["humon-backup"], own)
    left = sorted(glob.glob(f"{database.archive}/????????????????????????.gz"))
    if os.path.exists(first) or not os.path.exists(second) or not set(segments) - set(left):
        raise Failed(f"two backups are to be kept, and their WAL: there are {os.listdir(folder)} and {left}")
    for name in ("humon_backup.prom", "humon_restore.prom"):
        if not re.search(r"^humon_backup_last_\w+ \d{10}$", place_text(metrics, name), re.M):
            raise Failed(f"{name} does not say when")
    return f"restored to position {position} and verified within {seconds:.1f} s; a gap is noticed; 2 backups and their WAL are kept"


def archive_all(place, database):
    """Waits until all WAL that was written is in the archive."""
    name = database.query("SELECT pg_walfile_name(pg_current_wal_lsn())", database="postgres")[0][0]
    database.query("SELECT pg_switch_wal()", database="postgres")
    place.until("the archive", lambda: os.path.exists(f"{database.archive}/{name}.gz"))


def newest(folder):
    return max(glob.glob(f"{folder}/????-??-??T??????Z"))


def place_text(folder, name):
    with open(os.path.join(folder, name)) as file:
        return file.read()
