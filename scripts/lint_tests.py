#!/usr/bin/env python3
"""Tests of scripts/lint: each rule finds a short sample that breaks it, and accepts a similar one that keeps it. `make lint` runs them."""
import json, pathlib, re, subprocess, sys, tempfile, unittest, unittest.mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from rules import deployment, documents, promises, sources, texts
from rules.tree import ROOT, RULES, Page, Tree

sys.path[:0] = [str(ROOT / "checks/harness"), str(ROOT / "checks/units")]
import alerts, life, pages
from process import Failed

# A project of the size that the samples need.
MANIFEST = """
.systemLibrary(name: "CLibPQ", path: "Libraries/C/CLibPQ", providers: [.apt(["libpq-dev"])]),
.target(name: "Encoding"),
.target(
    name: "Postgres",
    dependencies: [
        "CLibPQ", "Encoding", .product(name: "Logging", package: "swift-log"),
    ],
    exclude: ["notes.txt"]
),
.target(name: "EventStore", dependencies: ["Postgres", "Encoding"]),
.target(name: "HTTPServer", dependencies: ["Encoding"]),
.target(name: "Users", dependencies: ["EventStore", "Postgres"]),
.target(name: "Events", dependencies: ["Users", "EventStore", "Postgres"]),
.target(name: "HTTP", dependencies: ["HTTPServer", "Events", "Users"]),
.target(name: "Web", dependencies: ["HTTPServer"]),
.target(name: "App", dependencies: ["HTTP", "Web"]),
.executableTarget(name: "humon", dependencies: ["App"]),
.target(name: "HumonClient", path: "HumonClient/Sources"),
.testTarget(name: "EventsTests", dependencies: ["Events"]),
"""
# The line of a target that a test adds.
LAST = f"Package.swift:{MANIFEST.count(chr(10)) + 1}"
LIBRARIES = ("Encoding", "Postgres", "EventStore", "HTTPServer")
PROJECT = {
    "Package.swift": MANIFEST, "Libraries/C/CLibPQ/module.modulemap": "",
    "HumonClient/Sources/API.swift": "", "Makefile": "## help  print this\nhelp:\n",
    **{f"Libraries/{name}/Sources/{name}.swift": "" for name in LIBRARIES},
    **{f"Sources/{name}/{name}Module.swift": "" for name in ("HTTP", "Web", "App", "humon")},
    "Sources/Users/UsersProjection.swift":
        'struct UsersProjection: Projection {\n    static let name = "users"\n    "CREATE TABLE devices (id bigint);"\n}\n',
    "Sources/Events/EventsProjection.swift":
        'struct EventsProjection: Projection {\n    static let name = "events"\n    "CREATE TABLE events (id bigint);"\n}\n',
}


def tree(files, root=None):
    files = PROJECT | files
    return Tree(files, files.__getitem__, root)


class Samples(unittest.TestCase):
    def broken(self, rule, files, *places, root=None):
        """Sees the rule fail at these places, `file:line`, and nowhere else."""
        found = list(rule(tree(files, root)))
        self.assertEqual(sorted({f"{path}:{line}" for path, line, _ in found}), sorted(places), found)
        for _, _, message in found: self.assertRegex(message, r"^\S[^\n]*\S; \S[^\n]*$")

    def kept(self, rule, files, root=None):
        self.assertEqual(list(rule(tree(files, root))), [])

    def source_broken(self, rule, text, line=1, path="Sources/Events/EventsModule.swift", **files):
        with self.subTest(text=text, path=path): self.broken(rule, {path: text}, f"{path}:{line}")

    def source_kept(self, rule, text, path="Sources/Events/EventsModule.swift"):
        with self.subTest(text=text, path=path): self.kept(rule, {path: text})

    def sample(self, rule, files, *places):
        """The first text of each file keeps the rule, the second breaks it."""
        self.kept(rule, {path: texts[0] for path, texts in files.items()})
        self.broken(rule, {path: texts[1] for path, texts in files.items()}, *places)


class Sources(Samples):
    def test_targets_of_the_manifest(self):
        targets = tree({}).targets
        self.assertNotIn("EventsTests", targets)
        self.assertEqual(targets["Postgres"].dependencies, {"CLibPQ", "Encoding"})
        self.assertEqual((targets["Postgres"].folder, targets["Users"].folder), ("Libraries/Postgres/Sources", "Sources/Users"))
        self.assertEqual(tree({}).read_models[0], ("Events", "EventsProjection", "events", {"events"}))

    def test_dependencies_point_one_way(self):
        rule = sources.dependencies_point_one_way
        self.kept(rule, {})
        for target, dependency in (
            ("EventStore", "Users"), ("HTTPServer", "HTTP"), ("Users", "HTTPServer"), ("Events", "HTTP"), ("Users", "App"),
            ("HTTP", "Postgres"), ("HTTP", "Web"), ("Web", "HTTP"), ("App", "humon"), ("App", "HumonClient"),
            ("Postgres", "HumonClient"),
        ):
            with self.subTest(target=target, dependency=dependency):
                manifest = MANIFEST + f'.target(name: "{target}", dependencies: ["{dependency}", "Encoding"]),\n'
                self.broken(rule, {"Package.swift": manifest}, LAST)
        manifest = MANIFEST + '.target(name: "HumonClient", dependencies: ["Encoding"], path: "HumonClient/Sources"),\n'
        self.broken(rule, {"Package.swift": manifest}, LAST)

    def test_targets_have_folders(self):
        rule = sources.targets_have_folders
        self.kept(rule, {})
        self.broken(rule, {"Package.swift": MANIFEST + '.target(name: "Tea"),\n'}, LAST)
        self.broken(rule, {"Sources/Tea/Tea.swift": ""}, "Package.swift:1")

    def test_imports_are_dependencies(self):
        rule = sources.imports_are_dependencies
        self.source_broken(rule, "// Tea.\ninternal import HTTP\n", 2)
        self.source_broken(rule, "public import struct Postgres.SQL\n", path="Sources/HTTP/API.swift")
        self.source_broken(rule, "@preconcurrency import Postgres\n", path="Libraries/Encoding/Sources/JSON.swift")
        self.source_kept(rule, "public import Users\ninternal import Foundation\n// import HTTP\n")

    def test_few_files_import_these_packages(self):
        rule = sources.few_files_import_these_packages
        self.source_broken(rule, "import NIOCore\n")
        self.source_broken(rule, "internal import NIOPosix\n", path="Sources/HTTP/API.swift")
        self.source_broken(rule, "internal import FoundationNetworking\n", path="Sources/HTTP/API.swift")
        self.source_broken(rule, "internal import ArgumentParser\n")
        self.source_kept(rule, "internal import NIOCore\n", "Sources/HTTP/API.swift")
        self.source_kept(rule, "internal import NIOPosix\n", "Libraries/HTTPServer/Sources/Server.swift")
        self.source_kept(rule, "internal import FoundationNetworking\n", "HumonClient/Sources/Transport.swift")
        self.source_kept(rule, "internal import ArgumentParser\n", "Sources/App/Options.swift")

    def test_code_keeps_to_its_part(self):
        rule = sources.code_keeps_to_its_part
        self.source_broken(rule, "\nlet deadline = Date.now + 5\n", 2)
        self.source_broken(rule, "let start = Date()\n", path="Libraries/HTTPServer/Sources/RateLimiter.swift")
        self.source_broken(rule, "clock_gettime(CLOCK_REALTIME, &time)\n")
        self.source_broken(rule, "let told = Mutex<(@Sendable (Notification) -> Void)?>(nil)\n")
        for statement in ("INSERT INTO a", "UPDATE \\(a)", "DELETE FROM a", "TRUNCATE a"): self.source_broken(rule, f'"{statement}"')
        self.source_broken(rule, "let request = OutgoingRequest(path, port: 80)\n", path="Sources/HTTP/API.swift")
        self.source_broken(rule, '"SELECT max(position) FROM log.recorded_events"')
        self.source_kept(rule, "// Date()\nlet deadline = ContinuousClock.now + .seconds(5)\nclock_gettime(CLOCK_MONOTONIC, &time)\n")
        self.source_kept(rule, "let told = Mutex<[@Sendable () -> Void]>([])\n")
        self.source_kept(rule, "let request = OutgoingRequest(path, port: 80)\n", "Sources/App/Doctor/IndexCheck.swift")
        self.source_kept(rule, '"INSERT INTO \\(schema).events"', "Sources/Events/EventsProjection.swift")
        self.source_kept(rule, '"FROM log.recorded_events"', "Libraries/EventStore/Sources/LogReader.swift")

    def test_sql_names_only_own_read_models(self):
        rule = sources.sql_names_only_own_read_models
        self.source_broken(rule, 'let query: SQL = "SELECT id FROM \\(identifier: UsersProjection.schema).users"')
        self.source_broken(rule, "let state = try await ReadModelState.of(UsersProjection.self, client)\n")
        self.source_broken(rule, 'client.query("SELECT 1 FROM users_v1.devices")')
        self.source_broken(rule, '"""\nSELECT 1 FROM\n    users.users\n"""', 2)
        self.source_broken(rule, '"SELECT count(*) FROM events_v1.events"', path="Sources/App/Doctor.swift")
        self.source_broken(rule, '"... JOIN events ON owner_id = id"', path="Sources/Users/UsersModule.swift")
        self.source_broken(rule, 'SQL("TRUNCATE devices")', path="Libraries/EventStore/Sources/LogReader.swift")
        self.source_broken(rule, 'client.query("select 1 from \\(schema).events join users.users on true")')
        self.source_broken(rule, "enum WebProjection {}", path="Sources/Web/WebProjection.swift")
        self.source_kept(rule, '"SELECT 1 FROM \\(identifier: EventsProjection.schema).events"')
        self.source_kept(rule, "/// As `users_v1` is.\nlet all = [UsersProjection()]\n", "Sources/App/Backend.swift")
        self.source_kept(rule, "let users = events.map(\\.owner)\n", "Sources/App/Demo.swift")

    def test_no_type_has_the_name_of_a_target(self):
        self.source_broken(sources.no_type_has_the_name_of_a_target, "public enum Users {}\n")
        self.source_broken(sources.no_type_has_the_name_of_a_target, "typealias Postgres = PostgresClient\n")
        self.source_kept(sources.no_type_has_the_name_of_a_target, "public struct EventsView {}\n")

    def test_stored_types_are_listed(self):
        text = """enum UserDomainEvent: DomainEvent {
            static let storedTypes = [StoredType("UserCreated"), StoredType(
                "UserRenamed", upcasters: [{ $0 }])]
            // Once there was "UserMoved".
            var stored: (type: String, data: JSON) { ("UserRenamed", ["name": .null]) }
        """
        self.source_kept(sources.stored_types_are_listed, text)
        self.source_broken(sources.stored_types_are_listed, text.replace("//", ""), 4)

    def test_files_have_telling_names(self):
        self.source_broken(sources.files_have_telling_names, "", path="Sources/App/ServerManager.swift")
        self.source_broken(sources.files_have_telling_names, "", path="Sources/Events/StringUtils.swift")
        self.source_kept(sources.files_have_telling_names, "", "Sources/App/Commands/ServeCommand.swift")

    def test_comments_say_what_protects_unchecked_types(self):
        rule = sources.comments_say_what_protects_unchecked_types
        self.source_broken(rule, "/// A box.\nfinal class Box: @unchecked Sendable {\n", 2)
        self.source_broken(rule, "final class Box: @unchecked Sendable {\n")
        self.source_kept(rule, "/// `@unchecked`: the lock protects it.\nfinal class Box: @unchecked Sendable {\n")

    def test_public_declarations_say_what_they_throw(self):
        rule = sources.public_declarations_say_what_they_throw
        self.source_broken(rule, "    /// Reads.\n    public func read() throws {}\n", 2)
        self.source_broken(rule, "    public func read(\n        _ body: () throws -> Void\n    ) async throws {}\n")
        self.source_broken(rule, "    public init(_ cell: Cell) throws(CellError) {}\n")
        self.source_broken(rule, "    public subscript(id: Int) -> Row { get throws { row } }\n")
        self.source_broken(rule, "public protocol Reader {\n    func read() async throws\n}\n", 2)
        self.source_broken(rule, "/// - Throws: `E`\npublic func a() throws {}\npublic func b() throws {}\n", 3)
        self.source_kept(rule, "/// - Throws: `E`\n@discardableResult\npublic func read() throws {}\n")
        self.source_kept(rule, "    public func each(_ body: () throws -> Void) rethrows {}\n    func read() throws {}\n")
        self.source_kept(rule, "public protocol Reader {\n    var name: String { get }\n}\nfunc read() throws {}\n")

    def test_listed_files_have_the_unsafe_code(self):
        rule = sources.listed_files_have_the_unsafe_code
        path = "Libraries/Encoding/Sources/Block.swift"
        listed = "# The files with unsafe code.\n{}: The memory of the index.\n"
        for text in ("let bytes = unsafe pointer.load(as: Int.self)\n", "@safe struct Box {\n",
                     "func read(_ bytes: UnsafeRawBufferPointer) {}\n", "nonisolated(unsafe) static var count = 0\n"):
            self.source_broken(rule, text)
        self.source_kept(rule, "// No unsafe code.\nlet sql = SQL(unsafeText: text)\nfunc read(_ bytes: RawSpan) {}\n")
        self.kept(rule, {"unsafe.txt": listed.format(path), path: "unsafe start.deallocate()\n"})
        self.broken(rule, {"unsafe.txt": listed.format(path), path: "free(start)\n"}, "unsafe.txt:2")
        module = "Sources/Events/Block.swift"
        self.broken(rule, {"unsafe.txt": listed.format(module), module: "unsafe start.deallocate()\n"}, "unsafe.txt:2")

    def test_tests_ask_the_kernel_for_the_end_of_a_process(self):
        rule = sources.tests_ask_the_kernel_for_the_end_of_a_process
        path = "Tests/AppTests/ServeTests.swift"
        self.source_broken(rule, "try process.run()\nprocess.waitUntilExit()\n", 2, path)
        self.source_broken(rule, "process.terminationHandler = { _ in }\n", path=path)
        self.source_kept(rule, "#expect(try await process.untilEnd() == 0)\n", path)

    def test_production_uses_every_member(self):
        self.broken(sources.production_uses_every_member, {"Sources/Web/Tea.swift": "\nlet tea = 1\n"}, "Sources/Web/Tea.swift:2", *(
            f"Sources/{name}/{name}Projection.swift:{line}" for name in ("Users", "Events") for line in (1, 2)))

    def test_members_without_a_use_are_found_and_members_with_one_are_not(self):
        kettle = """struct Kettle {
            var litres = 1  // warmth
            let warmth: Int
            func boil(_ water: Int) {}
            func boil(tea: Int) {}
            func pour(into cup: Int, slowly: Bool) {}
            func wash(with soap: Int = 0) {}
            func rest() {}
        }
        """
        kitchen = "let kettle = Kettle(litres: 2)\nkettle.boil(1)\nkettle.wash()\nprint(kettle)"
        texts = [("Kettle.swift", kettle), ("Kitchen.swift", kitchen)]
        found = list(sources.unused_members(texts))
        self.assertEqual([(line, name, label) for _, line, name, label in found],
                         [(3, "warmth", None), (5, "boil", "tea"), (6, "pour", "into"), (8, "rest", None)])
        self.assertEqual([name for _, _, name, _ in sources.unused_members(texts, "warmth rest")], ["boil", "pour"])


class Documents(Samples):
    def test_links_and_paths_lead_somewhere(self):
        rule = documents.links_and_paths_lead_somewhere
        page = {"docs/page.md": "# Page\n## Two words"}
        for text in ("[a](missing.md)", "[a](page.md#missing)", "[a](#missing)", "`Sources/Missing.swift`"):
            with self.subTest(text=text): self.broken(rule, page | {"docs/a.md": "\n" + text}, "docs/a.md:2")
        for text in ("[a](page.md)", "[a](page.md#two-words)", "[a](../docs/page.md)", "[a](https://example.org)",
                     "```\n[a](missing.md)\n```", "`Sources/Web/WebModule.swift`", "`Sources/Tea`"):
            added = {"checks/extending/module/Sources/Tea/Tea.swift": ""}
            with self.subTest(text=text): self.kept(rule, page | added | {"docs/a.md": text})

    def test_documents_name_types_that_exist(self):
        rule = documents.documents_name_types_that_exist
        files = {"Sources/Web/Tea.swift": "struct TeaPot {}; StoredType(\"UserErased\")", "Tests/AppTests/ServeTests.swift": ""}
        self.kept(rule, files | {"docs/a.md": "`TeaPot.pour()`, `ServeTests`, `HTTPServer`, `UserErased`, `Age`, `Idempotency-Key`"})
        self.broken(rule, files | {"docs/a.md": "A\n`TeaCup<Int>`\n```\n`CoffeePot`\n```\n"}, "docs/a.md:2")

    def test_documents_name_parts_of_the_log_that_exist(self):
        rule = documents.documents_name_parts_of_the_log_that_exist
        files = {"db/functions/append.sql": "CREATE OR REPLACE FUNCTION log.append(a int)",
                 "db/migrations/0001_log.sql": "CREATE TABLE log.old (a int);\nALTER TABLE log.old RENAME TO events"}
        self.kept(rule, files | {"docs/a.md": "`log.append(1)`, log.events, event-log.md\n```swift\nlog.run()\n```\n"})
        self.broken(rule, files | {"docs/a.md": "```sql\nlog.tail()\n```\nlog.old"}, "docs/a.md:2", "docs/a.md:4")

    def test_documents_name_commands_and_settings_that_exist(self):
        rule = documents.documents_name_commands_and_settings_that_exist
        files = {"docs/cli.md": "| `humon serve` |\n| `humon log tail` |\n", "docs/settings.md": "| `HUMON_DATA` | a path |\n",
                 "Makefile": "verify:\n", "scripts/verify": "case $name in\nfuzz)\n"}
        kept = "`humon log tail --follow`, `make\nverify NAME=fuzz`, make tea, `HUMON_DATA`\n```sh\nhumon serve\n```\n"
        self.kept(rule, files | {"docs/a.md": kept})
        self.kept(rule, files | {"Makefile": "test:\n", "docs/a.md": "`make test NAME=MapHis`", "Tests/WebTests/MapHistoryTests.swift": ""})
        for text in ("`humon boil`", "`humon log boil`", "`make tea`", "`make verify NAME=tea`", "`make test NAME=Tea`", "`HUMON_TEA`", "```sh\n$ humon boil\n```"):
            with self.subTest(text=text): self.broken(rule, files | {"docs/a.md": "\n" + text}, f"docs/a.md:{3 if '$' in text else 2}")

    def test_decision_records_have_their_parts(self):
        rule = documents.decision_records_have_their_parts
        path, index = "docs/decisions/0001-a.md", {"docs/decisions/README.md": "[1 a](0001-a.md)"}
        record = "# 1. A\n\n- Date: 2026-11-21\n\n## Context\n## Decision\n## Alternatives\n## Consequences\n"
        self.kept(rule, index | {path: record})
        for part in ("# 1. ", "- Date: 2026-11-21", *re.findall("## .*", record)):
            with self.subTest(part=part): self.broken(rule, index | {path: record.replace(part, "")}, f"{path}:1")
        self.broken(rule, {path: record, "docs/decisions/README.md": ""}, "docs/decisions/README.md:1")

    def test_the_security_page_names_tests_that_exist(self):
        rule = documents.the_security_page_names_tests_that_exist
        path, row = "docs/security.md", "- `Tests/WebTests/TeaTests.swift` `Making tea`: `tea is hot`\n"
        page = "# Security\n\n" + "".join(f"## API{risk}: Tea\n\n{row}\nOpen: milk.\n\n" for risk in range(1, 11))
        suites = "@Suite struct `Other` {\n}\n@Suite struct `Making tea` {\n    @Test func `tea is hot`() {}\n}\n"
        files = {"Tests/WebTests/TeaTests.swift": suites, "scripts/rules/tea.py": "@rule\ndef tea_is_hot(tree):\n"}
        files["Tests/tea.http"] = "# Tea has a pot.\nGET /pot\n200\n\n# Tea is hot.\nGET /tea\n200\n"
        self.kept(rule, files | {path: page})
        self.kept(rule, files | {path: page.replace(row, "- `Tests/tea.http` `scenario`: `Tea is hot.`\n", 1)})
        self.broken(rule, files | {path: page.replace(row, "- `Tests/tea.http` `scenario`: `Tea is cold.`\n", 1)}, f"{path}:5")
        self.kept(rule, files | {path: page.replace(row, "- `scripts/rules/tea.py` `rule`: `tea_is_hot`\n", 1)})
        for wrong in ("`Making tea`: `tea is cold`", "`Other`: `tea is hot`", "tea is hot"):
            self.broken(rule, files | {path: page.replace("`Making tea`: `tea is hot`", wrong, 1)}, f"{path}:5")
        self.broken(rule, files | {path: page.replace("Open: ", "", 1)}, f"{path}:3")
        self.broken(rule, files | {path: page.replace("API10", "API11")}, f"{path}:1")

    def listing_files(self, text):
        shown = {f"Libraries/{name}/README.md": f"# {name}\n```swift\nlet tea = Tea()\n    tea.pour()\n```\n" for name in LIBRARIES}
        tests = {f"Libraries/{name}/Tests/A.swift": "func a() {\n    let tea = Tea()\n    tea.pour()\n}\n" for name in LIBRARIES}
        client = {"HumonClient/README.md": "```swift\nhumon()\n```\n", "HumonClient/Tests/PageListings.swift": "humon()\n"}
        return shown | tests | client | {"Libraries/Encoding/Sources/Tea.swift": text}

    def test_listings_are_compiled_by_tests(self):
        rule, path = documents.listings_are_compiled_by_tests, "Libraries/Encoding/Sources/Tea.swift"
        comment = "/// Makes tea.\n///\n/// ```swift\n/// let tea = Tea()\n/// tea.pour()\n/// ```\n@frozen\npublic struct Tea {\n"
        files = self.listing_files(comment)
        self.kept(rule, files)
        self.assertEqual(list(documents.listings_of_comments(comment)), [(3, "public struct Tea {", ["let tea = Tea()", "tea.pour()"])])
        self.broken(rule, files | {path: comment.replace("pour", "drink")}, f"{path}:3")
        between = {"Libraries/Postgres/Tests/A.swift": "let tea = Tea()\nprint()\ntea.pour()\n"}
        self.broken(rule, files | between, "Libraries/Postgres/README.md:2")
        self.broken(rule, files | {"Libraries/Postgres/README.md": "# No code\n"}, "Libraries/Postgres/README.md:1")
        client = "HumonClient/README.md"
        self.broken(rule, files | {client: "```swift\ntea()\n```\n\n```swift sketch\nhumon()\n```\n"}, f"{client}:1", f"{client}:5")

    def test_front_doors_show_an_example(self):
        example = "/// A.\n///\n/// ```swift\n/// a()\n/// ```\n{}\n}}\n"
        files = {path: example.format(declaration) for path, declaration in documents.FRONT_DOORS.items()}
        rule, path, root = documents.front_doors_show_an_example, "Libraries/HTTPServer/Sources/Routing/Router.swift", pathlib.Path(".")
        self.kept(rule, files, root)
        self.broken(rule, files | {path: "/// A.\n" + documents.FRONT_DOORS[path]}, f"{path}:2", root=root)

    def test_examples_fit_the_sources(self):
        rule, file = documents.examples_fit_the_sources, "Sources/Web/A.swift"
        module, field = "checks/extending/module/Sources/Comments/B.swift", f"checks/extending/field/{file}.diff"
        whole = {module: "let c = 3\n", field: " let a = 1\n+let b = 2\n@@\n-let d = 4\n", file: "import C\nlet a = 1\nlet d = 4\n"}
        self.kept(rule, whole)
        self.broken(rule, {path: text for path, text in whole.items() if path != file}, f"{field}:1")
        self.broken(rule, whole | {file: "let a = 1\n"}, f"{field}:1")
        self.broken(rule, whole | {file: "let a = 1\nlet a = 1\nlet d = 4\n"}, f"{field}:1")
        self.broken(rule, whole | {"Sources/Comments/B.swift": ""}, f"{module}:1")

    def test_generated_documents_are_fresh(self):
        with tempfile.TemporaryDirectory(prefix="humon-lint-") as name:
            root = pathlib.Path(name)
            for script in ("scripts/chart", "scripts/openapi", "Benchmarks/capacity.py"):
                (root / script).parent.mkdir(exist_ok=True)
                (root / script).write_text("import sys\nsys.exit(sys.argv[1:] != ['--check'])\n")
            self.kept(documents.generated_documents_are_fresh, {}, root)
            (root / "scripts/chart").write_text("raise SystemExit(1)\n")
            self.broken(documents.generated_documents_are_fresh, {}, "docs/peers.svg:1", root=root)

    def test_the_page_and_the_client_have_every_field_and_operation(self):
        rule, web, client = documents.the_page_and_the_client_have_every_field_and_operation, "Sources/CEmbeddedPage/page/", "HumonClient/Sources/"
        page = client + "HumonClient.docc/Operations.md"
        document = {"paths": {"/v1/me": {"get": {"operationId": "getMe"}}, "/v1/tasks": {"get": {"operationId": "t", "tags": ["Tasks"]}}},
                    "components": {"schemas": {"EventPatch": {"properties": {"name": {}}}}}}
        files = {
            documents.OPENAPI: json.dumps(document), web + "form.js": '{ name: "name" }', web + "details.js": "event.name", web + "time.js": "",
            page: "| `getMe` | ``API/me()`` |\n", client + "API.swift": "public func me() {}\n",
        }
        self.kept(rule, files)
        self.broken(rule, files | {web + "form.js": '{ name: "tea" }'}, web + "form.js:1")
        self.broken(rule, files | {web + "details.js": "event.tea"}, web + "details.js:1")
        self.broken(rule, files | {page: "\n| `getYou` | ``API/me()`` |\n"}, page + ":1")
        self.broken(rule, files | {page: "\n| `getMe` | ``API/you()`` |\n"}, page + ":2")

    def document_broken(self, rule, files, document, *changes, place=f"{documents.OPENAPI}:1"):
        """Sees each change of the document's text break the rule."""
        self.kept(rule, files | {documents.OPENAPI: document})
        for old, new in changes:
            with self.subTest(old=old, new=new):
                self.assertIn(old, document)
                self.broken(rule, files | {documents.OPENAPI: document.replace(old, new, 1)}, place)

    def test_the_document_refers_to_everything_that_it_has(self):
        document = json.dumps({
            "paths": {"/a": {"get": {"operationId": "getA", "security": [{"token": []}], "responses": {
                "200": {"links": {"next": {"operationId": "getA"}}}, "400": {"$ref": "#/components/responses/Bad"}}}}},
            "components": {"securitySchemes": {"token": {}}, "responses": {"Bad": {}}}})
        self.document_broken(
            documents.the_document_refers_to_everything_that_it_has, {}, document, ('"Bad": {}', '"Bad": {}, "Tea": {}'),
            ('"Bad": {}', ""), ('"token": []', '"key": []'), ('"next": {"operationId": "getA"', '"next": {"operationId": "getB"'))

    def test_errors_are_documented(self):
        responses = {status: {"$ref": "#/components/responses/Bad"} for status in ("400",)}
        responses |= {status: {"content": {"application/problem+json": {"schema": {"properties": {
            "status": {"const": int(status)}, "code": {"enum": ["a"]}}}}}} for status in ("405", "408", "414", "431", "500", "503")}
        document = json.dumps({
            "paths": {"/a": {"get": {"responses": responses}}},
            "components": {
                "schemas": {"ErrorCode": {"x-codes": [{"const": "bad_tea", "x-status": 400}, {"const": "not_found", "x-status": 404}]}},
                "responses": {"Bad": {"content": {"application/problem+json": {
                    "schema": {"properties": {"status": {"const": 400}, "code": {"enum": ["bad_tea"]}}},
                    "example": {"type": "/docs#error-bad_tea", "title": "Bad tea", "status": 400, "code": "bad_tea"}}}}}}})
        files = {
            "Sources/HTTP/API.swift": '/// ErrorCode("example")\nErrorCode("bad_tea")\nHTTPError(.notFound, "Tea")\nHTTPError(.gone, code: x)\n',
            "Libraries/HTTPServer/Sources/HTTPServer.swift": "",
            "HumonClient/Sources/Errors/Problem.swift": '= Code(rawValue: "bad_tea")',
            "Sources/CDocumentation/docs.html": '<tr id="error-bad_tea"><tr id="error-not_found"><tr id="error-missing">',
        }
        rule = documents.errors_are_documented
        self.document_broken(
            rule, files, document, ('"const": "not_found"', '"const": "missing"'), ('"x-status": 400', '"x-status": 422'),
            ('"enum": ["bad_tea"]', '"enum": []'), ('"title": "Bad tea"', '"title": "Tea"'), ("#error-bad_tea", "#bad_tea"),
            ('"status": 400, "code"', '"status": 401, "code"'), ('"503": ', '"504": '), ('{"const": 405}', '{"const": 406}'))
        files[documents.OPENAPI] = document
        own = "    var code: String? {\n        switch self {\n        case .late: \"too_late\"\n        }\n    }\n"
        self.broken(rule, files | {"Sources/Events/EventRules.swift": own}, f"{documents.OPENAPI}:1")
        self.broken(rule, files | {"HumonClient/Sources/Errors/Problem.swift": '\n= Code(rawValue: "tea")'}, "HumonClient/Sources/Errors/Problem.swift:2")
        self.broken(rule, files | {"Sources/CDocumentation/docs.html": '<tr id="error-bad_tea">'}, "Sources/CDocumentation/docs.html:1")

    def test_commands_use_variables_that_their_page_sets(self):
        rule, path = documents.commands_use_variables_that_their_page_sets, "docs/a.md"
        self.sample(rule, {path: ("```sh\nA_B=1 cd $PWD\necho ${A_B} $1 $c\n```\n", "```sh\necho $A_B\nA_B=1\n```\n")}, f"{path}:2")
        # Each page begins in a shell of its own.
        self.broken(rule, {"docs/b.md": "```sh\nA_B=1\n```\n", path: "```bash\n$A_B\n```\n"}, f"{path}:2")

    def test_the_version_is_the_one_that_documents_name(self):
        rule, page = documents.the_version_is_the_one_that_documents_name, "docs/a.md"
        files = {"Sources/App/Humon.swift": 'static let current = "0.9.0"', "docs/openapi.yaml": "info:\n  version: 0.9.0\n"}
        self.kept(rule, files | {page: "Until release 0.10.0 and until release 1.0.0."})
        self.broken(rule, files | {page: "\nUntil release 0.9.0."}, f"{page}:2")
        self.broken(rule, files | {"docs/openapi.yaml": "info:\n  version: 1.0.0\n"}, "docs/openapi.yaml:2")

    def test_the_steps_of_a_write_are_functions(self):
        rule, path = documents.the_steps_of_a_write_are_functions, "ARCHITECTURE.md"
        files = {"Sources/Events/A.swift": "func tea()", "db/a.sql": "CREATE FUNCTION log.tea()"}
        rows = "| 1 | `A.swift` | `tea` is |\n| 2 | `db/a.sql` | `log.tea` is |\n"
        self.kept(rule, files | {path: rows})
        self.broken(rule, files | {path: rows.replace("`tea", "`te")}, f"{path}:1")
        self.broken(rule, files | {path: rows.replace("db/a", "db/b")}, f"{path}:2")

    def test_the_api_page_has_no_markdown(self):
        rule, page = documents.the_api_page_has_no_markdown, "Sources/CDocumentation/docs.html"
        self.kept(rule, {page: "<pre>\n`a`</pre><style>**</style><script>`a`</script>Tea"})
        for mark in ("`a`", "**a**", "{{a}}"): self.broken(rule, {page: f"<pre>\n</pre>{mark}"}, page + ":2")

    def test_code_in_a_page(self):
        page = Page("a.md", "# A: b-c `d`\n`make\ntest` and\n  ```sh\n$ humon serve\n  ```\n`a`\n")
        self.assertEqual(page.anchors, {"a-b-c-d"})
        self.assertEqual(list(page.commands()), [(5, "humon serve"), (1, "d"), (2, "make test"), (7, "a")])


class Deployment(Samples):
    def test_make_help_lists_every_target(self):
        kept = "## help  a\nhelp:\n## tea  b\ntea: help\n"
        broken = kept.replace("## tea", "## tee")
        self.sample(deployment.make_help_lists_every_target, {"Makefile": (kept, broken)}, "Makefile:3", "Makefile:4")

    def test_packages_have_one_version(self):
        rule = deployment.packages_have_one_version
        files = {"Package.swift": '.package(url: "https://a.org/b/Yams", exact: "6.2.2"),\n', "deploy/packages.txt": "yams 6.2.2\n",
                 "Dockerfile": "RUN swift build --force-resolved-versions\n", "Benchmarks/Package.swift": ""}
        self.kept(rule, files)
        self.broken(rule, files | {"deploy/packages.txt": "yams 6.2.1\n"}, "Package.swift:1")
        self.broken(rule, files | {"Package.swift": '\n.package(url: "https://a.org/b/Yams", from: "6.2.2"),\n'}, "Package.swift:2")
        benchmarks = files["Package.swift"] + '.package(url: "https://a.org/b/Tea"'
        self.kept(rule, files | {"Benchmarks/Package.swift": benchmarks + ', exact: "1.0.0"),\n'})
        self.broken(rule, files | {"Benchmarks/Package.swift": benchmarks + "),\n"}, "Benchmarks/Package.swift:2")
        self.broken(rule, files | {"Benchmarks/Package.swift": benchmarks.replace("6.2.2", "6.2.1")}, "Benchmarks/Package.swift:1",
                    "Benchmarks/Package.swift:2")
        self.broken(rule, files | {"Dockerfile": "RUN swift build\n"}, "Dockerfile:1")

    def test_the_client_alone_has_the_settings_of_the_whole(self):
        own = '.library(name: "HumonClient", targets: ["HumonClient"])\n.iOS(.v16)\nenableUpcomingFeature("A")\n'
        self.sample(deployment.the_client_alone_has_the_settings_of_the_whole, {
            "Package.swift": (own, own), "HumonClient/Package.swift": ('enableUpcomingFeature("A")', ""),
        }, "HumonClient/Package.swift:1")

    def test_migrations_are_embedded(self):
        rule, path = deployment.migrations_are_embedded, "Libraries/EventStore/Sources/Schema.swift"
        schema = 'Migration(name: "0001_log")\nMigration(name: "0002_keys")\nsql_append, sql_grants\n'
        files = {path: schema, "db/migrations/0001_log.sql": "", "db/migrations/0002_keys.sql": "", "db/functions/append.sql": ""}
        self.kept(rule, files)
        self.broken(rule, files | {path: schema.replace("0002_keys", "0002_kays")}, f"{path}:2")
        self.broken(rule, files | {"db/migrations/0003_tea.sql": ""}, f"{path}:1")
        self.broken(rule, files | {"db/functions/tail.sql": ""}, f"{path}:1")

    def test_migrations_change_tables_and_functions_replace_functions(self):
        function = "-- Appends.\nCREATE OR REPLACE FUNCTION log.append() AS $$\nDROP TABLE a; \n$$;\n"
        self.sample(deployment.migrations_change_tables_and_functions_replace_functions, {
            "db/migrations/0020_a.sql": (
                "CREATE FUNCTION log.guard() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE insufficient_privilege; END';\n",
                "\nCREATE FUNCTION a()"),
            "db/functions/append.sql": (function, function + "\nDROP TABLE a;\n"),
        }, "db/migrations/0020_a.sql:2", "db/functions/append.sql:6")

    def test_alerts_have_tests_and_runbooks(self):
        rule = deployment.alerts_have_tests_and_runbooks
        alert = '- alert: Tea\n  runbook_url: "file:///usr/share/doc/humon/runbooks.md#tea"\n'
        runbook = "# Runbooks\n\n### Tea\n\n**Users** a. **Look:** b. **Type:** c. **Over:** d.\n\n## Procedures\n\n### Kettle: descale\n"
        files = {"deploy/prometheus/alerts.yml": "\n" + alert, "deploy/prometheus/alerts-test.yml": '{alertname="Tea"}',
                 "docs/runbooks.md": runbook}
        self.kept(rule, files)
        self.broken(rule, files | {"deploy/prometheus/alerts-test.yml": ""}, "deploy/prometheus/alerts.yml:2")
        self.broken(rule, files | {"deploy/prometheus/alerts.yml": alert.replace("#tea", "#milk")}, "deploy/prometheus/alerts.yml:1")
        self.broken(rule, files | {"docs/runbooks.md": runbook.replace("**Type:**", "")}, "docs/runbooks.md:3")
        self.broken(rule, files | {"docs/runbooks.md": runbook.replace("Users", "Over")}, "docs/runbooks.md:3")
        both = runbook.replace("### Tea", "### Tea, Milk")
        self.broken(rule, files | {"docs/runbooks.md": both}, "deploy/prometheus/alerts.yml:2", "docs/runbooks.md:3")
        linked = alert + alert.replace(" Tea", " Milk")
        self.kept(rule, files | {
            "docs/runbooks.md": both, "deploy/prometheus/alerts.yml": linked.replace("#tea", "#tea-milk"),
            "deploy/prometheus/alerts-test.yml": '{alertname="Tea"}{alertname="Milk"}'})
        other = files | {"docs/runbooks.md": runbook.replace("Tea", "Milk")}
        self.broken(rule, other, "deploy/prometheus/alerts.yml:2", "docs/runbooks.md:3")

    def test_dashboards_and_alerts_use_metrics_that_exist(self):
        page = "`humon_backup_size_bytes`\n| `humon_seconds` | histogram | | a |\n| `humon_log` | gauge | | a |\n"
        self.sample(deployment.dashboards_and_alerts_use_metrics_that_exist, {
            "docs/metrics.md": (page, page), "deploy/grafana/humon.json": ("humon_seconds_bucket humon_log", "\nhumon_seconds"),
            "deploy/prometheus/alerts.yml": ("humon_backup_size_bytes", "humon_tea"),
        }, "deploy/grafana/humon.json:2", "deploy/prometheus/alerts.yml:1")

    def test_deployment_files_name_settings_and_files_that_exist(self):
        page = "| `HUMON_DATA` | a path |\n"
        self.sample(deployment.deployment_files_name_settings_and_files_that_exist, {
            "docs/settings.md": (page, page),
            "deploy/humon.env": ("# HUMON_TEA\nHUMON_DATA=1\n# docs/settings.md\n", "HUMON_TEA=1\n# docs/tea.md\n"),
            "docker-compose.yml": ("      - ./deploy/humon.env:/a:ro\n      - ./secrets/a:/a\n", "      - ./tea:/a:ro\n"),
            "Dockerfile": ("COPY Package.swift Sources ./\nCOPY --from=a /b /c\n", "COPY Package.swift Tea ./\n"),
        }, "deploy/humon.env:1", "deploy/humon.env:2", "docker-compose.yml:1", "Dockerfile:1")

    NODE = """services:
  node:
    image: humon:${IMAGE_TAG:-1.2.3}
    cap_drop: [ALL]
    security_opt: ["no-new-privileges:true"]
    mem_limit: 1g
    cpus: "0.5"
    pids_limit: 512
    read_only: true
    logging: { options: { max-size: 10m, max-file: "5" } }
    ports: ["127.0.0.1:80:80"]
    secrets: [password]
    depends_on:
      node: {}
    networks: [inside]
secrets:
  password:
networks:
  inside:
"""

    def service_broken(self, rule, files, *changes):
        """Sees each change of the service `node` break the rule."""
        for old, new in changes:
            with self.subTest(old=old):
                self.assertIn(old, self.NODE)
                self.broken(rule, files | {"docker-compose.yml": self.NODE.replace(old, new)}, "docker-compose.yml:2")

    def test_services_name_what_is_declared(self):
        rule = deployment.services_name_what_is_declared
        files = {
            "docker-compose.yml": self.NODE, "deploy/make-secrets": "keep password\n", "docs/deploying.md": "secrets/receiver",
            "deploy/prometheus/alertmanager.yml": "",
        }
        self.kept(rule, files)
        self.service_broken(
            rule, files, ("[password]", "[word]"), ("[password]", "[{ source: word }]"), ("[inside]", "[outside]"), ("[inside]", "[]"), ("      node: {}", "      tea: {}"))
        self.broken(rule, files | {"deploy/make-secrets": "keep word\n"}, "docker-compose.yml:17")
        receiver = {"deploy/prometheus/alertmanager.yml": "url_file: /run/secrets/receiver\n"}
        alertmanager = {"docker-compose.yml": "services:\n  alertmanager:\n    networks: [a]\n    secrets: [receiver]\nsecrets: { receiver: }\nnetworks: { a: }\n"}
        self.kept(rule, files | receiver | alertmanager)
        self.broken(rule, files | alertmanager, "docker-compose.yml:2")
        self.broken(rule, files | receiver | alertmanager | {"docs/deploying.md": ""}, "docs/deploying.md:1")

    def test_images_have_the_tag_of_one_release(self):
        rule = deployment.images_have_the_tag_of_one_release
        bases = "ARG A_IMAGE=a:1.2\nARG B_IMAGE=b:1.2.3\nARG C_IMAGE=c:13.1\n"
        files = {"docker-compose.yml": self.NODE, "Dockerfile": bases}
        self.kept(rule, files)
        self.kept(rule, files | {"docker-compose.yml": self.NODE.replace("humon:${IMAGE_TAG:-1.2.3}", "nginx:v1.2.3-alpine")})
        for image in ("nginx", "nginx:latest", "nginx:1"): self.service_broken(rule, files, ("humon:${IMAGE_TAG:-1.2.3}", image))
        self.broken(rule, files | {"Dockerfile": bases.replace("c:13.1", "c:latest")}, "Dockerfile:3")
        self.broken(rule, files | {"Dockerfile": bases.replace("C_IMAGE", "C")}, "Dockerfile:1")

    def test_containers_are_confined(self):
        rule, files = deployment.containers_are_confined, {"docker-compose.yml": self.NODE}
        self.kept(rule, files)
        self.kept(rule, {"docker-compose.yml": self.NODE.replace('cpus: "0.5"', "cpu_shares: 1024")})
        self.service_broken(
            rule, files, ("[ALL]", "[]"), ("new-privileges:true", "new-privileges:false"), ("mem_limit: 1g", "x: 1g"), ('"0.5"', '"2"'),
            ('cpus: "0.5"', "x: 1"), ("pids_limit", "x"), ("read_only: true", "read_only: false"), ("max-size", "x"), ("max-file", "x"),
            ("127.0.0.1:80", "80"), ("127.0.0.1:80", "0.0.0.0:80"))

    def test_nginx_fits_into_its_memory(self):
        rule, server, tls = deployment.nginx_fits_into_its_memory, "deploy/nginx/server.conf", "deploy/nginx/templates/tls.conf.template"
        limits = "limit_conn requests_of_client a;\nlimit_req zone=rate_of_client ;\n"
        text = limits + "limit_conn streams_of_client a;\nlimit_conn requests_of_all 1000;\nclient_body_buffer_size 128k;\n" \
            "proxy_buffers 8 16k;\nproxy_buffer_size 16k;\n"
        files = {
            server: text, tls: limits + "http2_max_concurrent_streams 32;\n",
            "docker-compose.yml": "services:\n  proxy:\n    mem_limit: 1g\n",
        }
        self.kept(rule, files)
        for old, new in (("1000", "3000"), ("128k", "500k"), ("buffers 8", "buffers 40"), ("size 16k", "size 900k")):
            self.broken(rule, files | {server: text.replace(old, new)}, f"{server}:4")
        self.broken(rule, files | {server: text.replace("requests_of_all", "x")}, f"{server}:1")
        self.broken(rule, files | {server: text.replace("streams_of_client", "x")}, f"{server}:1")
        self.broken(rule, files | {tls: limits}, f"{tls}:1")
        self.broken(rule, files | {tls: "http2_max_concurrent_streams 32;\n"}, f"{tls}:1")
        self.broken(rule, files | {"docker-compose.yml": "services:\n  proxy:\n    mem_limit: 2g\n"}, "docker-compose.yml:2")

    def test_nginx_is_careful(self):
        rule = deployment.nginx_is_careful
        server, templates = "deploy/nginx/server.conf", "deploy/nginx/templates/"
        log = templates + "humon.conf.template"
        files = {
            server: "\nerror_log stderr emerg;\nadd_header A b always;\n",
            log: "log_format humon '$status';\nserver {\n  include humon/server.conf;\n}\n",
            templates + "tls.conf.template": "a;\nserver {\n  error_log stderr emerg;\n}\n",
            "docker-compose.yml": '    PROXY_LISTEN: "listen 80; listen [::]:80;"\n    PROXY_B_LISTEN: "listen 127.0.0.1:81;"\n',
            "docker-compose.tls.yml": "    PROXY_LISTEN: 'listen 127.0.0.1:80;'\n",
        }
        self.kept(rule, files)
        self.broken(rule, files | {server: "\nerror_log stderr emerg;\nadd_header A b;\n"}, f"{server}:3")
        self.broken(rule, files | {server: "add_header A b always;\n"}, f"{server}:1")
        self.broken(rule, files | {templates + "tls.conf.template": "a;\nserver {\n}\n"}, templates + "tls.conf.template:2")
        for variable in ('$request"', '"$uri"', "$args", "$http_tb_device_token"):
            self.broken(rule, files | {log: f"log_format humon '{variable}';\n"}, f"{log}:1")
        self.broken(rule, files | {"docker-compose.yml": '\n    PROXY_LISTEN: "listen 80;"\n'}, "docker-compose.yml:2")
        self.broken(rule, files | {"docker-compose.tls.yml": "\n    PROXY_LISTEN: 'listen 80;'\n"}, "docker-compose.tls.yml:2")
        # A rule that finds nothing would check nothing.
        self.broken(rule, files | {"docker-compose.yml": ""}, "docker-compose.yml:1")
        self.broken(rule, files | {log: "server {\n  include humon/server.conf;\n}\n"}, f"{log}:1")

    def test_databases_are_careful(self):
        rule = deployment.databases_are_careful
        patroni, alone = "deploy/patroni/patroni.yml", "deploy/postgres/postgresql.conf"
        leader = "bootstrap:\n  dcs:\n    synchronous_mode: true\n    ttl: 20\n    loop_wait: 5\n    retry_timeout: 5\n"
        settings = "archive_command{0} 'a'\narchive_timeout{0} 60\nwal_compression{0} on\n"
        files = {
            patroni: settings.format(":") + leader + "max_connections: 100\nhosts:\n- host all humon 10.0.0.0/8\n",
            alone: settings.format(" ="),
            "deploy/postgres/pg_hba.conf": "local all postgres peer\nhostssl all humon,doctor all\n",
            "deploy/haproxy/haproxy.cfg": "server a 10.0.0.1:5432 maxconn 40\n",
            "deploy/etcd/etcd.template": "ETCD_AUTO_COMPACTION_RETENTION=1h\n",
            "deploy/etcd/enable-authentication": 'user add root --interactive=false <"$1/etcd_root_password"\n'
                                                 'user add patroni --interactive=false <"$1/etcd_password"\n',
        }
        self.kept(rule, files)
        self.broken(rule, files | {alone: settings.format(" =").replace("60", "90")}, f"{patroni}:2")
        self.broken(rule, files | {alone: settings.format(" =").replace("archive_command", "#")}, f"{patroni}:1")
        self.broken(rule, files | {patroni: files[patroni].replace("mode: true", "mode: false")}, f"{patroni}:6")
        self.broken(rule, files | {patroni: files[patroni].replace("retry_timeout: 5", "retry_timeout: 8")}, f"{patroni}:7")
        self.broken(rule, files | {"deploy/postgres/pg_hba.conf": "local all postgres peer\n"}, "deploy/postgres/pg_hba.conf:1")
        self.broken(rule, files | {"deploy/postgres/pg_hba.conf": "host\tall\tpostgres\tall\n"}, "deploy/postgres/pg_hba.conf:1")
        self.broken(rule, files | {"deploy/postgres/pg_hba.conf": "\nhost all humon,postgres all\n"}, "deploy/postgres/pg_hba.conf:2")
        self.broken(rule, files | {"deploy/haproxy/haproxy.cfg": "server a 10.0.0.1:5432 maxconn 41\n"}, "deploy/haproxy/haproxy.cfg:1")
        self.broken(rule, files | {"deploy/etcd/etcd.template": ""}, "deploy/etcd/etcd.template:1")
        self.broken(rule, files | {"deploy/etcd/enable-authentication": ""}, "deploy/etcd/enable-authentication:1")

    def test_units_pause_and_have_documentation(self):
        rule, path = deployment.units_pause_and_have_documentation, "deploy/systemd/humon@.service"
        unit = "[Unit]\nDocumentation=file:///usr/share/doc/humon/a.md\nStartLimitBurst=5\n[Service]\nRestart=always\n"
        guide = {"docs/a.md": ""}
        self.kept(rule, guide | {path: unit})
        self.broken(rule, guide | {path: unit.replace("StartLimitBurst=5\n", "")}, f"{path}:4")
        self.broken(rule, guide | {path: unit.replace("a.md", "b.md")}, f"{path}:2")
        self.broken(rule, guide | {path: "[Unit]\n"}, f"{path}:1")


class Texts(Samples):
    en, de, page, style = texts.FIRST, f"{texts.TEXTS}/de.json", f"{texts.PAGE}/a.js", f"{texts.PAGE}/page.css"

    def test_languages_have_the_same_texts(self):
        def table(word="{name} ist da", plural='{ "one": "eins", "other": "{count}" }', more="", direction="ltr"):
            return f'{{\n"page.direction": "{direction}",\n"a.b": "{word}",\n"a.c": {plural}{more}\n}}\n'
        rule, files = texts.languages_have_the_same_texts, {self.en: table("{name} is here"), self.de: table()}
        self.kept(rule, files)
        for text, line in (
            (table("ist da"), 3), (table("{nam} ist da"), 3), (table(""), 3), (table("{name} "), 3), (table(plural='"{count}"'), 4),
            (table(plural='{ "other": "{count}" }'), 4), (table(plural='{ "one": "1", "few": "2", "other": "{count}" }'), 4),
            (table(plural='{ "one": "1", "other": "{number}" }'), 4), (table(plural='{ "one": "{count}", "other": "viele" }'), 4),
            (table(plural='{ "one": "{name}", "other": "{count}" }'), 4), (table(more=',\n"a.d": "neu"'), 1), (table(direction="up"), 1),
            (table(more=',\n"a.b": "{name} ist da"'), 3), ("{}", 1),
        ):
            with self.subTest(text=text): self.broken(rule, files | {self.de: text}, f"{self.de}:{line}")
        self.broken(rule, files | {f"{texts.TEXTS}/de-AT.json": table()}, *[f"{texts.TEXTS}/de-AT.json:{line}" for line in (1, 4)])
        self.broken(rule, files | {f"{texts.TEXTS}/xx.json": table(plural='{ "other": "{count}" }')}, f"{texts.TEXTS}/xx.json:1", f"{texts.TEXTS}/xx.json:4")

    def test_the_page_uses_every_text(self):
        rule, table = texts.the_page_uses_every_text, '{\n"a.b": "1",\n"a.c.d": "2",\n"e.f": "3"\n}'
        files = {self.en: table, self.page: 'text(isNew ? "a.b" : "x.y.z");\n', f"{texts.PAGE}/index.html": "{{assets}}/{{e.f}}"}
        script = '// "a.none"\ntext(isNew ? "a.b" : `a.${name}.d`);\nget("humon.moved");\n'
        self.kept(rule, files | {self.page: script})
        self.broken(rule, files | {self.page: script + 'text("z.a");\n'}, f"{self.page}:4")
        self.broken(rule, files | {self.page: script + 'const key = "a.z";\n'}, f"{self.page}:4")
        self.broken(rule, files | {self.page: script + "has(`a.${name}.z`);\n"}, f"{self.page}:4")
        self.broken(rule, files | {self.page: 'text("a.b");\n'}, f"{self.en}:3")
        self.broken(rule, files | {self.page: script, f"{texts.PAGE}/index.html": "{{e.f}}\n{{e.g}}"}, f"{texts.PAGE}/index.html:2")

    def test_the_page_has_no_text_of_its_own(self):
        rule, html = texts.the_page_has_no_text_of_its_own, f"{texts.PAGE}/index.html"
        files = {self.page: '// "Show it"\nelement("b", {}, text("a.b"), "Leaflet", ` ${name}`, "pin draft");\n'
                            'import { text } from "./b.js";\nthrow new Error(`${path} has status ${status}`, `a ${b} c-${d}`);\n',
                 html: '<!doctype html>\n<p aria-label="{{a.b}}" class="a b">{{a.c}} <b translate="no">Humon</b> ·</p>\n'}
        self.kept(rule, files)
        for text in (
            '"Show it"', "`Show ${count} more`", '"Connecting…"', '"Save"', '"← All events"', '"“Keep a way back” makes a code."',
            '" These are the events."', '"Here, where I am"', '"A part is missing."', "`Around ${city}`", "`${plural(total)} in view`",
            "`“${event.name}” is cancelled.`", "`${label}: which of the two`", '"nor have them erased"', '"Enter the code"', "'Leave'",
        ):
            with self.subTest(text=text): self.broken(rule, files | {self.page: f"\nsay({text});\n"}, f"{self.page}:2")
        self.broken(rule, files | {html: "<p>\nMap</p>"}, f"{html}:2")
        self.broken(rule, files | {html: '\n<p title="Map"></p>'}, f"{html}:2")

    def test_styles_run_in_both_directions(self):
        rule = texts.styles_run_in_both_directions
        self.kept(rule, {self.style: "/* left: 1px */\na { inset: 0 1px auto 1px; padding: 1px 2px; inset-inline-start: 1px; text-align: start; margin: 1px 2px 3px; }\n"})
        for text in ("left: 1px", "margin-right: 1px", "border-left-color: red", "text-align: right", "margin: 0 auto 0 1px", "inset: 0 1px 2px auto",
                     "left : 1px", "float:left", "text-align:right", "margin:0 auto 0 1px"):
            with self.subTest(text=text): self.broken(rule, {self.style: f"\na {{ {text}; }}\n"}, f"{self.style}:2")


class Promises(Samples):
    rule, path, added = staticmethod(promises.promises_are_kept), f"{promises.LISTS}/1.0.0.txt", "db/migrations/0002_tea.sql"
    # By kind: the file with promises, and a text of it.
    sources = {
        "event": ("Sources/Users/UserDomainEvent.swift", 'enum UserDomainEvent: DomainEvent {\n    static let category = UserID.category\n'
                  '    StoredType("UserCreated", upcasters: [{ [$0, $0] }, lift(1, 2)])\n}\n'
                  'struct UserID: StreamID {\n    public static let category = "user"\n'),
        "member": ("Sources/Users/User.swift", 'try content.facts.stored("kind") { $0 }\ntry $0.stored(\n    "device") { $0 }\n'),
        "text": ("Sources/Events/EventText.swift", '    case category\n    case timeZone = "time_zone"\n        case .link:\n'),
        "archive": (f"{promises.ARCHIVE}/LogExport.swift", '"{"id":"%s"}"\n'),
        "import": (f"{promises.ARCHIVE}/LogImport.swift", "AS e (\n    id uuid, type text\n)\n(data ->> 'facts')::json\n"),
        "migration": ("db/migrations/0001_log.sql", "CREATE TABLE log.tea (\n    a int REFERENCES log.cup\n);\nCREATE SEQUENCE log.cups;\n"),
        "function": ("db/functions/tea.sql", "CREATE OR REPLACE FUNCTION log.brew(cups int,\n    hot text DEFAULT '')\nRETURNS void"),
        "erasure": (f"{promises.STORE}/Erasure/ErasureFile+Lines.swift", '"at": .string(at)'),
        "setting": ("docs/settings.md", "| `HUMON_TEA` | a path | none | Tea in `HUMON_TEA_FILE`. |\n"),
        "exit": ("docs/cli.md", "| 2 | the answer is no: no tea |\n| `humon tea` | Make tea. | `<cup>`, `--hot`, not `--json` |\n"),
        "problem": ("docs/openapi.yaml", "- const: no_tea\n  x-status: 404\n- const: blank\n  description: No.\n"
                    "paths:\n  /v1/teas:\n    get:\ncomponents:\n  schemas:\n    Tea:\n      properties:\n        leaf:\n"
                    "  parameters:\n    Cups:\n      name: cups\n"),
        "metric": ("docs/metrics.md", "`humon_backup_tea`\n| `humon_tea` | counter | `pot`, `cup` | Tea. |\n"),
    }
    files = dict(sources.values())
    lines = promises.unlisted(tree(files))

    def test_promises_are_kept(self):
        expected = (
            "archive facts in an import: text|archive id in an export|archive id in an import: uuid|archive type in an import: text|"
            "command humon tea|erasure list at|event UserCreated 1: in streams user-…|event UserCreated 2: in streams user-…|event UserCreated 3: in streams user-…|"
            "exit 2: the answer is no|field leaf of Tea|function log.brew: (cups int, hot text DEFAULT '') returns void|"
            "member category of Events, personal|member device of Users, personal|member kind of Users, a fact|"
            "member time_zone of Events, personal|metric humon_backup_tea of a script|metric humon_tea: counter `pot`, `cup`|"
            "migration 0001_log.sql: sha256 …|option --database of humon tea|option --hot of humon tea|parameter cups|"
            "problem blank of a field|problem no_tea: 404|route GET /v1/teas|"
            "sequence log.cups|"
            "setting HUMON_TEA: a path|setting HUMON_TEA_FILE: a path|table log.tea")
        self.assertEqual([re.sub("[0-9a-f]{64}", "…", line) for line in self.lines], expected.split("|"))
        listed = self.files | {self.path: "# Tea.\n" + "".join(f"{line}\n" for line in self.lines)}
        self.kept(self.rule, listed)
        # What is new is free until the next list.
        more = listed | {"docs/cli.md": self.files["docs/cli.md"] + "| 3 | more |\n", self.added: "ALTER TABLE log.tea ADD COLUMN b int;\n"}
        self.kept(self.rule, more)
        self.assertEqual([line[:19] for line in promises.unlisted(tree(more))], ["exit 3: more", "migration 0002_tea."])
        for kind, old, new, *places in (
            ("event", "UserCreated", "UserMade", 8, 9, 10), ("event", ", lift(1, 2)", "", 10), ("event", '"user"', '"person"', "", "", ""),
            ("member", "kind", "sort", 16), ("member", "facts.", "", 16), ("member", '"device"', "name", 15), ("text", "time_zone", "zone", 17),
            ("function", "brew", "boil", 13), ("function", "cups int", "cups bigint", ""), ("function", "void", "int", ""), ("erasure", '"at"', '"on"', 7),
            ("archive", '"id"', '"ID"', 3), ("import", "id uuid", "id text", ""), ("import", ", type text", "", 5), ("import", "facts", "x", 2),
            ("migration", "a int", "a bigint", ""), ("setting", "a path", "a number", ""), ("setting", "HUMON_TEA_FILE", "HUMON_POT", 29),
            ("exit", "2", "3", 11), ("exit", "no:", "yes:", ""), ("exit", "humon tea", "humon pot", 6, 21, 22), ("exit", "--hot", "--cold", 22),
            ("exit", "`--hot`, not", "not", 22), ("exit", "not `--json`", "not `--database`", 21), ("problem", "no_tea", "tea", 25), ("problem", "404", "410", ""),
            ("problem", "blank", "empty", 24), ("problem", "name: cups", "name: pots", 23), ("problem", "get", "put", 26), ("problem", "leaf", "bag", 12), ("problem", "Tea", "Pot", 12),
            ("metric", "humon_tea", "humon_pot", 19), ("metric", "counter", "gauge", ""), ("metric", ", `cup`", "", ""),
            ("metric", "backup_tea", "tea", 18),
        ):
            with self.subTest(kind=kind, new=new):
                file, text = self.sources[kind]
                self.assertIn(old, text)
                found = list(self.rule(tree(listed | {file: text.replace(old, new)})))
                # A promise that is gone is shown in its list, a changed one where it is.
                self.assertEqual([line if path == self.path else "" for path, line, _ in found], places, found)
                for path, _, message in found:
                    self.assertIn(path, (self.path, file))
                    self.assertRegex(message, r"^`.+` is (gone|now `.+`); (keep|restore) .+\. docs/upgrading\.md promises it from 1\.0\.0 on$")
        for statement in (
            "DROP TABLE log.tea", "drop table if exists log.cup, log.tea", "ALTER TABLE log.tea DROP COLUMN a", "ALTER TABLE ONLY log.tea DROP a",
            'ALTER TABLE "log"."tea" RENAME TO pot', "ALTER TABLE log.tea SET SCHEMA pot", "ALTER TABLE log.tea ALTER COLUMN a TYPE bigint",
            "ALTER TABLE log.tea ADD COLUMN b int\n    NOT NULL", "ALTER TABLE log.tea ADD b int NOT NULL, ADD c int DEFAULT 0",
            "ALTER TABLE log.tea ADD b int NOT NULL -- no DEFAULT\n", "ALTER TABLE log.tea ADD PRIMARY KEY (a)", "ALTER TABLE log.tea ADD CHECK (a > 0)", "ALTER TABLE log.tea ALTER a SET NOT NULL",
        ):
            with self.subTest(statement=statement): self.broken(self.rule, listed | {self.added: statement + ";\n"}, f"{self.path}:30")
        for statement in ("ALTER TABLE log.tea ADD COLUMN b int NOT NULL DEFAULT 0", "ALTER TABLE log.tea ADD COLUMN type text"):
            self.kept(self.rule, listed | {self.added: statement + ";\n"})
        self.broken(self.rule, listed | {self.added: "ALTER SEQUENCE log.cups AS integer;\n"}, f"{self.path}:27")
        self.broken(self.rule, listed | {self.added: "DROP SCHEMA log CASCADE;\n"}, f"{self.path}:27", f"{self.path}:30")


class Pages(unittest.TestCase):
    """The pages as checks/units reads, types and judges them."""
    said = "# A\n\nType everything below\nas root.\n\n"
    text = said + "```sh\nls\ncd /\n```\n\n```text\na  b\n```\n\n```bash\ndocker ps\n```\n"

    def test_a_page_names_its_account_and_what_is_not_typed(self):
        def refused(beginning, text, untyped=("docker ",)):
            with self.assertRaises(Failed) as raised: pages.Page("a.md", text, untyped)
            self.assertRegex(str(raised.exception), f"^{beginning} ")

        page = pages.Page("a.md", self.text + "```sh\napt-get install jq man-db\n```\n", ["docker "])
        self.assertEqual((page.account, page.packages(), [block.line for block in page.blocks]), ("root", ["jq", "man-db"], [7, 19]))
        refused("a.md:16:", self.text, ())
        refused("a.md:1:", self.text, ("docker ", "podman "))
        refused("a.md:1:", self.text.replace("as root", ""))
        for hiding in ("ls && ls", "ls || ls", "ls 2>/dev/null"):
            with self.subTest(hiding): refused("a.md:8:", self.text.replace("cd /", hiding))

    def test_the_pages_can_be_typed(self):
        for path, untyped in pages.PAGES.items():
            with self.subTest(path):
                text = (ROOT / path.partition("#")[0]).read_text()
                self.assertTrue(pages.Page(path, text, untyped, life.BEFORE.get(path, {})).blocks)
        alerts.runbooks((ROOT / alerts.RUNBOOKS).read_text())
        self.assertLessEqual({*life.BEFORE, *life.AFTER}, {*pages.PAGES})

    def test_a_command_that_fails_is_named_with_its_output(self):
        def judged(text, untyped=("docker ",), before={}):
            page = pages.Page("a.md", text, untyped, before)
            with tempfile.TemporaryDirectory() as folder:
                for name, script in {"page": page.script(folder), **page.before}.items(): pathlib.Path(folder, str(name)).write_text(script)
                done = subprocess.run(["bash", f"{folder}/page"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=30)
            page.judge(done.returncode, done.stdout)

        def fails(pattern, *arguments):
            with self.assertRaises(Failed) as raised: judged(*arguments)
            self.assertRegex(str(raised.exception), pattern)

        with unittest.mock.patch.object(pages, "PAUSE_SECONDS", 0):
            judged(self.text.replace("ls\n", "echo a b\n"))
            fails(r"^a\.md:7: (.*\n)+-a b\n\+a c$", self.text.replace("ls\n", "echo a c\n"))
            fails(r"^a\.md:8: ended with 1: false\n(.*\n)+a b\n", self.text.replace("ls\ncd /", "echo a b\nfalse"))
            # bash names the line before a pipeline.
            fails(r"^a\.md:[678]: ended with 1: ", self.text.replace("cd /", "false | cat"))
            judged(self.text.replace("ls\n", "echo a b\n"), ("docker ",), {"echo": "echo c d"})
            fails(r"^a\.md:6: ended with 1: bash (.*\n)+c d\n", self.text, ("docker ",), {"ls\n": "echo c d; false"})
            with self.assertRaisesRegex(Failed, "^a.md:1: a block that"): pages.Page("a.md", self.text, ("docker ",), {"tea": ""})
            fails(r"^a\.md:11: the shell ended before", self.said + "```sh\nexit 0\n```\n\n```sh\nls\n```\n", ())
        page = pages.Page("a.md", self.text, ["docker "])
        with self.assertRaisesRegex(Failed, r"^a\.md:7: did not end in time\n"): page.judge(None, "\n-- line 7 --\na b\n")


class Rules(unittest.TestCase):
    def test_each_rule_has_a_test_of_its_name(self):
        names = {name for case in (Sources, Documents, Deployment, Texts, Promises) for name in dir(case)}
        self.assertEqual([rule.__name__ for rule in RULES if f"test_{rule.__name__}" not in names], [])

    def test_a_file_that_a_rule_looks_for_in_vain_is_known(self):
        sample = tree({})
        list(documents.examples_fit_the_sources(sample))
        self.assertEqual(sample.missing, {"checks/extending/module", "checks/extending/field"})


if __name__ == "__main__":
    unittest.main()
