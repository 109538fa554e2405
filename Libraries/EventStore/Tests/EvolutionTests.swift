import Encoding
import Foundation
import Postgres
import TestDatabase
import Testing

@testable import EventStore

/// A log that contains domain events of every format ever written.
@Suite struct `Reading a log of several formats` {
    /// The bytes as older programs wrote them.
    private static let lines: [(type: String, format: Int16, data: String)] = [
        ("TeaBrewed", 1, #"{"minutes":3}"#),
        ("TeaBrewed", 2, #"{ "seconds" : 200 }"#),
        ("TeaDrunk", 1, "{}"),
        ("TeaBrewed", 3, #"{"seconds":210,"sort":"Assam"}"#),
    ]

    private static func withLog(
        _ lines: [(type: String, format: Int16, data: String)], category: String = "tea",
        _ body: @escaping @Sendable (LogReader, TestDatabase) async throws -> Void
    ) async throws {
        try await TestDatabase.with { database in
            for (offset, line) in lines.enumerated() {
                try await database.asSuperuser(
                    """
                    INSERT INTO log.recorded_events
                    VALUES (\(Int64(offset + 1)), gen_random_uuid(), \("\(category)-\(offset)"), 1, \(line.type), \(line.format), now(),
                        \(line.data)::text::json, '{"request_id":"r","actor":1,"trace_id":null}')
                    """
                )
            }
            try await database.withClient(role: "log_app") { client in
                try await body(LogReader(client: client), database)
            }
        }
    }

    @Test func `a verification counts events of all formats and finds no violation`() async throws {
        try await Self.withLog(Self.lines) { reader, _ in
            let verification = try await LogVerification(of: reader, decodedBy: [TeaDomainEvent.self, Counted.self])
            #expect(verification.violations == [])
            #expect(verification.total == 4)
            #expect(verification.counts[.init(category: "tea", type: "TeaBrewed", format: 1)] == 1)
        }
    }

    @Test func `a verification reports unreadable events by kind, with the first position of each`() async throws {
        let broken: [(type: String, format: Int16, data: String)] = [
            ("TeaBrewed", 4, #"{"grams":3}"#), ("TeaSpilt", 1, "{}"), ("TeaBrewed", 1, #"{"minutes":"s3cret"}"#),
            ("TeaBrewed", 1, #"{"minutes":null}"#),
        ]
        try await Self.withLog(Self.lines + broken) { reader, _ in
            let verification = try await LogVerification(of: reader, decodedBy: [TeaDomainEvent.self])
            #expect(
                verification.violations.map {
                    "\($0.firstPosition ?? 0) \($0.count) \($0.kind?.type ?? "") \($0.kind?.format ?? 0) \($0.reason)"
                } == [
                    "5 1 TeaBrewed 4 TeaBrewed has formats 1 to 3, not 4: written by a newer program",
                    "6 1 TeaSpilt 1 no stored type TeaSpilt in category tea",
                    "7 2 TeaBrewed 1 TeaBrewed, format 1: no usable minutes in the stored data",
                ])
        }
    }

    @Test func `a verification reports unreadable metadata, and the event is read all the same`() async throws {
        try await Self.withLog(Self.lines) { reader, database in
            try await database.asSuperuser(
                "INSERT INTO log.recorded_events VALUES (5, gen_random_uuid(), 'tea-9', 1, 'TeaDrunk', 1, now(), '{}', '[]')")
            let verification = try await LogVerification(of: reader, decodedBy: [TeaDomainEvent.self])
            #expect(verification.violations.map(\.firstPosition) == [5])
            #expect(verification.violations.map(\.reason) == ["no usable request_id in the stored data"])
        }
    }

    @Test func `a verification reports events of a module that is missing`() async throws {
        try await Self.withLog([("CakeBaked", 1, "{}")], category: "cake") { reader, _ in
            let verification = try await LogVerification(of: reader, decodedBy: [TeaDomainEvent.self])
            #expect(verification.violations.map(\.reason) == ["no module has streams of category cake"])
        }
    }
}

@Suite struct `Replaying the log` {
    @Test func `a replay gives all recorded events in pages and in order`() async throws {
        try await TestStore.with { store in
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
}
