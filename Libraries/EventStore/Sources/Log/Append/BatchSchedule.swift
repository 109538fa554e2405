/// Decides when the queue of the writer becomes a transaction: docs/decisions/0062-one-writer.md
struct BatchSchedule: Sendable {
    /// Maximum number of appends in one transaction.
    static let batchLimit = 1_000
    /// Maximum size of the appends in one transaction, unless one append is larger: two transactions fit into the send buffer of the
    /// writer's connection.
    static let byteLimit = 160 << 10
    /// Time between the beginnings of two transactions while small batches follow each other.
    static let interval = Duration.milliseconds(3)
    /// Minimum number of appends in a transaction that does not wait for the interval.
    static let largeBatch = 8

    enum Decision: Hashable, Sendable {
        /// The queue becomes a transaction now.
        case send
        /// It waits for more appends, for the end of the transaction in flight, or until this time.
        case wait(until: ContinuousClock.Instant?)
    }

    /// Number of appends in the transactions in flight.
    private var underWay = 0
    /// The earliest beginning of the next transaction with a small batch. `nil` after an append that was alone.
    private var nextSmallBatch: ContinuousClock.Instant?

    /// While a transaction is in flight, the next one waits until it is as large: PostgreSQL would begin it only after that commit,
    /// and many small transactions cost more than a few large ones.
    ///
    /// - Parameter now: read only if the decision depends on it
    func decision(queued: Int, isClosed: Bool, now: @autoclosure () -> ContinuousClock.Instant) -> Decision {
        guard queued > 0 else { return .wait(until: nil) }
        guard !isClosed else { return .send }
        guard queued >= min(underWay, Self.batchLimit) else { return .wait(until: nil) }
        guard queued < Self.largeBatch, let nextSmallBatch, now() < nextSmallBatch else { return .send }
        return .wait(until: nextSmallBatch)
    }

    mutating func begin(_ count: Int, at now: ContinuousClock.Instant) {
        underWay += count
        nextSmallBatch = count > 1 ? now + Self.interval : nil
    }

    mutating func end(_ count: Int) { underWay -= count }
}
