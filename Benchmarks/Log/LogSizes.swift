internal import EventStore
internal import Postgres

/// Whether the log is as fast when it is large: also through a connection, with its plans, from when it was empty, and where
/// PostgreSQL has no statistics of it.
struct LogSizes: Sendable {
    private static let smallEvents: Int64 = 10_000
    /// So many at once are filled in.
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
            // On an empty log, long enough for PostgreSQL to settle on the plans.
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
            // In a transaction VACUUM does not run, and statements sent together are one.
            _ = try await client.query("VACUUM ANALYZE log.recorded_events")
        }
        report.add(.large, try await appends.measure(commands: LogBenchmark.reference))
        report.add(.small, try await small.measure(commands: LogBenchmark.reference))
        report.add(.largeUpdates, try await appends.measure(commands: LogBenchmark.reference, workload: .creationsAndUpdates))
        report.add(.smallUpdates, try await small.measure(commands: LogBenchmark.reference, workload: .creationsAndUpdates))
    }

    /// With what the log itself would have written, ids in random order among it, and without a look at it by autovacuum.
    private func fill(_ database: Database, to events: Int64) async throws {
        try await database.administer { client in
            try await client.query("ALTER TABLE log.recorded_events SET (autovacuum_enabled = false)")
            var tail = try await client.query("SELECT log.tail()").decode(Int64.self)[0]
            while tail < events {
                let last = min(tail + Self.chunk, events)
                progress("filling the log: \(last) of \(events) events")
                try await client.query(
                    """
                    INSERT INTO log.recorded_events
                        (position, id, stream, version, type, format, recorded_at, data, metadata)
                    SELECT p, gen_random_uuid(), 'event-' || p, 1, 'EventCreated', 1, now(),
                        \(BenchmarkEvent.text)::json, \(BenchmarkEvent.metadataText)::json
                    FROM generate_series(\(tail + 1), \(last)) AS p
                    """
                )
                tail = last
            }
            try await client.query("CHECKPOINT")
        }
    }
}
