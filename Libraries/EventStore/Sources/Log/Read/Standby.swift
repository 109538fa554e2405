internal import Foundation
public import Logging
public import Postgres
public import ServiceLifecycle
internal import Synchronization

/// A streaming standby that serves a node's loads into memory and the tail of the log. This type alone decides whether the
/// standby or the primary is read.
///
/// It compares the standby with the primary once a second and before each load. The tail is read from a standby that is in step.
/// A load may be read from one that is a little behind, because the tail brings the rest. In all other cases the primary is read.
///
/// Thread-safe: locks protect the status, and the phase that was logged.
public final class Standby: Service {
    /// Maximum seconds that a reader waits until the standby holds a position that the primary has. It is shorter than the second
    /// that a command waits until the index shows its change.
    public static let patienceSeconds = 0.25
    /// Maximum number of positions that a standby may lack for a load.
    public static let loadLagLimit: Int64 = 10_000
    private static let comparisonPauseSeconds = 1.0
    /// Minimum seconds between two searches for another standby, when a promoted one keeps its connections.
    private static let reopenPauseSeconds = 10.0
    /// Attempts of a load: PostgreSQL cancels statements on a standby that delay its recovery.
    private static let loadAttempts = 3

    public let client: PostgresClient
    private let primary: PostgresClient
    private let patienceSeconds: Double
    private let logger: Logger
    private let current = Mutex(StandbyStatus())
    /// The phase in the last line of the log.
    private let reported = Mutex(StandbyStatus.Phase.unknown)

    /// - Parameters:
    ///   - client: the standby; must run
    ///   - primary: must run
    public init(
        client: PostgresClient, primary: PostgresClient, patienceSeconds: Double = patienceSeconds, logger: Logger
    ) {
        self.client = client
        self.primary = primary
        self.patienceSeconds = patienceSeconds
        self.logger = logger
    }

    public var status: StandbyStatus { current.withLock { $0 } }

    var isInStep: Bool { current.withLock { $0.phase == .inStep } }

    /// Compares the standby with the primary until shutdown begins.
    public func run() async {
        await cancelWhenGracefulShutdown { [self] in
            var reopenedAt: ContinuousClock.Instant?
            repeat {
                await compare()
                let isDue = reopenedAt.map { .now - $0 > .seconds(Self.reopenPauseSeconds) } ?? true
                if status.phase == .promoted, isDue {
                    client.reopen()
                    reopenedAt = .now
                }
            } while (try? await Task.sleep(for: .seconds(Self.comparisonPauseSeconds))) != nil
        }
    }

    private func compare() async {
        // If the primary is away, no server can say whether the standby has the end of the log.
        guard let newest = try? await LogReader(client: primary).newestCursor() else { return }
        do {
            let comparison = try await StandbyComparison.compare(
                client, with: primary, at: newest, patienceSeconds: patienceSeconds)
            report(current.withLock { $0.learn(comparison) })
        } catch is CancellationError {
            return
        } catch {
            leave(.away)
            report(.away, because: error)
        }
    }

    /// Runs a load on the standby, if there is one and it can serve loads, and on the primary otherwise.
    /// - Throws: ``PostgresError`` of the primary, `CancellationError`, and the other errors of the body
    public static func load<Value>(
        from standby: Standby?, or primary: PostgresClient, _ body: (PostgresClient) async throws -> Value
    ) async throws -> Value {
        if let value = try await standby?.load(body) { return value }
        return try await body(primary)
    }

    /// - Returns: `nil` if the load must run on the primary
    private func load<Value>(_ body: (PostgresClient) async throws -> Value) async throws -> Value? {
        for _ in 0..<Self.loadAttempts {
            await compare()
            guard status.servesLoads else { break }
            do {
                let value = try await body(client)
                current.withLock { $0.loads += 1 }
                return value
            } catch let error as PostgresError {
                logger.notice("a load from the standby was interrupted", metadata: ["error": "\(error)"])
            } catch  where error is StandbyUnusableError || error is ReadModelError {
                // A standby that is behind may lack a read model.
                logger.warning("a load reads the primary", metadata: ["because": "\(error)"])
                break
            }
        }
        try Task.checkCancellation()
        current.withLock { $0.fallbacks += 1 }
        return nil
    }

    /// Checks that a load from the standby continues the primary's log. The standby may show a commit before the primary does.
    /// - Throws: ``StandbyUnusableError``, ``PostgresError``, or `CancellationError`
    public func confirm(_ cursor: LogCursor) async throws {
        var (pauses, waited) = (StandbyComparison.pauses, Duration.zero)
        while true {
            let found = try await LogReader(client: primary).cursor(at: cursor.position)
            if found == cursor { return }
            guard found.id == nil, waited < .seconds(patienceSeconds) else {
                throw StandbyUnusableError(reason: "the primary has another log than the standby")
            }
            let pause = pauses.next()
            waited += pause
            try await Task.sleep(for: pause)
        }
    }

    /// Reads the recorded events after a cursor through a position, which the primary has. Waits while the standby lacks them.
    /// - Returns: `nil` if the primary must be read
    /// - Throws: ``FormatError``, or `CancellationError`
    func page(after cursor: LogCursor, through end: Int64, filter: LogFilter) async throws -> LogPage? {
        let deadline = ContinuousClock.now + .seconds(patienceSeconds)
        var pauses = StandbyComparison.pauses
        var hasAnswered = false
        do {
            while true {
                let answers = try await StandbyComparison.answered(by: deadline) { [client] in
                    // One connection answers all four, in this order.
                    try await client.run([
                        LogReader.idsQuery(at: [cursor.position, end]),
                        "SELECT count(*) FROM log.recorded_events WHERE position > \(cursor.position) AND position <= \(end)",
                        LogReader.query(after: cursor.position, through: end, filter: filter),
                        "SELECT pg_is_in_recovery()",
                    ])
                }
                hasAnswered = true
                guard try answers[3].decode(Bool.self) == [true] else { return leave(.promoted) }
                let ids = try LogReader.ids(in: answers[0])
                if let id = ids[end], try answers[1].decode(Int64.self) == [end - cursor.position] {
                    let after = LogCursor(position: cursor.position, id: ids[cursor.position])
                    guard cursor.id == nil || after == cursor else { return leave(.diverged) }
                    current.withLock { $0.pages += 1 }
                    return LogPage(
                        after: after, events: try answers[2].map(RecordedEvent.init), end: LogCursor(position: end, id: id))
                }
                guard ContinuousClock.now < deadline else { return leave(.behind) }
                try await Task.sleep(for: pauses.next())
            }
        } catch is PostgresError {
            return leave(.away)
        } catch is NoAnswerError {
            return leave(hasAnswered ? .behind : .away)
        }
    }

    /// Readers use the primary until a comparison finds the standby in step.
    @discardableResult
    private func leave(_ phase: StandbyStatus.Phase) -> LogPage? {
        current.withLock { status in
            if status.phase == .inStep { status.fallbacks += 1 }
            status.phase = phase
        }
        return nil
    }

    /// Logs the result of a comparison if it differs from that of the last one. A late page alone is not worth a line.
    private func report(_ phase: StandbyStatus.Phase, because error: (any Error)? = nil) {
        let isNew = reported.withLock { reported in
            defer { reported = phase }
            return reported != phase
        }
        guard isNew else { return }
        guard phase != .inStep else { return logger.notice("the log is read from the standby") }
        logger.warning(
            "the log is read from the primary",
            metadata: ["standby": "\(phase.rawValue)", "error": error.map { "\($0)" } ?? "none"])
    }
}

/// The status of a standby, as the node sees it.
public struct StandbyStatus: Sendable, Hashable {
    public enum Phase: String, Sendable, CaseIterable {
        /// The standby has not been compared with the primary yet.
        case unknown
        /// The standby has the primary's log, and held its end in time. The tail of the log is read from it.
        case inStep = "in_step"
        /// The standby has the primary's log, but lacks the newest recorded events.
        case behind
        /// The standby does not answer, or the primary does not.
        case away
        /// The standby has another log than the primary.
        case diverged
        /// The server is no standby, or it was promoted.
        case promoted
    }

    public internal(set) var phase = Phase.unknown
    /// Number of recorded events that the standby lacked at the last comparison.
    public internal(set) var lagPositions: Int64 = 0
    /// The time until the standby held the end of the primary's log, at the last comparison at which it did.
    private var delay = Duration.zero
    private var inStepAt: ContinuousClock.Instant?
    /// Number of pages of the log that were read from the standby.
    public internal(set) var pages = 0
    /// Number of loads that were read from the standby.
    public internal(set) var loads = 0
    /// Number of times that readers went from the standby to the primary, and of loads that read the primary.
    public internal(set) var fallbacks = 0

    /// The time by which the standby lags; `nil` if it was never in step.
    public var lag: Duration? { phase == .inStep ? delay : inStepAt.map { ContinuousClock.now - $0 } }

    var servesLoads: Bool { phase == .inStep || phase == .behind && lagPositions <= Standby.loadLagLimit }

    /// - Returns: the phase from now on
    mutating func learn(_ comparison: StandbyComparison) -> Phase {
        switch comparison {
        case .inStep(let after):
            (phase, lagPositions, delay, inStepAt) = (.inStep, 0, after, .now)
        case .behind(let positions): (phase, lagPositions) = (.behind, positions)
        case .diverged: phase = .diverged
        case .promoted: phase = .promoted
        }
        return phase
    }
}

/// A load cannot be read from the standby.
public struct StandbyUnusableError: Error, Hashable, CustomStringConvertible {
    public var reason: String
    public init(reason: String) { self.reason = reason }
    public var description: String { reason }
}
