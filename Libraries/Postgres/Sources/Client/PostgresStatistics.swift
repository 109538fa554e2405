public import Telemetry

/// How a client is doing.
public struct PostgresStatistics: Sendable {
    /// What a connection of the client is used for.
    public enum Use: String, Sendable, CaseIterable {
        case idle
        /// Statements of several callers are on their way.
        case busy
        /// One caller has it to itself.
        case leased
        case connecting
        /// PostgreSQL did not let it in; it tries again in a moment.
        case backingOff = "backing_off"
    }

    /// Why statements were not answered.
    public enum Failure: Int, Sendable, CaseIterable {
        case refused
        /// There was no connection, or it broke.
        case unavailable
        case cancelled
    }

    public var connections: [Use: Int]
    /// Callers that wait for a connection.
    public var waiting: Int
    /// Durations in seconds from a call to its answer, with waits and failures.
    public var queries: HistogramSnapshot
    public var failures: [Failure: Int]
    /// Number of connections that were opened.
    public var opened: Int
    /// Number of opened connections that ended unexpectedly.
    public var lost: Int
    /// Attempts to open one that failed.
    public var failedToOpen: Int
}

/// Where a client counts.
final class PostgresCounters: Sendable {
    enum Event: Int, CaseIterable {
        case opened
        case lost
        case failedToOpen
    }

    let queries = Histogram.seconds()
    let failures = Counter(count: PostgresStatistics.Failure.allCases.count)
    private let events = Counter(count: Event.allCases.count)

    func count(_ event: Event) { events.add(at: event.rawValue) }

    subscript(event: Event) -> Int { events[event.rawValue] }

    /// Measures one call.
    func measure(_ body: () async throws -> [Rows]) async throws -> [Rows] {
        let stopwatch = Stopwatch()
        defer { queries.record(stopwatch.nanoseconds) }
        do { return try await body() } catch {
            failures.add(at: PostgresStatistics.Failure(error).rawValue)
            throw error
        }
    }
}

extension PostgresStatistics.Failure {
    init(_ error: any Error) {
        switch error {
        case is CancellationError: self = .cancelled
        case let error as PostgresError where error.isUnavailability: self = .unavailable
        case _: self = .refused
        }
    }
}
