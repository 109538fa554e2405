import Encoding
import Foundation
import Postgres
import TestDatabase
import Testing

@testable import EventStore

@Suite(.store) struct `Erasing personal members` {
    /// Stream, version, words and whether they were erased, of every recorded event.
    private static let rows: SQL = """
        SELECT concat_ws(' ', stream, version, coalesce(personal ->> 'text', '-'), personal IS NULL)
        FROM log.recorded_events ORDER BY position
        """

    private static func rows(_ store: TestStore) async throws -> [String] {
        try await store.client.query(rows).decode(String.self)
    }

    /// Two notes of two versions; the first version of each has an idempotency key.
    private static func fill(_ store: TestStore) async throws {
        for note in ["1", "2"] {
            var first = AppendRequest.noting(note, after: 0, .written("Dear Ann"))
            first.setKey(RequestHash(of: note.utf8))
            _ = try await store.log.record(first)
            _ = try await store.log.record(.noting(note, after: 1, .written("Dear Bob")))
        }
    }

    @Test func `facts and personal members are stored apart`() async throws {
        for note in ["1", "2"] { _ = try await store.log.record(.noting(note, after: 0, .written("Dear Ann"))) }
        _ = try await store.log.record(.noting("1", after: 1, .read))
        #expect(try await Self.rows(store) == ["note-1 1 Dear Ann f", "note-2 1 Dear Ann f", "note-1 2 - f"])
        let rows = try await store.client.query(
            "SELECT data::text || personal::text FROM log.recorded_events ORDER BY position"
        ).decode(String.self)
        #expect(rows == [#"{"pages":3}{"text":"Dear Ann"}"#, #"{"pages":3}{"text":"Dear Ann"}"#, "{}{}"])
    }

    @Test func `an erasure ends the personal members of its stream, and nothing else`() async throws {
        try await Self.fill(store)
        _ = try await store.log.record(.noting("1", after: 2, .erased))
        try await store.withErasures { try await store.reaches(5, "erasures") }
        #expect(
            try await Self.rows(store) == [
                "note-1 1 - t", "note-1 2 - t", "note-2 1 Dear Ann f", "note-2 2 Dear Bob f", "note-1 3 - f",
            ])
        #expect(
            try await store.reader.notes() == [
                .written(pages: 3, text: .erased), .written(pages: 3, text: .erased), .written("Dear Ann"),
                .written("Dear Bob"), .erased,
            ])
        var verification = try await LogVerification(of: store.reader, decodedBy: [NoteEvent.self])
        try await verification.examineTables(store.client, sequences: [])
        #expect(verification.violations == [])
    }

    private static let erasure = """
        INSERT INTO log.recorded_events VALUES (5, gen_random_uuid(), 'note-1', 3, 'NoteErased', 1, now(), '{}',
            '{"request_id":"r","actor":1,"trace_id":null}');
        """

    @Test func `the database refuses every other change, even of the superuser`() async throws {
        let scripts: [String] = [
            "UPDATE log.recorded_events SET position = position + 100", "UPDATE log.recorded_events SET id = gen_random_uuid()",
            "UPDATE log.recorded_events SET stream = 'note-9'", "UPDATE log.recorded_events SET version = version + 7",
            "UPDATE log.recorded_events SET type = 'NoteRead'", "UPDATE log.recorded_events SET format = 2",
            "UPDATE log.recorded_events SET recorded_at = now()", "UPDATE log.recorded_events SET data = '{\"pages\":4}'",
            "UPDATE log.recorded_events SET metadata = '{}'", "UPDATE log.recorded_events SET personal = NULL",
            "UPDATE log.recorded_events SET personal = '{}'",
            "UPDATE log.recorded_events SET personal = '{\"text\":\"Dear Eve\"}'",
            "SET session_replication_role = replica; UPDATE log.recorded_events SET personal = NULL",
            "DELETE FROM log.recorded_events", "TRUNCATE log.recorded_events",
            "SET session_replication_role = replica; DELETE FROM log.recorded_events",
            "DELETE FROM log.commands", "SET session_replication_role = replica; DELETE FROM log.commands",
            "UPDATE log.commands SET version = 2", "TRUNCATE log.commands",
            "UPDATE log.pepper SET value = gen_random_uuid()", "DELETE FROM log.pepper", "TRUNCATE log.pepper",
            // With an erasure in the same transaction, but of another stream or with another change.
            "\(Self.erasure) UPDATE log.recorded_events SET personal = NULL WHERE stream = 'note-2'",
            "\(Self.erasure) DELETE FROM log.commands WHERE position = 3",
            "\(Self.erasure) UPDATE log.recorded_events SET personal = NULL, data = '{}' WHERE stream = 'note-1' AND version < 3",
            "\(Self.erasure) UPDATE log.recorded_events SET personal = '{}' WHERE stream = 'note-1' AND version < 3",
            // The event never had personal members.
            "\(Self.erasure) UPDATE log.recorded_events SET personal = NULL WHERE position = 5",
            // The personal members come back in the transaction that ended them.
            "\(Self.erasure) SELECT log.erase('{note-1}', 9); UPDATE log.recorded_events SET personal = '{}' WHERE position = 1",
            "\(Self.erasure) DELETE FROM log.recorded_events WHERE stream = 'note-1'",
        ]
        try await Self.fill(store)
        let contents: SQL = """
            SELECT md5(string_agg(r::text, ',' ORDER BY position)) || (SELECT count(*) FROM log.commands)
            FROM log.recorded_events AS r
            """
        let before = try await store.client.query(contents).decode(String.self)
        for script in scripts {
            try await store.database.withClient { superuser in
                try await superuser.withConnection { connection in
                    let error = await #expect(throws: PostgresError.self, "\(script)") {
                        try await connection.execute(script: script)
                    }
                    #expect(error?.sqlState == .insufficientPrivilege, "\(script)")
                }
            }
            #expect(try await store.client.query(contents).decode(String.self) == before, "\(script)")
        }
    }

    @Test func `only the erasure of its category ends a stream`() async throws {
        for (number, type) in ["OtherErased", "NoteUnErased", "Erased", "PersonErased"].enumerated() {
            let note = StreamName("note-\(number)")
            _ = try await store.log.record(.noting("\(number)", after: 0, .written("Dear Ann")))
            let other = StoredEvent(type: type, format: 1, facts: Array("{}".utf8))
            try await store.client.append(elsewhere: other, to: note, version: 2)
            let error = await #expect(throws: PostgresError.self, "\(type)") {
                try await store.client.query("SELECT log.erase(\([note.description]), 9)")
            }
            #expect(error?.sqlState == .insufficientPrivilege, "\(type)")
        }
        #expect(try await store.words() == 4)
    }

    @Test func `personal members do not come back after their erasure`() async throws {
        try await Self.fill(store)
        try await store.database.withClient { superuser in
            try await superuser.query("CREATE TABLE kept AS SELECT * FROM log.recorded_events")
            _ = try await store.log.record(.noting("1", after: 2, .erased))
            try await store.withErasures { try await store.reaches(5, "erasures") }
            let error = await #expect(throws: PostgresError.self) {
                try await superuser.query(
                    """
                    UPDATE log.recorded_events AS e SET personal = k.personal FROM kept AS k
                    WHERE k.position = e.position AND e.personal IS NULL
                    """)
            }
            #expect(error?.sqlState == .insufficientPrivilege)
        }
        #expect(try await Self.rows(store).first == "note-1 1 - t")
    }

    @Test func `the application's role cannot change the log, and erases nothing without an erasure`() async throws {
        let statements: [String] = [
            "UPDATE log.recorded_events SET data = '{}'", "DELETE FROM log.recorded_events", "TRUNCATE log.recorded_events",
            "DROP TABLE log.recorded_events", "ALTER TABLE log.recorded_events DISABLE TRIGGER ALL",
            "UPDATE log.recorded_events SET personal = NULL", "DELETE FROM log.commands",
        ]
        try await Self.fill(store)
        for statement in statements {
            let error = await #expect(throws: PostgresError.self, "\(statement)") {
                try await store.client.query(SQL(unsafeText: statement))
            }
            #expect(error?.sqlState == .insufficientPrivilege, "\(statement)")
        }
    }
}
