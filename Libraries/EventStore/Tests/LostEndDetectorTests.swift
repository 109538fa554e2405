import Encoding
import Foundation
import Postgres
import TestDatabase
import Testing

@testable import EventStore

@Suite struct `Detecting a lost end of the log` {
    private let history = LostEndDetector(logger: .quiet)

    /// A commit of `count` recorded events that begins at a position.
    private func commit(at position: Int64, _ count: Int = 1) -> Commit {
        let envelopes = (0..<count).map { _ in AppendRequest.counting("a", after: 0).envelopes[0] }
        return Commit.all(of: zip(position..., envelopes).map { ($0, $1) })[0]
    }

    @Test func `recorded events become one commit for each series of positions, whatever their order`() {
        let envelope = AppendRequest.counting("a", after: 0).envelopes[0]
        let commits = Commit.all(of: [2, 4, 3, 9].map { ($0, envelope) })
        #expect(commits.map(\.firstPosition) == [2, 9])
        #expect(commits.map(\.through) == [4, 9])
    }

    @Test func `the log generation stays the same while the log grows, in any order of commits`() {
        for (position, count) in [(1, 3), (6, 2), (4, 2), (9, 1), (8, 1)] as [(Int64, Int)] {
            history.committed(commit(at: position, count))
        }
        #expect(history.generation == LogGeneration())
    }

    @Test(arguments: [3, 2, 1] as [Int64])
    func `a position that is committed twice begins a new log generation`(position: Int64) {
        history.committed(commit(at: 1, 3))
        history.committed(commit(at: position))
        #expect(history.generation == LogGeneration(number: 1))
    }

    @Test func `a cursor with another mark at a known position begins a new log generation`() {
        let place = LogCursor(position: 5, mark: 1)
        for _ in 0..<3 { history.saw(place) }
        history.saw(LogCursor(position: 5))
        #expect(history.generation == LogGeneration())
        history.saw(LogCursor(position: 5, mark: 2))
        #expect(history.generation == LogGeneration(number: 1))
    }

    @Test func `a cursor is one text, and a position without a mark is read too`() throws {
        let id = try #require(UUID(uuidString: "01890a5d-ac96-774b-bcce-b302a1d0f2c3"))
        let cursor = LogCursor(position: 12, id: id, recordedAt: Timestamp(milliseconds: 1 << 32))
        #expect(cursor.description == "12.kbnapcmd")
        // Some ids are the same in each history.
        #expect(!cursor.agrees(with: LogCursor(position: 12, id: id, recordedAt: Timestamp(milliseconds: 1))))
        for text in ["12.kbnapcmd", "12", "0"] { #expect(LogCursor(text)?.description == text) }
        for text in ["", "-1", "x", "12.", "12.kbnapcm", "12.kbnapcmq", "12.KBNAPCMD", "12.kbnapcmd.", ".kbnapcmd", "1.5"] {
            #expect(LogCursor(text) == nil, "\(text)")
        }
        #expect(LogCursor("12").map(cursor.agrees) == true)
        #expect(LogCursor("12.kbnapcmc").map(cursor.agrees) == false)
    }

    @Test func `the cursors of commits are remembered until the log loses its end`() {
        let first = commit(at: 1, 3)
        history.committed(first)
        for (position, envelope) in zip(Int64(1)..., first.envelopes) {
            #expect(history.cursor(at: position) == LogCursor(position: position, of: envelope))
        }
        #expect(history.cursor(at: 4) == nil)
        history.committed(commit(at: 3))
        #expect(history.cursor(at: 1) == nil && history.cursor(at: 3) != nil)
    }

    /// A database that is too busy for checks has lost nothing.
    @Test func `any number of commits without a check keeps the log generation`() {
        for position in 1...(2 * LostEndDetector.cursorLimit + 10) { history.committed(commit(at: Int64(position))) }
        #expect(history.generation == LogGeneration())
        // The newest cursor is still evidence.
        history.committed(commit(at: Int64(2 * LostEndDetector.cursorLimit + 10)))
        #expect(history.generation == LogGeneration(number: 1))
    }

    @Test(arguments: Int64(1)...40) func `the newest cursor is evidence after any number of cursors`(count: Int64) {
        let history = LostEndDetector(cursorLimit: 8, logger: .quiet)
        for position in 1...count { history.committed(commit(at: position)) }
        #expect(history.generation == LogGeneration())
        history.committed(commit(at: count))
        #expect(history.generation == LogGeneration(number: 1))
    }

    /// - Parameter since: the number of events that are recorded after the loss
    @Test(.store, arguments: [0, 1, 9]) func `a check after more cursors than the limit notices a loss, and only a loss`(
        since: Int
    )
        async throws
    {
        let history = LostEndDetector(cursorLimit: 8, logger: .quiet)
        try await store.count(40, counters: 3)
        for position in Int64(1)...40 { history.saw(try await store.reader.cursor(at: position)) }
        #expect(try await history.check(store.client) == 40)
        #expect(history.generation == LogGeneration())
        try await store.count(from: 40, 20, counters: 99)
        for position in Int64(41)...60 { history.saw(try await store.reader.cursor(at: position)) }
        try await store.database.loseEndOfLog(after: 59)
        try await TestStore.withLog(store.client, projections: []) { log in
            for number in 0..<since { _ = try await log.record(.counting("other", after: Int32(number))) }
        }
        _ = try await history.check(store.client)
        #expect(history.generation == LogGeneration(number: 1))
    }

    /// Holds for every kind of observation, and for any number of events that are recorded afterwards.
    @Test(.store, arguments: [0, 1, 4, 9] as [Int])
    func `a check after the log lost its end begins a new log generation`(since: Int) async throws {
        let kinds = ["commit", "look", "check"]
        let histories = Dictionary(uniqueKeysWithValues: kinds.map { ($0, LostEndDetector(logger: .quiet)) })
        try await store.count(3, counters: 3)
        for history in histories.values { _ = try await history.check(store.client) }
        try await store.count(from: 3, 2, counters: 99)
        for place in try await store.reader.read(after: 3, limit: 2) {
            let envelope = place.envelope.with(Counted.counted(1) as any DomainEvent)
            histories["commit"]?.committed(Commit.all(of: [(place.position, envelope)])[0])
        }
        histories["look"]?.saw(try await store.reader.cursor(at: 5))
        _ = try await histories["check"]?.check(store.client)
        try await store.database.loseEndOfLog(after: 3)
        try await TestStore.withLog(store.client, projections: []) { log in
            for number in 0..<since { _ = try await log.record(.counting("other", after: Int32(number))) }
        }
        for (kind, history) in histories {
            #expect(history.generation == LogGeneration(), "\(kind)")
            // A later cursor does not hide the loss.
            if since == 9 { history.saw(try await store.reader.cursor(at: 12)) }
            for _ in 1...2 {
                #expect(try await history.check(store.client) == Int64(3 + since), "\(kind)")
                #expect(history.generation == LogGeneration(number: 1), "\(kind)")
            }
        }
    }

    @Test(.store) func `a page that this process read from the log is evidence of a later loss`() async throws {
        try await store.count(3, counters: 3)
        // It does not run, so it neither checks nor hears of commits.
        let notifier = LogNotifier(client: store.client, listens: false, logger: .quiet)
        var tail = LogTail(client: store.client, notifier: notifier, after: 0).makeAsyncIterator()
        #expect(try await tail.next()?.through == 3)
        try await store.database.loseEndOfLog(after: 2)
        try await TestStore.withLog(store.client, projections: []) { log in
            _ = try await log.record(.counting("other", after: 0))
        }
        #expect(try await notifier.history.check(store.client) == 3)
        #expect(notifier.history.generation == LogGeneration(number: 1))
    }
}

@Suite struct `Growing the pause between polls` {
    @Test func `the pause doubles up to its maximum and starts again after a reset`() {
        var backOff = BackOff(firstSeconds: 0.25, longestSeconds: 1.5)
        #expect(
            (0..<5).map { _ in backOff.next() } == [.seconds(0.25), .seconds(0.5), .seconds(1), .seconds(1.5), .seconds(1.5)])
        backOff.reset()
        #expect(backOff.next() == .seconds(0.25))
    }
}
