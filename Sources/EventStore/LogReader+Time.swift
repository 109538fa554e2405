public import Notation
internal import Postgres

extension LogReader {
    /// The clocks of servers differ, and an append waits for its turn after it was given its time: so far from the order of times
    /// the order of positions is taken to be, at most.
    private static let disorder: Int64 = 10_000

    /// A position behind which everything stands that was recorded since a time, and little else.
    public func position(before time: Timestamp) async throws -> Int64 {
        var (low, high) = (Int64(0), try await tail())
        while low < high {
            let middle = low + (high - low) / 2
            let recordedAt = try await client.query("SELECT recorded_at FROM log.recorded_events WHERE position = \(middle + 1)")
                .decode(Timestamp.self).first
            guard let recordedAt else { throw HoleInLog(after: middle) }
            if recordedAt < time { low = middle + 1 } else { high = middle }
        }
        return max(0, low - Self.disorder)
    }
}
