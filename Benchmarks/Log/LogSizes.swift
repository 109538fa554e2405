internal import EventStore
internal import Postgres

/// Compares a small and a large log: also with the plans of a connection from the empty log, and without statistics.
struct LogSizes: Sendable {
    private static let smallEvents: Int64 = 10_000
    /// The number of rows of one INSERT while the log is filled.
    private static let chunk: Int64 = 250_000

    let large: Database
    private let small: LogAppends
    private let appends: LogAppends
    private let events: Int64

    init(cluster: Cluster, seconds: Int, events: Int64) async throws {
        self.events = events
        small = try await LogAppends(cluster: cluster, database: "log_small", projections: [], seconds: seconds)
        appends = try await LogAppends(cluster: cluster, database: "log_large", projections: [], seconds: seconds)
        large = appends.database
    }

    func measure(into report: inout Report) async throws {
        try await fill(small.database, to: Self.smallEvents)
        report.add(.small, try await small.measure(commands: LogBenchmark.reference))
        let fromEmpty = try await appends.withLog { log in
            // On an empty log, long enough for PostgreSQL to choose generic plans.
            _ = try await appends.measure(log, commands: LogBenchmark.reference, workload: .creationsAndUpdates)
            try await fill(large, to: events)
            return [
                try await appends.measure(log, commands: LogBenchmark.reference),
                try await appends.measure(log, commands: LogBenchmark.reference, workload: .creationsAndUpdates),
            ]
        }
        report.add(.largeFromEmpty, fromEmpty[0])
        report.add(.largeUpdatesFromEmpty, fromEmpty[1])
        report.add(.largeUnanalysed, try await appends.measure(commands: LogBenchmark.reference))
        progress("VACUUM ANALYZE")
        try await large.administer { client in
            // VACUUM cannot run in a transaction, and statements that are sent together are one.
            _ = try await client.query("VACUUM ANALYZE log.recorded_events")
        }
        report.add(.large, try await appends.measure(commands: LogBenchmark.reference))
        report.add(.small, try await small.measure(commands: LogBenchmark.reference))
        report.add(.largeUpdates, try await appends.measure(commands: LogBenchmark.reference, workload: .creationsAndUpdates))
        report.add(.smallUpdates, try await small.measure(commands: LogBenchmark.reference, workload: .creationsAndUpdates))
    }

    /// Fills the log with the rows that it would have written itself, with random ids, and without autovacuum.
    private func fill(_ database: Database, to events: Int64) async throws {
        try await database.administer { client in
            try await client.query("ALTER TABLE log.recorded_events SET (autovacuum_enabled = false)")
            var tail = try await client.query("SELECT log.tail()").decode(Int64.self)[0]
            while tail < events {
                let last = min(tail + Self.chunk, events)
                progress("filling the log: \(last) of \(events) events")
                let (facts, personal) = BenchmarkEvent.separated
                try await client.query(
                    """
                    INSERT INTO log.recorded_events (
                        position, id, stream, version, type, format, recorded_at, data, metadata, personal
                    )
                    SELECT p, gen_random_uuid(), 'event-' || p, 1, 'EventCreated', 1, now(),
                        \(facts)::json, \(BenchmarkEvent.metadataText)::json, \(personal)::json
                    FROM generate_series(\(tail + 1), \(last)) AS p
                    """
                )
                tail = last
            }
            try await client.query("CHECKPOINT")
        }
    }
}
