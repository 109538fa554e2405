internal import Postgres

/// Appends while one idle transaction keeps a snapshot, as a dump, an export or a verification does for minutes. Meanwhile PostgreSQL
/// cannot remove replaced versions of rows.
struct OpenSnapshot: Sendable {
    let database: Database
    /// The time of appends under the snapshot before the measurement.
    let holdSeconds: Int
    let seconds: Int

    /// - Returns: the rate at the end of that time, and the rate after the end of the snapshot, on the same log
    func measure() async throws -> (under: Measurement, after: Measurement) {
        let commands = LogBenchmark.reference
        let appends = LogAppends(database: database, projections: LogBenchmark.projections, seconds: seconds)
        let under = try await database.administer { client in
            try await client.withTransaction { snapshot in
                try await snapshot.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                // Our sessions end idle transactions after a minute. Sessions of a dump do not.
                try await snapshot.query("SET LOCAL idle_in_transaction_session_timeout = 0")
                try await snapshot.query("SELECT log.tail(), pg_current_xact_id()::text")
                progress("\(holdSeconds) seconds of appends under an open snapshot")
                _ = try await LogAppends(
                    database: database, projections: LogBenchmark.projections, seconds: holdSeconds
                ).measure(commands: commands)
                return try await appends.measure(commands: commands)
            }
        }
        return (under, try await appends.measure(commands: commands))
    }
}
