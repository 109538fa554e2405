package import Encoding
internal import Postgres

extension LogReader {
    /// Lists streams by name, in the order of the names' bytes: `event-10` before `event-9`. The version is that of the last recorded
    /// event, which is also the number of recorded events.
    /// - Parameters:
    ///   - category: the category of the streams; nil lists all streams
    ///   - stream: the last stream of the previous page
    package func streams(
        ofCategory category: String? = nil, after stream: StreamName? = nil, limit: Int64
    ) async throws -> [(stream: StreamName, version: Int32, firstAt: Timestamp, lastAt: Timestamp)] {
        let rows = try await client.query(Self.streamsQuery(ofCategory: category, after: stream, limit: limit))
        return try rows.decode((String, Int32, Timestamp, Timestamp).self).map { stream, version, firstAt, lastAt in
            (StreamName(stream), version, firstAt, lastAt)
        }
    }

    static func streamsQuery(ofCategory category: String?, after stream: StreamName?, limit: Int64) -> SQL {
        // The names of a category sort between `event-` and `event.`, because the dot follows the dash. No name sorts after the
        // last scalar.
        let (first, end) = category.map { ("\($0)-", "\($0).") } ?? ("", "\u{10FFFF}")
        let after = max(stream?.description ?? first, first)
        return """
            -- From name to name in the unique index, so that only the streams of the page are touched. (Loose index scan.)
            WITH RECURSIVE names (name, number) AS (
                SELECT (
                    SELECT stream FROM log.recorded_events WHERE stream > \(after) AND stream < \(end) ORDER BY stream LIMIT 1
                ), 1::bigint
                UNION ALL
                SELECT (
                    SELECT stream FROM log.recorded_events WHERE stream > name AND stream < \(end) ORDER BY stream LIMIT 1
                ), number + 1
                FROM names WHERE name IS NOT NULL AND number < \(limit)
            )
            SELECT name, newest.version, oldest.recorded_at, newest.recorded_at
            FROM names
            CROSS JOIN LATERAL (
                SELECT recorded_at FROM log.recorded_events WHERE stream = name ORDER BY version LIMIT 1
            ) AS oldest
            CROSS JOIN LATERAL (
                SELECT version, recorded_at FROM log.recorded_events WHERE stream = name ORDER BY version DESC LIMIT 1
            ) AS newest
            WHERE name IS NOT NULL ORDER BY number
            """
    }
}
