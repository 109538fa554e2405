import Encoding
import Foundation
import Postgres
import Telemetry
import TestDatabase
import Testing

@testable import EventStore

@Suite struct `Recording a batch of appends` {
    private static let (a, b, user) = (StreamName("counter-a"), StreamName("counter-b"), StreamName("counter-user"))

    private static func append(
        _ id: String, _ streams: [StreamAppend], if condition: AppendCondition? = nil, request: String? = nil
    ) -> AppendRequest {
        let model = AppendRequest.counting("", after: 0)
        return AppendRequest(
            id: UUID(derivedFrom: id), requestHash: request.map { RequestHash(of: $0.utf8) }, owner: AppendRequest.person,
            streams: streams,
            conditions: condition.map { [$0] } ?? [], recordedAt: model.recordedAt, metadata: model.metadata)
    }

    private static func append(
        _ id: String, to stream: StreamName, after version: Int32, if condition: AppendCondition? = nil, request: String? = nil
    ) -> AppendRequest {
        append(id, [.counting(stream.key, after: version, by: 1)], if: condition, request: request)
    }

    private static func conflict(_ stream: StreamName, _ expected: Int32, _ actual: Int32) -> AppendResult {
        .conflict(VersionConflict(stream: stream, expected: expected, actual: actual))
    }

    /// Records a batch in a log that has these versions.
    private static func results(
        of batch: [AppendRequest], in store: TestStore, having versions: [StreamName: Int32] = [:]
    ) async throws -> [AppendResult] {
        for (stream, version) in versions {
            for earlier in 0..<version { _ = try await store.log.record(.counting(stream.key, after: earlier)) }
        }
        let transaction = AppendTransaction(client: store.client, projections: [SumProjection()], logger: .quiet)
        let results = try await transaction.append(batch).map { try $0.get() }
        let differing = try await store.models.verify { _ in }.map(\.differing)
        #expect(differing == [0])
        return results
    }

    @Test(.store) func `an append that expects the version of one before it in the batch is recorded behind it`() async throws {
        let batch = [
            Self.append("a", [.counting("a", after: 0, by: 1, 1)]), Self.append("b", to: Self.a, after: 2),
            Self.append("c", to: Self.b, after: 0),
        ]
        let results = try await Self.results(of: batch, in: store)
        #expect(results.compactMap(\.place?.version) == [2, 3, 1])
        #expect(results.compactMap(\.place?.position) == [2, 4, 3])
    }

    @Test(.store) func `an append that expects another version is refused, and the others are recorded`() async throws {
        let batch = [
            Self.append("a", to: Self.a, after: 0), Self.append("b", to: Self.a, after: 5),
            Self.append("c", [.counting("c", after: 0, by: 1), .counting("b", after: 1, by: 1)]),
            Self.append("d", to: Self.b, after: 0), Self.append("e", to: Self.a, after: 2),
            Self.append("f", to: StreamName("counter-c"), after: 0),
        ]
        let results = try await Self.results(of: batch, in: store, having: [Self.a: 2])
        #expect(
            results[...2] == [Self.conflict(Self.a, 0, 2), Self.conflict(Self.a, 5, 2), Self.conflict(Self.b, 1, 0)])
        #expect(results[3...].map { $0.place?.version } == [1, 3, 1])
    }

    @Test(.store) func `one lookup answers all appends that wait for one stream`() async throws {
        try await store.database.withClient(role: "log_app", connections: 1) { client in
            let batch = (0..<100).map { Self.append("\($0)", to: Self.a, after: 0) }
            let transaction = AppendTransaction(client: client, projections: [], logger: .quiet)
            let results = try await transaction.append(batch).map { try $0.get() }
            #expect(results[0].place?.version == 1)
            #expect(results.dropFirst().allSatisfy { $0 == Self.conflict(Self.a, 0, 1) })
            // A transaction and a lookup.
            #expect(client.statistics.queries.snapshot.counts.reduce(0, +) == 2)
        }
    }

    @Test(.store) func `a batch with a conflict and a repetition is recorded after another version has appended`() async throws {
        let first = Self.append("a", to: Self.a, after: 0)
        _ = try await store.log.record(first)
        try await store.countElsewhere("b", version: 1)
        let batch = [
            first, Self.append("b", to: Self.b, after: 0), Self.append("c", to: Self.b, after: 1),
            Self.append("d", to: Self.user, after: 0),
        ]
        let results = try await Self.results(of: batch, in: store)
        #expect(
            results[...1] == [.repeated(RecordedPlace(position: 1, stream: Self.a, version: 1)), Self.conflict(Self.b, 0, 1)])
        #expect(results[2...].map { $0.place?.version } == [2, 1])
        #expect(try await store.sums() == ["(a,1,1)", "(b,2,2)", "(user,1,1)"])
    }

    @Test(.store) func `a row that a read model's unique key refuses fails its append alone`() async throws {
        try await store.database.asSuperuser("CREATE UNIQUE INDEX ON sums_v1.sums (sum)")
        let transaction = AppendTransaction(client: store.client, projections: [SumProjection()], logger: .quiet)
        let results = await transaction.append([
            Self.append("a", to: Self.a, after: 0), Self.append("b", [.counting("b", after: 0, by: 0, 1)]),
            Self.append("c", [.counting("c", after: 0, by: 2)]),
        ])
        // Nothing of an append of two events is recorded.
        #expect(try await store.reader.tail() == 2)
        #expect(try results[0].get().place?.version == 1)
        let error = #expect(throws: PostgresError.self) { try results[1].get() }
        #expect(error?.sqlState == .uniqueViolation)
        #expect(try results[2].get().place?.version == 1)
    }

    @Test(.store)
    func `an id that the batch repeats gets the first result, and another request under a key is refused`() async throws {
        let batch = [
            Self.append("a", to: Self.a, after: 0, request: "this"), Self.append("a", to: Self.b, after: 7, request: "this"),
            Self.append("a", to: Self.a, after: 0, request: "other"), Self.append("a", to: Self.a, after: 0),
        ]
        let results = try await Self.results(of: batch, in: store)
        let first = try #require(results[0].place)
        #expect(results[1...] == [.repeated(first), .keyReused, .keyReused])
        // An id that was refused is decided again.
        let other = [Self.append("b", to: Self.b, after: 3), Self.append("b", to: Self.b, after: 0)]
        let decided = try await Self.results(of: other, in: store)
        #expect(decided[0] == Self.conflict(Self.b, 3, 0))
        #expect(decided[1].place?.version == 1)
    }

    @Test(.store) func `a change of a stream ends the conditions on it for the appends behind it`() async throws {
        let last = UUID()
        _ = try await store.log.record(.counting("user", after: 0, id: last))
        let condition = AppendCondition(stream: Self.user, lastID: last)
        let batch = [
            Self.append("a", to: Self.a, after: 0, if: condition), Self.append("end", to: Self.user, after: 1),
            Self.append("b", to: Self.b, after: 0, if: condition),
            Self.append("c", [.counting("b", after: 0)], if: condition),
        ]
        let results = try await Self.results(of: batch, in: store)
        #expect(results.map { $0.place?.position } == [2, 3, nil, nil])
        #expect(results[2...] == [.failedCondition(condition), .failedCondition(condition)])
        // A repetition meets its condition too.
        #expect(try await Self.results(of: [batch[0]], in: store) == [.failedCondition(condition)])
    }

    @Test(.store)
    func `a command without an event relies on the version that it found, before the changes behind it`() async throws {
        let batch = [
            Self.append("a", [.counting("a", after: 2)], request: "this"), Self.append("b", to: Self.a, after: 2),
            Self.append("c", [.counting("a", after: 2)], request: "this"), Self.append("d", [.counting("a", after: 3)]),
            Self.append("e", [.counting("b", after: 0)]),
        ]
        let results = try await Self.results(of: batch, in: store, having: [Self.a: 2])
        #expect(results.map { $0.place?.version } == [2, 3, nil, 3, 0])
        #expect(results[2] == Self.conflict(Self.a, 2, 3))
        #expect(try await store.client.query("SELECT id FROM log.commands").decode(UUID.self) == [UUID(derivedFrom: "a")])
    }

    @Test(.store) func `an append that may be recorded gets its result although its condition ended since`() async throws {
        let transaction = AppendTransaction(client: store.client, projections: [], logger: .quiet)
        let last = UUID()
        _ = try await transaction.append([.counting("user", after: 0, id: last)])[0].get()
        let append = Self.append("a", to: Self.a, after: 0, if: AppendCondition(stream: Self.user, lastID: last))
        let result = try await store.database.withClient { other in
            try await other.withTransaction { connection in
                try await connection.query("SELECT log.lock()")
                let appending = Task { await transaction.append([append]) }
                try await eventually { try await other.query(SQL.waitingAppends).decode(Int32.self).count == 1 }
                // The log has then what the transaction would have recorded whose connection breaks.
                for (id, stream, version) in [(append.id, Self.a, Int32(1)), (UUID(), Self.user, 2)] {
                    try await connection.query(
                        """
                        SELECT log.append(ARRAY[\(id)], ARRAY[\(stream.description)], ARRAY[\(version)], ARRAY['Counted'],
                            ARRAY[1::smallint], ARRAY[now()], ARRAY['{"number":1}'],
                            ARRAY['{"request_id":"x","actor":1,"trace_id":null}'], ARRAY[NULL], '{}')
                        """)
                }
                try await connection.query("SELECT pg_terminate_backend(pid) FROM (\(SQL.waitingAppends)) AS appends")
                return appending
            }.value
        }
        #expect(try result[0].get() == .repeated(RecordedPlace(position: 2, stream: Self.a, version: 1)))
        // Another repetition must meet it.
        #expect(try await transaction.append([append])[0].get() == .failedCondition(append.conditions[0]))
    }

    @Test(.store) func `a lookup that PostgreSQL refuses fails the batch, and ends`() async throws {
        let batch = [Self.append("a", to: Self.a, after: 0), Self.append("b", to: Self.b, after: 0)]
        let transaction = AppendTransaction(client: store.client, projections: [SumProjection()], logger: .quiet)
        for result in await transaction.append(batch) { #expect(throws: Never.self) { try result.get() } }
        try await store.database.asSuperuser("REVOKE EXECUTE ON FUNCTION log.idempotency_records FROM log_app")
        for result in await transaction.append(batch) {
            let error = #expect(throws: PostgresError.self) { try result.get() }
            #expect(error?.sqlState == .insufficientPrivilege)
        }
    }

    @Test func `the last event has the id of the append, and the ids of the others derive from it`() {
        let envelopes = Self.append("a", [.counting("a", after: 0, by: 1, 1), .counting("b", after: 3, by: 1, 1)]).envelopes
        let id = UUID(derivedFrom: "a")
        #expect(envelopes.map(\.id) == (1...3).map { UUID(derivedFrom: "event \($0) of \(id)") } + [id])
        #expect(envelopes.map(\.version) == [1, 2, 4, 5])
        #expect(envelopes.map(\.stream) == [Self.a, Self.a, Self.b, Self.b])
    }

    @Test func `a version conflict names the current version of the stream`() {
        let conflict = VersionConflict(stream: Self.a, expected: 2, actual: 3)
        #expect(conflict.description == "stream counter-a has version 3, not 2")
    }
}
