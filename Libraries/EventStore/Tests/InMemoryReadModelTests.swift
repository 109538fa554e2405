import Foundation
import Logging
import Postgres
import Synchronization
import TestDatabase
import Testing

@testable import EventStore

/// The sums of all counters in memory: the smallest content that uses everything that a model offers.
private final class Sums: InMemoryContent {
    typealias Event = Counted

    static let name = (subject: "the sums", verb: "are")
    static let source: any Projection.Type = SumProjection.self
    static let pageLimit: Int64 = 10
    static let countQuery: SQL = "SELECT count(*) FROM sums_v1.sums"

    let limit: Int
    /// How often the content went out of use.
    let removals = Atomic(0)
    private let sums = Mutex<[String: Int64]>([:])

    init(limit: Int) { self.limit = limit }

    var all: [String: Int64] { sums.withLock(\.self) }
    var count: Int { all.count }
    var bytes: Int { 16 * count }

    func load(_ connection: LeasedConnection, logger: Logger) async throws -> @Sendable (LogCursor) -> Void {
        let rows = try await rows(connection)
        guard rows.count <= limit else { throw InMemoryLimitError(count: rows.count, description: "too many sums") }
        return { [self] _ in sums.withLock { $0 = rows } }
    }

    func apply(_ events: ArraySlice<(position: Int64, envelope: EventEnvelope<any DomainEvent>)>, through end: LogCursor) {
        sums.withLock { sums in
            for envelope in events.compactMap({ $0.envelope.of(Counted.self) }) {
                switch envelope.event {
                case .counted(let number): sums[envelope.stream.key, default: 0] += number
                }
            }
        }
    }

    func removeAll() {
        removals.add(1, ordering: .relaxed)
        sums.withLock { $0 = [:] }
    }

    func checkLimit() throws {
        guard count <= limit else { throw InMemoryLimitError(count: count, description: "too many sums") }
    }

    func agrees(in model: InMemoryReadModel<Sums>) async throws -> Bool? {
        try await model.withTables(atLeast: model.state.position) { connection, _ in try await rows(connection) == all }
    }

    private func rows(_ connection: LeasedConnection) async throws -> [String: Int64] {
        let rows = try await connection.query("SELECT counter, sum FROM sums_v1.sums").decode((String, Int64).self)
        return Dictionary(rows) { first, _ in first }
    }
}

@Suite struct `Keeping a read model in memory` {
    private static func with(
        limit: Int = 100, _ body: @escaping @Sendable (TestStore, InMemoryReadModel<Sums>) async throws -> Void
    ) async throws {
        try await TestStore.with { store in
            try await store.count(10)
            // The model looks at the log without a commit of this process, too.
            try await TestStore.withNotifier(store.client, pollSeconds: 0.1) { notifier in
                let model = InMemoryReadModel(
                    Sums(limit: limit), client: store.client, notifier: notifier, roomPauseSeconds: 0.05, logger: .quiet)
                store.log.add(model)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await model.run() }
                    defer { group.cancelAll() }
                    try await body(store, model)
                }
            }
        }
    }

    private static func untilInUse(_ model: InMemoryReadModel<Sums>) async throws {
        try await eventually("sums in use") { model.state.isInUse }
    }

    @Test func `the content has every row of the tables, and own commits when their appends return`() async throws {
        try await Self.with { store, model in
            try await Self.untilInUse(model)
            #expect(model.content.all == ["0-x": 7, "1-x": 9, "2-x": 11, "3-x": 3, "4-x": 4, "5-x": 5, "6-x": 6])
            for number in 10..<20 {
                try await store.count(from: number, 1)
                #expect(model.state.position == Int64(number + 1))
            }
            #expect(model.content.all["0-x"] == 21)
            #expect(await model.reaches(20))
        }
    }

    @Test func `requests may not read a content that was last confirmed longer ago than the longest age`() {
        let state = InMemoryState(staleAfter: .seconds(3), longestAge: .zero)
        state.enter(.inUse)
        #expect(!state.isInUse)
        #expect(state.phase == .interrupted)
        state.isInStep(at: .now + .seconds(3_600))
        #expect(state.isInUse)
        #expect(state.phase == .inUse)
        #expect(InMemoryState.longestAge == .seconds(3_600))
    }

    @Test func `a content that exceeded its limit is loaded again when there is room`() async throws {
        try await Self.with(limit: 7) { store, model in
            try await Self.untilInUse(model)
            try await store.count(from: 7, 1, counters: 8)
            try await eventually("sums that exceed their limit") { model.state.phase == .tooSmall && model.content.count == 0 }
            #expect(await !model.reaches(1))
            _ = try await store.database.withClient { try await $0.query("DELETE FROM sums_v1.sums WHERE counter < '6-x'") }
            try await Self.untilInUse(model)
            #expect(model.content.all == ["6-x": 6, "7-x": 7])
        }
    }

    @Test func `another recorded event at a known position puts the content out of use at once, and it is loaded again`()
        async throws
    {
        try await Self.with { store, model in
            try await Self.untilInUse(model)
            try await store.count(from: 10, 1)
            let envelope = AppendRequest.counting("elsewhere", after: 0).envelopes[0]
            #expect(throws: InMemoryReplacedError.self) {
                try model.take(LogSegment(Commit.all(of: [(position: 11, envelope: envelope)])[0], of: Counted.category))
            }
            #expect(model.content.removals.load(ordering: .relaxed) == 1)
            try await Self.untilInUse(model)
            #expect(model.state.position == 11)
            #expect(model.content.count == 7)
        }
    }

    @Test func `a content of a history that the log lost is loaded again`() async throws {
        try await Self.with { store, model in
            try await Self.untilInUse(model)
            try await store.count(from: 10, 1)
            // As if this process had appended another recorded event at the position.
            let (history, envelope) = (model.notifier.history, AppendRequest.counting("elsewhere", after: 0).envelopes[0])
            history.saw(try await store.reader.cursor(at: 11))
            for commit in Commit.all(of: [(position: 11, envelope: envelope)]) { history.committed(commit) }
            #expect(history.generation > LogGeneration())
            try await eventually("sums of the present history") {
                model.state.isInUse && model.writer.withLock { $0.generation } == history.generation
            }
            #expect(model.content.removals.load(ordering: .relaxed) == 1)
        }
    }
}
