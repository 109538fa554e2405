public import Telemetry

/// What a client has counted.
public final class PostgresStatistics: Sendable {
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
    public enum Failure: String, Sendable, CaseIterable {
        case refused
        /// There was no connection, or it broke.
        case unavailable
        case cancelled
    }

    enum Event: Int, CaseIterable {
        case opened
        case lost
        case failedToOpen
    }

    /// Durations in seconds from a call to its answer, with waits and failures.
    public let queries = Histogram.seconds()
    private let failed = Counter(count: Failure.allCases.count)
    private let events = Counter(count: Event.allCases.count)

    public var failures: [Failure: Int] {
        Failure.allCases.enumerated().reduce(into: [:]) { $0[$1.element] = failed[$1.offset] }
    }
    /// Number of connections that were opened.
    public var opened: Int { events[Event.opened.rawValue] }
    /// Number of opened connections that ended unexpectedly.
    public var lost: Int { events[Event.lost.rawValue] }
    /// Attempts to open one that failed.
    public var failedToOpen: Int { events[Event.failedToOpen.rawValue] }

    func count(_ event: Event) { events.add(at: event.rawValue) }

    /// Measures one call.
    func measure(_ body: () async throws -> [Rows]) async throws -> [Rows] {
        let stopwatch = Stopwatch()
        defer { queries.record(stopwatch.nanoseconds) }
        do { return try await body() } catch {
            Failure.allCases.firstIndex(of: Failure(error)).map { failed.add(at: $0) }
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
