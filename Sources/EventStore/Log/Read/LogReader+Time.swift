public import Encoding
internal import Postgres

extension LogReader {
    /// The clocks of servers differ, and an append waits for its turn after it was given its time: so far from the order of times
    /// the order of positions is taken to be, at most.
    private static let disorder: Int64 = 10_000

    /// A position behind which everything stands that was recorded since a time, and little else.
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

    /// By halves, as if times stood in the order of positions.
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
