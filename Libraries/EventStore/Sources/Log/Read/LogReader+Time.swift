public import Encoding
internal import Postgres

extension LogReader {
    /// Assumed maximum distance, in positions, between the order of times and the order of positions. Clocks of servers differ,
    /// and an append waits in the queue after it got its time.
    private static let disorder: Int64 = 10_000

    /// Returns a position before all recorded events since a time, and not far before them.
    /// - Throws: ``PostgresError``, ``LogGapError``, ``FormatError``, or `CancellationError`
    public func position(before time: Timestamp) async throws -> Int64 {
        try await max(0, first(since: time) - 1 - Self.disorder)
    }

    /// A range of positions that holds all recorded events between two times, and few others. nil means no bound.
    func positions(since: Timestamp?, until: Timestamp?) async throws -> Range<Int64> {
        let lower = if let since { try await position(before: since) + 1 } else { Int64(1) }
        let upper = if let until { try await first(since: until) + Self.disorder } else { Int64.max }
        return lower..<max(lower, upper)
    }

    /// Finds the first position since a time by binary search. It assumes that the times are in the order of positions.
    private func first(since time: Timestamp) async throws -> Int64 {
        var (low, high) = (Int64(1), try await tail() + 1)
        while low < high {
            let middle = low + (high - low) / 2
            let recordedAt = try await client.query("SELECT recorded_at FROM log.recorded_events WHERE position = \(middle)")
                .decode(Timestamp.self).first
            guard let recordedAt else { throw LogGapError(after: middle - 1) }
            if recordedAt < time { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
