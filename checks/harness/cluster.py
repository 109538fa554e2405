"""The programs of PostgreSQL."""

import glob, os, shutil, subprocess, sys, tempfile


def binaries():
    """The folder of the newest version, or else of the one in PATH."""
    folders = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]))
    if folders:
        return folders[-1]
    found = shutil.which("pg_ctl")
    return os.path.dirname(found) if found else sys.exit("PostgreSQL is not installed: run make install")


def as_postgres(program, *arguments):
    """Runs one of the programs under an account that PostgreSQL accepts, and returns its output."""
    account = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"] if os.getuid() == 0 else []
    # Not a pipe: a server that pg_ctl starts would keep it open.
    with tempfile.TemporaryFile("w+") as output:
        result = subprocess.run([*account, f"{binaries()}/{program}", *arguments], stdout=output, stderr=output, cwd="/")
        output.seek(0)
        text = output.read()
    if result.returncode != 0:
        sys.exit(f"{program} ended with {result.returncode}: {text}")
    return text
