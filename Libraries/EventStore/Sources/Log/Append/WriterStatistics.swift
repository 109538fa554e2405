internal import Postgres
public import Telemetry

/// What the writer of a process has counted.
public final class WriterStatistics: Sendable {
    /// The outcome of an append.
    public enum Outcome: String, Sendable, CaseIterable {
        case recorded
        /// The log had it already, or it had no domain events.
        case repeated
        case conflict
        case keyReused = "key_reused"
        /// The queue was full.
        case overloaded
        /// The log was being closed.
        case closed
        /// The database was away or busy, or a read model was missing.
        case unavailable
        case failed
    }

    private let outcomes = Counter(count: Outcome.allCases.count)
    /// Number of appends in each transaction.
    public let batches = Histogram(bounds: [1, 2, 5, 10, 20, 50, 100, 200, 500, BatchSchedule.batchLimit])
    /// Seconds from the start of each batch to its results.
    public let commits = Histogram.seconds()

    /// Appends by outcome.
    public var appends: [Outcome: Int] {
        Outcome.allCases.enumerated().reduce(into: [:]) { $0[$1.element] = outcomes[$1.offset] }
    }

    func count(_ outcome: Outcome) { Outcome.allCases.firstIndex(of: outcome).map { outcomes.add(at: $0) } }

    func wrote(_ results: [Result<AppendResult, any Error>], nanoseconds: Int) {
        batches.record(results.count)
        commits.record(nanoseconds)
        for result in results { count(Outcome(result)) }
    }
}

extension WriterStatistics.Outcome {
    init(_ error: EventLogError) {
        switch error {
        case .overloaded: self = .overloaded
        case .closed: self = .closed
        case .expired, .lockHeld: self = .unavailable
        }
    }

    fileprivate init(_ result: Result<AppendResult, any Error>) {
        switch result {
        case .success(.appended): self = .recorded
        case .success(.repeated): self = .repeated
        case .success(.conflict), .success(.failedCondition): self = .conflict
        case .success(.keyReused): self = .keyReused
        case .failure(is ReadModelError): self = .unavailable
        case .failure(let error as EventLogError): self = Self(error)
        case .failure(let error as PostgresError) where error.isUnavailability: self = .unavailable
        case .failure: self = .failed
        }
    }
}
