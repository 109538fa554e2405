import Encoding
import Foundation
import Logging
import Postgres
import Telemetry
import TestDatabase
import TestFixture
import Testing

@testable import EventStore

/// A domain event of a newer program, in a format that this program does not know.
private enum CountedAnew: DomainEvent {
    case counted

    static let category = "counter"
    static let storedTypes = [StoredType("Counted", upcasters: [{ $0 }])]
    static let personal = PersonalMembers.none
    init(type: String, content: EventContent) throws { self = .counted }
    var stored: (type: String, data: JSON) { ("Counted", ["numbers": .null]) }
}

/// Lists the names of teas.
private struct TeasProjection: Projection {
    static let name = "teas"
    static let version: Int32 = 1
    static let personalColumns: Set<String> = []
    static let tables = "CREATE TABLE teas (tea text PRIMARY KEY);"
    static let indexes = ""
    func fold(_ envelopes: [EventEnvelope<TeaDomainEvent>]) -> [String] { envelopes.map(\.stream.key) }
    func writes(for teas: [String], in schema: String) -> [Write] {
        [.run("INSERT INTO \(identifier: schema).teas SELECT * FROM unnest(\(teas))")]
    }
}

extension AppendRequest {
    fileprivate static func ofNewerProgram(_ event: any DomainEvent, key: String = "new") -> AppendRequest {
        AppendRequest(
            id: UUID(),
            streams: [StreamAppend([event], to: StreamName(category: type(of: event).category, key: key), after: 0)],
            recordedAt: Timestamp(milliseconds: 0), metadata: Metadata(requestID: "test", actor: 7, traceID: nil))
    }
}

extension Trait where Self == Fixture<TestStore> {
    /// A store whose log has two events of a newer program at its end.
    fileprivate static var newerLog: Self {
        Self { body in
            try await TestStore.with { store in
                try await store.count(1)
                try await TestStore.withLog(store.client, projections: []) { newer in
                    _ = try await newer.record(.ofNewerProgram(CountedAnew.counted))
                    _ = try await newer.record(.ofNewerProgram(TeaDomainEvent.drunk))
                }
                try await body(store)
            }
        }
    }
}

@Suite(.newerLog) struct `Reading an event of a newer program` {
    private static let unreadable = FormatError(
        "position 2: Counted has formats 1 to 1, not 2: written by a newer program")

    @Test func `a batch with an unreadable event fails as a whole, without a retry of each append`() async throws {
        let transaction = AppendTransaction(client: store.client, projections: [SumProjection()], logger: .quiet)
        let before = store.client.statistics.queries.snapshot.counts.reduce(0, +)
        let results = await transaction.append((0..<500).map { AppendRequest.counting("c\($0)", after: 0) })
        #expect(results.count == 500)
        for result in results {
            #expect(throws: ReadModelError.unreadable(Self.unreadable)) { try result.get() }
        }
        // The batch takes about 7 statements; single appends would take at least 3,000.
        let statements = store.client.statistics.queries.snapshot.counts.reduce(0, +) - before
        #expect(statements < 100)
        let tail = try await store.reader.tail()
        #expect(tail == 3)
    }

    /// Lasts as long as the writer looks for the result.
    @Test func `a batch whose connection broke may have been recorded, even if its read models cannot follow the log`()
        async throws
    {
        let append = try await store.database.withClient { blocker in
            try await blocker.withTransaction { connection in
                try await connection.query("SELECT log.lock()")
                let transaction = AppendTransaction(client: store.client, projections: [SumProjection()], logger: .quiet)
                let append = Task { await transaction.append([.counting("z", after: 0)]) }
                try await eventually { try await !blocker.query(SQL.waitingAppends).isEmpty }
                try await connection.query("SELECT pg_terminate_backend(pid) FROM (\(SQL.waitingAppends)) AS appends")
                return append
            }
        }
        let error = await #expect(throws: PostgresError.self) { try await append.value[0].get() }
        #expect(error?.mayHaveRun == true)
    }

    @Test func `an unreadable event does not stop a server's other read models, and is logged once`() async throws {
        let messages = Messages()
        let models = ReadModels(projections: [SumProjection(), TeasProjection()], client: store.client, logger: .quiet)
        try await store.database.declare([TeasProjection()])
        try await store.client.withTransaction { try await ReadModels.create("teas_v1", on: $0) }
        try await TestStore.withNotifier(store.client, pollSeconds: 0.02) { notifier in
            try await withThrowingTaskGroup(of: Void.self) { group in
                let runner = ProjectionRunner(models, notifier: notifier, logger: messages.logger)
                #expect(!runner.isBlocked)
                group.addTask { await runner.run() }
                defer { group.cancelAll() }
                try await eventually { try await models.positions() == ["sums_v1": 1, "teas_v1": 3] }
                try await eventually { runner.isBlocked }
                try await TestStore.withLog(store.client, projections: []) { newer in
                    _ = try await newer.record(.ofNewerProgram(TeaDomainEvent.drunk, key: "more"))
                }
                try await eventually { try await models.positions() == ["sums_v1": 1, "teas_v1": 4] }
                #expect(messages[.error] == ["a read model cannot follow the log"])
            }
        }
    }
}
