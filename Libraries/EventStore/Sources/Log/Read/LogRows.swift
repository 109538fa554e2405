internal import Postgres

/// A page of the log in the form in which the database sent it. Tasks decode it in parallel.
struct LogRows: Sendable {
    var rows: Rows
    /// The last position of the page, even if the filter removed its recorded event.
    var through: Int64

    func decode(_ range: Range<Int>) throws -> [RecordedEvent] { try rows[range].map(RecordedEvent.init) }
}

extension LogReader {
    /// Reads the page after a position, at most `limit` positions long.
    /// - Throws: ``LogGapError``
    func rows(after position: Int64, limit: Int64, filter: LogFilter) async throws -> LogRows {
        guard filter != .everything else {
            let rows = try await client.query(Self.query(after: position, limit: limit))
            guard let last = rows.last else { return LogRows(rows: rows, through: position) }
            let through = try Int64(last.cell(0))
            // Without a gap, there are as many rows as positions. With a gap, this call throws and names its position.
            if through - position != Int64(rows.count) { _ = try await read(after: position, limit: limit) }
            return LogRows(rows: rows, through: through)
        }
        // The statement counts unwanted recorded events, so that the reader notices a gap among them, but does not send them.
        let bounds = try await client.query(
            """
            SELECT count(*), coalesce(max(position), \(position)) FROM (
                SELECT position FROM log.recorded_events WHERE position > \(position) ORDER BY position LIMIT \(limit)
            ) AS page
            """
        ).decode((Int64, Int64).self)
        guard let (count, through) = bounds.first, count == through - position else {
            _ = try await read(after: position, limit: limit)
            throw LogGapError(after: position)
        }
        let rows = try await client.query(Self.query(after: position, through: through, filter: filter))
        return LogRows(rows: rows, through: through)
    }

    /// The recorded events of a range that the filter selects, in order.
    private static func query(after position: Int64, through end: Int64, filter: LogFilter) -> SQL {
        """
        SELECT \(columns) FROM log.recorded_events
        WHERE position > \(position) AND position <= \(end)
            AND \(selects(filter))
        ORDER BY position
        """
    }

    /// Whether the filter selects a row of the log.
    static func selects(_ filter: LogFilter) -> SQL {
        """
        ((\(filter.categories.isEmpty) OR split_part(stream, '-', 1) = ANY(\(filter.categories.sorted())))
            AND (\(filter.types.isEmpty) OR type = ANY(\(filter.types.sorted()))))
        """
    }
}
