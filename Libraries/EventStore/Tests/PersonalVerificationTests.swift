import Postgres
import TestDatabase
import Testing

@testable import EventStore

@Suite struct `Verifying personal members` {
    /// Notes 1 and 2; the domain events of note 2 are erased.
    private static func violations(after script: String) async throws -> [String] {
        try await TestDatabase.with { database in
            try await database.withClient(role: "log_app") { client in
                try await TestStore.withLog(client, projections: []) { log in
                    for note in ["1", "2"] { _ = try await log.record(.noting(note, after: 0, .written("Dear Ann"))) }
                    _ = try await log.record(.noting("2", after: 1, .erased))
                }
            }
            return try await database.withClient { superuser in
                try await superuser.withConnection { connection in
                    try await connection.execute(
                        script: """
                            ALTER TABLE log.recorded_events DISABLE TRIGGER guard_personal;
                            UPDATE log.recorded_events SET personal = NULL WHERE position = 2;
                            INSERT INTO log.subscriptions VALUES ('erasures', 3);
                            \(script)
                            """)
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
                "UPDATE log.recorded_events SET personal = NULL WHERE position = 1",
                ["personal 1 the personal members of note-1 are missing, and no erasure ended them"]
            ),
            (
                "UPDATE log.recorded_events SET personal = '{}' WHERE position = 1",
                ["events 1 NoteWritten, format 1: no personal members in the stored data"]
            ),
            (
                "UPDATE log.recorded_events SET personal = '{\"text\":\"Dear Ann\"}' WHERE position = 2",
                ["personal 2 the personal members of note-2 are there after their erasure"]
            ),
            // The subscription has not come to the erasure.
            (
                """
                UPDATE log.recorded_events SET personal = '{"text":"Dear Ann"}' WHERE position = 2;
                UPDATE log.subscriptions SET position = 2;
                """, []
            ),
            (
                """
                INSERT INTO log.recorded_events VALUES (4, gen_random_uuid(), 'note-4', 1, 'NoteWritten', 1, now(),
                    '{"pages":3,"text":"Dear Ann"}', '{"request_id":"r","actor":1,"trace_id":null}')
                """,
                ["personal 4 the personal members stand among the facts, where no erasure ends them"]
            ),
        ] as [(String, [String])])
    func `faulty personal members are reported with their position, without the words`(
        script: String, violations: [String]
    ) async throws {
        #expect(try await Self.violations(after: script) == violations)
    }
}
