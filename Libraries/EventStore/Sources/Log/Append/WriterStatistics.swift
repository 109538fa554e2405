internal import Postgres
public import Telemetry

/// The figures of the writer of a process.
public struct WriterStatistics: Sendable {
    /// The outcome of an append.
    public enum Outcome: Int, Sendable, CaseIterable {
        case recorded
        /// The log had it already, or it had no domain events.
        case repeated
        case conflict
        case keyReused
        /// The queue was full.
        case overloaded
        /// The log was being closed.
        case closed
        /// The database was away or busy, or a read model was missing.
        case unavailable
        case failed
    }

    /// Appends that no transaction has taken yet.
    public var queued: Int
    public var outcomes: [Outcome: Int]
    /// Number of appends in each transaction.
    public var batches: HistogramSnapshot
    /// Seconds from the start of each batch to its results.
    public var commits: HistogramSnapshot
}

/// The counters of a writer.
final class WriterCounters: Sendable {
    private let outcomes = Counter(count: WriterStatistics.Outcome.allCases.count)
    private let batches = Histogram(bounds: [1, 2, 5, 10, 20, 50, 100, 200, 500, BatchSchedule.batchLimit])
    private let commits = Histogram.seconds()

    func count(_ outcome: WriterStatistics.Outcome) { outcomes.add(at: outcome.rawValue) }

    func wrote(_ results: [Result<AppendResult, any Error>], nanoseconds: Int) {
        batches.record(results.count)
        commits.record(nanoseconds)
        for result in results { count(WriterStatistics.Outcome(result)) }
    }

    func statistics(queued: Int) -> WriterStatistics {
        WriterStatistics(
            queued: queued, outcomes: WriterStatistics.Outcome.allCases.reduce(into: [:]) { $0[$1] = outcomes[$1.rawValue] },
            batches: batches.snapshot, commits: commits.snapshot)
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
