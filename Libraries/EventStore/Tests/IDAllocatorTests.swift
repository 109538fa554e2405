import Foundation
import Postgres
import TestDatabase
import Testing

@testable import EventStore

@Suite struct `Allocating ids` {
    @Test(.timeLimit(.minutes(15))) func `a cancelled caller does not wait for an id`() async throws {
        try await TestDatabase.with { database in
            try await database.withClient(role: "log_app", connections: 1) { client in
                let ids = IDAllocator(sequence: "log.user_ids", client: client, history: LostEndDetector(logger: .quiet))
                // The only connection is leased, so the allocator cannot fetch ids.
                try await client.withConnection { _ in
                    let asker = Task { try await ids.next() }
                    try await eventually { client.waitingCallers == 1 }
                    asker.cancel()
                    await #expect(throws: CancellationError.self) { try await asker.value }
                }
                // The id that was fetched for the cancelled caller goes to the next one.
                #expect(try await ids.next() == 1)
            }
        }
    }

    @Test func `concurrent callers get distinct ids, and new ones are fetched after the log lost its end`() async throws {
        try await TestDatabase.with { database in
            try await database.withClient(role: "log_app") { client in
                let history = LostEndDetector(logger: .quiet)
                let ids = IDAllocator(sequence: "log.user_ids", client: client, history: history)
                // After 100 concurrent callers the allocator has ids in stock.
                let results = try await gather(100) { _ in try await ids.next() }
                #expect(results.compactMap { try? $0.get() }.sorted() == Array(1...100))
                _ = try await client.query("SELECT nextval('log.user_ids')")
                history.saw(LogCursor(position: 1, mark: 1))
                history.saw(LogCursor(position: 1, mark: 2))
                #expect(history.generation == LogGeneration(number: 1))
                let last = try await client.query("SELECT nextval('log.user_ids')").decode(Int64.self)[0]
                #expect(try await ids.next() > last)
            }
        }
    }

    @Test func `a caller alone gets one id, and the stock grows while callers wait together or follow each other closely`() {
        #expect(IDAllocator.stock(after: 0, waiting: 1, sinceFetch: nil) == 0)
        #expect(IDAllocator.stock(after: 0, waiting: 1, sinceFetch: .milliseconds(10)) == 0)
        #expect(IDAllocator.stock(after: 0, waiting: 1, sinceFetch: .milliseconds(9)) == 2)
        #expect(IDAllocator.stock(after: 2, waiting: 0, sinceFetch: .milliseconds(9)) == 4)
        #expect(IDAllocator.stock(after: 0, waiting: 5, sinceFetch: nil) == 10)
        #expect(IDAllocator.stock(after: 10, waiting: 0, sinceFetch: .seconds(0.05)) == 20)
        #expect(IDAllocator.stock(after: 10, waiting: 0, sinceFetch: .seconds(5)) == 10)
        #expect(IDAllocator.stock(after: 400, waiting: 0, sinceFetch: .zero) == IDAllocator.stockLimit)
    }
}
