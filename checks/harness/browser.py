"""Chromium without a window, driven over its DevTools pipe: JSON texts, each ended by a zero byte, on descriptors 3 and 4."""

import base64, fcntl, json, os, select, subprocess, tempfile, time

from sandbox import Failed

FREE_DESCRIPTOR = 20
# Far longer than a busy machine needs.
ANSWER_SECONDS, END_SECONDS = 180, 30


class Browser:
    def __init__(self, arguments=[]):
        commands, self.commands = os.pipe()
        self.answers, answers = os.pipe()
        # Above 4, so that one copy does not overwrite the other.
        low, high = (fcntl.fcntl(end, fcntl.F_DUPFD, FREE_DESCRIPTOR) for end in (commands, answers))
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.process = subprocess.Popen(
            ["chromium", "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             "--no-first-run", "--accept-lang=en-US", f"--user-data-dir={self.profile.name}", *arguments, "about:blank"],
            close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=lambda: (os.dup2(low, 3), os.dup2(high, 4)))
        for end in (commands, answers, low, high):
            os.close(end)
        self.unread, self.number, self.events = b"", 0, []
        page = next(target for target in self.send("Target.getTargets")["targetInfos"] if target["type"] == "page")
        self.session = self.send("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        self.page("Page.enable")

    def send(self, method, session=None, **parameters):
        self.number += 1
        command = {"id": self.number, "method": method, "params": parameters} | ({"sessionId": session} if session else {})
        os.write(self.commands, json.dumps(command).encode() + b"\0")
        deadline = time.monotonic() + ANSWER_SECONDS
        while True:
            while b"\0" not in self.unread:
                if not select.select([self.answers], [], [], max(0, deadline - time.monotonic()))[0]:
                    raise Failed(f"the browser gave no answer to {method} within {ANSWER_SECONDS} s")
                data = os.read(self.answers, 1 << 16)
                if not data:
                    raise Failed("the browser ended")
                self.unread += data
            text, self.unread = self.unread.split(b"\0", 1)
            message = json.loads(text)
            if message.get("id") == self.number:
                if "error" in message:
                    raise Failed(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def page(self, method, **parameters):
        return self.send(method, self.session, **parameters)

    def evaluate(self, script):
        result = self.page("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise Failed(f"{script}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def until(self, condition, seconds=120):
        deadline = time.monotonic() + seconds
        while not self.evaluate(f"Boolean({condition})"):
            if time.monotonic() > deadline:
                raise Failed(f"waited {seconds} s in vain for {condition}")
            time.sleep(0.05)

    def open(self, url):
        self.page("Page.navigate", url="about:blank")
        self.page("Page.navigate", url=url)

    def resize(self, width, height, scale=1, mobile=False):
        self.page("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=mobile)

    def prefer(self, **features):
        features = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.page("Emulation.setEmulatedMedia", features=features)

    def screenshot(self, path):
        """Writes what the page shows, as PNG or WebP by the suffix of the path."""
        form = {"format": "webp", "quality": 88} if path.endswith(".webp") else {"format": "png"}
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.page("Page.captureScreenshot", **form)["data"]))

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.profile.cleanup()
