public import Encoding
internal import Postgres

/// A stream, as its first and its last recorded event tell it.
public struct StreamSummary: Sendable, Hashable {
    public var stream: StreamName
    /// Of its last recorded event: how many there are.
    public var version: Int32
    public var firstAt: Timestamp
    public var lastAt: Timestamp
}

extension LogReader {
    /// Streams by name, in the order of its bytes: `event-10` before `event-9`.
    /// - Parameters:
    ///   - category: nil: all
    ///   - stream: the last one of the page before
    /// - Throws: ``PostgresError``, or `CancellationError`
    public func streams(
        ofCategory category: String? = nil, after stream: StreamName? = nil, limit: Int64
    ) async throws -> [StreamSummary] {
        let rows = try await client.query(Self.streamsQuery(ofCategory: category, after: stream, limit: limit))
        return try rows.decode((String, Int32, Timestamp, Timestamp).self).map { stream, version, firstAt, lastAt in
            StreamSummary(stream: StreamName(stream), version: version, firstAt: firstAt, lastAt: lastAt)
        }
    }

    static func streamsQuery(ofCategory category: String?, after stream: StreamName?, limit: Int64) -> SQL {
        // Names of a category stand between `event-` and `event.`: the dot follows the dash. No text is behind the last scalar.
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
