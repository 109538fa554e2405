package import Encoding
package import Postgres

/// The recorded events of one category and type, or of the whole log.
package struct LogStatistics: Sendable {
    /// `(all)` in the row for the whole log, as the type.
    package var category: String
    package var type: String
    package var events: Int64
    /// Of data, personal data and metadata.
    package var bytes: Int64
    package var firstAt: Timestamp
    package var lastAt: Timestamp

    /// `nil` if all were recorded within an hour, which says nothing about a day.
    package var perDay: Double? {
        let days = Double(lastAt.milliseconds - firstAt.milliseconds) / 86_400_000
        return days >= 1 / 24.0 ? Double(events) / days : nil
    }

    /// Counts the whole log with one statement, in at most ten minutes. Meanwhile its snapshot keeps VACUUM from removing dead rows.
    /// - Returns: by category and type, with the sum at the end; nothing for an empty log
    /// - Throws: `PostgresError`, or `CancellationError`
    package static func read(_ client: PostgresClient) async throws -> [LogStatistics] {
        try await client.withLongTransaction { connection in
            try await connection.run([
                "SET LOCAL statement_timeout = '10min'", "SET LOCAL enable_seqscan = on",
                "SET LOCAL max_parallel_workers_per_gather = 0",
            ])
            return try await connection.query(
                """
                SELECT coalesce(category, '(all)'), coalesce(type, '(all)'), count(*), sum(bytes)::bigint, min(recorded_at),
                    max(recorded_at)
                FROM (
                    SELECT split_part(stream, '-', 1) AS category, type, recorded_at, octet_length(data::text)
                        + octet_length(metadata::text) + coalesce(octet_length(nullif(personal::text, '{}')), 0) AS bytes
                    -- Not pulled up: PostgreSQL would expect as many groups as streams, and sort the log in files.
                    FROM log.recorded_events OFFSET 0
                ) AS kinds
                -- The empty set is the sum, and has a row for an empty log.
                GROUP BY GROUPING SETS ((category, type), ()) HAVING count(*) > 0
                ORDER BY GROUPING(category), category COLLATE "C", type COLLATE "C"
                """
            ).decode((String, String, Int64, Int64, Timestamp, Timestamp).self).map {
                LogStatistics(category: $0, type: $1, events: $2, bytes: $3, firstAt: $4, lastAt: $5)
            }
        }
    }
}
