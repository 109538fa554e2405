internal import Foundation
public import Logging
public import Postgres
public import ServiceLifecycle

/// Runs a subscription on every node. One node at a time leads, and the others stand by.
///
/// If a leader dies, another node leads when the lease has expired. A leader that was only paused notices the new leader when it
/// moves its checkpoint, and its transaction is rolled back.
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
        /// Maximum seconds between two attempts if the log has a gap or lost its end.
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
            var standstill: Standstill?
            while !Task.isCancelled {
                var pause = Duration.seconds(timing.claimSeconds)
                var position: Int64?
                do {
                    let claimed = try await Lease.claim(
                        subscription.name, leader: leader, seconds: timing.leaseSeconds, client: client)
                    position = claimed?.position
                    if let claimed { try await lead(claimed.lease, from: claimed.position) }
                } catch is LeaseLostError {
                    logger.notice("another node leads now")
                } catch is CancellationError where Task.isCancelled {
                    break
                } catch  where error is LogGapError || error is LogTruncatedError || error is LogDivergedError {
                    if standstill?.isSame(error, at: position) != true {
                        standstill = Standstill(error, at: position, timing)
                        logger.critical("a subscription stands still", metadata: ["error": "\(error)"])
                    }
                    pause = standstill?.backOff.next() ?? pause
                } catch {
                    logger.warning("a subscription is interrupted", metadata: ["error": "\(error)"])
                }
                try? await Task.sleep(for: pause)
            }
        }
    }

    /// A position at which the subscription cannot go on. The runner logs it once, and tries again after growing pauses.
    private struct Standstill {
        let error: String
        /// The checkpoint from which the subscription came to this position.
        let position: Int64?
        var backOff: BackOff

        init(_ error: any Error, at position: Int64?, _ timing: Timing) {
            self.error = "\(error)"
            self.position = position
            backOff = BackOff(firstSeconds: timing.claimSeconds, longestSeconds: timing.longestStandstillSeconds)
        }

        func isSame(_ error: any Error, at position: Int64?) -> Bool {
            self.error == "\(error)" && (position == nil || self.position == position)
        }
    }

    private func lead(_ lease: Lease, from position: Int64) async throws {
        logger.info("leading", metadata: ["position": .stringConvertible(position), "epoch": .stringConvertible(lease.epoch)])
        let result: Result<Void, any Error>
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { [self] in
                    var pruned: Int64 = 0
                    while true {
                        try await Task.sleep(for: .seconds(timing.leaseSeconds / 3))
                        try await lease.renew()
                        pruned = try await lease.prunePositions(from: pruned)
                    }
                }
                group.addTask { [self] in
                    var leadership = Leadership(
                        lease: lease, subscription: subscription, client: client, timing: timing, logger: logger,
                        position: position)
                    try await leadership.follow(notifier)
                }
                defer { group.cancelAll() }
                try await group.next()
            }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        // A separate task, because this one may be cancelled. After the release, the next leader need not wait until the lease
        // expires.
        await Task { try? await lease.release() }.value
        try result.get()
    }
}

/// The work of one node while it leads a subscription.
private struct Leadership {
    let lease: Lease
    let subscription: any Subscription
    let client: PostgresClient
    let timing: SubscriptionRunner.Timing
    let logger: Logger
    var position: Int64
    var parked: Set<StreamName> = []

    mutating func follow(_ notifier: LogNotifier) async throws {
        parked = Set(try await lease.parkedStreams(toBeRetried: false).map(\.stream))
        for try await page in LogTail(client: client, notifier: notifier, after: position, filter: subscription.filter) {
            if page.through > position { try await handle(page) }
            if !parked.isEmpty { try await retryParked() }
        }
    }

    private mutating func handle(_ page: LogPage) async throws {
        let events = page.events.filter { !parked.contains($0.envelope.stream) }
        do {
            try await step(to: page.through) { [subscription] transaction in
                if !events.isEmpty { try await subscription.handle(events, in: transaction) }
            }
        } catch  where error.isOfSubscription && !events.isEmpty {
            logger.warning("a batch failed; its events are handled one by one", metadata: ["error": "\(error)"])
            for event in events where !parked.contains(event.envelope.stream) { try await handle(event) }
            if position < page.through { try await step(to: page.through) { _ in } }
        }
    }

    /// Handles one event, or parks its stream after the last attempt.
    private mutating func handle(_ event: RecordedEvent) async throws {
        for attempt in 1... {
            do {
                return try await step(to: event.position) { [subscription] in try await subscription.handle([event], in: $0) }
            } catch  where error.isOfSubscription {
                guard attempt == timing.attempts else {
                    try await Task.sleep(for: .seconds(timing.backOffSeconds * pow(2, Double(attempt - 1))))
                    continue
                }
                try await step(to: event.position) { [lease] in try await lease.park(event, because: error, in: $0) }
                parked.insert(event.envelope.stream)
                logger.error(
                    "a stream is parked; mend the cause and have it retried",
                    metadata: [
                        "stream": "\(event.envelope.stream)", "position": .stringConvertible(event.position), "error": "\(error)",
                    ]
                )
                return
            }
        }
    }

    /// Does the work and moves the checkpoint, in one transaction.
    private mutating func step(
        to next: Int64, _ work: (LeasedConnection) async throws -> Void
    ) async throws {
        let before = position
        try await client.withTransaction { transaction in
            try await work(transaction)
            try await lease.move(from: before, to: next, in: transaction)
        }
        position = next
    }

    /// Handles the events of each parked stream up to the checkpoint, in one transaction. After that, the stream is a stream like
    /// any other.
    private mutating func retryParked() async throws {
        for (stream, version) in try await lease.parkedStreams(toBeRetried: true) {
            let before = position
            let events = try await LogReader(client: client).read(stream: stream).filter {
                $0.envelope.version >= version && $0.position <= before && subscription.filter.wants($0)
            }
            do {
                try await client.withTransaction { [subscription, lease] transaction in
                    try await subscription.handle(events, in: transaction)
                    try await lease.unpark(stream, in: transaction)
                }
                parked.remove(stream)
                logger.notice("a parked stream goes on", metadata: ["stream": "\(stream)"])
            } catch  where error.isOfSubscription {
                try await lease.keepParked(stream, because: error)
                logger.error("a parked stream failed again", metadata: ["stream": "\(stream)", "error": "\(error)"])
            }
        }
    }
}

extension SQLState {
    /// Class 42: an object is missing or not allowed. Class 28: PostgreSQL does not accept the login.
    fileprivate var isOfSetUp: Bool { rawValue.hasPrefix("42") || rawValue.hasPrefix("28") }
}

extension Error {
    /// Whether the subscription's own work failed, as opposed to the database, its set-up, the lease or the task.
    fileprivate var isOfSubscription: Bool {
        switch self {
        case is LeaseLostError: false
        case is CancellationError: !Task.isCancelled
        case let error as PostgresError:
            // One event may cause a slow statement. No event causes a missing table or a missing right.
            error.sqlState == .queryCanceled || !error.isUnavailability && error.sqlState?.isOfSetUp != true
        default: true
        }
    }
}
