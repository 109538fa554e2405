"""A process that a script starts: its output, its start and its end."""

import os, signal, subprocess, time


class Failed(Exception):
    """A test of a script failed."""


class Process(subprocess.Popen):
    """A program in the background, in a session of its own. Its output goes to the end of a file."""

    def __init__(self, name, command, log, **options):
        self.name, self.log = name, log
        with open(log, "a") as output:
            self.begin = os.path.getsize(log)
            super().__init__(
                [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True, **options)

    def output(self):
        """What this process has written."""
        with open(self.log, errors="replace") as file:
            file.seek(self.begin)
            return file.read()

    def until(self, what, condition, seconds=60):
        """Waits for a condition, for as long as the process runs."""
        end = time.monotonic() + seconds
        while not condition():
            if self.poll() is not None:
                raise Failed(f"{self.name} ended: {self.output()}")
            if time.monotonic() > end:
                raise Failed(f"waited {seconds} s in vain for {what}: {self.output()[-10_000:]}")
            time.sleep(0.05)

    def stop(self, with_signal=signal.SIGTERM, seconds=60):
        """Sends a signal, and returns the seconds until the end."""
        begin = time.monotonic()
        self.send_signal(with_signal)
        try:
            self.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            self.wait()
            raise Failed(f"{self.name} did not stop within {seconds} s")
        return time.monotonic() - begin
