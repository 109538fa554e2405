internal import EventStore
internal import Logging
internal import Postgres

extension IndexUpdater {
    package static let roomPauseSeconds = 60.0
    /// The index comes back when this part of the events that did not fit is left, so that it does not come and go.
    private static let roomyPercent = 95

    /// Waits until so few events are live that the index has room for them.
    /// - Throws: `CancellationError`
    func waitForRoom(after error: IndexLimitError) async throws {
        // A count reads the whole table of events.
        var backOff = BackOff(firstSeconds: roomPauseSeconds, longestSeconds: 10 * roomPauseSeconds)
        while true {
            try await Task.sleep(for: backOff.next())
            // Without an answer the next look decides.
            guard let events = try? await liveEvents(), events <= error.events * Self.roomyPercent / 100 else { continue }
            return logger.notice("the index has room again", metadata: ["events": "\(events)"])
        }
    }

    private func liveEvents() async throws -> Int {
        try await client.withTransaction { connection in
            try await connection.withoutTimeout { connection in
                try await connection.query(
                    "SELECT count(*) FROM \(identifier: EventsProjection.schema).events WHERE \(EventRow.isLive)"
                ).decode(Int64.self).first.map { Int($0) } ?? 0
            }
        }
    }
}

/// The events exceed the memory limit.
struct IndexLimitError: Error, Hashable, CustomStringConvertible {
    var limitBytes: Int
    /// Number of events that do not fit.
    var events: Int
    var description: String {
        "they do not fit into \(limitBytes / 1_000_000) MB: raise HUMON_INDEX_MEGABYTES, if there is more"
    }
}
