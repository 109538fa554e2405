internal import Foundation
public import Logging
public import Postgres
public import ServiceLifecycle

/// Runs a subscription on every node. One node at a time leads, and the others stand by.
///
/// If a leader dies, another node leads when the lease has expired. A leader that was only paused notices the new leader when it
/// moves the position, and its transaction is rolled back.
public final class SubscriptionRunner: Service {
    public struct Timing: Sendable {
        /// Seconds after which another node replaces a dead leader.
        public var leaseSeconds = 3.0
        /// The interval at which nodes that stand by try to lead.
        public var claimSeconds = 0.5
        /// Number of attempts to handle an event before its stream is parked.
        public var attempts = 5
        /// Seconds between the first failure and the next attempt. The pause doubles after every further failure.
        public var backOffSeconds = 0.1
        /// Maximum seconds between two attempts if the log has a gap or lost its end, or if a right or a table is missing.
        public var longestStandstillSeconds = 30.0

        public init() {}
    }

    private let subscription: any Subscription
    private let client: PostgresClient
    private let notifier: LogNotifier
    private let timing: Timing
    private let logger: Logger
    private let leader = UUID()

    /// - Parameters:
    ///   - client: has at least two connections, one for the subscription's work and one to renew the lease. If the notifier
    ///     listens with this client, it needs a third one
    ///   - notifier: must run
    public init(
        _ subscription: any Subscription, client: PostgresClient, notifier: LogNotifier, timing: Timing = Timing(), logger: Logger
    ) {
        self.subscription = subscription
        self.client = client
        self.notifier = notifier
        self.timing = timing
        var logger = logger
        logger[metadataKey: "subscription"] = "\(subscription.name)"
        self.logger = logger
    }

    /// Leads whenever it may, until the task is cancelled or the service group shuts down.
    public func run() async {
        await cancelWhenGracefulShutdown { [self] in
            var interruption = ""
            var backOff = BackOff(firstSeconds: timing.claimSeconds, longestSeconds: timing.longestStandstillSeconds)
            while !Task.isCancelled {
                var pause = Duration.seconds(timing.claimSeconds)
                var lease: SubscriptionLease?
                var reason = ""
                do {
                    lease = try await SubscriptionLease.claim(
                        subscription.name, leader: leader, seconds: timing.leaseSeconds, client: client)
                    if let lease { try await lead(lease) }
                } catch is LeaseLostError {
                    logger.notice("another node leads now")
                } catch  where Task.isCancelled {
                } catch {
                    // Logged once, unless the subscription has come further since. Tried again for ever, after growing pauses, which
                    // are short if the error may pass by itself.
                    reason = Leadership.reason(error)
                    let found = "\(lease?.position ?? 0): \(error)"
                    if found != interruption {
                        interruption = found
                        backOff.reset()
                        let standsStill = error is any StandstillError
                        logger.log(
                            level: standsStill ? .critical : .warning,
                            standsStill ? "a subscription stands still" : "a subscription is interrupted",
                            metadata: ["error": "\(error)"])
                    }
                    pause = error.mayPass ? min(backOff.next(), .seconds(timing.leaseSeconds)) : backOff.next()
                }
                // A separate task, because this one may be cancelled. After the release, the next leader need not wait until the lease
                // expires.
                if let lease { await Task { [reason] in try? await lease.release(after: reason) }.value }
                try? await Task.sleep(for: pause)
            }
        }
    }

    private func lead(_ lease: SubscriptionLease) async throws {
        logger.debug("leading", metadata: ["position": .stringConvertible(lease.position)])
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                var before: Int64?
                while true {
                    try await Task.sleep(for: .seconds(timing.leaseSeconds / 3))
                    let (number, rests) = try await lease.renew()
                    // After a while without an event this node gives the lease back. The next event gets a leader again.
                    if rests, number == before { return }
                    before = number
                }
            }
            group.addTask { [self] in
                var leadership = Leadership(subscription: subscription, timing: timing, logger: logger, lease: lease)
                try await leadership.follow(notifier)
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}

/// The work of one node while it leads a subscription.
private struct Leadership {
    let subscription: any Subscription
    let timing: SubscriptionRunner.Timing
    let logger: Logger
    var lease: SubscriptionLease
    var parked: Set<StreamName> = []

    private var subscriptions: Subscriptions { Subscriptions(client: lease.client) }

    /// Minimum time between two moves of the position without an event for the subscription.
    private static let pause = Duration.milliseconds(100)

    mutating func follow(_ notifier: LogNotifier) async throws {
        parked = Set(try await subscriptions.parkedStreams(of: subscription.name).map(\.stream))
        let tail = LogTail(client: lease.client, notifier: notifier, after: lease.position, filter: subscription.filter)
        var movedAt = ContinuousClock.now - Self.pause
        for try await page in tail {
            // Each move is a commit: seldom for events that the filter leaves out.
            if page.events.isEmpty { try await Task.sleep(until: movedAt + Self.pause) }
            if page.through > lease.position { try await handle(page) }
            movedAt = .now
            if !parked.isEmpty { try await retryParked() }
        }
    }

    private mutating func handle(_ page: LogPage) async throws {
        let events = page.events.filter { !parked.contains($0.envelope.stream) }
        do {
            try await handle(events, through: page.through)
        } catch  where error.isOfSubscription && !events.isEmpty {
            logger.warning("a batch failed; its events are handled one by one", metadata: ["error": "\(error)"])
            for event in events where !parked.contains(event.envelope.stream) { try await handle(event) }
            if lease.position < page.through { try await lease.step(to: page.through) { _ in } }
        }
    }

    /// Handles one event, or parks its stream after the last attempt.
    private mutating func handle(_ event: RecordedEvent) async throws {
        for attempt in 1... {
            do {
                return try await handle([event], through: event.position)
            } catch  where error.isOfSubscription {
                guard attempt == timing.attempts else {
                    try await Task.sleep(for: .seconds(timing.backOffSeconds * pow(2, Double(attempt - 1))))
                    continue
                }
                let (name, stream) = (subscription.name, event.envelope.stream)
                try await lease.step(to: event.position) {
                    try await $0.query(
                        """
                        INSERT INTO log.parked_streams (subscription, stream, version, position, reason)
                        VALUES (\(name), \(stream.description), \(event.envelope.version), \(event.position),
                            \(Self.reason(error)))
                        """)
                }
                parked.insert(stream)
                logger.error(
                    "a stream is parked; mend the cause and have it retried",
                    metadata: ["stream": "\(stream)", "position": .stringConvertible(event.position), "error": "\(error)"])
                return
            }
        }
    }

    /// Performs the effects of events. Then it handles the events, moves the position and does the rest, in one transaction.
    private mutating func handle(
        _ events: [RecordedEvent], through position: Int64, _ rest: (LeasedConnection) async throws -> Void = { _ in }
    ) async throws {
        if !events.isEmpty { try await subscription.perform(events) }
        try await lease.step(to: position) { [subscription] transaction in
            if !events.isEmpty { try await subscription.handle(events, in: transaction) }
            try await rest(transaction)
        }
    }

    /// Handles the events of each parked stream up to the position, in one transaction. After that, the stream is a stream like
    /// any other.
    private mutating func retryParked() async throws {
        for parkedStream in try await subscriptions.parkedStreams(of: subscription.name) where parkedStream.isToBeRetried {
            let (stream, position) = (parkedStream.stream, lease.position)
            let row: SQL = "subscription = \(subscription.name) AND stream = \(stream.description)"
            let events = try await LogReader(client: lease.client).read(stream: stream, after: parkedStream.version - 1).filter {
                $0.position <= position && subscription.filter.wants($0)
            }
            do {
                try await handle(events, through: position) { try await $0.query("DELETE FROM log.parked_streams WHERE \(row)") }
                parked.remove(stream)
                logger.notice("a parked stream goes on", metadata: ["stream": "\(stream)"])
            } catch  where error.isOfSubscription {
                try await lease.step(to: position) {
                    try await $0.query(
                        "UPDATE log.parked_streams SET is_to_be_retried = false, reason = \(Self.reason(error)) WHERE \(row)")
                }
                logger.error("a parked stream failed again", metadata: ["stream": "\(stream)", "error": "\(error)"])
            }
        }
    }

    /// The error's description. It is shortened, because it may be of any length.
    static func reason(_ error: any Error) -> String { String("\(error)".prefix(1_000)) }
}

extension Error {
    /// Whether an event is at fault, as opposed to the database, its locks, load and set-up, the log, the lease or the task.
    fileprivate var isOfSubscription: Bool {
        switch self {
        // A cancelled effect may throw an error of any type.
        case _ where Task.isCancelled: false
        case is LeaseLostError, is any StandstillError: false
        // No event causes a missing table, schema or right (classes 42, 3F), a refused login (28), or damaged data (XX).
        case let error as PostgresError where ["28", "3F", "42", "XX"].contains(error.sqlState?.rawValue.prefix(2)): false
        default: !mayPass
        }
    }
}
