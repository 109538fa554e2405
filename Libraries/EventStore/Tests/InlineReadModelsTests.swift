import Foundation
import Postgres
import TestDatabase
import Testing

@testable import EventStore

@Suite(.store) struct `Appending under an open snapshot` {
    /// The physical row versions: an UPDATE and a row lock change them.
    private static let versions: SQL = """
        SELECT concat_ws(' ', 'read model', ctid, xmin, xmax, schema) FROM log.read_models
        UNION ALL SELECT concat_ws(' ', 'inline', ctid, xmin, xmax, read_models) FROM log.inline_read_models
        ORDER BY 1
        """

    @Test func `an append writes no new version of any row of the log's own tables`() async throws {
        try await store.count(1)
        let before = try await store.client.query(Self.versions).decode(String.self)
        try await store.client.withTransaction { snapshot in
            try await snapshot.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            try await snapshot.query("SELECT log.tail(), pg_current_xact_id()::text")
            try await store.count(from: 1, 500)
        }
        #expect(try await store.client.query(Self.versions).decode(String.self) == before)
        #expect(before.count == 2)
        #expect(try await store.models.list().map(\.position) == [501])
    }

    @Test func `appends of programs with different read models find a row's newest version without older ones`() async throws {
        try await store.client.withTransaction { snapshot in
            try await snapshot.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            try await snapshot.query("SELECT log.tail()")
            try await TestStore.withLog(store.client, projections: []) { stranger in
                for number in 0..<60 {
                    _ = try await stranger.record(.counting("stranger", after: Int32(number), by: 1))
                    _ = try await store.log.record(.counting("own", after: Int32(number), by: 1))
                }
            }
        }
        #expect(try await store.sums() == ["(own,60,60)", "(stranger,60,60)"])
        let plan = try await store.client.withTransaction { connection in
            try await connection.query("SET LOCAL enable_seqscan = off")
            return try await connection.query(
                """
                EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF)
                SELECT position FROM log.read_models WHERE schema = 'sums_v1' ORDER BY position DESC LIMIT 1
                """
            ).decode(String.self)
        }
        #expect(plan.contains { $0.contains("Index") && $0.contains("Backward") }, "\(plan)")
        #expect(!plan.contains { $0.contains("Sort") }, "\(plan)")
        #expect(try await store.models.verify { _ in }.map(\.differing) == [0])
    }
}

@Suite(.store) struct `Marking read models as served` {
    @Test func `a server whose read model was dropped while it started does not serve`() async throws {
        try await store.client.withTransaction { try await ReadModels.drop("sums_v1", on: $0) }
        let programs = RunningPrograms(
            ProgramFormats(of: [Counted.self]), readModels: store.models, client: store.client, logger: .quiet)
        await #expect(throws: ReadModelError.self) { try await programs.run() }
    }

    @Test(arguments: [false, true])
    func `a read model is in use while a server runs that answers from it, also behind a pooler`(isPooled: Bool) async throws {
        @Sendable func isHeld() async throws -> Bool {
            try await store.client.query("SELECT log.holders('sums_v1') <> '{}'").decode(Bool.self) == [true]
        }
        #expect(try await !isHeld())
        var configuration = store.database.configuration(role: "log_app", connections: 2)
        configuration.isPooled = isPooled
        try await withPostgres(configuration, logger: .quiet) { client in
            let programs = RunningPrograms(
                ProgramFormats(of: [Counted.self]), readModels: store.models, client: client, logger: .quiet)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await programs.run() }
                defer { group.cancelAll() }
                try await eventually { try await isHeld() }
                #expect(try await store.models.list().map(\.isHeld) == [true])
            }
        }
        try await eventually { try await !isHeld() }
    }
}
