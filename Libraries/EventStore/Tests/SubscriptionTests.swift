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

    static let table = """
        CREATE TABLE public.diary (entry bigserial, position bigint); GRANT ALL ON public.diary TO humon_app;
        GRANT ALL ON SEQUENCE public.diary_entry_seq TO humon_app;
        """

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
    /// A store with a table for the subscription to write to.
    static func withDiary(_ body: @escaping @Sendable (TestStore) async throws -> Void) async throws {
        try await with { store in
            try await store.database.withClient { client in
                try await client.withConnection { try await $0.execute(script: Diary.table) }
            }
            try await body(store)
        }
    }

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
        try await database.withClient(role: "humon_app", connections: 3) { client in
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
        // A busy machine may not renew a lease for seconds.
        timing.leaseSeconds = 30
        timing.claimSeconds = 0.05
        timing.attempts = 3
        timing.backOffSeconds = 0.01
        return timing
    }()
}

@Suite struct `Handling events in a subscription` {
    @Test func `a subscription handles old and new events once and in order`() async throws {
        try await TestStore.withDiary { store in
            try await store.count(1...5)
            try await store.withSubscription(Diary()) {
                try await store.reaches(5)
                try await store.count(6...10)
                try await store.reaches(10)
            }
            #expect(try await store.entries() == Array(1...10))
        }
    }

    @Test func `an advance of the checkpoint does not update the leader's row, and old positions are deleted`() async throws {
        try await TestStore.withDiary { store in
            let leader: SQL = "SELECT ctid::text || ' ' || xmin::text FROM log.subscription_leaders"
            let positions: SQL = "SELECT position FROM log.subscription_positions ORDER BY position"
            try await store.withSubscription(Diary()) {
                try await store.count([1])
                try await store.reaches(1)
                let before = try await store.client.query(leader).decode(String.self)
                for number in Int64(2)...20 {
                    try await store.count([number])
                    try await store.reaches(number)
                }
                #expect(try await store.client.query(leader).decode(String.self) == before)
                try await eventually { try await store.client.query(positions).decode(Int64.self) == [Int64(20)] }
            }
        }
    }

    @Test func `a restarted subscription goes on after its checkpoint`() async throws {
        try await TestStore.withDiary { store in
            for round in Int64(1)...3 {
                try await store.count(1...4)
                try await store.withSubscription(Diary()) { try await store.reaches(round * 4) }
            }
            #expect(try await store.entries() == Array(1...12))
        }
    }

    @Test func `a subscription handles the selected events and moves past the others`() async throws {
        try await TestStore.withDiary { store in
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
    }

    @Test func `a subscription that loses its connections misses no event`() async throws {
        try await TestStore.withDiary { store in
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

    @Test func `a subscription stops at a gap`() async throws {
        try await TestStore.withDiary { store in
            try await store.count(1...5)
            _ = try await store.database.withClient { client in
                try await client.run([
                    "ALTER TABLE log.recorded_events DISABLE TRIGGER refuse_change",
                    "DELETE FROM log.recorded_events WHERE position = 3",
                ])
            }
            for (name, filter) in [("a", LogFilter.everything), ("b", LogFilter(types: ["Other"]))] {
                try await store.withSubscription(Diary(name: name, filter: filter)) { try await Task.sleep(for: .seconds(1)) }
                #expect(try await Subscriptions(client: store.client).position(of: name) == 0)
            }
            #expect(try await store.entries() == [])
        }
    }
}

@Suite struct `Parking a stream` {
    @Test func `a failing event parks its stream, the other streams go on, and no event is skipped`() async throws {
        try await TestStore.withDiary { store in
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
                    (parked.stream.description, parked.version, parked.position, parked.reason) == (
                        "counter-bad", 3, 3, "thirteen"
                    ))
                let status = try #require(try await subscriptions.statuses().first)
                #expect((status.name, status.position, status.lag, status.parkedStreams) == ("diary", 8, 0, 1))
                #expect(status.leasedUntil != nil)

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

    @Test func `a parked stream stays parked after a restart`() async throws {
        try await TestStore.withDiary { store in
            let diary = Diary(isSuperstitious: { true })
            try await store.count([13, 2], to: "bad")
            try await store.withSubscription(diary) { try await store.reaches(2) }
            try await store.count([3], to: "bad")
            try await store.withSubscription(diary) { try await store.reaches(3) }
            #expect(try await store.entries() == [])
        }
    }
}

@Suite struct `Sharing a subscription between nodes` {
    @Test func `nodes with one subscription handle every event once`() async throws {
        try await TestStore.withDiary { store in
            try await store.withSubscription(Diary()) {
                try await store.withSubscription(Diary()) {
                    try await store.withSubscription(Diary()) {
                        try await store.count(1...50)
                        try await store.reaches(50)
                    }
                }
            }
            #expect(try await store.entries() == Array(1...50))
        }
    }

    @Test func `a leader whose lease expired while it was paused commits nothing`() async throws {
        try await TestStore.withDiary { store in
            try await store.count(1...3)
            let (paused, resume) = AsyncStream.makeStream(of: Void.self)
            let sleeper = Diary(pause: { for await _ in paused {} })
            let lease = try #require(
                try await Lease.claim("diary", leader: UUID(), seconds: 0.3, client: store.client)?.lease)
            // The lease is not renewed, as when the leader's machine is frozen.
            let work = Task {
                try await store.client.withTransaction { transaction in
                    try await sleeper.handle(try await store.reader.read(after: 0, limit: 3), in: transaction)
                    try await lease.move(from: 0, to: 3, in: transaction)
                }
            }
            try await store.withSubscription(Diary()) { try await store.reaches(3) }
            resume.finish()
            await #expect(throws: LeaseLostError.self) { try await work.value }
            #expect(try await store.entries() == [1, 2, 3])
        }
    }

    @Test func `a new leader takes over although the clock of PostgreSQL was set back`() async throws {
        try await TestStore.withDiary { store in
            try await store.count(1...3)
            _ = try #require(try await Lease.claim("diary", leader: UUID(), seconds: 1, client: store.client))
            try await store.client.query("UPDATE log.leases SET until = until + interval '1 hour'")
            try await store.withSubscription(Diary()) { try await store.reaches(3) }
            #expect(try await store.entries() == [1, 2, 3])
        }
    }

    @Test func `a leader that stops hands its lease over immediately`() async throws {
        try await TestStore.withDiary { store in
            var patient = SubscriptionRunner.Timing.test
            patient.leaseSeconds = 3_600
            let timing = patient
            try await store.withSubscription(Diary(), timing: timing) {
                try await store.count(1...3)
                try await store.reaches(3)
            }
            try await store.withSubscription(Diary(), timing: timing) {
                try await store.count(4...6)
                try await store.reaches(6)
            }
            #expect(try await store.entries() == Array(1...6))
        }
    }
}
