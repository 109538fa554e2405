import Encoding
import Foundation
import Postgres
import TestDatabase
import Testing

@testable import EventStore

@Suite struct `A notifier of the log` {
    @Test func `wakes who follows in the same process after an append`() async throws {
        try await TestStore.with { store in
            var wakes = store.notifier.wakes().makeAsyncIterator()
            // The first says that nothing is known yet.
            _ = await wakes.next()
            _ = try await store.log.append(.counting("a", after: 0))
            #expect(await wakes.next() != nil)
        }
    }

    @Test func `wakes who follows in another process after an append`() async throws {
        try await TestStore.with { store in
            try await store.database.withClient(role: "humon_app", connections: 2) { client in
                try await TestStore.withWatch(client, listens: true) { notifier in
                    try await listening(store.database)
                    var feed = LogTail(client: client, notifier: notifier, after: 0).makeAsyncIterator()
                    #expect(try await feed.next()?.events.count == 0)
                    for number in Int32(0)..<5 {
                        _ = try await store.log.append(.counting("a", after: number))
                        var seen = 0
                        // Pages without events come between.
                        for _ in 0..<100 where seen == 0 { seen = try await feed.next()?.events.count ?? -1 }
                        #expect(seen == 1)
                    }
                }
            }
        }
    }

    @Test func `listens again after its connection broke`() async throws {
        try await TestStore.with { store in
            try await store.database.withClient(role: "humon_app", connections: 2) { client in
                try await TestStore.withWatch(client, listens: true) { notifier in
                    try await listening(store.database)
                    _ = try await store.database.withClient { administrator in
                        try await administrator.query(
                            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'"
                        )
                    }
                    var wakes = notifier.wakes().makeAsyncIterator()
                    _ = await wakes.next()
                    try await listening(store.database)
                    _ = try await store.log.append(.counting("a", after: 0))
                    #expect(await wakes.next() != nil)
                }
            }
        }
    }

    @Test func `polls where nothing is heard`() async throws {
        try await TestStore.with { store in
            try await TestStore.withWatch(store.client, pollSeconds: 0.01) { notifier in
                var wakes = notifier.wakes().makeAsyncIterator()
                for _ in 0..<3 { #expect(await wakes.next() != nil) }
            }
        }
    }

    @Test func `sends few notifications for many appends, and none inside the appends' transactions`() async throws {
        try await TestStore.with { store in
            try await store.database.withClient(role: "humon_app", connections: 1) { client in
                try await client.withConnection { connection in
                    try await connection.withNotifications(on: LogNotifier.channel) { notifications in
                        var iterator = notifications.makeAsyncIterator()
                        var heard: [Int64] = []
                        for number in Int32(0)..<200 { _ = try await store.log.append(.counting("a", after: number)) }
                        while heard.last ?? 0 < 200, let notification = await iterator.next() {
                            heard.append(try #require(Int64(notification.payload)))
                        }
                        #expect(heard.last == 200)
                        #expect(heard == heard.sorted())
                        #expect(heard.count < 200)
                    }
                }
            }
        }
    }

    @Test(.timeLimit(.minutes(15)))
    func `wakes who follows after every append, too, when the log has lost its end and grows again`() async throws {
        try await TestStore.with { store in
            for number in Int32(0)..<10 { _ = try await store.log.append(.counting("a", after: number)) }
            var before = LogTail(client: store.client, notifier: store.notifier, after: 0).makeAsyncIterator()
            #expect(try await before.next()?.through == 10)
            try await store.database.loseEndOfLog(after: 3)
            // Without polls, the feed learns of each append from the notifier alone.
            for number in Int32(3)..<8 {
                var feed = LogTail(client: store.client, notifier: store.notifier, after: Int64(number)).makeAsyncIterator()
                #expect(try await feed.next()?.events.count == 0)
                _ = try await store.log.append(.counting("b", after: number - 3))
                #expect(try await feed.next()?.through == Int64(number) + 1)
            }
            #expect(store.notifier.history.generation > LogGeneration())
            let error = await #expect(throws: (any Error).self) { while try await before.next() != nil {} }
            #expect(error is LogTruncatedError || error is LogDivergedError)
        }
    }

    @Test(.timeLimit(.minutes(15))) func `takes back what it said of a tail that is lost`() async throws {
        try await TestStore.with { store in
            for number in Int32(0)..<10 { _ = try await store.log.append(.counting("a", after: number)) }
            #expect(store.notifier.hint.tail.position == 10)
            try await store.database.loseEndOfLog(after: 3)
            store.notifier.history.doubt()
            try await eventually { store.notifier.hint.tail.position == 3 }
        }
    }

    @Test func `knows of the furthest of two commits that are told in another order`() async throws {
        try await TestStore.with { store in
            store.notifier.grew(to: 7)
            store.notifier.grew(to: 5)
            #expect(store.notifier.hint.tail.position == 7)
            #expect(store.notifier.committedTail == 7)
        }
    }

    /// As the superuser sees it: others are not shown what a session does.
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
