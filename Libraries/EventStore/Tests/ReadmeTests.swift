import EventStore
import Postgres
import TestDatabase
import Testing

@Suite(.emptyDatabase) struct `The example of the event store` {
    @Test func `a book is lent to one of many readers at once, and its loans equal a replay of the log`() async throws {
        try await Lending.with(database.url, logger: .quiet) { lending in
            let lent = try await withThrowingTaskGroup(of: Bool.self) { group in
                for reader in Int64(1)...10 { group.addTask { try await lending.lend("Dune", to: reader) } }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(lent == 1)
            #expect(try await lending.lend("Emma", to: 11))
            #expect(try await lending.lend("Emma", to: 12) == false)
            #expect(try await lending.books(of: 11) == ["Emma"])
        }
    }

    @Test func `the subscription writes a letter for each book that is lent`() async throws {
        try await Lending.with(database.url, logger: .quiet) { lending in
            try await lending.database.query("CREATE TABLE letters (reader bigint, book text)")
            _ = try await lending.lend("Emma", to: 1)
            _ = try await lending.lend("Dune", to: 2)
            let notifier = LogNotifier(client: lending.database, listens: false, pollSeconds: 0.05, logger: .quiet)
            let runner = SubscriptionRunner(Letters(), client: lending.database, notifier: notifier, logger: .quiet)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await notifier.run() }
                group.addTask { await runner.run() }
                defer { group.cancelAll() }
                try await eventually("two letters") {
                    try await lending.database.query("SELECT reader || ' ' || book FROM letters").decode(String.self)
                        == ["1 Emma", "2 Dune"]
                }
            }
        }
    }
}
