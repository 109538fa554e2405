internal import Foundation
public import Postgres

/// The result of a comparison of a streaming standby with the primary.
public enum StandbyComparison: Sendable, Hashable {
    /// The standby held the last recorded event of the primary after this time.
    case inStep(after: Duration)
    /// The standby has the primary's log, but lacks this number of recorded events.
    case behind(positions: Int64)
    /// The standby has another recorded event at a position than the primary.
    case diverged
    /// The server is no standby, or it was promoted.
    case promoted

    /// The pauses between two looks at a standby that lacks a position.
    static let pauses = BackOff(firstSeconds: 0.002, longestSeconds: 0.02)

    /// Maximum seconds that a comparison waits for an answer of the standby, and for its connection, beside its patience.
    private static let answerSeconds = 2.0

    /// Asks the primary for its last recorded event, and waits until the standby holds it.
    /// - Parameter patienceSeconds: maximum time to wait
    /// - Throws: ``PostgresError`` of either server, ``NoAnswerError``, or `CancellationError`
    public static func compare(
        _ standby: PostgresClient, with primary: PostgresClient, patienceSeconds: Double
    ) async throws -> StandbyComparison {
        try await compare(
            standby, with: primary, at: LogReader(client: primary).newestCursor(), patienceSeconds: patienceSeconds)
    }

    /// - Parameter newest: the end of the primary's log
    static func compare(
        _ standby: PostgresClient, with primary: PostgresClient, at newest: LogCursor, patienceSeconds: Double
    ) async throws -> StandbyComparison {
        let start = ContinuousClock.now
        var pauses = pauses
        while true {
            let answers = try await answered(by: .now + .seconds(answerSeconds + patienceSeconds)) {
                // One connection answers all three, in this order. A balancer may lead another connection to another standby.
                try await standby.run([
                    LogReader.idsQuery(at: [newest.position]), LogCursor.newest, "SELECT pg_is_in_recovery()",
                ])
            }
            guard try answers[2].decode(Bool.self) == [true] else { return .promoted }
            let found = try LogReader.ids(in: answers[0])[newest.position]
            if found == newest.id { return .inStep(after: .now - start) }
            guard found == nil else { return .diverged }
            guard ContinuousClock.now - start > .seconds(patienceSeconds) else {
                try await Task.sleep(for: pauses.next())
                continue
            }
            let reached = try answers[1].decodeCursors().first ?? LogCursor(position: 0, id: nil)
            guard try await LogReader(client: primary).cursor(at: reached.position) == reached else { return .diverged }
            return .behind(positions: newest.position - reached.position)
        }
    }

    /// Runs the body, and cancels it at the deadline. A stopped standby must not hold a reader up for the time-out of a statement.
    /// - Throws: ``NoAnswerError`` at the deadline, and the errors of the body
    static func answered<Value: Sendable>(
        by deadline: ContinuousClock.Instant, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(until: deadline, clock: .continuous)
                throw NoAnswerError()
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() else { throw CancellationError() }
            return value
        }
    }
}

/// The standby has not answered in time.
public struct NoAnswerError: Error, Hashable, CustomStringConvertible {
    public var description: String { "the standby does not answer" }
}
