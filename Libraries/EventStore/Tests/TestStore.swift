import Encoding
import EventStore
import Foundation
import Postgres
import TestDatabase
import TestFixture
import Testing

@testable import EventStore

/// A domain event for tests: a counter counted a number.
enum Counted: DomainEvent, Hashable {
    case counted(Int64)

    static let category = "counter"
    static let storedTypes = [StoredType("Counted")]

    static let personal = PersonalMembers.none
    init(type: String, content: EventContent) throws { self = .counted(try content.facts.stored("number", \.storedInteger)) }

    func check(in stream: StreamName, version: Int32) throws {
        if self == .counted(-99) { throw FormatError("-99 is no number of this module") }
    }

    var stored: (type: String, data: JSON) {
        switch self {
        case .counted(let number): ("Counted", ["number": JSON(number)])
        }
    }
}

/// Sums the numbers of every counter; refuses the number -13, as a faulty read model would.
struct SumProjection: Projection {
    static let name = "sums"
    static let version: Int32 = 1
    static let personalColumns: Set<String> = []

    static let tables =
        "CREATE TABLE sums (counter text PRIMARY KEY, sum bigint NOT NULL CHECK (sum <> -13), version integer NOT NULL);"

    static let indexes = "CREATE INDEX sums_sum ON sums (sum);"

    func fold(_ envelopes: [EventEnvelope<Counted>]) -> [String: (sum: Int64, version: Int32)] {
        envelopes.reduce(into: [:]) { sums, envelope in
            switch envelope.event {
            case .counted(let number):
                let before = sums[envelope.stream.key]?.sum ?? 0
                sums[envelope.stream.key] = (before + number, envelope.version)
            }
        }
    }

    func writes(for sums: [String: (sum: Int64, version: Int32)], in schema: String) -> [Write] {
        let counters = sums.keys.sorted()
        return [
            .run(
                """
                INSERT INTO \(identifier: schema).sums AS s (counter, sum, version)
                SELECT * FROM unnest(\(counters), \(counters.map { sums[$0]?.sum ?? 0 }), \(counters.map { sums[$0]?.version ?? 0 }))
                ON CONFLICT (counter) DO UPDATE SET sum = s.sum + excluded.sum, version = excluded.version
                """
            )
        ]
    }
}

extension Trait where Self == Fixture<TestStore> {
    /// A log with one projection, on a database of its own: ``store``.
    static var store: Self { Self { try await TestStore.with($0) } }
    /// A store with a table for a ``Diary``.
    static var diary: Self {
        Self { body in
            try await TestStore.with { store in
                try await store.database.withClient { client in
                    try await client.withConnection { try await $0.execute(script: Diary.table) }
                }
                try await body(store)
            }
        }
    }
}

extension Trait where Self == Fixture<TestDatabase> {
    /// A migrated database: ``database``.
    static var database: Self { Self { try await TestDatabase.with($0) } }
    static var emptyDatabase: Self { Self { try await TestDatabase.with(migrated: false, $0) } }
}

var store: TestStore { Fixture.current }
var database: TestDatabase { Fixture.current }

/// A log with one projection, on a database of its own.
struct TestStore: Sendable {
    let database: TestDatabase
    let client: PostgresClient
    let log: EventLog
    let models: ReadModels
    /// The log history of the appending process.
    let notifier: LogNotifier
    var reader: LogReader { LogReader(client: client) }

    static func with(_ body: @Sendable (TestStore) async throws -> Void) async throws {
        try await TestDatabase.with { database in try await with(database, body) }
    }

    /// A store beside a second database, for tests that carry the log from one to the other.
    static func withTwo(_ body: @Sendable (TestStore, _ other: TestDatabase) async throws -> Void) async throws {
        try await TestDatabase.withTwo { database, other in try await with(database) { try await body($0, other) } }
    }

    /// A store on a database that may have a log already.
    static func with(
        _ database: TestDatabase, _ body: @Sendable (TestStore) async throws -> Void
    ) async throws {
        try await database.declare([SumProjection()])
        try await database.withClient(role: "log_app", connections: 5) { client in
            let models = ReadModels(projections: [SumProjection()], client: client, logger: .quiet)
            try await models.prepare()
            try await withNotifier(client) { notifier in
                try await withLog(client, projections: [SumProjection()], notifier: notifier) { log in
                    try await body(TestStore(database: database, client: client, log: log, models: models, notifier: notifier))
                }
            }
        }
    }

    static func withLog(
        _ client: PostgresClient, projections: [any Projection], notifier: LogNotifier? = nil,
        listener: (any CommitListener)? = nil,
        _ body: @Sendable (EventLog) async throws -> Void
    ) async throws {
        let log = EventLog(client: client, projections: projections, notifier: notifier, logger: .quiet)
        if let listener { log.add(listener) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await log.run() }
            defer { group.cancelAll() }
            try await body(log)
        }
    }

    /// Without polling unless the test sets an interval.
    static func withNotifier(
        _ client: PostgresClient, listens: Bool = false, pollSeconds: Double = 3_600,
        _ body: @Sendable (LogNotifier) async throws -> Void
    ) async throws {
        let notifier = LogNotifier(
            client: client, listens: listens, pollSeconds: pollSeconds, logger: .quiet)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await notifier.run() }
            defer { group.cancelAll() }
            try await body(notifier)
        }
    }

    /// Appends `count` numbers from `first` on to the counters in turn.
    func count(from first: Int = 0, _ numbers: Int, counters: Int = 7) async throws {
        for number in first..<first + numbers {
            _ = try await log.record(.counting("\(number % counters)-x", after: Int32(number / counters), by: Int64(number)))
        }
    }

    /// Counts as a program without this program's read model does, or as a later one that this program cannot read.
    func countElsewhere(_ counter: String, version: Int32, _ facts: String = #"{"number":1}"#) async throws {
        try await client.append(
            elsewhere: StoredEvent(type: "Counted", format: 1, facts: Array(facts.utf8)),
            to: StreamName(category: Counted.category, key: counter), version: version)
    }

    func sums() async throws -> [String] {
        try await client.query("SELECT s::text FROM sums_v1.sums AS s ORDER BY counter").decode(String.self)
    }
}

extension AppendRequest {
    /// Appends one more number to a counter.
    static func counting(_ counter: String, after version: Int32, by number: Int64 = 1, id: UUID = UUID()) -> AppendRequest {
        AppendRequest(
            id: id,
            streams: [.counting(counter, after: version, by: number)],
            recordedAt: Timestamp(milliseconds: 1_379_289_600_123),
            metadata: Metadata(requestID: "test", actor: 7, traceID: nil))
    }
}

extension AppendRequest {
    /// The stream of the person who sends the requests of tests.
    static let person = StreamName("person-7")

    /// Makes it an append that its caller may repeat.
    mutating func setKey(_ requestHash: RequestHash, owner: StreamName = person) {
        (self.requestHash, self.owner) = (requestHash, owner)
    }
}

extension StreamAppend {
    /// Appends numbers to a counter, one by default.
    static func counting(_ counter: String, after version: Int32, by numbers: Int64...) -> StreamAppend {
        StreamAppend(
            numbers.map { Counted.counted($0) }, to: StreamName(category: Counted.category, key: counter), after: version)
    }
}

/// An append that the log has now.
struct Recorded: Equatable, Sendable {
    var place: RecordedPlace
    var isRepeat: Bool

    var position: Int64 { place.position }
    var stream: StreamName { place.stream }
    var version: Int32 { place.version }
}

/// What became of an append that a test expects to be recorded.
struct NotRecorded: Error, Equatable { var result: AppendResult }

extension EventLog {
    /// Appends, where all but a record is a failure of the test.
    func record(_ request: AppendRequest) async throws -> Recorded {
        switch try await append(request) {
        case .appended(let place): Recorded(place: place, isRepeat: false)
        case .repeated(let place): Recorded(place: place, isRepeat: true)
        case let result: throw NotRecorded(result: result)
        }
    }
}

extension [Result<Recorded, any Error>] {
    /// The recorded appends.
    var appended: [Recorded] { compactMap { try? $0.get() } }
}

extension TestStore {
    /// Appends as a client sends a command: again if nobody knows what became of it. On a busy machine a new connection may take longer than
    /// the writer asks for the result.
    func appendUntilKnown(_ request: AppendRequest) async throws -> Recorded {
        for _ in 0..<20 {
            do { return try await log.record(request) } catch let error as PostgresError where error.isUnavailability {
                continue
            }
        }
        return try await log.record(request)
    }
}

/// All results, in any order. Throws nothing; but only a `try` outside of a macro makes the compiler infer a throwing closure.
func gather<Value: Sendable>(
    _ count: Int, _ work: @escaping @Sendable (Int) async throws -> Value
) async throws -> [Result<Value, any Error>] {
    await withTaskGroup(of: Result<Value, any Error>.self) { group in
        for index in 0..<count {
            group.addTask {
                do { return .success(try await work(index)) } catch { return .failure(error) }
            }
        }
        return await group.reduce(into: []) { $0.append($1) }
    }
}
