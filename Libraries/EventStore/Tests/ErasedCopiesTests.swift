import Foundation
import Postgres
import TestDatabase
import Testing

@testable import EventStore

@Suite struct `Erasing a person from copies of read models` {
    private static func schemas(_ store: TestStore) async throws -> [String] {
        try await store.client.query("SELECT nspname::text FROM pg_namespace WHERE nspname ~ '_v[0-9]' ORDER BY 1").decode(
            String.self)
    }

    private static func erase(_ store: TestStore) async throws {
        let position = try await store.erasePerson()
        try await store.withErasures {
            let end = try await PersonErasures(store.composition()).end(of: TestStore.erased, at: position, within: .seconds(60))
            #expect(end != nil)
        }
        // As ``ProjectionRunner`` does.
        try await forget(store)
    }

    private static func forget(_ store: TestStore) async throws {
        let projections: [any Projection] = [NotesProjection(), SumProjection()]
        try await ReadModels(projections: projections, client: store.client, logger: .quiet).forget()
    }

    @Test(.store)
    func `a reader of tables that a rebuild replaced holds no erasure up, and the tables go when it ends`() async throws {
        try await store.write(0..<2)
        try await store.count(3)
        try await store.database.withClient(connections: 1) { client in
            try await client.withTransaction { reader in
                try await reader.query("SELECT FROM sums_v1.sums")
                try await store.models.rebuild { _ in }
                try await Self.erase(store)
                #expect(try await Self.schemas(store) == ["sums_v1", "sums_v1_replaced"])
            }
        }
        try await Self.forget(store)
        #expect(try await Self.schemas(store) == ["sums_v1"])
    }

    @Test(.store, arguments: [false, true])
    func `an interrupted rebuild is dropped, and one under way is not`(isHeld: Bool) async throws {
        try await store.write(0..<2)
        try await store.database.declare([NotesProjection()])
        _ = try await store.client.run([
            "SELECT log.create_read_model('notes_v1_rebuild')", "SELECT log.move_read_models('{notes_v1_rebuild}', 2)",
        ])
        let schemas = try await store.client.withTransaction { builder in
            if isHeld {
                try await builder.query(
                    "SELECT pg_advisory_xact_lock(\(ReadModels.lockClass), hashtext('notes_v1_rebuild'))")
            }
            try await Self.erase(store)
            return try await Self.schemas(store)
        }
        #expect(schemas == (isHeld ? ["notes_v1_rebuild", "sums_v1"] : ["sums_v1"]))
    }

    @Test(
        .store, arguments: [(23, ["notes_v1", "notes_v8", "notes_v9", "sums_v1"]), (25, ["notes_v1", "notes_v9", "sums_v1"])])
    func `a copy of another version without a server is dropped a day after an erasure that it lacks`(
        hours: Int, left: [String]
    ) async throws {
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
                ARRAY['{"request_id":"x","actor":1,"trace_id":null}'], ARRAY[NULL], '{}')
            """)
        try await Self.forget(store)
        #expect(try await Self.schemas(store) == left)
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
