"""A temporary directory with ports and processes, which end with it: for scripts that test a server or a deployment."""

import glob, os, pwd, re, shutil, signal, socket, subprocess, sys, tempfile, time

from process import Failed, Process

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Sandbox:
    def __init__(self, name):
        self.directory = tempfile.mkdtemp(prefix=f"{name}-")
        os.chmod(self.directory, 0o755)
        # PostgreSQL refuses to run as root.
        self.account = pwd.getpwnam("postgres") if os.geteuid() == 0 else None
        self.give(self.directory)
        self.processes = {}
        self.sockets = []
        # A copy of the deployed files that this account can read.
        shutil.copytree(f"{ROOT}/deploy", self.path("deploy"))

    def path(self, *names):
        return os.path.join(self.directory, *names)

    def folder(self, name, mode=0o755):
        path = self.path(name)
        os.makedirs(path, mode, exist_ok=True)
        self.give(path)
        return path

    def give(self, path):
        if self.account:
            os.chown(path, self.account.pw_uid, self.account.pw_gid)

    def write(self, name, text, mode=0o644):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, mode)
        self.give(path)
        return path

    def port(self):
        """A free port, held until all are chosen, so that the ports differ."""
        held = socket.socket()
        held.bind(("127.0.0.1", 0))
        self.sockets.append(held)
        return held.getsockname()[1]

    def release_ports(self):
        for held in self.sockets:
            held.close()
        self.sockets = []

    def identity(self):
        if not self.account:
            return {}
        return dict(user=self.account.pw_uid, group=self.account.pw_gid, extra_groups=[self.account.pw_gid])

    def environment(self, own):
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "LD_LIBRARY_PATH") if name in os.environ}
        return kept | {"HOME": self.directory, "LC_ALL": "C.UTF-8"} | {name: str(value) for name, value in own.items()}

    def start(self, name, command, environment={}, directory=None, identity=None):
        """Starts a process in the background. Its output goes to NAME.log."""
        self.release_ports()
        self.processes[name] = Process(
            name, command, self.path(f"{name}.log"), env=self.environment(environment), cwd=directory or self.directory,
            **(identity or self.identity()))
        return self.processes[name]

    def run(self, command, environment={}, directory=None, expected=(0,)):
        """Runs a command and returns its standard output."""
        result = self.finished(command, environment, directory)
        if expected is not None and result.returncode not in expected:
            raise Failed(f"{' '.join(map(str, command))} ended with {result.returncode}: {result.stdout}{result.stderr}")
        return result.stdout

    def ends_well(self, command, environment={}):
        return self.finished(command, environment).returncode == 0

    def finished(self, command, environment={}, directory=None, identity=None):
        return subprocess.run(
            [str(word) for word in command],
            env=self.environment(environment),
            cwd=directory or self.directory,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            **(identity or self.identity()),
        )

    def processor_seconds(self, name):
        """The processor time of a process and of its descendants that still run."""
        ticks = 0
        for path in glob.glob("/proc/[0-9]*/stat"):
            try:
                with open(path) as file:
                    # The fields after the name, which may contain any character.
                    fields = file.read().rpartition(")")[2].split()
            except OSError:
                continue
            session, user, system = int(fields[3]), int(fields[11]), int(fields[12])
            if session == self.processes[name].pid:
                ticks += user + system
        return ticks / os.sysconf("SC_CLK_TCK")

    def until(self, what, condition, seconds=60):
        """Waits for a condition, and returns the seconds it took."""
        begin = time.monotonic()
        while time.monotonic() - begin < seconds:
            if condition():
                return time.monotonic() - begin
            time.sleep(0.05)
        raise Failed(f"waited {seconds} s in vain for {what}")

    def stop(self, name, with_signal=signal.SIGTERM, seconds=60):
        process = self.processes.pop(name, None)
        return process.stop(with_signal, seconds) if process else 0

    def close(self, keep):
        # All at once; a node ends its drain at the second signal.
        for process in self.processes.values():
            process.send_signal(signal.SIGTERM)
        for name in reversed(list(self.processes)):
            try:
                self.stop(name, signal.SIGTERM, 20)
            except Failed as failure:
                print(failure, file=sys.stderr)
        # Children of killed processes: the path of the sandbox is in their command lines only.
        for process in self.leftovers():
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.release_ports()
        if keep:
            print(f"Logs and data are in {self.directory}", file=sys.stderr)
        else:
            shutil.rmtree(self.directory, ignore_errors=True)

    def leftovers(self):
        for process in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{process}/cmdline") as file:
                    if self.directory in file.read():
                        yield int(process)
            except OSError:
                pass


def end_on_signals():
    """Ends the script on SIGTERM and SIGHUP as on an error, so that it ends the processes that it started."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(143))


def run_in_sandbox(name, keep, test):
    """Calls a test with a new sandbox and returns the exit status. Keeps the sandbox if asked, and if the test fails."""
    sandbox, status = Sandbox(name), 1
    try:
        test(sandbox)
        status = 0
    except Failed as failure:
        print(f"FAILED: {failure}", flush=True)
    finally:
        sandbox.close(keep=keep or status != 0)
    return status


def render(path, variables):
    """Replaces ${NAME} for the given names, as `envsubst` does in nginx's image. Other variables stay."""
    with open(path) as file:
        return re.sub(r"\$\{([A-Z_]+)\}", lambda found: str(variables.get(found[1], found[0])), file.read())


def program(name, *folders):
    found = shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin", *folders]))
    if not found:
        sys.exit(
            f"{name} is not installed: apt-get install nginx haproxy patroni python3-etcd python3-idna etcd-server etcd-client pgbouncer "
            "prometheus prometheus-alertmanager prometheus-postgres-exporter prometheus-node-exporter postgresql faketime"
        )
    return found
