internal import Foundation
public import Logging
public import Postgres
public import ServiceLifecycle

/// Runs a subscription on every node. One node at a time leads, and the others stand by.
///
/// The leader holds an advisory lock, so another node leads soon after its end, or after its silence. A leader that was only paused
/// names an old position in its next step, or finds its parked stream gone, and its transaction is rolled back.
public final class SubscriptionRunner: Service {
    public struct Timing: Sendable {
        /// Seconds of silence after which PostgreSQL ends the lead of a frozen node: fewer than a request waits for the end of an erasure.
        public var silenceSeconds = 6.0
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

    /// The first key of the locks of leaders: "hums". The second one is the hash of the subscription's name.
    static let lockClass: Int32 = 0x6875_6D73

    /// Another node leads.
    private struct Standby: Error {}

    /// An error that ended the work of this leader.
    private struct Interruption: Error {
        var position: Int64
        var error: any Error
    }

    private let subscription: any Subscription
    private let client: PostgresClient
    private let notifier: LogNotifier
    private let timing: Timing
    private let logger: Logger

    /// - Parameters:
    ///   - client: has at least two connections, one for the subscription's work, and one that a leader keeps. If the notifier listens with
    ///     this client, it needs a third one
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
                do {
                    try await leadIfFree()
                } catch is Standby {
                } catch  where error is LeadLostError || error is AdvisoryLocks.Lost {
                    logger.notice("another node leads now, or may")
                } catch  where Task.isCancelled {
                } catch {
                    // Logged once, unless the subscription has come further since. Tried again for ever, after growing pauses, which
                    // are short if the error may pass by itself.
                    let (position, cause) = (error as? Interruption).map { ($0.position, $0.error) } ?? (0, error)
                    let found = "\(position): \(cause)"
                    if found != interruption {
                        interruption = found
                        backOff.reset()
                        let standsStill = cause is any StandstillError
                        logger.log(
                            level: standsStill ? .critical : .warning,
                            standsStill ? "a subscription stands still" : "a subscription is interrupted",
                            metadata: ["error": "\(cause)"])
                    }
                    pause = cause.mayPass ? min(backOff.next(), .seconds(timing.silenceSeconds)) : backOff.next()
                }
                try? await Task.sleep(for: pause)
            }
        }
    }

    /// Leads until an error.
    /// - Throws: ``Standby``, ``Interruption``, ``LeadLostError``, `AdvisoryLocks.Lost`, `PostgresError`, `CancellationError`
    private func leadIfFree() async throws {
        try await AdvisoryLocks.with(
            client, silenceSeconds: timing.silenceSeconds,
            take: { connection, scope in
                let isFree = try await connection.query(
                    "SELECT pg_try_advisory_\(scope)lock(\(Self.lockClass), hashtext(\(subscription.name)))"
                ).decode(Bool.self)
                guard isFree == [true] else { throw Standby() }
            },
            work: { [self] _ in
                var leadership = try await Leadership(subscription, timing, client, logger)
                do { try await leadership.follow(notifier) } catch  where !(error is LeadLostError) && !Task.isCancelled {
                    try? await leadership.keep(error)
                    throw Interruption(position: leadership.position, error: error)
                }
            })
    }
}

/// Another leader has gone on. The transaction's writes are rolled back.
struct LeadLostError: Error, CustomStringConvertible {
    var description: String { "another node leads this subscription" }
}

/// The work of one node while it leads a subscription.
struct Leadership {
    private let subscription: any Subscription
    private let timing: SubscriptionRunner.Timing
    private let client: PostgresClient
    private let logger: Logger
    /// Everything up to here is handled, or parked.
    private(set) var position: Int64
    private var parked: Set<StreamName> = []

    private var subscriptions: Subscriptions { Subscriptions(client: client) }

    /// Begins where the leader before stopped, as far as it has committed. If a step of that leader is still under way, only one of the two
    /// leaders can commit the next one.
    init(
        _ subscription: any Subscription, _ timing: SubscriptionRunner.Timing, _ client: PostgresClient, _ logger: Logger
    ) async throws {
        let name = subscription.name
        try await client.query(
            """
            INSERT INTO log.subscriptions (name, position) SELECT \(name), 0
            WHERE NOT EXISTS (SELECT FROM log.subscriptions WHERE name = \(name)) ON CONFLICT DO NOTHING
            """)
        position = try await Subscriptions(client: client).position(of: name) ?? 0
        self.subscription = subscription
        self.timing = timing
        self.client = client
        self.logger = logger
        logger.debug("leading", metadata: ["position": .stringConvertible(position)])
    }

    /// Does the work and moves the position, in one transaction. The move comes last: a leader that freezes in its work keeps no successor
    /// waiting.
    /// - Parameter next: the new position, up to which all events are handled or parked
    /// - Throws: ``LeadLostError`` if another leader has moved the position, and the errors of the work
    mutating func step(to next: Int64, _ work: (LeasedConnection) async throws -> Void) async throws {
        try await client.withTransaction { [name = subscription.name, position] transaction in
            try await work(transaction)
            let moved = try await transaction.query(
                """
                UPDATE log.subscriptions SET position = \(next), interruption = NULL
                WHERE name = \(name) AND position = \(position)
                """
            ).affected
            guard moved == 1 else { throw LeadLostError() }
        }
        position = next
    }

    /// Keeps the error that ended the work early, until the position moves.
    func keep(_ error: any Error) async throws {
        try await client.query(
            """
            UPDATE log.subscriptions SET interruption = \(Self.reason(error))
            WHERE name = \(subscription.name) AND position = \(position)
            """)
    }

    /// Minimum time between two moves of the position without an event for the subscription.
    private static let pause = Duration.milliseconds(100)

    mutating func follow(_ notifier: LogNotifier) async throws {
        parked = Set(try await subscriptions.parkedStreams(of: subscription.name).map(\.stream))
        let tail = LogTail(client: client, notifier: notifier, after: position, filter: subscription.filter)
        var movedAt = ContinuousClock.now - Self.pause
        for try await page in tail {
            // Each move is a commit: seldom for events that the filter leaves out.
            if page.events.isEmpty { try await Task.sleep(until: movedAt + Self.pause) }
            if page.through > position { try await handle(page) }
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
            if position < page.through { try await step(to: page.through) { _ in } }
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
                try await step(to: event.position) {
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
        try await step(to: position) { [subscription] transaction in
            if !events.isEmpty { try await subscription.handle(events, in: transaction) }
            try await rest(transaction)
        }
    }

    /// Handles the events of each parked stream up to the position, in one transaction. After that, the stream is a stream like
    /// any other.
    private mutating func retryParked() async throws {
        for parkedStream in try await subscriptions.parkedStreams(of: subscription.name) where parkedStream.isToBeRetried {
            let (stream, position) = (parkedStream.stream, self.position)
            let row: SQL = "subscription = \(subscription.name) AND stream = \(stream.description)"
            let events = try await LogReader(client: client).read(stream: stream, after: parkedStream.version - 1).filter {
                $0.position <= position && subscription.filter.wants($0)
            }
            do {
                try await handle(events, through: position) {
                    // Another leader may have done the same, which leaves the position where it is.
                    let deleted = try await $0.query("DELETE FROM log.parked_streams WHERE \(row)").affected
                    guard deleted == 1 else { throw LeadLostError() }
                }
                parked.remove(stream)
                logger.notice("a parked stream goes on", metadata: ["stream": "\(stream)"])
            } catch  where error.isOfSubscription {
                try await step(to: position) {
                    try await $0.query(
                        "UPDATE log.parked_streams SET is_to_be_retried = false, reason = \(Self.reason(error)) WHERE \(row)")
                }
                logger.error("a parked stream failed again", metadata: ["stream": "\(stream)", "error": "\(error)"])
            }
        }
    }

    /// The error's description. It is shortened, because it may be of any length.
    private static func reason(_ error: any Error) -> String { String("\(error)".prefix(1_000)) }
}

extension Error {
    /// Whether an event is at fault, as opposed to the database, its locks, load and set-up, the log, the lead or the task.
    fileprivate var isOfSubscription: Bool {
        switch self {
        // A cancelled effect may throw an error of any type.
        case _ where Task.isCancelled: false
        case is LeadLostError, is any StandstillError: false
        // No event causes a missing table, schema or right (classes 42, 3F), a refused login (28), or damaged data (XX).
        case let error as PostgresError where ["28", "3F", "42", "XX"].contains(error.sqlState?.rawValue.prefix(2)): false
        default: !mayPass
        }
    }
}
