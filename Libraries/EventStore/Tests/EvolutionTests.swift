import Encoding
import Foundation
import Postgres
import TestDatabase
import Testing

@testable import EventStore

/// A log that contains domain events of every format ever written.
@Suite(.database) struct `Reading a log of several formats` {
    /// The bytes as older programs wrote them.
    private static let lines: [(type: String, format: Int16, data: String)] = [
        ("TeaBrewed", 1, #"{"minutes":3}"#),
        ("TeaBrewed", 2, #"{ "seconds" : 200 }"#),
        ("TeaDrunk", 1, "{}"),
        ("TeaBrewed", 3, #"{"seconds":210,"sort":"Assam"}"#),
    ]

    private static func insert(
        _ lines: [(type: String, format: Int16, data: String)], after position: Int, category: String = "tea",
        metadata: String = #"{"request_id":"r","actor":1,"trace_id":null}"#, into database: TestDatabase
    ) async throws {
        for (offset, line) in lines.enumerated() {
            let number = Int64(position + offset + 1)
            try await database.asSuperuser(
                """
                INSERT INTO log.recorded_events
                VALUES (\(number), gen_random_uuid(), \("\(category)-\(number)"), 1, \(line.type), \(line.format), now(),
                    \(line.data)::text::json, \(metadata)::text::json)
                """)
        }
    }

    @Test func `a verification counts events of all formats, and reports unreadable ones by kind with the first position`()
        async throws
    {
        func verify() async throws -> LogVerification {
            try await database.withClient(role: "log_app") { client in
                try await LogVerification(of: LogReader(client: client), decodedBy: [TeaDomainEvent.self])
            }
        }
        try await Self.insert(Self.lines, after: 0, into: database)
        let sound = try await verify()
        #expect((sound.violations, sound.total) == ([], 4))
        #expect(sound.counts[.init(category: "tea", type: "TeaBrewed", format: 1)] == 1)
        let broken: [(type: String, format: Int16, data: String)] = [
            ("TeaBrewed", 4, #"{"grams":3}"#), ("TeaSpilt", 1, "{}"), ("TeaBrewed", 1, #"{"minutes":"s3cret"}"#),
            ("TeaBrewed", 1, #"{"minutes":null}"#),
        ]
        try await Self.insert(broken, after: 4, into: database)
        // With unreadable metadata, and of a module that is missing.
        try await Self.insert([("TeaDrunk", 1, "{}")], after: 8, metadata: "[]", into: database)
        try await Self.insert([("CakeBaked", 1, "{}")], after: 9, category: "cake", into: database)
        let violations = try await verify().violations.map {
            "\($0.firstPosition ?? 0) \($0.count) \($0.kind?.type ?? "") \($0.kind?.format ?? 0) \($0.reason)"
        }
        #expect(
            violations.sorted() == [
                "10 1 CakeBaked 1 no module has streams of category cake",
                "5 1 TeaBrewed 4 TeaBrewed has formats 1 to 3, not 4: written by a newer program",
                "6 1 TeaSpilt 1 no stored type TeaSpilt in category tea",
                "7 2 TeaBrewed 1 TeaBrewed, format 1: no usable minutes in the stored data",
                "9 1 TeaDrunk 1 no usable request_id in the stored data",
            ])
    }
}

@Suite(.store) struct `Replaying the log` {
    @Test func `a replay gives all recorded events in pages and in order`() async throws {
        let results = try await gather(2 * Int(LogReader.replayPage) + 5) { number in
            try await store.log.record(.counting("c\(number)", after: 0))
        }
        #expect(results.appended.count == 2 * Int(LogReader.replayPage) + 5)
        var positions: [Int64] = []
        try await store.reader.replay { positions += $0.map(\.position) }
        #expect(positions == Array(1...Int64(results.count)))
        try await store.reader.replay(after: Int64(results.count)) { _ in Issue.record("there is nothing behind the end") }
    }
}
