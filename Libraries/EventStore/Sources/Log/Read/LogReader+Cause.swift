internal import Postgres

extension LogReader {
    /// Number of recorded events that one statement reads.
    private static let causePage: Int64 = 100_000

    /// Finds the position of the first recorded event with another request id. Reads the whole log if there is none.
    /// - Returns: nil if there is none, if the log is empty, and if the database was never migrated
    /// - Throws: ``PostgresError``
    public func firstPosition(notCausedBy requestID: String) async throws -> Int64? {
        let hasLog = try await client.query("SELECT to_regclass('log.recorded_events') IS NOT NULL").decode(Bool.self)
        guard hasLog == [true] else { return nil }
        var reached: Int64 = 0
        while true {
            let (last, found) = try await client.query(
                """
                SELECT max(position), min(position) FILTER (WHERE metadata ->> 'request_id' IS DISTINCT FROM \(requestID))
                FROM (
                    SELECT position, metadata FROM log.recorded_events WHERE position > \(reached)
                    ORDER BY position LIMIT \(Self.causePage)
                ) AS page
                """
            ).decode((Int64?, Int64?).self)[0]
            if let found { return found }
            guard let last else { return nil }
            reached = last
        }
    }
}
