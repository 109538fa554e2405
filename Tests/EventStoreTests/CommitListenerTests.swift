import EventStore
import Notation
import Postgres
import Synchronization
import TestDatabase
import Testing

@testable import EventStore

@Suite struct `Who listens to commits` {
    private final class Heard: CommitListener {
        let commits = Mutex<[Commit]>([])
        func committed(_ commit: Commit) { commits.withLock { $0.append(commit) } }
        var positions: [Int64] { commits.withLock { $0.flatMap { Array($0.firstPosition...$0.through) } } }
    }

    @Test func `has heard of a commit before it is acknowledged, and of every one once`() async throws {
        try await TestStore.with { store in
            let heard = Heard()
            try await TestStore.withLog(store.client, projections: [SumProjection()], listener: heard) { log in
                _ = try await gather(200) { number in
                    let appended = try await log.append(.counting("\(number)", after: 0))
                    #expect(heard.positions.contains(appended.position))
                    return appended
                }
                // A repetition, a conflict, and one of another process between two of this one.
                let append = Append.counting("again", after: 0)
                _ = try await log.append(append)
                _ = try await log.append(append)
                await #expect(throws: VersionConflict.self) { try await log.append(.counting("1", after: 0)) }
                _ = try await store.log.append(.counting("elsewhere", after: 0))
                _ = try await log.append(.counting("again", after: 1))
            }
            #expect(heard.positions.sorted() == Array(1...201) + [203])
            let told = heard.commits.withLock { $0.flatMap(\.occurrences) }
            let recorded = try await store.reader.read(after: 0, limit: 1_000)
            for (position, occurrence) in zip(heard.positions, told) {
                #expect(occurrence.id == recorded[Int(position - 1)].occurrence.id)
                #expect(occurrence.version == recorded[Int(position - 1)].occurrence.version)
            }
        }
    }
}

@Suite struct `A feed of the log` {
    @Test func `does not read what its reader knows already`() async throws {
        try await TestStore.with { store in
            let known = Mutex<Int64>(0)
            var pages = LogFeed(client: store.client, watch: store.watch, after: 0, reached: { known.withLock { $0 } })
                .makeAsyncIterator()
            #expect(try await pages.next()?.events.isEmpty == true)
            try await store.count(3)
            known.withLock { $0 = 2 }
            let page = try await pages.next()
            #expect(page?.after == 2)
            #expect(page?.events.map(\.position) == [3])
        }
    }
}
