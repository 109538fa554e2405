import TestDatabase
import Testing

@Suite struct `The sources` {
    @Test(arguments: Rule.all)
    func `keep every rule of the architecture`(rule: Rule) throws {
        for file in try rule.folders.flatMap({ try SourceTree.files(below: $0, ending: ".swift") }) {
            let violations = rule.violations(file, try Repository.text(file))
            #expect(violations.isEmpty, "\(file): \(violations.joined(separator: ", "))")
        }
    }

    @Test func `have the targets of the design`() throws {
        let folders = try SourceTree.files(below: "Sources", ending: "").compactMap { $0.split(separator: "/").dropFirst().first }
        #expect(Set(folders.map(String.init)) == Set(Rule.allowed.keys))
    }

    @Test func `keep at most twelve files in a folder`() throws {
        let files = try SourceTree.files(below: "Sources", ending: ".swift")
        #expect(!files.isEmpty)
        let folders = Dictionary(grouping: files) { $0.split(separator: "/").dropLast().joined(separator: "/") }
        for (folder, files) in folders { #expect(files.count <= 12, "\(folder) has \(files.count) files") }
    }
}

/// Each rule is seen failing: a file that breaks it is made up, beside one that comes near and keeps it.
@Suite struct `A rule of the architecture` {
    struct Sample: Sendable {
        var rule: Rule
        var file = "Sources/Events/EventsModule.swift"
        var text: String
    }

    static let broken = [
        Sample(rule: .imports, text: "internal import HTTP\n"),
        Sample(rule: .imports, file: "Sources/HTTP/API.swift", text: "public import struct Postgres.SQL\n"),
        Sample(rule: .imports, file: "Sources/Encoding/JSON.swift", text: "@preconcurrency import Telemetry\n"),
        Sample(rule: .networking, text: "import NIOCore\n"),
        Sample(rule: .networking, file: "Sources/App/Backend.swift", text: "internal import HummingbirdCore\n"),
        Sample(rule: .networking, file: "Sources/HTTP/API.swift", text: "internal import NIOPosix\n"),
        Sample(rule: .clients, file: "Sources/App/Backend.swift", text: "import AsyncHTTPClient\n"),
        Sample(rule: .clients, file: "Sources/HTTP/API.swift", text: "internal import FoundationNetworking\n"),
        Sample(rule: .clocks, text: "let deadline = Date.now + 5\n"),
        Sample(rule: .clocks, file: "Sources/HTTPServer/Limits/RateLimiter.swift", text: "let start = Date()\n"),
        Sample(rule: .clocks, file: "Sources/Postgres/Session/Session.swift", text: "clock_gettime(CLOCK_REALTIME, &time)\n"),
        Sample(rule: .mutexes, text: "let told = Mutex<(@Sendable (Notification) -> Void)?>(nil)\n"),
        Sample(rule: .tables, text: #"let query: SQL = "SELECT id FROM \(identifier: UsersProjection.schema).users""#),
        Sample(rule: .tables, text: "let state = try await ReadModelState.of(UsersProjection.self, client)\n"),
        Sample(rule: .tables, text: #"client.query("SELECT 1 FROM attendances_v1.attendances")"#),
        Sample(rule: .tables, text: "\"\"\"\nSELECT 1 FROM\n    users.users\n\"\"\""),
        Sample(rule: .tables, file: "Sources/App/Doctor/DoctorReport.swift", text: #""SELECT count(*) FROM events_v1.events""#),
        Sample(rule: .tables, file: "Sources/Users/UsersModule.swift", text: #""... JOIN events ON owner_id = id""#),
        Sample(rule: .tables, file: "Sources/EventStore/Log/Read/LogReader.swift", text: #"SQL("TRUNCATE attendances")"#),
        Sample(rule: .readModels, text: #""INSERT INTO \(identifier: EventsProjection.schema).events VALUES (1)""#),
        Sample(rule: .readModels, text: #""UPDATE \(identifier: EventsProjection.schema).events SET id = 1""#),
        Sample(rule: .readModels, text: #""DELETE FROM \(identifier: EventsProjection.schema).events""#),
        Sample(rule: .readModels, text: #""TRUNCATE \(identifier: EventsProjection.schema).events""#),
        Sample(rule: .log, text: #""SELECT max(position) FROM log.recorded_events""#),
        Sample(rule: .types, text: "public enum Users {}\n"),
        Sample(rule: .types, text: "typealias Postgres = PostgresClient\n"),
        Sample(rule: .lines, text: String(repeating: "//\n", count: 301)),
        Sample(rule: .nouns, file: "Sources/App/ServerManager.swift", text: ""),
        Sample(rule: .nouns, file: "Sources/Events/StringUtils.swift", text: ""),
        Sample(rule: .unchecked, text: "/// A box.\nfinal class Box: @unchecked Sendable {\n"),
        Sample(rule: .unchecked, text: "final class Box: @unchecked Sendable {\n"),
    ]

    static let kept = [
        Sample(rule: .imports, text: "public import Users\ninternal import Foundation\n// import HTTP\n"),
        Sample(rule: .networking, file: "Sources/HTTP/API.swift", text: "internal import NIOCore\n"),
        Sample(rule: .networking, file: "Sources/HTTPServer/Server/Server.swift", text: "internal import NIOPosix\n"),
        Sample(rule: .clients, file: "Sources/App/Doctor/IndexCheck.swift", text: "internal import AsyncHTTPClient\n"),
        Sample(rule: .clocks, text: "let deadline = ContinuousClock.now + .seconds(5)\nclock_gettime(CLOCK_MONOTONIC, &time)\n"),
        Sample(rule: .mutexes, text: "let told = Mutex<[@Sendable () -> Void]>([])\n"),
        Sample(rule: .tables, text: #""SELECT 1 FROM \(identifier: EventsProjection.schema).events""#),
        Sample(rule: .tables, file: "Sources/App/Backend.swift", text: "/// As `users_v1` is.\nlet all = [UsersProjection()]\n"),
        Sample(rule: .tables, file: "Sources/App/Demo/Demo.swift", text: "let users = events.map(\\.owner)\n"),
        Sample(
            rule: .readModels, file: "Sources/Events/EventsProjection.swift", text: #""INSERT INTO \(identifier: schema).events""#
        ),
        Sample(rule: .log, file: "Sources/EventStore/Log/Read/LogReader.swift", text: #""FROM log.recorded_events""#),
        Sample(rule: .types, text: "public struct EventsView {}\n"),
        Sample(rule: .lines, text: String(repeating: "//\n", count: 300)),
        Sample(rule: .nouns, file: "Sources/App/Commands/Serve.swift", text: ""),
        Sample(rule: .unchecked, text: "/// `@unchecked`: the lock protects it.\nfinal class Box: @unchecked Sendable {\n"),
    ]

    @Test(arguments: broken)
    func `is broken by a file that breaks it`(sample: Sample) {
        #expect(!sample.rule.violations(sample.file, sample.text).isEmpty, "\(sample.rule.name): \(sample.text)")
    }

    @Test(arguments: kept)
    func `is kept by a file that keeps it`(sample: Sample) {
        #expect(sample.rule.violations(sample.file, sample.text).isEmpty, "\(sample.rule.name): \(sample.text)")
    }

    @Test func `is seen broken and kept, each of them`() {
        let names = Set(Rule.all.map(\.name))
        #expect(names.count == Rule.all.count)
        #expect(Set(Self.broken.map(\.rule.name)) == names)
        #expect(Set(Self.kept.map(\.rule.name)) == names)
    }
}

@Suite struct `The migrations` {
    private static func listed(in text: String) -> [String] {
        text.matches(of: /name: "(\d{4}_\w+)"/).map { String($0.1) }
    }

    @Test func `all travel inside the program`() throws {
        let files = try SourceTree.files(below: "db/migrations", ending: ".sql").compactMap {
            $0.split(separator: "/").last.map { String($0.dropLast(4)) }
        }
        #expect(files.first == "0001_log")
        #expect(Self.listed(in: try Repository.text("Sources/EventStore/Schema.swift")) == files)
        #expect(Self.listed(in: #"Migration(name: "0001_log", bytes: x), Migration(name: "grants", bytes: y)"#) == ["0001_log"])
    }
}
