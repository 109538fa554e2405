"""The rules about documents: links, names, records, and the code that they show."""
import json, os, re, subprocess, sys

from .deployment import alerts
from .tree import idle_exceptions, line_at, line_of, rule

# Names in documents that no source declares, no alert and no page has.
FOREIGN_NAMES = {
    "browsers": "EventSource",
    "systemd": "LimitNOFILE MemoryMax",
}
NAMED_PATH = re.compile(r"`((?:Sources|Libraries|HumonClient|Tests|db|docs|scripts|checks|Benchmarks|deploy)/[A-Za-z0-9_/.+-]+)`")


@rule
def links_and_paths_lead_somewhere(tree):
    pages = {page.path: page for page in tree.pages}
    added = [file for _, file in example_files(tree)]
    for page in tree.pages:
        for line, link, path, anchor in page.links():
            target = os.path.normpath(os.path.join(os.path.dirname(page.path), path)) if path else page.path
            if not tree.exists(target):
                yield page.path, line, f"{link} leads to {target}, which is not there; correct the path"
            elif anchor is not None and target in pages and anchor not in pages[target].anchors:
                yield page.path, line, f"{link} leads to no heading of {target}; correct the anchor"
        for line, text in page.prose:
            for named in NAMED_PATH.findall(text):
                if not tree.exists(named) and not any((file + "/").startswith(named.rstrip("/") + "/") for file in added):
                    yield page.path, line, f"{named} is not there; correct the path"


@rule
def documents_name_types_that_exist(tree):
    """Names in code that look like types, `EventLog` and `EventLog.append`, but neither `Age` nor `Idempotency-Key`."""
    declaration = re.compile(r"\b(?:struct|class|enum|actor|protocol|typealias) ([A-Z]\w+)")
    stored = re.compile(r'\bStoredType\("(\w+)"')
    files = [path for path in tree.paths if path.endswith(".swift")]
    known = {name for path in files for pattern in (declaration, stored) for name in pattern.findall(tree.text(path))}
    known |= {name for page in tree.pages for _, language, line in page.marked if language for name in declaration.findall(line)}
    # A page may also name a test by its file, and a target or an alert by its name.
    known |= {re.split("[.+]", path.rpartition("/")[2])[0] for path in files} | {name for name, *_ in alerts(tree)}
    known |= {name + end for name in tree.targets for end in ("", "Tests")}
    foreign = {name for names in FOREIGN_NAMES.values() for name in names.split()}
    needed = set()
    for page in tree.pages:
        for line, text in page.prose:
            for name in set(re.findall(r"`([A-Z][a-z]+[A-Z][A-Za-z]*)[`.(<]", text)) - known:
                needed.add(name)
                if name not in foreign: yield page.path, line, f"no source declares {name}; correct the name"
    yield from idle_exceptions(tree, "scripts/rules/documents.py", foreign - needed)


@rule
def documents_name_parts_of_the_log_that_exist(tree):
    known = {name for file in tree.below("db/functions", ending=".sql") for name in re.findall(r"FUNCTION log\.(\w+)\(", tree.text(file))}
    statement = r"(?:CREATE (?:TABLE|SEQUENCE|VIEW|INDEX) (?:log\.)?(\w+))|(?:(?:ALTER TABLE|DROP VIEW) log\.(\w+)(?:;| RENAME TO (\w+)))"
    for file in tree.below("db/migrations", ending=".sql"):
        for created, former, renamed in re.findall(statement, tree.text(file)):
            known = known - {former} | {created or renamed} - {""}
    for page in tree.pages:
        for line, language, text in page.marked:
            # In code of Swift, `log` is a value. `event-log.md` is a file.
            for name in re.findall(r"(?:^|[^\w/.-])log\.([a-z_]+)", text) if language != "swift" else ():
                if name not in known: yield page.path, line, f"the log has no {name}; name a table or a function of db"


@rule
def documents_name_commands_and_settings_that_exist(tree):
    makefile = tree.text("Makefile")
    commands = {tuple(words.split()) for words in re.findall(r"(?m)^\| `humon ([a-z ]+)`", tree.text("docs/cli.md"))} | {("help",)}
    groups = {words[0] for words in commands if len(words) > 1}
    for page in tree.pages:
        for line, text in page.commands():
            for target, name in re.findall(r"(?:^|[;&] )make ([a-z-]+)(?: NAME=([a-z]+))?", text):
                if not re.search(f"(?m)^{target}:", makefile):
                    yield page.path, line, f"there is no `make {target}`; `make help` lists the targets"
                elif name and target in ("verify", "bench", "docs") and not re.search(rf"(?m)^{name}\)", tree.text(f"scripts/{target}")):
                    yield page.path, line, f"there is no `make {target} NAME={name}`; `make {target}` lists the names"
            for name in re.findall(r"(?:^|[;&] )make test NAME=(\w+)", text):
                if not any(path.endswith("Tests.swift") and name in path for path in tree.paths):
                    yield page.path, line, f"no file of tests has {name} in its name; correct the name"
            for first, second in re.findall(r"(?:^|[;&|] )humon ([a-z]+)(?: ([a-z]+)\b(?!-))?", text):
                if (first,) not in commands and first not in groups or first in groups and second and (first, second) not in commands:
                    yield page.path, line, f"there is no `{' '.join(['humon', first, second]).strip()}`; docs/cli.md lists the commands"
        for line, _, text in page.marked:
            for name in re.findall(r"\bHUMON_[A-Z_]*[A-Z]\b", text):
                if name not in tree.settings: yield page.path, line, f"there is no setting {name}; docs/settings.md lists them"


ASSIGNED, USED = re.compile(r"\b([A-Z][A-Z_]+)="), re.compile(r"\$\{?([A-Z][A-Z_]+)\b")


@rule
def commands_use_variables_that_their_page_sets(tree):
    for page in tree.pages:
        known = {"HOME", "PATH", "PWD"}
        for line, language, text in page.marked:
            if language not in ("sh", "bash"): continue
            known.update(ASSIGNED.findall(text))
            for name in sorted({*USED.findall(text)} - known): yield page.path, line, f"no line before sets {name}; set it"


@rule
def the_version_is_the_one_that_documents_name(tree):
    file = "Sources/App/Humon.swift"
    found = re.search(r'static let current = "([\d.]+)"', tree.text(file))
    version, document = found[1] if found else "", "docs/openapi.yaml"
    named = re.search(r"(?m)^  version: (.*)$", tree.text(document))
    if not named or named[1] != version: yield document, line_of(tree.text(document), "\n  version:") + 1, f"the program is {version}; name it"
    for page in tree.pages:
        for line, text in page.prose:
            for release in re.findall(r"[Uu]ntil release ([\d.]*\d)", text):
                if [*map(int, release.split("."))] <= [*map(int, version.split("."))]:
                    yield page.path, line, f"the program is {version} already; correct the sentence"


@rule
def the_steps_of_a_write_are_functions(tree):
    """The table of ARCHITECTURE.md that leads through one write: each row has a file, and the function of it that does the step."""
    path = "ARCHITECTURE.md"
    for line, number, file, function in re.findall(r"(?m)^(\| (\d+) \| `([\w+./]+)` \| `([\w.]+)`)", tree.text(path)):
        texts = [tree.text(known) for known in tree.paths if ("/" + known).endswith("/" + file)]
        declaration = rf"(?i)\bfunc(?:tion)? {re.escape(function)}\b"
        if not any(re.search(declaration, text) for text in texts):
            yield path, line_of(tree.text(path), line), f"{file} has no function {function}; correct step {number}"


@rule
def decision_records_have_their_parts(tree):
    parts = {
        "a title with a number": r"\A# \d+\. \S", "a date": r"(?m)^- Date: \d{4}-\d\d-\d\d",
        **{f"a section {name}": f"(?m)^## {name}$" for name in ("Context", "Decision", "Alternatives", "Consequences")},
    }
    index = "docs/decisions/README.md"
    for path in tree.below("docs/decisions", ending=".md"):
        if path == index: continue
        for part, pattern in parts.items():
            if not re.search(pattern, tree.text(path)): yield path, 1, f"the record has no line for {part}; add it"
        name = path.rpartition("/")[2]
        if f"({name})" not in tree.text(index): yield index, 1, f"the index does not list {name}; add it"


@rule
def the_security_page_names_tests_that_exist(tree):
    path = "docs/security.md"
    text = "\n" + tree.text(path)
    entry = re.compile(r"- `((?:Tests|Libraries|HumonClient|scripts)/\S+\.(?:swift|py|http))` `([^`]+)`: (`.+`)")
    risks = [part for part in re.split(r"\n(?=## )", text) if part.startswith("## API")]
    for risk in range(1, 11):
        part = next((part for part in risks if part.startswith(f"## API{risk}:")), "")
        line = line_of(text, part) - 1 if part else 1
        for needed in ("## API", "\n- `", "\nOpen: "):
            if needed not in part: yield path, line, f"API{risk} has no line that begins with {needed.strip()}; add it"
        for number, row in enumerate(part.split("\n")):
            if not row.startswith("- "): continue
            match = entry.fullmatch(row)
            if not match:
                yield path, line + number, "the row names no test; write - `file` `suite`: `test`, `test`"
                continue
            file, suite, tests = match.groups()
            # A rule of scripts/lint is its own test.
            start, function = {
                "py": (r"@{}\n", "def {}("), "http": ("# ", "# {}\n"), "swift": (r"@Suite\b[^\n]* ?struct `{}`", "func `{}`("),
            }[file.rpartition(".")[2]]
            suites = re.split(r"(?m)^(?=@)", tree.text(file))
            found = [body for body in suites if re.match(start.format(re.escape(suite)), body)]
            for test in re.findall(r"`([^`]+)`", tests):
                if not any(function.format(test) in body for body in found):
                    yield path, line + number, f"`{suite}` of {file} has no test `{test}`; correct the name"


# Listings


def listings(text):
    """The listings of Swift in a page: line, the words behind `swift`, and the lines without their indentation."""
    for match in re.finditer(r"(?ms)^```swift([^\n]*)\n(.*?)\n```$", text):
        yield line_at(text, match.start()), match[1].strip(), [line.strip() for line in match[2].split("\n")]


def listings_of_comments(text):
    """The listings in the doc comments of a source file: line, declaration behind the comment, and lines."""
    for match in re.finditer(r"(?m)(?:^[ \t]*///[^\n]*\n)+", text):
        if "```swift" not in match[0]: continue
        rest = (line.strip() for line in text[match.end():].split("\n"))
        declaration = next((line for line in rest if not line.startswith(("@", "//"))), "")
        for line, _, lines in listings(re.sub(r"(?m)^[ \t]*/// ?", "", match[0])):
            yield line_at(text, match.start()) + line - 1, declaration, lines


def has_lines(text, lines):
    """Whether the lines stand in a text, one after the other. The indentation may differ."""
    flat = "\n".join(line.strip() for line in text.split("\n"))
    return "\n" + "\n".join(lines) + "\n" in "\n" + flat + "\n"


# The declarations that a reader of a library meets first.
FRONT_DOORS = {
    "Libraries/EventStore/Sources/Log/Append/EventLog.swift": "public final class EventLog: Service {",
    "Libraries/EventStore/Sources/Projections/Projection.swift": "public protocol Projection: Sendable {",
    "Libraries/EventStore/Sources/Subscriptions/Subscription.swift": "public protocol Subscription: Sendable {",
    "Libraries/HTTPServer/Sources/Routing/Router.swift": "public struct Router: Sendable {",
    "Libraries/Postgres/Sources/Client/PostgresClient.swift": "public final class PostgresClient: Service, PostgresQuerying {",
    "Libraries/SpatialIndex/Sources/PointIndex.swift": "public final class PointIndex: Sendable {",
}


@rule
def listings_are_compiled_by_tests(tree):
    folders = [f"Libraries/{target.name}" for target in tree.products.values()
               if target.is_library and not target.folder.startswith("Libraries/C/")]
    for folder in [*folders, "HumonClient"]:
        page = f"{folder}/README.md"
        # A test target has an entry point already. Another test builds the listings of the client's page that name a file.
        shown = [(page, line, [text for text in lines if text != "@main"]) for line, mark, lines in listings(tree.text(page))
                 if not mark or folder != "HumonClient"]
        if not shown: yield page, 1, "the page of a library shows no code; add an example"
        for source in tree.sources:
            if source.path.startswith(folder + "/"):
                shown += [(source.path, line, lines) for line, _, lines in listings_of_comments(source.text)]
        tests = [tree.text(path) for path in tree.below(f"{folder}/Tests", ending=".swift")]
        for path, line, lines in shown:
            if not any(lines[0] in text and has_lines(text, lines) for text in tests):
                yield path, line, f"no file of {folder}/Tests has these lines one after the other; show code that a test compiles"
    page = "HumonClient/README.md"
    for line, mark, _ in listings(tree.text(page)):
        if mark not in ("", "file=Package.swift", "file=Sources/MyApp/main.swift"):
            yield page, line, f"no test knows the mark {mark}; remove it"


@rule
def front_doors_show_an_example(tree):
    for path, declaration in FRONT_DOORS.items() if tree.root else ():
        if declaration not in [found for _, found, _ in listings_of_comments(tree.text(path))]:
            yield path, line_of(tree.text(path), declaration), f"the comment of {declaration.rstrip(' {')} has no example; add one"


def example_files(tree):
    """The files that the two examples of docs/extending.md add or change: path, and the path in the sources."""
    return [(path, path.split("/", 3)[3]) for path in tree.below("checks/extending/module", "checks/extending/field")]


@rule
def examples_fit_the_sources(tree):
    for path, file in example_files(tree):
        problem = misfit(tree, file, tree.text(path))
        if problem: yield path, 1, problem


def misfit(tree, file, text):
    """Why a file of an example cannot be applied to the sources."""
    if not file.endswith(".diff"): return f"{file} is there already; name a new file, or write a diff" if tree.exists(file) else None
    file = file.removesuffix(".diff")
    if not tree.exists(file): return f"{file} is not there; correct the path"
    for part in text.removesuffix("\n").split("\n@@\n"):
        before = "\n".join(line[1:] for line in part.split("\n") if not line.startswith("+"))
        if ("\n" + tree.text(file)).count("\n" + before) != 1:
            return f"{file} does not have the lines of this change once; correct those from `{before.strip().splitlines()[0].strip()}`"
    return None


@rule
def generated_documents_are_fresh(tree):
    for script, page, name in (("scripts/chart", "docs/peers.svg", "chart"), ("Benchmarks/capacity.py", "docs/deploying.md", "capacity"),
                               ("scripts/openapi", "docs/openapi.yaml", "openapi")):
        if tree.root and subprocess.run([sys.executable, "-B", tree.root / script, "--check"], stdout=subprocess.DEVNULL).returncode:
            yield page, 1, f"it differs from what {script} makes; run make docs NAME={name}"


# The OpenAPI document


OPENAPI = "Sources/CDocumentation/openapi.json"
METHODS = ("get", "put", "post", "delete", "patch")


def openapi(tree):
    """The document, and each operation with its name."""
    document = json.loads(tree.text(OPENAPI) or "{}")
    operations = [(f"{method.upper()} {path}", operation) for path, methods in document.get("paths", {}).items()
                  for method, operation in methods.items() if method in METHODS]
    return document, operations


def component(document, kind, name):
    return document.get("components", {}).get(kind, {}).get(name, {})


def problem(document, response):
    """Status and codes of a response with problem details, and its examples; `None` for any other."""
    if "$ref" in response: response = component(document, *response["$ref"].split("/")[-2:])
    content = response.get("content", {}).get("application/problem+json", {})
    special = content.get("schema", {}).get("properties")
    if special is None: return None
    examples = [content["example"]] if "example" in content else [example["value"] for example in content.get("examples", {}).values()]
    return special.get("status", {}).get("const"), special.get("code", {}).get("enum", []), examples


@rule
def the_page_and_the_client_have_every_field_and_operation(tree):
    document, operations = openapi(tree)
    form, names = "Sources/CEmbeddedPage/page/form.js", component(document, "schemas", "EventPatch").get("properties", {})
    inputs = set(re.findall(r'\{ name: "(\w+)"', tree.text(form)))
    for name in sorted(inputs ^ {*names}): yield form, 1, f"only one of form and {OPENAPI} has the field {name}; make the two equal"
    # The details show the end of an event by a function of time.js.
    details = "".join(tree.text(f"Sources/CEmbeddedPage/page/{file}.js") for file in ("details", "time"))
    for name in names:
        if f"event.{name}" not in details: yield "Sources/CEmbeddedPage/page/details.js", 1, f"the details do not show {name}; add a row"
    # Accounts and their tasks are another app's.
    wanted = {operation.get("operationId") for name, operation in operations
              if " /v1/" in name and operation.get("tags") not in (["Tasks"], ["Accounts"])}
    page = "HumonClient/Sources/HumonClient.docc/Operations.md"
    rows = re.findall(r"(?m)^\| (`.*?`) \| (.*) \|$", tree.text(page))
    listed = {name for row in rows for name in re.findall(r"`(\w+)`", row[0])}
    for name in sorted(wanted ^ listed): yield page, 1, f"only one of this page and {OPENAPI} has {name}; write a function of the client, and list it"
    sources = "".join(tree.text(path) for path in tree.below("HumonClient/Sources", ending=".swift"))
    for name in sorted({name for row in rows for name in re.findall(r"API/(\w+)\(", row[1])}):
        if f"public func {name}(" not in sources: yield page, line_of(tree.text(page), f"API/{name}("), f"the client has no function {name}; correct the name"


@rule
def the_document_refers_to_everything_that_it_has(tree):
    document, operations = openapi(tree)
    used = set(re.findall(r'"\$ref": ?"([^"]+)"', tree.text(OPENAPI)))
    parts = document.get("components", {})
    there = {f"#/components/{kind}/{name}" for kind, names in parts.items() if kind != "securitySchemes" for name in names}
    for name in sorted(used ^ there): yield OPENAPI, 1, f"{name} is not there, or nothing refers to it; correct docs/openapi.yaml"
    schemes = {name for owner in (document, *(operation for _, operation in operations)) for choice in owner.get("security", []) for name in choice}
    for name in sorted(schemes ^ {*parts.get("securitySchemes", {})}): yield OPENAPI, 1, f"{name} is no scheme, or nothing needs it; correct docs/openapi.yaml"
    ids = {operation.get("operationId") for _, operation in operations}
    for name, operation in operations:
        for response in operation.get("responses", {}).values():
            for link in response.get("links", {}).values():
                if "$ref" in link: link = component(document, *link["$ref"].split("/")[-2:])
                if link.get("operationId") not in ids: yield OPENAPI, 1, f"{name} links to no operation; correct docs/openapi.yaml"


@rule
def errors_are_documented(tree):
    document, operations = openapi(tree)
    listed = [(code["const"], code["x-status"]) for code in component(document, "schemas", "ErrorCode").get("x-codes", [])]
    statuses, found = dict(listed), set()
    for path in tree.below("Sources", "Libraries/HTTPServer/Sources", ending=".swift"):
        text = re.sub(r"(?m)^\s*///.*$", "", tree.text(path))
        found.update(re.findall(r'(?:Error|Rejection)Code\(\s*"(\w+)"', text))
        # The codes of a module's rejections.
        for body in re.findall(r"(?s)var code: String\? \{(.*?)\n    \}", text): found.update(re.findall(r': "(\w+)"', body))
        # An error without a code of its own has that of its status.
        names = {*re.findall(r"HTTPError\(\s*\.(\w+),(?!\s*code:)", text)} - {"noContent"}
        found.update(re.sub("[A-Z]", lambda letter: "_" + letter[0].lower(), name) for name in names)
    for code in sorted(found ^ {*statuses}): yield OPENAPI, 1, f"only one of the sources and docs/openapi.yaml has the code {code}; make the two equal"
    client = "HumonClient/Sources/Errors/Problem.swift"
    for code in re.findall(r'= Code\(rawValue: "(\w+)"\)', tree.text(client)):
        if code not in statuses: yield client, line_of(tree.text(client), f'"{code}"'), f"docs/openapi.yaml has no code {code}; correct the name"
    if len(statuses) != len(listed): yield OPENAPI, 1, "a code is listed twice; correct docs/openapi.yaml"
    for code in statuses:
        if f'<tr id="error-{code}">' not in tree.text("Sources/CDocumentation/docs.html"):
            yield "Sources/CDocumentation/docs.html", 1, f"the type of {code} has no anchor; correct scripts/openapi"
    for name, response in document.get("components", {}).get("responses", {}).items():
        status, codes, examples = problem(document, response) or (None, None, [])
        if codes is None: continue
        if not codes or any(statuses.get(code) != status for code in codes): yield OPENAPI, 1, f"{name} has a code of another status; correct docs/openapi.yaml"
        if sorted(example.get("code", "") for example in examples) != sorted(codes): yield OPENAPI, 1, f"{name} needs one example for each code; correct docs/openapi.yaml"
        for example in examples:
            code = example.get("code", "")
            parts = (example.get("status"), example.get("title"), example.get("type"))
            if parts != (status, code.replace("_", " ").capitalize(), "/docs#error-" + code):
                yield OPENAPI, 1, f"an example of {name} does not fit {code}; correct docs/openapi.yaml"
    for name, operation in operations:
        responses = operation.get("responses", {})
        for status in ("400", "405", "408", "414", "431", "500", "503"):
            if status not in responses: yield OPENAPI, 1, f"{name} does not describe {status}, which any request can get; add it to docs/openapi.yaml"
        for status, response in responses.items():
            if status >= "400" and name != "GET /health" and str((problem(document, response) or (None,))[0]) != status:
                yield OPENAPI, 1, f"{name} describes {status} as another one; correct docs/openapi.yaml"


@rule
def the_api_page_has_no_markdown(tree):
    path = "Sources/CDocumentation/docs.html"
    # Examples may contain these characters.
    prose = re.sub(r"(?s)<pre.*?</pre>|<(style|script)>.*?</\1>", lambda part: "\n" * part[0].count("\n"), tree.text(path))
    for mark in ("`", "**", "{{"):
        if mark in prose: yield path, line_of(prose, mark), f"{mark} is not rendered; correct scripts/openapi"
