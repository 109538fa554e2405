import EventStore
import Logging
import Postgres
import TestDatabase
import Testing

@Suite struct `The example of the event store` {
    @Test func `a book is lent to one of many readers at once, and its loans equal a replay of the log`() async throws {
        try await TestDatabase.with(migrated: false) { database in
            try await Lending.with(database.url, logger: .quiet) { lending in
                let lent = try await withThrowingTaskGroup(of: Bool.self) { group in
                    for reader in 1...10 { group.addTask { try await lending.lend("Dune", to: "reader \(reader)") } }
                    return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
                }
                #expect(lent == 1)
                #expect(try await lending.lend("Emma", to: "Ann"))
                #expect(try await lending.lend("Emma", to: "Bob") == false)
                #expect(try await lending.books(of: "Ann") == ["Emma"])
            }
        }
    }

    @Test func `the subscription writes a letter for each book that is lent`() async throws {
        try await TestDatabase.with(migrated: false) { database in
            try await Lending.with(database.url, logger: .quiet) { lending in
                try await lending.database.query("CREATE TABLE letters (reader text, book text)")
                _ = try await lending.lend("Emma", to: "Ann")
                _ = try await lending.lend("Dune", to: "Bob")
                let notifier = LogNotifier(client: lending.database, listens: false, pollSeconds: 0.05, logger: .quiet)
                let runner = SubscriptionRunner(Letters(), client: lending.database, notifier: notifier, logger: .quiet)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { await notifier.run() }
                    group.addTask { await runner.run() }
                    defer { group.cancelAll() }
                    try await eventually("two letters") {
                        try await lending.database.query("SELECT reader || ' ' || book FROM letters").decode(String.self)
                            == ["Ann Emma", "Bob Dune"]
                    }
                }
            }
        }
    }
}
