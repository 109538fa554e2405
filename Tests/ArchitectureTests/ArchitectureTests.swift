import Foundation
import TestDatabase
import Testing

@Suite struct `The sources` {
    @Test(arguments: Rule.all)
    func `every file keeps this rule of the architecture`(rule: Rule) throws {
        for file in try SourceTree.files(below: rule.folders, ending: ".swift") {
            let violations = rule.violations(file, try Repository.text(file))
            #expect(violations.isEmpty, "\(file): \(violations.joined(separator: ", "))")
        }
    }

    @Test func `every target of Package.swift has a folder, and every folder a target`() throws {
        let roots = ["Sources", "Libraries", "Libraries/C"]
        let folders = try roots.flatMap { root in
            try FileManager.default.contentsOfDirectory(atPath: Repository.root.appending(path: root).path)
        }
        #expect(Set(folders).subtracting(["C"]) == Set(Project.current.sources.keys).subtracting(Project.separate))
        for target in Project.current.targets { #expect(SourceTree.has(target.folder), "\(target.folder)") }
    }

    @Test func `the targets depend on each other in one direction`() {
        #expect(Project.wrongDependencies(Project.current.targets) == [])
    }

    @Test func `no module reads the read model of another`() {
        let models = Project.current.readModels
        #expect(models.count >= 3)
        for model in models {
            for other in models where other.module != model.module {
                let query = #"try await client.query("SELECT 1 FROM \#(model.name)_v1.\#(model.tables.first ?? "")")"#
                #expect(!Rule.tables.violations("Sources/\(other.module)/Foreign.swift", query).isEmpty)
            }
        }
    }

    @Test func `a folder has at most twelve Swift files`() throws {
        let files = try SourceTree.files(below: SourceTree.sources, ending: ".swift")
        #expect(!files.isEmpty)
        let folders = Dictionary(grouping: files) { $0.split(separator: "/").dropLast().joined(separator: "/") }
        for (folder, files) in folders { #expect(files.count <= 12, "\(folder) has \(files.count) files") }
    }
}

/// Each rule is seen failing: one sample breaks the rule, and a similar one keeps it.
@Suite struct `A rule of the architecture` {
    struct Sample: Sendable {
        var rule: Rule
        var file = "Sources/Events/EventsModule.swift"
        var text: String
    }

    static let broken = [
        Sample(rule: .imports(in: .sample), text: "internal import HTTP\n"),
        Sample(rule: .imports(in: .sample), file: "Sources/HTTP/API.swift", text: "public import struct Postgres.SQL\n"),
        Sample(
            rule: .imports(in: .sample), file: "Libraries/Encoding/Sources/JSON.swift", text: "@preconcurrency import Telemetry\n"
        ),
        Sample(rule: .networking, text: "import NIOCore\n"),
        Sample(rule: .networking, file: "Sources/App/Backend.swift", text: "internal import HummingbirdCore\n"),
        Sample(rule: .networking, file: "Sources/HTTP/API.swift", text: "internal import NIOPosix\n"),
        Sample(rule: .clients, file: "Sources/App/Backend.swift", text: "import AsyncHTTPClient\n"),
        Sample(rule: .clients, file: "Sources/HTTP/API.swift", text: "internal import FoundationNetworking\n"),
        Sample(rule: .clocks, text: "let deadline = Date.now + 5\n"),
        Sample(rule: .clocks, file: "Libraries/HTTPServer/Sources/Limits/RateLimiter.swift", text: "let start = Date()\n"),
        Sample(
            rule: .clocks, file: "Libraries/Postgres/Sources/Session/Session.swift",
            text: "clock_gettime(CLOCK_REALTIME, &time)\n"),
        Sample(rule: .mutexes, text: "let told = Mutex<(@Sendable (Notification) -> Void)?>(nil)\n"),
        Sample(
            rule: .tables(of: .sample), text: #"let query: SQL = "SELECT id FROM \(identifier: UsersProjection.schema).users""#),
        Sample(rule: .tables(of: .sample), text: "let state = try await ReadModelState.of(UsersProjection.self, client)\n"),
        Sample(rule: .tables(of: .sample), text: #"client.query("SELECT 1 FROM attendances_v1.attendances")"#),
        Sample(rule: .tables(of: .sample), text: "\"\"\"\nSELECT 1 FROM\n    users.users\n\"\"\""),
        Sample(
            rule: .tables(of: .sample), file: "Sources/App/Doctor/DoctorReport.swift",
            text: #""SELECT count(*) FROM events_v1.events""#),
        Sample(rule: .tables(of: .sample), file: "Sources/Users/UsersModule.swift", text: #""... JOIN events ON owner_id = id""#),
        Sample(
            rule: .tables(of: .sample), file: "Libraries/EventStore/Sources/Log/Read/LogReader.swift",
            text: #"SQL("TRUNCATE attendances")"#),
        Sample(rule: .tables(of: .sample), text: #"client.query("select 1 from \(schema).devices join users.users on true")"#),
        Sample(rule: .tables(of: .sample), text: #"client.query("SELECT 1 FROM devices")"#),
        Sample(rule: .readModels, text: #""INSERT INTO \(identifier: EventsProjection.schema).events VALUES (1)""#),
        Sample(rule: .readModels, text: #""UPDATE \(identifier: EventsProjection.schema).events SET id = 1""#),
        Sample(rule: .readModels, text: #""DELETE FROM \(identifier: EventsProjection.schema).events""#),
        Sample(rule: .readModels, text: #""TRUNCATE \(identifier: EventsProjection.schema).events""#),
        Sample(rule: .log, text: #""SELECT max(position) FROM log.recorded_events""#),
        Sample(rule: .types(in: .sample), text: "public enum Users {}\n"),
        Sample(rule: .types(in: .sample), text: "typealias Postgres = PostgresClient\n"),
        Sample(
            rule: .storedTypes, file: "Sources/Users/UserDomainEvent.swift",
            text: """
                enum UserDomainEvent: DomainEvent {
                    static let storedTypes = [StoredType("UserCreated")]
                    var stored: (type: String, data: JSON) { ("UserRenamed", [:]) }
                """),
        Sample(rule: .lines, text: String(repeating: "//\n", count: 301)),
        Sample(rule: .nouns, file: "Sources/App/ServerManager.swift", text: ""),
        Sample(rule: .nouns, file: "Sources/Events/StringUtils.swift", text: ""),
        Sample(rule: .unchecked, text: "/// A box.\nfinal class Box: @unchecked Sendable {\n"),
        Sample(rule: .unchecked, text: "final class Box: @unchecked Sendable {\n"),
        Sample(rule: .throwing, text: "    /// Reads.\n    public func read() throws {}\n"),
        Sample(rule: .throwing, text: "    public func read(\n        _ body: () throws -> Void\n    ) async throws {}\n"),
        Sample(rule: .throwing, text: "    public init(_ cell: Cell) throws(CellError) {}\n"),
        Sample(rule: .throwing, text: "    public subscript(id: Int) -> Row { get throws { row } }\n"),
        Sample(rule: .throwing, text: "public protocol Reader {\n    func read() async throws\n}\n"),
        Sample(rule: .throwing, text: "/// - Throws: `E`\npublic func a() throws {}\npublic func b() throws {}\n"),
        Sample(rule: .ends, file: "Tests/AppTests/ServeTests.swift", text: "try process.run()\nprocess.waitUntilExit()\n"),
        Sample(rule: .ends, file: "Tests/AppTests/ServeTests.swift", text: "process.terminationHandler = { _ in }\n"),
        Sample(rule: .terminals, text: "internal import ArgumentParser\n"),
        Sample(rule: .terminals, text: #"let a = ReportParameter("until", .time, "Continue with --before.")"#),
        Sample(rule: .terminals, text: #"OperatorReport("a", "See humon log search.", [], columns) { _ in .complete() }"#),
        Sample(rule: .unsafeCode, text: "let bytes = unsafe pointer.load(as: Int.self)\n"),
        Sample(rule: .unsafeCode, file: "Libraries/EventStore/Sources/Module.swift", text: "@safe struct Box {\n"),
        Sample(rule: .unsafeCode, text: "func read(_ bytes: UnsafeRawBufferPointer) {}\n"),
        Sample(rule: .unsafeCode, text: "nonisolated(unsafe) static var count = 0\n"),
    ]

    static let kept = [
        Sample(rule: .imports(in: .sample), text: "public import Users\ninternal import Foundation\n// import HTTP\n"),
        Sample(rule: .networking, file: "Sources/HTTP/API.swift", text: "internal import NIOCore\n"),
        Sample(rule: .networking, file: "Libraries/HTTPServer/Sources/Server/Server.swift", text: "internal import NIOPosix\n"),
        Sample(rule: .clients, file: "Sources/App/Doctor/OperatorsAddress.swift", text: "internal import AsyncHTTPClient\n"),
        Sample(
            rule: .clients, file: "HumonClient/Sources/Transport/Transport.swift", text: "internal import FoundationNetworking\n"),
        Sample(rule: .clocks, text: "let deadline = ContinuousClock.now + .seconds(5)\nclock_gettime(CLOCK_MONOTONIC, &time)\n"),
        Sample(rule: .mutexes, text: "let told = Mutex<[@Sendable () -> Void]>([])\n"),
        Sample(rule: .tables(of: .sample), text: #""SELECT 1 FROM \(identifier: EventsProjection.schema).events""#),
        Sample(
            rule: .tables(of: .sample), file: "Sources/App/Backend.swift",
            text: "/// As `users_v1` is.\nlet all = [UsersProjection()]\n"),
        Sample(rule: .tables(of: .sample), file: "Sources/App/Demo/Demo.swift", text: "let users = events.map(\\.owner)\n"),
        Sample(
            rule: .readModels, file: "Sources/Events/EventsProjection.swift", text: #""INSERT INTO \(identifier: schema).events""#
        ),
        Sample(rule: .log, file: "Libraries/EventStore/Sources/Log/Read/LogReader.swift", text: #""FROM log.recorded_events""#),
        Sample(rule: .types(in: .sample), text: "public struct EventsView {}\n"),
        Sample(
            rule: .storedTypes, file: "Sources/Users/UserDomainEvent.swift",
            text: """
                enum UserDomainEvent: DomainEvent {
                    static let storedTypes = [StoredType("UserCreated"), StoredType(
                        "UserRenamed", upcasters: [{ $0 }])]
                    // Once there was "UserMoved".
                    var stored: (type: String, data: JSON) { ("UserRenamed", ["name": .null]) }
                """),
        Sample(rule: .lines, text: String(repeating: "//\n", count: 300)),
        Sample(rule: .nouns, file: "Sources/App/Commands/ServeCommand.swift", text: ""),
        Sample(rule: .unchecked, text: "/// `@unchecked`: the lock protects it.\nfinal class Box: @unchecked Sendable {\n"),
        Sample(rule: .throwing, text: "/// - Throws: `E`\n@discardableResult\npublic func read() throws {}\n"),
        Sample(rule: .throwing, text: "    public func each(_ body: () throws -> Void) rethrows {}\n    func read() throws {}\n"),
        Sample(rule: .throwing, text: "public protocol Reader {\n    var name: String { get }\n}\nfunc read() throws {}\n"),
        Sample(rule: .ends, file: "Tests/AppTests/ServeTests.swift", text: "#expect(try await process.untilEnd() == 0)\n"),
        Sample(rule: .unsafeCode, text: "// No unsafe code.\nlet sql = SQL(unsafeText: text)\nfunc read(_ bytes: RawSpan) {}\n"),
        Sample(
            rule: .unsafeCode, file: "Libraries/SpatialIndex/Sources/Tree/Block.swift", text: "unsafe start.deallocate()\n"),
        Sample(rule: .terminals, file: "Sources/App/Options/ReportOptions.swift", text: "internal import ArgumentParser\n"),
        Sample(rule: .terminals, text: #"let a = ReportParameter("until", .time, "Only events before this time.")"#),
    ]

    @Test(arguments: broken)
    func `a sample that breaks its rule is a violation`(sample: Sample) {
        #expect(!sample.rule.violations(sample.file, sample.text).isEmpty, "\(sample.rule.name): \(sample.text)")
    }

    @Test(arguments: kept)
    func `a sample that keeps its rule is no violation`(sample: Sample) {
        #expect(sample.rule.violations(sample.file, sample.text).isEmpty, "\(sample.rule.name): \(sample.text)")
    }

    @Test func `every rule has a sample that breaks it and one that keeps it`() {
        let names = Set(Rule.all.map(\.name))
        #expect(names.count == Rule.all.count)
        #expect(Set(Self.broken.map(\.rule.name)) == names)
        #expect(Set(Self.kept.map(\.rule.name)) == names)
    }
}

extension Project {
    /// A project of the size that the samples need.
    fileprivate static let sample = Project(
        targets: [
            Target(name: "Encoding", dependencies: []), Target(name: "Telemetry", dependencies: []),
            Target(name: "Postgres", dependencies: ["Encoding", "Telemetry"]),
            Target(name: "EventStore", dependencies: ["Postgres", "Encoding"]),
            Target(name: "Users", dependencies: ["EventStore", "Postgres"]),
            Target(name: "Events", dependencies: ["Users", "EventStore", "Postgres"]),
            Target(name: "HTTP", dependencies: ["Events", "Users"]),
        ],
        readModels: [
            ReadModel(module: "Users", type: "UsersProjection", name: "users", tables: ["users", "devices"]),
            ReadModel(module: "Events", type: "EventsProjection", name: "events", tables: ["events"]),
            ReadModel(module: "Attendances", type: "AttendancesProjection", name: "attendances", tables: ["attendances"]),
        ])
}

@Suite struct `The table of targets` {
    @Test func `the table of targets has the targets of the manifest, without products and tests`() {
        let manifest = """
            .systemLibrary(name: "CLibPQ", providers: [.apt(["libpq-dev"])]),
            .target(
                name: "Postgres",
                dependencies: [
                    "CLibPQ", "Encoding", .product(name: "Logging", package: "swift-log"), "Telemetry",
                ],
                resources: [.embedInCode("db")]
            ),
            .executableTarget(name: "Bench", dependencies: ["Postgres"], path: "Benchmarks/Bench"),
            .testTarget(name: "PostgresTests", dependencies: ["Postgres"]),
            """
        #expect(
            Project.targets(in: manifest) == [
                .init(name: "CLibPQ", dependencies: []),
                .init(name: "Postgres", dependencies: ["CLibPQ", "Encoding", "Telemetry"]),
                .init(name: "Bench", dependencies: ["Postgres"], path: "Benchmarks/Bench"),
            ])
    }

    @Test(arguments: [
        ("EventStore", "Users"), ("HTTPServer", "HTTP"), ("Users", "HTTPServer"), ("Events", "HTTP"), ("Users", "App"),
        ("Events", "EmbeddedPostgres"), ("HTTP", "Postgres"), ("HTTP", "App"), ("HTTP", "Web"), ("Web", "HTTP"), ("App", "humon"),
        ("App", "HumonClient"), ("Postgres", "HumonClient"),
    ])
    func `a dependency that points the wrong way is a violation`(target: String, dependency: String) {
        var targets = Project.targets.filter { $0.name != target }
        let path = Project.targets.first { $0.name == target }?.path
        targets.append(Project.Target(name: target, dependencies: [dependency, "Encoding"], path: path))
        #expect(Project.wrongDependencies(targets) == ["\(target) depends on \(dependency)"])
    }

    @Test func `the client uses no other target, and an example uses only the client`() {
        let client = Project.Target(name: "HumonClient", dependencies: ["Encoding"], path: "HumonClient/Sources")
        #expect(Project.wrongDependencies([client]) == ["HumonClient depends on Encoding"])
        let example = Project.Target(name: "NearMe", dependencies: ["HumonClient", "App"], path: "HumonClient/NearMe")
        #expect(Project.wrongDependencies([example]) == ["NearMe depends on App"])
    }

    @Test func `the rule of tables finds a read model, its module and its tables`() {
        let text = #"""
            struct NotesProjection: Projection {
                static let name = "notes"
                static func tables(in schema: String) -> String { "CREATE TABLE \(schema).lines (id bigint);" }
            """#
        let found = Project.readModels(in: text, of: "Sources/Notes/NotesProjection.swift")
        #expect(found == [.init(module: "Notes", type: "NotesProjection", name: "notes", tables: ["lines"])])
    }
}

@Suite struct `The migrations` {
    private static func listed(in text: String) -> [String] {
        text.matches(of: /name: "(\d{4}_\w+)"/).map { String($0.1) }
    }

    private static func files(in folder: String) throws -> [String] {
        try SourceTree.files(below: [folder], ending: ".sql").compactMap {
            $0.split(separator: "/").last.map { String($0.dropLast(4)) }
        }
    }

    @Test func `every migration and every file of functions is embedded in the program`() throws {
        let (migrations, functions) = (try Self.files(in: "db/migrations"), try Self.files(in: "db/functions"))
        #expect(migrations.first == "0001_log" && functions.first == "append")
        let schema = try Repository.text("Libraries/EventStore/Sources/Schema.swift")
        #expect(Self.listed(in: schema) == migrations)
        #expect(Self.listed(in: #"Migration(name: "0001_log", bytes: x), Migration(name: "grants", bytes: y)"#) == ["0001_log"])
        let embedded = schema.matches(of: /PackageResources\.([a-z]\w+)_sql/).map { String($0.1) }
        #expect(Set(embedded) == Set(functions + ["grants"]))
    }

    @Test func `migrations change tables, and files of functions replace functions, which locks no table`() throws {
        // Earlier migrations contain the functions of their time.
        for file in try SourceTree.files(below: ["db/migrations"], ending: ".sql") where file > "db/migrations/0018" {
            #expect(!(try Repository.text(file)).contains(/CREATE[A-Z ]* FUNCTION/), "\(file)")
        }
        for file in try SourceTree.files(below: ["db/functions"], ending: ".sql") {
            let bodies = /(?s)\$\$.*?\$\$/
            let statements = try Repository.text(file).replacing(bodies, with: "").replacing(/--[^\n]*/, with: "")
                .split(separator: ";").map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }.filter { !$0.isEmpty }
            #expect(statements.allSatisfy { $0.hasPrefix("CREATE OR REPLACE FUNCTION log.") }, "\(file)")
        }
    }
}
