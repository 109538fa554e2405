import Foundation
import Notation
import Postgres
import TestDatabase
import Testing

@testable import EventStore

@Suite struct `A watch of the log` {
    @Test func `wakes who follows in the same process after an append`() async throws {
        try await TestStore.with { store in
            var wakes = store.watch.wakes().makeAsyncIterator()
            // The first says that nothing is known yet.
            _ = await wakes.next()
            _ = try await store.log.append(.counting("a", after: 0))
            #expect(await wakes.next() != nil)
        }
    }

    @Test func `wakes who follows in another process after an append`() async throws {
        try await TestStore.with { store in
            try await store.database.withClient(role: "humon_app", connections: 2) { client in
                try await TestStore.withWatch(client, listens: true) { watch in
                    try await listening(store.database)
                    var feed = LogFeed(client: client, watch: watch, after: 0).makeAsyncIterator()
                    #expect(try await feed.next()?.events.count == 0)
                    for number in Int32(0)..<5 {
                        _ = try await store.log.append(.counting("a", after: number))
                        var seen = 0
                        while seen == 0 { seen = try await feed.next()?.events.count ?? -1 }
                        #expect(seen == 1)
                    }
                }
            }
        }
    }

    @Test func `listens again after its connection broke`() async throws {
        try await TestStore.with { store in
            try await store.database.withClient(role: "humon_app", connections: 2) { client in
                try await TestStore.withWatch(client, listens: true) { watch in
                    try await listening(store.database)
                    _ = try await store.database.withClient { administrator in
                        try await administrator.query(
                            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'"
                        )
                    }
                    var wakes = watch.wakes().makeAsyncIterator()
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
            try await TestStore.withWatch(store.client, pollSeconds: 0.01) { watch in
                var wakes = watch.wakes().makeAsyncIterator()
                for _ in 0..<3 { #expect(await wakes.next() != nil) }
            }
        }
    }

    @Test func `sends few notifications for many appends, and none inside the appends' transactions`() async throws {
        try await TestStore.with { store in
            try await store.database.withClient(role: "humon_app", connections: 1) { client in
                try await client.withConnection { connection in
                    try await connection.withNotifications(on: LogWatch.channel) { notifications in
                        var iterator = notifications.makeAsyncIterator()
                        var heard: [Int64] = []
                        for number in Int32(0)..<200 { _ = try await store.log.append(.counting("a", after: number)) }
                        while heard.last != 200 { heard.append(Int64(await iterator.next()?.payload ?? "") ?? -1) }
                        #expect(heard == heard.sorted())
                        #expect(heard.count < 200)
                    }
                }
            }
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
