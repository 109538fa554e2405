import Encoding
import Foundation
import Logging
import Postgres
import Synchronization
import TestDatabase
import Testing

@testable import EventStore

/// Keeps what it is given in a table, in the order in which it is given; refuses the number 13.
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
            if try Counted.decode(type: stored.type, format: stored.format, data: stored.data) == .counted(13) { throw Unlucky() }
        }
    }
}

extension TestStore {
    /// A store with a diary to write.
    static func withDiary(_ body: @escaping @Sendable (TestStore) async throws -> Void) async throws {
        try await with { store in
            try await store.database.withClient { client in
                try await client.withConnection { try await $0.execute(script: Diary.table) }
            }
            try await body(store)
        }
    }

    /// Appends so many, one a counter, or all to one.
    func count(_ numbers: some Sequence<Int64>, to counter: String = "c") async throws {
        let versions = try await reader.read(stream: StreamName(category: "counter", key: counter)).count
        for (offset, number) in numbers.enumerated() {
            _ = try await log.append(.counting(counter, after: Int32(versions + offset), by: number))
        }
    }

    /// Runs a subscription as a node of its own would, until the body is done.
    func following(
        _ diary: Diary, timing: SubscriptionRunner.Timing = .test, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        try await database.withClient(role: "humon_app", connections: 3) { client in
            try await Self.withWatch(client, listens: true, pollSeconds: 0.05) { notifier in
                let service = SubscriptionRunner(diary, client: client, notifier: notifier, timing: timing, logger: .quiet)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await service.run() }
                    try await body()
                    group.cancelAll()
                }
            }
        }
    }

    func entries() async throws -> [Int64] {
        try await client.query("SELECT position FROM public.diary ORDER BY entry").decode(Int64.self)
    }

    /// Waits until the subscription is there.
    func reaches(_ position: Int64, _ subscription: String = "diary") async throws {
        try await eventually("position \(position)") {
            try await Subscriptions(client: client).position(of: subscription) ?? 0 >= position
        }
    }
}

extension SubscriptionRunner.Timing {
    static let test: Self = {
        var timing = Self()
        timing.leaseSeconds = 1
        timing.claimSeconds = 0.05
        timing.attempts = 3
        timing.backOffSeconds = 0.01
        return timing
    }()
}

@Suite struct `A subscription` {
    @Test func `sees what was there before it and what comes after, once and in order`() async throws {
        try await TestStore.withDiary { store in
            try await store.count(1...5)
            try await store.following(Diary()) {
                try await store.reaches(5)
                try await store.count(6...10)
                try await store.reaches(10)
            }
            #expect(try await store.entries() == Array(1...10))
        }
    }

    @Test func `writes no new version of its leader's row, and takes away where it has been`() async throws {
        try await TestStore.withDiary { store in
            let leader: SQL = "SELECT ctid::text || ' ' || xmin::text FROM log.follower_leaders"
            let positions: SQL = "SELECT position FROM log.follower_positions ORDER BY position"
            try await store.following(Diary()) {
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

    @Test func `goes on where it was when it is started again`() async throws {
        try await TestStore.withDiary { store in
            for round in Int64(1)...3 {
                try await store.count(1...4)
                try await store.following(Diary()) { try await store.reaches(round * 4) }
            }
            #expect(try await store.entries() == Array(1...12))
        }
    }

    @Test func `sees what it asked for, and moves past the rest`() async throws {
        try await TestStore.withDiary { store in
            try await store.count(1...3)
            try await store.following(Diary(name: "a", filter: LogFilter(categories: ["tea"]))) {
                try await store.reaches(3, "a")
            }
            #expect(try await store.entries() == [])
            let filter = LogFilter(categories: ["counter"], types: ["Counted", "Other"])
            try await store.following(Diary(name: "b", filter: filter)) { try await store.reaches(3, "b") }
            #expect(try await store.entries() == [1, 2, 3])
            try await store.following(Diary(name: "c", filter: LogFilter(types: ["Other"]))) { try await store.reaches(3, "c") }
            #expect(try await store.entries() == [1, 2, 3])
        }
    }

    @Test func `survives the loss of its connections without a gap`() async throws {
        try await TestStore.withDiary { store in
            try await store.following(Diary(pause: { try await Task.sleep(for: .milliseconds(3)) })) {
                for round in Int64(1)...10 {
                    try await store.count(1...10, to: "c\(round)")
                    _ = try? await store.database.withClient { client in
                        try await client.query(
                            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%log.follower%' AND pid <> pg_backend_pid()"
                        )
                    }
                }
                try await store.reaches(100)
            }
            #expect(try await store.entries() == Array(1...100))
        }
    }

    @Test func `stands still before a hole`() async throws {
        try await TestStore.withDiary { store in
            try await store.count(1...5)
            _ = try await store.database.withClient { client in
                try await client.run([
                    "ALTER TABLE log.recorded_events DISABLE TRIGGER refuse_change",
                    "DELETE FROM log.recorded_events WHERE position = 3",
                ])
            }
            for (name, filter) in [("a", LogFilter.everything), ("b", LogFilter(types: ["Other"]))] {
                try await store.following(Diary(name: name, filter: filter)) { try await Task.sleep(for: .seconds(1)) }
                #expect(try await Subscriptions(client: store.client).position(of: name) == 0)
            }
            #expect(try await store.entries() == [])
        }
    }
}

@Suite struct `A subscription that cannot handle an event` {
    @Test func `parks its stream, goes on with the others, and never skips`() async throws {
        try await TestStore.withDiary { store in
            let isSuperstitious = Mutex(true)
            let diary = Diary(isSuperstitious: { isSuperstitious.withLock { $0 } })
            try await store.count([1, 2, 13, 4], to: "bad")
            try await store.count([1, 2], to: "good")
            try await store.following(diary) {
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

                // Retried too early it stays where it is; the cause mended it goes on, in its own order.
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

    @Test func `remembers what it parked when it is started again`() async throws {
        try await TestStore.withDiary { store in
            let diary = Diary(isSuperstitious: { true })
            try await store.count([13, 2], to: "bad")
            try await store.following(diary) { try await store.reaches(2) }
            try await store.count([3], to: "bad")
            try await store.following(diary) { try await store.reaches(3) }
            #expect(try await store.entries() == [])
        }
    }
}

@Suite struct `Subscriptions of one name` {
    @Test func `take turns, so that everything is handled once`() async throws {
        try await TestStore.withDiary { store in
            try await store.following(Diary()) {
                try await store.following(Diary()) {
                    try await store.following(Diary()) {
                        try await store.count(1...50)
                        try await store.reaches(50)
                    }
                }
            }
            #expect(try await store.entries() == Array(1...50))
        }
    }

    @Test func `leave nothing of a leader that was paused for too long`() async throws {
        try await TestStore.withDiary { store in
            try await store.count(1...3)
            let (paused, resume) = AsyncStream.makeStream(of: Void.self)
            let sleeper = Diary(pause: { for await _ in paused {} })
            let lease = try #require(
                try await Lease.claim("diary", leader: UUID(), seconds: 0.3, client: store.client)?.lease)
            // Nobody renews it, as when its machine is frozen.
            let work = Task {
                try await store.client.withTransaction { transaction in
                    try await sleeper.handle(try await store.reader.read(after: 0, limit: 3), in: transaction)
                    try await lease.move(from: 0, to: 3, in: transaction)
                }
            }
            try await store.following(Diary()) { try await store.reaches(3) }
            resume.finish()
            await #expect(throws: LeaseLostError.self) { try await work.value }
            #expect(try await store.entries() == [1, 2, 3])
        }
    }

    @Test func `take over from a leader that died before the clock of PostgreSQL was set back`() async throws {
        try await TestStore.withDiary { store in
            try await store.count(1...3)
            _ = try #require(try await Lease.claim("diary", leader: UUID(), seconds: 1, client: store.client))
            try await store.client.query("UPDATE log.leases SET until = until + interval '1 hour'")
            try await store.following(Diary()) { try await store.reaches(3) }
            #expect(try await store.entries() == [1, 2, 3])
        }
    }

    @Test func `hand over at once when the leader stops`() async throws {
        try await TestStore.withDiary { store in
            var patient = SubscriptionRunner.Timing.test
            patient.leaseSeconds = 3_600
            let timing = patient
            try await store.following(Diary(), timing: timing) {
                try await store.count(1...3)
                try await store.reaches(3)
            }
            try await store.following(Diary(), timing: timing) {
                try await store.count(4...6)
                try await store.reaches(6)
            }
            #expect(try await store.entries() == Array(1...6))
        }
    }
}
