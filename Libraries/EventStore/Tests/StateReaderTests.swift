import Postgres
import TestDatabase
import Testing

@testable import EventStore

@Suite(.store) struct `Reading the state of a command` {
    @Test func `rows are read when the read model holds every event of its category`() async throws {
        let state = StateReader(of: SumProjection(), client: store.client)
        func versions() async throws -> [Int32] {
            try await state.rows("SELECT version FROM sums_v1.sums").decode(Int32.self)
        }
        #expect(try await versions() == [])
        _ = try await store.log.record(.counting("a", after: 0))
        #expect(try await versions() == [1])
        try await store.countElsewhere("a", version: 2)
        #expect(try await versions() == [2])
        try await store.countElsewhere("a", version: 3, #"{"unreadable":true}"#)
        await #expect(throws: ReadModelError.behind("sums_v1")) { _ = try await versions() }
    }
}
