internal import ArgumentParser
internal import EventStore
internal import Foundation
internal import Postgres

/// Latencies of subscriptions: from the acknowledgement of an append, and from the end of a leader.
struct SubscriptionTimes: Sendable {
    /// In milliseconds.
    struct Result: Sendable {
        var sameProcess: [Double] = []
        var otherProcess: [Double] = []
        var afterKill: [Double] = []
        var afterStop: [Double] = []
    }

    private static let wakes = 200
    private static let successions = 5

    let database: Database

    func measure() async throws -> Result {
        progress("subscriptions")
        var result = Result()
        for _ in 0..<Self.successions {
            result.afterStop.append(try await succession { try await stopOne() })
            result.afterKill.append(try await succession { try await killOne() })
        }
        result.sameProcess = try await wakes(isSameProcess: true)
        result.otherProcess = try await wakes(isSameProcess: false)
        return result
    }

    /// The time from the acknowledgement of an append to the subscription; the poll interval is an hour.
    private func wakes(isSameProcess: Bool) async throws -> [Double] {
        try await withNode(pollSeconds: 3_600) { node in
            try await node.withLog { log in
                let subscription = Stopwatch(name: "wakes-\(isSameProcess)")
                if isSameProcess { return try await follow(subscription, on: node) { try await appendAndSee(log, subscription) } }
                return try await withNode(pollSeconds: 3_600) { other in
                    try await follow(subscription, on: other) { try await appendAndSee(log, subscription) }
                }
            }
        }
    }

    private func appendAndSee(_ log: EventLog, _ subscription: Stopwatch) async throws -> [Double] {
        var seen = subscription.seen.makeAsyncIterator()
        var delays: [Double] = []
        for _ in 0..<Self.wakes {
            let position = try await log.position(of: .ofBenchmark())
            let acknowledged = ContinuousClock.now
            // One append at a time, so that the subscription sees that append, after the earlier events.
            var when: ContinuousClock.Instant?
            while when == nil { when = await seen.next().flatMap { $0.position == position ? $0.at : nil } }
            if let when { delays.append(max(0, (when - acknowledged) / .milliseconds(1))) }
        }
        return delays
    }

    /// The time from the end of a leader to the first event of the next one. `end` ends the leader and returns that moment.
    private func succession(_ end: @Sendable () async throws -> ContinuousClock.Instant) async throws -> Double {
        try await withNode(pollSeconds: 1) { node in
            try await node.withLog { log in
                let ended = try await end()
                let subscription = Stopwatch(name: Follow.subscription)
                return try await follow(subscription, on: node) {
                    let position = try await log.position(of: .ofBenchmark())
                    for await (at, when) in subscription.seen where at == position { return (when - ended) / .milliseconds(1) }
                    return 0
                }
            }
        }
    }

    private func stopOne() async throws -> ContinuousClock.Instant {
        try await withNode(pollSeconds: 1) { node in
            try await follow(Stopwatch(name: Follow.subscription), on: node) { try await awaitLeader() }
        }
        return .now
    }

    private func killOne() async throws -> ContinuousClock.Instant {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["follow", database.url]
        try process.run()
        try await awaitLeader()
        let killed = ContinuousClock.now
        kill(process.processIdentifier, SIGKILL)
        return killed
    }

    private func awaitLeader() async throws {
        try await database.administer { client in
            while try await Subscriptions(client: client).statuses().allSatisfy({ $0.leader == nil }) {
                try await Task.sleep(for: .milliseconds(10))
            }
        }
    }

    fileprivate func withNode<Value: Sendable>(
        pollSeconds: Double, _ body: @Sendable (Node) async throws -> Value
    ) async throws -> Value {
        var configuration = PostgresConfiguration(url: database.url)
        configuration.role = "log_app"
        return try await withPostgres(configuration, logger: .quiet) { client in
            let notifier = LogNotifier(client: client, listens: true, pollSeconds: pollSeconds, logger: .quiet)
            return try await running(notifier.run) {
                try await body(Node(database: database, client: client, notifier: notifier))
            }
        }
    }

    fileprivate func follow<Value: Sendable>(
        _ subscription: Stopwatch, on node: Node, _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        let service = SubscriptionRunner(subscription, client: node.client, notifier: node.notifier, logger: .quiet)
        return try await running(service.run, body)
    }
}

/// The parts of one process.
private struct Node: Sendable {
    let database: Database
    let client: PostgresClient
    let notifier: LogNotifier

    func withLog<Value: Sendable>(_ body: @Sendable (EventLog) async throws -> Value) async throws -> Value {
        try await database.withWriter { client in
            let log = EventLog(client: client, projections: [], notifier: notifier, logger: .quiet)
            return try await running(log.run) { try await body(log) }
        }
    }
}

/// Records each position with its time.
private struct Stopwatch: Subscription {
    let name: String
    let seen: AsyncStream<(position: Int64, at: ContinuousClock.Instant)>
    private let sink: AsyncStream<(position: Int64, at: ContinuousClock.Instant)>.Continuation

    init(name: String) {
        self.name = name
        (seen, sink) = AsyncStream.makeStream()
    }

    func handle(_ events: [RecordedEvent], in transaction: LeasedConnection) async throws {
        for event in events { sink.yield((event.position, .now)) }
    }
}

/// Runs a service until the body ends.
private func running<Value: Sendable>(
    _ service: @escaping @Sendable () async throws -> Void, _ body: @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await service() }
        let value = try await body()
        group.cancelAll()
        try await group.waitForAll()
        return value
    }
}

/// A process that leads until it is killed.
struct Follow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(shouldDisplay: false)
    static let subscription = "relay"

    @Argument var url: String

    func run() async throws {
        let times = SubscriptionTimes(database: Database(url: url))
        try await times.withNode(pollSeconds: 1) { node in
            try await times.follow(Stopwatch(name: Self.subscription), on: node) { try await Task.sleep(for: .seconds(60)) }
        }
    }
}
