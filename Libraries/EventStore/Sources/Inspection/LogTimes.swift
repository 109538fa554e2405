package import Encoding
package import Postgres

/// Positions for times. The order of times need not be that of positions: an operator sets a clock back, the clocks of two nodes
/// differ, and an append waits in the queue after it got its time.
package struct LogTimes: Sendable {
    /// Number of positions that are read without the index.
    private static let page = 10_000

    let client: PostgresClient
    /// The last position that is looked at.
    let tail: Int64

    package init(client: PostgresClient, tail: Int64) { (self.client, self.tail) = (client, tail) }

    /// Returns the position before the first event that was recorded at a time or later; the tail if there is none.
    package func position(before time: Timestamp) async throws -> Int64 {
        try await outermost(.first, "recorded_at >= \(time)").map { $0 - 1 } ?? tail
    }

    /// The shortest range of positions that holds all events recorded between two times. nil means no bound.
    func positions(since: Timestamp?, until: Timestamp?) async throws -> Range<Int64> {
        let lower = if let since { try await position(before: since) + 1 } else { Int64(1) }
        guard let until else { return lower..<Int64.max }
        let last = try await outermost(.last, "recorded_at < \(until)") ?? 0
        return lower..<max(lower, last + 1)
    }

    private enum End { case first, last }

    /// Halves the log until a page is left. Each step asks the index, which excludes the pages without a match.
    private func outermost(_ end: End, _ condition: SQL) async throws -> Int64? {
        let all = 1..<(tail + 1)
        let positions =
            all.count <= Self.page
            ? all
            : try await client.withLongTransaction { connection in
                try await connection.run(LogSearch.onlyBySummaries)
                var positions = all
                while positions.count > Self.page {
                    let middle = positions.lowerBound + Int64(positions.count / 2)
                    let (lower, upper) = (positions.lowerBound..<middle, middle..<positions.upperBound)
                    let (likely, other) = end == .first ? (lower, upper) : (upper, lower)
                    let isThere = try await connection.query(
                        """
                        SELECT EXISTS (SELECT FROM log.recorded_events
                            WHERE position + 0 >= \(likely.lowerBound) AND position + 0 < \(likely.upperBound) AND \(condition))
                        """
                    ).decode(Bool.self)[0]
                    positions = isThere ? likely : other
                }
                return positions
            }
        let function: SQL = end == .first ? "min(position)" : "max(position)"
        return try await client.query(
            """
            SELECT \(function) FROM log.recorded_events
            WHERE position >= \(positions.lowerBound) AND position < \(positions.upperBound) AND \(condition)
            """
        ).decode(Int64?.self)[0]
    }
}
