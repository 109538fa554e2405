internal import Postgres

extension LogReader {
    /// Finds the position of the first recorded event with another request id. Reads the whole log if there is none.
    /// - Returns: nil if there is none, if the log is empty, and if the database was never migrated
    /// - Throws: ``PostgresError``
    public func firstPosition(notCausedBy requestID: String) async throws -> Int64? {
        let hasLog = try await client.query("SELECT to_regclass('log.recorded_events') IS NOT NULL").decode(Bool.self)
        guard hasLog == [true] else { return nil }
        return try await client.query(
            """
            SELECT position FROM log.recorded_events
            WHERE metadata ->> 'request_id' IS DISTINCT FROM \(requestID) ORDER BY position LIMIT 1
            """
        ).decode(Int64.self).first
    }

    /// The number of persons whom an ``ErasureList`` erased again behind a position.
    /// - Throws: ``PostgresError``, or `CancellationError`
    public func restoredErasures(after position: Int64) async throws -> Int64 {
        try await client.query(
            """
            SELECT count(*) FROM log.recorded_events
            WHERE position > \(position) AND metadata ->> 'request_id' = \(ErasureList.requestID)
            """
        ).decode(Int64.self)[0]
    }
}
