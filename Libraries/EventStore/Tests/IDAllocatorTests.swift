import Postgres
import TestDatabase
import Testing

@testable import EventStore

@Suite(.database) struct `Allocating ids` {
    private static let sequence = IDSequence(category: "counter", name: "log.user_ids")

    @Test(.timeLimit(.minutes(15))) func `a cancelled caller does not wait for an id`() async throws {
        try await database.withClient(role: "log_app", connections: 1) { client in
            let ids = IDAllocator(Self.sequence, client: client)
            // The only connection is leased, so the allocator cannot fetch ids.
            try await client.withConnection { _ in
                let asker = Task { try await ids.next() }
                try await eventually { client.waitingCallers == 1 }
                asker.cancel()
                await #expect(throws: CancellationError.self) { try await asker.value }
            }
            // The id that was fetched for the cancelled caller is lost.
            #expect(try await ids.next() == 2)
        }
    }

    @Test func `concurrent callers of two allocators get distinct ids`() async throws {
        try await database.withClient(role: "log_app") { client in
            let allocators = (0..<2).map { _ in IDAllocator(Self.sequence, client: client) }
            let results = try await gather(100) { number in try await allocators[number % 2].next() }
            #expect(Set(results.compactMap { try? $0.get() }).count == 100)
        }
    }
}
