import Encoding
import Foundation
import Postgres
import Synchronization
import TestDatabase
import Testing

@testable import EventStore

@Suite(.store) struct `Rebuilding a read model` {
    /// The number of appends so far.
    private final class Writer: Sendable {
        let acknowledged = Mutex<Int64>(0)
        let isDone = Mutex(false)
    }

    @Test func `rebuilding a dropped read model restores every row`() async throws {
        try await store.count(40)
        let before = try await store.sums()
        try await store.database.asSuperuser("DROP SCHEMA sums_v1 CASCADE")
        await #expect(throws: ReadModelError.missing) { _ = try await store.log.record(.counting("z", after: 0)) }
        let cutover = try await store.models.rebuild { _ in }
        #expect(try await store.sums() == before)
        #expect(before.count == 7)
        #expect(cutover.position == 40)
        #expect(cutover.events == 40)
    }

    @Test func `a rebuild corrects rows, leaves one copy with the same indexes, and goes on`() async throws {
        try await store.count(40)
        let before = try await store.sums()
        let indexes: SQL = "SELECT indexdef FROM pg_indexes WHERE schemaname = 'sums_v1' ORDER BY indexname"
        let indexesBefore = try await store.client.query(indexes).decode(String.self)
        try await store.client.query("UPDATE sums_v1.sums SET sum = 999")
        try await store.models.rebuild { _ in }
        #expect(try await store.sums() == before)
        #expect(try await store.models.list().map(\.schema) == ["sums_v1"])
        #expect(try await store.client.query(indexes).decode(String.self) == indexesBefore)
        #expect(indexesBefore.count == 2)
        try await store.count(from: 40, 10)
        #expect(try await store.reader.tail() == 50)
    }

    /// Readers see every acknowledged append from then on, however often a cutover replaces the tables.
    @Test func `reads never fail or go back while rebuilds and appends go on, also beside a reader of the old tables`()
        async throws
    {
        try await store.count(30)
        let writer = Writer()
        try await withThrowingTaskGroup(of: (what: String, count: Int).self) { group in
            group.addTask {
                // The other tasks go on until this one has ended, with an error too.
                defer { writer.isDone.withLock { $0 = true } }
                for number in 30..<400 {
                    let append = AppendRequest.counting("\(number % 7)-x", after: Int32(number / 7), by: Int64(number))
                    let appended = try await store.log.record(append)
                    writer.acknowledged.withLock { $0 = appended.position }
                }
                return ("appends", 370)
            }
            for _ in 0..<2 {
                group.addTask {
                    var (reads, last) = (0, Int64(0))
                    while !writer.isDone.withLock(\.self) {
                        let floor = max(last, writer.acknowledged.withLock(\.self))
                        // There are as many versions as events.
                        last = try await store.client.query("SELECT sum(version)::bigint FROM sums_v1.sums").decode(Int64.self)[0]
                        #expect(last >= floor, "a read went back")
                        reads += 1
                    }
                    return ("reads", reads)
                }
            }
            group.addTask {
                let cutovers = try await store.database.withClient(connections: 1) { client in
                    var count = 0
                    while !writer.isDone.withLock(\.self) {
                        for _ in 0..<5 { try await store.models.rebuild { _ in } }
                        try await client.withTransaction { reader in
                            try await reader.query("SELECT FROM sums_v1.sums")
                            try await store.models.rebuild { _ in }
                        }
                        count += 6
                    }
                    return count
                }
                return ("cutovers", cutovers)
            }
            for try await (what, count) in group { #expect(count > 1, "\(count) \(what)") }
        }
        #expect(try await store.reader.tail() == 400)
        let comparison = try await store.models.verify { _ in }
        #expect(comparison.map(\.differing) == [0])
    }

    @Test func `a rebuild that was broken off goes on at its position`() async throws {
        try await store.count(40)
        let before = try await store.sums()
        // The state that a rebuild leaves when it is killed after 14 recorded events.
        try await store.client.withConnection { connection in
            try await connection.execute(
                script: """
                    SELECT log.create_read_model('sums_v1_rebuild');
                    INSERT INTO sums_v1_rebuild.sums SELECT (n % 7) || '-x', sum(n), 2 FROM generate_series(0, 13) AS n GROUP BY n % 7;
                    SELECT log.move_read_models('{sums_v1_rebuild}', 14);
                    """
            )
        }
        let listed = try await store.models.list().map { "\($0.schema) \($0.state)" }
        #expect(listed == ["sums_v1 ready", "sums_v1_rebuild interrupted"])
        let first = Mutex<ShadowProgress?>(nil)
        let cutover = try await store.models.rebuild { progress in first.withLock { $0 = $0 ?? progress } }
        #expect(first.withLock(\.self) == ShadowProgress(phase: .loading, position: 14, tail: 40))
        #expect(cutover.events == 26)
        #expect(try await store.sums() == before)
    }

    @Test func `a rebuild can be watched and aborted by another process, and then leaves nothing behind`() async throws {
        try await store.count(20)
        let begun = AsyncStream.makeStream(of: Void.self)
        // The rebuild waits for the lock on the table that it writes to.
        try await store.client.withTransaction { connection in
            try await connection.execute(
                script: """
                    SELECT log.create_read_model('sums_v1_rebuild');
                    SELECT log.move_read_models('{sums_v1_rebuild}', 5);
                    """)
        }
        let (rebuild, abort) = try await store.client.withTransaction { connection in
            try await connection.query("LOCK TABLE sums_v1_rebuild.sums IN EXCLUSIVE MODE")
            let rebuild = Task { try await store.models.rebuild { _ in begun.continuation.yield() } }
            for await _ in begun.stream { break }
            #expect(
                try await store.models.list().map { "\($0.schema) \($0.state)" } == [
                    "sums_v1 ready", "sums_v1_rebuild building",
                ])
            let abort = Task { try await store.models.abort() }
            try await eventually("the other process to drop the tables") {
                try await store.client.query(
                    """
                    SELECT count(*) FROM pg_locks AS l JOIN pg_database AS d ON d.oid = l.database
                    WHERE d.datname = current_database() AND NOT granted AND mode = 'AccessExclusiveLock'
                    """
                ).decode(Int64.self)[0] > Int64(0)
            }
            return (rebuild, abort)
        }
        await #expect(throws: ReadModelError.aborted("sums_v1_rebuild")) { _ = try await rebuild.value }
        #expect(try await abort.value == ["sums_v1_rebuild"])
        #expect(try await store.models.abort() == [])
        #expect(try await store.models.list().map(\.schema) == ["sums_v1"])
    }

    @Test func `two concurrent rebuilds give the same read model as one`() async throws {
        try await store.count(40)
        let before = try await store.sums()
        let results = try await gather(2) { _ in try await store.models.rebuild { _ in } }
        #expect(results.contains { (try? $0.get()) != nil })
        #expect(try await store.sums() == before)
    }

    @Test func `a rebuild that fails names the position and changes nothing`() async throws {
        try await store.count(5)
        try await store.database.asSuperuser(
            """
            INSERT INTO log.recorded_events
            VALUES (6, gen_random_uuid(), 'counter-z', 1, 'Counted', 1, now(), '{"number":"many"}', '{}')
            """)
        let error = await #expect(throws: FormatError.self) { try await store.models.rebuild { _ in } }
        #expect(error?.description == "position 6: Counted, format 1: no usable number in the stored data")
        try await store.client.query("SELECT log.leave_inline(ARRAY['sums_v1'])")
        try await store.database.asSuperuser("UPDATE log.read_models SET position = 9 WHERE schema = 'sums_v1'")
        await #expect(throws: ReadModelError.ahead("sums_v1", position: 9, tail: 6)) { try await store.models.prepare() }
    }

    @Test func `a transaction that reads the old tables blocks neither the cutover nor appends, and they can go when it ends`()
        async throws
    {
        try await store.count(8)
        try await store.database.withClient(connections: 1) { client in
            try await client.withTransaction { reader in
                try await reader.query("SELECT FROM sums_v1.sums")
                let cutover = try await store.models.rebuild { _ in }
                // A drop waits for two seconds.
                #expect(cutover.heldSeconds < 2)
                try await store.count(from: 8, 3)
                let listed = try await store.models.list().map { "\($0.schema) \($0.state)" }
                #expect(listed == ["sums_v1 ready", "sums_v1_replaced replaced"])
                // The next tables to be replaced would get the same name.
                await #expect(throws: ReadModelError.busy) { _ = try await store.models.rebuild { _ in } }
            }
        }
        #expect(try await store.models.prune() == ["sums_v1_rebuild", "sums_v1_replaced"])
        #expect(try await store.models.prune() == [])
        #expect(try await store.models.verify { _ in }.map(\.differing) == [0])
    }

    @Test func `a rebuild by the older program is the way back from a rebuild by a faulty one`() async throws {
        try await store.count(8)
        let before = try await store.sums()
        try await ReadModels(projections: [DoublingProjection()], client: store.client, logger: .quiet).rebuild { _ in }
        #expect(try await store.sums() != before)
        try await store.models.rebuild { _ in }
        #expect(try await store.sums() == before)
    }
}

/// The next program's projection with the same version and a fault.
private struct DoublingProjection: Projection {
    static let name = SumProjection.name
    static let version = SumProjection.version
    static let personalColumns = SumProjection.personalColumns
    static let tables = SumProjection.tables
    static let indexes = SumProjection.indexes

    func fold(_ envelopes: [EventEnvelope<Counted>]) -> [String: (sum: Int64, version: Int32)] {
        SumProjection().fold(envelopes).mapValues { (sum: 2 * $0.sum, version: $0.version) }
    }

    func writes(for sums: [String: (sum: Int64, version: Int32)], in schema: String) -> [Write] {
        SumProjection().writes(for: sums, in: schema)
    }
}
