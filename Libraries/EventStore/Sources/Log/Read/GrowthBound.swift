internal import Synchronization

/// Knows how far a number of the database can have grown, such as the last position of the log, without a query for each caller.
///
/// A number that was read at most ``validity`` ago has grown by less than ``margin`` since. So a larger value cannot have been reached.
public final class GrowthBound: Sendable {
    private static let validity = Duration.seconds(1)
    /// Far more than all nodes together append in a second.
    public static let margin: Int64 = 1_000_000

    private struct Reading: Sendable {
        var begun: ContinuousClock.Instant
        var number: Task<Int64, any Error>
    }

    private struct State: Sendable {
        var reading: Reading?
        /// The last number that was read, and a moment before.
        var known: (number: Int64, at: ContinuousClock.Instant)?
    }

    private let now: @Sendable () -> ContinuousClock.Instant
    private let read: @Sendable () async throws -> Int64
    private let state = Mutex(State())

    /// - Parameter read: reads the number from the database
    public init(
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }, read: @escaping @Sendable () async throws -> Int64
    ) {
        self.now = now
        self.read = read
    }

    /// Whether it is known now, without a query, that the number cannot have reached the value.
    public func isKnownBeyond(_ value: Int64) -> Bool {
        let now = now()
        return state.withLock { state in
            guard let known = state.known, now - known.at < Self.validity else { return false }
            return Self.isBeyond(value, known.number)
        }
    }

    /// Whether the number cannot have reached the value. Asks the database at most once a second, and only if the value is so large that
    /// the answer may be yes.
    /// - Throws: the error of the query, `CancellationError`
    public func isBeyond(_ value: Int64) async throws -> Bool {
        if isKnownBeyond(value) { return true }
        guard state.withLock({ $0.known.map { Self.isBeyond(value, $0.number) } ?? (value > Self.margin) }) else { return false }
        let reading = state.withLock { state in
            let now = now()
            if let reading = state.reading, now - reading.begun < Self.validity { return reading }
            let reading = Reading(begun: now, number: Task { [read] in try await read() })
            state.reading = reading
            return reading
        }
        let number = try await reading.number.value
        state.withLock { state in
            if state.known.map({ $0.at < reading.begun }) ?? true { state.known = (number, reading.begun) }
        }
        return Self.isBeyond(value, number)
    }

    private static func isBeyond(_ value: Int64, _ number: Int64) -> Bool {
        // The subtraction cannot overflow: no number of the database is negative.
        value > 0 && value - max(number, 0) > margin
    }
}
