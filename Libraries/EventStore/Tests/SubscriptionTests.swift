import Encoding
import Foundation
import Logging
import Postgres
import Synchronization
import TestDatabase
import Testing

@testable import EventStore

/// Writes each event that it handles to a table, in order; refuses the number 13.
struct Diary: Subscription {
    struct Unlucky: Error, CustomStringConvertible { var description: String { "thirteen" } }

    var name = "diary"
    var filter = LogFilter.everything
    var isSuperstitious: @Sendable () -> Bool = { false }
    var pause: @Sendable () async throws -> Void = {}
    var effect: @Sendable ([RecordedEvent]) async throws -> Void = { _ in }

    static let table = """
        CREATE TABLE public.diary (entry bigserial, position bigint); GRANT ALL ON public.diary TO log_app;
        GRANT ALL ON SEQUENCE public.diary_entry_seq TO log_app;
        """

    func perform(_ events: [RecordedEvent]) async throws { try await effect(events) }

    func handle(_ events: [RecordedEvent], in transaction: LeasedConnection) async throws {
        try await transaction.query("INSERT INTO public.diary (position) SELECT * FROM unnest(\(events.map(\.position)))")
        try await pause()
        for event in events where isSuperstitious() {
            let stored = event.envelope.event
            if try Counted.decode(stored) == .counted(13) { throw Unlucky() }
        }
    }
}

extension TestStore {
    /// Appends these numbers, one to each counter or all to one counter.
    func count(_ numbers: some Sequence<Int64>, to counter: String = "c") async throws {
        let versions = try await reader.read(stream: StreamName(category: "counter", key: counter)).count
        for (offset, number) in numbers.enumerated() {
            _ = try await log.record(.counting(counter, after: Int32(versions + offset), by: number))
        }
    }

    /// Runs a subscription, as a separate node would, until the body has ended.
    func withSubscription(
        _ diary: Diary, timing: SubscriptionRunner.Timing = .test, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        try await database.withClient(role: "log_app", connections: 3) { client in
            try await Self.withNotifier(client, listens: true, pollSeconds: 0.05) { notifier in
                let service = SubscriptionRunner(diary, client: client, notifier: notifier, timing: timing, logger: .quiet)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { await service.run() }
                    try await body()
                    group.cancelAll()
                }
            }
        }
    }

    func entries() async throws -> [Int64] {
        try await client.query("SELECT position FROM public.diary ORDER BY entry").decode(Int64.self)
    }

    /// Waits until the subscription has reached a position.
    func reaches(_ position: Int64, _ subscription: String = "diary") async throws {
        try await eventually("position \(position)") {
            try await Subscriptions(client: client).position(of: subscription) ?? 0 >= position
        }
    }
}

extension SubscriptionRunner.Timing {
    static let test: Self = {
        var timing = Self()
        // A busy machine may be silent for seconds.
        timing.silenceSeconds = 30
        timing.claimSeconds = 0.05
        timing.attempts = 3
        timing.backOffSeconds = 0.01
        return timing
    }()
}

@Suite(.diary) struct `Handling events in a subscription` {
    @Test func `a subscription has one row, also after many steps and leaders`() async throws {
        for round in Int64(0)..<3 {
            try await store.withSubscription(Diary()) {
                for number in 1...5 as ClosedRange<Int64> {
                    try await store.count([number])
                    try await store.reaches(round * 5 + number)
                }
            }
        }
        let positions = try await store.client.query("SELECT position FROM log.subscriptions").decode(Int64.self)
        #expect(positions == [15])
        #expect(try await store.entries() == Array(1...15))
    }

    @Test func `a subscription handles the selected events and moves past the others`() async throws {
        try await store.count(1...3)
        try await store.withSubscription(Diary(name: "a", filter: LogFilter(categories: ["tea"]))) {
            try await store.reaches(3, "a")
        }
        #expect(try await store.entries() == [])
        let filter = LogFilter(categories: ["counter"], types: ["Counted", "Other"])
        try await store.withSubscription(Diary(name: "b", filter: filter)) { try await store.reaches(3, "b") }
        #expect(try await store.entries() == [1, 2, 3])
        try await store.withSubscription(Diary(name: "c", filter: LogFilter(types: ["Other"]))) {
            try await store.reaches(3, "c")
        }
        #expect(try await store.entries() == [1, 2, 3])
    }

    @Test func `a subscription that loses its connections misses no event`() async throws {
        try await store.withSubscription(Diary(pause: { try await Task.sleep(for: .milliseconds(3)) })) {
            for round in Int64(1)...10 {
                try await store.count(1...10, to: "c\(round)")
                _ = try? await store.database.withClient { client in
                    try await client.query(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%log.subscription%' AND pid <> pg_backend_pid()"
                    )
                }
            }
            try await store.reaches(100)
        }
        #expect(try await store.entries() == Array(1...100))
    }
}

@Suite(.diary) struct `Parking a stream` {
    @Test func `a failing event parks its stream, the other streams go on, and no event is skipped`() async throws {
        let isSuperstitious = Mutex(true)
        let diary = Diary(isSuperstitious: { isSuperstitious.withLock { $0 } })
        try await store.count([1, 2, 13, 4], to: "bad")
        try await store.count([1, 2], to: "good")
        try await store.withSubscription(diary) {
            try await store.reaches(6)
            try await store.count([5], to: "bad")
            try await store.count([3], to: "good")
            try await store.reaches(8)
            #expect(try await store.entries() == [1, 2, 5, 6, 8])
            let subscriptions = Subscriptions(client: store.client)
            let parked = try #require(try await subscriptions.parkedStreams(of: "diary").first)
            #expect(
                (parked.stream.description, parked.version, parked.position, parked.reason) == ("counter-bad", 3, 3, "thirteen"))
            let status = try #require(try await subscriptions.statuses().first)
            #expect((status.name, status.position, status.lag, status.parkedStreams) == ("diary", 8, 0, 1))
            #expect(status.leader != nil)

            // An early retry leaves the stream parked; after the cause is removed the stream goes on in its own order.
            try await subscriptions.retry(parked.stream, of: "diary")
            try await eventually {
                try await store.client.query("SELECT is_to_be_retried FROM log.parked_streams").decode(Bool.self) == [false]
            }
            #expect(try await subscriptions.parkedStreams(of: "diary") == [parked])
            isSuperstitious.withLock { $0 = false }
            try await subscriptions.retry(parked.stream, of: "diary")
            try await eventually { try await subscriptions.parkedStreams(of: "diary").isEmpty }
            try await store.count([6], to: "bad")
            try await store.reaches(9)
        }
        #expect(try await store.entries() == [1, 2, 5, 6, 8, 3, 4, 7, 9])
    }
}

@Suite(.diary) struct `Performing effects outside of the transaction` {
    @Test func `effects come before the transaction is open, and again after it failed`() async throws {
        let calls = Mutex<[String]>([])
        let isSuperstitious = Mutex(true)
        let openTransactions: SQL = """
            SELECT query FROM pg_stat_activity
            WHERE datname = current_database() AND state LIKE 'idle in transaction%'
            """
        let perform: @Sendable ([RecordedEvent]) async throws -> Void = { events in
            // The superuser sees the state of all sessions.
            let open = try await store.database.withClient(connections: 1) { superuser in
                try await superuser.query(openTransactions).decode(String.self)
            }
            #expect(open == [])
            calls.withLock { $0.append("perform \(events.map(\.position))") }
        }
        let diary = Diary(
            isSuperstitious: { isSuperstitious.withLock { $0 } }, pause: { calls.withLock { $0.append("handle") } },
            effect: perform)
        try await store.count([1], to: "good")
        try await store.count([13], to: "bad")
        try await store.withSubscription(diary) {
            try await store.reaches(2)
            // The batch fails, and then each of three attempts to handle its second event.
            let expected = [[1, 2], [1], [2], [2], [2]].flatMap { ["perform \($0)", "handle"] }
            #expect(calls.withLock(\.self) == expected)
            let subscriptions = Subscriptions(client: store.client)
            #expect(try await subscriptions.parkedStreams(of: "diary").map(\.position) == [2])
            isSuperstitious.withLock { $0 = false }
            try await subscriptions.retry(of: "diary")
            try await eventually { try await subscriptions.parkedStreams(of: "diary").isEmpty }
            #expect(calls.withLock(\.self) == expected + ["perform [2]", "handle"])
        }
        #expect(try await store.entries() == [1, 2])
    }

    @Test func `a failed effect parks its stream, whose events are handled after a retry`() async throws {
        let isBroken = Mutex(true)
        let perform: @Sendable ([RecordedEvent]) async throws -> Void = { events in
            let isOfBad = events.contains { $0.envelope.stream.key == "bad" }
            if isOfBad, isBroken.withLock(\.self) { throw Diary.Unlucky() }
        }
        try await store.count([1], to: "bad")
        try await store.count([2], to: "good")
        try await store.withSubscription(Diary(effect: perform)) {
            try await store.reaches(2)
            #expect(try await store.entries() == [2])
            let subscriptions = Subscriptions(client: store.client)
            let parked = try #require(try await subscriptions.parkedStreams(of: "diary").first)
            #expect((parked.stream.description, parked.position, parked.reason) == ("counter-bad", 1, "thirteen"))
            isBroken.withLock { $0 = false }
            try await subscriptions.retry(of: "diary")
            try await eventually { try await subscriptions.parkedStreams(of: "diary").isEmpty }
        }
        #expect(try await store.entries() == [2, 1])
    }

    @Test
    func `a statement that waits too long for a lock parks nothing, is named, and succeeds when the lock is free`() async throws {
        let attempts = Mutex(0)
        let diary = Diary(effect: { _ in
            attempts.withLock { $0 += 1 }
            try await store.client.run([
                "SELECT set_config('statement_timeout', '20', true)", "SELECT FROM public.diary",
            ])
        })
        let subscriptions = Subscriptions(client: store.client)
        try await store.withSubscription(diary) {
            try await store.database.withClient(connections: 1) { other in
                try await other.withTransaction { connection in
                    try await connection.query("LOCK TABLE public.diary")
                    try await store.count([1])
                    // More often than the runner tries an event that is at fault.
                    try await eventually("many attempts") {
                        attempts.withLock(\.self) > 2 + SubscriptionRunner.Timing.test.attempts
                    }
                    #expect(try await subscriptions.parkedStreams(of: "diary") == [])
                    let status = try #require(try await subscriptions.statuses().first)
                    #expect(status.interruption?.contains("57014") == true)
                }
            }
            try await store.reaches(1)
        }
        #expect(try await store.entries() == [1])
        #expect(try await subscriptions.statuses().map(\.interruption) == [nil])
    }

    @Test func `an effect that the log or the database keeps from happening parks nothing, and happens later`() async throws {
        let errors: [any Error & Sendable] = [
            EventLogError.closed, ReadModelError.behind("sums_v1"), PostgresError.connectionLost(mayHaveRun: true),
        ]
        let calls = Mutex(0)
        let perform: @Sendable ([RecordedEvent]) async throws -> Void = { _ in
            let call = calls.withLock { calls in
                calls += 1
                return calls
            }
            // More often than the runner tries an event that is at fault.
            if call <= 3 * SubscriptionRunner.Timing.test.attempts { throw errors[call % errors.count] }
        }
        try await store.count([1])
        try await store.withSubscription(Diary(effect: perform)) { try await store.reaches(1) }
        #expect(try await Subscriptions(client: store.client).parkedStreams(of: "diary") == [])
        #expect(try await store.entries() == [1])
    }

    @Test func `a leader whose effect takes long keeps the lead`() async throws {
        let calls = Mutex(0)
        let perform: @Sendable ([RecordedEvent]) async throws -> Void = { _ in
            calls.withLock { $0 += 1 }
            try await Task.sleep(for: .seconds(6))
        }
        var short = SubscriptionRunner.Timing.test
        short.silenceSeconds = 3
        let timing = short
        try await store.count([1])
        try await store.withSubscription(Diary(effect: perform), timing: timing) {
            try await store.withSubscription(Diary(effect: perform), timing: timing) { try await store.reaches(1) }
        }
        let count = calls.withLock(\.self)
        #expect(count == 1)
        #expect(try await store.entries() == [1])
    }

    @Test func `the loss of the lead cancels the effects`() async throws {
        let isStarted = Mutex(false)
        let isCancelled = Mutex(false)
        let perform: @Sendable ([RecordedEvent]) async throws -> Void = { _ in
            isStarted.withLock { $0 = true }
            defer { isCancelled.withLock { $0 = true } }
            try await Task.sleep(for: .seconds(3_600))
        }
        var short = SubscriptionRunner.Timing.test
        short.silenceSeconds = 0.6
        let timing = short
        try await store.count([1])
        try await store.withSubscription(Diary(effect: perform), timing: timing) {
            try await eventually("an effect") { isStarted.withLock(\.self) }
            _ = try await store.database.withClient {
                try await $0.query("SELECT pg_terminate_backend(pid) FROM (\(SQL.leaders)) AS leaders")
            }
            try await eventually("the end of the effect") { isCancelled.withLock(\.self) }
        }
        #expect(try await store.entries() == [])
    }
}
