import Postgres
import TestDatabase
import Testing

@testable import EventStore

@Suite struct `Numbers for users and events` {
    @Test func `are handed out once each, to many askers at once`() async throws {
        try await TestDatabase.with { database in
            try await database.withClient(role: "humon_app") { client in
                let ids = IDSource(sequence: "log.user_ids", client: client)
                let results = try await gather(500) { _ in try await ids.next() }
                #expect(results.compactMap { try? $0.get() }.sorted() == Array(1...500))
            }
        }
    }
}
