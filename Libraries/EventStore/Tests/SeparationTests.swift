import Encoding
import Foundation
import Postgres
import Synchronization
import TestDatabase
import Testing

@testable import EventStore

/// Recorded events of an earlier release, with personal members among the facts.
@Suite struct `Separating personal members of old events` {
    /// More than two batches.
    private static let count: Int64 = 4_500

    private static func withOldLog(_ body: @escaping @Sendable (PostgresClient) async throws -> Void) async throws {
        try await TestDatabase.with { database in
            try await database.withClient { client in
                try await client.run([
                    """
                    INSERT INTO log.recorded_events
                    SELECT n, gen_random_uuid(), 'note-' || n, 1, 'NoteWritten', 1, now(),
                        format('{ "text" : "words \\u00fc %s", "pages":%s}', n, n)::json,
                        '{"request_id":"r","actor":1,"trace_id":null}' FROM generate_series(1, \(count)) AS n
                    """, "UPDATE log.separation SET last_position = \(count)",
                ])
                try await body(client)
            }
        }
    }

    private static func separation(_ client: PostgresClient) -> Separation {
        Separation(client: client, domainEvents: [NoteEvent.self, Counted.self])
    }

    private static func apart(_ client: PostgresClient) async throws -> [Int64] {
        try await client.query(
            """
            SELECT position FROM log.recorded_events WHERE data ->> 'text' IS NULL AND personal ->> 'text' IS NOT NULL
                AND personal_digest = sha256(convert_to(personal::text, 'UTF8')) ORDER BY position
            """
        ).decode(Int64.self)
    }

    @Test func `old events are separated in batches, and are the same domain events before and after`() async throws {
        try await Self.withOldLog { client in
            let separation = Self.separation(client)
            let before = try await LogReader(client: client).notes()
            #expect(before.first == .written(pages: 1, text: .present("words ü 1")))
            #expect(try await separation.isPending())
            let places = Mutex<[[Int64]]>([])
            let changed = try await separation.run { position, last in places.withLock { $0.append([position, last]) } }
            #expect(changed == Int(Self.count))
            #expect(places.withLock(\.self) == [[2_000, 4_500], [4_000, 4_500], [4_500, 4_500]])
            #expect(try await Self.apart(client) == Array(1...Self.count))
            #expect(try await LogReader(client: client).notes() == before)
            var verification = try await LogVerification(of: LogReader(client: client), decodedBy: [NoteEvent.self])
            try await verification.examineTables(client, sequences: [])
            #expect(verification.violations == [])
        }
    }

    @Test func `a second separation changes nothing`() async throws {
        try await Self.withOldLog { client in
            _ = try await Self.separation(client).run()
            let contents: SQL = "SELECT md5(string_agg(r::text, ',' ORDER BY position)) FROM log.recorded_events AS r"
            let before = try await client.query(contents).decode(String.self)
            #expect(try await Self.separation(client).isPending() == false)
            #expect(try await Self.separation(client).run() == 0)
            // Even from the beginning.
            try await client.query("UPDATE log.separation SET position = 0")
            #expect(try await Self.separation(client).run() == 0)
            #expect(try await client.query(contents).decode(String.self) == before)
        }
    }

    @Test func `a new database has nothing to separate`() async throws {
        try await TestStore.with { store in
            try await store.count(3)
            _ = try await store.log.record(.noting("1", after: 0, .written("Dear Ann")))
            let (isPending, changed) = try await store.database.withClient { superuser in
                let separation = Self.separation(superuser)
                return (try await separation.isPending(), try await separation.run())
            }
            #expect((isPending, changed) == (false, 0))
        }
    }

    @Test func `a row that cannot be read stops the separation, which goes on from there once it can be`() async throws {
        try await Self.withOldLog { client in
            func replace(_ data: String) async throws {
                try await client.run([
                    "ALTER TABLE log.recorded_events DISABLE TRIGGER USER",
                    "UPDATE log.recorded_events SET data = \(data)::text::json WHERE position = 3000",
                    "ALTER TABLE log.recorded_events ENABLE ALWAYS TRIGGER guard_personal",
                ])
            }
            try await replace(#"{"pages":"s3cret","text":"s3cret"}"#)
            let separation = Self.separation(client)
            await #expect(
                throws: FormatError("position 3000: NoteWritten, format 1: no usable pages in the stored data")
            ) { _ = try await separation.run() }
            #expect(try await client.query("SELECT position FROM log.separation").decode(Int64.self) == [Int64(2_000)])
            #expect(try await Self.apart(client) == Array(1...2_000))
            #expect(try await separation.isPending())
            try await replace(#"{"pages":3000,"text":"words"}"#)
            #expect(try await separation.run() == 2_500)
            #expect(try await Self.apart(client) == Array(1...Self.count))
        }
    }

    @Test func `the database refuses a separation that loses or adds anything`() async throws {
        let cases: [(facts: String, personal: String)] = [
            (#"{}"#, #"{"salt":"00","text":"words ü 7"}"#), (#"{"pages":7}"#, #"{"salt":"00"}"#),
            (#"{"pages":7}"#, #"{"salt":"00","text":"other words"}"#), (#"{"pages":8}"#, #"{"salt":"00","text":"words ü 7"}"#),
            (#"{"pages":7,"more":1}"#, #"{"salt":"00","text":"words ü 7"}"#),
        ]
        try await Self.withOldLog { client in
            func separate(_ facts: String, _ personal: String) async throws {
                _ = try await client.query(
                    """
                    SELECT log.separate(ARRAY[7::bigint], ARRAY[\(facts)], ARRAY[\(personal)],
                        ARRAY[sha256(convert_to(\(personal), 'UTF8'))])
                    """)
            }
            for (facts, personal) in cases {
                let error = await #expect(throws: PostgresError.self, "\(facts) \(personal)") {
                    try await separate(facts, personal)
                }
                #expect(error?.sqlState == .insufficientPrivilege, "\(facts) \(personal)")
                #expect(try await Self.apart(client) == [], "\(facts) \(personal)")
            }
            try await separate(#"{"pages":7}"#, #"{"salt":"00","text":"words ü 7"}"#)
            #expect(try await Self.apart(client) == [7])
        }
    }
}

@Suite struct `Verifying personal members` {
    /// Notes 1 and 2; the domain events of note 2 are erased.
    private static func violations(after script: String) async throws -> [String] {
        try await TestDatabase.with { database in
            try await database.withClient(role: "humon_app") { client in
                try await TestStore.withLog(client, projections: []) { log in
                    for note in ["1", "2"] { _ = try await log.record(.noting(note, after: 0, .written("Dear Ann"))) }
                    _ = try await log.record(.noting("2", after: 1, .erased))
                }
            }
            return try await database.withClient { superuser in
                try await superuser.withConnection { connection in
                    try await connection.execute(
                        script: "ALTER TABLE log.recorded_events DISABLE TRIGGER guard_personal; \(script)")
                }
                var verification = try await LogVerification(of: LogReader(client: superuser), decodedBy: [NoteEvent.self])
                try await verification.examineTables(superuser, sequences: [])
                return verification.violations.map { "\($0.check) \($0.firstPosition ?? 0) \($0.reason)" }
            }
        }
    }

    @Test(
        arguments: [
            ("SELECT", []),
            (
                "UPDATE log.recorded_events SET personal = '{\"salt\":\"00\",\"text\":\"Dear Bob\"}' WHERE position = 1",
                ["personal 1 the personal members of note-1 differ from their digest"]
            ),
            (
                "UPDATE log.recorded_events SET personal = NULL WHERE position = 1",
                ["personal 1 the personal members of note-1 are missing, and no erasure ended them"]
            ),
            (
                "UPDATE log.recorded_events SET personal = '{\"salt\":\"00\",\"text\":\"Dear Ann\"}' WHERE position = 2",
                ["personal 2 the personal members of note-2 are there after their erasure"]
            ),
            (
                """
                INSERT INTO log.recorded_events VALUES (4, gen_random_uuid(), 'note-4', 1, 'NoteWritten', 1, now(),
                    '{"pages":3,"text":"Dear Ann"}', '{"request_id":"r","actor":1,"trace_id":null}')
                """,
                ["personal 4 the personal members stand among the facts; humon migrate separates them"]
            ),
        ] as [(String, [String])])
    func `faulty personal members are reported with their position, without the words`(
        script: String, violations: [String]
    ) async throws {
        #expect(try await Self.violations(after: script) == violations)
    }
}
