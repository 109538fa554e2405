import Postgres
import TestDatabase
import Testing

@testable import EventStore

@Suite struct `Reading the state of a command` {
    private static func state(_ counter: String, _ store: TestStore, atLeast version: Int32) async throws -> Int32? {
        try await StateReader(of: SumProjection(), client: store.client).read(atLeast: version, version: { $0 }) {
            try await store.client.query("SELECT version FROM sums_v1.sums WHERE counter = \(counter)").decode(Int32.self).first
        }
    }

    /// Appends as a program without this program's read model does.
    private static func appendElsewhere(_ counter: String, version: Int32, _ data: String, _ store: TestStore) async throws {
        try await store.client.query(
            """
            SELECT log.append(ARRAY[gen_random_uuid()], ARRAY[\("counter-\(counter)")], ARRAY[\(version)], ARRAY['Counted'],
                ARRAY[1::smallint], ARRAY[now()], ARRAY[\(data)], ARRAY['{"request_id":"x","actor":1,"trace_id":null}'],
                ARRAY[NULL], ARRAY[NULL::bytea], '{}'::text[], '{}'::integer[])
            """)
    }

    @Test func `a state of the wanted version is read as it is`() async throws {
        try await TestStore.with { store in
            _ = try await store.log.record(.counting("a", after: 0))
            #expect(try await Self.state("a", store, atLeast: 0) == 1)
            #expect(try await Self.state("a", store, atLeast: 1) == 1)
        }
    }

    @Test func `a read model that is behind is caught up before the state is read again`() async throws {
        try await TestStore.with { store in
            _ = try await store.log.record(.counting("a", after: 0))
            try await Self.appendElsewhere("a", version: 2, #"{"number":1}"#, store)
            #expect(try await Self.state("a", store, atLeast: 0) == 1)
            #expect(try await Self.state("a", store, atLeast: 2) == 2)
        }
    }

    @Test func `a thing that the read model does not show at the end of the log has no state`() async throws {
        try await TestStore.with { store in
            _ = try await store.log.record(.counting("a", after: 0))
            #expect(try await Self.state("b", store, atLeast: 1) == nil)
        }
    }

    @Test func `rows are read when the read model holds every event of its category`() async throws {
        try await TestStore.with { store in
            let state = StateReader(of: SumProjection(), client: store.client)
            func versions() async throws -> [Int32] {
                try await state.rows("SELECT version FROM sums_v1.sums").decode(Int32.self)
            }
            #expect(try await versions() == [])
            _ = try await store.log.record(.counting("a", after: 0))
            #expect(try await versions() == [1])
            try await Self.appendElsewhere("a", version: 2, #"{"number":1}"#, store)
            #expect(try await versions() == [2])
            try await Self.appendElsewhere("a", version: 3, #"{"unreadable":true}"#, store)
            await #expect(throws: ReadModelError.behind("sums_v1")) { _ = try await versions() }
        }
    }

    @Test func `a read model that stays behind is a lag`() async throws {
        try await TestStore.with { store in
            _ = try await store.log.record(.counting("a", after: 0))
            await #expect(throws: ReadModelLag(schema: "sums_v1")) { _ = try await Self.state("a", store, atLeast: 2) }
            try await Self.appendElsewhere("a", version: 2, #"{"unreadable":true}"#, store)
            await #expect(throws: ReadModelLag(schema: "sums_v1")) { _ = try await Self.state("a", store, atLeast: 2) }
        }
    }
}
