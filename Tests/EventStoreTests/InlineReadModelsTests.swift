import Foundation
import Postgres
import Synchronization
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
                        _ = try await stranger.append(.counting("stranger", after: Int32(number), by: 1))
                        _ = try await store.log.append(.counting("own", after: Int32(number), by: 1))
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

/// Runs the statements of the previous release on a database that this release has migrated.
@Suite struct `Sharing a database with the previous release` {
    private static let lock: SQL = """
        SELECT schema, position FROM log.checkpoints
        WHERE schema = ANY(ARRAY['sums_v1']) AND to_regnamespace(schema) IS NOT NULL ORDER BY schema FOR UPDATE
        """

    @Test func `the previous release reads true positions, and appends wait while it holds the row`() async throws {
        try await TestStore.with { store in
            try await store.count(3)
            let later = try await store.client.withTransaction { old in
                let shown = try await old.query(Self.lock).decode((String, Int64).self).map(\.1)
                #expect(shown == [3])
                let later = Task { try await store.log.append(.counting("z", after: 0)) }
                try await store.eventuallyWaiting(1)
                #expect(try await LogReader(client: old).tail() == 3)
                return later
            }
            #expect(try await later.value.position == 4)
            let position = try await store.client.query("SELECT position FROM log.checkpoints").decode(Int64.self)
            #expect(position == [4])
        }
    }

    @Test func `the previous release reads the new position after it waited for an append`() async throws {
        try await TestStore.with { store in
            try await store.count(2)
            try await TestStore.withLog(store.client, projections: []) { stranger in
                _ = try await stranger.append(.counting("stranger", after: 0))
            }
            let behind = try await store.client.query(
                "SELECT schema FROM log.checkpoints WHERE schema = ANY(ARRAY['sums_v1']) AND position < log.tail()")
            #expect(behind.count == 1)
            let old = try await store.client.withTransaction { append in
                var copies = try await ReadModelCopy.locked([SumProjection()], on: append)
                try await ReadModelCopy.catchUp(&copies, on: append)
                let old = Task {
                    while true {
                        do {
                            return try await store.client.withTransaction {
                                try await $0.query(Self.lock).decode((String, Int64).self).map(\.1)
                            }
                        } catch let error as PostgresError where error.sqlState == .lockNotAvailable {
                            // PostgreSQL releases the rows of an append shortly before the lock of the log. The previous release
                            // tries again too.
                        }
                    }
                }
                try await store.eventuallyWaiting(1)
                try await append.query(
                    """
                    SELECT log.append(ARRAY[gen_random_uuid()], ARRAY['counter-z'], ARRAY[1], ARRAY['Counted'], ARRAY[1::smallint],
                        ARRAY[now()], ARRAY['{"number":1}'], ARRAY['{"request_id":"x","actor":null,"trace_id":null}'],
                        ARRAY['sums_v1'], ARRAY[1])
                    """)
                return old
            }
            #expect(try await old.value == [4])
        }
    }

    /// One page of a catch-up, as the previous release does it.
    private static func catchUp(_ store: TestStore) async throws {
        try await store.client.withTransaction { old in
            let positions = try await old.query(lock).decode((String, Int64).self).map(\.1)
            guard let position = positions.first else { return }
            let copy = ReadModelCopy(projection: SumProjection(), schema: "sums_v1", position: position)
            let page = try await LogReader(client: old).rows(after: position, limit: 1_000, filter: .everything, sample: nil)
            guard page.through > position else { return }
            let writes = try [copy].writes(for: page.decode(page.rows.indices)).map(\.statement)
            let move: SQL =
                "UPDATE log.checkpoints SET position = \(page.through) WHERE schema = 'sums_v1' AND position < \(page.through)"
            try await old.run(writes + [move])
        }
    }

    @Test func `no event is applied twice while both releases append in turns`() async throws {
        try await TestStore.with { store in
            let isDone = Mutex(false)
            let old = Task {
                while !isDone.withLock(\.self) {
                    // A transaction that holds a row lock is refused instead of waiting for the log's lock.
                    do { try await Self.catchUp(store) } catch let error as PostgresError
                        where error.sqlState == .lockNotAvailable
                    {}
                }
            }
            try await TestStore.withLog(store.client, projections: []) { stranger in
                async let own: Void = {
                    for number in 0..<80 { _ = try await store.log.append(.counting("own", after: Int32(number), by: 1)) }
                }()
                for number in 0..<80 { _ = try await stranger.append(.counting("stranger", after: Int32(number), by: 1)) }
                try await own
            }
            isDone.withLock { $0 = true }
            try await old.value
            try await store.models.catchUp()
            #expect(try await store.sums() == ["(own,80,80)", "(stranger,80,80)"])
        }
    }

    @Test func `catch-up, served-at note, rename and drop of the previous release work`() async throws {
        try await TestStore.with { store in
            try await store.count(2)
            try await TestStore.withLog(store.client, projections: []) { stranger in
                _ = try await stranger.append(.counting("stranger", after: 0))
            }
            let client = store.client
            try await client.query(
                "UPDATE log.checkpoints SET position = 3 WHERE schema = ANY(ARRAY['sums_v1']) AND position < 3")
            try await client.query("UPDATE log.checkpoints SET served_at = clock_timestamp() WHERE schema = 'sums_v1'")
            #expect(try await client.query("SELECT log.is_served('sums_v1')").decode(Bool.self) == [true])
            _ = try await store.log.append(.counting("z", after: 0))
            try await client.query("UPDATE log.checkpoints SET schema = 'sums_v1_previous' WHERE schema = 'sums_v1'")
            let before = try await client.query("SELECT position FROM log.checkpoints WHERE schema = 'sums_v1_previous'")
                .decode(Int64.self)
            #expect(before == [4])
            try await client.query("DELETE FROM log.checkpoints WHERE schema = 'sums_v1_previous'")
            await #expect(throws: ReadModelError.missing) { _ = try await store.log.append(.counting("y", after: 0)) }
        }
    }
}

@Suite struct `Marking read models as served` {
    @Test func `a session lock marks a read model as served and ends with the session`() async throws {
        try await TestStore.with { store in
            #expect(try await store.models.list().map(\.servedAt) == [nil])
            try await store.database.withClient(role: "humon_app") { server in
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
                var configuration = store.database.configuration(role: "humon_app", connections: 2)
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
                _ = try await stranger.append(.counting("stranger", after: 0))
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

    /// Returns as soon as `count` sessions of this database wait for locks.
    fileprivate func eventuallyWaiting(_ count: Int64) async throws {
        try await eventually {
            try await client.query(
                """
                SELECT count(DISTINCT pid) FROM pg_locks JOIN pg_stat_activity USING (pid)
                WHERE datname = current_database() AND NOT granted
                """
            ).decode(Int64.self).first == count
        }
    }
}
