import Encoding
import Foundation
import Postgres
import TestDatabase
import Testing

@testable import EventStore

extension SQL {
    /// The processes of appends that wait for the log's lock.
    static let waitingAppends: SQL = """
        SELECT pid FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'SELECT log.append(%'
        """
}

@Suite(.store) struct `Appending to the log` {
    @Test func `an append returns position and version, and records every field`() async throws {
        let id = UUID()
        let first = try await store.log.record(.counting("a", after: 0, by: 5, id: id))
        let second = try await store.log.record(.counting("a", after: 1, by: 6))
        #expect(
            first == Recorded(place: RecordedPlace(position: 1, stream: StreamName("counter-a"), version: 1), isRepeat: false))
        #expect((second.position, second.version) == (2, 2))
        let recorded = try #require(try await store.reader.read(after: 0, limit: 1).first)
        #expect(
            recorded.json.text
                == #"{"position":1,"id":"\#(id.uuidString.lowercased())","stream":"counter-a","version":1,"type":"Counted","format":1,"recorded_at":"2013-09-16T00:00:00.123Z","data":{"number":5},"metadata":{"request_id":"test","actor":7,"trace_id":null}}"#
        )
    }

    @Test func `an append with a recorded id gets the first result, on any stream`() async throws {
        let id = UUID()
        let first = try await store.log.record(.counting("a", after: 0, id: id))
        let again = try await store.log.record(.counting("a", after: 0, id: id))
        let elsewhere = try await store.log.record(.counting("b", after: 7, id: id))
        #expect(!first.isRepeat)
        #expect(again == Recorded(place: first.place, isRepeat: true))
        #expect(elsewhere == again)
        #expect(try await store.reader.tail() == 1)
        #expect(try await store.sums() == ["(a,1,1)"])
    }

    @Test func `concurrent appends of two writers get one result each, and contiguous positions`() async throws {
        try await store.database.withClient(role: "log_app") { client in
            try await TestStore.withLog(client, projections: [SumProjection()]) { other in
                let results = try await gather(600) { number in
                    try await (number % 2 == 0 ? store.log : other).record(.counting("\(number / 3)", after: Int32(number % 3)))
                }
                let recorded = try await store.reader.read(after: 0, limit: 1_000)
                #expect(recorded.count == results.appended.count, "lost write, or doubled write")
                #expect(recorded.count >= 200)
                #expect(results.appended.map(\.position).sorted() == Array(1...Int64(recorded.count)))
                for (_, of) in Dictionary(grouping: recorded, by: \.envelope.stream) {
                    #expect(of.map(\.envelope.version) == Array(1...Int32(of.count)))
                }
            }
        }
    }

    @Test func `an append whose connection breaks during the commit is recorded once and returns its result`() async throws {
        try await store.database.withClient { saboteur in
            let (appends, broken) = try await saboteur.withTransaction { connection in
                try await connection.query("SELECT log.lock()")
                let appends = Task {
                    try await gather(200) { try await store.appendUntilKnown(.counting("\($0)", after: 0)) }
                }
                try await eventually { try await saboteur.query(SQL.waitingAppends).decode(Int32.self).count > 0 }
                let broken = try await connection.query(
                    "SELECT pg_terminate_backend(pid) FROM (\(SQL.waitingAppends)) AS appends")
                return (appends, broken)
            }
            #expect(broken.count > 0)
            var results = try await appends.value
            // The lock stops appends at one statement. These connections break anywhere, if the saboteur meets them.
            results += try await gather(200) { number in
                if number % 20 == 0 {
                    // The pattern must not match the saboteur's own statement, which runs on several connections.
                    try await saboteur.query(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'SELECT log.append(%'"
                    )
                }
                return try await store.appendUntilKnown(.counting("\(200 + number)", after: 0))
            }
            // The writer asked the log after each broken connection.
            let failures = results.compactMap { result in if case .failure(let error) = result { error } else { nil } }
            #expect(failures.isEmpty)
            let recorded = try await store.reader.read(after: 0, limit: Int64(results.count) + 1)
            let told = results.appended.sorted { $0.position < $1.position }
            #expect(told.map(\.position) == Array(1...Int64(results.count)))
            #expect(told.map(\.stream) == recorded.map(\.envelope.stream))
            #expect(Set(recorded.map(\.envelope.stream)).count == results.count)
            #expect(try await store.sums().count == results.count)
        }
    }

    @Test func `a batch whose task is cancelled may have been recorded`() async throws {
        let results = try await store.database.withClient { blocker in
            try await blocker.withTransaction { connection in
                // Every append takes this lock.
                try await connection.query("SELECT log.lock()")
                let transaction = AppendTransaction(client: store.client, projections: [], logger: .quiet)
                let appending = Task { await transaction.append([.counting("a", after: 0), .counting("b", after: 0)]) }
                try await eventually { try await blocker.query(SQL.waitingAppends).decode(Int32.self).count == 1 }
                appending.cancel()
                return await appending.value
            }
        }
        #expect(results.count == 2)
        for result in results {
            let error = #expect(throws: PostgresError.self) { try result.get() }
            guard case .connectionLost(mayHaveRun: true) = try #require(error) else { throw try #require(error) }
        }
    }
}

@Suite(.store) struct `Protecting the log` {
    @Test func `a writer that bypasses the lock and takes a position twice is refused`() async throws {
        _ = try await store.log.record(.counting("a", after: 0))
        let error = await #expect(throws: PostgresError.self) {
            try await store.database.asSuperuser(
                """
                INSERT INTO log.recorded_events (position, id, stream, version, type, format, recorded_at, data, metadata)
                VALUES (1, \(UUID()), 'counter-b', 1, 'Counted', 1::smallint, now(), '{}', '{}')
                """
            )
        }
        #expect(error?.sqlState == .uniqueViolation)
    }

    @Test func `a gap in the log is an error, not an end of the log`() async throws {
        _ = try await store.log.record(.counting("a", after: 0))
        try await store.database.asSuperuser(
            """
            INSERT INTO log.recorded_events (position, id, stream, version, type, format, recorded_at, data, metadata)
            VALUES (3, \(UUID()), 'counter-b', 1, 'Counted', 1::smallint, now(), '{"number":1}',
                '{"request_id":"x","actor":null,"trace_id":null}')
            """
        )
        await #expect(throws: LogGapError(after: 1)) { _ = try await store.reader.read(after: 0, limit: 10) }
        // A subscription's filter hides no gap, and an archive has none.
        await #expect(throws: LogGapError(after: 1)) {
            _ = try await store.reader.page(after: 0, limit: 10, filter: LogFilter(types: ["none"]))
        }
        await #expect(throws: LogGapError(after: 1)) { _ = try await LogExport(client: store.client).write { _ in } }
        await #expect(throws: LogGapError(after: 1)) { try await store.models.rebuild { _ in } }
    }

    @Test func `the log's query plans do not depend on statistics`() async throws {
        // Planned on an empty log that was never analysed.
        let (before, after) = try await store.client.withTransaction { connection in
            try await connection.query("SET LOCAL enable_seqscan = off")
            func scans() async throws -> (sequential: Int64, index: Int64) {
                let rows = try await connection.query(
                    "SELECT seq_scan, idx_scan FROM pg_stat_xact_user_tables WHERE relname = 'recorded_events'"
                ).decode((Int64, Int64).self)
                return try #require(rows.first)
            }
            let before = try await scans()
            let statements: [SQL] = [
                "SELECT log.tail()", "SELECT FROM log.recorded_events WHERE id = ANY(\([UUID()]))",
                LogReader.versions(of: ["x"]),
            ]
            for statement in statements {
                try await connection.query(statement)
            }
            return (before, try await scans())
        }
        #expect(after.sequential == before.sequential)
        #expect(after.index == before.index + 3)
    }
}
