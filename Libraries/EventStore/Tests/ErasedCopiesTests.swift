import Foundation
import Postgres
import TestDatabase
import Testing

@testable import EventStore

@Suite struct `Erasing a person from copies of read models` {
    private static func schemas(_ store: TestStore) async throws -> [String] {
        try await store.client.query("SELECT nspname::text FROM pg_namespace WHERE nspname LIKE 'notes%' ORDER BY 1").decode(
            String.self)
    }

    private static func erase(_ store: TestStore) async throws {
        let position = try await store.erasePerson()
        try await store.withErasures {
            let end = try await Erasures(store.context()).end(of: TestStore.erased, at: position, within: .seconds(60))
            #expect(end != nil)
        }
        // As ``ProjectionRunner`` does.
        try await forget(store)
    }

    private static func forget(_ store: TestStore) async throws {
        let projections: [any Projection] = [NotesProjection(), SumProjection()]
        try await ReadModels(projections: projections, client: store.client, logger: .quiet).forget()
    }

    @Test func `a copy that a session locks holds no erasure up, and forgets when the lock is free`() async throws {
        try await TestStore.with { store in
            try await store.count(3, counters: 1)
            try await store.models.rebuild { _ in }
            try await store.count(from: 3, 2, counters: 1)
            let versions: SQL = "SELECT version FROM sums_v1_previous.sums"
            try await store.client.withTransaction { session in
                try await session.query("SELECT log.lock_read_models('{sums_v1_previous}')")
                try await Self.erase(store)
                let locked = try await session.query(versions).decode(Int32.self)
                #expect(locked == [3])
            }
            try await Self.forget(store)
            let followed = try await store.client.query(versions).decode(Int32.self)
            #expect(followed == [5])
        }
    }

    @Test func `the tables before the last rebuild follow the log to the erasure, and a reader of them holds nothing up`()
        async throws
    {
        try await TestStore.with { store in
            try await store.count(3, counters: 1)
            try await store.models.rebuild { _ in }
            try await store.count(from: 3, 2, counters: 1)
            try await store.database.withClient(connections: 1) { reader in
                try await reader.withTransaction { connection in
                    try await connection.query("SELECT FROM sums_v1_previous.sums")
                    try await Self.erase(store)
                }
            }
            for schema in ["sums_v1", "sums_v1_previous"] {
                let versions = try await store.client.query("SELECT version FROM \(identifier: schema).sums").decode(Int32.self)
                #expect(versions == [5], "\(schema)")
            }
        }
    }

    @Test func `an interrupted rebuild is dropped, and one under way is not`() async throws {
        for isHeld in [false, true] {
            try await TestStore.with { store in
                try await store.write(0..<2)
                try await store.database.declare([NotesProjection()])
                _ = try await store.client.run([
                    "SELECT log.create_read_model('notes_v1_rebuild')", "SELECT log.move_read_models('{notes_v1_rebuild}', 2)",
                ])
                let schemas = try await store.client.withTransaction { builder in
                    if isHeld {
                        try await builder.query("SELECT pg_advisory_xact_lock(log.lock_class(), hashtext('notes_v1_rebuild'))")
                    }
                    try await Self.erase(store)
                    return try await Self.schemas(store)
                }
                #expect(schemas == (isHeld ? ["notes_v1_rebuild"] : []))
            }
        }
    }

    @Test(arguments: [(23, ["notes_v1", "notes_v8", "notes_v9"]), (25, ["notes_v1", "notes_v9"])])
    func `a copy of another version without a server is dropped a day after an erasure that it lacks`(
        hours: Int, left: [String]
    ) async throws {
        try await TestStore.with { store in
            let models = ReadModels(projections: [NotesProjection()], client: store.client, logger: .quiet)
            try await store.database.prepare([NotesProjection()])
            _ = try await store.log.record(.noting("1", after: 0, .written("Dear Ann")))
            for (schema, position) in [("notes_v8", 1), ("notes_v9", 2)] as [(String, Int64)] {
                try await store.database.withClient { superuser in
                    _ = try await superuser.run([
                        "INSERT INTO log.projections SELECT name, \(Int32(schema.suffix(1)) ?? 0), tables, indexes FROM log.projections WHERE name = 'notes' AND version = 1",
                        "SELECT log.create_read_model(\(schema))",
                        """
                        UPDATE log.read_models SET position = \(position), built_at = now() - interval '3 days'
                        WHERE schema = \(schema)
                        """,
                    ])
                }
            }
            try await store.client.query(
                """
                SELECT log.append(ARRAY[gen_random_uuid()], ARRAY['note-1'], ARRAY[2], ARRAY['NoteErased'], ARRAY[1::smallint],
                    ARRAY[now() - make_interval(hours => \(Int32(hours)))], ARRAY['{}'],
                    ARRAY['{"request_id":"x","actor":1,"trace_id":null}'], ARRAY[NULL], '{}', '{}')
                """)
            // A copy that moves belongs to a server that starts.
            let standing = try await models.dropForgotten(standing: [:])
            #expect(standing == ["notes_v8": 1, "notes_v9": 2])
            _ = try await models.dropForgotten(standing: ["notes_v8": 0])
            #expect(try await Self.schemas(store) == ["notes_v1", "notes_v8", "notes_v9"])
            _ = try await models.dropForgotten(standing: standing)
            let schemas = try await store.client.query(
                "SELECT nspname::text FROM pg_namespace WHERE nspname LIKE 'notes%' ORDER BY 1"
            ).decode(String.self)
            #expect(schemas == left)
        }
    }
}

/// A read model of notes that has no rows.
struct NotesProjection: Projection {
    static let name = "notes"
    static let version: Int32 = 1
    static let personalColumns: Set<String> = []

    static let tables = "CREATE TABLE notes (note text PRIMARY KEY);"
    static let indexes = ""

    func fold(_ envelopes: [EventEnvelope<NoteEvent>]) -> [String] { [] }
    func writes(for notes: [String], in schema: String) -> [Write] { [] }
}
