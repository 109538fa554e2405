import Foundation
import Postgres
import TestDatabase
import Testing

@testable import EventStore

@Suite struct `Appending under an open snapshot` {
    /// The physical row versions: an UPDATE and a row lock change them.
    private static let versions: SQL = """
        SELECT concat_ws(' ', 'read model', ctid, xmin, xmax, schema) FROM log.read_models
        UNION ALL SELECT concat_ws(' ', 'inline', ctid, xmin, xmax, read_models) FROM log.inline_read_models
        UNION ALL SELECT concat_ws(' ', 'shadow', ctid, xmin, xmax, schema) FROM log.shadows
        UNION ALL SELECT concat_ws(' ', 'lease', ctid, xmin, xmax, holder) FROM log.leases
        ORDER BY 1
        """

    @Test func `an append writes no new version of any row of the log's own tables`() async throws {
        try await TestStore.with { store in
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
    }

    @Test func `appends of programs with different read models find a row's newest version without older ones`() async throws {
        try await TestStore.with { store in
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
}

@Suite struct `Marking read models as served` {
    @Test func `a session lock marks a read model as served and ends with the session`() async throws {
        try await TestStore.with { store in
            #expect(try await store.models.list().map(\.servedAt) == [nil])
            try await store.database.withClient(role: "log_app") { server in
                try await server.withConnection { session in
                    try await store.models.holdServed(on: session)
                    #expect(try await store.isServed())
                }
            }
            try await eventually { try await !store.isServed() }
            #expect(try await store.models.list().allSatisfy { $0.servedAt != nil })
        }
    }

    @Test func `the served-at time is written only if the connection is pooled`() async throws {
        try await TestStore.with { store in
            func keep(isPooled: Bool, until isDone: @Sendable @escaping () async throws -> Bool) async throws {
                var configuration = store.database.configuration(role: "log_app", connections: 2)
                configuration.isPooled = isPooled
                try await withPostgres(configuration, logger: .quiet) { client in
                    let models = ReadModels(projections: [SumProjection()], client: client, logger: .quiet)
                    try await TestStore.withNotifier(client) { notifier in
                        try await withThrowingTaskGroup(of: Void.self) { group in
                            group.addTask { await ProjectionRunner(models, notifier: notifier, logger: .quiet).run() }
                            defer { group.cancelAll() }
                            try await eventually {
                                notifier.grew(to: 1); return try await isDone()
                            }
                        }
                    }
                }
            }
            try await TestStore.withLog(store.client, projections: []) { stranger in
                _ = try await stranger.record(.counting("stranger", after: 0))
            }
            // The runner has checked, since it has caught up.
            try await keep(isPooled: false) { try await store.models.list().map(\.position) == [1] }
            #expect(try await store.isServed() == false)
            try await keep(isPooled: true) { try await store.isServed() }
            #expect(try await store.isServed())
        }
    }
}

extension TestStore {
    fileprivate func isServed() async throws -> Bool {
        try await client.query("SELECT log.is_served('sums_v1')").decode(Bool.self) == [true]
    }
}
