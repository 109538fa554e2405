#!/usr/bin/env python3
"""Tests of scripts/test, with a program in the place of the built tests that writes the same event stream. `make lint` runs them."""
import importlib.machinery, json, os, pathlib, signal, subprocess, sys, tempfile, time, unittest

SCRIPT = pathlib.Path(__file__).with_name("test")
# What the program does with each function: one word for each of its runs, the last one for all later runs.
PROGRAM = r'''#!/usr/bin/env python3
import json, os, pathlib, re, signal, sys, time
arguments = sys.argv[1:]
values = lambda name: [arguments[i + 1] for i, argument in enumerate(arguments) if argument == name]
place = pathlib.Path(__file__).parent
plan = json.loads((place / "plan.json").read_text())
def write(kind, /, **payload): out.write(json.dumps({"version": 0, "kind": kind, "payload": payload}) + "\n")
def event(kind, **payload): write("event", kind=kind, **payload)
if "--list-tests" in arguments:
    for test in plan: print(test.rsplit("/", 1)[0])
    sys.exit(0)
out = open(values("--event-stream-output-path")[0], "w", buffering=1)
chosen = [test for test in plan if any(re.search(pattern, test) for pattern in values("--filter") or [""])
          and not any(re.search(pattern, test) for pattern in values("--skip"))]
for test in chosen: write("test", kind="function", id=test, name=test)
if not chosen: sys.exit(69)
event("runStarted")
failed = False
for test in chosen:
    runs = place / f"{list(plan).index(test)}.runs"
    number = len(runs.read_text()) if runs.exists() else 0
    runs.write_text("x" * (number + 1))
    word = plan[test][min(number, len(plan[test]) - 1)]
    if word == "omit": continue
    event("testStarted", testID=test)
    if word == "start": continue
    if word == "crash":
        print("Tree.swift:6: Fatal error: Index out of range", flush=True)
        os.kill(os.getpid(), signal.SIGILL)
    if word == "hang": time.sleep(600)
    if word == "slow": time.sleep(0.3)
    if word not in ("pass", "warn", "slow"):
        failed = True
        event("issueRecorded", testID=test, issue={"isKnown": False, "sourceLocation": {"fileID": "A/LogTests.swift", "line": 19}},
              messages=[{"symbol": "fail", "text": text} for text in word.split("\n")])
    if word == "warn": event("issueRecorded", testID=test, issue={"isKnown": True}, messages=[{"text": "known"}])
    event("testEnded", testID=test)
event("runEnded")
sys.exit(1 if failed else 0)
'''


def function(name, target="PostgresTests", file="LogTests"):
    return f"{target}.`The log`/`{name}`()/{file}.swift:19:6"


# A function for each lane, and for each file that judges the machine.
LANES = importlib.machinery.SourceFileLoader("script", str(SCRIPT)).load_module()
FILLING = {
    function(f"fills {file}", target, file): ["pass"] for target, file in [
        ("WebTests", "MapLiveTests"), ("AppTests", "DemoTests"), ("UsersTests", "TokensTests"), ("HTTPServerTests", "StreamTests"), ("EncodingTests", "NumeralTests"),
        *(("PostgresTests", f"{name}Tests") for name in LANES.TIMING)]
}


class TestScript(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(prefix="humon-test-script-")
        self.addCleanup(self.directory.cleanup)
        self.place = pathlib.Path(self.directory.name)
        program = self.place / "program"
        program.write_text(PROGRAM)
        program.chmod(0o755)
        self.environment = dict(
            os.environ, TEST_PROGRAM=str(program), TEST_LOGS=str(self.place / "logs"), HANG_SECONDS="60", GRACE_SECONDS="1", TEST_SEED="7")

    def start(self, plan, *arguments, filling=FILLING):
        plan = plan | filling
        (self.place / "plan.json").write_text(json.dumps(plan))
        return subprocess.Popen([sys.executable, "-B", str(SCRIPT), *arguments], env=self.environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def run_script(self, plan, *arguments, **how):
        process = self.start(plan, *arguments, **how)
        output, _ = process.communicate(timeout=60)
        return process.returncode, output

    def runs(self, number):
        path = self.place / f"{number}.runs"
        return len(path.read_text()) if path.exists() else 0

    def expect_red(self, plan, *names, arguments=(), **how):
        status, output = self.run_script(plan, *arguments, **how)
        self.assertEqual(status, 1, output)
        for name in names: self.assertIn(name, "\n".join(output.splitlines()[-30:]))
        return output

    def test_passed_functions_are_green(self):
        plan = {function("a gap"): ["pass"], function("a page", "WebTests", "MapPageTests"): ["pass"],
                function("a number", "EncodingTests"): ["warn"]}
        status, output = self.run_script(plan)
        self.assertEqual(status, 0, output)
        self.assertNotIn("flaky:", output)
        for line in ("lane libraries: 2 functions", "lane databases: 2 functions", "lane browsers: 2 functions"): self.assertIn(line, output)

    def test_a_function_that_passes_when_repeated_is_flaky_and_green(self):
        for words in (["fail", "pass"], ["fail", "fail", "pass"]):
            with self.subTest(words=words):
                for file in self.place.glob("*.runs"): file.unlink()
                status, output = self.run_script({function("a gap"): words, function("other"): ["pass"]})
                self.assertEqual(status, 0, output)
                line = f"flaky: {function('a gap')} databases 7"
                self.assertIn(line, output.splitlines()[-1])
                # The function ran alone.
                self.assertEqual((self.runs(0), self.runs(1)), (len(words), 1))

    def test_two_failed_repetitions_are_red(self):
        output = self.expect_red({function("a gap"): ["Expectation failed"]}, "a gap", "failed 3 times", "Expectation failed")
        self.assertEqual(self.runs(0), 3)
        self.assertNotIn("flaky:", output)

    def test_more_than_five_flaky_functions_are_red(self):
        self.expect_red({function(f"number {n}"): ["fail", "pass"] for n in range(6)}, *(f"number {n}" for n in range(6)))
        self.assertEqual(self.runs(0), 1)

    def test_five_flaky_functions_are_green(self):
        status, output = self.run_script({function(f"number {n}"): ["fail", "pass"] for n in range(5)})
        self.assertEqual((status, output.count("\nflaky: ")), (0, 10), output)

    def test_a_crash_is_red(self):
        output = self.expect_red({function("a gap"): ["crash", "pass"]}, "a gap", "crashed")
        self.assertIn("Fatal error: Index out of range", output)
        self.assertEqual(self.runs(0), 1)

    def test_a_crash_while_repeated_is_red(self):
        self.expect_red({function("a gap"): ["fail", "crash", "pass"]}, "a gap", "crashed")

    def test_a_hang_is_red(self):
        self.environment["HANG_SECONDS"] = "1.5"
        began = time.monotonic()
        self.expect_red({function("a gap"): ["hang", "pass"], function("other"): ["pass"]}, "a gap", "no event for 1.5 s")
        self.assertLess(time.monotonic() - began, 30)

    def test_a_hang_while_repeated_is_red(self):
        self.environment["HANG_SECONDS"] = "1.5"
        self.expect_red({function("a gap"): ["fail", "hang", "pass"]}, "a gap", "no event for 1.5 s")

    def test_a_lost_or_doubled_write_is_red_without_a_repetition(self):
        for word in ("lost write: event-7", "doubled write: event-7"):
            for file in self.place.glob("*.runs"): file.unlink()
            self.expect_red({function("a gap"): [word, "pass"]}, "a gap", word)
            self.assertEqual(self.runs(0), 1)

    def test_a_lane_or_a_timing_file_without_functions_is_red(self):
        for lost, message in (("EncodingTests", "lane libraries has no functions"), ("/StatementTimeoutTests", "StatementTimeoutTests.swift")):
            filling = {test: words for test, words in FILLING.items() if lost not in test}
            self.expect_red({function("a gap"): ["pass"]}, message, filling=filling)

    def test_the_functions_of_a_crashed_lane_are_named_one_by_one(self):
        plan = {function(f"number {n} " + "x" * 200): ["start"] for n in range(5)} | {function("a gap"): ["crash"]}
        self.expect_red(plan, "a gap", *(f"number {n}" for n in range(5)))

    def test_a_failure_has_the_comment_of_its_assertion(self):
        self.expect_red({function("a gap"): ["Expectation failed\nthe path /v1/users"]}, "a gap", "the path /v1/users")

    def test_a_function_that_did_not_run_is_red(self):
        self.expect_red({function("a gap"): ["omit"], function("other"): ["pass"]}, "a gap", "did not run")

    def test_a_name_that_matches_nothing_is_red(self):
        self.expect_red({function("a gap"): ["pass"]}, "no test matches soup", arguments=["soup"])
        self.assertEqual(self.runs(0), 0)

    def test_a_name_chooses_functions_of_all_lanes(self):
        plan = {function("a gap"): ["pass"], function("a page with a gap", "WebTests", "MapPageTests"): ["pass"],
                function("other"): ["fail"]}
        status, output = self.run_script(plan, "gap")
        self.assertEqual((status, self.runs(0), self.runs(1), self.runs(2)), (0, 1, 1, 0), output)

    def test_a_program_that_was_not_built_is_an_error(self):
        self.environment["TEST_PROGRAM"] = str(self.place / "missing")
        status, output = self.run_script({})
        self.assertEqual(status, 2, output)
        self.assertIn("swift build --build-tests", output)

    def test_a_signal_ends_the_script_and_its_lanes(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.start({function("a gap"): ["hang"]})
            until(lambda: self.runs(0) > 0)
            process.send_signal(number)
            output, _ = process.communicate(timeout=20)
            self.assertEqual(process.returncode, 128 + number, output)
            self.assertFalse(any(str(self.place / "program") in command for command in commands()))
            (self.place / "0.runs").unlink()

    def test_the_slowest_functions_are_named(self):
        # Where several run at a time, the seconds have those of others.
        plan = {function("waits", file="DeadlineTests"): ["slow"], function("shares"): ["slow"]}
        status, output = self.run_script(plan)
        self.assertEqual(status, 0)
        self.assertRegex(output, r"\n  0\.[3-9] s  PostgresTests\.`The log`/`waits`\(\)\n")
        self.assertNotIn("`shares`", output)
        self.assertNotIn(" s  PostgresTests", self.run_script(plan, "waits")[1])


def commands():
    """The command lines of all processes."""
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try: yield path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError: pass


def until(condition):
    for _ in range(300):
        if condition(): return
        time.sleep(0.1)
    raise AssertionError("waited 30 s in vain")


if __name__ == "__main__":
    unittest.main()
