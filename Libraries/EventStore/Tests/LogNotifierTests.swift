import Encoding
import Foundation
import Postgres
import ServiceLifecycle
import TestDatabase
import Testing

@testable import EventStore

@Suite(.store) struct `Notifying readers of the log` {
    @Test(.timeLimit(.minutes(15))) func `a reader whose connection broke reads again, although nothing wakes it`() async throws {
        // It does not run, so it neither polls nor listens.
        let notifier = LogNotifier(client: store.client, listens: false, logger: .quiet)
        try await store.database.withClient(role: "log_app", connections: 1) { client in
            let process = try await client.query("SELECT pg_backend_pid()").decode(Int32.self)[0]
            let (ends, continuation) = AsyncStream.makeStream(of: Int64.self)
            var iterator = ends.makeAsyncIterator()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for try await page in LogTail(client: client, notifier: notifier, after: 0) {
                        continuation.yield(page.through)
                    }
                }
                defer { group.cancelAll() }
                #expect(await iterator.next() == 0)
                try await store.count(1)
                try await store.database.withClient { blocker in
                    try await blocker.withTransaction { connection in
                        try await connection.query("LOCK TABLE log.recorded_events IN ACCESS EXCLUSIVE MODE")
                        notifier.grew(to: 1)
                        try await eventually {
                            // Not in the transaction, which would see the same statistics again and again.
                            try await blocker.query(
                                "SELECT coalesce(wait_event_type, '') FROM pg_stat_activity WHERE pid = \(process)"
                            ).decode(String.self) == ["Lock"]
                        }
                        try await connection.query("SELECT pg_terminate_backend(\(process), 30000)")
                    }
                }
                #expect(await iterator.next() == 1)
            }
        }
    }

    @Test func `the notifier listens again after its connection broke`() async throws {
        try await store.database.withClient(role: "log_app", connections: 2) { client in
            try await TestStore.withNotifier(client, listens: true) { notifier in
                try await listening(store.database)
                _ = try await store.database.withClient { administrator in
                    try await administrator.query(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'"
                    )
                }
                var wakes = notifier.wakes().makeAsyncIterator()
                _ = await wakes.next()
                try await listening(store.database)
                _ = try await store.log.record(.counting("a", after: 0))
                #expect(await wakes.next() != nil)
            }
        }
    }

    @Test func `many appends send few notifications, and none inside an append's transaction`() async throws {
        var configuration = store.database.configuration(role: "log_app", connections: 1)
        configuration.acquireTimeoutSeconds = 600
        try await withPostgres(configuration, logger: .quiet) { client in
            try await TestStore.withNotifier(client) { notifier in
                try await TestStore.withLog(store.client, projections: [SumProjection()], notifier: notifier) { log in
                    try await store.client.withConnection { connection in
                        try await connection.withNotifications(on: LogNotifier.channel) { notifications in
                            // The notifier cannot send a notification while its one connection is leased.
                            try await client.withConnection { _ in
                                for number in Int32(0)..<200 { _ = try await log.record(.counting("a", after: number)) }
                            }
                            var iterator = notifications.makeAsyncIterator()
                            var heard: [Int64] = []
                            while heard.last ?? 0 < 200, let notification = await iterator.next() {
                                heard.append(try #require(Int64(notification.payload)))
                            }
                            #expect(heard.last == 200)
                            #expect(heard == heard.sorted())
                            // One may have begun to wait for the connection before the last append.
                            #expect(heard.count <= 2)
                        }
                    }
                }
            }
        }
    }

    @Test(.timeLimit(.minutes(5))) func `an append right before the shutdown is announced`() async throws {
        try await store.database.withClient(role: "log_app", connections: 1) { client in
            try await client.withConnection { connection in
                try await connection.withNotifications(on: LogNotifier.channel) { notifications in
                    var iterator = notifications.makeAsyncIterator()
                    let notifier = LogNotifier(client: store.client, listens: false, logger: .quiet)
                    let group = ServiceGroup(services: [notifier], logger: .quiet)
                    async let running: Void = group.run()
                    notifier.grew(to: 7)
                    let first = await iterator.next()?.payload
                    #expect(first == "7")
                    // The notifier pauses after a notification.
                    notifier.grew(to: 8)
                    await group.triggerGracefulShutdown()
                    try await running
                    let second = await iterator.next()?.payload
                    #expect(second == "8")
                }
            }
        }
    }

    @Test(.timeLimit(.minutes(15)))
    func `every append wakes readers after the log lost its end and grows again`() async throws {
        for number in Int32(0)..<10 { _ = try await store.log.record(.counting("a", after: number)) }
        var before = LogTail(client: store.client, notifier: store.notifier, after: 0).makeAsyncIterator()
        #expect(try await before.next()?.through == 10)
        try await store.database.loseEndOfLog(after: 3)
        // Without polls, the log tail learns of each append from the notifier alone.
        for number in Int32(3)..<8 {
            var tail = LogTail(client: store.client, notifier: store.notifier, after: Int64(number)).makeAsyncIterator()
            #expect(try await tail.next()?.events.count == 0)
            _ = try await store.log.record(.counting("b", after: number - 3))
            #expect(try await tail.next()?.through == Int64(number) + 1)
        }
        #expect(store.notifier.history.generation != LogGeneration())
        await #expect(throws: LogDivergedError(position: 10)) { while try await before.next() != nil {} }
    }

    @Test func `a busy reader gets the higher of two tails that arrive out of order`() async throws {
        var wakes = store.notifier.wakes().makeAsyncIterator()
        #expect(await wakes.next() == .max)
        for tail in [7, 5] as [Int64] { store.notifier.grew(to: tail) }
        #expect(await wakes.next() == 7)
    }

    /// Queries as the superuser, because other roles do not see the statements of a session.
    private func listening(_ database: TestDatabase) async throws {
        try await database.withClient { administrator in
            try await eventually {
                try await administrator.query(
                    """
                    SELECT count(*) FROM pg_stat_activity
                    WHERE datname = current_database() AND query LIKE 'LISTEN%' AND state = 'idle'
                    """
                ).decode(Int64.self)[0] == Int64(1)
            }
        }
    }
}
