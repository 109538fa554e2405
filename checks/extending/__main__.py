"""Follows docs/extending.md: adds a module and a field to a copy of the sources, builds humon with them, and asks its routes.

The folders module and field have the files that each of them adds, at their paths, and for each file that changes a diff without line
numbers. A line `@@` separates the places of a file.

Usage: python3 checks/extending [--in-place] [--keep]

The copy and its build are in .build-extending. With --in-place the files of this checkout change, are built in .build, where only the
changed modules are compiled, and are put back afterwards; the checkout must have no changes of its own.
"""

import argparse, contextlib, json, os, pathlib, re, subprocess, sys, urllib.error, urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
sys.dont_write_bytecode = True

from sandbox import Failed, end_on_signals, run_in_sandbox
from server import HumonServer

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = "docs/extending.md"
# What scripts/openapi writes.
EMBEDDED = ["Sources/CDocumentation/openapi.json", "Sources/CDocumentation/docs.html"]
FOLDER = pathlib.Path(__file__).resolve().parent
# Each recipe: its section, its folder here, the folders whose files do not count, and the largest number of files outside of these.
RECIPES = [
    ("Add a module", "module", ("Sources/Comments/", "Tests/CommentsTests/"), 5),
    ("Add a field to an event", "field", ("Tests/", "docs/"), 8),
]
BUILD_SECONDS = 3600
REQUEST_SECONDS = 30


def changes(folder):
    """Returns the files that a recipe changes or adds, as (whether it is a diff, path, text)."""
    paths = sorted(path for path in (FOLDER / folder).rglob("*") if path.is_file())
    names = [(path, str(path.relative_to(FOLDER / folder))) for path in paths]
    return [(name.endswith(".diff"), name.removesuffix(".diff"), path.read_text()) for path, name in names]


def section_of(page, title):
    return page.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def files_outside(section):
    """Returns the files of the section's table, which change outside the recipe's own folders."""
    return re.findall(r"^\| `([^`]+)` \|", section.split("\n### ", 1)[0], re.MULTILINE)


def edited(text, file, lines):
    """Applies a diff without line numbers. A line `@@` separates its parts."""
    while "@@" in lines:
        text, lines = edited_once(text, file, lines[:lines.index("@@")]), lines[lines.index("@@") + 1:]
    return edited_once(text, file, lines)


def edited_once(text, file, lines):
    """Applies one part of a diff, whose context stands in the file exactly once."""
    old = [line[1:] for line in lines if line[:1] in (" ", "-")]
    new = [line[1:] for line in lines if line[:1] in (" ", "+")]
    # The last line may be the beginning of a longer line, such as a list.
    old_text, new_text = "\n" + "\n".join(old), "\n" + "\n".join(new)
    if ("\n" + text).count(old_text) != 1:
        raise Failed(f"these lines must stand in {file} exactly once:\n" + "\n".join(old))
    return ("\n" + text).replace(old_text, new_text)[1:]


def sources():
    """Returns the contents of the checkout's files by path."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    # Git ignores the file, which keeps the versions of indirect dependencies.
    return {name: (ROOT / name).read_bytes() for name in {*listed, "Package.resolved"} if (ROOT / name).is_file()}


def followed():
    """Returns the files of the checkout with the two examples, as sources() does."""
    page = (ROOT / PAGE).read_text()
    contents = sources()
    for title, folder, own_folders, maximum in RECIPES:
        follow(section_of(page, title), title, folder, own_folders, maximum, contents)
    return contents


@contextlib.contextmanager
def changed_in_place():
    """Changes the checkout by the examples, and puts the files back."""
    if subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, check=True, capture_output=True).stdout:
        raise Failed("the checkout has changes of its own: commit them, or leave --in-place out")
    before, after = sources(), followed()
    changed = [file for file in after if after[file] != before.get(file)]
    try:
        for file in changed:
            (ROOT / file).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / file).write_bytes(after[file])
        subprocess.run([ROOT / "scripts/openapi"], check=True)
        yield
    finally:
        for file in [*changed, *EMBEDDED]:
            if file in before:
                (ROOT / file).write_bytes(before[file])
            else:
                (ROOT / file).unlink(missing_ok=True)
                # Git knows no empty folder.
                with contextlib.suppress(OSError):
                    os.removedirs((ROOT / file).parent)


def follow(section, title, folder, own_folders, maximum, contents):
    """Changes the contents by the files of a recipe."""
    touched = []
    for is_diff, file, text in changes(folder):
        if is_diff:
            if file not in contents:
                raise Failed(f"the example changes {file}, which is not there")
            contents[file] = edited(contents[file].decode(), file, text.splitlines()).encode()
        else:
            if file in contents:
                raise Failed(f"the example adds {file}, which is there already")
            contents[file] = text.encode()
        touched.append(file)
    outside = sorted({file for file in touched if not file.startswith(own_folders)})
    listed = files_outside(section)
    if missing := [file for file in outside if file not in listed]:
        raise Failed(f"{PAGE} does not list {', '.join(missing)} among the files that change")
    # A command writes the embedded files.
    if idle := [file for file in listed if file not in [*outside, *EMBEDDED]]:
        raise Failed(f"{PAGE} lists {', '.join(idle)}, which the example does not change")
    if len(listed) > maximum:
        raise Failed(f"{PAGE}, {title}, changes {len(listed)} files outside of {', '.join(own_folders)}; at most {maximum} may change")
    print(f"{title}: {len(listed)} files outside of {', '.join(own_folders)}: {', '.join(listed)}", flush=True)


def write(target, contents):
    """Makes the target folder equal. Leaves equal files alone, so that the next build is incremental.

    It deletes every other file of the folder. So it refuses a folder that it has not made.
    """
    mark = target / ".made-by-checks-extending"
    if any(target.iterdir()) and not mark.exists():
        raise Failed(f"{target} is not empty, and checks/extending has not made it")
    mark.touch()
    contents = {**contents, mark.name: b""}
    present = {str(path.relative_to(target)) for path in target.rglob("*") if path.is_file()}
    for file in present - contents.keys():
        (target / file).unlink()
    for file, data in contents.items():
        path = target / file
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_bytes() != data:
            path.write_bytes(data)


def build(package, scratch, *arguments):
    command = ["swift", "build", "--package-path", str(package), "--scratch-path", str(scratch), *arguments]
    print(" ".join(command), flush=True)
    if status := subprocess.run(command, timeout=BUILD_SECONDS).returncode:
        raise Failed(f"the build ended with {status}")


class Server(HumonServer):
    """A humon with the example module."""

    def ask(self, method, path, body=None, **headers):
        """Returns status and JSON body."""
        request = urllib.request.Request(
            self.url + path, method=method, data=None if body is None else json.dumps(body).encode(),
            headers={"content-type": "application/json"} | {name.replace("_", "-"): value for name, value in headers.items()})
        try:
            with urllib.request.urlopen(request, timeout=REQUEST_SECONDS) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            text = error.read()
            return error.code, json.loads(text) if text else None

    def run(self, *arguments):
        """Runs a command of humon on the server's PostgreSQL, and returns what it prints."""
        return self.sandbox.run([self.humon, *arguments], self.settings)


def expect(found, expected, what):
    if found != expected:
        raise Failed(f"{what} gave {found}, not {expected}")
    print(f"ok: {what}", flush=True)


def check_module(server):
    """Uses the routes of the example module, and the tools that know it from the list of modules."""
    status, user = server.ask("POST", "/v1/users", tb_app_secret=server.secret)
    expect(status, 200, "the sign-up")
    token = user["device_token"]
    event = {"name": "Picnic", "lat": 37.76, "lon": -122.43, "started_at": "2030-01-01T12:00:00.000Z"}
    status, event = server.ask("POST", "/v1/events", event, tb_device_token=token)
    path = f"/v1/events/{event['id']}/comments"
    comment = {"text": "I bring the tea."}
    expect(server.ask("POST", path, comment), (401, None), "a comment without a token")
    expect(server.ask("POST", path, comment, tb_device_token=token, idempotency_key="1"), (200, {"number": 1}), "a comment")
    expect(server.ask("POST", path, comment, tb_device_token=token, idempotency_key="1"), (200, {"number": 1}), "its repetition")
    expect(server.ask("POST", path, {"text": "And cake."}, tb_device_token=token, idempotency_key="1")[0], 422, "a key used again")
    expect(server.ask("POST", path, {"text": "And cake."}, tb_device_token=token), (200, {"number": 2}), "a second comment")
    blank = {"message": "Validation Failed", "errors": ["Text can't be blank"]}
    expect(server.ask("POST", path, {"text": " "}, tb_device_token=token), (422, blank), "a blank comment")
    unknown = (404, {"message": "Not Found"})
    expect(server.ask("POST", "/v1/events/999/comments", comment, tb_device_token=token), unknown, "a comment on no event")
    author = {"id": user["id"]}
    comments = [{"number": 1, "author": author, "text": "I bring the tea."}, {"number": 2, "author": author, "text": "And cake."}]
    expect(server.ask("GET", path), (200, comments), "the list of comments")
    paths = server.ask("GET", "/v1/openapi.json")[1]["paths"]
    expect("/v1/events/{id}/comments" in paths, True, "the route in the document")
    models = [json.loads(line)["name"] for line in server.run("projections", "list", "--json").splitlines()]
    expect("comments" in models, True, "the read model in humon projections list")
    server.run("projections", "rebuild", "--all")
    expect(server.ask("GET", path), (200, comments), "the list after a rebuild")
    server.run("projections", "verify", "--all")
    server.run("log", "verify")
    stream = f"comments-{event['id']}-{user['id']}"
    shown = server.run("streams", "show", stream)
    expect(("CommentAdded" in shown, "I bring the tea." in shown), (True, False), "hiding of personal fields")
    other = server.ask("POST", "/v1/users", tb_app_secret=server.secret)[1]
    server.ask("POST", path, {"text": "I bring Bob."}, tb_device_token=other["device_token"])
    expect(server.ask("DELETE", "/v1/users/me", tb_device_token=other["device_token"])[0], 200, "the erasure of another author")
    expect(server.ask("GET", path), (200, comments), "the list without that author")
    shown = server.run("streams", "show", "--reveal", f"comments-{event['id']}-{other['id']}")
    expect(("CommentsErased" in shown, "I bring Bob." in shown), (True, False), "the end of the author's words in the log")
    expect("I bring the tea." in server.run("streams", "show", "--reveal", stream), True, "the words of others")
    server.run("projections", "verify", "--all")
    server.run("log", "verify")


def check_field(server):
    """Uses the example field in every part that reads or writes events."""
    token = server.ask("POST", "/v1/users", tb_app_secret=server.secret)[1]["device_token"]

    def send(method, path, body, **headers):
        return server.ask(method, path, body, tb_device_token=token, **headers)

    event = {"name": "Chess", "lat": 48.14, "lon": 11.58, "started_at": "2030-01-01T12:00:00.000Z", "price": "12 €"}
    status, created = send("POST", "/v1/events", event)
    expect(status, 200, "an event with a price")
    path = f"/v1/events/{created['id']}"

    def expect_price(expected, what):
        expect(server.ask("GET", path)[1].get("price"), expected, f"the price {what}")

    expect_price("12 €", "of the new event")
    for price, words in ((7, "is not a text"), ("x" * 256, "is too long (maximum is 255 characters)"), ("7\r", "contains a control character")):
        invalid = {"message": "Validation Failed", "errors": [f"Price {words}"]}
        expect(send("POST", "/v1/events", event | {"price": price}), (422, invalid), f"the price {price!r}")
    patch = {"content_type": "application/merge-patch+json"}
    expect(send("PATCH", path, {"name": "Go"}, **patch)[0], 200, "a patch of another field")
    expect_price("12 €", "after it")
    expect(send("PUT", path, {name: value for name, value in event.items() if name != "price"})[0], 200, "an old client's replacement")
    expect_price("12 €", "after it")
    expect(send("PATCH", path, {"price": None}, **patch)[0], 200, "a patch with null")
    expect_price(None, "after it")
    expect(send("PATCH", path, {"price": "free"}, **patch)[0], 200, "a patch with a price")
    found = server.ask("GET", "/v1/events/nearests?lat=48.14&lon=11.58")[1]
    expect([event["price"] for event in found], ["free"], "the search near the event")
    server.run("projections", "rebuild", "--all")
    server.run("projections", "verify", "--all")
    shown = [server.run("streams", "state", f"event-{created['id']}", *options) for options in ((), ("--reveal",))]
    expect(["free" in text for text in shown], [False, True], "the price in humon streams state, with --reveal only")
    server.stop()
    server.start("second")
    expect_price("free", "in the index of a new process, from the rebuilt read model")


def main():
    parser = argparse.ArgumentParser(prog="checks/extending", description=__doc__.split("\n")[0])
    parser.add_argument("--in-place", action="store_true", help="change this checkout, and put its files back")
    parser.add_argument("--keep", action="store_true", help="keep the sandbox of the server")
    options = parser.parse_args()
    end_on_signals()
    sys.exit(run_in_sandbox("extending", options.keep, in_place if options.in_place else in_a_copy))


def in_place(sandbox):
    with changed_in_place():
        test(sandbox, ROOT, ROOT / ".build")


def in_a_copy(sandbox):
    scratch = ROOT / ".build-extending"
    package = scratch / "extending"
    package.mkdir(parents=True, exist_ok=True)
    write(package, followed())
    subprocess.run([sys.executable, "-B", package / "scripts/openapi"], check=True)
    test(sandbox, package, scratch)


def test(sandbox, package, scratch):
    build(package, scratch, "--product", "humon")
    build(package, scratch, "--target", "CommentsTests")
    build(package, scratch, "--target", "HumonClient")
    server = Server(sandbox, scratch / "debug" / "humon")
    server.start()
    check_module(server)
    check_field(server)
    server.stop()


if __name__ == "__main__":
    main()
