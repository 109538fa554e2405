import Encoding
import EventStore
import Postgres
import Synchronization
import TestDatabase
import Testing

@testable import EventStore

@Suite(.store) struct `Listening to commits` {
    private final class Heard: CommitListener {
        let commits = Mutex<[Commit]>([])
        func committed(_ commit: Commit) { commits.withLock { $0.append(commit) } }
        var positions: [Int64] { commits.withLock { $0.flatMap { Array($0.firstPosition...$0.through) } } }
    }

    @Test func `a listener gets every commit once, before the append is acknowledged`() async throws {
        let heard = Heard()
        try await TestStore.withLog(store.client, projections: [SumProjection()], listener: heard) { log in
            _ = try await gather(200) { number in
                let appended = try await log.record(.counting("\(number)", after: 0))
                #expect(heard.positions.contains(appended.position))
                return appended
            }
            // A repeated append, a conflict, and an append of another process between two of this one.
            let append = AppendRequest.counting("again", after: 0)
            _ = try await log.record(append)
            _ = try await log.record(append)
            #expect(try await log.append(.counting("1", after: 0)).place == nil)
            _ = try await store.log.record(.counting("elsewhere", after: 0))
            _ = try await log.record(.counting("again", after: 1))
        }
        #expect(heard.positions.sorted() == Array(1...201) + [203])
        let told = heard.commits.withLock { $0.flatMap(\.envelopes) }
        let recorded = try await store.reader.read(after: 0, limit: 1_000)
        for (position, envelope) in zip(heard.positions, told) {
            #expect(envelope.id == recorded[Int(position - 1)].envelope.id)
            #expect(envelope.version == recorded[Int(position - 1)].envelope.version)
        }
    }
}

@Suite(.store) struct `Reading the tail of the log` {
    @Test func `a log tail skips what its reader has reached already`() async throws {
        let known = Mutex<LogCursor?>(nil)
        var pages = LogTail(client: store.client, notifier: store.notifier, reached: { known.withLock { $0 } })
            .makeAsyncIterator()
        #expect(try await pages.next()?.events.isEmpty == true)
        try await store.count(3)
        let second = try await store.reader.cursor(at: 2)
        known.withLock { $0 = second }
        let page = try await pages.next()
        #expect(page?.after == second)
        #expect(page?.events.map(\.position) == [3])
    }

    @Test func `a log tail does not loop when its announced positions are missing from the log`() async throws {
        // A commit that a failover then lost.
        store.notifier.grew(to: 1_000)
        let pages = Mutex(0)
        let tail = LogTail(client: store.client, notifier: store.notifier, after: 0)
        let task = Task { for try await _ in tail { pages.withLock { $0 += 1 } } }
        try await eventually("the first page") { pages.withLock { $0 } > 0 }
        // A tail that loops reads about as many pages meanwhile.
        for _ in 0..<100 { try await store.client.query("SELECT 1") }
        task.cancel()
        #expect(pages.withLock { $0 } < 10)
    }

    @Test func `a log tail ends with an error when the log diverged`() async throws {
        try await store.count(3)
        var pages = LogTail(client: store.client, notifier: store.notifier, after: 0).makeAsyncIterator()
        #expect(try await pages.next()?.through == 3)
        _ = try await store.database.withClient { client in
            try await client.withConnection { connection in
                try await connection.execute(
                    script: """
                        ALTER TABLE log.recorded_events DISABLE TRIGGER guard_personal;
                        UPDATE log.recorded_events SET id = '00000000-0000-0000-0000-000000000001' WHERE position = 3;
                        ALTER TABLE log.recorded_events ENABLE ALWAYS TRIGGER guard_personal;
                        """)
            }
        }
        try await store.count(from: 3, 1)
        await #expect(throws: LogDivergedError(position: 3)) { _ = try await pages.next() }
    }
}
