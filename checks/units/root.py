"""A Debian with systemd as process 1, in namespaces of this machine."""

import contextlib, glob, hashlib, os, re, shutil, subprocess, time

from process import Failed, Process
from sandbox import ROOT

SOURCES = "/etc/apt/sources.list.d/debian.sources"
# What Debian's installer brings, and debootstrap does not.
SYSTEM = ("dbus", "iproute2", "procps", "systemd-sysv")
# What the package needs: the machine has no network.
LIBRARIES = ("libisal2", "libjemalloc2", "libpq5", "libssl3", "libstdc++6", "libzstd1")
MAKE_SECONDS = 1200
# The mounts of debootstrap, and what an interrupted installation left running, end with the namespaces.
MAKE = ("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "bash", "-euc", """
root=$0 mirror=$1
shift
debootstrap --variant=minbase bookworm "$root" "$mirror"
rm "$root/etc/apt/sources.list"
cp /etc/apt/sources.list.d/debian.sources "$root/etc/apt/sources.list.d/"
# PostgreSQL's first cluster takes its encoding from it.
echo LANG=C.UTF-8 >"$root/etc/default/locale"
# No service starts while it is installed.
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
chmod 755 "$root/usr/sbin/policy-rc.d"
mount -t proc proc "$root/proc"
chroot "$root" apt-get -q update
chroot "$root" apt-get -q -y --no-install-recommends install "$@"
chroot "$root" apt-get clean
# Debian starts these before they have settings, so they fail.
rm "$root"/etc/systemd/system/multi-user.target.wants/{prometheus,caddy}*
rm "$root/usr/sbin/policy-rc.d"
""")
BOOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "boot")
NAMESPACES = ("unshare", "--mount", "--net", "--pid", "--ipc", "--uts", "--cgroup", "--fork", "--kill-child")
# Joins the group, and ends with this script however that ends.
START = ("sh", "-c", 'echo $$ >"$0/cgroup.procs" && exec setpriv --pdeathsig KILL "$@"')
TRIAL = """
mount --make-rprivate /
mount -t tmpfs tmpfs /mnt
mkdir /mnt/lower /mnt/upper /mnt/work /mnt/root /mnt/groups
mount -t overlay -o lowerdir=/mnt/lower,upperdir=/mnt/upper,workdir=/mnt/work overlay /mnt/root
mount -t cgroup2 cgroup2 /mnt/groups
"""


def refusal():
    """Why this machine cannot boot a root; `None` if it can."""
    if os.geteuid() != 0:
        return "it takes root"
    if not groups():
        return "cgroup2 is not mounted, or cannot be written"
    tried = subprocess.run([*NAMESPACES, "sh", "-euc", TRIAL], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30)
    return " ".join(tried.stderr.split()) or f"unshare ended with {tried.returncode}" if tried.returncode else None


def groups():
    """Where cgroup2 is mounted; beside version 1 it has a folder of its own."""
    for folder in ("/sys/fs/cgroup/unified", "/sys/fs/cgroup"):
        if os.path.exists(f"{folder}/cgroup.procs") and os.access(folder, os.W_OK):
            return folder
    return None


def made(packages):
    """The folder of a root with these packages. Made anew each month, for Debian's updates: about 140 s, 700 MB."""
    names = sorted({*SYSTEM, *LIBRARIES, *packages})
    key = hashlib.sha256(" ".join([time.strftime("%Y-%m"), *MAKE, *names]).encode()).hexdigest()[:12]
    folder = f"{ROOT}/.build/units"
    root = f"{folder}/{key}"
    if os.path.exists(root):
        return root
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    with open(SOURCES) as file:
        mirror = re.search(r"(?m)^URIs: (\S+)", file.read())[1]
    path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    with open(f"{root}.log", "w+") as log:
        done = subprocess.run(
            [*MAKE, f"{root}.new", mirror, *names], stdin=subprocess.DEVNULL, stdout=log, stderr=log, timeout=MAKE_SECONDS,
            env=os.environ | {"PATH": path, "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"})
        log.seek(0)
        if done.returncode:
            raise Failed(f"the root could not be made: {log.read()[-3000:]}")
    os.rename(f"{root}.new", root)
    return root


def layered(folder, humon):
    """Makes what lies over the root when an operator begins: the package, a certificate, and what Debian's installer writes. Returns the package."""
    tls, libraries = f"{folder}/etc/nginx/tls", f"{folder}/usr/local/lib/humon-test"
    for new in (tls, libraries, f"{folder}/etc/ld.so.conf.d"):
        os.makedirs(new)
    subprocess.run([f"{ROOT}/scripts/manual", humon, os.path.dirname(humon)], check=True)
    # A debug build has Swift's libraries from the toolchain, which are in no package.
    command = [f"{ROOT}/scripts/package", humon, f"{folder}/root", "--ignore-missing-info"]
    subprocess.run(command, check=True, env=os.environ | {"COMPRESSION": "none"})
    shutil.rmtree(f"{folder}/root/tree")
    os.chmod(f"{folder}/root", 0o700)
    # PostgreSQL 16 and 18 of one day: Debian's 15 may store what no packaged 18 knows yet.
    shutil.copytree(f"{ROOT}/third-party/postgres", f"{folder}/opt/postgres")
    needed = subprocess.run(["ldd", humon], check=True, capture_output=True, text=True).stdout
    for library in re.findall(r"=> (/\S+)", needed):
        if "/swift/" in library or not re.match(r"(/usr)?/lib/", library):
            shutil.copy(library, libraries)
    subject = "/CN=humon.example.org -keyout key.pem -out certificate.pem"
    request = f"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj {subject}"
    subprocess.run(request.split(), cwd=tls, check=True, capture_output=True)
    for name, text in {
        "hostname": "humon\n",
        "hosts": "127.0.0.1 localhost\n::1 localhost\n127.0.1.1 humon\n",
        "resolv.conf": "",
        "ld.so.conf.d/humon-test.conf": "/usr/local/lib/humon-test\n",
    }.items():
        with open(f"{folder}/etc/{name}", "w") as file:
            file.write(text)
    # The machine has no console.
    os.makedirs(f"{folder}/etc/systemd/system")
    os.symlink("/dev/null", f"{folder}/etc/systemd/system/console-getty.service")
    return glob.glob(f"{folder}/root/humon_*.deb")[0]


@contextlib.contextmanager
def booted(sandbox, layer, root):
    """A machine that runs. At the end its processes and mounts are gone, also after a failure."""
    group = f"{groups()}/{os.path.basename(sandbox.directory)}"
    place = sandbox.path("machine")
    os.mkdir(place)
    os.mkdir(group)
    process = None
    try:
        process = Process("the machine", [*START, group, *NAMESPACES, BOOT, f"{layer}:{root}", place], sandbox.path("machine.log"))
        machine = Machine(sandbox, process)
        machine.boot()
        yield machine
    finally:
        # unshare takes process 1 along, and that takes every other process and the mounts: nothing of the machine is kept.
        if process:
            process.kill()
            process.wait(10)
        remove(group)


def remove(group):
    """Removes a control group whose processes are about to end."""
    deadline = time.monotonic() + 20
    while os.path.exists(group):
        for folder, *_ in os.walk(group, topdown=False):
            with contextlib.suppress(OSError):
                os.rmdir(folder)
        if time.monotonic() > deadline:
            raise Failed(f"processes of the machine are left in {group}")
        time.sleep(0.05)


class Machine:
    def __init__(self, sandbox, process):
        self.sandbox, self.process = sandbox, process
        self.first = None

    def boot(self):
        self.process.until("systemd to begin", self.has_begun, 20)
        state = ""

        def is_over():
            nonlocal state
            state = self.sh("systemctl is-system-running")[1].strip()
            return state in ("running", "degraded")

        self.process.until("the boot to end", is_over, 60)
        if state != "running":
            raise Failed(f"the machine is {state} after its boot: {self.sh('systemctl --failed; journalctl -b -p warning --no-pager')[1]}")

    def has_begun(self):
        """Whether process 1 is systemd, whose number here this finds."""
        for path in glob.glob("/proc/[0-9]*/stat"):
            with contextlib.suppress(OSError), open(path) as file:
                # The fields after the name, which may contain any character.
                name, _, fields = file.read().rpartition(")")
                if int(fields.split()[1]) == self.process.pid and name.endswith("(systemd"):
                    self.first = path.split("/")[2]
        return self.first is not None

    def finished(self, name, account, command, seconds):
        """Runs a command in a login shell of an account. Returns its status, `None` if the time was up, and its output, which stays in NAME.log."""
        shell = ["nsenter", "--all", f"--target={self.first}", "--", "runuser", "-l", account, "-c", command]
        process = Process(name, shell, self.sandbox.path(f"{name}.log"))
        try:
            return process.wait(max(1, seconds)), process.output()
        except subprocess.TimeoutExpired:
            return None, process.output()
        finally:
            process.kill()
            process.wait()

    def sh(self, command):
        return self.finished("look", "root", command, 600)

    def type(self, page, seconds):
        """Types a page as its account. Raises Failed as `Page.judge` does."""
        name = os.path.basename(page.name)
        folder = f"/run/{name}.d"
        os.mkdir(f"/proc/{self.first}/root{folder}")
        for script, text in {"page": page.script(folder), **page.before}.items():
            with open(f"/proc/{self.first}/root{folder}/{script}", "w") as file:
                file.write(text)
        page.judge(*self.finished(name, page.account, f"exec bash {folder}/page", seconds))
