import EventStore
import Logging
import Postgres
import Synchronization
import TestChance
import TestDatabase

/// Writes every position it handles, in the transaction that moves the position. The table accepts repetitions, so that the
/// checker finds them.
struct SeenSubscription: Subscription {
    enum Sabotage: Sendable {
        case skips
        case repeats
    }

    static let name = "fault_injection"
    static let table = """
        CREATE SCHEMA fault_injection;
        CREATE TABLE fault_injection.seen (ordinal bigserial PRIMARY KEY, position bigint NOT NULL);
        CREATE TABLE fault_injection.foreign_writes (at timestamptz NOT NULL DEFAULT now());
        """

    let seed: UInt64
    var sabotage: Sabotage?

    var name: String { Self.name }

    func handle(_ events: [RecordedEvent], in transaction: LeasedConnection) async throws {
        var positions = events.map(\.position)
        switch sabotage {
        case .skips: positions.removeAll { $0 % 10 == 0 }
        case .repeats: positions += positions.prefix(1)
        case nil: break
        }
        try await transaction.query("INSERT INTO fault_injection.seen (position) SELECT unnest(\(positions))")
        var generator = SeededGenerator(seed: seed, 3, Int(positions.first ?? 0))
        // A slow transaction, so that cuts and kills hit it.
        if generator.happens(inPercent: 20) {
            try await Task.sleep(for: .milliseconds(Int.random(in: 1...50, using: &generator)))
        }
    }

    static func seen(_ client: PostgresClient) async throws -> [Int64] {
        try await client.query("SELECT position FROM fault_injection.seen ORDER BY ordinal").decode(Int64.self)
    }
}

/// Two subscriptions of the same name, as two nodes have them: one leads, one stands by.
actor SubscriptionPair {
    private let subscription: SeenSubscription
    private let url: String
    private var tasks: [Int: Task<Void, Never>] = [:]

    init(_ subscription: SeenSubscription, url: String) {
        self.subscription = subscription
        self.url = url
    }

    func start() { for number in 0...1 { tasks[number] = task() } }

    /// Stops one subscription without waiting for the end of its work, and starts another.
    func replace(_ number: Int) async {
        let old = tasks[number]
        old?.cancel()
        tasks[number] = task()
        await old?.value
    }

    func stop() async {
        for task in tasks.values { task.cancel() }
        for task in tasks.values { await task.value }
        tasks = [:]
    }

    private func task() -> Task<Void, Never> {
        var configuration = PostgresConfiguration(url: url)
        configuration.connections = 3
        let client = PostgresClient(configuration, logger: .quiet)
        let notifier = LogNotifier(client: client, listens: true, logger: .quiet)
        let service = SubscriptionRunner(subscription, client: client, notifier: notifier, logger: .quiet)
        return Task {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await client.run() }
                group.addTask { await notifier.run() }
                await service.run()
                group.cancelAll()
            }
        }
    }
}
